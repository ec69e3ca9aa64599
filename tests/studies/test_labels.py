"""Labels of a study from files, one for each system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gnomon import study
from gnomon.core.errors import GnomonError
from gnomon.core.testset import TestSet
from gnomon.linguistics import Labels
from gnomon.muler import score as muler
from gnomon.studies import needs as _needs

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")

_STUDY = """
metrics = ["bleu"]
[[testsets]]
path = "set"
[methods.muler]
features = ["label:*"]
labels = ["ref.jsonl", "labels/{system}.jsonl"]
resamples = 0
"""


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """A study of two systems, whose first words are labelled."""
    texts = {
        "ref": ["Ann paid the bill .", "Bob left the house ."],
        "a": ["Ann paid a bill .", "He left the house ."],
        "b": ["Eve paid the bill .", "Bob left a house ."],
    }
    testset = TestSet.from_lists(
        {name: texts[name] for name in "ab"}, texts["ref"], language_pair="en", name="set"
    )
    testset.write(tmp_path / "set")
    (tmp_path / "labels").mkdir()
    for name, lines in texts.items():
        file = tmp_path / ("ref.jsonl" if name == "ref" else f"labels/{name}.jsonl")
        file.write_text("".join(f"{json.dumps(_first_word(line))}\n" for line in lines))
    (tmp_path / "study.toml").write_text(_STUDY)
    return tmp_path / "study.toml"


def _first_word(text: str) -> dict[str, object]:
    span = {"start": 0, "end": text.index(" "), "label": "first"}
    return {"text": text, "spans": [span]}


def _run(file: Path) -> study.RunOutcome:
    return study.run(study.plan(study.read_study(file)), study.open_engine("here"))


def test_each_system_is_judged_by_the_labels_of_its_own_file(labelled: Path) -> None:
    assert _run(labelled).failed == {}
    store = study.Store.open(labelled.with_suffix(".store"))
    found = store.query("select system, muler, base from muler where variant = 'ratio'").rows
    folder = labelled.parent
    files = [folder / "ref.jsonl", *sorted((folder / "labels").iterdir())]
    whole = muler(
        TestSet.read(folder / "set"),
        "bleu",
        ["label:*"],
        labels=Labels.read(files),
        resamples=0,
    )
    expected = {row["system"]: (row["muler"], row["base"]) for row in whole.rows[:2]}
    assert {system: (value, base) for system, value, base in found} == expected
    assert set(expected) == {"a", "b"}


def test_a_changed_label_file_costs_its_own_system_alone(labelled: Path) -> None:
    assert _run(labelled).done == 2
    file = labelled.parent / "labels" / "a.jsonl"
    file.write_text(file.read_text().replace("first", "other"))
    again = _run(labelled)
    assert (again.done, again.kept) == (1, 1)


def test_a_label_file_that_is_missing_is_named_before_anything_runs(labelled: Path) -> None:
    (labelled.parent / "labels" / "b.jsonl").unlink()
    with pytest.raises(GnomonError, match=r"b\.jsonl"):
        study.plan(study.read_study(labelled))


def test_planning_looks_at_each_label_file_alone(
    labelled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    stat = _needs._stat

    def counted(file: str) -> object:
        looked.append(Path(file).name)
        return stat(file)

    monkeypatch.setattr(_needs, "_stat", counted)
    for number in range(50):  # what lies beside them does not matter
        (labelled.parent / "labels" / f"other-{number}.jsonl").write_text("")
    study.plan(study.read_study(labelled))
    assert "a.jsonl" in looked
    assert not [name for name in looked if name.startswith("other")]


def test_no_label_files_are_no_labels(labelled: Path) -> None:
    text = _STUDY.replace('["label:*"]', '["re:name"]\npattern = { name = "Ann|Bob" }')
    labelled.write_text(text.replace('["ref.jsonl", "labels/{system}.jsonl"]', "[]"))
    outcome = _run(labelled)
    assert (outcome.done, outcome.failed) == (2, {})
