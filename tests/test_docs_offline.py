"""What scripts/docs_offline.py finds in pages that load something over a network, and what not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "docs_offline.py"


def _loads(folder: Path) -> list[str]:
    spec = importlib.util.spec_from_file_location("docs_offline", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [what for _, what in module.network_loads(folder)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", '<script defer src="https://cdn.example/mathjax.js"></script>'),
        ("a.html", '<link href="//fonts.example/x.css" rel="stylesheet">'),
        ("a.html", "<img alt='' src='http://example/x.png'>"),
        ("a.css", "@import 'https://example/x.css';"),
        ("a.css", "b { background: url(//example/x.png) }"),
        ("a.js", 'import("https://example/x.js")'),
    ],
)
def test_what_a_page_fetches_is_found(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert len(_loads(tmp_path)) == 1


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://example/">a link</a> <script src="_static/x.js"></script>',
        '<link rel="stylesheet" href="_static/x.css"> <link rel="author" href="https://example/">',
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math>',
    ],
)
def test_links_and_files_of_the_site_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.html").write_text(text, encoding="utf-8")
    assert _loads(tmp_path) == []
