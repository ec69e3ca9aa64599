"""Engines start when they are needed, and wait for workers that come late."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gnomon import study


def test_a_pool_starts_no_process_before_the_first_task() -> None:
    pytest.importorskip("loky", reason="needs loky: pip install 'gnomon[study]'")
    engine = study.open_engine("pool", workers=2)
    assert engine._made is None  # type: ignore[attr-defined]  # of the pool
    assert engine.submit(abs, -3).result() == 3
    engine.close()
    engine.close()
    assert engine.submit(abs, -4).result() == 4  # begins anew
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
def test_a_cluster_may_grow(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs distributed: pip install 'gnomon[dask]'")
    file = tmp_path / "program.py"
    file.write_text(_PROGRAM)
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.stdout.split() == ["True", "2", "3"], done.stderr
