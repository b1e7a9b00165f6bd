"""The whole path on the built-in corpus: train, score on unseen compositions, look at the attention, measure it against gold."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sightline.data.grammar import Example, examples
from sightline.decode.load import load_translator
from sightline.decode.options import SearchOptions
from sightline.decode.translate import Translator
from sightline.evaluate.alignment import Gold, alignment_scores, diagonal
from sightline.evaluate.report import Heatmap, System
from sightline.evaluate.report_html import write_report
from sightline.evaluate.report_text import to_markdown
from sightline.look.align import BestHead, Look, best_heads, links_of_all
from sightline.look.draw import draw, shading_for
from sightline.look.record import Explanation, Reading, explain_many
from sightline.models.seq2seq import Seq2Seq
from sightline.runs.evaluate import Contestant, Measure, make_report, recipe_of, translations
from sightline.runs.request import Request
from sightline.runs.train import Tell, train_model
from sightline.text.files import write_whole

SENTENCES = ("il m' a entarté", "les pauvres n' ont pas d' argent", "les étudiants ont ouvert leurs livres")
TESTED = 2000  # sentences with an adjective–noun or verb–object pair that training never had
ALIGNED = 1000  # dev pairs that a head is chosen on, and as many test pairs that it is scored on
DRAWN = 3  # test pairs whose attention is drawn beside their gold links
SEED = 1


def demonstrate(folder: Path, changes: tuple[str, ...], tell: Tell) -> bool:
    """Leave `model` and `report.html`, `.json`, `.md` in the folder; False if it was stopped before its end."""
    if train_model(Request("demo", None, changes), folder, tell).interrupted:
        return False
    tell(f"translating {TESTED:,} unseen compositions, reading alignments off {2 * ALIGNED:,} pairs")
    translator, (stored,) = load_translator([folder])
    assert isinstance(stored.model, Seq2Seq)
    tested = list(examples(SEED, "test", TESTED))
    pairs = [_texts(example) for example in tested]
    options = SearchOptions()
    best = _best_heads(translator, stored.model, tested[:ALIGNED])
    known = [(text, found.text) for text, found in zip(SENTENCES, translator.translate(SENTENCES, options), strict=True)]
    pictures = list(explain_many(stored.model, translator.tokenizers, known))
    drawn = zip(tested[:DRAWN], explain_many(stored.model, translator.tokenizers, pairs[:DRAWN]), strict=True)
    report = make_report(
        "French to English on the built-in corpus: compositions that training never had",
        f"builtin:test:{TESTED}",
        pairs,
        [Contestant("demo", translations(translator, pairs, options))],
        Measure(),
        recipe_of([stored.folder], options, [translator.engine(options).recipe]),
        [
            *(_heatmap(picture, head.look) for picture in pictures for head in best.values()),
            *(_heatmap(picture, _clearest(best), example) for example, picture in drawn),
        ],
        [*(System(str(head.look), head.test) for head in best.values()), _length_baseline(tested[:ALIGNED])],
    )
    write_report(report, folder)
    write_whole(folder / "report.md", to_markdown(report))
    _show(pictures, _clearest(best))
    for system in (*report.systems, *report.aligners):
        print(*(f"{system.name}: {score}" for score in system.scores[:3]), sep="\n")
    tell(f"the report is {folder / 'report.html'}; the model is in {folder / 'model'}; try: sightline translate {folder}")
    return True


def _texts(example: Example) -> tuple[str, str]:
    return " ".join(example.source), " ".join(example.target)


def _best_heads(translator: Translator, model: Seq2Seq, tested: Sequence[Example]) -> dict[Reading, BestHead]:
    """The head with the lowest alignment error on dev, for each reading, scored on test."""
    developed = list(examples(SEED, "dev", ALIGNED))
    found = [links_of_all(explain_many(model, translator.tokenizers, map(_texts, part))) for part in (developed, tested)]
    return best_heads(found[0], _gold(developed), found[1], _gold(tested))


def _gold(part: Iterable[Example]) -> list[Gold]:
    return [Gold.of(example.sure, example.possible) for example in part]


def _length_baseline(tested: Sequence[Example]) -> System:
    """What an aligner scores that knows nothing but the lengths."""
    links = [diagonal(len(example.source), len(example.target)) for example in tested]
    return System("the diagonal (no model)", tuple(alignment_scores(links, _gold(tested))))


def _heatmap(picture: Explanation, look: Look, example: Example | None = None) -> Heatmap:
    """One look at one sentence, EOS as the last source word; gold links where they are known."""
    weights = picture.weights(look.name, look.head, look.reading)
    rows, columns = picture.labels(look.name)
    known = example if example is not None and (rows, columns[:-1]) == (example.target, example.source) else None
    sure, possible = (known.sure, known.possible) if known is not None else (frozenset(), frozenset())
    return Heatmap.of(str(look), columns, rows, weights.clip(0, 1).tolist(), sure, possible)


def _clearest(best: Mapping[Reading, BestHead]) -> Look:
    """Of the two readings the one that agrees more with the gold links of dev."""
    return min(best.values(), key=lambda head: head.dev_aer).look


def _show(pictures: Sequence[Explanation], look: Look) -> None:
    """The known sentences in the terminal."""
    for picture in pictures:
        print(" ".join(picture.source.words), "→", " ".join(picture.target.words))
        print(draw(picture, look.name, look.head, look.reading, shading=shading_for(sys.stdout)), end="\n\n")
