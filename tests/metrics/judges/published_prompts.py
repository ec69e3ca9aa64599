"""Copies of GEMBA for tests: the published one, where it is there, and one in other words."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import types
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gnomon.metrics.judges import published

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


def in_other_words(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """A copy whose strings are others, which count as the published ones from here on."""
    places = "from {source_lang} to {target_lang}: '{source_seg}' > '{target_seg}'"
    texts = {
        name: f"Words of {name}. {places}"
        + (" vs '{reference_seg}'" if "reference" in name else "")
        for name in published.HASHES
    }
    texts["classes"] = f'Is it "Bad", "So so" or "Very good"? {places}\nClass: '
    texts["esa score"] = f"Score it {places} after ```{{error_spans}}``` Score: "
    for name in texts:
        if name.endswith(" system") or name.startswith("shot"):
            texts[name] = f"Words of {name}"
        if name.startswith("shot") and name.endswith(("mqm", "esa")):
            texts[name] = f'Major:\nstyle/awkward - "Words of {name}"\n'
    hashes = {name: (hashlib.sha256(text.encode()).hexdigest(),) for name, text in texts.items()}
    monkeypatch.setattr(published, "HASHES", hashes)
    file = folder / "gemba_copy.py"
    file.write_text("texts = " + repr(list(texts.values())) + "\n", encoding="utf-8")
    return file
