"""The list of methods and public names that a script writes, and what is found by name."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from scripts.manifest import MANIFEST, made

from gnomon.core.manifest import imported

_CORE = MANIFEST.parent
#: what `core` asks of packages above it, and of modules of its own that import the one that asks
_BY_NAME = (
    "gnomon.alignment.aligning:align_outputs",
    "gnomon.core.scalars:name_scalars",
    "gnomon.core.scalars:table_scalars",
    "gnomon.core.tabular:brief_grid",
    "gnomon.core.tabular:cell_text",
    "gnomon.core.tabular:finding_to_latex",
    "gnomon.core.tabular:finding_to_markdown",
    "gnomon.data.formats:add_paraphrases",
    "gnomon.data.formats:read_frame",
    "gnomon.data.formats:read_human",
    "gnomon.data.formats:read_plain",
    "gnomon.data.formats:read_test_set",
    "gnomon.data.formats:write_test_set",
    "gnomon.linguistics.faults.files:anomalies",
    "gnomon.linguistics.faults.floor:lost_segments",
    "gnomon.linguistics.faults.floor:untranslated",
    "gnomon.metrics.registry:needs_of_specs",
    "gnomon.metrics.registry:reaches_of_spec",
    "gnomon.metrics.titles:metric_titles",
    "gnomon.report.charts:chart",
    "gnomon.report.rendering:scores_finding",
    "gnomon.report.terminal:render_brief",
)


def test_the_manifest_is_as_the_source_is() -> None:
    there = MANIFEST.read_text(encoding="utf-8")
    assert made(json.loads(there)["methods"]) == there, "run: python scripts/manifest.py"


def test_new_methods_stand_behind_their_group() -> None:
    listed = list(json.loads(made(["bmx.score", "compare"]))["methods"])
    assert listed[:4] == ["bmx.score", "bmx.explain", "bmx.tune", "compare"]


def constants(path: Path) -> set[str]:
    """The texts in a module."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    found = (node.value for node in nodes if isinstance(node, ast.Constant))
    return {value for value in found if isinstance(value, str)}


def test_core_finds_by_name_what_is_listed_here_and_nothing_else() -> None:
    texts = set().union(*map(constants, _CORE.rglob("*.py")))
    homes = {text for text in texts if re.fullmatch(r"gnomon[\w.]*:\w+", text)}
    assert sorted(homes) == list(_BY_NAME)


def test_core_imports_by_name_in_one_place() -> None:
    importing = {
        path.name for path in _CORE.rglob("*.py") if "import_module" in path.read_text("utf-8")
    }
    # what is exported lazily may be a module, and own code is imported where it is allowed
    assert importing == {"lazy.py", "manifest.py", "user_code.py"}


@pytest.mark.parametrize("home", _BY_NAME)
def test_what_is_found_by_name_is_there(home: str) -> None:
    assert callable(imported(home))
