"""Draws of documents and segments: how often each is drawn, analyses, and who judges what."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import gnomon as gn
from gnomon.core.errors import DataError
from gnomon.data.formats import SampledSegment
from gnomon.human.sampling import (
    Design,
    DesignName,
    analysis_of_units,
    blocks_of,
    design_of,
    units_of,
)

#: documents of 1 to 4 segments
SIZES = (1, 3, 2, 4, 1, 2, 3, 1, 4, 2, 2, 3)
DOCUMENTS = [f"d{n}" for n, size in enumerate(SIZES) for _ in range(size)]
VALUES = np.arange(len(DOCUMENTS)) % 7 + 0.5
SEEDS = 3000


def toy() -> gn.TestSet:
    texts = [f"text {n}" for n in range(len(DOCUMENTS))]
    domains = ["news" if int(name[1:]) < 5 else "talk" for name in DOCUMENTS]
    return gn.TestSet(
        "toy", {"A": texts}, {"a": texts, "b": texts}, documents=DOCUMENTS, domains=domains
    )


def design(how: DesignName, count: int = 5) -> Design:
    return design_of(units_of(toy(), "document"), how, count, toy())


def shares(plan: Design) -> np.ndarray:
    """How often each unit is drawn, over seeds."""
    counts = np.zeros(len(plan.units))
    for seed in range(SEEDS):
        drawn = plan.draw(np.random.default_rng(seed))
        assert len(set(drawn.tolist())) == len(drawn)
        counts[drawn] += 1
    return counts / SEEDS


def test_a_random_draw_takes_each_set_of_units_equally_often() -> None:
    """Chi-square of all 66 pairs of 12 documents over fixed seeds."""
    plan = design("random", 2)
    assert set(plan.inclusion.tolist()) == {2 / 12}
    drawn = Counter(tuple(plan.draw(np.random.default_rng(seed)).tolist()) for seed in range(SEEDS))
    observed = [drawn[pair] for pair in combinations(range(12), 2)]
    assert sum(observed) == SEEDS
    assert stats.chisquare(observed).pvalue > 0.001


@pytest.mark.parametrize("how", ["random", "stratified"])
def test_each_unit_is_drawn_as_often_as_its_inclusion_probability_says(how: DesignName) -> None:
    plan = design(how)
    assert plan.inclusion.sum() == pytest.approx(5)
    errors = np.sqrt(plan.inclusion * (1 - plan.inclusion) / SEEDS)
    # 12 units, each within what 1 of 1000 sets of such shares leaves
    assert (abs(shares(plan) - plan.inclusion) <= 3.95 * errors + 1e-12).all()


@pytest.mark.parametrize("how", ["random", "stratified"])
def test_weighted_totals_are_unbiased(how: DesignName) -> None:
    plan = design(how)
    values = np.array([VALUES[list(unit.segments)].sum() for unit in plan.units])
    draws = [plan.draw(np.random.default_rng(seed)) for seed in range(SEEDS)]
    totals = np.array([(values[d] / plan.inclusion[d]).sum() for d in draws])
    error = totals.std() / np.sqrt(SEEDS)
    assert abs(totals.mean() - values.sum()) <= 4 * error + 1e-9


def test_a_horvitz_thompson_total_over_every_possible_draw_is_the_total() -> None:
    """All 792 draws of 5 of 12, each equally likely."""
    values = np.array([float(n * n) for n in range(12)])
    inclusion = design("random").inclusion
    totals = [
        (values[list(drawn)] / inclusion[list(drawn)]).sum() for drawn in combinations(range(12), 5)
    ]
    assert np.mean(totals) == pytest.approx(values.sum(), rel=1e-12)


def test_strata_are_domains() -> None:
    assert design("stratified").strata == ("news",) * 5 + ("talk",) * 7
    with pytest.raises(DataError, match="there are 2 strata, and 1 units"):
        design("stratified", 1)


def test_segments_are_units_of_their_own_and_documents_hold_all_of_theirs() -> None:
    assert [unit.segments for unit in units_of(toy(), "segment")] == [
        (n,) for n in range(len(DOCUMENTS))
    ]
    documents = units_of(toy(), "document")
    assert [len(unit.segments) for unit in documents] == list(SIZES)
    assert [unit.document for unit in documents] == [f"d{n}" for n in range(12)]


def test_analyses_hold_equally_many_documents_and_no_document_is_parted() -> None:
    segments = units_of(toy(), "segment")
    analysis = analysis_of_units(segments, 4, np.random.default_rng(1))
    parts: dict[int, set[str]] = {}
    for unit, which in zip(segments, analysis.tolist(), strict=True):
        parts.setdefault(which, set()).add(unit.document)
    assert {which: len(names) for which, names in parts.items()} == dict.fromkeys((1, 2, 3, 4), 3)
    assert sum(len(names) for names in parts.values()) == len(set(DOCUMENTS))


def rows(analyses: int = 1) -> list[SampledSegment]:
    analysis = analysis_of_units(units_of(toy(), "segment"), analyses, np.random.default_rng(2))
    return [
        SampledSegment(n, name, 0.5, analysis=int(k))
        for n, (name, k) in enumerate(zip(DOCUMENTS, analysis, strict=True))
    ]


@pytest.mark.parametrize("same_rater", [False, True])
@pytest.mark.parametrize("raters", [1, 2, 3, 5])
def test_every_output_is_judged_once_and_people_judge_about_equally_much(
    same_rater: bool, raters: int
) -> None:
    systems = ("a", "b", "c")
    rng = np.random.default_rng(3)
    blocks = blocks_of(rows(), systems, raters, same_rater=same_rater, rng=rng)
    outputs = Counter((s, n) for b in blocks for s in b.systems for n in b.segments)
    assert outputs == dict.fromkeys(((s, n) for s in systems for n in range(len(DOCUMENTS))), 1)
    loads = Counter(b.rater for b in blocks for _ in b.segments for _ in b.systems)
    largest = max(SIZES) * (len(systems) if same_rater else 1)
    assert len(loads) == raters
    assert max(loads.values()) - min(loads.values()) <= largest


def test_one_person_judges_all_systems_of_a_document_where_that_is_asked_for() -> None:
    rng = np.random.default_rng(4)
    together = blocks_of(rows(), ("a", "b", "c"), 4, same_rater=True, rng=rng)
    assert [len(block.systems) for block in together] == [3] * 12
    assert len({block.systems for block in together}) > 3  # shown in different orders
    apart = blocks_of(rows(), ("a", "b", "c"), 4, same_rater=False, rng=rng)
    pairs = Counter((block.document, block.rater) for block in apart)
    assert set(pairs.values()) == {1}  # nobody judges two outputs of a document
    systems: dict[int, set[str]] = {}
    for block in apart:
        systems.setdefault(block.rater, set()).update(block.systems)
    assert all(judged == {"a", "b", "c"} for judged in systems.values())


def test_people_judge_about_equally_much_at_every_look() -> None:
    rng = np.random.default_rng(5)
    blocks = blocks_of(rows(2), ("a", "b"), 2, same_rater=False, rng=rng)
    loads = Counter((b.analysis, b.rater) for b in blocks for _ in b.segments)
    for analysis in (1, 2):
        assert abs(loads[analysis, 0] - loads[analysis, 1]) <= max(SIZES)
    assert [block.analysis for block in blocks] == sorted(block.analysis for block in blocks)
