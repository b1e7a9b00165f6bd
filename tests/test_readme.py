"""What the documentation tells people to type can be typed: every command, option and make target in it exists."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.core import TyperGroup

from sightline.cli.words import split_words
from sightline.config import load
from sightline.config.kinds import dotted_keys
from sightline.decode.options import SampleOptions, SearchOptions
from sightline.errors import UserError
from sightline.presets import AUTOMATIC, preset
from sightline.runs.request import Request
from sightline.train.config import RunConfig

SHELL_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
TOML_BLOCK = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
SEPARATORS = {"|", "||", "&&", ";", "&", "(", ")"}
TO_BE_WRITTEN = {"model.decoder.score=cosine"}  # what docs/extending.md teaches its reader to add
REDIRECTIONS = {"<", ">", ">>", "<<<"}


def documents(repository: Path) -> list[Path]:
    return [repository / "README.md", repository / "CONTRIBUTING.md", *sorted((repository / "docs").rglob("*.md"))]


def commands(text: str) -> Iterator[list[str]]:
    """The simple commands in the ```sh blocks of a document: no comments, pipes, redirections or variables set."""
    for block in SHELL_BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            command: list[str] = []
            for token in [*lexer, ";"]:
                if token not in SEPARATORS:
                    command.append(token)
                    continue
                if command:
                    yield _plain(command)
                command = []


def _plain(command: list[str]) -> list[str]:
    words: list[str] = []
    redirected = False
    for token in command:
        if token in REDIRECTIONS:
            redirected = True
        elif redirected:
            redirected = False
        elif words or not re.fullmatch(r"\w+=.*", token):
            words.append(token)
    return words


def arguments(command: list[str], program: str) -> list[str] | None:
    """What a command hands to `program`, started by its name, by its path or as a module; None for another program."""
    if command and Path(command[0]).name == program:
        return command[1:]
    if command and (Path(command[0]).name.startswith("python") or command[0] == "torchrun") and "-m" in command:
        after = command[command.index("-m") + 1 :]
        return after[1:] if after[:1] == [program] else None
    return None


def check(command: Any, words: list[str], parent: Any = None) -> dict[str, Any]:
    """Parse as the program would, without running anything; raises where it would complain of its usage. What was given."""
    context = typer.Context(command, info_name="sightline", parent=parent)
    is_group = isinstance(command, TyperGroup)
    context.allow_interspersed_args = not is_group
    values, rest, _ = command.make_parser(context).parse_args(args=list(words))
    if values.get("help") or values.get("version"):
        return {}
    if is_group:
        assert rest, "no subcommand"
        assert rest[0] in command.commands, f"there is no command {rest[0]}"
        return check(command.commands[rest[0]], rest[1:], context)
    assert not rest, f"too many arguments: {rest}"
    missing = [parameter.name for parameter in command.params if parameter.required and not values.get(parameter.name)]
    assert not missing, f"missing: {missing}"
    return dict(values)


def check_settings(command: str, values: dict[str, Any]) -> int:
    """Take every `key=value` as the command would; raises where it would complain. How many there are."""
    words = [*(values.get("words") or []), *(values.get("changes") or [])]
    changes = [change for change in split_words(words)[1] if change not in TO_BE_WRITTEN]
    match command:
        case "train":
            Request(values.get("preset") or AUTOMATIC, None, ("source=fr", "target=en", *changes)).config()
        case "distill":
            Request(values.get("preset") or "student", None, ("source=fr", "target=en", *changes)).config()
        case "demo":
            Request("demo", None, tuple(changes)).config()
        case "translate" | "evaluate":
            load(SampleOptions if values.get("sample") else SearchOptions, None, changes)
        case _:
            assert not changes, f"{command} takes no settings: {changes}"
    return len(changes)


def test_the_readme_begins_with_the_two_commands(repository: Path) -> None:
    found = list(commands((repository / "README.md").read_text("utf-8")))
    assert ["make", "demo"] in found
    assert ["make", "test"] in found


def test_the_two_commands_are_run_as_they_are_written(repository: Path) -> None:
    steps = (repository / ".ci" / "run").read_text("utf-8")
    assert re.findall(r"^step (.*)$", steps, re.MULTILINE)[:2] == ["make demo", "make test"]


def test_every_make_target_exists(repository: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (repository / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {"setup", "demo", "test", "test-slow", "check", "bench"} <= targets
    for path in documents(repository):
        for command in commands(path.read_text("utf-8")):
            wanted = [word for word in arguments(command, "make") or [] if "=" not in word and not word.startswith("-")]
            assert set(wanted) <= targets, f"{path.name}: {command}"


def test_every_command_of_sightline_parses(repository: Path) -> None:
    from sightline.cli import app

    whole = typer.main.get_command(app)
    count = settings = 0
    for path in documents(repository):
        for command in commands(path.read_text("utf-8")):
            words = arguments(command, "sightline")
            if words is not None:
                count += 1
                try:
                    settings += check_settings(words[0], check(whole, words))
                except Exception as error:
                    pytest.fail(f"{path.relative_to(repository)}: {shlex.join(command)}: {error}")
    assert count >= 5
    assert settings >= 20


@pytest.mark.parametrize(
    ("command", "values"),
    [
        ("train", {"words": ["a.tsv", "model.layers=2"]}),
        ("train", {"words": ["train.tokens=many"]}),
        ("train", {"words": ["model.dropout=0.1"], "preset": "huge"}),
        ("train", {"words": ["data.tokenizer.joint=false"]}),  # while model.tie is "all"
        ("demo", {"changes": ["train.max_minutes=0"]}),
        ("distill", {"words": ["model.dim=30"]}),  # and 4 heads
        ("translate", {"words": ["in.txt", "temperature=0.8"]}),
        ("translate", {"words": ["in.txt", "beam=8"], "sample": True}),
        ("evaluate", {"changes": ["beam=0"]}),
    ],
)
def test_settings_that_cannot_be_typed_are_seen(command: str, values: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        check_settings(command, values)


def test_the_annotated_configuration_is_the_preset_tiny_and_names_every_key(repository: Path, tmp_path: Path) -> None:
    page = repository / "docs" / "configuration.md"
    (text,) = TOML_BLOCK.findall(page.read_text("utf-8"))
    (tmp_path / "run.toml").write_text(text, "utf-8")
    tiny = preset("tiny")
    assert load(RunConfig, tmp_path / "run.toml") == replace(
        tiny, source="fr", target="en", data=replace(tiny.data, train=("memory.tsv",))
    )
    named = set(keys(tomllib.loads(text)))
    # Of a recurrent encoder or decoder, what the Transformer above has not, stands in a comment.
    for table, comment in re.findall(r"^\[(model\.\w+)\]\nkind = \S+ +# (.*)$", text, re.MULTILINE):
        named |= {f"{table}.{word}" for word in re.findall(r"\w+", comment)}
    assert not set(dotted_keys(RunConfig)) - named


def keys(table: dict[str, Any], above: str = "") -> Iterator[str]:
    """Every key of a TOML file, dotted."""
    for name, value in table.items():
        yield above + name
        if isinstance(value, dict):
            yield from keys(value, f"{above}{name}.")


@pytest.fixture
def example() -> Any:
    app = typer.Typer()

    @app.command()
    def train(
        config: str,
        out: Annotated[str, typer.Option("--out", "-o")],
        changes: Annotated[list[str] | None, typer.Argument()] = None,
    ) -> None: ...

    @app.command()
    def doctor(json: bool = False) -> None: ...

    return typer.main.get_command(app)


@pytest.mark.parametrize(
    "line", ["train", "train a.toml", "trane a.toml -o m", "train a.toml -o", "train a -o m --fast", "doctor x", ""]
)
def test_what_cannot_be_typed_is_seen(example: Any, line: str) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011  # the parser's own, or an assertion
        check(example, line.split())


@pytest.mark.parametrize("line", ["train a.toml -o m", "train --out=m a.toml x=1 y=2", "doctor", "doctor --json", "train --help"])
def test_what_can_be_typed_is_let_through(example: Any, line: str) -> None:
    check(example, line.split())


def test_commands_are_found_in_their_blocks() -> None:
    text = (
        "sightline nowhere\n```python\nsightline = 1\n```\n"
        "```sh\n# a comment\nmake demo   # another\n"
        "OMP_NUM_THREADS=1 sightline train x.toml \\\n  seed=3 && .venv/bin/sightline doctor\n"
        "zcat 'a b.gz' | sightline translate m --json < in.txt > out.txt\n"
        "torchrun --nproc-per-node=2 -m sightline train y\n```\n"
    )
    found = list(commands(text))
    assert found[0] == ["make", "demo"]
    assert [words for command in found if (words := arguments(command, "sightline")) is not None] == [
        ["train", "x.toml", "seed=3"],
        ["doctor"],
        ["translate", "m", "--json"],
        ["train", "y"],
    ]
