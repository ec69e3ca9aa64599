"""BLEU and chrF against sacreBLEU: hostile texts by hypothesis, and real outputs."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from gnomon.core.testset import TestSet
from gnomon.metrics.bleu import Bleu
from gnomon.metrics.chrf import Chrf

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: beyond printable ASCII and the letters of Latin-1; entities; runs of spaces
UNUSUAL = re.compile("[^ -~À-ÖØ-öø-ÿ]|&[a-z]+;|<skipped>|  ")
SETS = (
    *("wmt17/cs-en", "wmt17/de-en", "wmt17/fi-en", "wmt18/cs-en", "wmt18/de-en", "wmt18/fi-en"),
    *("wmt19/de-en", "wmt19/en-de", "wmt19/kk-en", "wmt19/lt-en", "wmt21/en-de"),
)
TOLERANCE = 1e-9

#: few words, so that n-grams match; with what tokenisers trip on
WORDS = (
    *(
        "the",
        "cat",
        "The",
        "sat.",
        "sat",
        ",",
        "3,5",
        "-",
        "a-b",
        "&quot;",
        "&amp;lt;",
        "<skipped>",
    ),
    *(
        "é",
        "e\u0301",
        "İ",
        "ΣΑΣ",
        "漢字",
        "👩‍👩‍👧",
        "\ue000",
        "(hi)",
        "'s",
        "!",
        "&",
        "\u2028",
        "\u00a0x",
    ),
)
text = st.lists(st.sampled_from(WORDS), max_size=9).flatmap(
    lambda words: st.sampled_from([" ", "  ", "", "\u3000"]).map(lambda space: space.join(words))
)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[dict[str, list[str]], list[list[str | None]]]:
    """Outputs of systems, and references per segment: several, ragged, empty."""
    segments = draw(st.integers(1, 4))
    width = draw(st.integers(1, 3))
    systems = {
        f"s{k}": [draw(text) for _ in range(segments)] for k in range(draw(st.integers(1, 2)))
    }
    rows: list[list[str | None]] = []
    for _ in range(segments):
        row = [draw(st.none() | text) for _ in range(width - 1)]
        row.insert(draw(st.integers(0, width - 1)), draw(text))
        rows.append(row)
    return systems, rows


def compare(metric: Any, segment: Any, corpus: Any, testset: TestSet) -> float:
    """The largest difference over all systems and segments; signatures must agree."""
    bound = metric.bind(testset)
    batch = testset.batch()
    found, systems = bound.segments(batch), bound.system(batch)
    columns = [list(column) for column in testset.references.values()]
    worst = 0.0
    for k, texts in enumerate(testset.systems.values()):
        whole = corpus.corpus_score(list(texts), columns)
        assert bound.native_signatures(batch)["sacrebleu"] == str(corpus.get_signature())
        worst = max(worst, abs(whole.score - systems[k]))
        for i, candidate in enumerate(texts):
            references = [column[i] for column in columns if column[i] is not None]
            expected = segment.sentence_score(candidate, references).score
            worst = max(worst, abs(expected - found[k, i]))
    return worst


@given(
    corpus=corpora(),
    options=st.fixed_dictionaries(
        {},
        optional={
            "lowercase": st.booleans(),
            "tokenize": st.sampled_from(["13a", "intl", "zh", "char", "none"]),
            "max_ngram_order": st.integers(1, 6),
            "smooth_method": st.sampled_from(["exp", "floor", "add-k", "none"]),
            "smooth_value": st.sampled_from([None, 0.5, 2.0, 0.0]),
        },
    ),
    effective=st.sampled_from([None, True, False]),
)
def test_bleu_equals_sacrebleu(
    corpus: tuple[dict[str, list[str]], list[list[str | None]]],
    options: dict[str, Any],
    effective: bool | None,
) -> None:
    testset = TestSet.from_lists(*corpus)
    options = {"tokenize": "13a", **options}  # the texts may be in any script
    metric = Bleu(effective_order=effective, **options)
    segment = BLEU(effective_order=effective is not False, **options)
    whole = BLEU(effective_order=effective is True, **options)
    assert compare(metric, segment, whole, testset) < TOLERANCE


@given(
    corpus=corpora(),
    options=st.fixed_dictionaries(
        {},
        optional={
            "char_order": st.integers(1, 7),
            "word_order": st.integers(0, 3),
            "beta": st.integers(1, 3),
            "lowercase": st.booleans(),
            "whitespace": st.booleans(),
            "eps_smoothing": st.booleans(),
        },
    ),
)
def test_chrf_equals_sacrebleu(
    corpus: tuple[dict[str, list[str]], list[list[str | None]]], options: dict[str, Any]
) -> None:
    testset = TestSet.from_lists(*corpus)
    peer = CHRF(**options)
    assert compare(Chrf(**options), peer, peer, testset) < TOLERANCE


@given(corpus=corpora(), chosen=st.lists(st.integers(0, 3), max_size=6))
def test_summed_statistics_of_any_resample_give_its_corpus_score(
    corpus: tuple[dict[str, list[str]], list[list[str | None]]], chosen: list[int]
) -> None:
    systems, rows = corpus
    testset = TestSet.from_lists(systems, rows)
    sample = [i for i in chosen if i < len(rows)] or [0]
    columns = [[row[i] for row in rows] for i in range(len(rows[0]))]
    picked = [[column[i] for i in sample] for column in columns]
    for metric, peer in ((Bleu(tokenize="13a"), BLEU()), (Chrf(word_order=2), CHRF(word_order=2))):
        bound = metric.bind(testset)
        statistics = bound.statistics(testset.batch())
        found = bound.aggregate(statistics[:, sample].sum(axis=1))
        for k, texts in enumerate(systems.values()):
            expected = peer.corpus_score([texts[i] for i in sample], picked).score
            assert found[k] == pytest.approx(expected, abs=TOLERANCE)


def test_thousands_of_distinct_characters_in_a_reference_are_counted() -> None:
    many = "".join(map(chr, range(0x4E00, 0x4E00 + 5000)))
    testset = TestSet.from_lists({"a": [many[:4000] + many[3000:]]}, [many])
    assert compare(Chrf(), CHRF(), CHRF(), testset) < TOLERANCE
    peer = BLEU(effective_order=True, tokenize="char")
    assert compare(Bleu(tokenize="char"), peer, BLEU(tokenize="char"), testset) < TOLERANCE


def test_a_line_of_ten_thousand_words_is_scored() -> None:
    words = [f"w{i % 997}" for i in range(10_000)]
    testset = TestSet.from_lists({"a": [" ".join(words[5:]), "x y"]}, [" ".join(words), "x z"])
    assert compare(Bleu(), BLEU(effective_order=True), BLEU(), testset) < TOLERANCE
    assert compare(Chrf(), CHRF(), CHRF(), testset) < TOLERANCE


def part(testset: TestSet, systems: list[str], segments: list[int]) -> TestSet:
    references = [[column[i] for column in testset.references.values()] for i in segments]
    outputs = {name: [testset.systems[name][i] for i in segments] for name in systems}
    return TestSet.from_lists(outputs, references, language_pair=testset.language_pair)


def largest_difference(testset: TestSet) -> float:
    options: tuple[dict[str, Any], ...] = ({}, {"word_order": 2})
    found = [compare(Bleu(), BLEU(effective_order=True), BLEU(), testset)]
    found += [compare(Chrf(**o), CHRF(**o), CHRF(**o), testset) for o in options]
    return max(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_a_sample_of_real_outputs_scores_as_in_sacrebleu(name: str, shared: Path) -> None:
    testset = TestSet.read(shared / "data" / name)
    chance = np.random.default_rng(list(name.encode()))
    systems = sorted(chance.choice(list(testset.systems), 2, replace=False).tolist())
    segments = sorted(chance.choice(testset.segments, 25, replace=False).tolist())
    assert largest_difference(part(testset, systems, segments)) < TOLERANCE


def unusual(testset: TestSet) -> Iterator[tuple[int, int]]:
    """Systems and segments with an unusual character in a reference or the output, texts once."""
    seen = set()
    for i in range(testset.segments):
        references = tuple(column[i] for column in testset.references.values())
        strange = any(UNUSUAL.search(reference or "") for reference in references)
        for k, texts in enumerate(testset.systems.values()):
            if (strange or UNUSUAL.search(texts[i])) and (texts[i], references) not in seen:
                seen.add((texts[i], references))
                yield k, i


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_a_sample_of_unusual_real_segments_scores_as_in_sacrebleu(name: str, shared: Path) -> None:
    testset = TestSet.read(shared / "data" / name)
    texts = list(testset.systems.values())
    columns = list(testset.references.values())
    every = list(unusual(testset))
    assert len(every) > 500
    chosen = random.Random(name).sample(every, 40)
    references = [[column[i] for column in columns] for _, i in chosen]
    part = TestSet.from_lists({"s": [texts[k][i] for k, i in chosen]}, references)
    assert largest_difference(part) < TOLERANCE


@pytest.mark.verify
@pytest.mark.parametrize("name", SETS)
def test_all_real_outputs_score_as_in_sacrebleu(name: str, shared: Path) -> None:
    testset = TestSet.read(shared / "data" / name)
    worst = largest_difference(testset)
    print(f"{name}: largest difference from sacreBLEU {worst:.3g}")  # noqa: T201  # asked for in reports
    assert worst < TOLERANCE


def test_nothing_is_rounded() -> None:
    testset = TestSet.from_lists({"a": ["a b c d e f x"]}, ["a b c d e f g"])
    score = float(Bleu().bind(testset).system(testset.batch())[0])
    assert score == pytest.approx(100 * (6 / 7 * 5 / 6 * 4 / 5 * 3 / 4) ** 0.25, abs=1e-12)
    assert score != round(score, 6)
    assert np.isfinite(score)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lowercase": True, "smooth_method": "floor"},
        {"smooth_method": "add-k", "smooth_value": 0.25, "effective_order": True},
        {"tokenize": "none", "smooth_method": "none"},
    ],
)
@pytest.mark.parametrize("references", [1, 2])
def test_the_signature_of_bleu_is_what_sacrebleu_prints(
    options: dict[str, Any], references: int
) -> None:
    testset = TestSet.from_lists({"a": ["the cat"]}, [["the cat sat"] * references])
    bound = Bleu(**options).bind(testset)
    metric = BLEU(**options)
    metric.corpus_score(["the cat"], [["the cat sat"]] * references)
    assert bound.native_signatures(testset.batch())["sacrebleu"] == str(metric.get_signature())


@pytest.mark.parametrize(
    "options", [{}, {"lowercase": True, "word_order": 2}, {"eps_smoothing": True, "char_order": 4}]
)
def test_the_signature_of_chrf_is_what_sacrebleu_prints(options: dict[str, Any]) -> None:
    testset = TestSet.from_lists({"a": ["the cat"]}, ["the cat sat"])
    metric = CHRF(**options)
    metric.corpus_score(["the cat"], [["the cat sat"]])
    found = Chrf(**options).bind(testset).native_signatures(testset.batch())
    assert found["sacrebleu"] == str(metric.get_signature())
