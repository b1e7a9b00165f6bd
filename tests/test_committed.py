"""What is committed speaks of Sightline alone: of no machine it was written on, of no place its packages came from."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

# Written in parts, so that this file does not hold them.
HOSTS = [".".join(parts) for parts in [("pypi", "org"), ("pythonhosted", "org"), ("download", "pytorch", "org"),
         ("anaconda", "org"), ("npmjs", "org"), ("crates", "io"), ("rubygems", "org"), ("ghcr", "io")]]  # fmt: skip
FOLDERS = "work root home Users"
HOST = re.compile("|".join(map(re.escape, HOSTS)), re.IGNORECASE)
# An absolute path: nothing that could be the end of a relative one stands before it.
PATH = re.compile(rf"(?<![\w.~)}}\]/-])/(?:{'|'.join(FOLDERS.split())})/\w+")


def faults(text: str) -> list[str]:
    return [match.group() for pattern in (HOST, PATH) for match in pattern.finditer(text)]


def committed(repository: Path) -> list[Path]:
    """What git keeps, and what it would keep if it were told to add everything."""
    command = ["git", "-C", str(repository), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no git checkout")
    return [path for name in names if name and (path := repository / name).is_file()]


def test_no_file_names_a_registry_or_a_place_of_one_machine(repository: Path) -> None:
    paths = committed(repository)
    found = {str(path.relative_to(repository)): faults(path.read_text("utf-8", errors="replace")) for path in paths}
    assert len(paths) > 50
    assert not {path: names for path, names in found.items() if names}


def test_what_is_made_is_not_committed(repository: Path) -> None:
    tops = {path.relative_to(repository).parts[0] for path in committed(repository)}
    assert not tops & {".venv", "demo", "runs", "build", "dist"}


def test_a_registry_and_a_place_are_seen() -> None:
    root = "/" + "root"
    assert faults(f"pip install --index-url https://{HOSTS[0]}/simple x") == [HOSTS[0]]
    assert faults(f"cd {root}/thing") == [f"{root}/thing"]
    assert faults(f'open("{root}/thing")') == [f"{root}/thing"]


def test_relative_paths_and_addresses_are_let_through() -> None:
    assert not faults("bench/work/x ../root/y ./home/z ~/work/a https://example.test/home/b src/root/c {folder}/work/d")
