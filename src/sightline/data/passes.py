"""The steps of a preparation over whole corpora: what each block's work is collected into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TextIO

import numpy as np

from sightline.data.blocks import blocks
from sightline.data.clean import Audit
from sightline.data.config import DataConfig
from sightline.data.encoded import Side
from sightline.data.encoded_writer import CorpusWriter
from sightline.data.inputs import Input
from sightline.data.ledger import Ledger, Pace, Tell
from sightline.data.near import hashes, mix, near_key
from sightline.data.parse import parse
from sightline.data.readers import BadShare
from sightline.data.split import DEV, TRAIN, Fates, hold_out, mark_duplicates
from sightline.data.spool import Resting, Spool, Texts
from sightline.data.stages import Cleaning, Encoded, Encoding, Samples, json_lines, sample
from sightline.data.tokens import learn_tokenizers, save_tokenizers
from sightline.data.workers import Workers
from sightline.errors import UserError
from sightline.text.tokenizer import Tokenizer

MOST_HELD_OUT = 2000
SHARE_HELD_OUT = 20  # one pair in so many


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is read, and for what."""

    train: tuple[Input, ...]
    dev: tuple[Input, ...]
    test: tuple[Input, ...]

    def all(self) -> tuple[Input, ...]:
        return (*self.train, *self.dev, *self.test)


@dataclass(frozen=True, slots=True)
class Run:
    """What every step of one preparation needs."""

    config: DataConfig
    inputs: Inputs
    seed: int
    folder: Path
    spool: Spool
    workers: Workers
    ledger: Ledger
    tell: Tell


def read_given(run: Run, inputs: Sequence[Input]) -> list[Texts]:
    """Development or test pairs that the user has set apart, whole: nobody's test set is cleaned behind his back."""
    given = [Texts([], [], []) for _ in inputs]
    guard = _guard(run)
    for block in blocks(inputs):
        parsed, audit = parse(block, run.seed), Audit()
        guard.add(block.input.name, block.number, parsed.read, parsed.bad)
        for bad in parsed.bad:
            audit.bad(bad)
        run.ledger.add(parsed.read, parsed.bad, audit)
        for line, source, target in zip(parsed.lines, parsed.sources, parsed.targets, strict=True):
            given[block.number].add(line, source.strip(), target.strip())
    guard.end()
    return given


def clean(run: Run, given: Sequence[Texts]) -> None:
    """The first pass: all training pairs that are fit by themselves come to rest in the spool."""
    held_out = {near_key(source) for texts in given for source in texts.sources} - {""}
    cleaning = Cleaning(run.config.clean, run.seed, np.sort(hashes(held_out)))
    guard, pace = _guard(run), Pace(run.tell, "read and cleaned")
    for block in run.workers.map(cleaning, blocks(run.inputs.train)):
        guard.add(block.name, block.number, block.read, block.bad)
        run.ledger.add(block.read, block.bad, block.audit)
        run.spool.append(block.text, block.keys, block.number)
        pace.add(block.read)
    guard.end()
    pace.end()


def decide(run: Run) -> Fates:
    """What becomes of each pair in the spool."""
    pairs, sources, targets = run.spool.columns()
    fates = np.full(run.spool.size, TRAIN, np.uint8)
    if run.config.clean.duplicates:
        mark_duplicates(pairs, fates)
    left = int((fates == TRAIN).sum())
    dev, test = (_wanted(run, name, left) for name in ("dev", "test"))
    hold_out(sources, targets, fates, dev, test, run.seed)
    if left and dev and not (fates == DEV).any():
        raise UserError(
            f"{_names(run.inputs.train)}: none of {left:,} pairs can be held out to judge training by, for all are nearly the "
            "same; give more pairs, or development pairs of their own (data.dev)"
        )
    check_some(run, int((fates == TRAIN).sum()), duplicates=run.spool.size - left)
    return fates


def check_some(run: Run, pairs: int, duplicates: int = 0) -> None:
    """There must be something to train on; `duplicates` are those not in the ledger yet."""
    if not pairs:
        losses = Counter({"unreadable": run.ledger.bad, "duplicate": duplicates}) + run.ledger.dropped
        told = ", ".join(f"{count:,} {rule}" for rule, count in losses.items())
        raise UserError(
            f"{_names(run.inputs.train)}: nothing to train on is left of {run.ledger.read:,} pairs "
            f"({told or 'none dropped'}); give more, or loosen the rules in data.clean"
        )


def _names(inputs: Sequence[Input]) -> str:
    return ", ".join(one.name for one in inputs)


