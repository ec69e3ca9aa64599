"""What a user's function rests on: its module, and whatever that imports, by content or version."""

from __future__ import annotations

import ast
import importlib.util
import platform
import sys
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.metrics._code import imported
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec

__all__ = ["code_identity"]

_INSTALLED = frozenset({"site-packages", "dist-packages"})


def code_identity(target: str) -> str:
    """A hash of the code that ``module:function`` runs; imports, and so runs, the module.

    Modules that it imports count with their content, and installed packages with their version.
    Python's own modules do not count, and nothing is known of files that the code reads.

    Raises:
        GnomonError: the function cannot be imported.
    """
    imported(target)
    found: dict[str, str] = {}
    root = target.partition(":")[0]
    left = [root]
    while left:
        name = left.pop()
        top, _, _ = name.partition(".")
        if name in found or (top in (*sys.stdlib_module_names, "gnomon") and name != root):
            continue
        parent = name.rpartition(".")[0]
        left += [parent] if parent else []
        found[name], more = _looked_at(name, root=name == root)
        left += more
    return content_hash(*(f"{name} {said}" for name, said in sorted(found.items())))


def _looked_at(name: str, *, root: bool) -> tuple[str, list[str]]:
    """The identity of a module, and the names of what it imports."""
    spec = _spec_of(name)
    if spec is None:  # a name within a module, or what is not here
        return "none", []
    released = _released(name, spec)
    if released and not root:
        return released, []
    file = Path(spec.origin or "")
    if not spec.has_location or not file.is_file():
        return (platform.python_version() if spec.origin else "folder"), []
    content = file.read_bytes()
    more = list(_imports(content, spec.parent or "")) if file.suffix == ".py" else []
    return f"{released} {content_hash(content)}", more


def _spec_of(name: str) -> ModuleSpec | None:
    """Where a module is, without running it or the packages that it lies in."""
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__spec__ is not None:
        return loaded.__spec__
    parent = name.rpartition(".")[0]
    try:
        if not parent:
            return importlib.util.find_spec(name)
        above = _spec_of(parent)
        places = above and above.submodule_search_locations
        return PathFinder.find_spec(name, places) if places else None
    except (ImportError, ValueError):
        return None


def _released(name: str, spec: ModuleSpec) -> str:
    """The version of the installed package that a module is of; "" for all others."""
    places = [spec.origin or "", *(spec.submodule_search_locations or ())]
    if not any(_INSTALLED & set(Path(place).parts) for place in places):
        return ""
    packages = sorted(set(_packages().get(name.partition(".")[0], ())))
    return ", ".join(f"{one} {version(one)}" for one in packages)


@lru_cache(maxsize=1)
def _packages() -> Mapping[str, Sequence[str]]:
    return packages_distributions()


def _imports(source: bytes, package: str) -> Iterator[str]:
    """What a source imports anywhere, names within modules among it."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        if isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            if base:
                yield base
                yield from (f"{base}.{one.name}" for one in node.names if one.name != "*")


def _absolute(node: ast.ImportFrom, package: str) -> str:
    try:
        return importlib.util.resolve_name("." * node.level + (node.module or ""), package)
    except ImportError:
        return ""
