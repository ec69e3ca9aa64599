"""Writes the lock files of requirements/ from pyproject.toml, by uv.

    python scripts/lock.py              versions that are there and still fit stay
    python scripts/lock.py --upgrade    the newest of everything
    python scripts/lock.py --outdated   says what the locks hold back, and writes nothing

One universal file each serves all supported versions of Python, with hashes: what installs gnomon
from source, what the demo needs, what tests need (in the same versions), and a compiler for where
there is none.
torch stands in none of them: it is a step of its own (Makefile).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "requirements"
_DEMO = ("serve", "spacy", "study")
_TEST = (
    *("check", "concreteness", "dask", "excel", "figures", "frames", "hanta", "ja", "judge", "ko"),
    *("models", "pymorphy", "rouge", "sentiment", "stress", "sudachi", "training"),
)
#: the groups and the extras of pyproject.toml that each file holds
CONTENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "installer": ("installer", ()),
    "demo": ("demo", _DEMO),
    "test": ("test", (*_DEMO, *_TEST)),
    "compiler": ("compiler", ()),
}
_PIN = re.compile(r"^([a-z0-9][a-z0-9.-]*)==(\S+)(?: ; (.*?))?(?: \\)?$", re.MULTILINE)


def read_pins(text: str) -> dict[str, dict[str, str]]:
    r"""The locked versions by package, and by the marker they stand under ("" for all).

    >>> read_pins("numpy==2.4 ; python_version < '3.12' \\\n    --hash=sha256:ab\n")
    {'numpy': {"python_version < '3.12'": '2.4'}}
    """
    pins: dict[str, dict[str, str]] = {}
    for name, version, marker in _PIN.findall(text):
        pins.setdefault(name, {})[marker] = version
    return pins


def write_locks(folder: Path, *, upgrade: bool, only: tuple[str, ...] = ()) -> None:
    """Compile all lock files into a folder, where older ones may lie.

    Args:
        folder: where they are written.
        upgrade: take the newest of everything.
        only: packages of which the newest is taken, and of others what is there.
    """
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        sys.exit("uv is not installed here; run: make lock")
    newer = ["--upgrade"] if upgrade else [f"--upgrade-package={name}" for name in only]
    for name, (group, extras) in CONTENTS.items():
        chosen = ["pyproject.toml"] * bool(extras)  # gnomon's own dependencies
        chosen += [f"--extra={extra}" for extra in extras]
        agreeing = {"demo": "installer.lock", "test": "demo.lock"}
        chosen += ["--constraints", str(folder / agreeing[name])] if name in agreeing else []
        subprocess.run(  # noqa: S603  # uv, with fixed arguments
            [
                *(uv, "pip", "compile", "-q", f"--group=pyproject.toml:{group}", *chosen),
                *("--universal", "--python-version=3.11", "--generate-hashes", *newer),
                *("--custom-compile-command", "make lock", "-o", str(folder / f"{name}.lock")),
            ],
            cwd=ROOT,
            check=True,
        )


def find_newer(
    locked: dict[str, dict[str, str]], newest: dict[str, dict[str, str]]
) -> dict[str, tuple[str, str]]:
    """Packages of which there is another version, with the locked one and that.

    >>> find_newer({"a": {"": "1"}, "b": {"": "2"}}, {"a": {"": "3"}, "b": {"": "2"}})
    {'a': ('1', '3')}
    """
    return {
        name: (", ".join(locked[name].values()), ", ".join(versions.values()))
        for name, versions in sorted(newest.items())
        if name in locked and set(versions.values()) != set(locked[name].values())
    }


def locked_pins(folder: Path) -> dict[str, dict[str, str]]:
    """The locked versions of all files of a folder."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.lock")))
    return read_pins("\n".join(texts))


def compile_newest(folder: Path) -> dict[str, tuple[str, str]]:
    """Write lock files of the newest of everything; packages that differ from what is locked."""
    for path in LOCKS.glob("*.lock"):
        shutil.copy(path, folder)
    write_locks(folder, upgrade=True)
    return find_newer(locked_pins(LOCKS), locked_pins(folder))


def main() -> int:
    """Do what the arguments say."""
    if "--outdated" not in sys.argv[1:]:
        write_locks(LOCKS, upgrade="--upgrade" in sys.argv[1:])
        return 0
    with tempfile.TemporaryDirectory() as folder:
        newer = compile_newest(Path(folder))
    for name, (version, newest) in newer.items():
        print(f"{name}  {version} -> {newest}")
    print(f"{len(newer)} packages have other versions; make lock UPGRADE=--upgrade takes them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
