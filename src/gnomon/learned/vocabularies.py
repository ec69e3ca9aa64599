"""Vocabularies of learned metrics, read without the code that wrote them.

``tokenizers`` and ``sentencepiece`` give the pieces of a text as the originals do; transformers'
own classes differ from these in blanks, in empty texts and in literal special pieces. Texts are
data: what looks like a special piece in them is spelled out.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.core.errors import DataError, not_installed
from gnomon.messages.audiences import flag
from gnomon.models import check_content, find_folder, missing_package, reading_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from gnomon.models import ModelFolder

__all__ = [
    "VOCABULARY_FILES",
    "PieceReader",
    "encoder_vocabulary",
    "piece_reader",
    "unigram_vocabulary",
]


# T5: SentencePiece's unigrams, as the library tokenizers splits them.


def unigram_vocabulary(folder: ModelFolder, given: str | None, usual: str) -> Any:
    """The vocabulary of an mT5, as a ``tokenizers.Tokenizer``."""
    has_own = given is None and _vocabulary_in(folder.path) is not None
    source = folder if has_own else find_folder(given or usual)
    file = _vocabulary_in(source.path)
    if file is None:
        raise DataError(
            f"{source.name!r} ({source.path}) holds no vocabulary: neither tokenizer.json nor a"
            " *.model file of SentencePiece"
        )
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise missing_package("tokenizers", f"model {folder.name!r}") from None
    with reading_tokenizer(f"the vocabulary {file}"):
        if file.suffix == ".model":
            return _sentencepiece_tokeniser(file)
        tokenizer = Tokenizer.from_str(_drop_added_pieces(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _vocabulary_in(folder: Path) -> Path | None:
    files = (folder / "tokenizer.json", *sorted(folder.glob("*.model")))
    file = next((file for file in files if file.is_file()), None)
    if file is not None:
        check_content(file)
    return file


def _drop_added_pieces(file: Path) -> str:
    """A ``tokenizer.json`` in which no text stands for a special piece."""
    tokeniser = json.loads(file.read_text(encoding="utf-8"))
    tokeniser["added_tokens"] = []
    tokeniser["truncation"] = tokeniser["padding"] = tokeniser["post_processor"] = None
    tokeniser["model"]["vocab"] = [
        [_hidden(piece), score] for piece, score in tokeniser["model"]["vocab"]
    ]
    return json.dumps(tokeniser)


_SPECIAL = re.compile(r"<pad>|</?s>|<unk>|<extra_id_[0-9]+>")


def _hidden(piece: str) -> str:
    """A piece under a name that no text holds, where it is a special one."""
    return f"\ufdd0{piece}" if _SPECIAL.fullmatch(piece) else piece


def _sentencepiece_tokeniser(file: Path) -> Any:
    """SentencePiece tokeniser as transformers made it when MetricX was published (4.30)."""
    from tokenizers import Regex, normalizers

    model = _sentencepiece_model(file)
    blanks = normalizers.Replace(Regex(" {2,}"), " ")
    return _unigram_tokeniser(model.pieces, model.unknown, [*_read_precompiled(model), blanks])


def _unigram_tokeniser(pieces: list[tuple[str, float]], unknown: int, steps: list[Any]) -> Any:
    """A tokeniser of unigrams, where each word begins with a blank; ``steps`` normalise texts."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        replacement="\u2581", prepend_scheme="always", split=True
    )
    return tokenizer


def _read_precompiled(model: _UnigramModel) -> list[Any]:
    """Normaliser of characters in a model, where it has one."""
    from tokenizers import normalizers

    return [normalizers.Precompiled(model.characters)] if model.characters else []


class _UnigramModel(NamedTuple):
    """Needed parts of a file of SentencePiece."""

    pieces: list[tuple[str, float]]
    unknown: int
    characters: bytes


def _sentencepiece_model(file: Path) -> _UnigramModel:
    """Read a SentencePiece model; its format is protocol buffers (sentencepiece_model.proto)."""
    import struct

    pieces: list[tuple[str, float]] = []
    unknown, characters = 0, b""
    try:
        for number, value in _fields(file.read_bytes()):
            if number == 1:  # a piece: its text, its score, its kind
                piece = dict(_fields(value))
                score = struct.unpack("<f", piece.get(2, b"\0\0\0\0"))[0]
                if int.from_bytes(piece.get(3, b"\1"), "little") == 2:
                    unknown = len(pieces)
                pieces.append((_hidden(piece[1].decode("utf-8")), score))
            elif number == 3:  # how characters are normalised
                characters = dict(_fields(value)).get(2, b"")
    except (IndexError, KeyError, ValueError, struct.error) as error:
        raise DataError(f"the vocabulary {file} is no SentencePiece model: {error}") from error
    if not pieces:
        raise DataError(f"the vocabulary {file} holds no pieces")
    return _UnigramModel(pieces, unknown, characters)


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message of protocol buffers: number, and what it holds, as bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield tag >> 3, value.to_bytes(10, "little")
            continue
        if kind == 2:
            size, at = _varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if at + size > len(data):
            raise ValueError("it ends within a field")
        yield tag >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


# Encoders of COMET: a file of tokenizers, or what transformers makes one of.


