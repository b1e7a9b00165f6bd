"""Both tables as text."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from laws.cases import CASES, Case
from laws.faults import FAULTS
from laws.planting import Fault, catches
from laws.table import LAWS, Law

INTRODUCTION = """\
# Laws

Every architecture passes every law that applies to it, and every law catches some planted fault. `tests/laws` holds the rows,
the laws and the faults. This writes the page anew; it takes about seven minutes, for it trains the rows that are taught to copy
and to reverse:

```sh
PYTHONPATH=tests OMP_NUM_THREADS=1 .venv/bin/python -m laws docs/laws.md
```
"""

ROWS = """\
## Laws × architectures

The figure is the worst deviation found, in fp32: of log-probabilities, of shares of attention, or of what the law says. It must
not exceed the tolerance. A letter is the reason why a law does not apply.
"""

PLANTED = """\
## Planted faults × laws

Each fault was put into the code for as long as the laws were tried on one row. ● is caught by this law, and a test holds that
it is; ○ is caught as well; · goes by unseen; a blank is a law that does not apply to the row or was not tried (copy and
reverse are tried where they must catch the fault).
"""


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown."""
    names = list(header)
    lines = [names, ["---", *[":-:"] * (len(names) - 1)], *(list(row) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page() -> str:
    """The whole page; this computes every cell."""
    laws = table(("law", "in words", "tolerance"), ((law.name, law.words, f"{law.tolerance:g}") for law in LAWS))
    reasons = [reason for case in CASES for law in LAWS if (reason := law.exempts(case)) is not None]
    letters = {reason: chr(ord("a") + place) for place, reason in enumerate(dict.fromkeys(reasons))}
    names = [law.name for law in LAWS]
    cells = table(("", *names), ((case.name, *(_cell(law, case, letters) for law in LAWS)) for case in CASES))
    notes = "".join(f"- *{letter}*: {reason}\n" for reason, letter in letters.items())
    faults = table(("", "row", *names), ((fault.name, fault.row, *_seen(fault)) for fault in FAULTS))
    return "\n".join((INTRODUCTION, laws, ROWS, cells, notes, PLANTED, faults))


def _cell(law: Law, case: Case, letters: dict[str, str]) -> str:
    reason = law.exempts(case)
    if reason is not None:
        return f"*{letters[reason]}*"
    deviation = law.deviation(case)
    return f"{deviation:.0e}" if deviation <= law.tolerance else f"**{deviation:.0e}**"


def _seen(fault: Fault) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        fault.plant(patch)
        return [_mark(fault, law) for law in LAWS]


def _mark(fault: Fault, law: Law) -> str:
    wanted = law.name in fault.caught_by
    if law.exempts(fault.case) is not None or (law.teaches and not wanted):
        return ""
    if catches(law, fault.case):
        return "●" if wanted else "○"
    return "**missed**" if wanted else "·"
