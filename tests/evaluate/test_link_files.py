"""Links in files: where they count from, what is refused and by which line."""

import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.evaluate.alignment import Gold
from sightline.evaluate.link_files import pharaoh_line, read_gold, read_pharaoh, write_pharaoh

SIZES = [(3, 3), (4, 2)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "links.txt"


def test_a_file_that_shows_a_last_index_counts_from_one(path: Path) -> None:
    path.write_text("1-1 2p3 2?2\n4-1\n")
    assert read_gold(path, SIZES) == [Gold.of([(0, 0)], [(1, 2), (1, 1)]), Gold.of([(3, 0)])]


def test_a_file_that_shows_a_zero_counts_from_zero(path: Path) -> None:
    path.write_text("1-1 2p2\n3-0\n")
    assert read_gold(path, SIZES) == [Gold.of([(1, 1)], [(2, 2)]), Gold.of([(3, 0)])]


def test_either_side_decides(path: Path) -> None:
    path.write_text("1-1\n1-2\n")
    assert read_gold(path, SIZES)[1] == Gold.of([(0, 1)])
    path.write_text("1-1\n0-1\n")
    assert read_gold(path, SIZES)[1] == Gold.of([(0, 1)])


def test_a_link_marked_twice_is_sure(path: Path) -> None:
    path.write_text("0-0 0p0 1p1 0-0\n\n")
    assert read_gold(path, SIZES) == [Gold.of([(0, 0)], [(1, 1)]), Gold.of([])]


def test_packed_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "gold.gz"
    path.write_bytes(gzip.compress(b"3-3\r\n \n"))
    assert read_gold(path, SIZES) == [Gold.of([(2, 2)]), Gold.of([])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1-1 2-2\n1-1\n", r"links.txt:1-2: no link shows whether words are counted from 0 or from 1 .*; give the first index"),
        ("\n\n", r"links.txt:1-2: no link shows"),
        ("0-0\n4-1\n", r"links.txt:1: 0-0 counts words from 0, but .*links.txt:2: 4-1 is beyond the last word"),
        ("0-0\n1-5\n", r"links.txt:2: link 1-5: there is no target word 5 when 2 words are counted from 0"),
        ("3-3\n5-1\n", r"links.txt:2: link 5-1: there is no source word 5 when 4 words are counted from 1"),
        ("0-0\n0:1\n", r"links.txt:2: '0:1' is not a link; write i-j \(sure\), ipj or i\?j \(possible\), source word first"),
        ("0-0\n1--1\n", r"links.txt:2: '1--1' is not a link"),
        ("0-0\n²-1\n", r"links.txt:2: '²-1' is not a link"),
        ("0-0\n", r"links.txt: 1 lines for 2 sentence pairs"),
        ("0-0\n\n\n", r"links.txt: 3 lines for 2 sentence pairs"),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, message: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_gold(path, SIZES)


def test_unreadable_lines_are_named(path: Path) -> None:
    path.write_bytes(b"0-0\n\xff\n")
    with pytest.raises(UserError, match=r"links.txt:2: not valid UTF-8"):
        read_gold(path, SIZES)


def test_the_user_may_say_where_counting_starts(path: Path) -> None:
    path.write_text("1-1 2-2\n1-1\n")
    assert read_gold(path, SIZES, 0)[0] == Gold.of([(1, 1), (2, 2)])
    assert read_gold(path, SIZES, 1)[0] == Gold.of([(0, 0), (1, 1)])
    path.write_text("0-0\n1-1\n")
    with pytest.raises(UserError, match=r"links.txt:1: link 0-0: there is no source word 0 when 3 words are counted from 1"):
        read_gold(path, SIZES, 1)
    with pytest.raises(UserError, match="first index 2"):
        read_gold(path, SIZES, 2)


def test_pharaoh_files_count_from_zero(path: Path) -> None:
    path.write_text("1-1\n1-1 2-1\n")
    assert read_pharaoh(path, SIZES) == [frozenset({(1, 1)}), frozenset({(1, 1), (2, 1)})]
    path.write_text("3-3\n\n")
    with pytest.raises(UserError, match=r"links.txt:1: link 3-3: there is no source word 3 when 3 words are counted from 0"):
        read_pharaoh(path, SIZES)
    path.write_text("1p1\n\n")
    with pytest.raises(UserError, match=r"links.txt:1: '1p1' is not a link; write i-j, source word first"):
        read_pharaoh(path, SIZES)


def test_lines_are_in_the_order_of_the_source() -> None:
    assert pharaoh_line({(10, 0), (2, 5), (2, 1)}) == "2-1 2-5 10-0"


@settings(max_examples=20, deadline=None)  # each one is a file made safe on the disk
@given(st.lists(st.frozensets(st.tuples(st.integers(0, 8), st.integers(0, 8))), min_size=1, max_size=5))
def test_what_is_written_is_read(alignments: list[frozenset[tuple[int, int]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.pharaoh"
        write_pharaoh(path, alignments)
        assert read_pharaoh(path, [(9, 9)] * len(alignments)) == alignments
