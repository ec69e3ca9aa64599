"""The example of a gate, run as continuous integration runs it: curl and jq against a server."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .conftest import serving
from .test_api import BETTER, REFERENCE, WORSE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Done = subprocess.CompletedProcess[str]
    Gate = Callable[..., Done]

_SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "ci-gate" / "gate.sh"
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("sh", "curl", "jq"))), reason="needs sh, curl and jq"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What the script finds in its environment: the address of a server, and a token."""
    with serving(tmp_path_factory.mktemp("gate")) as app:
        token = app.state.access.launch_token()
        yield {"GNOMON_URL": app.state.settings.address, "GNOMON_TOKEN": token}


@pytest.fixture
def gate(server: dict[str, str], tmp_path: Path) -> Gate:
    def run(
        baseline: list[str], candidate: list[str], **more: str
    ) -> subprocess.CompletedProcess[str]:
        for name, lines in (("ref", REFERENCE), ("base", baseline), ("new", candidate)):
            (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
        return subprocess.run(
            ["sh", str(_SCRIPT), "ref.txt", "base.txt", "new.txt"],
            cwd=tmp_path,
            env={**os.environ, **server, **more},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_candidate_that_is_worse_fails_and_says_where_to_look(gate, server) -> None:
    done = gate(BETTER, WORSE)
    assert done.returncode == 3, done.stderr
    failed, look = done.stdout.splitlines()
    assert failed.startswith("The gate failed: candidate is worse than baseline under chrf by ")
    assert look.startswith(f"See {server['GNOMON_URL']}/studies/")


def test_a_candidate_that_is_better_passes_and_the_verdict_is_printed(gate) -> None:
    done = gate(WORSE, BETTER)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "candidate is better than baseline" in done.stdout


def test_what_makes_no_comparison_is_told_with_a_way_on(gate) -> None:
    done = gate(BETTER, WORSE[:-1])
    assert done.returncode == 1
    assert "Line N of every file must be the same segment" in done.stderr
    done = gate(BETTER, WORSE, GNOMON_TOKEN=str(None))
    assert done.returncode == 1
    assert "You are not signed in" in done.stderr
