"""Configuration is read strictly: what is right is taken as written, what is wrong is named with its place."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from pathlib import Path
from typing import Literal

import pytest

from sightline.config import dump_toml, fingerprint, from_dict, load, to_dict
from sightline.errors import UserError


class Unit(StrEnum):
    BYTES = "bytes"
    WORDS = "words"


class Device(Enum):
    CPU = 0
    GPU = 1


@dataclass(frozen=True)
class Attention:
    score: Literal["scaled_dot", "additive"] = "scaled_dot"
    window: int | Literal["all"] = "all"


@dataclass(frozen=True)
class Transformer:
    kind: Literal["transformer"] = "transformer"
    layers: int = 3
    heads: int = 4
    attention: Attention = Attention()

    def __post_init__(self) -> None:
        if self.layers < 1:
            raise ValueError(f"layers must be at least 1, not {self.layers}")


@dataclass(frozen=True)
class Recurrent:
    kind: Literal["recurrent"] = "recurrent"
    cell: Literal["lstm", "gru"] = "lstm"
    hidden: int = 64


@dataclass(frozen=True)
class System:
    name: str
    model: Transformer | Recurrent = Recurrent()


@dataclass(frozen=True)
class Run:
    train: tuple[Path, ...]
    to: str = "en"
    seed: int = 1
    rate: float = 0.5
    betas: tuple[float, float] = (0.9, 0.98)
    fast: bool = False
    clip: float | None = 1.0
    note: str | None = None
    unit: Unit = Unit.WORDS
    device: Device = Device.CPU
    model: Transformer | Recurrent = Transformer()
    teacher: Transformer | Recurrent | None = None
    systems: tuple[System, ...] = ()


BASE = Run(train=(Path("a.tsv"),))


def write(folder: Path, text: str) -> Path:
    path = folder / "run.toml"
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return path


def mistakes(*arguments: str, path: Path | None = None, base: Run | None = BASE) -> str:
    with pytest.raises(UserError) as caught:
        load(Run, path, arguments, base)
    return str(caught.value)


def test_layers_are_laid_over_one_another(tmp_path: Path) -> None:
    path = write(tmp_path, 'seed = 2\nrate = 1\n[model]\nlayers = 5\nattention.score = "additive"\n')
    run = load(Run, path, ["model.layers=6", "to=fr"], base=replace(BASE, unit=Unit.BYTES, model=Transformer(heads=8)))
    assert run == replace(
        BASE,
        seed=2,
        rate=1.0,
        to="fr",
        unit=Unit.BYTES,
        model=Transformer(layers=6, heads=8, attention=Attention("additive")),
    )
    assert isinstance(run.rate, float)


@pytest.mark.parametrize(
    ("argument", "field", "value"),
    [
        ("train=a.tsv,b.tsv", "train", (Path("a.tsv"), Path("b.tsv"))),
        ("train=", "train", ()),
        ('train=["a,b.tsv"]', "train", (Path("a,b.tsv"),)),
        ('train="a,b.tsv"', "train", (Path("a,b.tsv"),)),
        ("betas=0.8,1", "betas", (0.8, 1.0)),
        ("to=7", "to", "7"),
        ("to=a=b", "to", "a=b"),
        ("to=007", "to", "007"),
        ('to="7"', "to", "7"),
        ("to=none", "to", "none"),
        ("rate=1e-4", "rate", 1e-4),
        ("rate=inf", "rate", float("inf")),
        ("seed=1_000", "seed", 1000),
        ("fast=true", "fast", True),
        ("clip=none", "clip", None),
        ("note=2", "note", "2"),
        ("note=none", "note", None),
        ("unit=bytes", "unit", Unit.BYTES),
        ("device=GPU", "device", Device.GPU),
        ("model.attention.window=3", "model", Transformer(attention=Attention(window=3))),
        ("model.attention.window=all", "model", Transformer()),
        ("model={kind='recurrent', hidden=9}", "model", Recurrent(hidden=9)),
        ("teacher.kind=recurrent", "teacher", Recurrent()),
        ("systems=[{name='x', model.hidden=2}]", "systems", (System("x", Recurrent(hidden=2)),)),
    ],
)
def test_key_value(argument: str, field: str, value: object) -> None:
    found = getattr(load(Run, None, [argument], BASE), field)
    assert found == value
    assert type(found) is type(value)


def test_the_last_argument_wins_and_a_choice_may_stand_anywhere() -> None:
    run = load(Run, None, ["model.hidden=9", "seed=3", "model.kind=recurrent", "seed=4"], BASE)
    assert (run.model, run.seed) == (Recurrent(hidden=9), 4)


def test_another_member_of_a_union_begins_from_its_own_defaults() -> None:
    assert load(Run, None, ["model.kind=recurrent"], replace(BASE, model=Transformer(layers=9))).model == Recurrent()
    kept = load(Run, None, ["model.kind=transformer"], replace(BASE, model=Transformer(layers=9))).model
    assert kept == Transformer(layers=9)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("sed=1", "unknown key 'sed'; the nearest is 'seed'"),
        ("model.head=1", "unknown key 'model.head'; the nearest is 'model.heads'"),
        ("layers=1", "unknown key 'layers'; the nearest is 'model.layers'"),
        ("model.attention.zzz=1", "unknown key 'model.attention.zzz'; valid here: score, window"),
        ("seed=1.0", "seed: expected a whole number, given 1.0"),
        ("seed=true", "seed: expected a whole number, given True"),
        ("rate=fast", "rate: expected a number, given 'fast'"),
        ("rate=nan", "rate: expected a number, given nan"),
        ("rate=true", "rate: expected a number, given True"),
        (f"rate=1{'0' * 400}", "rate: expected a number, given 1000"),
        ("fast=1", "fast: expected true or false, given 1"),
        ("fast=True", "fast: expected true or false, given 'True'; the nearest is 'true'"),
        ("clip=off", "clip: expected a number, given 'off'"),
        ("unit=byte", "unit: expected one of 'bytes', 'words', given 'byte'; the nearest is 'bytes'"),
        ("device=gpu", "device: expected one of 'CPU', 'GPU', given 'gpu'"),
        ("betas=1,2,3", "betas: expected a list of 2: a number, a number, given '1,2,3'"),
        ("betas=1,x", "betas[1]: expected a number, given 'x'"),
        ("model=3", "model: expected a table of kind, layers, heads, attention or a table of kind, cell, hidden, given 3"),
        ("model.kind=recurent", "'recurent'; the nearest is 'recurrent'"),
        ("model.attention.window=x", "model.attention.window: expected a whole number or 'all', given 'x'"),
        ("model.attention=x", "model.attention: expected a table of score, window, given 'x'"),
        ("model.layers=0", "model: layers must be at least 1, not 0"),
        ("teacher.layers=1", "missing key 'teacher.kind' (one of 'transformer', 'recurrent')"),
        ("systems=[{model.hidden=1}]", "missing key 'systems[0].name' (text)"),
    ],
)
def test_a_wrong_argument_is_quoted_and_explained(argument: str, message: str) -> None:
    text = mistakes(argument)
    assert text.startswith(f"argument {argument!r}: ")
    assert message in text
    assert "\n" not in text


@pytest.mark.parametrize("argument", ["seed", "=1", "model..layers=1", ""])
def test_an_argument_that_is_no_key_value(argument: str) -> None:
    assert mistakes(argument) == f"argument {argument!r}: expected key=value, such as seed=1 or model.layers=4"


def test_all_mistakes_are_reported_with_their_lines(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '''
        # seed = "in a comment"
        note = """
        seed = "in a text"
        """
        seed = "one"

        [model]  # layers
        heads = 2
        layerz = 2
        attention = { score = "dot" }

        [[systems]]
        name = "a"
        [[systems]]
        name = "b"
        model.kind = "recurrent"
        model.hidden = [1]
        ''',
    )
    assert mistakes("rate=x", path=path, base=None).splitlines() == [
        "6 mistakes in the configuration:",
        f"{path}: missing key 'train' (a list, each a path); set it in the file or say train=...",
        f"{path}:5: seed: expected a whole number, given 'one'",
        "argument 'rate=x': rate: expected a number, given 'x'",
        f"{path}:9: unknown key 'model.layerz'; the nearest is 'model.layers'",
        f"{path}:10: model.attention.score: expected one of 'scaled_dot', 'additive', given 'dot'",
        f"{path}:17: systems[1].model.hidden: expected a whole number, given [1]",
    ]


def test_a_check_of_the_dataclass_points_at_the_key_it_speaks_of(tmp_path: Path) -> None:
    path = write(tmp_path, "[model]\nheads = 2\nlayers = -1\n")
    assert mistakes(path=path) == f"{path}:3: model: layers must be at least 1, not -1"
    assert mistakes("model.layers=0", path=path).startswith("argument 'model.layers=0': ")


def test_an_argument_takes_the_place_of_a_whole_list(tmp_path: Path) -> None:
    path = write(tmp_path, 'train = [\n"x",\n3]\n')
    assert mistakes(path=path) == f"{path}:3: train[1]: expected a path, given 3"
    assert load(Run, path, ["train=y"]).train == (Path("y"),)
    assert mistakes("train=['x', 4]", path=path).startswith("argument \"train=['x', 4]\": train[1]: ")


@pytest.mark.parametrize(("text", "line"), [("seed = 1\nto = en\n", 2), ("seed = 1\n\n[model", 3), ("seed = 1\nseed = 2\n", 2)])
def test_what_is_not_toml_is_named_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = write(tmp_path, text)
    assert mistakes(path=path).startswith(f"{path}:{line}: not valid TOML: ")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    absent = tmp_path / "absent.toml"
    assert mistakes(path=absent) == f"{absent}: there is no such file; check the name"
    (tmp_path / "absents.toml").touch()
    assert mistakes(path=absent).endswith(f"; did you mean {tmp_path / 'absents.toml'}?")
    assert "cannot be opened (Is a directory)" in mistakes(path=tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'to = "\xe9"')
    assert "not UTF-8 (byte 6)" in mistakes(path=tmp_path / "latin.toml")
    (tmp_path / "bom.toml").write_bytes(b'\xef\xbb\xbfto = "de"\r\n')
    assert load(Run, tmp_path / "bom.toml", base=BASE).to == "de"


def test_json_is_read_as_strictly() -> None:
    run = replace(BASE, note="none", clip=None, teacher=Recurrent(), systems=(System("x"),))
    assert from_dict(Run, to_dict(run)) == run
    with pytest.raises(UserError, match=r"m/config.json: unknown key 'sed'; the nearest is 'seed'"):
        from_dict(Run, {**to_dict(run), "sed": 1}, "m/config.json")
    with pytest.raises(UserError, match="clip: expected a number"):
        from_dict(Run, {**to_dict(run), "clip": "none"})
    with pytest.raises(UserError, match="seed: expected a whole number, given None"):
        from_dict(Run, {**to_dict(run), "seed": None})


def test_what_toml_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="may not be 'none'"):
        dump_toml(replace(BASE, note="none"))


def test_fingerprints_differ_exactly_when_values_do() -> None:
    assert fingerprint(BASE) == fingerprint(Run(train=(Path("a.tsv"),)))
    assert fingerprint(BASE) != fingerprint(replace(BASE, model=Transformer(heads=5)))


@dataclass(frozen=True)
class Untellable:
    model: Attention | System = Attention()


@dataclass(frozen=True)
class Unsupported:
    words: set[str]


def test_types_that_cannot_be_read_are_a_bug_not_a_users_mistake() -> None:
    with pytest.raises(TypeError, match="nothing tells Attention, System apart"):
        load(Untellable, None, ["model={}"])
    with pytest.raises(TypeError, match="cannot hold"):
        load(Unsupported, None, ["words=a"])


def test_import_stays_light() -> None:
    code = "import sys, sightline.config; print([m for m in ('torch', 'numpy', 'pydantic', 'rich') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
