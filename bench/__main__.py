"""`python -m bench` takes every timing, one after the other; `python -m bench NAME …` takes the named ones."""

from __future__ import annotations

import subprocess
import sys
from difflib import get_close_matches
from pathlib import Path

FOLDER = Path(__file__).parent


def main(wanted: list[str]) -> int:
    """Each in a process of its own, so that no timing profits from or pays for the one before."""
    known = sorted(script.stem for script in FOLDER.glob("*.py") if not script.stem.startswith("_"))
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
            print(f"there is no timing {name}; {hint}", file=sys.stderr)
            return 2
    failed = []
    for name in wanted or known:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{name}"], cwd=FOLDER.parent, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