#: files of a vocabulary
VOCABULARY_FILES = ("tokenizer.json", "*.model", "vocab.txt", "tokenizer_config.json")
_XLMR_PIECES = ("<s>", "<pad>", "</s>", "<unk>")
_BERT_PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def encoder_vocabulary(folder: ModelFolder, model_type: str) -> bytes:
    """The vocabulary of an encoder as a file of tokenizers.

    Where the folder holds no ``tokenizer.json``, it is made of a SentencePiece model or of
    ``vocab.txt``, as transformers 4 does it.
    """
    file = _vocabulary_in(folder.path) or folder.path / "vocab.txt"
    with reading_tokenizer(f"the vocabulary {file}"):
        if file.suffix == ".json":
            return file.read_bytes()
        if not file.is_file():
            raise DataError(
                f"{folder.name!r} ({folder.path}) holds no vocabulary (tokenizer.json, a *.model"
                " file of SentencePiece or vocab.txt); name the folder that does: ",
                flag("vocabulary", "FOLDER"),
            )
        settings = _settings(folder)
        if file.suffix == ".txt":
            made, special = _word_tokeniser(folder, settings), _BERT_PIECES
        elif model_type == "rembert":
            made, special = _rembert_tokeniser(file, settings), _BERT_PIECES
        else:
            made, special = _xlmr_tokeniser(file), (*_XLMR_PIECES, "<mask>")
    made.add_special_tokens([piece for piece in special if made.token_to_id(piece) is not None])
    text: str = made.to_str()
    return text.encode()


def _xlmr_tokeniser(file: Path) -> Any:
    """XLM-R counts its pieces otherwise than the SentencePiece model that they come from."""
    from tokenizers import Regex, normalizers

    model = _sentencepiece_model(file)
    first = [(piece, 0.0) for piece in _XLMR_PIECES]
    steps = [
        *_read_precompiled(model),
        normalizers.Strip(left=False, right=True),
        normalizers.Replace(Regex(" {2,}"), "\u2581"),
    ]
    return _unigram_tokeniser([*first, *model.pieces[3:], ("<mask>", 0.0)], 3, steps)


def _rembert_tokeniser(file: Path, settings: Mapping[str, Any]) -> Any:
    from tokenizers import Regex, normalizers

    model = _sentencepiece_model(file)
    steps: list[Any] = [
        normalizers.Replace("``", '"'),
        normalizers.Replace("''", '"'),
        normalizers.Replace(Regex(" {2,}"), " "),
    ]
    if settings.get("keep_accents") is False:
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if settings.get("do_lower_case") is True:
        steps.append(normalizers.Lowercase())
    return _unigram_tokeniser(model.pieces, model.unknown, [*steps, *_read_precompiled(model)])


# BERT-like: SentencePiece, or word pieces.


class PieceReader(NamedTuple):
    """From a text to pieces, and the special pieces of a pair."""

    split: Callable[[str], list[int]]  # a text to the numbers of its pieces
    start: int  # ``[CLS]``
    stop: int  # ``[SEP]``
    words: bool  # pieces are word pieces


def piece_reader(folder: ModelFolder) -> PieceReader:
    """The vocabulary of a BERT-like model: a SentencePiece model, or ``vocab.txt``."""
    settings = _settings(folder)
    file = next(iter(sorted(folder.path.glob("*.model"))), None)
    if file is not None:
        return _sentence_pieces(folder, file, settings)
    if (folder.path / "vocab.txt").is_file():
        return _word_pieces(folder, settings)
    raise DataError(
        f"model {folder.name!r} ({folder.path}) holds no vocabulary: neither a *.model file of"
        " SentencePiece nor vocab.txt"
    )


def _settings(folder: ModelFolder) -> Mapping[str, Any]:
    try:
        settings = json.loads((folder.path / "tokenizer_config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"model {folder.name!r}: tokenizer_config.json cannot be read: {error}"
        ) from error
    return settings if isinstance(settings, dict) else {}


def _sentence_pieces(folder: ModelFolder, file: Path, settings: Mapping[str, Any]) -> PieceReader:
    try:
        import sentencepiece
    except ImportError:
        raise not_installed(
            f"model {folder.name!r}", "sentencepiece", "models,sentencepiece"
        ) from None
    try:
        read = sentencepiece.SentencePieceProcessor(model_proto=file.read_bytes())
    except (OSError, RuntimeError) as error:
        raise DataError(f"the vocabulary {file} is no SentencePiece model: {error}") from error
    numbers = {read.id_to_piece(number): number for number in range(read.get_piece_size())}
    lower = settings.get("do_lower_case") is True

    def split(text: str) -> list[int]:
        return list(map(int, read.encode(text.lower() if lower else text)))

    return _add_special_pieces(folder, split, numbers, words=False)


def _word_tokeniser(folder: ModelFolder, settings: Mapping[str, Any]) -> Any:
    """BERT's word pieces, of ``vocab.txt``."""
    try:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    except ImportError:
        raise missing_package("tokenizers", f"model {folder.name!r}") from None
    file = folder.path / "vocab.txt"
    try:
        words = file.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise DataError(f"the vocabulary {file} cannot be read: {error}") from error
    numbers = {word: number for number, word in enumerate(words) if word}
    pieces = models.WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=100)  # noqa: S106  # a piece
    tokenizer = Tokenizer(pieces)
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=settings.get("do_lower_case") is not False,
        strip_accents=settings.get("strip_accents"),
        handle_chinese_chars=settings.get("tokenize_chinese_chars") is not False,
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _word_pieces(folder: ModelFolder, settings: Mapping[str, Any]) -> PieceReader:
    tokenizer = _word_tokeniser(folder, settings)
    numbers = tokenizer.get_vocab()
    encode = partial(tokenizer.encode, add_special_tokens=False)
    return _add_special_pieces(folder, lambda text: list(encode(text).ids), numbers, words=True)


def _add_special_pieces(
    folder: ModelFolder,
    split: Callable[[str], list[int]],
    numbers: Mapping[str, int],
    *,
    words: bool,
) -> PieceReader:
    for piece in ("[CLS]", "[SEP]"):
        if piece not in numbers:
            raise DataError(f"the vocabulary of model {folder.name!r} lacks the piece {piece}")
    return PieceReader(split, numbers["[CLS]"], numbers["[SEP]"], words)
