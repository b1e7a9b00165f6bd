"""The model card: what a model was made from, how good it is, how to use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sightline.config import fingerprint
from sightline.data.summary import Summary
from sightline.evaluate.score import Score
from sightline.train.config import RunConfig


def card(
    config: RunConfig,
    summary: Summary,
    parameters: int,
    update: int,
    figures: Mapping[str, float],
    scores: Sequence[Score] = (),
) -> str:
    """As Markdown. `figures` are those it was chosen by on the development pairs, `scores` those on the test pairs."""
    parts = [
        f"# {config.source} → {config.target}",
        f"A translation model of {parameters:,} parameters, trained with Sightline for {update:,} updates.",
        "## Use",
        f"```sh\nsightline translate FOLDER < text.{config.source} > text.{config.target}\n```",
        '```python\nimport sightline\n\nsightline.load("FOLDER").translate(["…"])[0].text\n```',
        "## Scores",
        *_scores(summary, scores, figures),
        "## Data",
        _data(config, summary),
        "## Recipe",
        f"Seed {config.seed}; configuration {fingerprint(config)}, in full in the run's `config.toml`; "
        "what happened in training is in `history.jsonl`.",
    ]
    return "\n\n".join(parts) + "\n"


def _scores(summary: Summary, scores: Sequence[Score], figures: Mapping[str, float]) -> list[str]:
    chosen = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
    on_dev = f"On {summary.dev:,} development pairs, by which it was chosen (greedy search): {chosen}."
    if not scores:
        return [on_dev]
    rows = ["| metric | score | 95 % interval | recipe |", "|---|---|---|---|"]
    for score in scores:
        interval = "" if score.low is None else f"{score.low:.2f} – {score.high:.2f}"
        rows.append(f"| {score.name} | {score.value:.2f} | {interval} | `{score.recipe.replace('|', ' ')}` |")
    return [f"On {summary.test:,} test pairs that were neither trained on nor chosen by:", "\n".join(rows), on_dev]


def _data(config: RunConfig, summary: Summary) -> str:
    lines = [f"{summary.read:,} pairs read, {summary.train:,} trained on, {summary.dev:,} dev, {summary.test:,} test."]
    lines += [f"- `{file.name}`, sha256 `{file.sha256}`" for file in summary.files if file.size]
    lines += [f"- `{file.name}`, generated with seed {config.data.seed}" for file in summary.files if not file.size]
    kind = config.data.tokenizer.kind
    lines.append(f"- tokenizer: {kind}, {summary.vocabulary[0]:,} source and {summary.vocabulary[1]:,} target pieces")
    return "\n".join(lines)
