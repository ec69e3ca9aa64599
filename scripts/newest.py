"""Runs the tests with the newest release of every package, and says which release broke them.

    python scripts/newest.py            in this environment, which is left with the newest of all
    python scripts/newest.py -k bleu    with further arguments for pytest

Where tests fail that pass with the locked versions, each package that differs is taken alone in its
newest version, in order, and what failed is run again: a package is named where that is enough.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lock import LOCKS, ROOT, compile_newest, write_locks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


def failing_tests(report: str) -> list[str]:
    r"""The tests that a report of pytest (``-rfE``) names as failed.

    >>> failing_tests("FAILED tests/a.py::test_b[x y] - AssertionError\nERROR tests/c.py")
    ['tests/a.py::test_b[x y]', 'tests/c.py']
    """
    return _FAILED.findall(report)


def find_culprits(
    packages: Iterable[str],
    take: Callable[[str], None],
    fail: Callable[[list[str]], Collection[str]],
    failed: list[str],
) -> dict[str, list[str]]:
    """Packages whose newest release alone makes tests fail, with these tests.

    Args:
        packages: those with a newer release.
        take: installs what is locked, but the newest of one package ("": of none).
        fail: runs tests, and names those that fail.
        failed: the tests that fail with the newest of all.
    """
    take("")
    anyway = set(fail(failed))
    left = [test for test in failed if test not in anyway]
    culprits: dict[str, list[str]] = {"": sorted(anyway)} if anyway else {}
    for name in packages if left else ():
        take(name)
        if broken := fail(left):
            culprits[name] = sorted(broken)
    return culprits


def _install(folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    locked = folder / "test.lock"
    subprocess.run([*pip, "--require-hashes", "-r", locked], check=True)  # noqa: S603  # pip


def _run(tests: Iterable[str]) -> list[str]:
    """The tests that fail, of some or (where none is named) of all."""
    options = ["-n", "auto", "--dist", "worksteal", "-m", "not verify", "-q", "-rfE", "--tb=no"]
    done = subprocess.run(  # noqa: S603  # pytest, of this environment
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    failed = failing_tests(done.stdout)
    if done.returncode and not failed:
        sys.exit(f"pytest did not run:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return failed


def main() -> int:
    """Install the newest of all, run the tests, and look for what broke them."""
    with tempfile.TemporaryDirectory() as scratch:
        newest = Path(scratch)
        newer = compile_newest(newest)
        for name, (locked, version) in newer.items():
            print(f"{name}  {locked} -> {version}", flush=True)
        _install(newest)
        failed = _run(sys.argv[1:])
        if not failed:
            print("All tests pass with the newest of everything.")
            return 0
        print(f"{len(failed)} tests fail with the newest of everything.", flush=True)

        def take(name: str) -> None:
            with tempfile.TemporaryDirectory() as mixed:
                for path in LOCKS.glob("*.lock"):
                    (Path(mixed) / path.name).write_bytes(path.read_bytes())
                if name:
                    write_locks(Path(mixed), upgrade=False, only=(name,))
                _install(Path(mixed))

        culprits = find_culprits(newer, take, _run, failed)
        _install(newest)
    for name, tests in culprits.items():
        which = f"{name} {newer[name][1]} breaks" if name else "With the locked versions, too, fail"
        print(f"{which}: {len(tests)} tests, such as {tests[0]}")
    if not culprits:
        print(f"No package breaks them alone; {len(failed)} tests, such as {failed[0]}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
