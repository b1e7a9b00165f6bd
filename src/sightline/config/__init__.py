"""Strict configuration: TOML and `key=value` into frozen dataclasses, and back.

It knows nothing of what the fields mean.
"""

from sightline.config.read import from_dict, load
from sightline.config.write import dump_toml, fingerprint, to_dict

__all__ = ["dump_toml", "fingerprint", "from_dict", "load", "to_dict"]
