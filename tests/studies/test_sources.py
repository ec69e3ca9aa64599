"""Files that have not changed are not read again, and those that have are."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from tests.truth.worlds import outputs, references

from gnomon import example
from gnomon.core.errors import DataError
from gnomon.core.testset import TestSet
from gnomon.metrics import spec
from gnomon.studies import PlannedSet, SetSource, Store, open_engine, plan, read_study, run
from gnomon.studies import sources as sketches_module
from gnomon.studies.execution import narrowed
from gnomon.studies.folder import sealed
from gnomon.studies.sources import Sketches, content_of, read_set, sketch_of, systems_of
from gnomon.studies.task_runs import Task, execute


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
    """The test sets that were read, and which systems where not all."""
    found: list[str] = []

    def counted(source: SetSource, *, only: tuple[str, ...] = ()) -> object:
        found.append(" ".join([Path(source.path).name, *only]))
        return read_set(source, only=only)

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
    first = Sketches()
    sketch = first.sketch(SetSource(str(folder)))
    (tmp_path / "x.json").write_text(sealed(first.merged()))
    assert Sketches.read(tmp_path / "x.json").sketch(SetSource(str(folder))) == sketch
    assert len(reads) == 1


@pytest.mark.parametrize(
    "change", ["text", "new system", "inode", "size alone", "kept time", "other option"]
)
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
    if change == "kept time":  # cp -p of a file of the same size and age
        time.sleep(0.05)  # longer than the tick of the clock of inodes
        system.write_text("a b\nc f\n")
        os.utime(system, (1e9, 1e9))
    if change == "other option":
        source = SetSource(str(folder), first=1)
    found = Sketches(first.merged()).sketch(source)
    assert len(reads) == 2
    assert found == sketch_of(read_set(source).testset)


def test_young_files_are_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Sketches()
    (folder / "systems" / "s.txt").write_text("a b\nc f\n")
    soon = time.time() + 3600  # young however long the test takes
    os.utime(folder / "systems" / "s.txt", (soon, soon))
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
    for theirs in (["a", "b"], ["a b", ""], ['a", "b', ""], ["a\nb", ""]):
        for own in (["x", "y"], ["x y", ""]):
            sketch = sketch_of(TestSet.from_lists({"s": own}, theirs))
            seen.add(content_of(sketch, ["s"], human=False))
    assert len(seen) == 8


def test_a_system_that_is_gone_is_told(folder: Path) -> None:
    sketch = read_set(SetSource(str(folder))).sketch
    with pytest.raises(DataError, match="has no system u"):
        content_of(sketch, ["u"], human=False)


def _many(folder: Path, count: int = 6) -> SetSource:
    for number in range(count):
        (folder / "systems" / f"n{number}.txt").write_text(f"a b\nc {number}\n")
    return SetSource(str(folder))


def test_a_system_that_cannot_be_aligned_is_told(folder: Path, reads: list[str]) -> None:
    first = Sketches()
    first.sketch(_many(folder))
    (folder / "systems" / "n9.txt").write_text("a\n")
    with pytest.raises(DataError, match="n9 cannot be aligned"):
        Sketches(first.merged()).sketch(SetSource(str(folder)))


def test_lines_that_do_not_fit_are_aligned_alike_whichever_system_is_read(tmp_path: Path) -> None:
    own, theirs = outputs()[:20], references()[:20]
    texts = {"ref.A": theirs, "systems/fits": own, "systems/whole": [" ".join(own[:2]), *own[2:]]}
    (tmp_path / "systems").mkdir()
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("\n".join([*lines, ""]))
    source = SetSource(str(tmp_path))
    every, one = read_set(source), read_set(source, only=("whole",))
    assert every.testset.alignments["whole"].guide == "fits"
    assert one.sketch.systems["whole"] == every.sketch.systems["whole"]
    assert any(said.code == "data.aligned" for said in one.testset.anomalies)


def _step(folder: Path, rng: random.Random) -> None:
    """Some change of a test set."""
    name = f"n{rng.randrange(8)}"
    text = f"a {rng.randrange(9)}\nb\n"
    own = folder / "system-references" / name
    match rng.choice(["output", "output", "gone", "people", "own", "reference", "list", "source"]):
        case "output":
            (folder / "systems" / f"{name}.txt").write_text(text)
        case "gone":
            (folder / "systems" / f"{name}.txt").unlink(missing_ok=True)
        case "people":
            (folder / "human").mkdir(exist_ok=True)
            (folder / "human" / "da.sys.tsv").write_text(f"system\tscore\ns\t{rng.random()}\n")
        case "own":
            own.mkdir(parents=True, exist_ok=True)
            (own / "ref.own.txt").write_text(text)
        case "reference":
            (folder / "ref.A.txt").write_text(text)
        case "list":
            (folder / "systems.tsv").write_text(f"system\tyear\n{name}\t{rng.randrange(99)}\n")
        case "source":
            (folder / "src.txt").write_text(text)


@pytest.mark.parametrize("seed", range(5))
def test_memory_tells_what_reading_tells_whatever_changes(
    folder: Path, reads: list[str], seed: int
) -> None:
    rng = random.Random(seed)
    source = replace(_many(folder), exclude=("n3",))
    memory = Sketches()
    for _ in range(30):
        for _ in range(rng.randrange(3)):
            _step(folder, rng)
        memory = Sketches(memory.merged())
        found, whole = memory.sketch(source), sketch_of(read_set(source).testset)
        assert found == whole
        assert [*found.systems] == [*whole.systems]
    assert 0 < len(reads) < 30


@pytest.mark.parametrize("choice", [{"exclude": ("n[3]",)}, {"systems": ("s", "t", "n[0-2]")}])
def test_a_system_that_is_left_out_is_not_read(folder: Path, choice: dict) -> None:
    source = _many(folder, 4)
    (folder / "systems" / "n3.txt").write_text("one line alone\n")
    with pytest.raises(DataError, match="n3 "):
        read_set(source)
    found = read_set(replace(source, **choice)).testset
    assert sorted(found.systems) == ["n0", "n1", "n2", "s", "t"]


def test_a_worker_reads_the_system_that_is_new(folder: Path, tmp_path: Path) -> None:
    _many(folder)
    (tmp_path / "study.toml").write_text('metrics = ["chrf"]\n[[testsets]]\npath = "set"\n')
    given = read_study(tmp_path / "study.toml")
    run(plan(given), open_engine("here"))
    (folder / "systems" / "n9.txt").write_text("a b\nc d\n")
    again = plan(given)
    left = [task for task in again.tasks if task.key not in Store.open(given.store).entries]
    assert [task.reads for task in narrowed(left, again)] == [("n9",)]
    assert run(again, open_engine("here")).done == 1
    scores = Store.open(given.store).query("select score from scores where system = 'n9'").rows
    assert scores[0][0] == pytest.approx(100.0)


def test_a_task_reads_all_systems_where_its_own_do_not_tell_what_the_plan_saw(
    folder: Path,
) -> None:
    source = _many(folder)
    own = folder / "system-references" / "n2"
    own.mkdir(parents=True)
    (own / "ref.own.txt").write_text("a\nb\n")
    sketch = read_set(source).sketch
    content = content_of(sketch, ["n1"], human=False)
    assert content_of(read_set(source, only=("n1",)).sketch, ["n1"], human=False) != content
    task = Task("k", "score", "set", source, ("n1",), ("bleu",), "{}", content, reads=("n1",))
    assert execute(task).tables


def _recorded(module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What a function of a module is called with, from now on."""
    call: Callable[[object], object] = getattr(module, name)
    calls: list[object] = []

    def noted(given: object) -> object:
        calls.append(given)
        return call(given)

    monkeypatch.setattr(module, name, noted)
    return calls


