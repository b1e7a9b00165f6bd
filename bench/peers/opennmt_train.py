# mypy: ignore-errors
"""Train with OpenNMT-py's own `onmt_train`, in an environment of its own: `python opennmt_train.py JOB.json`."""

from __future__ import annotations

import sys

import onmt.trainer
import yaml
from clock import Clock, read_job
from onmt.bin.train import main as train
from torch.optim.optimizer import register_optimizer_step_post_hook


def settings(job: dict) -> dict:
    data, model, recipe = job["data"], job["model"], job["optimiser"]
    pairs = {name: {"path_src": f"{data}/{name}.src", "path_tgt": f"{data}/{name}.tgt"} for name in ("train", "dev")}
    return {
        "data": {"corpus_1": {**pairs["train"], "weight": 1}},
        "save_data": job["folder"],
        "save_model": f"{job['folder']}/model",
        "src_vocab": f"{data}/vocabulary.txt",
        "tgt_vocab": f"{data}/vocabulary.txt",
        "share_vocab": True,
        "share_embeddings": True,
        "share_decoder_embeddings": True,
        "encoder_type": "transformer",
        "decoder_type": "transformer",
        "layers": model["encoder_layers"],
        "heads": model["encoder_attention_heads"],
        "hidden_size": model["d_model"],
        "word_vec_size": model["d_model"],
        "transformer_ff": model["encoder_ffn_dim"],
        "add_qkvbias": True,
        "position_encoding": True,
        "dropout": [model["dropout"]],
        "attention_dropout": [0.0],
        "label_smoothing": job["smoothing"],
        "param_init_glorot": True,
        "param_init": 0.0,
        "optim": "adam",
        "adam_beta2": recipe["beta2"],
        "learning_rate": recipe["learning_rate"],
        "decay_method": "rsqrt",
        "warmup_steps": recipe["warmup"],
        "max_grad_norm": recipe["clip"],
        "normalization": "tokens",
        "batch_type": "tokens",
        "batch_size": job["tokens"],
        "bucket_size": 30000,
        "num_workers": job["workers"],
        "train_steps": job["updates"],
        "valid_steps": 1_000_000,
        "save_checkpoint_steps": 1_000_000,
        "report_every": 1_000_000,
        "seed": job["seed"],
    }


def main() -> None:
    job = read_job(sys.argv[1])
    place = f"{job['folder']}/settings.yaml"
    with open(place, "w", encoding="utf-8") as file:
        yaml.safe_dump(settings(job), file)
    clock, counted = Clock(job["ticks"]), [0]
    inner = onmt.trainer.Trainer._gradient_accumulation

    def counting(self, batches, *rest):
        clock.describe(self.model)
        counted[0] = sum(int(batch["tgt"][:, 1:, 0].ne(self.train_loss.padding_idx).sum()) for batch in batches)
        return inner(self, batches, *rest)

    onmt.trainer.Trainer._gradient_accumulation = counting
    register_optimizer_step_post_hook(lambda *_: clock.tick(counted[0]))
    sys.argv = ["onmt_train", "-config", place]
    train()


if __name__ == "__main__":  # its workers import this file
    main()
