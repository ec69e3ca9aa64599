"""Difficulty of metrics that align words, compare words, count characters, or tell only a score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sacrebleu
from tests.methods.difficulty.sets import contest
from tests.told import notes

import gnomon as gn
from gnomon import difficulty
from gnomon.core.errors import DataError, ScoringError, UsageError
from gnomon.difficulty import Difficulty
from gnomon.difficulty.matched import f_of
from gnomon.difficulty.segment_hardness import difficulty_of_segments
from gnomon.metrics import bind
from gnomon.metrics.ter import match_words

if TYPE_CHECKING:
    from pathlib import Path

#: of "red cat sat": red is had by none but c, cat by a and c, sat by all
SYSTEMS = {"a": ["big cat sat"], "b": ["big dog sat"], "c": ["red cat sat"]}
REFERENCE = ["red cat sat"]
HARD = {"red": 2 / 3, "cat": 1 / 3, "sat": 0.0}


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists(SYSTEMS, REFERENCE, language_pair="de-en")


@pytest.fixture(scope="module")
def small() -> gn.TestSet:
    return contest(systems=5, segments=20)


def equal_words(candidate_tokens: list[str], reference_tokens: list[str]) -> list[list[float]]:
    return [[float(a == b) for b in reference_tokens] for a in candidate_tokens]


# Hand-computed


def test_rouge_l_takes_weighted_shares_of_the_subsequence(testset) -> None:
    found = gn.score(testset, "difficulty(rougeL)").segments[:, 0]
    # a: cat and sat of a weight of 1 in all; its "big" is lacking and weighs 1
    recall, precision = HARD["cat"], HARD["cat"] / (1 + HARD["cat"])
    assert found[0] == pytest.approx(2 * precision * recall / (precision + recall))
    assert found[1] == 0  # of what b has, all is easy
    assert found[2] == pytest.approx(1)


def test_ter_charges_words_missed_by_their_share_of_the_difficulty(testset) -> None:
    found = gn.score(testset, "difficulty(ter)")
    assert found.segments[:, 0] == pytest.approx([100 * HARD["red"], 100, 0])
    assert found.system == pytest.approx([100 * HARD["red"], 100, 0])
    assert not found.higher_is_better


def test_insertions_and_shifts_of_ter_count_as_they_do() -> None:
    systems = {"a": ["the sat cat here"], "b": ["the dog sat"]}
    testset = gn.TestSet.from_lists(systems, ["the cat sat"], language_pair="de-en")
    kept, edits = match_words(["the", "sat", "cat", "here"], ["the", "cat", "sat"])
    assert (sorted(kept), edits) == ([(0, 0), (1, 2), (2, 1)], 2)  # a shift, and an insertion
    found = gn.score(testset, "difficulty(ter)").segments[:, 0]
    assert found == pytest.approx([100 * 2 / 3, 100 * 1.0])  # b misses the only hard word


def test_meteor_keeps_its_penalty_and_weighs_its_mean(testset) -> None:
    pytest.importorskip("nltk", reason="pip install 'gnomon[rouge]'")
    spec = "difficulty(meteor)"
    try:
        found = gn.score(testset, spec).segments[:, 0]
    except gn.errors.MissingDependencyError:
        pytest.skip("needs WordNet")
    precision, recall = HARD["cat"] / (1 + HARD["cat"]), HARD["cat"]
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    assert found[0] == pytest.approx((1 - 0.5 * (1 / 2) ** 3) * mean)
    assert found[1] == 0


def test_a_function_of_words_is_matched_as_by_the_equations(testset) -> None:
    metric = gn.metric(equal_words, name="equal")
    plain = gn.score(testset, metric).segments[:, 0]
    assert plain == pytest.approx([2 / 3, 1 / 3, 1])
    found = gn.score(testset, Difficulty(metric))
    recall, precision = HARD["cat"] / 3, HARD["cat"] / 3
    assert found.segments[0, 0] == pytest.approx(2 * precision * recall / (precision + recall))
    assert found.segments[2, 0] == pytest.approx(1 / 3)
    assert "tok:13a" in str(found.signature)


def test_characters_are_the_units_of_chrf(testset) -> None:
    found = gn.score(testset, "difficulty(chrf(char_order=1))").segments[:, 0]
    # r, e, d are had by c and in part by others: b has d, none but c has r and e
    share = {"r": 2 / 3, "e": 2 / 3, "d": 1 / 3, "c": 1 / 3, "a": 0.0, "t": 0.0, "s": 0.0}
    own, wanted = "bigcatsat", "redcatsat"
    matched = share["c"]
    precision = matched / sum(share.get(c, 1.0) for c in own)
    recall = matched / sum(share[c] for c in wanted)
    assert found[0] == pytest.approx(100 * 5 * precision * recall / (4 * precision + recall))
    assert found[2] == pytest.approx(100)


def test_segments_weigh_by_the_rank_of_the_pools_mean() -> None:
    scores = np.array([[1.0, 3.0, 2.0, np.nan], [1.0, 5.0, 2.0, np.nan]])
    found = difficulty_of_segments(scores)
    assert found[:3].tolist() == pytest.approx([5 / 6, 1 / 6, 3 / 6])
    assert math.isnan(found[3])
    assert difficulty_of_segments(np.ones((2, 4))).tolist() == [0.5] * 4
    monotone = difficulty_of_segments(np.exp(3 * scores[:1]))
    assert monotone[:3].tolist() == found[:3].tolist()


@pytest.mark.parametrize("spec", ["bleu", "ter", "random", "chrf++"])
def test_corpus_scores_add_up_weighted_statistics(spec, small) -> None:
    _, bound = bind(small, f"difficulty({spec}, units='segments')")
    batch, weights = small.batch(), bound.weights(small.batch())  # type: ignore[attr-defined]  # of segments
    assert weights.mean() == pytest.approx(1)
    plain = bind(small, spec)[1]
    assert np.allclose(bound.segments(batch), weights * plain.segments(batch))
    if spec == "ter":
        edits = (weights[..., None] * plain.statistics(batch)).sum(axis=1)  # type: ignore[attr-defined]  # TER has them
        assert bound.system(batch) == pytest.approx(100 * edits[:, 0] / edits[:, 1])
    assert bound.higher_is_better is (spec != "ter")


# Laws


FROZEN = ("ter", "rougeL", "chrf", "bleu", "rouge2")


@pytest.mark.parametrize("spec", FROZEN)
def test_difficulties_of_a_file_score_as_those_of_the_pool(spec, small, tmp_path: Path) -> None:
    _, bound = bind(small, f"difficulty({spec})")
    file = tmp_path / "hard.npz"
    bound.save(file)  # type: ignore[attr-defined]  # difficulties are saved
    frozen = gn.score(small, f"difficulty({spec}, frozen='{file}')")
    assert frozen.system == pytest.approx(bound.system(small.batch()))


@pytest.mark.parametrize("spec", ["rougeL", "ter", "meteor"])
def test_plain_shares_give_the_plain_score(spec, small) -> None:
    """Alignments hold all that the metric makes its score of."""
    try:
        bound: Any = bind(small, spec)[1]
    except gn.errors.MissingDependencyError as error:
        pytest.skip(str(error))
    batch = small.batch()
    matches = bound.alignments(batch)
    bound.alignments(small.select(segments=[0]).batch())  # others in between change nothing
    weight = matches.tokens.weight
    sides = (matches.candidate, matches.reference)
    shares = [side.mean(side.best, weight[side.token]) for side in sides]
    shares = np.stack(shares, axis=-1)[matches.pair]
    statistics = bound.aligned_statistics(batch, matches, shares)
    assert np.allclose(bound.aligned_scores(statistics), bound.segments(batch))
    assert np.allclose(bound.aligned_scores(statistics.sum(axis=1)), bound.system(batch))


def test_alignments_of_ter_have_the_edits_of_sacrebleu(small) -> None:
    ter = sacrebleu.metrics.TER()
    references = [text or "" for text in next(iter(small.references.values()))]
    for texts in small.systems.values():
        for candidate, reference in zip(texts, references, strict=True):
            own, other = candidate.lower().split(), reference.lower().split()
            _, edits = match_words(own, other)
            expected = ter.sentence_score(candidate, [reference]).score / 100 * len(other)
            assert edits == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["ter", "rougeL", "chrf", "random", "bmx(bleu, p=1.0, w=0.5)"])
def test_every_metric_is_judged_with_and_without_weights(metric, small) -> None:
    assert len(difficulty.score(small, metric).rows) == 5
    base = f"difficulty({metric}, weighted=False)"
    both = [base, f"difficulty({metric})"]
    found = gn.metaeval(small, both, baseline=base, resamples=20, levels=["system"])
    for row in found.table("gains").rows:
        if row["gain"] is not None:
            assert row["gain"] == pytest.approx(row["value"] - row["base"])
            assert row["gain_low"] is None or row["gain_low"] <= row["gain_high"]


def test_an_error_rate_is_turned_before_people_judge_it(small) -> None:
    found = difficulty.score(small, "ter")
    best = found.rows[0]
    assert best["rank"] == 1
    assert best["score"] == min(row["score"] for row in found.rows)
    options = {"levels": ["system"], "statistics": ["pearson"], "resamples": 0}
    for row in gn.metaeval(small, ["ter", "difficulty(ter)"], **options).rows:
        assert row["value"] > 0.5


def test_words_are_shown_of_whatever_tells_them(small) -> None:
    for metric in ("ter", "chrf", equal_words):
        assert difficulty.words(small, metric).table("words").rows
    with pytest.raises(UsageError, match="weighs whole segments"):
        difficulty.words(small, "random")


def test_what_falls_back_to_segments_says_so(small) -> None:
    found = difficulty.score(small, "random")
    assert any("whole segments are weighed" in notice for notice in notes(found.notices))


def test_muler_masks_what_has_weighted_words(small) -> None:
    pattern = {"features": ["re:animal"], "pattern": {"animal": "cat|dog"}, "resamples": 0}
    for spec in ("difficulty(rougeL)", "difficulty(chrf, units='segments')"):
        assert gn.muler(small, spec, **pattern).rows


def too_high(candidate_tokens: list[str], reference_tokens: list[str]) -> list[list[float]]:
    return [[2.0] * len(reference_tokens)] * len(candidate_tokens)


def too_few(candidate_tokens: list[str], reference_tokens: list[str]) -> list[float]:
    return [float(len(candidate_tokens) == len(reference_tokens))]


@pytest.mark.parametrize(("function", "said"), [(too_high, "at most 1"), (too_few, "shape")])
def test_similarities_that_are_none_are_refused(function, said, testset) -> None:
    with pytest.raises(ScoringError, match=said):
        gn.score(testset, function)


def test_segments_that_were_not_bound_have_no_weight(small) -> None:
    _, bound = bind(small.select(segments=range(10)), "difficulty(bleu, units='segments')")
    with pytest.raises(DataError, match="no difficulties for segment 11"):
        bound.segments(small.batch())


# F of parts of different signs


def test_f_of_parts_of_different_signs_is_0_and_nowhere_leaps() -> None:
    grid = np.linspace(-1, 1, 41)
    p, r = np.meshgrid(grid, grid)
    for beta in (0.5, 1.0, 2.0):
        f = f_of(p, r, beta)
        assert (f[p * r <= 0] == 0).all()
        same = p * r > 0
        assert np.allclose(f[same], ((1 + beta**2) * p * r)[same] / (beta**2 * p + r)[same])
        assert (np.abs(f) <= np.maximum(np.abs(p), np.abs(r)) + 1e-12).all()
        for axis in (0, 1):  # never falls where a part rises
            assert (np.diff(f, axis=axis) >= -1e-12).all()
    assert f_of(np.array([0.034]), np.array([-0.034 + 1e-5]), 1.0).tolist() == [0]


def test_parts_of_different_signs_are_told_of_segments_and_systems() -> None:
    def alike(candidate_tokens: list[str], reference_tokens: list[str]) -> list[list[float]]:
        return [[1.0 if a == b else -0.2 for b in reference_tokens] for a in candidate_tokens]

    # d(a) = .6, d(b) = 1.2: padded has R = (.6 - .24) / 2 and P = (.6 - 5 * .2) / 6
    outputs = {"padded": ["a x x x x x"], "other": ["y"]}
    found = gn.difficulty(gn.TestSet.from_lists(outputs, ["a b"]), alike)
    assert [row["score"] for row in found if row["system"] == "padded"] == [0]
    assert any(
        "in 1 of 2 outputs of segments precision" in notice for notice in notes(found.notices)
    )
    assert any(notice.endswith("is therefore 0, of padded") for notice in notes(found.notices))
