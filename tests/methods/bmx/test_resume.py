"""A run that was killed goes on where it was."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes cannot be killed here")
def test_a_run_killed_at_any_of_twenty_points_goes_on_and_ends_alike(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "tests.methods.bmx.killed", str(tmp_path)],
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    runs = [json.loads(line) for line in process.stdout.splitlines()]
    assert len(runs) == 20
    for run in runs:
        assert run["ended"] == -signal.SIGKILL
        assert run["same"]
    assert max(run["again"] for run in runs) == runs[0]["total"]  # killed at once
    late = [run for run in runs if run["end"] > run["total"] / 2]
    assert all(run["again"] < run["total"] * 0.6 for run in late)
    # no more is lost than the group that was under way
    assert all(run["again"] <= run["total"] - run["end"] + 100 for run in runs)
