# mypy: ignore-errors
"""Train with Eole's own `eole train`, in an environment of its own: `python eole_train.py JOB.json`."""

from __future__ import annotations

import sys

import eole.trainer
import yaml
from clock import Clock, read_job
from eole.bin.main import main as eole_main
from torch.optim.optimizer import register_optimizer_step_post_hook


def settings(job: dict) -> dict:
    data, model, recipe = job["data"], job["model"], job["optimiser"]
    return {
        "data": {"corpus_1": {"path_src": f"{data}/train.src", "path_tgt": f"{data}/train.tgt", "weight": 1, "transforms": []}},
        "save_data": job["folder"],
        "src_vocab": f"{data}/vocabulary.txt",
        "tgt_vocab": f"{data}/vocabulary.txt",
        "share_vocab": True,
        "seed": job["seed"],
        "report_every": 1_000_000,
        "transforms": [],
        "training": {
            "model_path": f"{job['folder']}/model",
            "compute_dtype": job["precision"],
            "use_amp": True,
            "self_attn_backend": "flash" if job["attention"] == "sdpa" else "pytorch",
            "batch_type": "tokens",
            "batch_size": job["tokens"],
            "normalization": "tokens",
            "accum_count": [1],
            "bucket_size": 30000,
            "num_workers": job["workers"],
            "optim": "adam",
            "adam_beta2": recipe["beta2"],
            "learning_rate": recipe["learning_rate"],
            "decay_method": "rsqrt",
            "warmup_steps": recipe["warmup"],
            "max_grad_norm": recipe["clip"],
            "label_smoothing": job["smoothing"],
            "dropout": [model["dropout"]],
            "attention_dropout": [0.0],
            "dropout_steps": [0],
            "param_init_method": "xavier_uniform",
            "train_steps": job["updates"],
            "valid_steps": 1_000_000,
            "save_checkpoint_steps": 1_000_000,
        },
        "model": {
            "architecture": "transformer",
            "layers": model["encoder_layers"],
            "heads": model["encoder_attention_heads"],
            "hidden_size": model["d_model"],
            "transformer_ff": model["encoder_ffn_dim"],
            "add_qkvbias": True,
            "add_ffnbias": True,
            "share_embeddings": True,
            "share_decoder_embeddings": True,
            "embeddings": {
                "word_vec_size": model["d_model"],
                "position_encoding_type": "SinusoidalInterleaved",
            },
        },
    }


def main() -> None:
    job = read_job(sys.argv[1])
    place = f"{job['folder']}/settings.yaml"
    with open(place, "w", encoding="utf-8") as file:
        yaml.safe_dump(settings(job), file)
    clock, counted = Clock(job["ticks"]), [0]
    inner = eole.trainer.Trainer._train_step

    def counting(self, batches, *rest, **named):
        pad = self.train_loss.padding_idx
        clock.describe(self.model)
        counted[0] = sum(int(batch["tgt"][:, 1:].ne(pad).sum()) for batch in batches)
        return inner(self, batches, *rest, **named)

    eole.trainer.Trainer._train_step = counting
    register_optimizer_step_post_hook(lambda *_: clock.tick(counted[0]))
    sys.argv = ["eole", "train", "-config", place]
    eole_main()


if __name__ == "__main__":  # its workers import this file
    main()
