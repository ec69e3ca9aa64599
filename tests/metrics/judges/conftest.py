"""A chat server of its own for each test, and no proxy before it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.metrics.judges.chat_server import Chat, serving


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    for name in ("GNOMON_ALLOW_NETWORK", "GNOMON_ANSWERS", "GNOMON_JUDGE_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with serving(Chat()) as found:
        yield found
