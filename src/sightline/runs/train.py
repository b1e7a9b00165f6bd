"""One command from parallel text to a model folder: prepare, choose, build, train, score. Started again, it goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from torch import nn

from sightline import native
from sightline.data.batches import BatchOrder
from sightline.data.prepare import Prepared, prepare, quiet
from sightline.errors import UserError
from sightline.evaluate.score import Score
from sightline.models.build import build
from sightline.models.config import SHORTEST
from sightline.models.seq2seq import parameter_count
from sightline.models.store import save
from sightline.runs.card import card
from sightline.runs.evaluate import score_model
from sightline.runs.folder import RunFolder
from sightline.runs.forecast import forecast
from sightline.runs.judge import Judge
from sightline.runs.request import Request
from sightline.tasks.translation import TranslationTask
from sightline.text.files import write_whole
from sightline.train.checkpoint import Progress
from sightline.train.config import RunConfig
from sightline.train.console import console
from sightline.train.events import JsonLines, Listener, TensorBoard, both
from sightline.train.loop import Loop
from sightline.train.memory import keep_freed_memory
from sightline.train.precision import best_device, resolve
from sightline.train.ranks import Ranks, joined

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    reason: str
    folder: RunFolder
    leads: bool = True  # false in the processes that only help
    scores: tuple[Score, ...] = ()  # of the best model on the test pairs, where there are any

    @property
    def interrupted(self) -> bool:
        return self.reason == "interrupted"


def train_model(request: Request, folder: Path, tell: Tell = quiet) -> Outcome:
    """Train in this folder, or go on with what began there."""
    first, place = request.config(), RunFolder(folder)
    keep_freed_memory()
    with ExitStack() as held:
        with joined() as ranks:
            if ranks.leads:
                held.enter_context(place.alone())
            say = tell if ranks.leads else quiet
            native.prepare("kernels", say, "without kernels in C++ training is several times slower")
            prepared = _prepared(first, place, ranks, say)
            pairs = prepared.summary.train
            config = request.config_for(pairs)
            if ranks.leads:
                place.remember(config)
            say(f"preset {request.name_for(pairs)}; the whole configuration is in {place.config}")
            run = _Run(config, prepared, place)
            if told := run.forecast(ranks):
                say(told)
            reason = run.go(ranks)
        if not ranks.leads or reason == "interrupted":
            return Outcome(reason, place, ranks.leads)
        return Outcome(reason, place, scores=run.score(say))


def _prepared(config: RunConfig, place: RunFolder, ranks: Ranks, tell: Tell) -> Prepared:
    """The leading process prepares, then the first of every other machine, then the rest: who comes later opens what is there.

    So machines may share a disk or not, and no two processes prepare in one folder at the same time.
    """
    found: Prepared | None = None
    for turn in (ranks.leads, ranks.first_here, True):
        if turn and found is None:
            found = prepare(config.data, config.source, config.target, place.data, tell)
        ranks.wait()
    assert found is not None
    return found


class _Run:
    """One run with all its parts."""

    def __init__(self, config: RunConfig, prepared: Prepared, place: RunFolder) -> None:
        self.config, self.prepared, self.place = _fitting(config, prepared), prepared, place
        device = best_device(config.train.device)
        source, target = prepared.tokenizers
        self.model = build(self.config.model, source.size, target.size, config.seed).to(device)
        self.precision = resolve(config.train.precision, device)
        self.parameters = parameter_count(self.model)

    def go(self, ranks: Ranks) -> str:
        """Until a limit is reached or somebody asks to leave."""
        with _listening(self.config, self.place, ranks) as tell:
            judge = Judge(self.prepared, self.config)
            loop = Loop(self.model, self._task(), self.config, self.precision, self.place.root, judge, self._keep, tell, ranks)
            return loop.run()

    def forecast(self, ranks: Ranks) -> str:
        """How long it will take here, in words; "" where that is not worth finding out."""
        return forecast(self.model, self._task(), self.config, self.precision, self.place.metrics, ranks)

    def score(self, tell: Tell) -> tuple[Score, ...]:
        """The best model on the test pairs, told and written into its card."""
        texts = self.prepared.test_texts()
        if not texts:
            return ()
        tell(f"scoring the best model on {len(texts):,} test pairs")
        scores = score_model(self.place.model, texts, device=str(next(self.model.parameters()).device))
        update, figures = best_so_far(self.place.metrics)
        write_whole(self.place.model / "README.md", self._card(update, figures, scores))
        write_whole(self.place.model / "history.jsonl", self.place.metrics.read_bytes())
        return scores

    def _task(self) -> TranslationTask:
        data, train, longest = self.prepared.train, self.config.train, self.config.model.max_length - 1
        order = BatchOrder(data.source_lengths, data.target_lengths, train.tokens, self.config.seed, name=data.origin)
        return TranslationTask(
            data,
            order,
            train.smoothing,
            train.smoothing_kind,
            train.bpe_dropout,
            self.prepared.tokenizers,
            longest,
            self.config.seed,
        )

    def _keep(self, model: nn.Module, figures: Mapping[str, float], update: int) -> None:
        text = self._card(update, figures, ())
        history = self.place.metrics.read_text(encoding="utf-8")
        languages = self.config.source, self.config.target
        save(self.place.model, model, self.config.model, self.prepared.tokenizers, languages, text, history)

    def _card(self, update: int, figures: Mapping[str, float], scores: tuple[Score, ...]) -> str:
        return card(self.config, self.prepared.summary, self.parameters, update, figures, scores)


def _fitting(config: RunConfig, prepared: Prepared) -> RunConfig:
    """The model reads and writes no more than it has met: a longer text is translated in parts."""
    sides = [corpus.side(name) for corpus in (prepared.train, prepared.dev) for name in ("source", "target")]
    met = max(SHORTEST, max(side.longest for side in sides) + 1)  # with the end mark
    return replace(config, model=replace(config.model, max_length=min(config.model.max_length, met)))


@contextmanager
def _listening(config: RunConfig, place: RunFolder, ranks: Ranks) -> Iterator[Callable[[Progress], Listener]]:
    """Who hears what happens: the screen, `metrics.jsonl`, TensorBoard if asked."""
    with console(config) if ranks.leads else nullcontext() as screen:

        def tell(progress: Progress) -> Listener:
            assert screen is not None  # only the leading process tells
            heard: list[Listener] = [screen, JsonLines(place.metrics, progress)]
            if config.train.tensorboard:
                heard.append(_tensorboard(place.root / "tensorboard", progress))
            return both(*heard)

        yield tell


def _tensorboard(folder: Path, progress: Progress) -> Listener:
    try:
        return TensorBoard(folder, progress)
    except ModuleNotFoundError:
        raise UserError(
            "train.tensorboard=true needs the package tensorboard; install it with: pip install 'sightline[tensorboard]'"
        ) from None


def best_so_far(metrics: Path) -> tuple[int, dict[str, float]]:
    """The update whose weights are the model, and the figures they were chosen by."""
    lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    best = [line for line in lines if line["event"] == "validated" and line["best"]]
    if not best:
        raise UserError(f"{metrics}: no validation gave a figure, so there is no model; look at the losses in it")
    return best[-1]["update"], best[-1]["metrics"]
