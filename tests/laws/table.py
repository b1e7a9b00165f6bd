"""The laws. A law gives the deviation of a row, which must not exceed its tolerance, or the reason why it does not apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from laws.cases import Case
from laws.keeping import resume, stored, threads
from laws.learning import copying, reversing
from laws.reading import causal, company, gradient, stream
from laws.searching import enumeration, score
from laws.watching import replay, shares, watching

TOLERANCE = 1e-5  # in fp32, of log-probabilities that go down to about -20


Reason = Callable[[Case], str | None]


def always(case: Case) -> None:
    """It applies to every row."""


@dataclass(frozen=True)
class Law:
    """What must hold of every row."""

    name: str
    words: str
    deviation: Callable[[Case], float]
    tolerance: float
    unless: Reason = always  # why a row need not obey; None: it must
    teaches: bool = False  # takes a training, so that a row says itself whether that is for the quick suite

    def exempts(self, case: Case) -> str | None:
        """The reason why it does not apply, or None. An exemption without a reason is an error."""
        reason = self.unless(case)
        if reason is not None and not reason.strip():
            raise ValueError(f"the law {self.name!r} lets {case.name!r} off without a reason; state it, or let the law apply")
        return reason

    def holds(self, case: Case) -> bool:
        return self.deviation(case) <= self.tolerance


def looks_nowhere(case: Case) -> str | None:
    """There is no attention whose weights could be seen."""
    return None if case.has_attention else "has no attention to be watched"


def keeps_no_folder(case: Case) -> str | None:
    return "is made of models that are loaded from their own folders" if case.is_ensemble else None


def trains_apart(case: Case) -> str | None:
    return "is made of models that were trained one by one" if case.is_ensemble else None


def takes_no_lesson(case: Case) -> str | None:
    """Who cannot be taught, and who need not be because a row with the same parts is."""
    if case.is_ensemble:
        return trains_apart(case)
    if not case.has_source:
        return "has no source to say again"
    if not case.looks_at_source:
        return "everything goes through one vector: there is no attention that could come out as a diagonal"
    if case.lesson is None:
        return _UNTAUGHT.get(case.name, "a sample of the rows is taught, with every cell and every score in some row")
    return None


_UNTAUGHT = {"Transformer, pre-norm, no positions": "without positions its source is a bag of words, in no order"}


LAWS: tuple[Law, ...] = (
    Law("stream", "any way of cutting the target gives the same outputs, with dropout and without", stream, TOLERANCE),
    Law("causal", "changing later tokens changes nothing earlier", causal, 0.0),
    Law("watch", "watching changes no output, no parameter and not the model", watching, TOLERANCE, looks_nowhere),
    Law("shares", "weights sum to one; padding and the future get exactly zero", shares, TOLERANCE, looks_nowhere),
    Law("replay", "one teacher-forced pass shows the weights that each step saw", replay, TOLERANCE, looks_nowhere),
    Law("score", "a hypothesis's score is its teacher-forced log-probability at any beam width", score, TOLERANCE),
    Law("enumeration", "a wide beam finds the best of all sentences of a tiny vocabulary", enumeration, TOLERANCE),
    Law("company", "a sentence's result does not depend on its batch-mates, padding and dropout included", company, TOLERANCE),
    Law("save", "saved and loaded, it gives the same outputs to the last bit", stored, 0.0, keeps_no_folder),
    Law("resume", "a run that was cut off ends with the weights of one that was not, to the last bit", resume, 0.0, trains_apart),
    Law("gradient", "every parameter gets a gradient", gradient, 0.0, trains_apart),
    Law("threads", "three threads on one model do not notice one another, one of them watching", threads, TOLERANCE),
    Law("copy", "copying is learnt, and attention comes out diagonal", copying, 0.1, takes_no_lesson, teaches=True),
    Law("reverse", "reversing is learnt, and attention comes out anti-diagonal", reversing, 0.1, takes_no_lesson, teaches=True),
)


def law(name: str) -> Law:
    """The law of this name."""
    return next(each for each in LAWS if each.name == name)
