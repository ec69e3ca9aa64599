"""A joint vocabulary of pieces, learnt by SentencePiece, written for the tokenizers library."""

from __future__ import annotations

import io
import itertools
import json
import re
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import DataError, not_installed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["code_pieces", "code_token", "fast_tokenizer", "learn", "write_tokenizer"]


PAD, EOS, UNKNOWN = 0, 1, 2
_SPECIAL = ("<pad>", "</s>", "<unk>")
#: below any path over known pieces; unknown characters cost still more, hence the next line
_NEVER = -1e6
#: where a text spells a special piece or a code, its first character is cut off
_RESERVED = r"<(?=(/s|pad|unk|code:\d+)>)"
_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"


def code_token(code: int) -> str:
    """Token of a sentence code in the vocabulary.

    >>> code_token(7)
    '<code:7>'
    """
    return f"<code:{code}>"


def code_pieces(tokenizer: Any) -> list[int]:
    """The numbers of the pieces that are sentence codes, from code 0 on."""
    numbers = (tokenizer.token_to_id(code_token(code)) for code in itertools.count())
    return list(itertools.takewhile(lambda number: number is not None, numbers))


def learn(texts: Iterable[str], size: int, seed: int = 0) -> bytes:
    """Learn a unigram vocabulary (Kudo 2018) with SentencePiece.

    Texts are taken as they are: nothing is normalised but spaces, since paraphrases serve as
    references, where each character counts.
    """
    try:
        import sentencepiece
    except ImportError:
        raise not_installed("training a vocabulary", "sentencepiece", "sentencepiece") from None
    sentencepiece.set_random_generator_seed(seed)
    written = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=written,
            model_type="unigram",
            vocab_size=size,
            character_coverage=0.9999,
            normalization_rule_name="identity",
            pad_id=PAD,
            eos_id=EOS,
            unk_id=UNKNOWN,
            bos_id=-1,
            input_sentence_size=1_000_000,
            num_threads=1,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise DataError(_remedy(size, error)) from error
    return written.getvalue()


#: messages of SentencePiece, which has no codes, and remedies
_REMEDIES = {
    r"value <= (\d+)": "the texts are too few for a vocabulary of {size} pieces: they allow {0};"
    " give more pairs, or ask for {0} or fewer",
    r"smaller than required_chars\. \d+ vs (\d+)": "a vocabulary of {size} pieces is too small: the"
    " texts have {0} characters; ask for more pieces",
}


def _remedy(size: int, error: RuntimeError) -> str:
    said = str(error)
    for pattern, remedy in _REMEDIES.items():
        if found := re.search(pattern, said):
            return remedy.format(*found.groups(), size=size)
    return f"SentencePiece could not learn a vocabulary of {size} pieces: {said.strip()}"


def fast_tokenizer(model: bytes, codes: int = 0) -> Any:
    """The same vocabulary for the tokenizers library, sentence codes after the pieces."""
    import sentencepiece
    import tokenizers
    from tokenizers import AddedToken, Regex, decoders, normalizers, pre_tokenizers

    learnt = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = [
        (learnt.id_to_piece(i), _NEVER if i in {PAD, EOS, UNKNOWN} else learnt.get_score(i))
        for i in range(learnt.get_piece_size())
    ]
    pieces += [(code_token(code), _NEVER) for code in range(codes)]
    model_of = tokenizers.models.Unigram(pieces, unk_id=UNKNOWN, byte_fallback=False)
    tokenizer = tokenizers.Tokenizer(model_of)
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(_SPACE, " "),
            normalizers.Replace(Regex("^ +| +$"), ""),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(_SPACE, prepend_scheme="always"),
            pre_tokenizers.Split(Regex(_RESERVED), "isolated"),
        ]
    )
    tokenizer.decoder = decoders.Metaspace(_SPACE, prepend_scheme="always")
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", EOS)]
    )
    tokenizer.add_special_tokens([AddedToken(piece, normalized=False) for piece in _SPECIAL])
    tokenizer.encode_special_tokens = True
    return tokenizer


def write_tokenizer(folder: Path, tokenizer: Any, limit: int) -> None:
    """Write the files that AutoTokenizer reads; sentencepiece is not needed for that."""
    from gnomon.data.formats import atomic_write

    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": "<pad>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "model_max_length": limit,
        "split_special_tokens": True,
        "clean_up_tokenization_spaces": False,
    }
    with atomic_write(folder / "tokenizer.json") as file:
        file.write(tokenizer.to_str())
    with atomic_write(folder / "tokenizer_config.json") as file:
        file.write(json.dumps(config, indent=2) + "\n")
