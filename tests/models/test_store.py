"""The model folder: what goes in comes out, what does not belong is refused, what is interrupted leaves the old one."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from sightline.errors import UserError
from sightline.models import store
from sightline.models.build import build
from sightline.models.config import ModelConfig, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig
from sightline.models.seq2seq import LanguageModel, Seq2Seq
from sightline.models.store import find, load, load_weights, save, weights
from sightline.text.learn import learn
from sightline.text.tokenizer import Tokenizer

STACK = TransformerConfig(layers=1, heads=2, hidden=24, position="learned")
CONFIGS = {
    "transformer": ModelConfig(STACK, STACK, dim=16, max_length=32),
    "recurrent": ModelConfig(RecurrentEncoderConfig(), RecurrentDecoderConfig(input_feeding=True), dim=16, tie="none"),
    "language model": ModelConfig(None, STACK, dim=16, tie="target", max_length=32),
}
FRENCH = learn(["le chat noir", "la maison rouge"] * 3, "words", 12)
ENGLISH = learn(["the black cat", "the red house"] * 3, "words", 12)
NAMES = ["README.md", "config.json", "history.jsonl", "model.safetensors"]


def made(
    config: ModelConfig, seed: int = 0, tokenizers: tuple[Tokenizer, Tokenizer] = (FRENCH, FRENCH)
) -> Seq2Seq | LanguageModel:
    return build(config, tokenizers[0].size, tokenizers[1].size, seed)


def put(
    folder: Path, seed: int = 0, config: ModelConfig = CONFIGS["transformer"], card: str = "the card"
) -> Seq2Seq | LanguageModel:
    model = made(config, seed)
    save(folder, model, config, (FRENCH, FRENCH), ("fr", "en"), card, history='{"update": 1}\n')
    return model


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    a, b = weights(one), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("kind", CONFIGS)
def test_what_goes_in_comes_out(kind: str, tmp_path: Path) -> None:
    model = put(tmp_path / "model", config=CONFIGS[kind])
    stored = load(tmp_path / "model")
    assert same(stored.model, model)
    assert (stored.config, stored.languages, stored.folder) == (CONFIGS[kind], ("fr", "en"), tmp_path / "model")
    assert [t.fingerprint for t in stored.tokenizers] == [FRENCH.fingerprint] * 2
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == sorted([*NAMES, "tokenizer.json"])
    assert (tmp_path / "model" / "README.md").read_text() == "the card"
    assert (tmp_path / "model" / "history.jsonl").read_text() == '{"update": 1}\n'


def test_each_side_may_have_a_tokenizer_of_its_own(tmp_path: Path) -> None:
    config, both = CONFIGS["recurrent"], (FRENCH, ENGLISH)
    save(tmp_path / "model", made(config, tokenizers=both), config, both, ("fr", "en"), "")
    assert [t.fingerprint for t in load(tmp_path / "model").tokenizers] == [t.fingerprint for t in both]
    os.replace(tmp_path / "model" / "tokenizer.source.json", tmp_path / "kept")
    shutil.copy(tmp_path / "model" / "tokenizer.target.json", tmp_path / "model" / "tokenizer.source.json")
    with pytest.raises(UserError, match=r"tokenizer\.source\.json: this tokenizer does not belong to the weights"):
        load(tmp_path / "model")


def test_shared_weights_are_kept_once_and_stay_shared(tmp_path: Path) -> None:
    put(tmp_path / "model")
    assert sum(tensor.shape == (FRENCH.size, 16) for tensor in load_file(tmp_path / "model" / "model.safetensors").values()) == 1
    model = load(tmp_path / "model").model
    assert isinstance(model, Seq2Seq)
    assert model.head.weight is model.encoder.embedding.table.weight is model.decoder.embedding.table.weight


def test_another_tokenizer_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "model")
    ENGLISH.save(tmp_path / "model" / "tokenizer.json")
    with pytest.raises(UserError, match=r"tokenizer\.json: this tokenizer does not belong to the weights.*put the original back"):
        load(tmp_path / "model")


def test_a_missing_tokenizer_is_named(tmp_path: Path) -> None:
    put(tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").unlink()
    with pytest.raises(UserError, match=r"tokenizer\.json"):
        load(tmp_path / "model")


def renamed(tensors: dict[str, torch.Tensor]) -> None:
    tensors["other"] = tensors.pop(sorted(tensors)[0])


def shortened(tensors: dict[str, torch.Tensor]) -> None:
    name = sorted(tensors)[0]
    tensors[name] = tensors[name][..., :-1].contiguous()


@pytest.mark.parametrize("change", [renamed, shortened, lambda tensors: tensors.popitem()])
def test_weights_of_another_model_are_refused(change: Callable[[dict[str, torch.Tensor]], Any], tmp_path: Path) -> None:
    put(tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)
    with pytest.raises(UserError, match=r"model\.safetensors: these weights belong to another model \(they differ in "):
        load(tmp_path / "model")


def test_a_refusal_leaves_the_model_as_it_was() -> None:
    model = made(CONFIGS["transformer"])
    before = {name: tensor.clone() for name, tensor in weights(model).items()}
    wrong = {name: torch.zeros_like(tensor) for name, tensor in before.items()}
    shortened(wrong)
    with pytest.raises(UserError, match="belong to another model"):
        load_weights(model, wrong)
    assert all(torch.equal(tensor, before[name]) for name, tensor in weights(model).items())


@pytest.mark.parametrize("damage", [b"", b"not weights", b"\x80\x04N."])
def test_weights_that_are_none_are_refused(damage: bytes, tmp_path: Path) -> None:
    put(tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").write_bytes(damage)
    with pytest.raises(UserError, match=r"model\.safetensors: cannot be read as weights .*backup"):
        load(tmp_path / "model")


def test_weights_cut_short_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(UserError, match="cannot be read as weights"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "format 1 expected"),
        ({"format": None}, "format 1 expected"),
        ({"languages": ["fr"]}, "languages missing or damaged"),
        ({"languages": None}, "languages missing or damaged"),
        ({"vocabularies": ["a", "b"]}, "vocabularies missing or damaged"),
        (
            {"vocabularies": [FRENCH.size, 7]},
            rf"vocabularies is \[{FRENCH.size}, 7\], but .* have \[{FRENCH.size}, {FRENCH.size}\]",
        ),
        ({"tokenizers": {}}, "tokenizers missing or damaged"),
        ({"tokenizers": {"../elsewhere.json": "0"}}, "tokenizers missing or damaged"),
        ({"model": 3}, "model missing or damaged"),
        ({"model": 3, "languages": 4}, "languages, model missing or damaged"),
        ({"model": {"dimm": 16}}, "unknown key 'dimm'; the nearest is 'dim'"),
        ({"model": {"dim": "wide"}}, "dim: expected .*, given 'wide'"),
        ({"model": {"dim": 15}}, "dim=15 must be a multiple of"),
    ],
)
def test_a_damaged_config_says_what_is_wrong_with_it(changes: dict[str, object], message: str, tmp_path: Path) -> None:
    put(tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(UserError, match=message) as caught:
        load(tmp_path / "model")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null", "\udcff"])
def test_a_config_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    put(tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match=r"cannot be read .*backup|format 1 expected"):
        load(tmp_path / "model")


def test_nothing_is_ever_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by Python's own way in nor by PyTorch's."""
    put(tmp_path / "model")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a pickle was opened")

    for owner, name in ((pickle, "load"), (pickle, "loads"), (pickle, "Unpickler"), (torch, "load")):
        monkeypatch.setattr(owner, name, refuse)
    assert isinstance(load(tmp_path / "model").model, Seq2Seq)


