from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from gnomon.core.spans import SpanTable
from gnomon.core.testset import TestSet
from gnomon.metrics import MaskPlan, Ter, score
from gnomon.metrics.ter import ter_tokeniser
from gnomon.metrics.tokenise import tokenise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gnomon.core.scores import Scores

_OPTIONS = [
    {},
    {"normalized": True},
    {"no_punct": True},
    {"case_sensitive": True},
    {"normalized": True, "asian_support": True},
    {"no_punct": True, "asian_support": True, "case_sensitive": True},
    {"normalized": True, "no_punct": True, "asian_support": True},
]
_words = st.sampled_from(
    "the The cat cat's mat. 3.5 1-2 &quot;a&amp; (b) a,b 日本語、 ｶﾅ İ ！".split()  # noqa: SIM905  # a list of words
)
_texts = st.lists(_words, max_size=8).map(" ".join)
_anything = st.text(max_size=25)
#: beyond printable ASCII and the letters of Latin-1; entities; runs of spaces
_UNUSUAL = re.compile("[^ -~À-ÖØ-öø-ÿ]|&[a-z]+;|  ")
_SETS = (
    *("wmt17/cs-en", "wmt17/de-en", "wmt17/fi-en", "wmt18/cs-en", "wmt18/de-en", "wmt18/fi-en"),
    *("wmt19/de-en", "wmt19/en-de", "wmt19/kk-en", "wmt19/lt-en", "wmt21/en-de", "wmt24/en-cs"),
    *("mlqe-multiref/et-en", "realsumm", "cnndm"),
)

#: of several kinds; sweeps over all sets, and every text, are in `make verify`
_SAMPLED = ("wmt17/cs-en", "wmt19/lt-en", "wmt24/en-cs", "realsumm")


@pytest.mark.parametrize("options", _OPTIONS, ids=str)
@given(
    st.lists(st.tuples(_words, st.sampled_from([*"   \t\n\x0b\x1c\x85\u00a0\u3000\u2028", "\n-"])))
)
def test_tokens_are_sacrebleus_whatever_stands_between_words(
    options: dict[str, bool], parts: list[tuple[str, str]]
) -> None:
    text = "".join(word + space for word, space in parts)
    table = tokenise([text], ter_tokeniser(Ter(**options)))
    assert table.located
    assert table.strings(0) == TER(**options)._preprocess_segment(text).split()


def test_references_are_split_twice_as_sacrebleu_does() -> None:
    texts = ["the cat's\u00a0mat", "&amp;quot;a", "the cat's\u00a0mat"]
    references = ["the cat's\u00a0mat", "&amp;quot;a", "a,.5 b"]
    testset = TestSet.from_lists({"a": texts}, references)
    _check_statistics(testset, {"normalized": True})
    assert Ter(normalized=True).bind(testset).statistics(testset.batch())[0, 0].tolist() == [2, 4]


@pytest.mark.parametrize("options", _OPTIONS, ids=str)
@given(st.lists(st.tuples(_texts | _anything, _texts | _anything), min_size=1, max_size=4))
@example([("", ""), ("a", ""), ("", "a")])
@example([("a", "")])
@example([("", "")])
def test_segments_system_and_signature_equal_sacrebleu(
    options: dict[str, bool], rows: list[tuple[str, str]]
) -> None:
    candidates, references = [row[0] for row in rows], [row[1] for row in rows]
    peer = TER(**options)
    scores = score(
        TestSet.from_lists({"a": candidates}, references), Ter(**options, tokenize="tercom")
    )
    expected = peer.corpus_score(candidates, [references]).score
    assert scores.system[0] == pytest.approx(expected, abs=1e-9)
    sentences = [peer.sentence_score(c, [r]).score for c, r in rows]
    np.testing.assert_allclose(scores.segments[0], sentences, rtol=0, atol=1e-9)
    peer.corpus_score(candidates, [references])
    assert scores.native_signatures == {"sacrebleu": str(peer.get_signature())}
    assert scores.higher_is_better is False


