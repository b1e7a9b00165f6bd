"""Each rule drops what it speaks of and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.data.clean import Audit, broken_rule
from sightline.data.config import CleanConfig
from sightline.data.pairs import BadLine

USUAL = CleanConfig()


def rule(source: str, target: str, config: CleanConfig = USUAL) -> str | None:
    broken = broken_rule(source, target, config)
    return broken and broken[0]


@pytest.mark.parametrize(
    ("source", "target", "broken"),
    [
        ("un chat", "a cat", None),
        ("", "a cat", "empty"),
        ("un chat", "", "empty"),
        ("", "", "empty"),
        ("un\x00chat", "a cat", "control"),
        ("un chat", "a\x1bcat", "control"),
        ("un chat", "a\ncat", "control"),
        ("un\x92chat", "a cat", "control"),
        ("un\x85chat", "a cat", "control"),
        ("un ch\ufffdt", "a cat", "control"),
        ("un\tchat", "a cat", None),
        ("un\u2028chat", "a\u200bcat\u00a0\ue000", None),
        ("mot " * 200, "word " * 200, None),
        ("mot " * 201, "word " * 200, "length"),
        ("mot " * 200, "word " * 201, "length"),
        ("Oui.", "Yes, I have seen it.", None),
        ("Oui.", "Yes, I have seen it, and I had been there before.", "ratio"),
        ("Yes, I have seen it, and I had been there before.", "Oui.", "ratio"),
        ("Paris", "Paris", "copy"),
        ("Paris", "paris", None),
        (
            "今日はとてもいい天気なので、公園まで散歩に行きましょう。",
            "Since the weather is so nice today, let us go for a walk to the park.",
            None,
        ),
    ],
)
def test_rules(source: str, target: str, broken: str | None) -> None:
    assert rule(source, target) == broken


def test_rules_can_be_switched_off_and_set() -> None:
    assert rule("a\x00b", "cd", replace(USUAL, control=False)) is None
    assert rule("Paris", "Paris", replace(USUAL, copies=False)) is None
    assert rule("a b c", "d e", replace(USUAL, max_length=2)) == "length"
    assert rule("a b", "c d", replace(USUAL, max_length=2)) is None
    assert rule("a" * 100, "b" * 30, replace(USUAL, max_ratio=2.0)) == "ratio"


@given(st.text("a ", max_size=40), st.integers(1, 12))
def test_the_short_cut_counts_as_split_does(text: str, most: int) -> None:
    text = text.strip()
    if text:
        too_long = len(text.split()) > most
        assert (rule(text, f"{text}b", replace(USUAL, max_length=most)) == "length") == (
            too_long or len(f"{text}b".split()) > most
        )


def test_the_audit_says_rule_reason_place_and_texts() -> None:
    audit = Audit()
    audit.drop("ratio", "3 to 99 characters", "a.tsv", 7, "l'été\u2028", 'a "b"')
    audit.bad(BadLine("b.tsv", 2, "no tab", "half"))
    assert [json.loads(line) for line in audit.text().removesuffix("\n").split("\n")] == [
        {"rule": "ratio", "why": "3 to 99 characters", "at": "a.tsv:7", "source": "l'été\u2028", "target": 'a "b"'},
        {"rule": "unreadable", "why": "no tab", "at": "b.tsv:2", "text": "half"},
    ]
    assert audit.counts == {"ratio": 1}


@pytest.mark.parametrize("wrong", [{"max_length": 0}, {"max_pieces": 0}, {"max_ratio": 1.0}, {"max_bad_share": 1.5}])
def test_senseless_settings_are_refused(wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name}="):
        CleanConfig(**wrong)  # type: ignore[arg-type]
