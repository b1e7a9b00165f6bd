# mypy: ignore-errors
"""Translate with Hugging Face's `generate`, in an environment of its own: `python hf_decode.py JOB.json`."""

from __future__ import annotations

import time

begin = time.perf_counter()

import functools  # noqa: E402
import sys  # noqa: E402

import numpy as np  # noqa: E402
import torch  # noqa: E402
from clock import read_job  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from timing import measured, write  # noqa: E402
from transformers import PegasusConfig, PegasusForConditionalGeneration  # noqa: E402

PAD, BOS, EOS = 0, 1, 2


def padded(rows: list[list[int]]) -> torch.Tensor:
    out = np.full((len(rows), max(map(len, rows))), PAD, np.int64)
    for number, row in enumerate(rows):
        out[number, : len(row)] = row
    return torch.from_numpy(out)


def load(job: dict, precision: str, attention: str) -> PegasusForConditionalGeneration:
    config = PegasusConfig(**job["settings"])
    config._attn_implementation = attention
    model = PegasusForConditionalGeneration(config)
    missing, unexpected = model.load_state_dict(load_file(job["weights"]), strict=False)
    learnt = [name for name in missing if "embed" not in name and "lm_head" not in name and "final_logits" not in name]
    if learnt or unexpected:
        raise SystemExit(f"the weights do not fit: {learnt}, {unexpected}")
    model.tie_weights()
    model.eval()
    return model.to(torch.bfloat16) if precision == "bf16" else model


def generate(model, sources: list[list[int]], beam: int, batch: int, alpha: float, early: bool) -> list[list[int]]:
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    found: list[list[int]] = [[] for _ in sources]
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        inputs = padded([[*sources[i], EOS] for i in rows])
        options = {"num_beams": beam, "do_sample": False, "max_new_tokens": 2 * inputs.size(1) + 20}
        if beam > 1:
            options |= {"length_penalty": alpha, "early_stopping": early}
        out = model.generate(inputs, attention_mask=(inputs != PAD).long(), **options)
        for i, row in zip(rows, out[:, 1:].tolist(), strict=True):
            found[i] = row[: row.index(EOS)] if EOS in row else [token for token in row if token != PAD]
    return found


def logits(job: dict) -> None:
    """What the model makes of given pairs, to compare with."""
    model = load(job, "fp32", "eager")
    told = load_file(job["pairs"])
    with torch.no_grad():
        out = model(told["source"], attention_mask=(told["source"] != PAD).long(), decoder_input_ids=told["inputs"]).logits
    save_file({"logits": out.contiguous()}, job["out"])


@torch.inference_mode()
def main() -> None:
    job = read_job(sys.argv[1])
    if "pairs" in job:
        logits(job)
        return
    models = functools.cache(lambda precision, attention: load(job, precision, attention))
    works = {}
    for work in job["works"]:
        chosen = work["settings"]
        model = models(chosen["precision"], chosen["attention"])
        works.setdefault("loaded_s", time.perf_counter() - begin)
        search = functools.partial(
            generate,
            model,
            beam=work["beam"],
            batch=chosen["batch"],
            alpha=job["length_penalty"],
            early=chosen["early_stopping"],
        )
        works[work["name"]] = measured(work, search, job["sources"])
    write(job["out"], works)


main()
