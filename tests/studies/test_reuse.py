"""Methods that judge metrics take stored scores, and say what they would have said without."""

from __future__ import annotations

import io
import random
import shutil
from pathlib import Path

import pytest
from tests.told import notes

from gnomon import example, metaeval, study
from gnomon.core.testset import TestSet
from gnomon.metrics import score as scored
from gnomon.studies.execution import stored_scores
from gnomon.studies.tables import cells_of
from gnomon.studies.task_runs import TaskResult, execute

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")

_METRICS = ["bleu", "chrf", "ter", "random", "difficulty(bleu)"]
_STUDY = """
metrics = [{metrics}]
[[testsets]]
path = "set"
first = 20
[methods.metaeval]
resamples = 30
baseline = "bleu"
{more}
"""


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A study of the example beside judgements that are drawn."""
    place = tmp_path / "set"
    shutil.copytree(example.path(), place, ignore=shutil.ignore_patterns("paraphrases"))
    (place / "human").mkdir()
    draw = random.Random(3)
    whole = TestSet.read(place)
    lines = ["system\tseg\tscore"]
    for name in whole.systems:
        lines += [f"{name}\t{n}\t{draw.randint(0, 100)}" for n in range(1, whole.segments + 1)]
    (place / "human" / "da.seg.tsv").write_text("\n".join(lines) + "\n")
    file = tmp_path / "study.toml"
    listed = ", ".join(f'"{one}"' for one in _METRICS)
    file.write_text(_STUDY.format(metrics=listed, more=""))
    return file


def _run(file: Path) -> study.Store:
    made = study.plan(study.read_study(file))
    outcome = study.run(made, study.open_engine("here"))
    assert outcome.failed == {}
    return study.Store.open(made.study.store)


def _rows(store: study.Store, table: str) -> list[dict[str, object]]:
    found = store.query(f'select * from "{table}"')
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_meta_evaluation_from_the_store_says_what_it_says_directly(judged: Path) -> None:
    store = _run(judged)
    testset = TestSet.read(judged.parent / "set").select(segments=range(20))
    direct = metaeval(testset, _METRICS, resamples=30, baseline="bleu")
    names = {"": "agreement"}
    for number, table in enumerate(direct.tables):
        name = names[""] if number == 0 else f"agreement_{table.name}"
        kept = [
            {k: v for k, v in row.items() if k not in ("testset", "task")}
            for row in _rows(store, name)
        ]
        assert kept == [dict(row) for row in table.rows], name
    (entry,) = [one for one in store.entries.values() if one.method == "metaeval"]
    assert dict(entry.signatures) == {k: str(one) for k, one in direct.signatures.items()}
    assert notes(entry.notices) == notes(direct.notices)


def test_meta_evaluation_scores_nothing_itself(
    judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gnomon.agreement import pairing

    def refused(*_: object, **__: object) -> object:
        raise AssertionError

    monkeypatch.setattr(pairing, "score", refused)
    # beside a baseline, what counts words is counted again: its scores are resampled
    judged.write_text(judged.read_text().replace('baseline = "bleu"\n', ""))
    store = _run(judged)
    done = [one.method for one in store.entries.values()]
    systems = len(TestSet.read(judged.parent / "set").systems)
    # difficulty's pool are the other systems: one task for all of them
    assert (done.count("score"), done.count("metaeval")) == (4 * systems + 1, 1)


def test_one_more_system_costs_its_scores_and_the_judgement(judged: Path) -> None:
    judged.write_text(judged.read_text().replace(', "difficulty(bleu)"', ""))
    whole = judged.read_text()
    judged.write_text(whole.replace("first = 20", 'first = 20\nexclude = ["*-french"]'))
    before = set(_run(judged).entries)
    judged.write_text(whole)
    after = _run(judged)
    fresh = [one for key, one in after.entries.items() if key not in before]
    assert sorted(one.method for one in fresh) == ["metaeval", *["score"] * 4]
    assert {one.systems for one in fresh if one.method == "score"} == {("apertium-french",)}


def test_stored_scores_are_those_that_were_computed(judged: Path) -> None:
    store = _run(judged)
    made = study.plan(study.read_study(judged))
    (task,) = [one for one in made.tasks if one.method == "metaeval"]
    testset = made.sets[0].read()
    for spec, found in stored_scores(store, task).items():
        direct = scored(testset, spec)
        assert found.systems == direct.systems
        assert found.system.tobytes() == direct.system.tobytes()
        assert found.segments.tobytes() == direct.segments.tobytes()
        assert str(found.signature) == str(direct.signature)
        for name in ("metric", "higher_is_better", "informed_by"):
            assert getattr(found, name) == getattr(direct, name)


def test_a_metric_that_fails_leaves_its_judgement_with_the_reason(judged: Path) -> None:
    judged.with_name("none.tsv").write_text("system\tsegment\tscore\n")  # of no system
    judged.write_text(judged.read_text().replace('"chrf"', "\"scores('none.tsv')\""))
    made = study.plan(study.read_study(judged))
    outcome = study.run(made, study.open_engine("here"))
    said = {one.subjects["tasks"][0].split()[0]: str(one) for one in outcome.failed.values()}
    assert "none.tsv" in said["score"]
    assert "scores that it takes could not be computed" in said["metaeval"]
    assert "none.tsv" in said["metaeval"]


def test_a_comparison_takes_scores_that_are_means_and_scores_the_rest_again(judged: Path) -> None:
    judged.with_name("own.tsv").write_text(_own_scores(judged.parent / "set"))
    text = _STUDY.format(metrics='"bleu", "scores(\'own.tsv\')"', more="[methods.compare]\n")
    judged.write_text(text.replace('[methods.metaeval]\nresamples = 30\nbaseline = "bleu"\n', ""))
    store = _run(judged)
    made = study.plan(study.read_study(judged))
    (task,) = [one for one in made.tasks if one.method == "compare"]
    taken = stored_scores(store, task)
    assert list(taken) == ["scores('own.tsv')"]
    with_store, without = execute(task, taken), execute(task, {})
    assert with_store.tables == without.tables
    assert with_store.signatures == without.signatures
    metrics = {row["metric"] for row in _rows(store, "comparisons")}
    assert metrics == {"bleu", "scores('own.tsv')"}  # as the study names them


def _own_scores(place: Path) -> str:
    testset = TestSet.read(place)
    lines = [
        f"{name}\t{number}\t{len(text)}"
        for name, texts in testset.systems.items()
        for number, text in enumerate(texts[:20], start=1)
    ]
    return "system\tsegment\tscore\n" + "\n".join(lines) + "\n"


def test_each_wave_needs_only_earlier_ones(judged: Path) -> None:
    from gnomon.studies.execution import waves

    made = study.plan(study.read_study(judged))
    first, second = waves(made.tasks, set())
    assert {one.method for one in first} == {"score"}
    assert {one.method for one in second} == {"metaeval"}
    scores = {one.key for one in first}
    assert [len(wave) for wave in waves(second, scores)] == [1]


def test_what_a_task_gives_does_not_depend_on_the_others_beside_it(judged: Path) -> None:
    made = study.plan(study.read_study(judged))
    testset = made.sets[0].read()
    for task in made.tasks:
        if task.method == "score":
            found = execute(task)
            assert isinstance(found, TaskResult)
            direct = scored(testset, task.metrics[0])
            expected = dict(zip(direct.systems, direct.system.tolist(), strict=True))
            cells = cells_of(io.BytesIO(found.tables[0].data))
            assert dict(zip(cells["system"], cells["score"], strict=True)) == {
                name: expected[name] for name in task.systems
            }


def _ranked(store: study.Store) -> list[tuple[object, ...]]:
    return [*store.query("select metric, system, count(*) from scores group by all").rows]


@pytest.mark.parametrize("first", ["score", "metaeval"])
def test_scores_of_all_systems_together_are_scored_once_whoever_takes_them(
    judged: Path, first: str
) -> None:
    scored_together = (
        "[[methods.score]]\ntogether = true\nmetrics = ['bleu', \"scores('own.tsv')\"]"
    )
    judging = "[methods.metaeval]\nresamples = 20\n[methods.compare]\nresamples = 20"
    parts = [scored_together, judging]
    if first == "metaeval":
        parts.reverse()
    judged.with_name("own.tsv").write_text(_own_scores(judged.parent / "set"))
    text = _STUDY.format(metrics='"bleu", "chrf", "scores(\'own.tsv\')"', more="\n".join(parts))
    judged.write_text(text.replace('[methods.metaeval]\nresamples = 30\nbaseline = "bleu"\n', ""))
    store = _run(judged)
    systems = len(TestSet.read(judged.parent / "set").systems)
    ranked = _ranked(store)
    assert len(ranked) == 3 * systems
    assert {count for _, _, count in ranked} == {1}
    made = [one.metrics for one in store.entries.values() if one.method == "score"]
    assert [made.count((one,)) for one in ("bleu", "chrf", "scores('own.tsv')")] == [1, systems, 1]
    ranks = store.query("select rank from leaderboard where metric = 'bleu'").rows
    assert [rank for (rank,) in ranks] == [1, 2, 3, 4, 5]


def test_two_steps_that_score_a_metric_score_it_once(judged: Path) -> None:
    more = "[[methods.score]]\nmetrics = ['bleu']\n[[methods.score]]\ntogether = true"
    judged.write_text(_STUDY.format(metrics='"bleu"', more=more))
    store = _run(judged)
    assert {count for _, _, count in _ranked(store)} == {1}
    assert sum(one.method == "score" for one in store.entries.values()) == 1


def test_together_counts_where_the_step_takes_the_test_set(judged: Path) -> None:
    text = _STUDY.format(
        metrics='"bleu"',
        more="[methods.score]\ntogether = true\ntestsets = ['other']\n"
        "[[testsets]]\npath = 'set'\nname = 'other'",
    )
    judged.write_text(text)
    made = study.plan(study.read_study(judged))
    sizes = [len(one.systems) for one in made.tasks if one.method == "score"]
    assert sorted(sizes) == [1, 1, 1, 1, 1, 5]


def test_rows_of_scores_that_are_not_planned_any_more_are_not_shown(judged: Path) -> None:
    alone = _STUDY.format(metrics='"bleu"', more="")
    judged.write_text(alone)
    before = _run(judged)
    judged.write_text(alone + "[methods.score]\ntogether = true\n")
    after = _run(judged)
    assert set(before.entries) < set(after.entries)  # kept until they are pruned
    assert {count for _, _, count in _ranked(after)} == {1}
    segments = after.query("select system, segment from segments").rows
    assert len(segments) == len(set(segments)) == 5 * 20