@given(
    st.lists(st.tuples(_texts, st.lists(_texts, min_size=1, max_size=3)), min_size=1, max_size=4)
)
def test_several_and_ragged_references_equal_sacrebleu(rows: list[tuple[str, list[str]]]) -> None:
    candidates = [row[0] for row in rows]
    width = max(len(row[1]) for row in rows)
    columns = [[row[1][i] if i < len(row[1]) else None for row in rows] for i in range(width)]
    peer = TER()
    scores = score(
        TestSet.from_lists({"a": candidates}, [row[1] for row in rows]), "ter(tokenize='tercom')"
    )
    assert scores.system[0] == pytest.approx(peer.corpus_score(candidates, columns).score, abs=1e-9)
    sentences = [peer.sentence_score(c, r).score for c, r in rows]
    np.testing.assert_allclose(scores.segments[0], sentences, rtol=0, atol=1e-9)
    peer.corpus_score(candidates, columns)
    assert scores.native_signatures == {"sacrebleu": str(peer.get_signature())}


def _columns(testset: TestSet) -> list[list[str | None]]:
    return [list(column) for column in testset.references.values()]


def _largest_difference(
    found: Scores, systems: list[Sequence[str]], references: list[list[str | None]]
) -> float:
    """Over systems and segments; sacreBLEU's statistics are made once for both."""
    peer, worst = TER(), 0.0
    for k, texts in enumerate(systems):
        rows = peer._extract_corpus_statistics(list(texts), references)
        segments = [peer._compute_score_from_stats(row).score for row in rows]
        worst = max(worst, float(np.abs(found.segments[k] - segments).max()))
        worst = max(worst, abs(found.system[k] - peer._aggregate_and_compute(rows).score))
    return worst


@pytest.mark.parametrize(
    "name", [*_SAMPLED[:-1], pytest.param(_SAMPLED[-1], marks=pytest.mark.verify)]
)
def test_a_sample_of_real_segments_equals_sacrebleu(shared: Path, name: str) -> None:
    testset = TestSet.read(shared / "data" / name)
    columns = _columns(testset)
    chance = np.random.default_rng(list(name.encode()))
    strange = [i for i, text in enumerate(columns[0]) if _UNUSUAL.search(text or "")]
    chosen = [*chance.choice(strange, 3), *chance.choice(testset.segments, 3)]
    names = chance.permutation(list(testset.systems))[:2].tolist()
    part = {name: [testset.systems[name][i] for i in chosen] for name in names}
    few = [[column[i] for column in columns] for i in chosen]
    found = score(TestSet.from_lists(part, few), "ter")
    assert (
        _largest_difference(found, list(part.values()), [list(c) for c in zip(*few, strict=True)])
        < 1e-9
    )


def _distinct(testset: TestSet) -> list[str]:
    every = {text for column in _columns(testset) for text in column if text}
    return sorted(every | {text for texts in testset.systems.values() for text in texts})


def _check_tokens(texts: list[str]) -> None:
    # the edit distance is sacreBLEU's own, so that equal tokens give equal scores
    for options in _OPTIONS:
        table = tokenise(texts, ter_tokeniser(Ter(**options)))
        peer = TER(**options)
        assert table.located
        for i, text in enumerate(texts):
            assert table.strings(i) == peer._preprocess_segment(text).split()


@pytest.mark.parametrize("name", _SAMPLED)
def test_the_tokens_of_unusual_real_texts_are_sacrebleus(shared: Path, name: str) -> None:
    texts = [t for t in _distinct(TestSet.read(shared / "data" / name)) if _UNUSUAL.search(t)]
    _check_tokens(random.Random(name).sample(texts, min(len(texts), 60)))


@pytest.mark.verify
@pytest.mark.parametrize("name", _SETS)
def test_the_tokens_of_every_real_text_are_sacrebleus(shared: Path, name: str) -> None:
    _check_tokens(_distinct(TestSet.read(shared / "data" / name)))


