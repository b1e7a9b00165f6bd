"""From the user's files to corpora ready for training, in one call.

    train/ dev/             encoded corpora
    dev.jsonl test.jsonl    the texts of the development and test pairs
    tokenizer.json          or tokenizer.source.json and tokenizer.target.json
    dropped.jsonl           every line and pair that was left out: rule, reason, file:line, texts
    summary.json            counts and hashes; written last, so where it is, all is

The same files and configuration give the same corpora, byte for byte, on any number of cores.
"""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sightline.config import to_dict
from sightline.data.config import CleanConfig, DataConfig, TokenizerConfig
from sightline.data.encoded import EncodedCorpus
from sightline.data.inputs import Input, parse_inputs
from sightline.data.ledger import Ledger, Tell
from sightline.data.passes import Inputs, Run, check_some, clean, decide, encode, learn_tokens, read_given
from sightline.data.records import check_inputs, first_difference, record
from sightline.data.spool import Spool
from sightline.data.summary import Summary
from sightline.data.tokens import given_tokenizers, load_tokenizers
from sightline.data.workers import Workers
from sightline.errors import UserError
from sightline.text.lines import BROKEN_STREAM, open_bytes
from sightline.text.tokenizer import Tokenizer

__all__ = ["CleanConfig", "DataConfig", "Prepared", "TokenizerConfig", "prepare", "quiet"]

