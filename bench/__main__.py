"""`python -m bench` takes every timing, one after the other; `python -m bench NAME …` takes the named ones.

What follows a single name is handed to it: `python -m bench speed train --rounds 5`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

FOLDER = Path(__file__).parent


def timings() -> list[str]:
    """What there is: scripts, and folders that can be run."""
    scripts = [script.stem for script in FOLDER.glob("*.py") if not script.stem.startswith("_")]
    return sorted([*scripts, *(place.parent.name for place in FOLDER.glob("*/__main__.py"))])


def divided(words: Sequence[str], known: Sequence[str]) -> tuple[list[str], list[str]]:
    """The timings that are named, and what is meant for the only one."""
    names = [word for word in words if word in known]
    if words and words[0] in known and len(names) < len(words):
        return [words[0]], list(words[1:])
    return list(words), []


def main(words: list[str]) -> int:
    """Each in a process of its own, so that no timing profits from or pays for the one before."""
    known = timings()
    wanted, rest = divided(words, known)
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
            print(f"there is no timing {name}; {hint}", file=sys.stderr)
            return 2
    failed = []
    for name in wanted or known:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{name}", *rest], cwd=FOLDER.parent, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
