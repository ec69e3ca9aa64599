"""Every reader of scores with files that are empty or cut, or have a field too few or too many.

A damaged file is refused, or read as the whole one is, or what it lacks is said.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.data.formats.judged_sets import SYSTEMS, judged_set
from tests.data.formats.published_sets import fill
from tests.data.formats.score_files import SEGMENT_SCORES, SYSTEM_SCORES, write_score_file
from tests.data.formats.test_human_damaged import WHOLE
from tests.data.formats.test_published_damaged import SETS
from tests.data.formats.test_wmt_package import SEGMENTS

import gnomon as gn
from gnomon import TestSet
from gnomon.core.errors import GnomonError
from gnomon.core.human import HumanScores
from gnomon.data.formats import (
    JudgementFormat,
    SetFormat,
    describe,
    formats_of,
    read_human,
)
from gnomon.methods.metaeval import metric_scores

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MQM = WHOLE["mqm"][1].rstrip("\n").split("\n")
#: format -> its files, and the one that is damaged
PUBLISHED = {
    "mlqe-pe": (("mlqe table", "dev.eten.df.short.tsv"), ("mlqe files", "dev.hter")),
    "eval4nlp21": (("eval4nlp", "test.da"),),
    "wmt22-qe": (("rated rows", "en-de.csv"),),
    "wmt-package": (("package", SEGMENTS), ("package", "manual-evaluation/DA-syslevel.csv")),
    "wmt-daseg": (("sample", "DAseg.newstest2016.human.cs-en"),),
    "wmt-mqm": (("mqm", "en-de.tsv"),),
    "summeval": (("summeval", "model_annotations.aligned.jsonl"),),
    "realsumm": (("realsumm", "abs.json"),),
}
ALL_SETS = {**SETS, "mqm": {"en-de.tsv": [MQM[0], MQM[1], MQM[1].replace("alpha", "beta")]}}
WITHOUT_SCORES = {"comet", "wmt-xml", "wmt-sgml"}


def damages(text: str) -> dict[str, str]:
    """What may befall a file of lines."""
    *rest, last = text.rstrip("\n").split("\n")
    separator = next((mark for mark in "\t, " if mark in last), "\t")
    before = "".join(f"{line}\n" for line in rest)
    return {
        "empty": "",
        "blank": "\n",
        "first line alone": text.partition("\n")[0] + "\n",
        "last line cut": before + last[: len(last) // 2],
        "last line too short": before + last.rpartition(separator)[0] + "\n",
        "last line too long": f"{before}{last}{separator}x\n",
    }


DAMAGES = tuple(damages("a b\nc d\n"))


def survives(
    file: Path, damage: str, read: Callable[[], object], caplog: pytest.LogCaptureFixture
) -> None:
    """Check the law of this module."""
    caplog.set_level("INFO", "gnomon")
    whole = read()
    before = [record.getMessage() for record in caplog.records]
    caplog.clear()
    file.write_text(damages(file.read_text(encoding="utf-8"))[damage], encoding="utf-8")
    try:
        found = read()
    except GnomonError:
        return
    said = [record.getMessage() for record in caplog.records]
    assert repr(found) == repr(whole) or set(said) - set(before), f"{damage}: nothing is said"


def test_every_registered_format_of_scores_is_among_those_that_are_damaged() -> None:
    reads = {info.name for info in describe() if info.reads == "judgements"}
    assert reads <= set(WHOLE)
    assert {form.name for form in formats_of(JudgementFormat) if form.is_read} == set(WHOLE)
    assert set(PUBLISHED) | WITHOUT_SCORES == {form.name for form in formats_of(SetFormat)}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("form", sorted(WHOLE))
def test_a_cut_file_of_judgements_is_refused_or_spoken_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, form: str, damage: str
) -> None:
    name, text = WHOLE[form]
    (tmp_path / name).write_text(text, encoding="utf-8")
    testset = judged_set(documents=["d", "e", "e"])
    file = tmp_path / name
    survives(file, damage, lambda: read_human(file, testset, format=form), caplog)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("kind", "name"), [one for some in PUBLISHED.values() for one in some])
def test_a_cut_file_of_a_published_set_is_refused_or_spoken_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str, name: str, damage: str
) -> None:
    root = fill(tmp_path, ALL_SETS[kind])
    if (kind, damage) == ("summeval", "first line alone"):
        return  # one summary of one article is a whole set
    where = root if kind != "mqm" else root / name
    survives(root / name, damage, lambda: replace(TestSet.read(where), path=None), caplog)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", [*SEGMENT_SCORES, *SYSTEM_SCORES])
def test_a_cut_score_file_is_refused_or_spoken_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, damage: str
) -> None:
    people = HumanScores("da-z", "segment", tuple(SYSTEMS), np.arange(6.0).reshape(2, 3))
    testset = judged_set(human=(people,))
    write_score_file(tmp_path / name, replace(gn.score(testset, "chrf"), metric="M"), testset)

    def read() -> object:
        scores = metric_scores({"M": tmp_path / name}, [testset])
        found = gn.metaeval(testset, scores, resamples=0)
        for notice in found.notices:
            logging.getLogger("gnomon.notices").info("%s", notice)
        return [(one.systems, one.system, one.segments) for one in scores["M"] if one is not None]

    survives(tmp_path / name, damage, read, caplog)
