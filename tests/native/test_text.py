"""Tokens of texts of every kind are sacreBLEU's, and stand where a slow search finds them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

import gnomon as gn
from gnomon.metrics.tokenise import load_tokeniser, tokenise
from gnomon.metrics.tokenise.tables import split_plain
from gnomon.native.text import CHRF as CHRF_RULE
from gnomon.native.text import T13A, WORDS, Distinct, places_of, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PIECES = [
    *("&quot;", "&amp;lt;", "&gt;", "&amp", "<skipped>", "-\n", "\n", "\r\n", "\r", "\u2028"),
    *("5", "3.", ",7", "1.234,5", "a-b", "9-9--", "..", ".,", "...", "e.g.", "(x)", '"', "'s", "%"),
    *(
        "\U0001f469\u200d\U0001f680",
        "\U0001f1e9\U0001f1ea",
        "日本語",
        "。",
        "مرحبا",
        "، ",
        "e\u0301",
    ),
    *("İ", "Σ", "ß", "ʼ", "à", "Å", "हिन्दी", "ไทย", "한국어", "Ελλάς", "עברית", "\U0010ffff"),
    *("\x00", "\ud800", "\udfff", "\ue000", "\x7f", "\x80", "\u07ff", "\u0800", "\uffff"),
    *("\x1c", "\x1f", "\x85", "\u00a0", "\u1680", "\u2003", "\u200b", "\u202f", "\u205f", "\u3000"),
    *("a" * 15, "b" * 16, "c" * 17, "ä" * 40, "x" * 64, "\t", "\x0b", "\x0c"),
    *(" ", " ", " ", " ", "the", "cat", "The", "mat"),
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=12).map("".join)
RULES = [("13a", False), ("13a", True), ("none", False), ("chrf", False), ("chrf", True)]

_13a, _chrf = Tokenizer13a(), CHRF(word_order=2)
SACREBLEU: dict[str, Callable[[str], list[str]]] = {
    "13a": lambda text: _13a(text.rstrip()).split(),
    "none": str.split,
    "chrf": _chrf._remove_punctuation,
}


def check(many: list[str], name: str, *, lowercase: bool, beside: bool = True) -> None:
    """Tokens are sacreBLEU's, numbered as they come; places those of the plain way."""
    found = tokenise(many, name, lowercase=lowercase)
    split = SACREBLEU[name]
    wanted = [split(text.lower() if lowercase else text) for text in many]
    assert [found.strings(t) for t in range(len(many))] == wanted
    known = {token: None for tokens in wanted for token in tokens}
    assert list(found.vocabulary) == list(known)
    if beside:
        tokeniser: Any = load_tokeniser(name, lowercase=lowercase)
        expected = split_plain(many, tokeniser)
        for column in ("offsets", "ids", "start", "end"):
            ours, theirs = getattr(found, column), getattr(expected, column)
            assert ours.dtype == theirs.dtype
            assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize(("name", "lowercase"), RULES)
@given(many=st.lists(texts, max_size=5))
def test_tokens_are_those_of_sacrebleu(name: str, lowercase: bool, many: list[str]) -> None:
    check(many, name, lowercase=lowercase)


@pytest.mark.parametrize(("name", "lowercase"), RULES)
def test_many_texts_are_split_as_each_alone(name: str, lowercase: bool) -> None:
    draw = np.random.default_rng(5)
    words = [f"w{i}" for i in range(9000)] + PIECES
    many = ["".join(f"{words[i]} " for i in draw.integers(0, len(words), 9)) for _ in range(4500)]
    check(many, name, lowercase=lowercase)


def test_every_short_text_of_the_signs_that_13a_joins_is_split_as_sacrebleu_splits_it() -> None:
    many = ["".join(signs) for n in range(6) for signs in product("5.-a !", repeat=n)]
    check(many, "13a", lowercase=False)


@pytest.mark.parametrize(
    "name", ["13a", *(pytest.param(n, marks=pytest.mark.verify) for n in ("none", "chrf"))]
)
def test_every_character_is_white_space_a_sign_or_neither_as_sacrebleu_has_it(name: str) -> None:
    many = [f"a{chr(code)}1{chr(code)} {chr(code)}" for code in [*range(0x3100), 0xFEFF, 0x1F600]]
    check(many, name, lowercase=False)


@pytest.mark.parametrize("size", [0, 1, 2, 62, 63, 64, 65, 66, 127, 128, 129])
@pytest.mark.parametrize("end", ["", ".", "..", " .", "\u2003", "\u3000.", "5-", ".5", "é"])
def test_what_lies_across_64_bytes_is_split_as_elsewhere(size: int, end: str) -> None:
    for name in SACREBLEU:
        many = [f"{'a' * size}{end}{rest}" for rest in ("", "5", "b", " b", "\u2003b", "é")]
        check(many, name, lowercase=False)
        check([f"{'a' * size}{end}"], name, lowercase=False)


