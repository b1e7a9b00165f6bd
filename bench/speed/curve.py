"""Do ours and transformers learn alike? The same first weights, the same batches, the same recipe: loss, then BLEU over time."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from bench.speed import results
from bench.speed.data import SCRATCH, Shared
from bench.speed.jobs import Failed
from bench.speed.pegasus import from_pegasus, to_pegasus
from bench.speed.setups import OURS, Recipe, Setup, Trained, train
from bench.speed.training import our_setups, say
from sightline.decode.options import SearchOptions
from sightline.decode.translate import Translator
from sightline.evaluate.metrics import quick_bleu
from sightline.models.build import build
from sightline.models.seq2seq import Seq2Seq
from sightline.models.store import load_weights, weights, write_tensors
from sightline.runs.judge import Judge
from sightline.train.config import RunConfig

WITHIN = 0.01  # of the dev loss at equal tokens
LIMIT = 1500.0


class Examiner:
    """One and the same judge for all weights, wherever they were trained."""

    def __init__(self, config: RunConfig, shared: Shared, sentences: int) -> None:
        prepared = shared.prepared
        source, target = (tokenizer.size for tokenizer in prepared.tokenizers)
        model = build(config.model, source, target, config.seed)
        assert isinstance(model, Seq2Seq)
        self.config, self.model, self.prepared = config, model, prepared
        self.first = {name: tensor.detach().clone() for name, tensor in weights(model).items()}
        self.judge = Judge(prepared, config)  # by loss alone
        self.texts = prepared.dev_texts()[:sentences]

    def put(self, system: str, path: Path) -> None:
        """These weights into the model."""
        found = load_file(path)
        load_weights(self.model, found if system == OURS else from_pegasus(found, self.first, self.config.model.dim))

    def loss(self) -> float:
        return self.judge(self.model)["loss"]

    @torch.no_grad()
    def bleu(self) -> float:
        translator = Translator(self.model, self.prepared.tokenizers, self.config.model.max_length)
        found = translator.translate([source for source, _ in self.texts], SearchOptions(beam=1))
        return quick_bleu([each.text for each in found], [target for _, target in self.texts])


def first_weights(examiner: Examiner, seed: int) -> Path:
    """What Sightline would begin with, as transformers reads it."""
    place = SCRATCH / "curve" / f"first-{seed}.safetensors"
    place.parent.mkdir(parents=True, exist_ok=True)
    write_tensors(place, to_pegasus(examiner.first, examiner.config.model.dim))
    return place


def kept_weights(trained: Trained, system: str) -> dict[int, Path]:
    """The weights that a run kept, by update."""
    folder = trained.folder / "run" / "snapshots" if system == OURS else trained.folder
    return {int(path.stem): path for path in sorted(folder.glob("*.safetensors"))}


def measure_curve(shared: Shared, updates: int, seeds: int) -> dict[str, Any]:
    """The part "curve": dev loss after equal tokens, over several seeds."""
    ours, theirs = our_setups()[0], best_transformers()
    losses: dict[str, dict[int, list[float]]] = {OURS: {}, "transformers": {}}
    every = max(1, updates // 3)
    for seed in range(1, seeds + 1):
        examiner = Examiner(Recipe(updates, seed=seed).config(), shared, 0)
        begin = first_weights(examiner, seed)
        for setup in (ours, theirs):
            recipe = Recipe(updates, keep_every=every, seed=seed, weights=begin)
            done = train(setup, recipe, shared, SCRATCH / "curve" / setup.system, LIMIT)
            for update, path in kept_weights(done, setup.system).items():
                examiner.put(setup.system, path)
                losses[setup.system].setdefault(update, []).append(examiner.loss())
            say(f"seed {seed}, {setup.name}: " + ", ".join(f"{u}: {each[-1]:.4f}" for u, each in losses[setup.system].items()))
    rows: list[dict[str, Any]] = []
    for update in sorted(losses[OURS].keys() & losses["transformers"].keys()):
        mine, others = losses[OURS][update], losses["transformers"][update]
        apart = statistics.mean(mine) / statistics.mean(others) - 1
        rows.append({"update": update, "ours": mine, "transformers": others, "apart": round(apart, 5)})
    told = {"rows": rows, "setups": [ours.key, theirs.key], "within": all(abs(row["apart"]) <= WITHIN for row in rows)}
    return results.part(told, {"updates": updates, "seeds": seeds, "within": WITHIN})


def best_transformers() -> Setup:
    """Its fastest settings among those of the sweep."""
    rows = results.read(results.SWEEPS).get("train", {}).get("transformers", [])
    rows = [row for row in rows if "tokens_per_second" in row]
    if not rows:
        return Setup("transformers", "bf16", "eager", "tuned")
    return Setup(**max(rows, key=lambda row: float(row["tokens_per_second"]["median"]))["setup"])


def measure_quality(shared: Shared, updates: int, every: int, target: float, sentences: int) -> dict[str, Any]:
    """The part "quality": dev BLEU against seconds of training, and the seconds until `target`."""
    ours, theirs = our_setups()[0], best_transformers()
    recipe = Recipe(updates, learning_rate=0.002, warmup=400, keep_every=every)
    examiner = Examiner(recipe.config(), shared, sentences)
    begin = first_weights(examiner, recipe.seed)
    curves: dict[str, list[dict[str, float]]] = {}
    for setup in (ours, theirs):
        chosen = Recipe(updates, learning_rate=0.002, warmup=400, keep_every=every, weights=begin)
        try:
            done = train(setup, chosen, shared, SCRATCH / "quality" / setup.system, LIMIT)
        except Failed as error:
            say(f"{setup.name}: {error}")
            continue
        curve = curves[setup.system] = []
        for update, path in kept_weights(done, setup.system).items():
            examiner.put(setup.system, path)
            curve.append({"update": update, "seconds": round(done.seconds(update), 2), "bleu": round(examiner.bleu(), 2)})
            say(f"{setup.name}: {json.dumps(curve[-1])}")
    until = {system: time_to(curve, target) for system, curve in curves.items()}
    told: dict[str, Any] = {"curves": curves, "setups": [ours.key, theirs.key], "seconds_to_target": until}
    if all(until.get(system) for system in (OURS, "transformers")):
        told["ratio"] = round(float(until["transformers"] or 0) / float(until[OURS] or 1), 3)
    about = {"updates": updates, "every": every, "target": target, "sentences": sentences}
    return results.part(
        told, {**about, "learning_rate": recipe.learning_rate, "warmup": recipe.warmup, "dropout": recipe.dropout}
    )


def time_to(curve: list[dict[str, float]], target: float) -> float | None:
    """When the curve crosses the target, in a straight line between two points; None where it never does."""
    before = {"seconds": 0.0, "bleu": 0.0}
    for point in curve:
        if point["bleu"] >= target:
            share = (target - before["bleu"]) / (point["bleu"] - before["bleu"])
            return round(before["seconds"] + share * (point["seconds"] - before["seconds"]), 2)
        before = point
    return None
