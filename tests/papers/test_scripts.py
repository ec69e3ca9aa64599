"""Scripts of papers use what is public, stay small, and say which figure each is of."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

_PAPERS = Path(__file__).resolve().parents[2] / "papers"
_SCRIPTS = sorted(_PAPERS.rglob("*.py"))
#: statements of all scripts together
_MOST = 2500


def _imports(tree: ast.Module) -> list[str]:
    """Modules and names of gnomon that a script imports, with dots."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.split(".")[0] == "gnomon"]


@pytest.mark.parametrize("script", _SCRIPTS, ids=lambda path: path.stem)
def test_a_script_uses_public_names_alone(script: Path) -> None:
    tree = ast.parse(script.read_text(encoding="utf-8"))
    for name in _imports(tree):
        home, _, thing = name.rpartition(".")
        assert not any(part.startswith("_") for part in name.split(".")), name
        assert thing in importlib.import_module(home).__all__, name
    private = [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_")
    ]
    assert set(private) <= {"_asdict", "_replace"}  # of named tuples


def test_scripts_stay_small() -> None:
    statements = [
        node
        for script in _SCRIPTS
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))
        if isinstance(node, ast.stmt)
    ]
    assert len(statements) <= _MOST


@pytest.mark.parametrize("folder", sorted({script.parent for script in _SCRIPTS}), ids=str)
def test_the_readme_of_a_paper_has_each_script(folder: Path) -> None:
    readme = (folder / "README.md").read_text(encoding="utf-8")
    for script in folder.glob("*.py"):
        assert f"python papers/{folder.name}/{script.name}" in readme