def _check_statistics(testset: TestSet, options: dict[str, bool]) -> None:
    """Edits and lengths of every segment are sacreBLEU's."""
    peer = TER(**options)
    found = Ter(**options).bind(testset).statistics(testset.batch())
    for k, texts in enumerate(testset.systems.values()):
        expected = peer._extract_corpus_statistics(list(texts), _columns(testset))
        np.testing.assert_array_equal(found[k], expected)


@pytest.mark.verify
@pytest.mark.parametrize("name", _SETS)
def test_edits_and_lengths_of_all_real_systems_are_sacrebleus(shared: Path, name: str) -> None:
    _check_statistics(TestSet.read(shared / "data" / name), {})


@pytest.mark.verify
@pytest.mark.parametrize("options", _OPTIONS[1:], ids=str)
@pytest.mark.parametrize("name", _SETS)
def test_edits_and_lengths_under_every_option_are_sacrebleus(
    shared: Path, name: str, options: dict[str, bool]
) -> None:
    # one system of each set: sacreBLEU takes minutes for each
    testset = TestSet.read(shared / "data" / name)
    chance = np.random.default_rng([*name.encode(), *str(options).encode()])
    _check_statistics(testset.select(systems=[chance.choice(list(testset.systems))]), options)


@pytest.mark.parametrize("options", _OPTIONS, ids=str)
@given(_texts | _anything)
def test_tokens_are_found_in_their_text(options: dict[str, bool], text: str) -> None:
    tokens = ter_tokeniser(Ter(**options))(text)
    assert all(start >= 0 for start in tokens.starts)
    assert list(tokens.starts) == sorted(tokens.starts)
    if not options:
        places = zip(tokens.starts, tokens.ends, strict=True)
        assert [text[start:end].lower() for start, end in places] == list(tokens.strings)


def test_each_distinct_pair_is_compared_once() -> None:
    ts = TestSet.from_lists({"a": ["x y", "x y", "z"], "b": ["x y", "z", "z"]}, ["x", "x", "x"])
    bound = Ter().bind(ts)
    batch = ts.batch()
    bound.statistics(batch)
    bound.segments(batch)
    assert bound.texts.compared == 2


def test_segments_without_a_reference_are_undefined_and_do_not_count() -> None:
    ts = TestSet("t", {"A": ["x", None]}, {"a": ["y", "x"]})
    scores = score(ts, "ter")
    np.testing.assert_array_equal(scores.segments, [[100.0, np.nan]])
    assert scores.system.tolist() == [100.0]


@pytest.mark.parametrize("options", _OPTIONS, ids=str)
def test_masks_replace_tokens_alike_or_apart(options: dict[str, bool]) -> None:
    ts = TestSet.from_lists({"a": ["the cats sat down"]}, ["the dog sat down"])
    batch = ts.batch()
    nouns = {"the cats sat down": (4, 8), "the dog sat down": (4, 7)}
    spans = SpanTable.build([{"N": [nouns[text]]} for text in batch.texts], ["N", "none"])
    masked = Ter(**options).bind(ts).masked(batch, MaskPlan.oracles(spans))
    assert masked[:, 0, 0].tolist() == [0.0, 25.0, 25.0, 25.0]


def test_one_mask_per_span_shortens_both_sides() -> None:
    ts = TestSet.from_lists({"a": ["in New York now"]}, ["in old London town now"])
    batch = ts.batch()
    places = {"in New York now": (3, 11), "in old London town now": (3, 18)}
    spans = SpanTable.build([{"GPE": [places[text]]} for text in batch.texts], ["GPE"])
    bound = Ter().bind(ts)
    tokens = bound.masked(batch, MaskPlan.oracles(spans))[:, 0, 0]
    assert tokens.tolist() == [pytest.approx(20.0), pytest.approx(60.0)]
    whole = bound.masked(batch, MaskPlan.oracles(spans, granularity="span"))[:, 0, 0]
    assert whole.tolist() == [0.0, pytest.approx(100 / 3)]