def _wanted(run: Run, name: str, pairs: int) -> int:
    """How many pairs to cut for a set."""
    if getattr(run.inputs, name):
        return 0
    chosen: int | None = getattr(run.config, f"{name}_pairs")
    usual = min(MOST_HELD_OUT, pairs // SHARE_HELD_OUT)
    return chosen if chosen is not None else max(usual, 1) if name == "dev" else usual


def learn_tokens(run: Run, fates: Fates) -> tuple[Tokenizer, Tokenizer]:
    """Tokenizers of the training text, or of an even sample when there is much."""
    pairs = int((fates == TRAIN).sum())
    # The hash of a pair says whether it is in the sample: even over the corpus, and the same in any order.
    share = run.config.tokenizer.sample / 2 / max(pairs, 1)
    bound = np.uint64(min(int(share * 2.0**64), 2**64 - 1))
    column = run.spool.columns()[0]
    jobs = (
        (block, (_part(fates, block) == TRAIN) & (mix(column.read(block.first, block.size), run.seed) <= bound))
        for block in run.spool.blocks
    )
    sources, targets = [], []
    for left, right in run.workers.map(sample, jobs):
        sources.extend(left)
        targets.extend(right)
    tokenizers = learn_tokenizers(run.config.tokenizer, sources, targets, pairs)
    kinds = f"{tokenizers[0].size:,}" + ("" if run.config.tokenizer.joint else f" and {tokenizers[1].size:,}")
    run.tell(f"learnt {run.config.tokenizer.kind} vocabularies of {kinds} pieces from {len(sources):,} pairs")
    return tokenizers


def encode(run: Run, fates: Fates, tokenizers: tuple[Tokenizer, Tokenizer], dev: list[Texts], test: list[Texts]) -> int:
    """The second pass: training and development pairs as corpora, development and test pairs as text.

    `dev` and `test` are the pairs that the user has set apart. Returned is how many test pairs there are.
    """
    names = tuple(one.name for one in run.inputs.train)
    dev_names = tuple(one.name for one in run.inputs.dev) or names
    encoding = Encoding(
        names, save_tokenizers(run.folder, tokenizers), tuple(t.fingerprint for t in tokenizers), run.config.clean.max_pieces
    )
    sides = {name: Side(t.fingerprint, t.size) for name, t in zip(("source", "target"), tokenizers, strict=True)}
    jobs = ((block, _part(fates, block)) for block in run.spool.blocks)
    tested, pace = 0, Pace(run.tell, "encoded")
    with ExitStack() as stack:
        train_corpus = stack.enter_context(CorpusWriter(run.folder / "train", sides, names))
        dev_corpus = stack.enter_context(CorpusWriter(run.folder / "dev", sides, dev_names))
        dev_file, test_file = (stack.enter_context(_open(run.folder / name)) for name in ("dev.jsonl", "test.jsonl"))
        given_dev = _encode_given(dev, replace(encoding, names=dev_names))
        for block in chain(given_dev, run.workers.map(encoding, jobs)):
            _append(train_corpus, block.number, block.train)
            _append(dev_corpus, block.number, block.dev)
            dev_file.write(json_lines(block.dev_texts))
            test_file.write(json_lines(block.test_texts))
            tested += len(block.test_texts.lines)
            run.ledger.add(0, (), block.audit)
            pace.add(len(block.train.lines) + len(block.dev.lines))
        for texts in test:
            test_file.write(json_lines(texts))
            tested += len(texts.lines)
    pace.end()
    return tested


def _encode_given(given: list[Texts], encoding: Encoding) -> Iterator[Encoded]:
    """Development pairs that the user has set apart; only what cannot be learnt from is left out."""
    for number, texts in enumerate(given):
        audit = Audit()
        full = np.array([bool(source and target) for _, source, target in texts.rows()], np.bool_)
        for line, source, target in texts.where(~full).rows():
            audit.drop("empty", "a side is empty", encoding.names[number], line, source, target)
        texts = texts.where(full)
        yield encoding.encode(number, texts, np.full(len(texts.lines), DEV, np.uint8), audit)


def _append(corpus: CorpusWriter, number: int, samples: Samples) -> None:
    rows = {"source": samples.source, "target": samples.target}
    corpus.append(rows, np.full(len(samples.lines), number), samples.lines)


def _part(fates: Fates, block: Resting) -> Fates:
    return fates[block.first : block.first + block.size]


def _open(path: Path) -> TextIO:
    return path.open("x", encoding="utf-8", newline="\n")


def _guard(run: Run) -> BadShare:
    allowed = run.config.clean.max_bad_share
    return BadShare(allowed, f"mend the file, or allow a larger share with data.clean.max_bad_share (now {allowed:g})")
