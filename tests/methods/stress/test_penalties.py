"""Penalties for errors beside those for harmless changes, and intervals over documents."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from gnomon.core.minimal_pairs import Pair, PairKind
from gnomon.stress.detection import stress_pairs
from gnomon.stress.figures import StressOverallRow, StressRow
from gnomon.stress.outcomes import (
    Outcomes,
    PairGroups,
    mean_interval,
    share_interval,
)
from gnomon.stress.penalties import compare_penalties, harmless


def given(
    drop: float, sentence: int, kind: PairKind = "error", severity: str = ""
) -> tuple[Pair, float]:
    text = f"sentence {sentence}"
    changed = Pair(
        good=text,
        bad=f"{text} {kind} {drop}",
        phenomenon=kind,
        references=("reference",),
        kind=kind,
        severity=severity,
    )
    return changed, drop


def outcomes_of(cases: Sequence[tuple[Pair, float]]) -> tuple[Outcomes, PairGroups]:
    drops = np.array([drop for _, drop in cases])
    outcome = Outcomes(np.zeros(len(drops)), -drops, 1e-6)
    return outcome, PairGroups.from_pairs([pair for pair, _ in cases])


def test_penalties_by_hand() -> None:
    """Two errors beside two harmless changes, one error beside one, and one beside none."""
    outcome, groups = outcomes_of(
        [given(3, 1), given(1, 1), given(2, 1, "harmless"), given(1, 1, "harmless"),
         given(0, 2), given(5, 2, "harmless"), given(9, 3)]
    )  # fmt: skip
    comparisons = compare_penalties(outcome, groups, harmless(groups))
    assert comparisons.wins.tolist()[:2] == [2, 0.5]
    assert comparisons.made.tolist() == [2, 2, 2, 2, 1, 1, 0]
    shares, _ = comparisons.share_by_sentence(groups, [0, 1, 4, 6])
    assert shares.tolist() == [2.5 / 4, 0]


def test_penalties_are_those_of_all_comparisons_one_by_one() -> None:
    draw = np.random.default_rng(5)
    kinds: list[PairKind] = ["error", "harmless"]
    cases = [
        given(float(draw.integers(4)), int(draw.integers(30)), kinds[int(draw.integers(2))])
        for _ in range(300)
    ]
    outcome, groups = outcomes_of(cases)
    by_sentence: dict[str, list[float]] = {}
    for (error, drop), (other, harmless_drop) in itertools.product(cases, cases):
        kinds_differ = (error.kind, other.kind) == ("error", "harmless")
        if kinds_differ and error.good == other.good:
            win = (drop > harmless_drop) + 0.5 * (drop == harmless_drop)
            by_sentence.setdefault(error.good, []).append(win)
    expected = np.mean([np.mean(wins) for wins in by_sentence.values()])
    errors = np.flatnonzero(groups.is_of_kind("error"))
    comparisons = compare_penalties(outcome, groups, harmless(groups))
    found = comparisons.interval(groups, errors, level=0.95)
    assert found.estimate == pytest.approx(expected)


def test_a_change_into_the_reference_or_of_nothing_is_no_harmless_change() -> None:
    texts = {"good": "a", "phenomenon": "wording", "references": ("r",)}
    pairs = [Pair(**texts, bad=bad, kind="harmless") for bad in ("r", "a", "b")]  # type: ignore[arg-type]  # texts
    assert harmless(PairGroups.from_pairs(pairs)).tolist() == [False, False, True]


def test_pairs_of_one_sentence_are_found_by_origin_or_by_the_good_text() -> None:
    pairs = [
        Pair(bad="x", phenomenon="p", good="a"),
        Pair(bad="x", phenomenon="q", good="a"),
        Pair(bad="x", phenomenon="p", good="a", origin="1"),
        Pair(bad="x", phenomenon="p", good="b", origin="1"),
        Pair(bad="x", phenomenon="p", good="b", origin="1", document="d"),
        Pair(bad="x", phenomenon="p", good="c", document="d"),
    ]
    groups = PairGroups.from_pairs(pairs)
    assert groups.sentences.tolist() == [0, 0, 1, 1, 2, 3]
    assert groups.clusters.tolist() == [0, 0, 1, 1, 2, 2]


def test_a_phenomenon_of_two_kinds_has_two_names() -> None:
    pairs = [
        Pair(good="a", bad="b", phenomenon="number", kind="crossed"),
        Pair(good="a", bad="b", phenomenon="number"),
        Pair(good="a", bad="b", phenomenon="quotes", kind="harmless"),
    ]
    assert PairGroups.from_pairs(pairs).names == ["number, crossed", "number", "quotes"]


def test_the_table_has_penalties_and_the_means_of_metrics() -> None:
    def metric(candidate: str, _reference: str) -> float:
        return -1.0 if "bad" in candidate else -0.5 if "odd" in candidate else 0.0

    pairs = [
        Pair(good=f"s{n}", bad=f"s{n} {word}", phenomenon=word, references=("r",), kind=kind,
             severity=severity)
        for n in range(40)
        for word, kind, severity in (
            ("bad", "error", "critical"), ("odd", "harmless", ""), ("so", "harmless", ""),
            ("so odd", "error", "minor"),
        )
    ]  # fmt: skip
    finding = stress_pairs(pairs, metric)
    rows = {row.phenomenon: row for row in finding.records(StressRow) if row.metric == "metric"}
    assert rows["bad"].penalised_more == 1
    assert rows["so odd"].penalised_more == 0.75
    assert (rows["odd"].penalised_more, rows["odd"].status) == (None, "")
    overall = finding.records(StressOverallRow)[0]
    assert overall.critical_penalised_more == 1
    assert overall.harmless_lowered == 0.5
    few = stress_pairs(pairs[: 4 * 19], metric).records(StressRow)
    assert {row.penalised_more for row in few} == {None}  # twenty sentences at least


# Intervals over documents.


def clustered(
    draw: np.random.Generator, documents: int, share: float, alike: float
) -> tuple[np.ndarray[tuple[int], np.dtype[np.bool_]], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Successes whose share differs from document to document, and their documents."""
    sizes = draw.integers(3, 18, documents)
    spread = 1 / alike - 1
    of_document = draw.beta(share * spread, (1 - share) * spread, documents)
    which = np.repeat(np.arange(documents), sizes)
    return draw.random(len(which)) < of_document[which], which


