"""Scores of learned metrics that are kept between runs: what is encoded again, and what is not."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.metrics.learned import sequence_models
from tests.told import notes

import gnomon as gn
from gnomon.core.cache import nothing_kept
from gnomon.core.errors import UsageError
from gnomon.core.testset import TestSet
from gnomon.learned import score_store
from gnomon.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.metrics.learned.conftest import Oracle

MODELS = [
    ("comet", "regression", "sparsemax"),
    ("comet", "referenceless", "qe_sparsemax"),
    ("comet", "referenceless", "sentinel_src"),
    ("cometkiwi", "unified", "kiwi"),
    pytest.param("unite", "unified", "unite_words", marks=pytest.mark.verify),
    ("xcomet", "xcomet", "base"),
    pytest.param("pear", "pear", "released_like", marks=pytest.mark.verify),
]


@pytest.fixture(autouse=True)
def _scores_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(score_store.LIMIT, raising=False)


def _forget() -> None:
    """What a new process begins with: no model is in memory."""
    from gnomon.learned import bleurt, encoder, metricx

    for loaded in (encoder._load, bleurt._load, metricx._load):
        loaded.cache_clear()


def _scored(spec: str, testset: TestSet) -> tuple[np.ndarray, int]:
    """Scores, and how many texts (or combinations of texts) were read for them."""
    _forget()
    bound: Any = parse(spec).bind(testset)
    scores = bound.segments(testset.batch())
    model = bound.model
    return scores, model.read if hasattr(model, "read") else model.encoder.encoded


@pytest.mark.parametrize(("metric", "family", "model"), MODELS)
def test_a_second_run_reads_no_weights_encodes_nothing_and_gives_the_same_bits(
    oracle: Callable[[str, str], Oracle],
    metric: str,
    family: str,
    model: str,
    weights_read: list[str],
) -> None:
    found = oracle(family, model)
    testset = found.testset()
    spec = f"{metric}('{found.folder}', device='cpu')"
    first, read = _scored(spec, testset)
    assert weights_read == ["weights", "weights"]  # of the encoder, of the head
    weights_read.clear()
    again, none = _scored(spec, testset)
    assert (read > 0, none) == (True, 0)
    assert not weights_read
    assert first.tobytes() == again.tobytes()
    np.testing.assert_allclose(first[0], _computed(spec, testset)[0], atol=1e-5)


def _computed(spec: str, testset: TestSet) -> np.ndarray:
    with nothing_kept():
        scores, read = _scored(spec, testset)
    assert read
    return scores


@pytest.mark.parametrize("metric", ["metricx", "bleurt"])
def test_models_of_joint_texts_keep_scores_and_what_was_cut(
    metric: str, tmp_path: Path, weights_read: list[str]
) -> None:
    folder = getattr(sequence_models, metric)(tmp_path / metric)
    testset = _small_set(long=True)
    spec = f"{metric}('{folder}', limit=24, device='cpu')"
    first, read = _scored(spec, testset)
    assert weights_read == ["_read_model"]
    _forget()
    bound: Any = parse(spec).bind(testset)
    assert notes(bound.notices(testset.batch()))  # what is cut is known without reading
    assert bound.segments(testset.batch()).tobytes() == first.tobytes()
    assert (read > 0, bound.model.read, len(weights_read)) == (True, 0, 1)
    assert _scored(f"{metric}('{folder}', limit=20, device='cpu')", testset)[1] > 0


def _without_references(systems: dict[str, list[str]], sources: list[str]) -> TestSet:
    return TestSet(name="t", references={}, systems=systems, sources=sources)


def _small_set(*, long: bool = False) -> TestSet:
    texts = ["Das ist ein Haus.", "Der Hund schläft.", "Es regnet." + " Sehr viel." * 30 * long]
    return TestSet.from_lists(
        {"a": texts, "b": [*texts[1:], "Ein Haus"]},
        ["This is a house.", "The dog sleeps.", "It rains."],
        sources=["Un", "deux", "trois"],
    )


def test_a_changed_file_of_the_model_or_another_option_scores_all_again(
    oracle: Callable[[str, str], Oracle], tmp_path: Path
) -> None:
    found = oracle("xcomet", "base")
    testset = found.testset()
    spec = "xcomet('{}', device='cpu'{})"
    _, read = _scored(spec.format(found.folder, ""), testset)
    # another threshold, another reading and another precision are not of the same reading
    for option in (", threshold=0.3", ", against='source'", ", precision='bf16'"):
        assert _scored(spec.format(found.folder, option), testset)[1] > 0, option
    moved = tmp_path / "moved"
    shutil.copytree(found.folder, moved)
    assert _scored(spec.format(moved, ""), testset)[1] == 0  # by content, wherever it lies
    config = json.loads((moved / "config.json").read_text(encoding="utf-8"))
    config["licence"] = "another one"
    (moved / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert _scored(spec.format(moved, ""), testset)[1] == read


def test_only_new_texts_are_encoded(oracle: Callable[[str, str], Oracle]) -> None:
    found = oracle("unified", "kiwi")
    testset = found.testset()
    spec = f"cometkiwi('{found.folder}', device='cpu')"
    _scored(spec, testset)
    systems = {"system": [*next(iter(testset.systems.values()))]}
    systems["system"][0] += " and more"
    changed = _without_references(systems, list(testset.sources or ()))
    assert _scored(spec, changed)[1] == 1


def test_errors_that_a_metric_marks_are_kept_as_they_are(
    oracle: Callable[[str, str], Oracle],
) -> None:
    found = oracle("xcomet", "base")
    testset = found.testset()
    spans = []
    for _ in range(2):
        _forget()
        bound: Any = parse(f"xcomet('{found.folder}', device='cpu')").bind(testset)
        spans.append((bound.error_spans(testset.batch()), bound.model.encoder.encoded))
    assert spans[0][0] == spans[1][0]
    assert len(spans[0][0]) > 100
    assert (spans[0][1] > 0, spans[1][1]) == (True, 0)


def test_pairs_of_outputs_are_kept(oracle: Callable[[str, str], Oracle]) -> None:
    found = oracle("pear", "released_like")
    rows = found.compared[:10]
    systems = {name: [row[name] for row in rows] for name in ("mt", "mt2")}
    testset = _without_references(systems, [row["src"] for row in rows])
    scores = []
    for _ in range(2):
        _forget()
        bound: Any = parse(f"pear('{found.folder}', anchor='systems', device='cpu')").bind(testset)
        batch = testset.batch()
        scores.append((bound.pair_scores(batch).tobytes(), bound.segments(batch).tobytes()))
    assert scores[0] == scores[1]
    assert bound.model.encoder.encoded == 0


def _study(folder: Path, testset: TestSet, spec: str, name: str) -> None:
    """Run a study of one metric whose tables are kept nowhere else."""
    pytest.importorskip("pyarrow", reason="needs pip install 'gnomon[study]'")
    pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
    from gnomon import study

    testset.write(folder / name)
    file = folder / f"{name}.toml"
    file.write_text(
        f'metrics = ["{spec}"]\n[methods.score]\n[[testsets]]\npath = "{folder / name}"\n',
        encoding="utf-8",
    )
    assert not study.run(study.plan(study.read_study(file)), study.open_engine("here")).failed


def _write(folder: Path, testset: TestSet) -> None:
    texts = {
        "src": testset.sources or (),
        "ref": next(iter(testset.references.values())),
        **testset.systems,
    }
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")


@pytest.fixture(autouse=True)
def weights_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which weights were read, each time that some were."""
    from gnomon.learned import bleurt, metricx
    from gnomon.learned.weights import LearnedModel

    read: list[str] = []

    def counted(module: Any, name: str) -> None:
        reading = getattr(module, name)

        def noted(*args: Any) -> Any:
            read.append(name)
            return reading(*args)

        monkeypatch.setattr(module, name, noted)

    counted(LearnedModel, "weights")
    counted(bleurt, "_read_model")
    counted(metricx, "_read_model")
    return read


