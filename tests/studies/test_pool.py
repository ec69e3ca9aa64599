"""The pool of processes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon import study

pytest.importorskip("loky", reason="needs loky: pip install 'gnomon[study]'")
psutil = pytest.importorskip(
    "psutil", reason="loky looks at the memory of workers where psutil is there"
)


def test_a_worker_that_has_loaded_much_goes_on() -> None:
    def grown() -> int:
        import builtins

        builtins.kept = b"x" * 400_000_000  # type: ignore[attr-defined]  # as a model is kept
        time.sleep(1.1)  # loky looks once a second
        return os.getpid()

    engine = study.open_engine("pool", workers=1)
    try:
        first = engine.submit(os.getpid).result()
        assert engine.submit(grown).result() == first
        assert {engine.submit(os.getpid).result() for _ in range(2)} == {first}
    finally:
        engine.close()


_HOLDING = """
import os, re, time
from pathlib import Path

def value(candidate, reference):
    Path(os.environ["MARKS"], f"{os.getpid()}-{candidate}").touch()
    if os.environ.get("HOLD") and candidate in os.environ["HOLD"]:
        re.match("(a+)+$", "a" * 60 + "b")  # years, in which no other thread runs
    return float(len(candidate))
"""


@pytest.fixture
def holding(tmp_path: Path) -> Path:
    """A study whose metric holds its worker for ever where it is told to."""
    systems = tmp_path / "set" / "systems"
    systems.mkdir(parents=True)
    (tmp_path / "marks").mkdir()
    (tmp_path / "set" / "ref.A.txt").write_text("a b\nc d\n")
    for name in "stuvwxyz":
        (systems / f"{name}.txt").write_text(f"{name}\n{name} d\n")
    (tmp_path / "holding.py").write_text(_HOLDING)
    file = tmp_path / "study.toml"
    file.write_text("metrics = ['chrf', \"python('holding:value')\"]\n[[testsets]]\npath = 'set'\n")
    return file


def _started(file: Path, *options: str, hold: str = "") -> subprocess.Popen[str]:
    folder = file.parent
    command = [sys.executable, "-m", "gnomon", "run", str(file), "--allow-code", *options]
    names = {"MARKS": str(folder / "marks"), "HOLD": hold, "PYTHONPATH": _path(folder)}
    return subprocess.Popen(
        command,
        env={**os.environ, **names},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # what it leaves behind can be told by its session
    )


def _path(folder: Path) -> str:
    return os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _left(session: int) -> list[str]:
    """The processes of a session that go on."""
    found = []
    for one in psutil.process_iter():
        try:
            if os.getsid(one.pid) == session and one.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(one.cmdline()))
        except (psutil.Error, ProcessLookupError):
            continue
    return found


def _tables(file: Path) -> dict[str, bytes]:
    store = study.Store.open(file.with_suffix(".store"))
    found = {str(f.relative_to(store.path)): f.read_bytes() for f in store.path.glob("tables/*/*")}
    assert sorted(store.entries) == sorted({Path(name).stem for name in found})
    return found


def _finished(file: Path, *options: str) -> dict[str, bytes]:
    """The files of a run that nothing disturbs."""
    run = _started(file, *options)
    _, said = run.communicate(timeout=600)
    assert run.returncode == 0, said
    return _tables(file)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends what no thread can look at")
@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGKILL, marks=pytest.mark.verify), signal.SIGTERM]
)
def test_workers_end_with_their_driver_in_the_midst_of_a_compiled_loop(
    holding: Path, how: signal.Signals
) -> None:
    run = _started(holding, "--workers", "2", hold="wz")
    _wait_for(lambda: {f.name[-1] for f in (holding.parent / "marks").iterdir()} >= set("wz"))
    run.send_signal(how)
    _, said = run.communicate(timeout=600)  # to the end of what all of them could say
    _wait_for(lambda: not _left(run.pid))
    if how == signal.SIGKILL:
        assert run.returncode == -how
    else:
        assert run.returncode == 128 + how
        assert "interrupted by SIGTERM; finished tasks are kept in the store; the same" in said
        assert "Traceback" not in said
    assert len(_finished(holding, "--engine", "here")) == 2 * 2 * 8  # metrics, tables, systems


def test_an_interrupt_from_the_terminal_is_said_in_one_line(holding: Path) -> None:
    run = _started(holding, "--workers", "2")
    _wait_for(lambda: len(_left(run.pid)) > 1)  # workers are on their way
    os.killpg(run.pid, signal.SIGINT)
    _, said = run.communicate(timeout=600)  # also of the workers, and of trackers of semaphores
    assert run.returncode == 130
    assert said.strip().split("\n")[-1].startswith("gnomon: interrupted; finished tasks are kept")
    assert "Traceback" not in said
    assert "resource_tracker" not in said


@pytest.mark.parametrize(
    "kills", [pytest.param(1, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.verify)]
)
def test_a_pool_that_is_ended_at_any_time_leaves_no_process_and_resumes_to_the_same_bytes(
    holding: Path, kills: int
) -> None:
    expected = _finished(holding, "--engine", "here")
    store = holding.parent / "study.store"
    draw = random.Random(15)
    ways = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    for kill in range(kills):
        store.rename(holding.parent / f"{kill}.store")
        run = _started(holding, "--workers", "2")
        _wait_for(store.exists)
        time.sleep(draw.uniform(0.0, 3.0))
        run.send_signal(ways[kill % len(ways)])
        run.communicate(timeout=600)
        _wait_for(lambda run=run: not _left(run.pid))
        assert (
            _finished(holding, *(("--workers", "2") if kill % 2 else ("--engine", "here")))
            == expected
        )


@pytest.mark.verify
def test_what_is_odd_in_texts_is_said_once_and_not_by_each_worker(holding: Path) -> None:
    texts = "".join(f"line {number} of a text\n" for number in range(12))
    for file in (holding.parent / "set").rglob("*.txt"):
        file.write_text(texts.replace("of", file.stem))
    (holding.parent / "set" / "systems" / "s.txt").write_text(texts.replace("of", "ref.A"))
    run = _started(holding, "--workers", "2")
    _, said = run.communicate(timeout=600)
    assert run.returncode == 0, said
    assert said.count("is the same text as the reference") == 1
