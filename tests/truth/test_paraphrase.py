"""How often gains of paraphrases and their adequacy call noise a finding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.methods.metaeval.contests import contest, scores
from tests.methods.metaeval.test_gain_verdict import with_paraphrases
from tests.noise import fewest_undecided, is_mostly_undecided

from gnomon.agreement import significance
from gnomon.agreement.gains import GainSubset, gain_row
from gnomon.agreement.measures import Measure
from gnomon.agreement.pairing import PairingRequest, pairings
from gnomon.core.findings import Finding
from gnomon.core.records import table
from gnomon.paraphrase.adequacy import AdequacyRow, adequacy_row, adequacy_verdict

SYSTEMS = ("a", "b", "c", "d")
DRAWS = [20, pytest.param(1000, marks=pytest.mark.verify)]


def findings(draws: int, *, by_document: bool) -> int:
    """In how many draws one of two equally good metrics is said to agree better over segments.

    People judge 25 documents of 6 segments; each of them, and each metric, likes or dislikes what a
    system made of a whole document.
    """
    of = np.arange(150) // 6
    found = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        worth = draw.normal(size=(4, 150))
        human, before, after = (
            worth + draw.normal(size=(4, 25))[:, of] + draw.normal(size=(4, 150)) for _ in range(3)
        )
        judged = replace(contest(human, SYSTEMS), documents=tuple(map(str, of)))
        metrics = [("before", scores(before, SYSTEMS)), ("after", scores(after, SYSTEMS))]
        (pairing,) = pairings([judged], metrics, PairingRequest(controls=False))
        how = significance.Testing(resamples=199, seed=seed)
        measure = Measure("pearson", "segment", "none")
        entries, drawn = pairing.entries, (None, None)
        row = gain_row(pairing, entries, measure, how, drawn, GainSubset(by_document))
        told = with_paraphrases(
            *(0.0, -0.1, 0.1, 0.5),
            by_segment=(row.gain, *row.intervals["gain"]),
            by_segment_p=row.p,
        )
        found += any(one.level == "finding" for one in told)
    return found


@pytest.mark.parametrize("draws", DRAWS)
def test_noise_of_documents_is_no_gain_over_segments(draws: int) -> None:
    assert is_mostly_undecided(draws - findings(draws, by_document=True), draws)


@pytest.mark.verify
def test_segments_drawn_alone_would_call_the_noise_of_documents_a_gain() -> None:
    assert 1000 - findings(1000, by_document=False) < fewest_undecided(1000)


@pytest.mark.parametrize("draws", DRAWS)
def test_noise_of_methods_is_no_difference_of_adequacy(draws: int) -> None:
    undecided = 0
    for seed in range(draws):
        values = np.random.default_rng(seed).lognormal(size=(2, 40))
        by_segment = [{i: [value] for i, value in enumerate(own)} for own in values.tolist()]
        rows = [
            adequacy_row(name, "chrf", own, 0.95, seed, shared=range(40))
            for name, own in zip("ab", by_segment, strict=True)
        ]
        made = table("adequacy", "Adequacy", AdequacyRow, rows)
        told = adequacy_verdict(Finding("paraphrase adequacy", "Adequacy", (made,), {}))
        undecided += all(one.level == "undecided" for one in told)
    assert is_mostly_undecided(undecided, draws)
