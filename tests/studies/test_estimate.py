"""What is left of a plan, how long that takes, and what an unchanged study costs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon import study
from gnomon.studies._plan import RemainingTasks, estimate, left_of

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")


def _left(seconds: float | None, count: int = 1, metrics: str = "bleu") -> RemainingTasks:
    return RemainingTasks("score", metrics, 1, 2, count, seconds)


@pytest.mark.parametrize(
    ("left", "workers", "expected"),
    [
        ([_left(0.0, 0)], 1, "nothing is left to do"),
        ([_left(30.0)], 1, "about 30 s with one worker"),
        ([_left(30.0), _left(0.0, 0)], 2, "about 15 s with 2 workers"),
        ([_left(600.0)], 1, "about 10 min with one worker"),
        ([_left(72000.0)], 2, "about 10.0 h with 2 workers"),
        ([_left(None)], 1, "unknown, as never done here: score (bleu)"),
        (
            [_left(9.0), _left(None, metrics="chrf")],
            1,
            "about 9 s with one worker; unknown, as never done here: score (chrf)",
        ),
    ],
)
def test_the_estimate_says_what_is_not_known(
    left: list[RemainingTasks], workers: int, expected: str
) -> None:
    assert estimate(left, workers) == expected


def test_the_estimate_goes_by_what_such_tasks_took_and_by_size(study_file: Path) -> None:
    made = study.plan(study.read_study(study_file))
    assert {one.seconds for one in left_of(made, None)} == {None}
    study.run(made, study.open_engine("here"))
    store = study.Store.open(made.study.store)
    for key, entry in store.entries.items():
        store.entries[key] = replace(entry, seconds=1.0)
    study_file.write_text(study_file.read_text().replace("first = 12", "first = 24"))
    more = study.plan(study.read_study(study_file))
    found = {(one.method, one.metrics): one for one in left_of(more, store)}
    systems = len(made.sets[0].sketch.systems)
    scores = found["score", "bleu"]
    # the store knows that the test set of this name took so long; its size is that of now
    assert (scores.tasks, scores.left, scores.seconds) == (systems, systems, systems)
    assert found["compare", "bleu, chrf"].seconds == 1.0


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