def coverage(runs: int, documents: int, share: float, alike: float) -> float:
    draw = np.random.default_rng(documents)
    hits = 0
    for _ in range(runs):
        _, low, high = share_interval(*clustered(draw, documents, share, alike), level=0.95)
        hits += low <= share <= high
    return hits / runs


@pytest.mark.parametrize(("documents", "share"), [(15, 0.8), (40, 0.5), (40, 0.9)])
def test_intervals_over_documents_cover(documents: int, share: float) -> None:
    assert 0.93 - 0.02 <= coverage(400, documents, share, 0.1) <= 0.97 + 0.02


@pytest.mark.verify
@pytest.mark.parametrize("documents", [15, 30, 100])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("alike", [0.02, 0.05, 0.1])
def test_intervals_over_documents_cover_93_to_97_of_100(
    documents: int, share: float, alike: float
) -> None:
    assert 0.925 <= coverage(4000, documents, share, alike) <= 0.975


def test_wilsons_interval_would_not_cover_documents() -> None:
    """What one person wrote at one time is no more evidence for being counted by sentence."""
    draw = np.random.default_rng(2)
    hits = 0
    for _ in range(300):
        seen, _which = clustered(draw, 40, 0.8, 0.2)
        _, low, high = share_interval(seen, np.arange(len(seen)), level=0.95)
        hits += low <= 0.8 <= high
    assert hits / 300 < 0.88


def test_fewer_than_fifteen_documents_have_no_interval() -> None:
    share, low, high = share_interval(np.arange(60) % 2 > 0, np.arange(60) % 14, level=0.95)
    assert (share, np.isnan(low), np.isnan(high)) == (0.5, True, True)
    mean, low, high = mean_interval(np.ones(60), np.arange(60) % 14, level=0.95)
    assert (mean, np.isnan(low), np.isnan(high)) == (1, True, True)
    pairs = [
        Pair(good=f"a{n}", bad="b", phenomenon="p", references=("r",), document=f"d{n % 14}")
        for n in range(60)
    ]
    assert stress_pairs(pairs, lambda text, _: float("a" in text)).records(StressRow)[0].status == (
        "few"
    )


@pytest.mark.parametrize("size", [1, 4])
def test_means_over_documents_cover(size: int) -> None:
    """Shares of comparisons, which are alike within documents."""
    draw = np.random.default_rng(size)
    hits = 0
    for _ in range(400):
        which = np.repeat(np.arange(40), size)
        values = np.clip(draw.normal(0.5, 0.1, 40)[which] + draw.normal(0, 0.2, 40 * size), 0, 1)
        _, low, high = mean_interval(values, which, level=0.95)
        hits += low <= 0.5 <= high
    assert 0.91 <= hits / 400 <= 0.985
