"""METEOR 1.5: scores worked out by hand, and its alignment against all possible ones."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon.core.errors import MissingFileError, SpecError
from gnomon.metrics import parse
from gnomon.metrics.meteor import WordMatch, best_alignment, frequent_words, published_parameters

pytest.importorskip("nltk", reason="needs nltk: pip install 'gnomon[rouge]'")

_PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_SENSES = {"noun": [["cat", "feline"], ["house", "home"]], "verb": [["run", "race"]]}


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A WordNet of three senses, written as wndb(5WN) describes the files."""
    folder = tmp_path_factory.mktemp("wordnet")
    for part, letter in _PARTS.items():
        data, lines = "  1 a licence\n", []
        for names in _SENSES.get(part, []):
            words = " ".join(f"{name} 0" for name in names)
            lines += [f"{name} {letter} 1 0 1 0 {len(data):08d}" for name in names]
            data += f"{len(data):08d} 03 {letter} {len(names):02x} {words} 000 | gloss  \n"
        (folder / f"data.{part}").write_text(data)
        (folder / f"index.{part}").write_text("\n".join(["  1 a licence", *sorted(lines), ""]))
    return str(folder)


def scores(
    candidates: list[str], references: list[str] | list[list[str]], wordnet: str, **options: object
) -> gn.Scores:
    testset = gn.TestSet.from_lists({"s": candidates}, references, language_pair="de-en")
    given = "".join(f", {key}={value!r}" for key, value in options.items())
    return gn.score(testset, f"meteor(variant='1.5', wordnet={wordnet!r}{given})")


def score(candidate: str, reference: str, wordnet: str, **options: object) -> float:
    return float(scores([candidate], [reference], wordnet, **options).segments[0, 0])


def test_equal_texts_score_1(wordnet: str) -> None:
    texts = ["the cat sat .", "a house"]
    found = scores(texts, texts, wordnet)
    assert found.segments.tolist() == [[1.0, 1.0]]
    assert found.system.tolist() == [1.0]


def test_disorder_costs_by_the_number_of_chunks(wordnet: str) -> None:
    # P = R = 1; "on the mat", "sat", "the cat" are 3 chunks of 6 matches
    found = score("on the mat sat the cat", "the cat sat on the mat", wordnet)
    assert found == pytest.approx(1 - 0.6 * (3 / 6) ** 0.20, abs=1e-12)


def test_stems_count_60_percent_and_synonyms_80(wordnet: str) -> None:
    # feline = cat by a sense, running = runs by their stem; one chunk that covers all: no penalty
    assert score("feline running", "cat runs", wordnet) == pytest.approx((0.8 + 0.6) / 2)
    # cats has the stem of cat; it is its base form, too, but the stem comes first
    assert score("cats", "cat", wordnet) == pytest.approx(0.6)
    # homes is no stem of house; its base form shares a sense with it
    assert score("homes", "house", wordnet) == pytest.approx(0.8)


def test_precision_and_recall_are_weighted_by_alpha(wordnet: str) -> None:
    # 2 of 3 words, 2 of 4 words, one chunk
    p, r = 2 / 3, 2 / 4
    mean = p * r / (0.85 * p + 0.15 * r)
    found = score("x cat house", "cat house y z", wordnet)
    assert found == pytest.approx((1 - 0.6 * (1 / 2) ** 0.20) * mean, abs=1e-12)


def test_function_words_count_less(wordnet: str, tmp_path: Path) -> None:
    words = tmp_path / "en.words"
    words.write_text("The\na\n", encoding="utf-8")
    # "the" weighs .25, others .75: all of 1.0 in the candidate, 1.0 of 1.75 in the reference
    p, r = 1.0, 1.0 / 1.75
    mean = p * r / (0.85 * p + 0.15 * r)
    found = score("the cat", "the dog cat", wordnet, function_words=str(words))
    assert found == pytest.approx((1 - 0.6 * (2 / 2) ** 0.20) * mean, abs=1e-12)


def test_frequent_words_of_the_references_are_function_words(wordnet: str) -> None:
    assert frequent_words([["of", "x"]] * 9).words == frozenset()
    found = frequent_words([["of"]] * 12 + [[f"w{i}" for i in range(11_000)]])
    assert found.words == {"of"}
    assert frequent_words([["of"]] * 11 + [[f"w{i}" for i in range(11_000)]]).words == frozenset()


