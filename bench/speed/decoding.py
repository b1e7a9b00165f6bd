"""Translations per second, ours and the peers', with the same weights: runs that take turns, each in a process of its own."""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from bench.speed import results
from bench.speed.data import ROOT, SCRATCH, Shared, lines, test_ids, test_references, test_sources
from bench.speed.envs import python_of, versions
from bench.speed.jobs import Failed, Ran, run, threads
from bench.speed.pegasus import settings as pegasus_settings
from bench.speed.pegasus import to_pegasus
from bench.speed.results import plain, ratio
from bench.speed.setups import Recipe, Setup, train
from bench.speed.training import alarm, say
from sightline.decode.ctranslate2_export import export, names
from sightline.evaluate.metrics import quick_bleu
from sightline.models.seq2seq import Seq2Seq
from sightline.models.store import Stored, load, weights, write_tensors
from sightline.study.flops import work_of
from sightline.study.timing import Spread
from sightline.tasks.translation import make_batch
from sightline.text.tokenizer import EOS

LIMIT = 600.0  # seconds for one process
PENALTY = 1.0  # length penalty of a beam: CTranslate2 and transformers divide by length^α, Sightline by ((5 + length) / 6)^α
CLOSE = 1e-4  # between the logits of the same weights in two programs
BEAMS = {"greedy": 1, "beam5": 5}
HEADLINE = "native"  # the engine whose ratios stand at the top


@dataclass(frozen=True, slots=True)
class Decoder:
    """A program, with settings and environment variables for each kind of work, which may differ."""

    system: str  # "sightline", "ctranslate2" or "transformers"
    name: str
    choices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    singles: int = 250  # sentences one by one
    passes: int = 2
    engine: str = ""

    def works(self, share: float) -> list[dict[str, Any]]:
        """What is to be done."""
        found: list[dict[str, Any]] = []
        for name, beam in BEAMS.items():
            batch = {"beam": beam, "single": False, "sentences": round(1000 * share), "passes": self.passes}
            alone = {"beam": beam, "single": True, "sentences": max(10, round(self.singles * share)), "passes": 1}
            found += [{"name": f"{name}_batch", **batch}, {"name": f"{name}_single", **alone}]
            if self.engine == HEADLINE:
                found.append({"name": f"{name}_batch_text", **batch})
        return [{**work, **self.choices.get(work["name"], {"settings": {}, "variables": {}})} for work in found]


@dataclass
class Row:
    """One decoder over all rounds."""

    decoder: Decoder
    rounds: dict[int, dict[str, Any]] = field(default_factory=dict)
    runs: list[Ran] = field(default_factory=list)
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """The same weights for all."""

    stored: Stored
    folder: Path  # where the others find them
    sources: list[list[int]]
    texts: list[str]
    references: list[str]


def prepared_model(path: Path) -> Model:
    """Write the weights down as CTranslate2 and as transformers read them, and make sure that they are the same."""
    stored = load(path)
    folder = SCRATCH / "decode"
    folder.mkdir(parents=True, exist_ok=True)
    ct2 = folder / "ctranslate2"
    mark, own = folder / "weights", _mark(stored)
    if not mark.exists() or mark.read_text() != own:
        for old in ct2.glob("*"):
            old.unlink()
        if ct2.exists():
            ct2.rmdir()
        export(stored, ct2, "float32")
        write_tensors(folder / "pegasus.safetensors", to_pegasus(weights(stored.model), stored.config.dim))
        mark.write_text(own)
    return Model(stored, folder, test_ids(stored.tokenizers[0]), test_sources(), test_references())


def _mark(stored: Stored) -> str:
    return hashlib.sha256((stored.folder / "model.safetensors").read_bytes()).hexdigest()


