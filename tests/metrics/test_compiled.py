"""Compiled loops compute what the plain ones define, on text of every kind."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gnomon as gn
from gnomon.metrics import MaskPlan, _compiled, bind
from gnomon.metrics.ngrams import Sides, clipped_matches
from gnomon.metrics.sequences import Sequences, _covered, _meetings
from gnomon.metrics.tokenise import load_tokeniser, tokenise
from gnomon.metrics.tokenise._tables import _LAST_SPACE, split_compiled, split_plain
from gnomon.spans import SpanTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from gnomon.batch import Batch

loops: Any = _compiled.kernels(1 << 30)

PIECES = [
    *("&quot;", "&amp;lt;", "&gt;", "&amp", "<skipped>", "-\n", "\n", "\r", "\u2028", "\u3000"),
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
    *(
        "İ",
        "Σ",
        "ß",
        "\u00a0",
        "\x1c",
        "\ud800",
        "\ue000",
        "ʼ",
        "à",
        "Å",
        "\u2003",
        "a" * 15,
        "b" * 16,
        "ä" * 40,
    ),
    *(" ", " ", " ", "the", "cat", "The", "mat"),
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=12).map("".join)
RULES = [("13a", False), ("13a", True), ("none", False), ("chrf", False), ("chrf", True)]


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setattr(_compiled, "kernels", lambda *_: None)


@pytest.mark.parametrize(("name", "lowercase"), RULES)
@given(many=st.lists(texts, max_size=5))
def test_texts_are_split_alike(name: str, lowercase: bool, many: list[str]) -> None:
    same_tables(many, name, lowercase=lowercase)


def same_tables(many: list[str], name: str, *, lowercase: bool) -> None:
    tokeniser: Any = load_tokeniser(name, lowercase=lowercase)
    expected, found = split_plain(many, tokeniser), split_compiled(many, tokeniser, loops)
    assert [found.strings(t) for t in range(len(many))] == [
        expected.strings(t) for t in range(len(many))
    ]
    assert [found.spans(t) for t in range(len(many))] == [
        expected.spans(t) for t in range(len(many))
    ]
    assert list(found.vocabulary) == list(expected.vocabulary)
    for column in ("offsets", "ids", "start", "end"):
        ours, theirs = getattr(found, column), getattr(expected, column)
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize(("name", "lowercase"), RULES)
def test_more_texts_than_a_block_holds_are_split_alike(name: str, lowercase: bool) -> None:
    draw = np.random.default_rng(5)
    words = [f"w{i}" for i in range(9000)] + PIECES
    many = ["".join(f"{words[i]} " for i in draw.integers(0, len(words), 9)) for _ in range(4500)]
    same_tables(many, name, lowercase=lowercase)


def test_no_white_space_lies_beyond_the_classes() -> None:
    assert not any(chr(code).isspace() for code in range(_LAST_SPACE + 1, sys.maxunicode + 1))


def test_every_short_text_of_the_signs_that_13a_joins_is_split_alike() -> None:
    many = ["".join(signs) for n in range(6) for signs in product("5.-a !", repeat=n)]
    same_tables(many, "13a", lowercase=False)


def test_a_word_of_any_length_is_split_alike() -> None:
    long = ".".join(["1-", "x", "5"] * 4000)
    same_tables([long, long + "y", "é" * 70000], "13a", lowercase=False)


@pytest.mark.parametrize("language", ["de-en", "en-de", "kk-en"])
@pytest.mark.parametrize("part", [0.1, pytest.param(1, marks=pytest.mark.verify)])
def test_real_texts_are_split_alike(shared, language: str, part: float) -> None:
    set_ = gn.TestSet.read(shared / "data/wmt19" / language)
    some = list(set_.batch().texts[:: int(17 / part)]) + list(set_.sources or ())[:: int(5 / part)]
    for name, lowercase in RULES:
        same_tables(some, name, lowercase=lowercase)


ids = st.builds(
    lambda row, times: row * times,  # references of more than 64 tokens are matched otherwise
    st.lists(st.integers(0, 5), max_size=9),
    st.sampled_from([1, 1, 7, 8]),
)


@given(
    groups=st.lists(
        st.tuples(st.lists(ids, max_size=3), st.lists(ids, min_size=1, max_size=3)), max_size=4
    ),
    orders=st.integers(1, 6),
)
def test_matches_are_counted_alike(
    groups: list[tuple[list[list[int]], list[list[int]]]], orders: int
) -> None:
    candidates = [row for rows, _ in groups for row in rows]
    references = [row for _, rows in groups for row in rows]
    owners = [np.repeat(np.arange(len(groups)), [len(g[i]) for g in groups]) for i in range(2)]
    sides = Sides(packed(candidates), owners[0], packed(references), owners[1])
    all_rows = packed(candidates + references)
    low, high = all_rows.offsets[:-1], all_rows.offsets[1:]
    n = len(candidates)
    found = loops.clipped_matches(
        all_rows.ids, 6, low[:n], high[:n], owners[0], low[n:], high[n:], owners[1], orders
    )
    assert found.tolist() == clipped_matches(sides, orders).tolist()


def packed(rows: list[list[int]]) -> Sequences:
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Sequences(offsets, np.array([i for row in rows for i in row], dtype=np.int32))


METRICS = [
    *("bleu", "bleu(variant='authors')", "bleu(smooth_method='floor', max_ngram_order=2)"),
    *("bleu(smooth_method='add-k')", "bleu(smooth_method='none', effective_order=False)"),
    *("bleu(lowercase=True)", "bleu(tokenize='char')", "chrf", "chrf(word_order=2)"),
    *("chrf(whitespace=True)", "chrf(char_order=0, word_order=2)", "chrf(lowercase=True)"),
]


@st.composite
def annotated(draw: st.DrawFn) -> tuple[gn.TestSet, SpanTable]:
    n = draw(st.integers(1, 3))
    columns = st.lists(texts, min_size=n, max_size=n)
    systems = {f"s{k}": draw(columns) for k in range(draw(st.integers(1, 3)))}
    references = [draw(columns) for _ in range(draw(st.integers(1, 2)))]
    set_ = gn.TestSet.from_lists(systems, [list(row) for row in zip(*references, strict=True)])
    return set_, draw(spans_of(set_.batch().texts))


@st.composite
def spans_of(draw: st.DrawFn, strings: tuple[str, ...]) -> SpanTable:
    annotations = []
    for text in strings:
        annotation = {}
        for group in ("f", "g"):
            cuts = st.lists(st.integers(0, len(text)), max_size=6, unique=True).map(sorted)
            places = draw(cuts)
            annotation[group] = list(zip(places[::2], places[1::2], strict=False))
        annotations.append(annotation)
    return SpanTable.build(annotations, ("f", "g"))


@pytest.mark.parametrize("granularity", ["token", "span"])
@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=settings.default.max_examples // 5)
@given(data=annotated(), overlap=st.sampled_from(["any", "majority", "inside"]))
def test_masked_texts_score_alike(
    metric: str, granularity: Any, data: tuple[gn.TestSet, SpanTable], overlap: Any
) -> None:
    set_, spans = data
    mixed = [[1, 0], [2, 0], [1, 2], [2, 1], [1, 1], [0, 2], [0, 0], [0, 1], [0, 2]]
    plan = MaskPlan(spans, np.array(mixed, dtype=np.int8), overlap, granularity)
    with pytest.MonkeyPatch.context() as patch:
        found = masked(set_, metric, plan)
        patch.setattr(_compiled, "kernels", lambda *_: None)
        expected = masked(set_, metric, plan)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("length", [1, 63, 64, 65, 130])
@pytest.mark.parametrize("metric", ["bleu", "bleu(max_ngram_order=6)"])
def test_masks_in_references_of_any_length_are_counted_alike(metric: str, length: int) -> None:
    draw = random.Random(length)
    rows = [[" ".join(draw.choices("abcd", k=length)) for _ in range(2)] for _ in range(8)]
    set_ = gn.TestSet.from_lists({"s": [row[0] for row in rows]}, [row[1] for row in rows])
    spans = [
        {one: [(2 * i, 2 * i + 1) for i in range(length) if draw.random() < share]}
        for _ in set_.batch().texts
        for one, share in (("f", 0.3),)
    ]
    more = [{"g": [(0, 1)], **one} for one in spans]
    actions = np.array([[1, 0], [2, 0], [1, 2], [2, 1], [1, 1]], dtype=np.int8)
    plan = MaskPlan(SpanTable.build(more, ("f", "g")), actions)
    with pytest.MonkeyPatch.context() as patch:
        found = masked(set_, metric, plan)
        patch.setattr(_compiled, "kernels", lambda *_: None)
        expected = masked(set_, metric, plan)
    np.testing.assert_array_equal(found, expected)


def masked(set_: gn.TestSet, metric: str, plan: MaskPlan) -> NDArray[np.float64]:
    _, bound = bind(set_, metric)
    batch: Batch = set_.batch()
    bound_any: Any = bound
    return np.vstack([bound_any.masked(batch, plan), bound.segments(batch)[None]])


@given(data=annotated())
def test_tokens_under_spans_are_found_alike(data: tuple[gn.TestSet, SpanTable]) -> None:
    set_, spans = data
    tokens = tokenise(set_.batch().texts, "13a")
    plan = MaskPlan.oracles(spans)
    for found, expected in zip(_covered(loops, tokens, plan), _meetings(tokens, plan), strict=True):
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("metric", ["bleu(tokenize='char')", "chrf", "chrf(word_order=2)"])
def test_thousands_of_distinct_characters_are_counted_as_sacrebleu_counts_them(metric: str) -> None:
    from sacrebleu.metrics import BLEU, CHRF

    draw = np.random.default_rng(3)

    def text() -> str:
        codes = draw.integers(0x4E00, 0x9000, 6000)
        return "".join(map(chr, codes)) + " " + "".join(map(chr, draw.permutation(codes)[:3000]))

    reference = text()
    candidate = reference[::-1][:4000] + text() + reference[1000:3000]
    ours = gn.score(gn.TestSet.from_lists({"a": [candidate]}, [reference]), metric).segments
    peers = {
        "bleu(tokenize='char')": BLEU(tokenize="char", effective_order=True),
        "chrf": CHRF(),
        "chrf(word_order=2)": CHRF(word_order=2),
    }
    expected = peers[metric].sentence_score(candidate, [reference]).score
    assert ours[0, 0] == pytest.approx(expected, rel=0, abs=1e-9)


def fresh(segments: int) -> gn.TestSet:
    draw = np.random.default_rng(7)

    def column() -> list[str]:
        rows = draw.integers(0, 30, (segments, 6))
        return [" ".join(f"w{i}" for i in row) + "." for row in rows]

    return gn.TestSet.from_lists({"a": column(), "b": column()}, column(), language_pair="en")


def test_every_text_is_split_once_and_every_comparison_made_once() -> None:
    set_ = fresh(50)
    _, metric = bind(set_, "bleu")
    bleu_: Any = metric
    gn.score(set_, bleu_)
    batch = set_.batch()
    spans = word_spans(batch.texts, ["w1", "w2", "w3"])
    bleu_.masked(batch, MaskPlan.oracles(spans))
    assert bleu_.texts.tokens.runs == 1
    assert bleu_.texts.tokens.of(batch.texts).tokenised <= len(batch.texts)
    assert bleu_.texts.compared == len(
        {(int(c), n) for row in batch.candidates for n, c in enumerate(row)}
    )


def test_only_comparisons_that_a_variant_changes_are_scored_again() -> None:
    set_ = fresh(60)
    batch = set_.batch()
    words = ["w1", "w2", "absent"]
    _, metric = bind(set_, "bleu")
    bleu_: Any = metric
    bleu_.masked(batch, MaskPlan.oracles(word_spans(batch.texts, words)))
    pairs = {
        (batch.texts[c], batch.texts[batch.references[n][0]])
        for row in batch.candidates.tolist()
        for n, c in enumerate(row)
    }
    holding = sum(
        any(word in text.rstrip(".").split() for text in pair) for pair in pairs for word in words
    )
    assert bleu_.texts.rescored == 2 * holding


def word_spans(strings: tuple[str, ...], words: list[str]) -> SpanTable:
    def places(text: str, word: str) -> Iterator[tuple[int, int]]:
        at = 0
        for token in text.rstrip(".").split():
            if token == word:
                yield at, at + len(token)
            at += len(token) + 1

    return SpanTable.build([{w: list(places(t, w)) for w in words} for t in strings], words)


@pytest.mark.parametrize(("segments", "imported"), [(20, False), (3000, True)])
def test_compiled_loops_are_imported_for_large_inputs_only(segments: int, imported: bool) -> None:
    program = (
        "import sys, gnomon as gn\n"
        f"texts = [f'word {{i}} here' for i in range({segments})]\n"
        "gn.score(gn.TestSet.from_lists({'a': [t + ' x' for t in texts]}, texts), 'bleu')\n"
        "print('gnomon.metrics._kernels' in sys.modules)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == str(imported)


def test_compiled_loops_are_imported_by_what_does_many_small_things() -> None:
    program = (
        "import sys, gnomon as gn\n"
        "texts = [f'word {i} here' for i in range(200)]\n"
        "small = gn.TestSet.from_lists({'a': [t + ' x' for t in texts]}, texts)\n"
        "for number in range(200):\n"
        "    assert number > 3 or 'gnomon.metrics._kernels' not in sys.modules\n"
        "    gn.score(small, 'bleu')\n"
        "print('gnomon.metrics._kernels' in sys.modules)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "True"


def test_work_that_is_expected_is_done_by_compiled_loops_from_the_first_text_on() -> None:
    program = (
        "import sys, gnomon as gn\n"
        "from gnomon.metrics.scoring import expect_work\n"
        "expect_work(10_000)\n"
        "gn.score(gn.TestSet.from_lists({'a': ['one two']}, ['one']), 'bleu')\n"
        "print('gnomon.metrics._kernels' in sys.modules)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "True"


def test_without_numba_the_plain_loops_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = gn.score(fresh(40), "bleu").segments
    monkeypatch.setattr(_compiled, "_work", _compiled._Work())  # as in a process that begins
    monkeypatch.setitem(sys.modules, "numba", None)
    assert _compiled.kernels(10**6) is None
    np.testing.assert_allclose(gn.score(fresh(40), "bleu").segments, expected, rtol=0, atol=1e-12)


def test_loops_whose_code_cannot_be_kept_are_refused_every_time(tmp_path: Path) -> None:
    (tmp_path / "some_loops.py").write_text(
        "from gnomon.loops import njit\n@njit(cache=True)\ndef first(a): return a[0]\n"
    )
    taken = tmp_path / "__pycache__"
    taken.write_text("a file where the folder would be")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from gnomon.metrics import _compiled\n"
        "print([_compiled.kernels(1 << 30, 'some_loops') for _ in range(3)])\n"
        "print('some_loops' in sys.modules)"
    )
    usual = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env={**usual, "HOME": str(taken), "XDG_CACHE_HOME": str(taken)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.split("\n")[:2] == ["[None, None, None]", "True"]


def test_numba_is_loaded_without_linear_algebra_which_stays_at_hand() -> None:
    pytest.importorskip("scipy", reason="scipy is not installed")
    program = (
        "import sys, gc\n"
        "from gnomon.metrics import _compiled\n"
        "loops = _compiled.kernels(1 << 30)\n"
        "assert loops.split.compiled and 'numba' in sys.modules\n"
        "assert gc.isenabled() and 'scipy.linalg' not in sys.modules\n"
        "import numba, numpy as np, scipy.linalg\n"
        "product = numba.njit(lambda a, b: np.dot(a, b))\n"
        "print(product(np.ones((2, 3)), np.ones((3, 2))).sum(), scipy.linalg.norm(np.ones(4)))\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["12.0", "2.0"]
