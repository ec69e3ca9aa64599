"""The page on Python names everything that is public, and all of that has a docstring."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import gnomon

_PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "python.md"
#: names under which the page has packages that gnomon exports, by where they stand
_PUBLIC = {home: f"gnomon.{name}" for name, home in gnomon._MODULES.items()}
_PACKAGES = [
    "gnomon",
    *(
        info.name
        for info in pkgutil.walk_packages(gnomon.__path__, "gnomon.")
        if info.ispkg and "._" not in info.name
    ),
]


def _found(name: str) -> object:
    """What stands behind a name with dots; packages that can be called are no obstacle."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)


@pytest.fixture(scope="module")
def page() -> str:
    return _PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def documented(page: str) -> list[object]:
    """The objects that the page documents one by one."""
    names = re.findall(r"^\.\. auto(?:function|class|exception):: (\S+)", page, re.MULTILINE)
    return [_found(name) for name in names]


def test_what_the_page_documents_is_there_once(page: str, documented: list[object]) -> None:
    names = re.findall(r"^\.\. auto\w+:: (\S+)", page, re.MULTILINE)
    assert sorted({name for name in names if names.count(name) > 1}) == []
    assert documented


def _public(package: str) -> str:
    """A package as users import it: ``gnomon.muler`` is ``gnomon.muler``."""
    home = next((one for one in _PUBLIC if f"{package}.".startswith(f"{one}.")), None)
    return _PUBLIC[home] + package[len(home) :] if home else package


@pytest.mark.parametrize("package", _PACKAGES)
def test_a_package_is_documented_whole(package: str, page: str, documented: list[object]) -> None:
    module, public = importlib.import_module(package), _public(package)
    if f".. automodule:: {public}\n   :members:" in page or not hasattr(module, "__all__"):
        return
    missing = []
    for name in module.__all__:
        one = getattr(module, name)
        if isinstance(one, ModuleType) or name.startswith("__"):
            continue
        if inspect.isclass(one) or inspect.isfunction(one):
            by_module = f".. automodule:: {_public(one.__module__)}\n   :members:" in page
            if not (by_module or any(one is other for other in documented)):
                missing.append(name)
            assert one.__doc__, f"{public}.{name} has no docstring"
        elif f"`{public}.{name}`" not in page:
            missing.append(name)
    assert missing == [], f"{_PAGE.name} lacks names of {public}"
