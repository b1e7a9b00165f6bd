"""How text becomes pieces and comes back, written in the `tokenizers` library's own building blocks.

Spaces travel as "▁", one is put in front of the text so that a word has the same pieces wherever it stands, and
a "▁" that the text itself holds is escaped. So no normalised text contains a space, and the four special names,
which begin with one, can never be found in a text.
"""

from __future__ import annotations

from typing import Literal, get_args

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

Kind = Literal["bpe", "unigram", "words", "chars"]
KINDS: tuple[Kind, ...] = get_args(Kind)

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIAL_NAMES = (" pad", " bos", " eos", " unk")
SPECIAL_PIECES = ("<pad>", "<s>", "</s>", "⁇")
BYTE_NAMES = tuple(f"<0x{byte:02X}>" for byte in range(256))
FIRST_BYTE = len(SPECIAL_NAMES)
FIRST_PIECE = FIRST_BYTE + len(BYTE_NAMES)

SPACE = "▁"
WHITE = r"[\s\x1c-\x1f]"  # what `str.split()` splits at
# Private-use characters: a text that holds one keeps it, at the price of one more.
ESCAPE, ESCAPED_ITSELF, ESCAPED_SPACE = "\ue000", "\ue001", "\ue002"

# A piece never crosses from letters to punctuation and never holds two digits: a number is copied digit by digit, so
# none is rarer than its digits. It also keeps text such as "<0x41>" from becoming one piece, which would read as a byte.
PRE_TOKENS = rf"{SPACE}?[\p{{L}}\p{{M}}]+|{SPACE}?\p{{N}}|{SPACE}?[^\s\p{{L}}\p{{M}}\p{{N}}{SPACE}]+|{SPACE}|\s"

LibraryModel = models.BPE | models.Unigram | models.WordLevel


def build(kind: Kind, model: LibraryModel) -> Tokenizer:
    """The library's tokenizer around a learnt model."""
    library = Tokenizer(model)
    library.normalizer = _normalizer(kind)
    library.pre_tokenizer = _pre_tokenizer(kind)
    library.decoder = _decoder(kind)
    return library


def unescape(text: str) -> str:
    """Give back the characters that the normalizer escaped."""
    return text.replace(ESCAPE + ESCAPED_SPACE, SPACE).replace(ESCAPE + ESCAPED_ITSELF, ESCAPE)


def _normalizer(kind: Kind) -> normalizers.Normalizer:
    # Words are what stands between white space, whichever and however much; the other kinds keep every character.
    to_space = (
        [normalizers.Replace(Regex(rf"{WHITE}+"), SPACE), normalizers.Replace(Regex(rf"\A{SPACE}|{SPACE}\z"), "")]
        if kind == "words"
        else [normalizers.Replace(" ", SPACE)]
    )
    return normalizers.Sequence(
        [
            normalizers.Replace(ESCAPE, ESCAPE + ESCAPED_ITSELF),
            normalizers.Replace(SPACE, ESCAPE + ESCAPED_SPACE),
            *to_space,
            normalizers.Prepend(SPACE),
        ]
    )


def _pre_tokenizer(kind: Kind) -> pre_tokenizers.PreTokenizer:
    if kind == "words":
        return pre_tokenizers.Split(SPACE, "merged_with_next")
    return pre_tokenizers.Split(Regex(PRE_TOKENS), "isolated")


def _decoder(kind: Kind) -> decoders.Decoder:
    bytes_to_text = [] if kind == "words" else [decoders.ByteFallback()]
    return decoders.Sequence(
        [
            *bytes_to_text,
            decoders.Fuse(),
            decoders.Replace(SPECIAL_NAMES[UNK], SPACE + SPECIAL_PIECES[UNK]),
            decoders.Strip(SPACE, 1, 0),
            decoders.Replace(SPACE, " "),
            decoders.Replace(ESCAPE + ESCAPED_SPACE, SPACE),
            decoders.Replace(ESCAPE + ESCAPED_ITSELF, ESCAPE),
        ]
    )
