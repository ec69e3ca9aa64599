"""The manifest of gnomon: methods and public names with their places, each found by its name.

``manifest.json`` beside this module is written of the source by ``scripts/manifest.py``, so that
help and imports read no source and load nothing that computes.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["BUILT_IN", "EXPORTS", "GROUPS", "MethodEntry", "imported"]


class MethodEntry(NamedTuple):
    """A built-in method, as it is known before it is imported."""

    home: str  # `module:function`
    title: str  # what its page in a study is called
    purpose: str  # what it does


_CONTENT = json.loads(Path(__file__).with_suffix(".json").read_bytes())

#: the built-in methods, in the order in which they are listed
BUILT_IN: dict[str, MethodEntry] = {k: MethodEntry(**v) for k, v in _CONTENT["methods"].items()}
#: what their groups answer
GROUPS: dict[str, str] = _CONTENT["groups"]
#: the public names of packages that import them when they are used, each with its module
EXPORTS: dict[str, dict[str, str]] = _CONTENT["exports"]


def imported(home: str) -> Any:
    """The object that ``module:name`` names, imported when it is asked for.

    This package depends on no other one: what it asks of those above it, it finds by this alone.
    """
    module, _, name = home.partition(":")
    return getattr(importlib.import_module(module), name)