def check_logits(model: Model) -> float:
    """The largest difference between our logits and theirs on some dev pairs; a large one is a mistake in the mapping."""
    tokenizers, folder = model.stored.tokenizers, model.folder
    pairs = [lines("val.en")[:16], lines("val.de")[:16]]
    sources, targets = (tokenizer.encode_batch(texts) for tokenizer, texts in zip(tokenizers, pairs, strict=True))
    batch = make_batch(sources, targets)
    write_tensors(folder / "pairs.safetensors", {"source": batch.source, "inputs": batch.inputs})
    job = _hf_job(model) | {"pairs": str(folder / "pairs.safetensors"), "out": str(folder / "logits.safetensors")}
    _run_job(folder / "logits.json", job, "transformers", "hf_decode.py", {})
    theirs = load_file(folder / "logits.safetensors")["logits"]
    ours = model.stored.model
    assert isinstance(ours, Seq2Seq)
    with torch.no_grad():
        features, _ = ours.features(batch.inputs, ours.begin(batch.source))
        difference = (ours.head(features) - theirs).flatten(0, 1)[batch.real].abs().max()
    if not difference < CLOSE:
        raise SystemExit(f"the same weights give other logits in transformers: they differ by {float(difference):.2g}")
    return float(difference)


def _hf_job(model: Model) -> dict[str, Any]:
    vocabulary = model.stored.tokenizers[1].size
    return {"settings": pegasus_settings(model.stored.config, vocabulary), "weights": str(model.folder / "pegasus.safetensors")}


def _run_job(place: Path, job: Mapping[str, Any], system: str, script: str, variables: Mapping[str, str]) -> Ran:
    place.write_text(json.dumps(job), encoding="utf-8")
    # CTranslate2 is told its threads by its own settings; two more from OpenMP in each of them make it many times slower.
    usual = {} if system == "ctranslate2" else threads(1)
    return run([python_of(system), str(ROOT / "bench" / "peers" / script), place], {**usual, **variables}, LIMIT)


def decode(decoder: Decoder, model: Model, works: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], Ran]:
    """All of it, in one process for each choice of environment variables; the memory is that of the largest."""
    told: dict[str, Any] = {}
    largest: Ran | None = None
    for variables in {json.dumps(work["variables"]): work["variables"] for work in works}.values():
        found, ran = _in_one_process(decoder, model, [work for work in works if work["variables"] == variables], variables)
        told |= found
        largest = ran if largest is None or ran.rss > largest.rss else largest
    assert largest is not None
    return told, largest


def _in_one_process(
    decoder: Decoder, model: Model, works: Sequence[Mapping[str, Any]], variables: Mapping[str, str]
) -> tuple[dict[str, Any], Ran]:
    out = model.folder / "out.json"
    out.unlink(missing_ok=True)
    job: dict[str, Any] = {"works": works, "out": str(out), "length_penalty": PENALTY, "sources": model.sources}
    match decoder.system:
        case "sightline":
            place = model.folder / "job.json"
            job |= {"model": str(model.stored.folder), "engine": decoder.engine, "texts": model.texts}
            place.write_text(json.dumps(job), encoding="utf-8")
            ran = run([python_of("sightline"), "-m", "bench.speed.our_decoder", place], {**threads(1), **variables}, LIMIT)
        case "ctranslate2":
            job |= {"model": str(model.folder / "ctranslate2"), "names": names(model.stored.tokenizers[0]), "eos": EOS}
            job["longest"] = model.stored.config.max_length - 1
            ran = _run_job(model.folder / "job.json", job, decoder.system, "ct2_decode.py", variables)
        case _:
            job |= _hf_job(model)
            ran = _run_job(model.folder / "job.json", job, decoder.system, "hf_decode.py", variables)
    return json.loads(out.read_text(encoding="utf-8")), ran


def take_turns(decoders: Sequence[Decoder], rounds: int, model: Model, share: float) -> list[Row]:
    """Every decoder once, then every decoder again."""
    rows = [Row(decoder) for decoder in decoders]
    for number in range(rounds):
        for row in rows:
            if row.trouble:
                continue
            try:
                told, ran = decode(row.decoder, model, row.decoder.works(share))
            except Failed as error:
                row.trouble = str(error)
                say(f"round {number + 1}: {row.decoder.name}: {error}")
                continue
            row.rounds[number] = told
            row.runs.append(ran)
            rates = {name: figures(work, model)["rate"] for name, work in told.items() if isinstance(work, dict)}
            say(
                f"round {number + 1}: {row.decoder.name}: "
                + ", ".join(f"{name} {rate:,.1f}" for name, rate in rates.items())
                + alarm(ran.disturbed)
            )
    return rows


