"""A copy of GEMBA for tests, where it is there."""

from __future__ import annotations

import importlib.util
import os
import sys
import types
import zipfile
from pathlib import Path
from typing import Any

import pytest

#: a copy of GEMBA: a wheel or a folder; `pip download --no-deps gemba` makes one
VARIABLE = "GNOMON_GEMBA"


def copy_of_gemba() -> Path:
    """The copy that the environment names, or that is among the shared oracles; else skips."""
    shared = Path(os.environ.get("GNOMON_SHARED", "../shared")) / "oracles" / "gemba"
    named = os.environ.get(VARIABLE)
    places = [Path(named)] if named else [*sorted(shared.glob("*.whl")), shared]
    installed = importlib.util.find_spec("gemba")
    if installed is not None and installed.submodule_search_locations:
        places.append(Path(installed.submodule_search_locations[0]))
    for place in places:
        if place.exists():
            return place
    pytest.skip(f"needs a copy of GEMBA: pip download --no-deps gemba, {VARIABLE}=FILE")


def published_program(path: Path, name: str) -> dict[str, Any]:
    """What a file of GEMBA defines; its debugger and its colours are not needed."""
    if path.is_dir():
        code = next(iter(path.rglob(name))).read_text(encoding="utf-8")
    else:
        with zipfile.ZipFile(path) as archive:
            code = archive.read(f"gemba/{name}").decode("utf-8")
    stand_ins = {"ipdb": types.ModuleType("ipdb"), "termcolor": types.ModuleType("termcolor")}
    stand_ins["termcolor"].colored = lambda text, *_: text  # type: ignore[attr-defined]  # of a stand-in
    before = {name: sys.modules.get(name) for name in stand_ins}
    sys.modules.update(stand_ins)
    try:
        defined: dict[str, Any] = {}
        exec(compile(code, name, "exec"), defined)  # noqa: S102  # the published program is the oracle
    finally:
        for module, earlier in before.items():
            if earlier is None:
                del sys.modules[module]
            else:
                sys.modules[module] = earlier
    return defined