_WORK = "work"  # gone when all is done
_MARK = ".unfinished"  # a folder with this is ours to begin anew in
_FOLDERS = ("train", "dev", "train.partial", "dev.partial", _WORK)
_FILES = ("dev.jsonl", "test.jsonl", "tokenizer.json", "tokenizer.source.json", "tokenizer.target.json", "dropped.jsonl")


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that training and scoring need of the data."""

    folder: Path
    train: EncodedCorpus  # sides "source" and "target"
    dev: EncodedCorpus
    tokenizers: tuple[Tokenizer, Tokenizer]  # the same object twice when joint
    summary: Summary

    def dev_texts(self) -> list[tuple[str, str]]:
        """The pairs of `dev`, in its order."""
        return _texts(self.folder / "dev.jsonl")

    def test_texts(self) -> list[tuple[str, str]]:
        """The test pairs; there may be none."""
        return _texts(self.folder / "test.jsonl")


def quiet(message: str) -> None:
    """Tell nobody."""


def prepare(config: DataConfig, source: str, target: str, folder: Path, tell: Tell = quiet) -> Prepared:
    """Read, clean, split, learn tokenizers, encode; or, where that has been done, open what is there.

    `tell` is given a line now and then about how it goes.
    """
    inputs = Inputs(*(parse_inputs(words, source, target) for words in (config.train, config.dev, config.test)))
    _check(inputs)
    settings = {"source": source, "target": target, "data": to_dict(replace(config, workers=0))}
    summary = Summary.read_from(folder)
    if summary is None:
        summary = _prepare(config, inputs, folder, settings, tell)
        tell(summary.text())
    else:
        if difference := first_difference(summary.settings, settings):
            raise UserError(f"{folder}: holds data that was prepared otherwise: {difference}; choose another output folder")
        check_inputs(summary.files, inputs.all(), config.seed, tell)
        tell(f"using what was prepared in {folder}: {summary.train:,} training pairs")
    return _open(folder, config.tokenizer.joint, summary)


def _open(folder: Path, joint: bool, summary: Summary) -> Prepared:
    """What lies in the folder, if it belongs together."""
    train, dev = EncodedCorpus(folder / "train"), EncodedCorpus(folder / "dev")
    tokenizers = load_tokenizers(folder, joint)
    for side, tokenizer in zip(("source", "target"), tokenizers, strict=True):
        if not train.side(side).tokenizer == dev.side(side).tokenizer == tokenizer.fingerprint:
            raise UserError(f"{folder}: corpora and {side} tokenizer do not belong together; remove {folder} to prepare anew")
    return Prepared(folder, train, dev, tokenizers, summary)


def _check(inputs: Inputs) -> None:
    """Mistakes that show in the words alone."""
    if not inputs.train:
        raise UserError(
            "there is no training data; name a .tsv or .jsonl file, two line-aligned files, or builtin:200000 (data.train)"
        )
    if sum(not one.again for one in inputs.all()) > 1:
        raise UserError('"-" is given more than once; standard input can be read only once')


def _check_files(inputs: Inputs) -> None:
    """Missing files are told of before anything is written."""
    for path in (path for one in inputs.all() if one.again for path in one.paths):
        if not Path(path).is_file():
            with open_bytes(path):  # says what is wrong, and the nearest name
                raise UserError(f"{path}: is not a plain file, and it is read more than once; save it to a file first")
        with open_bytes(path):  # may it be read, and is it packed as its name says?
            pass


def _prepare(config: DataConfig, inputs: Inputs, folder: Path, settings: dict[str, Any], tell: Tell) -> Summary:
    begin = time.monotonic()
    _check_files(inputs)
    given = given_tokenizers(config.tokenizer)
    work = _start_anew(folder)
    inputs = Inputs(*(tuple(_lasting(one, work) for one in part) for part in (inputs.train, inputs.dev, inputs.test)))
    files = record(inputs.all(), config.seed)
    with Workers(config.workers) as workers, Ledger(folder / "dropped.jsonl", tell) as ledger, Spool(work) as spool:
        run = Run(config, inputs, config.seed, folder, spool, workers, ledger, tell)
        dev, test = read_given(run, inputs.dev), read_given(run, inputs.test)
        clean(run, [*dev, *test])
        spool.flush()
        fates = decide(run)
        tokenizers = given or learn_tokens(run, fates)
        tested = encode(run, fates, tokenizers, dev, test)
        check_some(run, len(EncodedCorpus(folder / "train")))
        if not len(EncodedCorpus(folder / "dev")):
            raise UserError(f"{folder}: no development pair is left; {folder / 'dropped.jsonl'} says why for each")
    train_corpus, dev_corpus = EncodedCorpus(folder / "train"), EncodedCorpus(folder / "dev")
    check_inputs(files, inputs.all(), config.seed, tell)  # nobody may have changed them meanwhile
    summary = Summary(
        read=ledger.read,
        bad=ledger.bad,
        dropped=dict(sorted(ledger.dropped.items())),
        train=len(train_corpus),
        dev=len(dev_corpus),
        test=tested,
        vocabulary=(tokenizers[0].size, tokenizers[1].size),
        tokens=(train_corpus.side("source").tokens, train_corpus.side("target").tokens),
        files=files,
        settings=settings,
        seconds=round(time.monotonic() - begin, 3),
    )
    shutil.rmtree(work)
    summary.write(folder)
    (folder / _MARK).unlink()
    return summary


def _start_anew(folder: Path) -> Path:
    """Remove what a preparation that was cut short has left, and nothing else; where to work."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / _MARK).exists():
        raise UserError(f"{folder}: is not empty and holds no prepared data; choose another output folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _MARK).touch()
        for name in _FOLDERS:
            if (folder / name).exists():
                shutil.rmtree(folder / name)
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
        (folder / _WORK).mkdir()
    except OSError as error:
        raise UserError(f"{folder}: cannot be written to ({error.strerror or error}); choose another output folder") from error
    return folder / _WORK


def _lasting(one: Input, work: Path) -> Input:
    """Standard input as a file: it comes once, and is hashed, then read."""
    if one.again:
        return one
    path = work / "stdin.tsv"
    with open_bytes(one.paths[0]) as stream, path.open("xb") as file:
        try:
            shutil.copyfileobj(stream, file)
        except BROKEN_STREAM as error:
            raise UserError(f"{one.name}: cannot be read to its end ({error}); it seems cut short or damaged") from error
    return replace(one, paths=(str(path),))


def _texts(path: Path) -> list[tuple[str, str]]:
    with path.open(encoding="utf-8", newline="\n") as file:
        return [(pair["source"], pair["target"]) for pair in map(json.loads, file)]