def figures(work: Mapping[str, Any], model: Model) -> dict[str, float]:
    """What one process found out about one kind of work. `rate`: sentences per second, or one over the median latency."""
    found = work["found"]
    by_text = bool(found) and bool(found[0]) and isinstance(found[0][0], str)
    texts = [row[0] for row in found] if by_text else [model.stored.tokenizers[1].decode(row) for row in found]
    told = {"bleu": quick_bleu(texts, model.references[: len(texts)])}
    if not by_text:
        told["tokens_per_sentence"] = statistics.mean(len(row) + 1 for row in found)
    if "seconds" in work:
        told["rate"] = len(found) / min(work["seconds"])
    else:
        told |= {f"p{q}_ms": float(np.percentile(work["milliseconds"], q)) for q in (50, 95)}
        told["rate"] = 1000 / told["p50_ms"]
    return told


def told(row: Row, model: Model) -> dict[str, Any]:
    """A row for the results."""
    about: dict[str, Any] = {"name": row.decoder.name, "system": row.decoder.system, "trouble": row.trouble}
    about["choices"] = row.decoder.choices
    if not row.rounds:
        return about
    last = row.rounds[max(row.rounds)]
    about["recipe"] = last.get("recipe", "")
    about["loaded_s"] = plain(Spread.of([told["loaded_s"] for told in row.rounds.values()]))
    about["peak_rss_mb"] = round(max(ran.rss for ran in row.runs) / 1e6)
    about["disturbed"] = round(max(ran.disturbed for ran in row.runs), 3)
    works: dict[str, Any] = {}
    for name in (name for name, work in last.items() if isinstance(work, dict)):
        each = {number: figures(told[name], model) for number, told in row.rounds.items()}
        works[name] = {key: plain(Spread.of([one[key] for one in each.values()])) for key in each[max(each)]}
        works[name]["sentences"] = len(last[name]["found"])
    return about | {"works": works}


def rates_of(row: Row, work: str, model: Model) -> dict[int, float]:
    return {number: figures(told[work], model)["rate"] for number, told in row.rounds.items() if work in told}


def our_decoders() -> list[Decoder]:
    return [
        Decoder("sightline", "sightline native", engine="native"),
        Decoder("sightline", "sightline ctranslate2", engine="ctranslate2"),
        Decoder("sightline", "sightline torch", engine="torch", singles=100, passes=1),
    ]


CT2_BATCH = {"compute": "int8", "inter": 2, "intra": 1, "batch": 32, "batch_type": "examples"}
CT2_SINGLE = {"compute": "int8", "inter": 1, "intra": 1, "batch": 32, "batch_type": "examples"}
HF_BATCH = {"precision": "bf16", "attention": "sdpa", "batch": 64, "early_stopping": True}
HF_SINGLE = {**HF_BATCH, "precision": "fp32"}


def choices(best: Mapping[str, Any], batch: Mapping[str, Any], single: Mapping[str, Any], **other: str) -> dict[str, Any]:
    """For each kind of work what the sweep found best, else these; `other` settings replace theirs."""
    found: dict[str, Any] = {}
    for name in BEAMS:
        for kind, usual in (("batch", batch), ("single", single)):
            chosen = best.get(f"{name}_{kind}", {"settings": usual, "variables": {}})
            found[f"{name}_{kind}"] = {**chosen, "settings": {**chosen["settings"], **other}}
    return found


