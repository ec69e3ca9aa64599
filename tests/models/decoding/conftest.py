"""Tiny models that all tests of decoding share."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon.models import Seq2Seq, load_seq2seq

_NEEDED = "needs torch and transformers: pip install 'gnomon[models]'"


@pytest.fixture(scope="session", params=["marian", "bart", "t5"])
def any_seq2seq(request: Any, tmp_path_factory: Any) -> Seq2Seq:
    """A random model of each architecture."""
    return _built(tmp_path_factory, kind=request.param, seed=3)


@pytest.fixture(scope="session")
def seq2seq(tmp_path_factory: Any) -> Seq2Seq:
    """A random model with a vocabulary of 12 pieces beside padding, of which 10 are words."""
    return _built(tmp_path_factory, seed=7)


@pytest.fixture(scope="session")
def coded(tmp_path_factory: Any) -> Seq2Seq:
    """A random model with three sentence codes."""
    return _built(tmp_path_factory, seed=2, codes=3)


@pytest.fixture(scope="session")
def mostly_coded(tmp_path_factory: Any) -> Seq2Seq:
    """A random model with more codes than words, so that it would like to say them anywhere."""
    return _built(tmp_path_factory, seed=2, codes=40)


def _built(tmp_path_factory: Any, **options: Any) -> Seq2Seq:
    pytest.importorskip("torch", reason=_NEEDED)
    pytest.importorskip("transformers", reason=_NEEDED)
    from tests.models.tiny_seq2seq import build

    return load_seq2seq(str(build(tmp_path_factory.mktemp("seq2seq") / "tiny", **options)))