def test_the_system_score_is_that_of_all_segments_taken_as_one(wordnet: str) -> None:
    found = scores(["cat x", "y house home2"], ["cat", "house home2 z w"], wordnet)
    # sums: 1 of 2 and 2 of 3 words; 1 of 1 and 2 of 4; chunks 1 + 1 over 3 matches
    p, r = 3 / 5, 3 / 5
    mean = p * r / (0.85 * p + 0.15 * r)
    assert found.system[0] == pytest.approx((1 - 0.6 * (2 / 3) ** 0.20) * mean, abs=1e-12)
    assert found.system[0] != pytest.approx(found.segments.mean())
    assert found.statistics is not None
    assert found.aggregate is not None
    np.testing.assert_allclose(found.aggregate(found.statistics), found.segments, rtol=1e-12)


def test_the_best_reference_counts(wordnet: str) -> None:
    several = scores(["cat house"], [["dog", "cat house", "cat"]], wordnet)
    assert several.segments.tolist() == [[1.0]]
    assert several.system.tolist() == [1.0]


@pytest.mark.parametrize(("candidate", "reference"), [("", "cat"), ("cat", ""), ("x", "cat")])
def test_nothing_in_common_scores_0(candidate: str, reference: str, wordnet: str) -> None:
    assert score(candidate, reference, wordnet) == 0.0


def test_a_segment_without_a_reference_has_no_score(wordnet: str) -> None:
    found = scores(["cat", "house"], [["cat"], []], wordnet)
    assert np.isnan(found.segments).tolist() == [[False, True]]
    assert found.system.tolist() == [1.0]
    assert found.statistics is not None
    assert found.aggregate is not None
    assert np.isnan(found.aggregate(found.statistics[:, 1]))


def test_the_signature_says_what_is_there_and_that_paraphrases_are_not(wordnet: str) -> None:
    signature = str(scores(["cat"], ["cat"], wordnet).signature)
    assert "|variant:1.5|params:rank-en|tok:13a|stem:snowball-english|" in signature
    assert "|paraphrases:none|function:references#0-" in signature


@pytest.mark.parametrize(
    ("pair", "params", "stem"),
    [
        ("en-de", "rank-de", "snowball-german"),
        ("en-cs", "rank-cs", "none"),
        ("en-fi", "language-independent", "snowball-finnish"),
        ("en-lt", "language-independent", "none"),
    ],
)
def test_other_languages_have_their_own_parameters(pair: str, params: str, stem: str) -> None:
    testset = gn.TestSet.from_lists({"s": ["a b"]}, ["a b"], language_pair=pair)
    found = gn.score(testset, "meteor(variant='1.5')")
    assert found.segments.tolist() == [[1.0]]
    assert f"|params:{params}|tok:13a|stem:{stem}|wordnet:none|" in str(found.signature)


def test_parameters_can_be_given(wordnet: str) -> None:
    # gamma 0: no penalty; alpha .5: the harmonic mean of 1/2 and 1
    assert score("cat x", "cat", wordnet, gamma=0.0, alpha=0.5) == pytest.approx(2 / 3)
    assert published_parameters("en")[1:] == (0.85, 0.20, 0.60, 0.75, 0.6, 0.8)


@pytest.mark.parametrize("option", ["delta=0.5", "function_words='x'"])
def test_options_of_the_variant_alone_are_refused_elsewhere(option: str) -> None:
    with pytest.raises(SpecError, match=r"belongs to variant='1\.5'"):
        parse(f"meteor({option})")


def test_a_missing_list_of_function_words_is_an_error(wordnet: str, tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="there is no file"):
        score("a", "a", wordnet, function_words=str(tmp_path / "none"))


def _value(chosen: tuple[WordMatch, ...]) -> tuple[float, int, int]:
    """What is to be minimal: lost weight, chunks, distance."""
    weight = sum({"exact": 1.0, "stem": 0.5}[m.stage] for m in chosen)
    runs = sum((a[0] + 1, a[1] + 1) != b[:2] for a, b in pairwise(chosen)) + bool(chosen)
    return -weight, runs, sum(abs(m.candidate - m.reference) for m in chosen)


def _possible(matches: list[WordMatch]) -> list[tuple[WordMatch, ...]]:
    sets = (c for size in range(len(matches) + 1) for c in combinations(matches, size))
    return [
        c for c in sets if len({m.candidate for m in c}) == len(c) == len({m.reference for m in c})
    ]


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(["exact", "stem"])),
        max_size=9,
        unique_by=lambda m: m[:2],
    )
)
def test_no_alignment_is_better_than_the_chosen_one(raw: list[tuple[int, int, str]]) -> None:
    matches = sorted(WordMatch(*m) for m in raw)
    chosen = tuple(best_alignment(matches, {"exact": 1.0, "stem": 0.5}))
    possible = _possible(matches)
    assert chosen in possible
    assert _value(chosen) == min(map(_value, possible))