def peer_decoders(sweeps: Mapping[str, Any]) -> list[Decoder]:
    """CTranslate2 at its best of the sweep and in fp32, transformers at its best and in fp32."""
    ct2, hf = (sweeps.get("decode", {}).get(system, {}).get("best", {}) for system in ("ctranslate2", "transformers"))
    in_fp32 = choices(ct2, CT2_BATCH, CT2_SINGLE, compute="float32")
    return [
        Decoder("ctranslate2", "ctranslate2 int8", choices(ct2, CT2_BATCH, CT2_SINGLE)),
        Decoder("ctranslate2", "ctranslate2 fp32", in_fp32, passes=1),
        Decoder("transformers", "transformers", choices(hf, HF_BATCH, HF_SINGLE), singles=40, passes=1),
        Decoder("transformers", "transformers fp32", choices(hf, HF_BATCH, HF_SINGLE, precision="fp32"), singles=20, passes=1),
    ]


def measure(path: Path, rounds: int, share: float, missing: Mapping[str, str]) -> dict[str, Any]:
    """The part "decode" of the results."""
    model = prepared_model(path)
    difference = check_logits(model) if "transformers" not in missing else None
    decoders = [*our_decoders(), *peer_decoders(results.read(results.SWEEPS))]
    rows = take_turns([decoder for decoder in decoders if decoder.system not in missing], rounds, model, share)
    about = {
        "rows": [told(row, model) for row in rows],
        "missing": dict(missing),
        "ratios": {name: plain(spread) for name, spread in ratios(rows, model).items()},
        "largest_logit_difference": difference,
        "reference_tokens_per_sentence": _reference_length(model),
        "roofline": work_done(model),
        "versions": {system: versions(system) for system in ("ctranslate2",) if system not in missing},
    }
    chosen = {"rounds": rounds, "share": share, "length_penalty": PENALTY, "weights_sha256": _mark(model.stored)}
    return results.part(about, chosen)


def work_done(model: Model) -> dict[str, Any]:
    """What the mathematics asks for: operations of a sentence of mean length, and the weights that every step reads."""
    work = work_of(model.stored.config, model.stored.tokenizers[1].size)
    source = statistics.mean(len(row) + 1 for row in model.sources)
    flops = {
        f"{name}_{kind}": work.decoding(source, _reference_length(model), beam)
        for name, beam in BEAMS.items()
        for kind in ("batch", "single")
    }
    read = sum(
        tensor.numel() for name, tensor in weights(model.stored.model).items() if name.startswith("decoder.") or "head." in name
    )
    return {"flops_per_sentence": flops, "decoder_weights": read}


def _reference_length(model: Model) -> float:
    return statistics.mean(len(row) + 1 for row in model.stored.tokenizers[1].encode_batch(model.references))


def ratios(rows: Sequence[Row], model: Model) -> dict[str, Spread]:
    """Of each of our engines to CTranslate2 in int8 and to transformers at its best; the headline engine's without its name."""
    by_name = {row.decoder.name: row for row in rows if row.rounds}
    found: dict[str, Spread] = {}
    for engine in ("native", "torch", "ctranslate2"):
        ours = by_name.get(f"sightline {engine}")
        for peer, short in (("ctranslate2 int8", "ctranslate2"), ("transformers", "transformers")):
            theirs = by_name.get(peer)
            for work in (f"{search}_{kind}" for search in ("beam5", "greedy") for kind in ("batch", "single")):
                if ours is None or theirs is None:
                    continue
                name = f"{work}_vs_{short}" + ("" if engine == HEADLINE else f" ({engine} engine)")
                found[name] = ratio(rates_of(ours, work, model), rates_of(theirs, work, model))
    return found


def trained_model(shared: Shared, quick: bool) -> Path:
    """A model trained until it is good, kept for the next time: the recipe of docs/results.md, dropout 0.3."""
    folder = SCRATCH / ("model-quick" if quick else "model")
    if not (folder / "run" / "model" / "config.json").exists():
        say(f"training a model to translate with, in {folder}; name one with --model to do without")
        updates = 20 if quick else 4800
        recipe = Recipe(updates, 0.3, 0.002, 800, keep_every=0 if quick else 400, schedule="cosine", average=8)
        train(Setup("sightline", "auto"), recipe, shared, folder, 3600.0)
    return folder / "run" / "model"
