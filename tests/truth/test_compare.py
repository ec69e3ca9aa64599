"""What `compare` says of noise, of holes and of people's scores: counts, levels, sentences."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scripts.compare_levels import DISTRIBUTIONS, counts
from scripts.family_levels import EQUAL, HALF, NOISE, SPREAD, How, family_levels
from tests.noise import is_mostly_undecided
from tests.truth.worlds import outputs, planted
from tests.truth.worlds_compare import judged, names_of, scored

import gnomon as gn
from gnomon.core.human import HumanScores

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.core.findings import Finding

_DRAWS = [20, pytest.param(1000, marks=pytest.mark.verify)]
_BARE = {"resamples": 199, "examples": 0, "ngrams": 0}


def _by_coins(seed: int) -> gn.TestSet:
    """Outputs of two systems, exchanged by a coin per segment: they differ by chance alone."""
    draw = random.Random(seed)
    pairs = zip(outputs(), outputs("apertium-french"), strict=True)
    mixed = [pair[:: draw.choice((1, -1))] for pair in pairs]
    return planted({"A": [one for one, _ in mixed], "B": [two for _, two in mixed]})


def _is_found(found: Finding) -> bool:
    claims = {"compare.better", "compare.worse"}
    return any(one.code in claims for one in found.verdict)


@pytest.mark.parametrize("draws", _DRAWS)
@pytest.mark.parametrize(
    ("metric", "test"), [("bleu", "bootstrap"), ("bleu", "ar"), ("chrf", "bootstrap")]
)
def test_outputs_that_differ_by_chance_are_not_told_apart(
    metric: str, test: str, draws: int
) -> None:
    given = metric
    found = 0
    for seed in range(draws):
        testset = _by_coins(seed)
        scores = gn.score(testset, given)
        if metric == "chrf":  # as a metric of segments
            scores = gn.Scores(
                "chrf",
                scores.systems,
                scores.segments.mean(axis=1),
                scores.segments,
                scores.higher_is_better,
                scores.signature,
            )
        found += _is_found(gn.compare(testset, scores, test=test, **_BARE))  # type: ignore[arg-type]
    assert is_mostly_undecided(draws - found, draws)


@pytest.mark.parametrize("draws", _DRAWS)
@pytest.mark.parametrize("name", ["very skewed (lognormal)", "heavy tails (t, 3 df)"])
def test_noise_of_any_shape_is_undecided(name: str, draws: int) -> None:
    drawn, mean = DISTRIBUTIONS[name]
    one = counts(drawn, mean, 60, draws=draws, resamples=499)
    assert is_mostly_undecided(draws - one.found, draws)
    assert is_mostly_undecided(one.covered, one.intervals)


@pytest.mark.verify
@pytest.mark.parametrize("segments", [60, 200])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_levels_hold_for_every_shape_of_differences(name: str, segments: int) -> None:
    """Of 2000 draws at most 6 % are findings, but for the error of so many (3 times .0053)."""
    drawn, mean = DISTRIBUTIONS[name]
    draws, rare = 2000, name.startswith("rare")
    one = counts(drawn, mean, segments, draws=draws, rare=rare)
    assert one.found <= (0.06 + 0.016) * draws
    missed = one.intervals - one.covered
    assert missed <= (0.07 + 0.017) * draws


@pytest.mark.parametrize("draws", _DRAWS)
@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("means", [EQUAL[5], HALF[5]], ids=["equal", "half better"])
@pytest.mark.parametrize("how", [How(), How(places=True), How(baseline=True), How(test="ar")])
def test_of_five_systems_no_comparison_is_wrong_more_often_than_alpha_says(
    how: How,
    means: np.ndarray,  # type: ignore[type-arg]
    name: str,
    draws: int,
) -> None:
    found = family_levels(NOISE[name], means, 100, draws=draws, how=how, resamples=499).now
    assert is_mostly_undecided(draws - found.false, draws)
    assert is_mostly_undecided(draws - found.missed, draws)


def test_steps_find_as_much_as_holm_s_correction() -> None:
    how = How(places=True)
    told = family_levels(NOISE["normal"], SPREAD[5], 100, draws=100, how=how, resamples=499)
    assert told.now.found > told.before.found > told.true / 2


@pytest.mark.parametrize(("unit", "fewest", "most"), [("document", 0, 13), ("segment", 14, 40)])
def test_scores_of_whole_documents_need_documents_as_the_unit(
    unit: str, fewest: int, most: int
) -> None:
    drawn, mean = DISTRIBUTIONS["normal"]
    one = counts(drawn, mean, 100, draws=100, resamples=199, documents=True, unit=unit)
    assert fewest <= one.found <= most


# of fewer draws, findings over segments alone are not told from chance
@pytest.mark.parametrize("draws", [60, pytest.param(1000, marks=pytest.mark.verify)])
@pytest.mark.parametrize("documents", [2, 5, 12])
def test_segments_of_few_documents_call_no_noise_a_difference(documents: int, draws: int) -> None:
    """Half of the variance is the document's; segments alone would call a quarter different."""
    named = names_of(documents, 60 // documents)
    found = alone = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        moods = draw.normal(0, 5, (2, documents)).repeat(60 // documents, axis=1)
        finding = scored(70 + moods + draw.normal(0, 5, (2, 60)), documents=named, resamples=199)
        found += _is_found(finding)
        alone += finding.rows[1]["caveat"] == "by document" or bool(finding.rows[1]["decided"])
    assert is_mostly_undecided(draws - found, draws)
    assert not is_mostly_undecided(draws - alone, draws)


# Scores of people, wherever they come from


def _written(folder: Path, name: str, cells: np.ndarray, header: str = "score") -> str:  # type: ignore[type-arg]
    rows = [
        f"{system}\t{n}\t{score:.3f}"
        for system, row in zip("AB", cells, strict=True)
        for n, score in enumerate(row, start=1)
    ]
    file = folder / name
    file.write_text("\n".join([f"system\tsegment\t{header}", *rows, ""]))
    return str(file)


def _set(human: np.ndarray | None = None, documents: bool = True) -> gn.TestSet:  # type: ignore[type-arg]
    texts = [f"text {k}" for k in range(200)]
    found = gn.TestSet.from_lists(
        {"A": texts, "B": texts},
        [f"{text} too" for text in texts],
        documents=names_of(40) if documents else None,
    )
    if human is None:
        return found
    return replace(found, human=(HumanScores("mine", "segment", ("A", "B"), human),))


@pytest.mark.parametrize(
    ("name", "why"),
    [("esa.tsv", "people"), ("en-de.mqm.seg.tsv", "people"), ("hter.tsv", "people"),
     ("gemba-esa.tsv", "alike"), ("comet.tsv", "alike"), ("comet.tsv", "")],
)  # fmt: skip
def test_documents_are_the_unit_of_what_people_gave_and_of_metrics_where_segments_are_alike(
    tmp_path: Path, name: str, why: str
) -> None:
    cells = judged(2, 2.1)
    if not why:
        cells = np.random.default_rng(0).permuted(cells.T, axis=0).T
        cells[1] += 2.1 - (cells[1] - cells[0]).mean()
    spec = f"scores('{_written(tmp_path, name, cells)}')"
    found = gn.compare(_set(), spec, **_BARE)  # type: ignore[arg-type]
    assert found.rows[1]["unit"] == ("document" if why else "segment")
    assert ("by people (" in str(found.verdict[0])) is (why == "people")
    assert ("in 40 documents" in str(found.verdict[0])) is bool(why)


def test_scores_that_the_test_set_has_from_people_are_theirs_whatever_the_file_is_called(
    tmp_path: Path,
) -> None:
    cells = np.random.default_rng(0).normal(70, 5, (2, 200)).round(3)
    spec = f"scores('{_written(tmp_path, 'quality.tsv', cells)}')"
    for human, unit in ((cells, "document"), (-cells, "document"), (cells + 1, "segment")):
        found = gn.compare(_set(human), spec, **_BARE)  # type: ignore[arg-type]
        assert found.rows[1]["unit"] == unit
    named = f"scores('{_written(tmp_path, 'all.tsv', cells, 'esa')}', column='esa')"
    assert gn.score(_set(), named).from_people
    assert not gn.score(_set(), "chrf").from_people


def test_documents_that_are_not_there_cannot_be_the_unit() -> None:
    with pytest.raises(gn.errors.DataError, match=r"names no documents.*documents\.tsv"):
        gn.compare(_set(documents=False), "chrf", unit="document")


def test_holes_in_a_score_file_are_said_and_change_nothing(tmp_path: Path) -> None:
    cells = np.repeat(np.random.default_rng(1).normal(70, 10, (1, 200)), 2, axis=0)
    file = _written(tmp_path, "comet.tsv", cells)
    lines = (tmp_path / "comet.tsv").read_text().split("\n")
    bad = set(np.argsort(cells[1])[:66] + 1)
    holed = [
        f"B\t{n}\t" if line.startswith("B\t") and (n := int(line.split("\t")[1])) in bad else line
        for line in lines
    ]
    (tmp_path / "comet.tsv").write_text("\n".join(holed))
    for test in ("bootstrap", "ar"):
        found = gn.compare(_set(), f"scores('{file}')", test=test, **_BARE)  # type: ignore[arg-type]
        second, _, first = found.verdict  # the texts are the same
        assert first.level == "caution"
        assert "has no score for 66 (B) of 200 segments" in str(first)
        assert str(second) == "B and A score the same under comet in each of 134 segments."
        row = found.rows[1]
        assert [row[key] for key in ("difference", "wins", "ties", "losses", "segments")] == [
            0, 0, 134, 0, 134,
        ]  # fmt: skip
        assert row["missing"] == 66
