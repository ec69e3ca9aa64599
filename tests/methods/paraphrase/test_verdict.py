"""What is said of paraphrases, on rows whose truth is known: gains, artefacts, noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.noise import is_mostly_undecided

from gnomon import stats
from gnomon.core.findings import Finding
from gnomon.core.records import table
from gnomon.methods.paraphrase.gains._gain import GainRow, SegmentGainRow
from gnomon.methods.paraphrase.gains._verdict import gain_verdict

if TYPE_CHECKING:
    from gnomon.core.findings import Statement


def gained(
    gain: float,
    low: float,
    high: float,
    p: float,
    *,
    systems: int = 12,
    segments: int = 200,
    by_segment: tuple[float, float, float] | None = None,
    by_segment_p: float = 0.001,
) -> list[Statement]:
    """What is said of these gains of 2 and of 1 paraphrases; that of 1 is always clear."""
    nothing = dict.fromkeys(("base_score", "score", "diversity", "syntactic", "change", "adequacy"))
    head = {
        **dict.fromkeys(("p_segments", "alternative", "test", "human")),
        "test_set": "made up",
        "metric": "bleu",
        "method": "human",
        "arm": "",
        "grouping": "none",
        "subset": "all",
    }
    of_systems = {"level": "system", "statistic": "pearson", "n": systems, "unit": "systems"}
    shared = {
        **nothing,
        **head,
        **of_systems,
        **dict.fromkeys(("repaired", "broken", "pairs"), 0),
        "interval": "segments",
        "drawn": segments,
        "segments": segments,
        "without": 0,
        "outputs": 0.0,
        "edits": False,
        "wordings": 1.0,
        "base": 0.8,
    }
    clear, ends = {"gain": (0.09, 0.11)}, {"gain": (low, high)}
    rows = [
        GainRow(**shared, paraphrases=1, value=0.9, gain=0.1, p=1e-9, intervals=clear),
        GainRow(**shared, paraphrases=2, value=0.8 + gain, gain=gain, p=p, intervals=ends),
    ]
    tables = [table("gain", "Gain", GainRow, rows, confidence=0.95)]
    if by_segment:
        own = SegmentGainRow(
            **head,
            paraphrases=2,
            level="segment",
            statistic="darr",
            base=0.2,
            value=0.2 + by_segment[0],
            gain=by_segment[0],
            p=by_segment_p,
            n=900,
            unit="pairs",
            interval="documents",
            drawn=20,
            intervals={"gain": by_segment[1:]},
        )
        tables.append(table("segments", "Segments", SegmentGainRow, [own], confidence=0.95))
    return list(gain_verdict(Finding("paraphrase gain", "Gain", tuple(tables), {})))


def test_a_gain_is_said_with_its_interval_and_both_figures() -> None:
    (found,) = gained(0.05, 0.02, 0.08, 0.001)
    assert found.level == "better"
    assert found.text == (
        "With 2 paraphrases of each reference (human) BLEU agrees better with people, by .050"
        " [.020, .080] (r = .850 against .800 over 12 systems, p = .002)."
    )
    assert found.rows == {"gain": (1,)}


def test_a_loss_is_said_as_such() -> None:
    (found,) = gained(-0.05, -0.08, -0.02, 0.999)
    assert found.level == "worse"
    assert "agrees worse with people, by .050 [.020, .080]" in found.text


def test_a_gain_that_only_the_interval_or_only_the_test_sees_is_undecided() -> None:
    assert [one.level for one in gained(0.05, 0.02, 0.08, 0.2)] == ["undecided"]
    assert [one.level for one in gained(0.05, -0.02, 0.12, 0.001)] == ["undecided"]


@pytest.mark.parametrize("few", [{"systems": 4}, {"segments": 20}])
def test_few_systems_or_segments_are_a_caution_and_no_finding(few: dict[str, int]) -> None:
    found = gained(0.05, 0.02, 0.08, 0.001, **few)
    assert [one.level for one in found] == ["caution"]


def test_segments_are_said_beside_systems() -> None:
    found = gained(0.01, -0.02, 0.04, 0.2, by_segment=(0.05, 0.03, 0.07))
    assert [one.level for one in found] == ["undecided", "better"]
    assert found[1].text.endswith(
        "by .050 [.030, .070] (DaRR, 900 ranked pairs in 20 documents, p = .001)."
    )


def undecided(seeds: range) -> int:
    """Of draws in which two metrics, without and with paraphrases, are equally good."""
    found = 0
    for seed in seeds:
        draw = np.random.default_rng(seed)
        people = draw.normal(size=12)
        before, after = people + 0.5 * draw.normal(size=(2, 12))
        r = [stats.pearson(people, one) for one in (after, before)]
        p = stats.williams(people, after, before, alternative="greater").p
        gain = r[0] - r[1]
        found += all(one.level == "undecided" for one in gained(gain, gain - 1e-3, gain + 1e-3, p))
    return found


@pytest.mark.parametrize("draws", [100, pytest.param(2000, marks=pytest.mark.verify)])
def test_noise_is_decided_no_more_often_than_alpha(draws: int) -> None:
    # by Williams's test alone: intervals here hide nothing
    assert is_mostly_undecided(undecided(range(draws)), draws)
