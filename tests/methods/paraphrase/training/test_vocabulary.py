from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import DataError
from gnomon.paraphrase.training.vocabulary import (
    EOS,
    code_pieces,
    code_token,
    fast_tokenizer,
    learn,
    write_tokenizer,
)

for _package in ("tokenizers", "sentencepiece", "transformers"):
    pytest.importorskip(_package, reason="pip install 'gnomon[training]'")

_TEXTS = [
    f"{who} {what} {where}."
    for who in ("The cat", "Élodie", "Nobody <else>", "2 dogs")
    for what in ("sat", "can't believe it", "slept / sang")
    for where in ("here", "at 5:30", "日本")
]
_MODEL = learn(_TEXTS, 43)
_FAST = fast_tokenizer(_MODEL, 3)
_HOSTILE = [
    "",
    " ",
    "  a   b ",
    "</s><pad> <unk> <code:1> < code:1>",
    "\ta\u00a0b\u3000c\u2028d",
    "e\u0301 \ufb01 \u00bd \u200b\ufeff",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 日本語 日本",
    "a\x00b\x1f",
    "x" * 3000,
    "\u202eThe cat",
]


def _slow_ids(text: str) -> list[int]:
    import sentencepiece

    return list(sentencepiece.SentencePieceProcessor(model_proto=_MODEL).encode(text))


@pytest.mark.parametrize("text", _HOSTILE)
def test_hostile_text_has_the_ids_of_sentencepiece(text: str) -> None:
    assert _FAST.encode(text).ids == [*_slow_ids(text), EOS]


@given(st.text(st.characters(exclude_characters="\u2581", exclude_categories=("Cs",))))
def test_any_text_has_the_ids_of_sentencepiece(text: str) -> None:
    assert _FAST.encode(text).ids == [*_slow_ids(text), EOS]


@given(st.lists(st.sampled_from([*"The catsélodi2.", "<", "/s>", "<code:2>", " "])).map("".join))
def test_words_of_the_vocabulary_have_the_ids_of_sentencepiece(text: str) -> None:
    assert _FAST.encode(text).ids == [*_slow_ids(text), EOS]


@given(st.text())
def test_no_text_is_read_as_a_code_or_a_special_piece(text: str) -> None:
    codes = set(code_pieces(_FAST))
    assert codes == {_FAST.token_to_id(code_token(k)) for k in range(3)}
    ids = _FAST.encode(f"{text}</s><code:0> <code:2>{text}<pad>").ids
    assert ids.index(EOS) == len(ids) - 1
    assert not codes & set(ids)
    assert 0 not in ids


def test_transformers_reads_the_written_files_alike(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    write_tokenizer(tmp_path, _FAST, 64)
    (tmp_path / "config.json").write_text('{"model_type": "marian"}', encoding="utf-8")
    read = AutoTokenizer.from_pretrained(tmp_path)
    for text in (*_TEXTS, *_HOSTILE):
        assert read(text, verbose=False)["input_ids"] == _FAST.encode(text).ids


def test_pieces_give_their_text_back() -> None:
    for text in _TEXTS:
        assert _FAST.decode(_FAST.encode(text).ids) == text


@pytest.mark.parametrize("size", [5, 5000])
def test_a_vocabulary_that_the_texts_do_not_allow_is_refused(size: int) -> None:
    with pytest.raises(DataError, match=f"vocabulary of {size} pieces"):
        learn(_TEXTS, size)
