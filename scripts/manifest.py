"""Writes src/gnomon/core/manifest.json: which methods and public names gnomon has, and where.

    python scripts/manifest.py            writes it
    python scripts/manifest.py --check    says whether it is as the source is, and writes nothing

Methods are listed in the order in which the file has them already, new ones behind their group;
lines that are moved by hand stay where they are. Nothing of gnomon is imported.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SOURCE = Path(__file__).resolve().parents[1] / "src"
MANIFEST = SOURCE / "gnomon" / "core" / "manifest.json"


def made(known: Iterable[str] = ()) -> str:
    """The file as the source is now; methods that are known stand in this order."""
    trees = _trees()
    methods = {
        name: entry for module, tree in trees.items() for name, entry in _methods(module, tree)
    }
    order = [name for name in known if name in methods]
    for name in sorted(set(methods) - set(order)):
        group = name.partition(".")[0]
        last = [number for number, other in enumerate(order) if other.partition(".")[0] == group]
        order.insert(last[-1] + 1 if last else len(order), name)
    methods = {name: methods[name] for name in order}
    exports = {module: dict(sorted(_exports(tree))) for module, tree in trees.items()}
    content = {
        "methods": methods,
        "groups": dict(_groups(methods, trees)),
        "exports": {module: exports[module] for module in trees if _is_lazy(trees[module])},
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


@cache
def _trees() -> Mapping[str, ast.Module]:
    """The packages, and the modules that have methods or export lazily, by name."""
    texts = {path: path.read_text("utf-8") for path in sorted((SOURCE / "gnomon").rglob("*.py"))}
    return {
        _module(path): ast.parse(text)
        for path, text in texts.items()
        if path.name == "__init__.py"
        or re.search(r"^@method\(|= lazy_exports\(", text, re.MULTILINE)
    }


def _module(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def _methods(module: str, tree: ast.Module) -> Iterator[tuple[str, dict[str, str]]]:
    """The functions of a module that are methods, by name."""
    texts = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for function in tree.body:
        for decorator in getattr(function, "decorator_list", ()):
            match decorator:
                case ast.Call(ast.Name("method"), [ast.Constant(str(name))], keywords):
                    said = {
                        word.arg: getattr(word.value, "value", None)
                        or texts.get(getattr(word.value, "id", ""))
                        for word in keywords
                    }
                    yield (
                        name,
                        {
                            "home": f"{module}:{getattr(function, 'name', '')}",
                            "title": str(said.get("title") or in_words(name)),
                            "purpose": str(said["purpose"]),
                        },
                    )


def in_words(name: str) -> str:
    """The title of a method that has none of its own."""
    return name.replace(".", " ").replace("_", " ").capitalize()


def _groups(
    methods: Mapping[str, Mapping[str, str]], trees: Mapping[str, ast.Module]
) -> Iterator[tuple[str, str]]:
    """What groups of methods answer: the first line of their package's docstring."""
    for name, entry in methods.items():
        group = name.rpartition(".")[0]
        if group and group not in methods:
            package = f"{entry['home'].partition(f'.{group}.')[0]}.{group}"
            said = ast.get_docstring(trees[package]) or ""
            yield group, said.partition("\n")[0].partition(": ")[2].rstrip("?.")


def _is_lazy(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "lazy_exports"
        for node in tree.body
    )


def _exports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What a package imports for others (``import name as name``): name, module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if alias.asname == alias.name:
                    yield alias.name, node.module


def main() -> int:
    """Write the file, or say whether it is as the source is."""
    there = MANIFEST.read_text("utf-8")
    now = made(json.loads(there)["methods"])
    if "--check" in sys.argv[1:]:
        return int(now != there)
    MANIFEST.write_text(now, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
