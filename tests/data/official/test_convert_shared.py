"""Real sets through conversion and fetching."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data.official.official_sets import tgz_of

import gnomon as gn
from gnomon import official
from gnomon.data.formats import read_test_set, write_test_set


@pytest.mark.parametrize(
    ("place", "segments", "human"),
    [
        ("wmt22-qe/en-cs.da.tsv", 1000, {"da-z"}),
        ("mlqe-pe/et-en.dev.tsv", 1000, {"da-raw", "da-z", "hter", "word-tags"}),
        ("mlqe-pe/ro-en.test20.tsv", 1000, {"da-raw", "da-z", "hter", "word-tags"}),
        ("eval4nlp21/et-en.test.tsv", 1000, {"da", "word-tags"}),
        ("wmt17/fi-en", 3002, {"da-z"}),
        ("wmt21/en-de", 1002, {"mqm"}),
    ],
)
def test_a_converted_set_is_the_set(
    shared: Path, tmp_path: Path, place: str, segments: int, human: set[str]
) -> None:
    [found] = official.convert([shared / "data" / place], tmp_path / "out")
    assert (found.segments, set(found.human)) == (segments, human)
    before, after = read_test_set(shared / "data" / place), gn.TestSet.read(found.path)
    assert after.systems == before.systems
    assert after.references == before.references
    assert after.sources == before.sources
    assert after.errors == before.errors
    for old, new in zip(before.human, sorted(after.human, key=_order(before)), strict=True):
        np.testing.assert_array_equal(old.values, new.values)


def _order(testset: gn.TestSet) -> object:
    places = {(h.kind, h.level): i for i, h in enumerate(testset.human)}
    return lambda human: places[human.kind, human.level]


@pytest.mark.verify
def test_an_archive_of_mt_metrics_eval_is_taken_apart(shared: Path, tmp_path: Path) -> None:
    for name in ("wmt18", "wmt19"):
        testset = gn.TestSet.read(shared / "data" / name / "de-en")
        (tmp_path / "v2").mkdir(exist_ok=True)
        write_test_set(testset, tmp_path / "v2" / name, layout="mt-metrics-eval")
    archive = tmp_path / "mt-metrics-eval-v2.tgz"
    archive.write_bytes(tgz_of(tmp_path / "v2", "mt-metrics-eval-v2"))
    found = official.fetch("mt-metrics-eval", folder=tmp_path / "home", given=archive)
    assert [(one.name, one.segments, len(one.systems)) for one in found] == [
        ("wmt18", 2998, 16),
        ("wmt19", 2000, 16),
    ]
    again = gn.TestSet.read(found[1].path)
    assert dict(again.systems) == dict(gn.TestSet.read(shared / "data/wmt19/de-en").systems)