def test_a_pickle_in_the_place_of_weights_does_not_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
            return os.mkdir, (str(tmp_path / "exploded"),)

    put(tmp_path / "model")
    torch.save(Bomb(), tmp_path / "model" / "model.safetensors")
    with pytest.raises(UserError, match="cannot be read as weights"):
        load(tmp_path / "model")
    assert not (tmp_path / "exploded").exists()


class KilledError(BaseException):
    """Nothing in the program can catch it."""


class Fuse:
    """Kills before the k-th operation on files, and at every one after it: a dead process does not tidy up."""

    def __init__(self, k: int) -> None:
        self.left = k

    def guard(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*args: Any, **kwargs: Any) -> Any:
            self.left -= 1
            if self.left <= 0:
                raise KilledError
            return operation(*args, **kwargs)

        return guarded

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        for name in ("rename", "replace", "fsync", "unlink", "rmdir", "mkdir", "chmod"):
            patch.setattr(os, name, self.guard(getattr(os, name)))
        for name in ("mkdir", "unlink"):
            patch.setattr(Path, name, self.guard(getattr(Path, name)))
        patch.setattr(store, "save_file", self.guard(store.save_file))
        patch.setattr(shutil, "rmtree", self.guard(shutil.rmtree))


def test_killed_at_any_operation_of_a_save_the_old_or_the_new_model_is_found_whole(tmp_path: Path) -> None:
    outcomes = []
    for k in range(1, 200):
        folder = tmp_path / str(k) / "model"
        old, new = put(folder, seed=1), made(CONFIGS["transformer"], seed=2)
        with pytest.MonkeyPatch.context() as patch:
            Fuse(k).plant(patch)
            try:
                save(folder, new, CONFIGS["transformer"], (FRENCH, FRENCH), ("fr", "en"), "")
                died = False
            except KilledError:
                died = True
        found = load(folder)
        assert same(found.model, old) or same(found.model, new), f"killed at operation {k}"
        outcomes.append(same(found.model, new))
        third = put(folder, seed=3)  # and the next one is as if nothing had happened
        assert same(load(folder).model, third)
        assert [path.name for path in folder.parent.iterdir()] == ["model"]
        if not died:
            break
    assert outcomes == sorted(outcomes), "once the new one is there, it stays"
    assert outcomes.count(False) > 8
    assert outcomes.count(True) > 2


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_who_may_read_one_file_of_a_folder_may_read_all(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        put(tmp_path / "model")
    finally:
        os.umask(before)
    modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in (tmp_path / "model").iterdir()}
    assert modes == dict.fromkeys([*NAMES, "tokenizer.json"], "0o640")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), SafetensorError("No space left on device")])
def test_no_room_on_the_disk_leaves_the_old_one_and_says_so(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = put(tmp_path / "model", seed=1)

    def full(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(store, "save_file", full)
        with pytest.raises(UserError, match=r"could not be written .*No space left.*the one before it is still there"):
            put(tmp_path / "model", seed=2)
    assert same(load(tmp_path / "model").model, old)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder itself, or the run folder around it, in whichever way it is named."""
    put(tmp_path / "run" / "model")
    for named in (tmp_path / "run" / "model", tmp_path / "run", str(tmp_path / "run")):
        assert find(named) == tmp_path / "run" / "model"
    monkeypatch.chdir(tmp_path / "run" / "model")
    assert find(".") == Path(".")
    monkeypatch.chdir(tmp_path / "run")
    assert find(".") == Path("model")


def test_find_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no such model folder; `sightline train … -o .*nowhere` makes one"):
        find(tmp_path / "nowhere")
    with pytest.raises(UserError, match="this is not a model folder"):
        find(tmp_path)
