"""A measurement for the screen and for programs."""

from __future__ import annotations

import json
from dataclasses import asdict

from sightline.study.bench import Bench, Decoding
from sightline.study.table import Table

FORMAT = "sightline-bench/1"


def to_json(found: Bench) -> str:
    """Everything, in seconds, bytes and operations."""
    content = {"format": FORMAT} | asdict(found) | {"recipe": dict(found.recipe)}
    return json.dumps(content, ensure_ascii=False, indent=1)


def to_text(found: Bench) -> str:
    """Tables."""
    notes = [f"{name}  {value}" for name, value in found.recipe]
    notes += [f"{engine} was not measured  {reason}" for engine, reason in found.missing.items()]
    parts = [
        f"{found.model} on this machine",
        "Decoding: a second; middle and ends of the rounds\n" + _throughput(found).text(),
        "One sentence alone, and the start of a process\n" + _latency(found).text(),
        *(["How many times as fast, round by round\n" + _ratios(found).text()] if found.ratios else []),
        _training(found),
        "Share of what the processor can do in matrix products\n" + _limits(found).text(),
        "\n".join(notes),
    ]
    return "\n\n".join(parts) + "\n"


def _throughput(found: Bench) -> Table:
    rows = [(_name(each), each.sentences.text(), each.tokens.text(), f"{each.length:.1f}") for each in found.decoding]
    return Table(("engine and search", "sentences", "pieces", "pieces a sentence"), tuple(rows))


def _latency(found: Bench) -> Table:
    rows = []
    for each in found.decoding:
        start = found.starts[each.engine]
        rows.append(
            (
                _name(each),
                f"{1000 * each.p50:.1f}",
                f"{1000 * each.p95:.1f}",
                f"{start.total:.2f}",
                f"{start.imported:.2f}",
                f"{start.loaded:.2f}",
                f"{start.memory / 2**20:,.0f}",
            )
        )
    header = ("engine and search", "p50 ms", "p95 ms", "first output s", "import s", "load s", "most memory MiB")
    return Table(header, tuple(rows))


def _ratios(found: Bench) -> Table:
    return Table(("", "times"), tuple((name, spread.text(2)) for name, spread in found.ratios.items()))


def _training(found: Bench) -> str:
    seen = found.training
    how = f"{seen.precision}, {seen.batch:,} tokens an update, {seen.data}"
    return f"Training such a model: {seen.tokens:,.0f} target tokens/s ({how})"


def _limits(found: Bench) -> Table:
    rates, rows = found.rates, list[tuple[str, ...]]()
    for each in found.decoding:
        rows.append((f"decoding, {_name(each)}", f"{each.operations / 1e9:,.1f}", f"{each.share:.1%}", f"{each.weights:.1%}"))
    seen = found.training
    rows.append((f"training, {seen.precision}", f"{seen.operations / 1e9:,.1f}", f"{seen.share:.1%}", ""))
    for name in ("fp32", "bf16", "int8"):
        rows.append((f"the processor, {name}", f"{getattr(rates, name) / 1e9:,.1f}", "", ""))
    rows.append(("reading memory, GB/s", f"{rates.bandwidth / 1e9:,.1f}", "", ""))
    return Table(("", "GFLOP/s", "of its precision", "weights alone, of memory"), tuple(rows))


def _name(each: Decoding) -> str:
    return f"{each.recipe}, {each.search}"
