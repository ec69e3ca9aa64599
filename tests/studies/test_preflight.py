"""Workers that are not like this process are told before anything starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from gnomon import study
from gnomon.core.errors import DataError
from gnomon.studies.execution import Equipment, equipment, preflight


@dataclass
class _Cluster:
    found: dict[str, Equipment]

    def call_workers(self, *_: object) -> dict[str, Equipment]:
        return self.found


def test_all_differences_are_told_with_the_workers(study_file: Path) -> None:
    plan = study.plan(study.read_study(study_file))
    mine = equipment([])
    other = Equipment({**mine.versions, "sacrebleu": "1.0"}, ("/data/set",))
    older = Equipment({"gnomon": "0.0.1"}, ())
    cluster = _Cluster({"w1": other, "w2": mine, "w3": older})
    with pytest.raises(DataError) as caught:
        preflight(plan, cluster)  # type: ignore[arg-type]  # as much of an engine as it needs
    said = str(caught.value)
    assert "w1: has sacrebleu 1.0" in said
    assert "w1: does not see /data/set" in said
    assert "w3: has gnomon 0.0.1" in said
    assert "w2" not in said


def test_this_process_is_like_itself(study_file: Path) -> None:
    preflight(study.plan(study.read_study(study_file)), study.open_engine("here"))


def test_paths_out_of_reach_are_found(tmp_path: Path) -> None:
    assert equipment([str(tmp_path), str(tmp_path / "no")]).missing == (str(tmp_path / "no"),)


@pytest.mark.parametrize("group", ["gnomon.methods", "gnomon.annotators", "gnomon.formats"])
def test_packages_that_offer_anything_are_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, group: str
) -> None:
    about = tmp_path / "offering-1.5.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.5\n")
    (about / "entry_points.txt").write_text(f"[{group}]\nown = offering:thing\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert equipment([]).versions["offering"] == "1.5"
