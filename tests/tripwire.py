"""What a text reaches when it is read: files that it names, hosts, modules, commands.

The interpreter's audit events tell of each file that is opened or listed, each host that is looked
up, each module that is imported and each program that is started; ``os.stat`` and its like, which
have none, are replaced for the while. Names of canaries hold a word that nothing else has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

WORD = "gnomoncanary"
HOST = f"{WORD}.invalid"
MODULE = f"{WORD}_module"
#: of an import the name and the file alone: all its searches are told, too
_ARGUMENTS = {"import": 2}
_PROBES = ("stat", "lstat", "access", "readlink")
_watching: list[list[str]] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if _watching and event not in ("compile", "object.__getattr__"):
        told = arguments[: _ARGUMENTS.get(event, len(arguments))]
        if any(WORD in repr(argument) for argument in told):
            _watching[-1].append(f"{event}{told!r:.200}")


sys.addaudithook(_note)


@contextmanager
def watching() -> Iterator[list[str]]:
    """What reaches a canary in the meantime."""
    reached: list[str] = []

    def probe(name: str) -> object:
        original = getattr(os, name)

        def probed(path: object, *args: object, **kwargs: object) -> object:
            if WORD in str(path):
                reached.append(f"os.{name}({path!r:.200})")
            return original(path, *args, **kwargs)

        return mock.patch.object(os, name, probed)

    _watching.append(reached)
    patches = [probe(name) for name in _PROBES]
    try:
        for patch in patches:
            patch.start()
        yield reached
    finally:
        for patch in patches:
            patch.stop()
        _watching.pop()


def canaries(folder: Path) -> tuple[str, ...]:
    """Texts that name a file, a folder, a host, a module or a command, in every way of gnomon's."""
    inside = folder / WORD
    inside.mkdir(exist_ok=True)
    for name in ("a.txt", "a.tsv", "a.toml", "a.json"):
        (inside / name).write_text("a\t1\n", encoding="utf-8")
    (folder / f"{MODULE}.py").write_text("def function(*_):\n    return 1.0\n", encoding="utf-8")
    file = str(inside / "a.txt")
    return (
        file,
        str(inside),
        f"x={inside / 'a.tsv'}",
        f"python('{MODULE}:function')",
        f"x=python('{MODULE}:function')",
        f"scores('{inside / 'a.tsv'}')",
        f"http://{HOST}/v1",
        f"{MODULE}:function",
        f"spacy:{MODULE}.model",
        f"package:{MODULE}/model",
        MODULE,
        str(inside / "a.toml"),
        f"file('{file}')",
        f"variants('{file}')",
        f"@{file}",
        f"file://{file}",
        f"lex:{file}",
        f"cp {file} {file}.copy",
    )
