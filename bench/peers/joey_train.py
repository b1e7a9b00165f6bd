# mypy: ignore-errors
"""Train with Joey NMT's own `joeynmt train`, in an environment of its own: `python joey_train.py JOB.json`."""

from __future__ import annotations

import sys
import warnings

import joeynmt.training
import yaml
from clock import Clock, read_job
from joeynmt.__main__ import main as joey
from torch.optim.optimizer import register_optimizer_step_post_hook


def stack(model: dict) -> dict:
    return {
        "type": "transformer",
        "num_layers": model["encoder_layers"],
        "num_heads": model["encoder_attention_heads"],
        "embeddings": {"embedding_dim": model["d_model"], "scale": True, "dropout": model["dropout"]},
        "hidden_size": model["d_model"],
        "ff_size": model["encoder_ffn_dim"],
        "dropout": model["dropout"],
        "layer_norm": "pre",
        "activation": "relu",
    }


def settings(job: dict) -> dict:
    data, recipe = job["data"], job["optimiser"]
    side = {"level": "word", "voc_file": f"{data}/vocabulary.txt", "max_length": 300}
    return {
        "name": "bench",
        "joeynmt_version": "2.3.0",
        "model_dir": f"{job['folder']}/model",
        "use_cuda": False,
        "fp16": job["precision"] != "fp32",
        "random_seed": job["seed"],
        "normalization": "tokens",
        "data": {
            "train": f"{data}/train",
            "dev": f"{data}/dev",
            "dataset_type": "plain",
            "src": {"lang": "src", **side},
            "trg": {"lang": "tgt", **side},
        },
        "testing": {"beam_size": 1, "batch_size": 64, "batch_type": "sentence", "max_output_length": 100},
        "training": {
            "optimizer": "adam",
            "adam_betas": [recipe["beta1"], recipe["beta2"]],
            "normalization": "tokens",
            "learning_rate": recipe["learning_rate"],
            "learning_rate_min": 1e-12,
            "scheduling": "warmupinversesquareroot",
            "learning_rate_warmup": recipe["warmup"],
            "clip_grad_norm": recipe["clip"],
            "label_smoothing": job["smoothing"],
            "loss": "crossentropy",
            "batch_size": 2 * job["tokens"],  # it counts both sides
            "batch_type": "token",
            "epochs": 1000,
            "max_updates": job["updates"] + 1,
            "updates": job["updates"] + 1,
            "logging_freq": 1_000_000,
            "validation_freq": 1_000_000,
            "shuffle": True,
            "overwrite": True,
        },
        "model": {
            "initializer": "xavier_uniform",
            "embed_initializer": "normal",
            "embed_init_weight": 0.0625,
            "bias_initializer": "zeros",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": stack(job["model"]),
            "decoder": stack(job["model"]),
        },
    }


def main() -> None:
    warnings.simplefilter("ignore")
    job = read_job(sys.argv[1])
    place = f"{job['folder']}/settings.yaml"
    with open(place, "w", encoding="utf-8") as file:
        yaml.safe_dump(settings(job), file)
    clock, counted = Clock(job["ticks"]), [0]
    inner = joeynmt.training.TrainManager._train_step

    def counting(self, batch):
        clock.describe(self.model)
        counted[0] = int(batch.ntokens)
        return inner(self, batch)

    joeynmt.training.TrainManager._train_step = counting
    register_optimizer_step_post_hook(lambda *_: clock.tick(counted[0]))
    sys.argv = ["joeynmt", "train", place, "--skip-test"]
    joey()


if __name__ == "__main__":
    main()
