# mypy: ignore-errors
"""Train with Hugging Face's Seq2SeqTrainer, in an environment of its own: `python hf_train.py JOB.json`."""

from __future__ import annotations

import os
import sys

import numpy as np
import torch
from clock import Clock, read_job
from safetensors.torch import load_file, save_file
from torch.utils.data import DataLoader, Dataset
from transformers import PegasusConfig, PegasusForConditionalGeneration, Seq2SeqTrainer, Seq2SeqTrainingArguments, TrainerCallback

PAD, BOS, EOS = 0, 1, 2
RANK, WORLD = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


class Pairs(Dataset):
    """Sentence pairs as ids."""

    def __init__(self, path: str) -> None:
        told = np.load(path)
        self.sides = [(told[f"train_{side}"], told[f"train_{side}_starts"]) for side in ("source", "target")]

    def __len__(self) -> int:
        return len(self.sides[0][1]) - 1

    def __getitem__(self, index: int) -> dict[str, list[int]]:
        source, target = ([*ids[starts[index] : starts[index + 1]].tolist(), EOS] for ids, starts in self.sides)
        return {"input_ids": source, "labels": target}


def padded(rows: list[list[int]], value: int) -> torch.Tensor:
    out = np.full((len(rows), max(map(len, rows))), value, np.int64)
    for number, row in enumerate(rows):
        out[number, : len(row)] = row
    return torch.from_numpy(out)


def collate(samples: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
    sources = padded([sample["input_ids"] for sample in samples], PAD)
    return {
        "input_ids": sources,
        "attention_mask": (sources != PAD).long(),
        "labels": padded([sample["labels"] for sample in samples], -100),
        "decoder_input_ids": padded([[BOS, *sample["labels"][:-1]] for sample in samples], PAD),
    }


class SameBatches:
    """The batches that were written down; of several processes each takes its share of every one."""

    def __init__(self, path: str) -> None:
        told = np.load(path)
        self.rows, self.starts = told["rows"], told["starts"]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self):
        for begin, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            yield self.rows[begin:end][RANK::WORLD].tolist()


class Trainer(Seq2SeqTrainer):
    """With batches by tokens, which waste less on padding than its own by sentences, and a count of their tokens."""

    batches = ""

    def get_train_dataloader(self) -> DataLoader:
        return DataLoader(self.train_dataset, batch_sampler=SameBatches(self.batches), collate_fn=self.data_collator)

    def training_step(self, model, inputs, *rest):
        self.counted = int((inputs["labels"] != -100).sum()) * WORLD
        return super().training_step(model, inputs, *rest)


class Ticks(TrainerCallback):
    """Tells the clock of every update, and keeps the weights of some."""

    def __init__(self, trainer: Trainer, clock: Clock | None, every: int, folder: str) -> None:
        self.trainer, self.clock, self.every, self.folder = trainer, clock, every, folder

    def on_step_end(self, args, state, control, **rest) -> None:
        if self.clock is None:
            return
        self.clock.describe(self.trainer.model)
        self.clock.tick(self.trainer.counted)
        if self.every and state.global_step % self.every == 0:
            self.clock.pause(lambda: self.keep(state.global_step))

    def keep(self, update: int) -> None:
        weights = {name: tensor.detach().contiguous() for name, tensor in self.trainer.model.named_parameters()}
        save_file(weights, f"{self.folder}/{update:09d}.safetensors")


def fresh_model(job: dict) -> PegasusForConditionalGeneration:
    config = PegasusConfig(**job["model"])
    config._attn_implementation = job["attention"]
    model = PegasusForConditionalGeneration(config)
    if job.get("weights"):
        missing, unexpected = model.load_state_dict(load_file(job["weights"]), strict=False)
        learnt = [name for name in missing if "embed" not in name and "lm_head" not in name and "final_logits" not in name]
        if learnt or unexpected:
            raise SystemExit(f"the weights do not fit: {learnt}, {unexpected}")
        model.tie_weights()
    return model


def rate(peak: float, warmup: int, schedule: str, updates: int):
    """Learning rate of update 1, 2, … over the peak; LambdaLR counts from 0."""

    def factor(step: int) -> float:
        update = step + 1
        if update < warmup:
            return update / warmup
        if schedule == "inverse_sqrt":
            return (warmup / update) ** 0.5
        return 1.0

    return factor


def main() -> None:
    job = read_job(sys.argv[1])
    torch.manual_seed(job["seed"])
    model = fresh_model(job)
    recipe = job["optimiser"]
    optimiser = torch.optim.Adam(
        model.parameters(),
        lr=recipe["learning_rate"],
        betas=(recipe["beta1"], recipe["beta2"]),
        eps=recipe["epsilon"],
        fused=True,
    )
    factor = rate(recipe["learning_rate"], recipe["warmup"], recipe["schedule"], job["updates"])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimiser, factor)
    arguments = Seq2SeqTrainingArguments(
        output_dir=job["folder"],
        max_steps=job["updates"],
        bf16=job["precision"] == "bf16",
        use_cpu=True,
        ddp_backend="gloo" if WORLD > 1 else None,
        label_smoothing_factor=job["smoothing"],
        max_grad_norm=recipe["clip"],
        seed=job["seed"],
        save_strategy="no",
        logging_strategy="no",
        report_to=[],
        disable_tqdm=True,
        dataloader_pin_memory=False,
        remove_unused_columns=False,
    )
    data = Pairs(f"{job['data']}/ids.npz")
    trainer = Trainer(model=model, args=arguments, train_dataset=data, data_collator=collate, optimizers=(optimiser, scheduler))
    trainer.batches = job["batch_file"]
    clock = Clock(job["ticks"]) if RANK == 0 else None
    trainer.add_callback(Ticks(trainer, clock, job["keep_every"], job["folder"]))
    trainer.train()


main()
