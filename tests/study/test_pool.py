"""The pool of processes."""

from __future__ import annotations

import os
import time

import pytest

from gnomon import study

pytest.importorskip("loky", reason="needs loky: pip install 'gnomon[study]'")
pytest.importorskip("psutil", reason="loky looks at the memory of workers where psutil is there")


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
