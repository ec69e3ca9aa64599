"""Files that have not changed are not read again, and those that have are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gnomon.errors import DataError
from gnomon.study import PlannedSet, SetSource
from gnomon.study import _sketches as sketches_module
from gnomon.study._sketches import Sketches
from gnomon.study._sources import content_of, read_set, sketch_of
from gnomon.testset import TestSet


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A test set whose files are an hour old."""
    place = tmp_path / "set"
    (place / "systems").mkdir(parents=True)
    (place / "ref.A.txt").write_text("a b\nc d\n")
    (place / "systems" / "s.txt").write_text("a b\nc e\n")
    (place / "systems" / "t.txt").write_text("a b\nc d\n")
    for file in place.rglob("*.txt"):
        os.utime(file, (1e9, 1e9))
    return place


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of the test sets that were read."""
    found: list[str] = []

    def counted(source: SetSource) -> object:
        found.append(source.path)
        return read_set(source)

    monkeypatch.setattr(sketches_module, "read_set", counted)
    # the time of change of an inode cannot be set: let all files be old enough
    monkeypatch.setattr(sketches_module, "_YOUNG", -1e9)
    return found


def test_unchanged_files_are_not_read_again(folder: Path, reads: list[str]) -> None:
    source = SetSource(str(folder))
    first = Sketches()
    sketch = first.sketch(source)
    again = Sketches(first.merged())
    assert again.sketch(source) == sketch
    assert len(reads) == 1
    assert again.fresh == {}


def test_what_is_remembered_survives_json(folder: Path, reads: list[str], tmp_path: Path) -> None:
    import json

    first = Sketches()
    sketch = first.sketch(SetSource(str(folder)))
    (tmp_path / "x.json").write_text(json.dumps(first.merged()))
    assert Sketches.read(tmp_path / "x.json").sketch(SetSource(str(folder))) == sketch
    assert len(reads) == 1


@pytest.mark.parametrize("change", ["text", "new system", "inode", "size alone", "other option"])
def test_changed_files_are_read_again(folder: Path, reads: list[str], change: str) -> None:
    source = SetSource(str(folder))
    first = Sketches()
    first.sketch(source)
    system = folder / "systems" / "s.txt"
    if change == "text":
        system.write_text("a b\nc f\n")
    if change == "new system":
        (folder / "systems" / "u.txt").write_text("a b\nc f\n")
    if change == "inode":
        (folder / "x").write_text("a b\nc f\n")
        os.utime(folder / "x", (1e9, 1e9))
        (folder / "x").replace(system)
    if change == "size alone":
        system.write_text("a b\nc ff\n")
        os.utime(system, (1e9, 1e9))
    if change == "other option":
        source = SetSource(str(folder), first=1)
    found = Sketches(first.merged()).sketch(source)
    assert len(reads) == 2
    assert found == sketch_of(read_set(source).testset)


def test_young_files_are_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Sketches()
    (folder / "systems" / "s.txt").write_text("a b\nc f\n")
    first.sketch(SetSource(str(folder)))
    assert first.fresh == {}


def test_a_damaged_memory_is_no_memory(folder: Path, reads: list[str], tmp_path: Path) -> None:
    for text in ("", "[]", '{"x": 3}'):
        (tmp_path / "x.json").write_text(text)
        assert Sketches.read(tmp_path / "x.json").sketch(SetSource(str(folder))).segments == 2
    assert Sketches.read(tmp_path / "nothing.json").known == {}


def test_texts_that_changed_since_the_plan_are_refused(folder: Path) -> None:
    source = SetSource(str(folder))
    planned = PlannedSet(source, read_set(source).sketch)
    assert planned.read().segments == 2
    (folder / "systems" / "s.txt").write_text("a b\nc g\n")
    with pytest.raises(DataError, match="holds other texts"):
        planned.read()
    (folder / "ref.A.txt").unlink()
    with pytest.raises(DataError, match="cannot be read again"):
        planned.read()


def test_the_hash_tells_apart_what_differs_in_any_text() -> None:
    seen = set()
    for references in (["a", "b"], ["a b", ""], ['a", "b', ""], ["a\nb", ""]):
        for outputs in (["x", "y"], ["x y", ""]):
            sketch = sketch_of(TestSet.from_lists({"s": outputs}, references))
            seen.add(content_of(sketch, ["s"], human=False))
    assert len(seen) == 8


def test_a_system_that_is_gone_is_told(folder: Path) -> None:
    sketch = read_set(SetSource(str(folder))).sketch
    with pytest.raises(DataError, match="has no system u"):
        content_of(sketch, ["u"], human=False)
