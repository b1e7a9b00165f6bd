"""From bench/results.json to the tables of docs/speed.md, between marks, so that the text around them stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.speed.data import ROOT
from bench.speed.results import HEADLINES
from bench.speed.training import DISTURBED

PAGE = ROOT / "docs" / "speed.md"
END = "<!-- /bench -->"
Part = Mapping[str, Any]


def mark(name: str) -> str:
    return f"<!-- bench:{name} -->"


def filled(page: str, name: str, content: str) -> str:
    """The page with this between the marks of that name; at the end of it, where there are none yet."""
    whole = f"{mark(name)}\n{content.strip()}\n{END}"
    pattern = re.compile(f"{re.escape(mark(name))}.*?{re.escape(END)}", re.DOTALL)
    if pattern.search(page):
        return pattern.sub(lambda _: whole, page, count=1)
    return f"{page.rstrip()}\n\n{whole}\n".lstrip()


def fill(results: Mapping[str, Any], page: Path) -> None:
    """Put every table in its place."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    for name, content in sections(results).items():
        text = filled(text, name, content)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")


def sections(results: Mapping[str, Any]) -> dict[str, str]:
    """Of what has been measured, each section's text by name."""
    makers: dict[str, Callable[[Part], str]] = {
        "train": training,
        "decode": decoding,
        "roofline": roofline,
        "curve": curve,
        "quality": quality,
    }
    parts = results.get("parts", {})
    found = {"headlines": headlines(results)} if results.get("ratios") else {}
    found |= {name: f"{make(parts[name])}\n\n{origin(parts[name])}" for name, make in makers.items() if name in parts}
    if "train" in parts:
        found["start-up"] = start_up(parts["train"])
    return found


def origin(part: Part) -> str:
    """When and where, in a line."""
    machine = part["machine"]
    units = ", ".join(machine["units"])
    disturbed = max((row.get("disturbed", 0.0) for row in part.get("rows", [])), default=0.0)
    warning = f" Other programs took up to {100 * disturbed:.0f} % of the processor meanwhile." if disturbed > DISTURBED else ""
    return (
        f"Measured {part['date']} on {machine['cores']} cores of {machine['processor']} ({units}), {machine['memory_gb']} GB, "
        f"Python {machine['python']}, torch {machine['torch']}, at commit {part['commit']}.{warning}"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float) -> str:
    """With three digits that mean something."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(told: Mapping[str, float]) -> str:
    """The median, and in brackets the lowest and the highest."""
    if told["low"] == told["high"]:
        return number(told["median"])
    return f"{number(told['median'])} ({number(told['low'])}–{number(told['high'])})"


def headlines(results: Mapping[str, Any]) -> str:
    """The five ratios."""
    known = results["ratios_with_spread"]
    return table(
        ["Sightline is faster by the factor", "median (lowest–highest)"], [[n, spread(known[n])] for n in HEADLINES if n in known]
    )


def training(part: Part) -> str:
    """Rates, and each of them against transformers as installed."""
    rows = [row for row in part["rows"] if "tokens_per_second" in row]
    base = next((row for row in rows if row["setup"]["system"] == "transformers"), None)
    lines = []
    for row in rows:
        against = row["tokens_per_second"]["median"] / base["tokens_per_second"]["median"] if base else float("nan")
        lines.append(
            [
                row["name"],
                spread(row["tokens_per_second"]),
                number(against),
                number(row["tokens_per_update"]),
                spread(row["first_update_s"]),
                number(row["peak_rss_mb"]),
                f"{row['parameters']:,}",
            ]
        )
    head = ["program and settings", "target tokens/s", "to transformers as installed", "tokens an update", "first update, s",
            "peak memory, MB", "parameters"]  # fmt: skip
    return "\n\n".join([table(head, lines), ratios_table(part), _elsewhere(part), failures(part)]).strip()


def _elsewhere(part: Part) -> str:
    """Are the peers set up as they should be? Their ratios among themselves were measured on another machine, too."""
    lines = [
        [line["name"], number(line["here"]), number(line["elsewhere"]), "more than 15 % below" if line["slow"] else ""]
        for line in part.get("beside_elsewhere", [])
    ]
    head = ["peer, to transformers as installed", "here", "on a processor with AMX", ""]
    return table(head, lines) if lines else ""


def ratios_table(part: Part) -> str:
    return table(["ratio", "median (lowest–highest)"], [[name, spread(told)] for name, told in part["ratios"].items()])


def failures(part: Part) -> str:
    """What could not be measured, and why."""
    lines = [f"- {name}: {trouble}" for name, trouble in part.get("missing", {}).items()]
    lines += [f"- {row['name']}: {' '.join(row['trouble'].split())[-300:]}" for row in part["rows"] if row["trouble"]]
    return "\n".join(["Not measured:", "", *lines]) if lines else ""


def decoding(part: Part) -> str:
    """Batches, then single sentences."""
    pieces = []
    for name, title in (("beam5", "Beam 5"), ("greedy", "Greedy")):
        lines, alone = [], []
        for row in part["rows"]:
            for work in (f"{name}_batch", f"{name}_batch_text"):
                if work in row.get("works", {}):
                    lines.append(_batch_line(row, row["works"][work], work.endswith("_text")))
            if f"{name}_single" in row.get("works", {}):
                one = row["works"][f"{name}_single"]
                alone.append([_label(row), spread(one["p50_ms"]), spread(one["p95_ms"]), str(one["sentences"])])
        head = ["program", "sentences/s", "output tokens/s", "tokens a sentence", "BLEU", "load, s", "peak memory, MB"]
        pieces += [f"{title}, 1,000 sentences:", table(head, lines)]
        pieces += [f"{title}, one sentence at a time:", table(["program", "p50, ms", "p95, ms", "sentences"], alone)]
    return "\n\n".join([*pieces, ratios_table(part), failures(part)]).strip()


def _label(row: Part) -> str:
    return f"{row['name']} ({row['recipe']})" if row.get("recipe") else str(row["name"])


def _batch_line(row: Part, work: Part, by_text: bool) -> list[str]:
    length = work.get("tokens_per_sentence", {}).get("median")
    return [
        f"{_label(row)}, text to text" if by_text else _label(row),
        spread(work["rate"]),
        number(work["rate"]["median"] * length) if length else "",
        f"{length:.2f}" if length else "",
        f"{work['bleu']['median']:.1f}",
        spread(row["loaded_s"]),
        number(row["peak_rss_mb"]),
    ]


def roofline(part: Part) -> str:
    """The machine's limits, and the share of them."""
    kinds = ("fp32", "bf16", "int8")
    products = [
        [shape, *(number(rates[kind]) if kind in rates else "" for kind in kinds)]
        for shape, rates in part["products_gflops"].items()
    ]
    shares = [
        [
            line["what"],
            number(line["gflops"]),
            f"{number(line['limit'])} ({line['of']})",
            f"{100 * line['share']:.1f} %",
            f"{100 * line['share_of_copy']:.0f} %" if "share_of_copy" in line else "",
        ]
        for line in part["shares"]
    ]
    return "\n\n".join(
        [
            table(["product, rows x in x out", *(f"{kind}, Gop/s" for kind in kinds)], products),
            f"Copying: {part['copy_gb_per_s']} GB/s, read and write together. Training takes "
            f"{part['training_mflop_per_token']} MFLOP a target token.",
            table(["ours", "reached, Gop/s", "best product, Gop/s", "share", "weights read, share of copying"], shares),
        ]
    )


