"""`python -m laws FILE`: compute both tables and write them there."""

from __future__ import annotations

import sys
from pathlib import Path

from laws.markdown import page

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m laws FILE")
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
