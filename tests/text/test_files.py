"""A file is there whole, or as it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sightline.errors import UserError
from sightline.text.files import whole_file, write_whole, writing


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    write_whole(tmp_path / "new" / "folder" / "a", "é\r\n\u2028")
    write_whole(tmp_path / "b", b"\xff\x00")
    assert (tmp_path / "new" / "folder" / "a").read_bytes() == "é\r\n\u2028".encode()
    assert (tmp_path / "b").read_bytes() == b"\xff\x00"


def break_off(path: Path, error: type[BaseException]) -> None:
    """Write half a file; the other half never comes."""
    before = path.read_bytes() if path.exists() else None
    with whole_file(path) as file:
        file.write(b"half of the n")
        file.flush()
        assert (path.read_bytes() if path.exists() else None) == before
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_in_the_middle_leaves_the_old_file(tmp_path: Path, error: type[BaseException]) -> None:
    write_whole(tmp_path / "a", "old")
    with pytest.raises(error):
        break_off(tmp_path / "a", error)
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_an_error_in_the_middle_leaves_nothing_where_nothing_was(tmp_path: Path) -> None:
    with pytest.raises(EOFError):
        break_off(tmp_path / "a", EOFError)
    assert names(tmp_path) == []


def test_the_name_comes_last_and_only_once(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a") as file:
        file.write(b"new")
        assert not (tmp_path / "a").exists()
        (unfinished,) = tmp_path.iterdir()
        assert unfinished.name.startswith(".a.")
        assert unfinished.name.endswith(".part")  # as .gitignore has it
    assert names(tmp_path) == ["a"]


def test_what_is_written_is_flushed_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def note(name: str) -> None:
        real = getattr(os, name)

        def noted(*arguments: object) -> object:
            order.append(name)
            return real(*arguments)

        monkeypatch.setattr(os, name, noted)

    for name in ("fsync", "replace"):
        note(name)
    write_whole(tmp_path / "a", "x")
    assert order == ["fsync", "replace", "fsync"]  # the data, the name, the folder that holds the name


def test_others_may_read_what_a_plain_file_would_let_them_read(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", "x")
        assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    write_whole(tmp_path / "file", "x")
    with pytest.raises(UserError, match=r"file/a: cannot be written \(.*\); choose a place"):
        write_whole(tmp_path / "file" / "a", "y")


def test_an_error_of_the_disk_says_what_failed_and_the_fix() -> None:
    with (
        pytest.raises(UserError, match=r"^the letter could not be kept \(No space left on device\); make room$"),
        writing("the letter could not be kept", "make room"),
    ):
        raise OSError(28, "No space left on device", "a/b")


def test_only_an_error_of_the_disk_is_the_users() -> None:
    with pytest.raises(ValueError, match="a bug"), writing("it", "mend it"):
        raise ValueError("a bug")
