"""Engines start when they are needed, and wait for workers that come late."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gnomon import study
from gnomon.core.errors import DataError, UsageError
from gnomon.studies import engines as _engines


def test_a_pool_starts_no_process_before_the_first_task() -> None:
    pytest.importorskip("loky", reason="needs loky: pip install 'gnomon[study]'")
    engine = study.open_engine("pool", workers=2)
    assert engine._made is None  # type: ignore[attr-defined]  # of the pool
    assert engine.submit(abs, -3).result() == 3
    engine.close()
    engine.close()
    assert engine.submit(abs, -4).result() == 4  # begins anew
    engine.close()


def test_a_pool_that_is_told_of_work_loads_what_it_needs_at_once() -> None:
    pytest.importorskip("loky", reason="needs loky: pip install 'gnomon[study]'")
    engine = study.open_engine("pool", workers=1)
    try:
        engine.prepare(["muler", "nothing.of.this.name"])
        engine.prepare(["score"])  # it has begun
        loaded = engine.submit(lambda: "gnomon.muler._score" in sys.modules)
        assert loaded.result()
    finally:
        engine.close()


_PROGRAM = """
import logging, sys, threading, time
from distributed import LocalCluster
from gnomon import study
if __name__ == "__main__":
    with LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None,
                      silence_logs=logging.CRITICAL) as cluster:
        threading.Timer(1.0, lambda: cluster.scale(2)).start()
        engine = study.open_engine(cluster.scheduler_address.replace("tcp", "dask"))
        first = engine.workers
        deadline = time.monotonic() + 600
        while engine.workers < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        print(first >= 1, engine.workers, engine.submit(abs, -3).result())
        engine.close()
"""


@pytest.mark.slow
@pytest.mark.verify
def test_a_cluster_may_grow(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs distributed: pip install 'gnomon[dask]'")
    file = tmp_path / "program.py"
    file.write_text(_PROGRAM)
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.stdout.split() == ["True", "2", "3"], done.stderr


@pytest.mark.parametrize("address", ["", "127.0.0.1", "127.0.0.1:abc", "[::1", "tcp://127.0.0.1:9"])
def test_what_is_no_address_of_a_cluster_is_refused(address: str) -> None:
    pytest.importorskip("distributed", reason="needs distributed: pip install 'gnomon[dask]'")
    with pytest.raises(UsageError, match="a cluster is named dask://HOST:PORT; got dask://"):
        study.open_engine(f"dask://{address}")


@pytest.mark.parametrize("listens", [False, True])
def test_a_cluster_that_does_not_answer_is_told(
    monkeypatch: pytest.MonkeyPatch, listens: bool
) -> None:
    pytest.importorskip("distributed", reason="needs distributed: pip install 'gnomon[dask]'")
    monkeypatch.setattr(_engines, "_ANSWER", 0.5)
    with socket.socket() as other:  # a page on port 8787, say
        other.bind(("127.0.0.1", 0))
        if listens:
            other.listen()
        address = f"dask://127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(DataError, match=r"no Dask scheduler answers at .*; start one"):
            study.open_engine(address)


_CLUSTER = """
import logging
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None,
                      silence_logs=logging.CRITICAL) as cluster:
        print(cluster.scheduler_address.replace("tcp", "dask"), flush=True)
        input()
"""
_DEADLY = """
import os, signal

def value(candidate, reference):
    if candidate == "s3":
        os.kill(os.getppid(), signal.SIGKILL)
    return 1.0
"""
_RUN = """
import sys
from gnomon.cli import main
from gnomon.studies import engines as _engines
_engines._ANSWER = 1.0
if __name__ == "__main__":
    sys.exit(main(["run", sys.argv[1], "--allow-code", "--engine", sys.argv[2]]))
"""


@pytest.mark.verify
@pytest.mark.slow
def test_a_cluster_that_goes_away_is_told_and_what_is_finished_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs distributed: pip install 'gnomon[dask]'")
    systems = tmp_path / "set" / "systems"
    systems.mkdir(parents=True)
    (tmp_path / "set" / "ref.A.txt").write_text("a b\nc d\n")
    for number in range(9):
        (systems / f"s{number}.txt").write_text(f"s{number}\na b\n")
    programs = {"cluster": _CLUSTER, "deadly": _DEADLY, "run": _RUN}
    for name, text in programs.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "study.toml").write_text(
        "metrics = [\"python('deadly:value')\"]\n[[testsets]]\npath = 'set'\n"
    )
    with subprocess.Popen(
        [sys.executable, "cluster.py"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as cluster:
        assert cluster.stdout is not None
        done = subprocess.run(
            [sys.executable, "run.py", "study.toml", cluster.stdout.readline().strip()],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        cluster.kill()
    assert done.returncode == 1
    assert "is gone" in done.stderr
    assert "finished tasks are kept: start a cluster, and run the study again" in done.stderr
    # distributed may log its own
    assert str(Path(study.__file__).parents[1]) not in done.stderr
    store = study.Store.open(tmp_path / "study.store")
    assert 0 < len(store.entries) < 9
