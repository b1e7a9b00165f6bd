"""The picture in the terminal, character by character."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from sightline.evaluate.alignment import Gold
from sightline.look.draw import draw, draw_matrix, shading_for
from sightline.look.record import Explanation, Sentence

FRENCH, ENGLISH = "les pauvres n' ont pas d' argent", "the poor don't have any money"
NAME = "decoder.layers.0.cross"
LINKS = Gold.of({(0, 0), (1, 1), (2, 2), (3, 3), (6, 5)}, {(4, 2), (5, 4)})


def sentence(text: str) -> Sentence:
    words = tuple(text.split())
    return Sentence(tuple(f"▁{word}" for word in words), words, tuple(range(len(words))))


@pytest.fixture
def explanation() -> Explanation:
    """While writing, each English word looks at its French word; "have" also at "the poor", and "any" at EOS."""
    weights = np.zeros((1, 7, 8), dtype=np.float32)
    for row, looks in enumerate([{0: 1.0}, {1: 0.75, 0: 0.25}, {2: 0.5, 4: 0.5}, {3: 0.6, 1: 0.4}, {5: 0.1, 7: 0.9}, {6: 1.0}]):
        for column, weight in looks.items():
            weights[0, row, column] = weight
    weights[0, 6, 7] = 1.0
    return Explanation(sentence(FRENCH), sentence(ENGLISH), {NAME: weights})


WRITING = """
decoder.layers.0.cross, head 0, while writing

      les pauvres n' ont pas d' argent </s>
the   [██]
poor   ▒▒ [██████]
don't             [▓]    (▓▓)
have       ▓▓▓▓▓▓    [▓▓]
any                          (░)        ███
money                           [█████]

░ 5%  ▒ 20%  ▓ 40%  █ 70% or more   [ ] sure  ( ) possible link
"""

READING = """
decoder.layers.0.cross, mean of heads, after reading

        the poor don't have any money
les      ::
pauvres  ##       ****
n'           ***
ont               ****
pas          ***
d'                      ...
argent                       ##
</s>                    ###      ####

. 5%  : 20%  * 40%  # 70% or more
"""

PANELS = """
        今  c
        日  a
      b は  t
今日  █ [▒] ░
nine

      h
      i
      p
      p
      o
      p
      o
      t
      a
      m
      u
      …
今日  ▓
nine
"""


def test_the_picture_with_known_links(explanation: Explanation) -> None:
    assert draw(explanation, NAME, 0, gold=LINKS) == WRITING.strip("\n")


def test_the_picture_on_its_side_in_plain_characters(explanation: Explanation) -> None:
    found = draw(explanation, NAME, None, "after_reading", shading="ascii", across="target")
    assert found == READING.strip("\n")
    assert found.isascii()


def test_words_too_wide_together_are_written_downwards_in_panels() -> None:
    weights = np.array([[1.0, 0.3, 0.1, 0.5], [0, 0, 0, 0]])
    found = draw_matrix(weights, ["今日", "nine"], ["b", "今日は", "cat", "hippopotamuses"], {(0, 1): "[]"}, width=14)
    assert found == PANELS.strip("\n")


def test_a_long_label_ends_in_an_ellipsis() -> None:
    found = draw_matrix(np.array([[1.0], [1.0]]), ["漢" * 6, "abcdefghijklm"], ["b"], width=30)
    assert found == "            b\n漢漢漢漢…   █\nabcdefghi…  █"


def test_colours_are_painted_per_cell_and_put_back() -> None:
    found = draw_matrix(np.array([[1.0, 0.3]]), ["a"], ["b", "c"], {(0, 1): "[]"}, "colour")
    assert found == "   b  c\na \x1b[38;5;231;48;5;18m   \x1b[0m\x1b[38;5;16;48;5;117m[ ]\x1b[0m"


def test_colours_change_nothing_but_colour(explanation: Explanation) -> None:
    def marks_alone(text: str) -> list[str]:
        return [re.sub("[░▒▓█]", " ", line).rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).split("\n")[:-1]]

    assert marks_alone(draw(explanation, NAME, 0, gold=LINKS, shading="colour")) == marks_alone(
        draw(explanation, NAME, 0, gold=LINKS)
    )


@pytest.mark.parametrize(
    ("weight", "shade"), [(0.049, " "), (0.05, "░"), (0.19, "░"), (0.2, "▒"), (0.4, "▓"), (0.7, "█"), (1, "█")]
)
def test_each_level_has_its_shade(weight: float, shade: str) -> None:
    assert draw_matrix(np.array([[weight, 1.0]]), ["a"], ["b", "c"]).split("\n")[1] == f"a  {shade}  █"


@given(
    source=st.lists(st.text(alphabet="aé漢한ก\u0301\u200dא", min_size=1, max_size=20), min_size=1, max_size=45),
    target=st.lists(st.text(alphabet="aé漢\u0301x", min_size=1, max_size=60), max_size=5),
    width=st.integers(20, 120),
)
def test_no_line_is_wider_than_the_terminal(source: list[str], target: list[str], width: int) -> None:
    weights = np.full((len(target), len(source)), 0.9)
    for line in draw_matrix(weights, target, source, dict.fromkeys([(0, 0)], "[]"), "ascii", width).split("\n"):
        assert cell_len(line) <= width
        assert line == line.rstrip()
    cells = draw_matrix(weights, ["r"] * len(target), ["c"] * len(source), None, "ascii", width)
    assert cells.count("#") == weights.size  # no cell is lost between panels


def test_text_cannot_steer_the_terminal() -> None:
    found = draw_matrix(np.array([[1.0]]), ["\x1b[2Jx"], ["y\u202e"], None, "blocks")
    assert found == "      y\ufffd\n\ufffd[2Jx  █"


def test_a_pair_without_words_has_a_picture() -> None:
    nothing = Explanation(sentence(""), sentence(""), {NAME: np.ones((1, 1, 1), dtype=np.float32)})
    assert draw(nothing, NAME).split("\n")[2].strip() == "</s>"


def test_it_prints_nothing(explanation: Explanation, capfd: pytest.CaptureFixture[str]) -> None:
    draw(explanation, NAME, gold=LINKS, shading="colour")
    assert capfd.readouterr() == ("", "")


def test_shading_suits_the_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    with open(tmp_path / "utf", "w", encoding="utf-8") as stream, open(tmp_path / "ascii", "w", encoding="ascii") as plain:
        assert shading_for(stream) == "blocks"
        assert shading_for(plain) == "ascii"
        monkeypatch.setattr(stream, "isatty", lambda: True)
        assert shading_for(stream) == "colour"
        monkeypatch.setenv("TERM", "dumb")
        assert shading_for(stream) == "blocks"
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("NO_COLOR", "1")
        assert shading_for(stream) == "blocks"
