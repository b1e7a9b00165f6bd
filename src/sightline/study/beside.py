"""Models beside one another: size, speed and quality in one table, on the same sentences at the same time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from sightline.api import Model
from sightline.decode.options import SearchOptions
from sightline.evaluate.metrics import sentence_statistics
from sightline.evaluate.score import Score
from sightline.evaluate.significance import Comparison, compare
from sightline.models.seq2seq import parameter_count
from sightline.runs.evaluate import Pairs, machine, recipe_of
from sightline.runs.machine import processor
from sightline.study.table import Table
from sightline.study.timing import Spread, interleaved, ratio, seconds_of
from sightline.text.files import write_whole

Tell = Callable[[str], None]
GREEDY, BEAM = SearchOptions(beam=1), SearchOptions(beam=5)
ROUNDS, TURN, TASTE = 3, 4.0, 16  # turn: seconds of the first model in a round
SHORTEST = 0.5  # seconds; what takes less is done several times in each
FEWEST, MOST = 16, 2000  # sentences


@dataclass(frozen=True, slots=True)
class Standing:
    """One model beside the first."""

    name: str
    parameters: int
    megabytes: float  # of weights, on disk
    engine: str
    greedy: Spread  # sentences a second
    beam: Spread
    greedy_times: Spread  # as fast as the first
    beam_times: Spread
    bleu: Score
    contrast: Comparison | None  # with the first, for all others


@dataclass(frozen=True, slots=True)
class Beside:
    """The first model is what the others are measured by."""

    standings: tuple[Standing, ...]
    recipe: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """For the screen."""
        return _table(self).text() + "\n"

    def markdown(self) -> str:
        """With its recipe."""
        notes = "\n".join(f"- {name}: {value}" for name, value in self.recipe)
        return f"# Models beside one another\n\n{_table(self).markdown()}\n\n{notes}\n"

    def json(self) -> str:
        """For programs."""
        content = {
            "format": "sightline-beside/1",
            "models": [asdict(each) for each in self.standings],
            "recipe": dict(self.recipe),
        }
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    def write(self, folder: Path) -> None:
        write_whole(folder / "comparison.md", self.markdown())
        write_whole(folder / "comparison.json", self.json())


def measure_beside(models: Mapping[str, Model], pairs: Pairs, data: str, tell: Tell) -> Beside:
    """Translate the pairs' sources with every model; `data` is what to call them."""
    sources, references = [source for source, _ in pairs], [target for _, target in pairs]
    tell(f"translating {len(pairs):,} held-out sources with {', '.join(models)}")
    found = {name: [one.text for one in model.translate(sources, BEAM)] for name, model in models.items()}
    counts = {name: sentence_statistics(texts, references) for name, texts in found.items()}
    timed = _enough(sources, next(iter(models.values())))
    tell(f"timing {len(timed):,} of them {ROUNDS} times, by turns")
    greedy, beam = (_seconds(models, timed, options) for options in (GREEDY, BEAM))
    first, standings = next(iter(models)), list[Standing]()
    for name, model in models.items():
        standings.append(
            Standing(
                name,
                sum(parameter_count(part.model) for part in model.parts),
                sum((part.folder / "model.safetensors").stat().st_size for part in model.parts) / 1e6,
                model.engine(BEAM),
                Spread.of([len(timed) / each for each in greedy[name]]),
                Spread.of([len(timed) / each for each in beam[name]]),
                ratio(greedy[first], greedy[name]),
                ratio(beam[first], beam[name]),
                counts[name].score(),
                None if name == first else compare(counts[first], counts[name]),
            )
        )
    recipe = [
        ("test set", f"{data}, {len(pairs):,} sentences, of which {len(timed):,} timed"),
        ("processor", processor()),
        *machine(),
    ]
    recipe += recipe_of(
        [part.folder for model in models.values() for part in model.parts],
        BEAM,
        [model.engine(BEAM) for model in models.values()],
    )
    recipe.append(("BLEU", standings[0].bleu.recipe))
    return Beside(tuple(standings), tuple(recipe))


def _seconds(models: Mapping[str, Model], texts: Sequence[str], options: SearchOptions) -> dict[str, list[float]]:
    return interleaved({name: partial(model.translate, texts, options) for name, model in models.items()}, ROUNDS, SHORTEST)


def _enough(sources: Sequence[str], model: Model) -> list[str]:
    """So many at even distances that this model takes about TURN seconds."""
    some = sources[:TASTE]
    model.translate(some[:2], BEAM)
    each = seconds_of(lambda: model.translate(some, BEAM)) / len(some)
    count = min(len(sources), max(FEWEST, min(MOST, int(TURN / each))))
    return [sources[number * len(sources) // count] for number in range(count)]


def _table(found: Beside) -> Table:
    header = ("model", "parameters", "MB", "greedy sentences/s", "times", "beam 5 sentences/s", "times", "BLEU", "Δ BLEU", "p")
    return Table(header, tuple(_row(each) for each in found.standings))


def _row(each: Standing) -> tuple[str, ...]:
    contrast = each.contrast
    return (
        each.name,
        f"{each.parameters:,}",
        f"{each.megabytes:.1f}",
        each.greedy.text(),
        f"{each.greedy_times.median:.2f}",
        each.beam.text(),
        f"{each.beam_times.median:.2f}",
        each.bleu.number(),
        "" if contrast is None else contrast.difference.number(),
        "" if contrast is None else f"{contrast.p_randomisation.value:.4f}",
    )
