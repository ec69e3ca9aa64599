"""Whether a study that was run again came to the same figures."""

from __future__ import annotations

import shutil

import pytest

import gnomon as gn
from gnomon import study
from gnomon.studies.reading import differences

STUDY = """
store = "{store}"
metrics = ["bleu", "chrf"]
[[testsets]]
path = "texts"
[methods.compare]
resamples = 50
seed = {seed}
"""
REFERENCE = [f"the cat number {n} sat on the mat" for n in range(40)]
A = [f"the cat number {n} sat on a mat" for n in range(40)]
B = [f"a cat {n} sits at mats" for n in range(40)]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies")

    def run(store: str, *, seed: int = 1, first: tuple[str, ...] = ()) -> study.Store:
        shutil.rmtree(folder / "texts", ignore_errors=True)
        outputs = {"a": [*first, *A[len(first) :]], "b": B}
        gn.TestSet.from_lists(outputs, REFERENCE, language_pair="de-en").write(folder / "texts")
        file = folder / "study.toml"
        file.write_text(STUDY.format(store=store, seed=seed))
        plan = study.plan(study.read_study(file))
        assert not study.run(plan, study.open_engine("here")).failed
        return study.Store.open(folder / store)

    return run


def test_what_is_run_again_is_the_same_and_its_figures_are_counted(ran):
    first, second = ran("first.store"), ran("second.store")
    found = differences(first, second)
    assert found.none
    frames = [first.frame(table) for table in first.files()]
    numbers = sum(
        frame[name].is_not_null().sum()
        for frame in frames
        for name, kind in frame.schema.items()
        if kind.is_numeric()
    )
    assert (found.figures, found.tables) == (numbers, len(frames))
    assert numbers > 20


def test_another_seed_moves_intervals_and_names_their_cells(ran):
    found = differences(ran("first.store"), ran("third.store", seed=2), examples=1)
    assert found.different > len(found.examples) == 1
    assert not found.none
    for cell in found.examples:
        assert cell.was != cell.now
        assert cell.table


def test_another_output_moves_scores_and_what_is_said_of_them(ran):
    changed = ran("fourth.store", first=("dogs bark", "it rains", "nobody came", "so what"))
    found = differences(ran("first.store"), changed, examples=1000)
    scores = [cell for cell in found.examples if cell.column == "Score"]
    assert any(cell.was > cell.now + 1 for cell in scores)
    assert found.sentences


def test_what_one_run_lacks_counts_as_rows(ran, tmp_path):
    first = ran("first.store")
    empty = study.Store.open(tmp_path / "empty.store", create=True)
    found = differences(first, empty)
    rows = sum(first.frame(table).height for table in first.files())
    assert (found.different, found.rows, found.examples) == (0, rows, [])
    assert found.sentences > 0