def curve(part: Part) -> str:
    """The dev losses of all seeds."""
    lines = [
        [
            str(row["update"]),
            ", ".join(f"{loss:.4f}" for loss in row["ours"]),
            ", ".join(f"{loss:.4f}" for loss in row["transformers"]),
            f"{100 * row['apart']:+.2f} %",
        ]
        for row in part["rows"]
    ]
    return table(["update", "sightline, dev loss of each seed", "transformers", "means apart"], lines)


def quality(part: Part) -> str:
    """BLEU over time, and when it got there."""
    curves, target = part["curves"], part["settings"]["target"]
    updates = sorted({int(point["update"]) for points in curves.values() for point in points})
    by_update = {system: {int(point["update"]): point for point in points} for system, points in curves.items()}
    lines = [
        [
            str(update),
            *(f"{p['seconds']:.0f} s, {p['bleu']:.1f}" if (p := known.get(update)) else "" for known in by_update.values()),
        ]
        for update in updates
    ]
    until = [f"{system} {f'{seconds:.0f} s' if seconds else 'never'}" for system, seconds in part["seconds_to_target"].items()]
    said = f"To a dev BLEU of {target:g}: {', '.join(until)}."
    if "ratio" in part:
        said += f" Ratio: {part['ratio']:.2f}."
    return f"{table(['update', *(f'{system}: seconds, dev BLEU' for system in curves)], lines)}\n\n{said}"


def start_up(part: Part) -> str:
    return table(
        ["program", "seconds until its help, or its import"], [[name, number(s)] for name, s in part["start_up_s"].items()]
    )


def summary(results: Mapping[str, Any]) -> str:
    """For the terminal."""
    lines = [f"{name:45} {spread(told)}" for name, told in results.get("ratios_with_spread", {}).items()]
    quality_part = results.get("parts", {}).get("quality", {})
    if "ratio" in quality_part:
        lines.append(f"{'time to dev BLEU, transformers over ours':45} {quality_part['ratio']}")
    return "\n".join(lines)
