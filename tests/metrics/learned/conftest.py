"""Checkpoints of the oracles, converted once for all tests of the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from gnomon.core.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Callable


class Oracle(NamedTuple):
    """A converted model, and what the original package says of some texts."""

    folder: str
    expected: dict[str, Any]
    rows: list[dict[str, str]]

    def testset(self, *, references: bool = True, sources: bool = True) -> TestSet:
        """The rows that are compared, as one system's."""
        rows = self.compared
        return TestSet.from_lists(
            {"system": [row["mt"] for row in rows]},
            [row["ref"] for row in rows] if references else None,
            sources=[row["src"] for row in rows] if sources else None,
        )

    @property
    def compared(self) -> list[dict[str, str]]:
        """All rows but those that spell special tokens, which are text to us."""
        return [row for row in self.rows if not row["id"].startswith("literal-")]

    def kept(self, values: list[Any]) -> list[Any]:
        """The values of the rows that are compared."""
        pairs = zip(self.rows, values, strict=True)
        return [one for row, one in pairs if not row["id"].startswith("literal-")]


@pytest.fixture(autouse=True)
def _nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compared is computed here and now."""
    monkeypatch.setenv("GNOMON_SCORES_LIMIT", "0")


@pytest.fixture(scope="session")
def oracles(shared: Path) -> Path:
    """The folder of learned metrics with random weights."""
    for package in ("torch", "transformers", "tokenizers", "yaml", "safetensors"):
        pytest.importorskip(package, reason="needs pip install 'gnomon[models]'")
    return shared / "oracles" / "learned"


@pytest.fixture(scope="session")
def oracle(oracles: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Oracle]:
    """From a family and a model to the oracle; converted when first asked for."""
    from gnomon.learned import convert

    home = tmp_path_factory.mktemp("converted")
    known: dict[tuple[str, str], Oracle] = {}

    def found(family: str, model: str) -> Oracle:
        if (family, model) not in known:
            place = oracles / family
            own = {}
            if model == "minilm":
                own = {"encoder": place / "encoder_minilm", "vocabulary": place / "encoder"}
            options = {key: str(path) for key, path in own.items()}
            into = str(home / family / model)
            convert(str(place / model), into=into, **options)
            said = json.loads((place / "expected.json").read_text(encoding="utf-8"))
            models = said["models"] | said.get("sentinel", {}).get("models", {})
            lines = (place / "inputs.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
            rows = [json.loads(line) for line in lines]
            known[family, model] = Oracle(into, models[model], rows)
        return known[family, model]

    return found
