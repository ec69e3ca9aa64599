"""The script that enlarges a test set, to see how studies grow."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gnomon import example
from gnomon.core.testset import TestSet

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "study_corpus.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("study_corpus", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def origin() -> TestSet:
    return TestSet.read(example.path())


def test_a_tenth_of_the_words_are_changed_and_most_outputs_are_distinct(
    script: ModuleType, origin: TestSet
) -> None:
    made = script.enlarged(origin, systems=12, segments=400)
    assert (len(made.systems), made.segments) == (12, 400)
    assert script.share_changed(made, origin) >= 0.1
    assert script.distinct(made) >= 0.9


def test_the_share_that_is_changed_is_seen(script: ModuleType, origin: TestSet) -> None:
    assert script.share_changed(origin, origin) == 0


def test_a_larger_set_holds_the_smaller_one_and_the_real_references(
    script: ModuleType, origin: TestSet
) -> None:
    small = script.enlarged(origin, systems=2, segments=220)
    large = script.enlarged(origin, systems=7, segments=230)
    for name, texts in small.systems.items():
        assert list(texts) == list(large.systems[name])[:220]
    real, made = (next(iter(one.references.values())) for one in (origin, small))
    assert list(made)[: origin.segments] == list(real)
    assert made[origin.segments] != real[0]


def test_equal_words_bear_equal_labels(script: ModuleType) -> None:
    lines = [json.loads(line) for line in script.labels(["The cat sat.", "A cat, the cat!"])]
    found = {
        (line["text"][span["start"] : span["end"]].lower(), span["label"])
        for line in lines
        for span in line["spans"]
    }
    assert len(found) == len({word for word, _ in found}) == 4


def test_the_folder_holds_a_test_set_and_labels_of_all_its_texts(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["--systems", "2", "--segments", "5", "--features", "3"]
    monkeypatch.setattr(sys, "argv", ["study_corpus.py", str(tmp_path / "made"), *arguments])
    script.main()
    made = TestSet.read(tmp_path / "made" / "testset")
    for name, texts in made.systems.items():
        file = tmp_path / "made" / "labels" / f"{name}.jsonl"
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]
        assert [line["text"] for line in lines] == list(texts)
        assert {span["label"] for line in lines for span in line["spans"]} <= {
            "label:f00",
            "label:f01",
            "label:f02",
        }
    assert (tmp_path / "made" / "labels" / "ref.jsonl").exists()
