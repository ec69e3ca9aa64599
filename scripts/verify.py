"""Runs the long forms of tests (`make verify`) in parts, and keeps what passed.

    python scripts/verify.py                all parts, one after the other
    python scripts/verify.py papers truth   these parts, each for at most 60 minutes
    python scripts/verify.py --list         the parts, and what of them passed

What passed is kept in build/verify for the project's files and the installed packages as they are:
a part that was interrupted, or in which tests failed, goes on with tests that have not passed. Any
change begins anew.
"""

from __future__ import annotations

import argparse
import hashlib
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "verify"
LIMIT = 60 * 60
#: where tests of a part are; those of a part that names a folder's file or inner folder are its own
PARTS = {
    "papers": ("tests/test_reproduce.py",),
    "pages": ("tests/test_pages_run.py", "tests/snapshot", "tests/studies"),
    "truth": ("tests/truth",),
    "ter": ("tests/metrics/test_ter.py", "tests/native"),
    "metrics": ("tests/metrics", "tests/models"),
    "human": ("tests/methods/human", "tests/methods/stress"),
    "methods": ("tests/methods", "tests/agreement", "tests/stats"),
    "browser": ("tests/serve", "tests/report"),
    "others": ("tests", "src"),
}
#: parts that are programs
PROGRAMS = {
    "sanitize": ("scripts/sanitized.py", "-m", "pytest", "-m", "not verify", "tests/native"),
    "pythons": ("scripts/pythons.py", "--all"),
    "oldest": ("scripts/oldest.py",),
}
#: how many processes run tests
WORKERS = ("-n", "auto", "--dist", "worksteal")
#: what pytest ends with where all tests passed before
_NOTHING_COLLECTED = 5
#: seconds in which an interrupted part should end
_PATIENCE = 30


def state() -> str:
    """A hash of the project's files, Python and the installed packages."""
    packages = {f"{one.name} {one.version}" for one in metadata.distributions()}
    digest = hashlib.sha256("\n".join([sys.version, *sorted(packages)]).encode())
    for path in files():
        content = path.read_bytes()
        digest.update(f"\n{path}:{len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def files() -> list[Path]:
    """The project's files that git does not ignore."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")  # noqa: S603
    return sorted({path for name in names if (path := ROOT / name.decode()).is_file()})


def arguments(part: str) -> list[str]:
    """What pytest is given to collect a part."""
    own = PARTS[part]
    within = tuple(f"{path}/" for path in own)
    others = [path for name, paths in PARTS.items() if name != part for path in paths]
    ignored = [f"--ignore={path}" for path in others if path.startswith(within)]
    chosen = ["-m", "verify or hypothesis", "--hypothesis-profile", "long"]
    return [*own, *ignored, *chosen]


def run(part: str, kept: Path, limit: float | None) -> bool:
    """Whether all of a part has passed, now or before.

    Args:
        part: its name.
        kept: the folder of what passed.
        limit: seconds after which it is interrupted.
    """
    done, passed = kept / f"{part}.done", kept / f"{part}.txt"
    if done.is_file():
        print(f"{part}: passed before ({_told(passed)})", flush=True)
        return True
    before = _told(passed)
    argv = list(PROGRAMS.get(part) or ("-m", "pytest", *arguments(part)))
    if "pytest" in argv:
        argv += [*WORKERS, "-p", "scripts.verify", f"--passed={passed}"]
    start, by_hand = time.perf_counter(), False
    process = subprocess.Popen([sys.executable, *argv], cwd=ROOT)  # noqa: S603
    try:
        code = process.wait(limit)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as stop:
        _end(process)
        code = -signal.SIGINT
        by_hand = isinstance(stop, KeyboardInterrupt)
    fine = code == 0 or (code == _NOTHING_COLLECTED and passed.is_file())
    if fine:
        done.touch()
    ended = "passed" if fine else "stopped" if code < 0 else "failed"
    again = "" if fine else f"; to go on: make verify PART={part}"
    seconds = time.perf_counter() - start
    print(f"{part}: {ended} in {seconds:.0f} s; before: {before}; now: {_told(passed)}{again}")
    sys.stdout.flush()
    if by_hand:
        sys.exit(128 + signal.SIGINT)
    return fine


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a part; a process in the background may not listen, and is ended."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait()


def _kept_lines(passed: Path) -> list[str]:
    """Seconds and name of each test that passed, a line each."""
    text = passed.read_text(encoding="utf-8") if passed.is_file() else ""
    return [line for line in text.split("\n") if line]


def _told(passed: Path) -> str:
    lines = _kept_lines(passed)
    seconds = sum(float(line.partition("\t")[0]) for line in lines)
    return f"{len(lines)} tests passed that took {seconds:.0f} s"


def main() -> int:
    """Run parts, and say what became of each."""
    every = [*PROGRAMS, *PARTS]
    parser = argparse.ArgumentParser(description="the long forms of tests, in parts")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"all, or of {', '.join(every)}")
    parser.add_argument("--list", action="store_true", help="list the parts and run none")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(every):
        parser.error(
            f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(every)}"
        )
    kept = KEPT / state()
    kept.mkdir(parents=True, exist_ok=True)
    if args.list:
        for part in every:
            ended = "passed" if (kept / f"{part}.done").is_file() else "to run"
            print(f"{part}: {ended} ({_told(kept / f'{part}.txt')})")
        return 0
    limit = LIMIT if args.parts else None
    passed = [run(part, kept, limit) for part in args.parts or every]
    return 0 if all(passed) else 1


# What follows, pytest calls: it leaves out what passed before, and keeps what passes.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the file of what passed."""
    parser.addoption("--passed", type=Path, metavar="FILE", help="leave its tests out, and add")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed before."""
    passed = config.getoption("passed")
    lines = _kept_lines(passed)
    before = {line.partition("\t")[2] for line in lines}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in before])
    items[:] = [item for item in items if item.nodeid not in before]


class _Keeper:
    """Writes down each test whose call and end passed."""

    def __init__(self, passed: Path) -> None:
        self.passed = passed
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = report.duration
        if report.when == "teardown" and report.passed and report.nodeid in self.seconds:
            line = f"{self.seconds.pop(report.nodeid):.2f}\t{report.nodeid}\n"
            with self.passed.open("a", encoding="utf-8") as file:
                file.write(line)


def pytest_configure(config: pytest.Config) -> None:
    """Keep what passes where all reports come together: not in workers."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Keeper(config.getoption("passed")))


if __name__ == "__main__":
    sys.exit(main())
