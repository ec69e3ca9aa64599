"""The real test sets, as far as they are at hand: every one is read, and holds what it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gnomon import TestSet
from gnomon.data.formats import language_pairs, read_lines, read_scores, read_table

if TYPE_CHECKING:
    from pathlib import Path

# (set, systems, segments, references, kinds of judgements): the README of the shared data
SETS = [
    ("wmt19/de-en", 16, 2000, 1, ["da-z.system"]),
    ("wmt19/en-de", 22, 1997, 1, ["da-z.system"]),
    ("wmt19/kk-en", 11, 1000, 1, ["da-z.system", "darr"]),
    ("wmt19/lt-en", 11, 1000, 1, ["da-z.system", "darr"]),
    ("wmt18/de-en", 16, 2998, 1, ["da-z.system"]),
    ("wmt18/fi-en", 9, 3000, 1, ["da-z.system"]),
    ("wmt18/cs-en", 5, 2983, 1, ["da-z.system"]),
    ("wmt17/cs-en", 4, 3005, 1, ["da-z.segment", "da-z.system"]),
    ("wmt17/de-en", 11, 3004, 1, ["da-z.segment", "da-z.system"]),
    ("wmt17/fi-en", 6, 3002, 1, ["da-z.segment", "da-z.system"]),
    ("wmt21/en-de", 20, 1002, 3, ["mqm.segment", "mqm.system"]),
    ("mlqe-multiref/et-en", 1, 1000, 2, ["da-z.segment"]),
    ("realsumm", 24, 100, 1, ["litepyramid.segment"]),
    ("cnndm", 1, 11490, 1, []),
    ("paraphrases/wmt19-de-en-500", 0, 500, 6, []),
]


@pytest.mark.parametrize(("path", "systems", "segments", "references", "human"), SETS)
def test_a_set_holds_what_its_description_says(
    shared: Path, path: str, systems: int, segments: int, references: int, human: list[str]
) -> None:
    testset = TestSet.read(shared / "data" / path)
    summary = testset.summary()
    assert (summary.systems, summary.segments) == (systems, segments)
    assert len(summary.references) == references
    assert sorted(summary.human_scores) == human
    folder, _, pair = path.partition("/")
    if "-" in pair and folder != "paraphrases":
        assert (summary.name, summary.language_pair) == (folder, pair)
    for scores in testset.human:
        assert np.isfinite(scores.values).any(axis=1).all()
        assert set(scores.systems) <= set(testset.systems)


def test_rankings_and_segment_scores_are_complete(shared: Path) -> None:
    data = shared / "data"
    [kazakh] = TestSet.read(data / "wmt19/kk-en").rankings
    [lithuanian] = TestSet.read(data / "wmt19/lt-en").rankings
    assert (len(kazakh.rows), len(lithuanian.rows)) == (9728, 21862)
    assert len({name for _, *pair in kazakh.rows for name in pair}) == 7
    direct = {h.level: h for h in TestSet.read(data / "wmt17/cs-en").human}["segment"]
    assert np.isfinite(direct.values).sum() == 560
    errors = {h.level: h for h in TestSet.read(data / "wmt21/en-de").human}["segment"]
    assert np.isfinite(errors.values).sum() == 8 * 527
    [pyramid] = TestSet.read(data / "realsumm").human
    assert np.isfinite(pyramid.values).sum() == 24 * 100


def test_the_pairs_of_a_year_are_listed(shared: Path) -> None:
    assert language_pairs(shared / "data/wmt19") == ("de-en", "en-de", "kk-en", "lt-en")


def test_a_system_is_written_and_read_unchanged(shared: Path, tmp_path: Path) -> None:
    testset = TestSet.read(shared / "data/wmt19/kk-en", systems=["UMD.6736", "NEU.6753"])
    testset.write(tmp_path / "own")
    testset.write(tmp_path / "mtme", layout="mt-metrics-eval")
    for again in (TestSet.read(tmp_path / "own"), TestSet.read(tmp_path / "mtme" / "kk-en")):
        assert dict(again.systems) == dict(testset.systems)
        assert dict(again.references) == dict(testset.references)
        assert again.sources == testset.sources
    assert TestSet.read(tmp_path / "own").rankings == testset.rankings


def test_quality_estimation_tables_are_read_by_their_columns(shared: Path) -> None:
    testset = read_table(
        shared / "data/mlqe-pe/et-en.dev.tsv",
        source="src",
        systems={"nmt": "hyp"},
        references=["pe"],
    )
    assert (testset.segments, list(testset.systems)) == (1000, ["nmt"])


def test_published_scores_of_many_pairs_are_read(shared: Path) -> None:
    folder = shared / "data/paraphrases/wmt19-de-en-500/published"
    systems = read_scores(
        folder / "sacreBLEU-syslevel.500.tsv", format="wmt", language_pair="de-en"
    )
    assert all(len(scores) == 16 for scores in systems.values())
    segments = read_scores(
        folder / "sacreBLEU-seglevel.500.tsv", format="wmt", language_pair="de-en"
    )
    assert all(len(scores) == 16 * 500 for scores in segments.values())


def test_every_plain_text_file_is_read(shared: Path) -> None:
    for kind in ("active_passive", "clause_noun"):
        sizes = {
            len(read_lines(shared / f"data/minimal-paraphrases/{kind}.{part}.txt"))
            for part in ("sentence", "paraphrase", "reference")
        }
        assert sizes == {1169 if kind == "active_passive" else 114}