@pytest.fixture
def encodings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts each request to the encoder had."""
    from gnomon.learned.encoder import MetricEncoder

    counts: list[int] = []
    padded = MetricEncoder.padded

    def counted(self: Any, sequences: Any) -> Any:
        counts.append(len(sequences))
        return padded(self, sequences)

    monkeypatch.setattr(MetricEncoder, "padded", counted)
    return counts


def _real_set(found: Oracle) -> TestSet:
    rows = [row for row in found.compared if ":" in row["id"]][:8]
    return TestSet.from_lists(
        {name: [row[name] for row in rows] for name in ("mt", "mt2")},
        [row["ref"] for row in rows],
        sources=[row["src"] for row in rows],
        language_pair="de-en",
    )


@pytest.mark.parametrize("method", ["score", "compare", "muler", "stress", "bmx", "study"])
def test_methods_share_what_was_scored(
    oracle: Callable[[str, str], Oracle],
    method: str,
    encodings: list[int],
    weights_read: list[str],
    tmp_path: Path,
) -> None:
    found = oracle("regression", "sparsemax")
    testset = _real_set(found)
    spec = f"comet('{found.folder}', device='cpu')"
    numbers = iter(range(9))
    run: dict[str, Callable[[], object]] = {
        "score": lambda: gn.score(testset, spec),
        "compare": lambda: gn.compare(testset, spec, resamples=50),
        "muler": lambda: gn.muler.score(
            testset, spec, ["re:long"], pattern={"long": r"\w{6,}"}, masking="substitute"
        ),
        "stress": lambda: gn.stress(testset, spec, perturb=["number", "cut"]),
        "bmx": lambda: gn.bmx.explain(testset, spec, segments=[1, 2]),
        "study": lambda: _study(tmp_path, testset, spec, f"study{next(numbers)}"),
    }
    _forget()
    run[method]()
    assert sum(encodings) > 0
    encodings.clear()
    weights_read.clear()
    _forget()
    run[method]()
    assert sum(encodings) == len(weights_read) == 0
    for other in ("score", "compare", "study"):  # what one method scored, no other scores again
        _forget()
        run[other]()
        # but for two segments, and changed texts
        assert sum(encodings) == 0 or method in ("bmx", "stress")


def _damage(path: Path, statement: str) -> None:
    with sqlite3.connect(path / "gnomon-entries-1.sqlite3") as connection:
        connection.execute(statement)
    connection.close()


def test_damaged_entries_and_files_are_told_and_scored_again(
    oracle: Callable[[str, str], Oracle], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = oracle("unified", "kiwi")
    testset = found.testset()
    spec = f"cometkiwi('{found.folder}', device='cpu')"
    first, read = _scored(spec, testset)
    scores = tmp_path / "cache" / "gnomon-scores"
    score_store.score_cache().close()
    _damage(scores, "UPDATE entries SET value = zeroblob(8)")
    with caplog.at_level(logging.WARNING):
        again, count = _scored(spec, testset)
    assert count == read
    assert "damaged entries" in caplog.text
    np.testing.assert_array_equal(first, again)
    score_store.score_cache().close()
    (scores / "gnomon-entries-1.sqlite3").write_bytes(b"this is no database" * 1000)
    with caplog.at_level(logging.WARNING):
        again, count = _scored(spec, testset)
    assert count == read
    assert "is damaged: it is put aside" in caplog.text
    np.testing.assert_array_equal(first, again)
    assert _scored(spec, testset)[1] == 0


def test_a_place_that_cannot_be_written_costs_nothing_but_a_warning(
    oracle: Callable[[str, str], Oracle], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = oracle("unified", "kiwi")
    testset = found.testset()
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        scores, read = _scored(f"cometkiwi('{found.folder}', device='cpu')", testset)
    assert read > 0
    assert np.isfinite(scores).all()
    assert "GNOMON_SCORES_LIMIT=0" in caplog.text


def test_nothing_is_kept_with_a_limit_of_0_and_other_words_are_refused(
    oracle: Callable[[str, str], Oracle], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = oracle("unified", "kiwi")
    testset = found.testset()
    spec = f"cometkiwi('{found.folder}', device='cpu')"
    monkeypatch.setenv(score_store.LIMIT, "0")
    assert _scored(spec, testset)[1] == _scored(spec, testset)[1] > 0
    assert not (tmp_path / "cache").exists()
    monkeypatch.setenv(score_store.LIMIT, "1 GB")
    with pytest.raises(UsageError, match="number of bytes; got '1 GB'"):
        _scored(spec, testset)


def test_the_scores_used_last_stay_within_the_limit(
    oracle: Callable[[str, str], Oracle], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = oracle("unified", "kiwi")
    monkeypatch.setenv(score_store.LIMIT, str(1 << 16))
    cache = score_store.score_cache()
    kept = score_store.ScoreStore(("a model",))
    for number in range(40):
        inputs = [(f"{number} {n}", None) for n in range(100)]
        kept.scores(inputs, 1, lambda new: np.zeros((len(new), 1)))
    assert cache.stats().bytes <= 1 << 16
    asked: list[int] = []
    kept.scores(inputs, 1, lambda new: asked.extend(new) or np.zeros((len(new), 1)))  # type: ignore[func-returns-value]  # counts
    assert not asked
    assert found.folder


def test_texts_that_end_elsewhere_are_other_inputs() -> None:
    kept = score_store.ScoreStore(("a model",))
    inputs = [("ab", "c"), ("a", "bc"), ("abc", None), ("abc", ""), (None, "abc"), ("1+a", "-")]
    scores = np.arange(len(inputs), dtype=np.float64)[:, None] / 3
    kept.scores(inputs, 1, lambda new: scores[new])
    again = kept.scores(inputs[::-1], 1, lambda new: scores[new] * np.nan)
    assert again.tobytes() == scores[::-1].tobytes()


_PROCESS = """
import sys
from gnomon.core.testset import TestSet
from gnomon.metrics import parse
texts = [f"text {n}" for n in range(60)]
testset = TestSet(name="t", references={}, systems={"a": texts}, sources=texts[::-1])
print(parse(sys.argv[1]).bind(testset).segments(testset.batch()).tobytes().hex())
"""


@pytest.mark.verify
def test_two_processes_at_once_keep_one_set_of_scores(
    oracle: Callable[[str, str], Oracle],
) -> None:
    spec = f"cometkiwi('{oracle('unified', 'kiwi').folder}', device='cpu')"
    command = [sys.executable, "-c", _PROCESS, spec]
    running = [
        subprocess.Popen(command, env=dict(os.environ), stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert answers[0] == answers[1]
    texts = [f"text {n}" for n in range(60)]
    testset = _without_references({"a": texts}, texts[::-1])
    scores, read = _scored(spec, testset)
    assert (read, scores.tobytes().hex()) == (0, answers[0].strip())


def test_the_command_shows_and_clears_them_and_can_go_without(
    oracle: Callable[[str, str], Oracle],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    encodings: list[int],
) -> None:
    from gnomon.cli import main

    spec = f"cometkiwi('{oracle('unified', 'kiwi').folder}', device='cpu')"
    testset = _real_set(oracle("unified", "kiwi"))
    _write(tmp_path, testset)
    files = [str(tmp_path / f"{name}.txt") for name in ("ref", "mt", "mt2", "src")]
    data = [files[0], "-i", *files[1:3], "-s", files[3], "-m", spec]
    every = len({*zip(testset.sources or (), testset.systems["mt"], strict=True),
                 *zip(testset.sources or (), testset.systems["mt2"], strict=True)})  # fmt: skip

    def rows(*action: str) -> dict[str, int]:
        assert main(["cache", *action, "-f", "json"]) == 0
        return {row["what"]: row["entries"] for row in json.loads(capsys.readouterr().out)["rows"]}

    def encoded(*arguments: str) -> int:
        encodings.clear()
        _forget()
        assert main([*arguments, *data]) == 0
        capsys.readouterr()
        return sum(encodings)

    assert encoded("score") == every
    assert rows() == {"tags and explanations": 0, "scores of learned metrics": every}
    assert encoded("score") == 0
    explain = ("bmx", "explain", "--segments", "1", "--sides", "candidate")
    assert encoded(*explain, "--no-cache") > encoded(*explain) > 0
    assert rows("clear") == {"tags and explanations": 0, "scores of learned metrics": 0}
    assert encoded("score") == every
