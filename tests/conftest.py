"""Fixtures that all rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")

_ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real test data that must not be redistributed."""
    path = Path(os.environ.get("GNOMON_SHARED", _ROOT.parent / "shared"))
    if not (path / "data").is_dir():
        pytest.skip(f"the research-only test data are not at {path} (set GNOMON_SHARED)")
    return path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path_factory.mktemp("cache")))