def test_specs_are_read_and_what_they_need_is_identified_once_for_all_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = _recorded(spec, "_SpecReader", monkeypatch)
    identified = _recorded(sketches_module, "identity", monkeypatch)
    located = _recorded(sketches_module, "place_of", monkeypatch)
    spec.read_spec.cache_clear()
    (tmp_path / "own.tsv").write_text("system\tsegment\tscore\n")
    sets = "".join(
        f"[[testsets]]\npath = '{example.path()}'\nfirst = {n}\nname = 's{n}'\n" for n in (3, 4, 5)
    )
    (tmp_path / "study.toml").write_text(
        f"metrics = ['chrf', \"scores('own.tsv')\"]\n{sets}[methods.score]\n[methods.compare]\n"
    )
    assert plan(read_study(tmp_path / "study.toml")).tasks
    for each in (read, identified, located):
        assert len(each) == len(set(each)) > 0, each


def test_a_system_is_named_by_its_name_or_by_a_pattern() -> None:
    names = ["a", "[a]", "b*"]
    assert systems_of(SetSource("p", systems=("[a]",)), names) == ["a", "[a]"]
    assert systems_of(SetSource("p", systems=("b*",), exclude=("[a]",)), names) == ["b*"]
    assert systems_of(SetSource("p", exclude=("[[]a]",)), names) == ["a", "b*"]


def test_a_name_that_no_system_has_is_told_beside_those_that_some_have(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "study.toml"
    text = 'metrics = ["bleu"]\n[[testsets]]\npath = "{}"\nsystems = {}\n'
    file.write_text(text.format(folder, ["s", "nobody", "nothing-*"]))
    made = plan(read_study(file))
    assert [task.systems for task in made.tasks] == [("s",)]
    assert "no system that is taken of" in caplog.text
    assert "fits nobody, nothing-*" in caplog.text
