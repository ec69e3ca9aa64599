"""What is left of a plan, and what an unchanged study costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gnomon import study

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")


def test_the_plan_counts_what_is_done_and_left_of_each_method(study_file: Path) -> None:
    made = study.plan(study.read_study(study_file))
    study.run(made, study.open_engine("here"))
    store = study.Store.open(made.study.store)
    gone = next(key for key in made.record().tasks if store.entries[key].method == "compare")
    del store.entries[gone]
    rows = {row["method"]: row for row in made.finding(store).rows if row["metrics"] != "chrf"}
    assert (rows["compare"]["tasks"], rows["compare"]["done"], rows["compare"]["left"]) == (1, 0, 1)
    assert rows["score"]["tasks"] == rows["score"]["done"] == len(made.sets[0].sketch.systems)
    assert {row["left"] for row in made.finding(store).rows if row["method"] != "compare"} == {0}
    assert all(row["left"] == row["tasks"] for row in made.finding().rows)


_PROGRAM = """
import sys
from gnomon.cli import main
try:
    code = main(["run", sys.argv[1], "-q"])
except SystemExit as error:
    code = error.code
# what was found is read by pyarrow
heavy = ("loky", "scipy", "spacy", "torch", "duckdb", "sacrebleu")
print([name for name in heavy if name in sys.modules])
sys.exit(code)
"""


def test_an_unchanged_study_reads_no_texts_and_loads_no_engine(study_file: Path) -> None:
    made = study.plan(study.read_study(study_file))
    study.run(made, study.open_engine("here"))
    files = {f: f.stat().st_mtime_ns for f in made.study.store.rglob("*") if f.is_file()}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(study_file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("[]")
    assert {f: f.stat().st_mtime_ns for f in made.study.store.rglob("*") if f.is_file()} == files
