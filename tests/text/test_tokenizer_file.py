"""A tokenizer's file comes back as it was, and whatever is wrong with it is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from sightline.errors import UserError
from sightline.text.learn import learn
from sightline.text.pipeline import FIRST_PIECE, KINDS, Kind
from sightline.text.tokenizer import Tokenizer

CORPUS = ["the cat sat on the mat", "le chat est là", "東京 ▁ 12"] * 3


@cache
def text_of(kind: Kind) -> str:
    return learn(CORPUS, kind, FIRST_PIECE + 40, 1).to_json()


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_comes_back(tmp_path: Path, kind: Kind) -> None:
    tokenizer = Tokenizer.from_json(text_of(kind))
    tokenizer.save(tmp_path / "tokenizer.json")
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    assert again.to_json() == text_of(kind)
    assert again.fingerprint == tokenizer.fingerprint
    assert again.encode("the chat ж") == tokenizer.encode("the chat ж")


def changed(kind: Kind, change: Callable[[dict[str, Any]], object]) -> str:
    whole: dict[str, Any] = json.loads(text_of(kind))
    change(whole)
    return json.dumps(whole)


def refused(text: str) -> str:
    with pytest.raises(UserError) as caught:
        Tokenizer.from_json(text)
    return str(caught.value)


def test_what_is_no_tokenizer_is_refused() -> None:
    assert "must be JSON" in refused("{")
    assert "must be JSON" in refused("[" * 100_000)
    assert "another program" in refused("[]")
    assert "another program" in refused('{"version": "1.0", "model": {}}')
    assert "update sightline" in refused(changed("bpe", lambda whole: whole.update(format=2)))
    assert "the kinds are bpe" in refused(changed("bpe", lambda whole: whole.update(kind="wordpiece")))
    assert "it says it has 9 pieces" in refused(changed("bpe", lambda whole: whole.update(size=9)))


def test_a_kind_that_is_not_its_own_is_refused() -> None:
    for kind in KINDS:
        for other in KINDS:
            if {kind, other} != {"bpe", "chars"} and kind != other:
                refused(changed(kind, partial(dict.update, kind=other)))


def test_rules_of_its_own_are_refused() -> None:
    """A pattern may take for ever on some text, and an added token would let a text write special symbols."""
    slow = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    added = [
        {"id": 1, "content": "<s>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    ]
    for change in ({"pre_tokenizer": slow}, {"added_tokens": added}, {"normalizer": None}, {"decoder": None}, {"more": 1}):
        whole = json.loads(text_of("bpe"))
        whole["tokenizer"].update(change)
        assert "rules" in refused(json.dumps(whole))


def _vocabulary(whole: dict[str, Any]) -> dict[str, int]:
    found: dict[str, int] = whole["tokenizer"]["model"]["vocab"]
    return found


def test_damaged_pieces_are_refused() -> None:
    def swap_specials(whole: dict[str, Any]) -> None:
        _vocabulary(whole).update({" pad": 1, " bos": 0})

    changes: list[Callable[[dict[str, Any]], object]] = [
        swap_specials,
        lambda whole: _vocabulary(whole).pop("<0x41>"),
        lambda whole: _vocabulary(whole).update(new=7),
        lambda whole: _vocabulary(whole).update({"": len(_vocabulary(whole))}),
        lambda whole: _vocabulary(whole).update({"\ud800": len(_vocabulary(whole))}),
        lambda whole: _vocabulary(whole).update(new=2**70),
        lambda whole: whole["tokenizer"]["model"]["merges"].append(["t", "東"]),
        lambda whole: whole["tokenizer"]["model"]["merges"].append(["t"]),
        lambda whole: whole["tokenizer"]["model"].pop("merges"),
        lambda whole: whole["tokenizer"].pop("model"),
    ]
    for change in changes:
        assert "damaged" in refused(changed("bpe", change))


def test_damaged_scores_are_refused() -> None:
    for piece in (["new", None], ["new", float("nan")], ["new", True], ["new"], ["", -1.0], [3, -1.0], [" pad", 0.0]):
        whole = json.loads(text_of("unigram"))
        whole["tokenizer"]["model"]["vocab"].append(piece)
        assert "damaged" in refused(json.dumps(whole))
    assert "special" in refused(changed("unigram", lambda whole: whole["tokenizer"]["model"]["vocab"].reverse()))


def places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something could be changed: every key, and the first few of a list."""
    children = list(value.items()) if isinstance(value, dict) else list(enumerate(value))[:4] if isinstance(value, list) else []
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


@pytest.mark.parametrize("kind", KINDS)
def test_any_damage_is_refused_or_seen_in_the_fingerprint(kind: Kind) -> None:
    generator, whole = random.Random(1), json.loads(text_of(kind))
    values = [None, 0, -1, "x", [], {}, 1e99, True, 2**70, [1], {"a": 1}]
    where = [path for path in places(whole) if path[:3] != ("tokenizer", "model", "vocab") or generator.random() < 0.05]
    texts = [text_of(kind)[:length] for length in range(0, len(text_of(kind)), 500)]
    for path in where:
        damaged = json.loads(text_of(kind))
        inner = damaged
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = generator.choice(values)
        texts.append(json.dumps(damaged))
    right = Tokenizer.from_json(text_of(kind)).fingerprint
    assert len(texts) > 50
    for text in texts:
        try:
            tokenizer = Tokenizer.from_json(text)
        except UserError:
            continue
        assert json.loads(text) == whole or tokenizer.fingerprint != right


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(UserError, match=r"cannot read the tokenizer .*tokenizer\.json"):
        Tokenizer.load(path)
    path.write_bytes(b"\xff")
    with pytest.raises(UserError, match=r"cannot read the tokenizer .*tokenizer\.json"):
        Tokenizer.load(path)
    path.write_text(text_of("bpe")[:-5])
    with pytest.raises(UserError, match=r"tokenizer\.json: a tokenizer must be JSON"):
        Tokenizer.load(path)