@pytest.mark.parametrize("name", ["13a", "none", "chrf"])
@pytest.mark.parametrize("tokens", [1, 64, 65, 100_000])
def test_texts_of_any_number_of_tokens_are_split(name: str, tokens: int) -> None:
    draw = np.random.default_rng(tokens)
    words = ["the", "cat.", "(sat)", "9-1", "3.5", "über", "日本語", "\U0001f600!", "&lt;"]
    long = " ".join(words[i] for i in draw.integers(0, len(words), tokens))
    check([long, "", long[: len(long) // 2], long], name, lowercase=False, beside=tokens < 100)


def test_a_word_of_any_length_is_split() -> None:
    long = ".".join(["1-", "x", "5"] * 4000)
    check([long, long + "y", "é" * 70000, "é" * 69999], "13a", lowercase=False)


@pytest.mark.parametrize("language", ["de-en", "en-de", "kk-en"])
@pytest.mark.parametrize("part", [0.1, pytest.param(1, marks=pytest.mark.verify)])
def test_real_texts_are_split_as_sacrebleu_splits_them(shared, language: str, part: float) -> None:
    set_ = gn.TestSet.read(shared / "data/wmt19" / language)
    some = list(set_.batch().texts[:: int(17 / part)]) + list(set_.sources or ())[:: int(5 / part)]
    for name, lowercase in RULES:
        check(some, name, lowercase=lowercase)


@given(many=st.lists(st.lists(texts, max_size=9), max_size=3))
def test_equal_texts_have_one_number_and_others_have_others(many: list[list[str]]) -> None:
    made = Distinct()
    found = [made.number(again(part)) for part in many]
    known: dict[str, int] = {}
    expected = [[known.setdefault(text, len(known)) for text in part] for part in many]
    assert [numbers.tolist() for numbers in found] == expected
    assert made.texts == tuple(known)


def again(texts: list[str]) -> Iterator[str]:
    """Equal texts that are other objects."""
    return ((text + " ")[:-1] for text in texts)


def test_texts_of_equal_bytes_are_told_apart() -> None:
    same = ["ab", "\u6261", "\x00a\x01\x00", "\U00016100", "a\x00b\x00", "\u0061\u0162", ""]
    assert Distinct().number(same * 2).tolist() == [*range(len(same))] * 2


def test_many_texts_of_all_lengths_are_numbered() -> None:
    some = [f"{'x' * (n % 140)}{n}{'é' * (n % 3)}{'日' * (n % 5)}" for n in range(50_000)]
    made = Distinct()
    assert made.number(some).tolist() == [*range(50_000)]
    assert made.number(again(some[::-7])).tolist() == [*range(50_000)][::-7]
    assert made.texts == tuple(some)
    with pytest.raises(TypeError, match="text 1 is no str but NoneType"):
        made.number(["a", None])  # type: ignore[list-item]


def nothing(number: int) -> str:
    raise AssertionError(number)


@pytest.mark.parametrize("function", [tokens_of, places_of])
def test_what_is_no_text_is_refused(function: Any) -> None:
    with pytest.raises(TypeError, match="text 1 is no str but bytes"):
        function(["a", b"b"], WORDS, False, nothing)
    with pytest.raises(ValueError, match="rule 7"):
        function(["a"], 7, False, nothing)


@pytest.mark.parametrize("function", [tokens_of, places_of])
def test_an_error_of_what_reads_again_comes_through(function: Any) -> None:
    with pytest.raises(AssertionError, match="4"):
        function(["a&lt"] * 4 + ["a&lt;"], T13A, False, nothing)
    assert len(function(["a&lt;"], CHRF_RULE, False, nothing)[0])


def test_strings_of_a_class_of_their_own_are_texts() -> None:
    class Word(str):
        __slots__ = ()

    check([Word("a b."), np.str_("c d")], "13a", lowercase=True)


def test_an_interruption_is_answered_within_a_long_call() -> None:
    program = (
        "import signal\n"
        "from gnomon.native.text import T13A, tokens_of\n"
        "def stop(*_): raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGVTALRM, stop)\n"
        "texts = ['the cat sat on the mat . ' * 400_000] * 20\n"
        "signal.setitimer(signal.ITIMER_VIRTUAL, .2)\n"
        "try: tokens_of(texts, T13A, False, print)\n"
        "except KeyboardInterrupt: print('stopped')\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "stopped\n"


class Inconstant(Sequence[str]):
    """Texts that are more than they say."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, place: Any) -> Any:
        if place > 200_000:
            raise IndexError
        return "a"


def test_texts_are_as_many_as_come() -> None:
    offsets, ids, *_ = tokens_of(Inconstant(), WORDS, False, str)
    assert (len(offsets) - 1, len(ids)) == (200_001, 200_001)
    assert len(places_of(Inconstant(), WORDS, False, str)[0]) == 200_001


@pytest.mark.parametrize("split", [tokens_of, places_of])
def test_a_text_that_is_read_again_has_no_newlines(split: Any) -> None:
    with pytest.raises(ValueError, match="text 1 has newlines when it is read again"):
        split(["a", "a\nb"], WORDS, False, lambda _: "\n" * 100_000)


def test_distinct_texts_cannot_be_taken_away() -> None:
    made = Distinct()
    made.number(["a", "b"])
    with pytest.raises(AttributeError):
        made.texts.clear()  # type: ignore[attr-defined]
    assert made.number(["b", "a"]).tolist() == [1, 0]
