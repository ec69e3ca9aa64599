"""Data that modules read from files beside them: word lists, names, templates."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["data_beside"]


@cache
def data_beside(module: str) -> dict[str, Any]:
    """The TOML file of a module's name that lies beside it: ``data_beside(__file__)``."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text("utf-8"))
