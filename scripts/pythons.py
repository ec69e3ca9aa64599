"""Runs the short suite (tests/pythons/suite.py) under every CPython from 3.11 on that is here.

    python scripts/pythons.py            under the newest that is supported, but not of the version
                                         that runs this, which runs all other tests
    python scripts/pythons.py --all      under all, however often a version is installed
    python scripts/pythons.py 3.12       under these versions alone
    python scripts/pythons.py --extras   with extras, too: studies, figures, frames, judges, ROUGE

They are looked for in pyenv's folders and on the PATH. Each gets an environment of its own with the
core install in .venv-pythons. gnomon is installed again when its source changes; loops are compiled
in the environment's own folder, so that nothing is written beside the source, where tests run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".venv-pythons"
_LEAST = (3, 11)
#: extras without models, and tests of what they bring
_EXTRAS = ("figures", "frames", "judge", "rouge", "sentiment", "study")
_TESTS = (
    "tests/cli/test_study.py",
    "tests/core/test_tabular.py",
    "tests/metrics/judges",
    "tests/report/test_charts.py",
    "tests/studies/test_parquet.py",
    "tests/studies/test_run.py",
    "tests/studies/test_tables.py",
)
_PROBE = """
import json, platform, sys, sysconfig
print(json.dumps([platform.python_implementation(), platform.python_version(),
    getattr(sys, "_base_executable", sys.executable), sys.version_info[:2],
    bool(sysconfig.get_config_var("Py_GIL_DISABLED"))]))
"""


@dataclass(frozen=True)
class Interpreter:
    """A CPython of this machine.

    Attributes:
        path: its own program, whatever environment was found.
        version: such as "3.12.1".
        threaded: it has no global lock.
        extras: it is run with the small extras.
    """

    path: Path
    version: str
    threaded: bool
    extras: bool = False

    @property
    def label(self) -> str:
        """What to call it."""
        extras = ", with extras" * self.extras
        return f"{self.version}{'t' * self.threaded} ({self.path}{extras})"

    @property
    def minor(self) -> str:
        """Such as "3.12"."""
        return ".".join(self.version.split(".")[:2])

    @property
    def supported(self) -> bool:
        """Whether the project says that it runs there."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return f"Programming Language :: Python :: {self.minor}" in project["classifiers"] and (
            not self.threaded
        )

    def environment(self) -> Path:
        """Where its environment is."""
        digest = hashlib.sha256(str(self.path).encode()).hexdigest()[:8]
        return HOME / f"{self.version}-{digest}{'-extras' * self.extras}"


class NotUsableError(Exception):
    """It cannot make environments."""


class NotInstallableError(NotUsableError):
    """The core cannot be installed into its environment."""


def interpreters() -> list[Interpreter]:
    """Each CPython from 3.11 on, once."""
    by_path: dict[Path, Interpreter] = {}
    for program in _programs():
        done = _run(program, "-I", "-c", _PROBE)
        if done.returncode:
            continue  # pyenv's stand-in for a version that is not chosen
        implementation, version, base, minor, threaded = json.loads(done.stdout)
        path = Path(base).resolve()
        if implementation == "CPython" and tuple(minor) >= _LEAST:
            by_path.setdefault(path, Interpreter(path, version, threaded))
    return sorted(
        by_path.values(),
        key=lambda python: [*map(int, re.findall(r"\d+", python.version)[:3])],
    )


def _programs() -> Iterator[Path]:
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    folders = [path / "bin" for path in sorted(pyenv.glob("*"))]
    folders += [Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part]
    for folder in dict.fromkeys(folders):
        for program in sorted(folder.glob("python3*")):
            if re.fullmatch(r"python3(\.\d+t?)?", program.name):
                yield program


def _run(*argv: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """What a program says, which finds nothing of this environment."""
    outside = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(  # noqa: S603  # Pythons of this machine
        argv, env=outside | variables, capture_output=True, text=True, check=False
    )


def prepare(interpreter: Interpreter) -> Path:
    """The program of its environment with the core install, made where it is not there.

    Raises:
        NotUsableError: it cannot be made; with the reason.
        NotInstallableError: the core cannot be installed there.
    """
    folder = interpreter.environment()
    python, stamp = folder / "bin" / "python", folder / "made-of"
    wanted = _digest("pyproject.toml", "requirements"), _digest("setup.py", "src")
    made = tuple(stamp.read_text().split()) if stamp.is_file() else ("", "")
    if made == wanted:
        return python
    # neither pip's modules nor setuptools' are in it, so that a forgotten dependency shows
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "-q",
        "--python",
        python,
        "install",
        "--no-compile",
    ]
    if interpreter.extras:
        pip += [f"{ROOT}[{','.join(_EXTRAS)}]", "pytest", "hypothesis"]
    else:
        pip.append(ROOT)
    if made[0] == wanted[0]:
        pip += ["--no-deps", "--force-reinstall"]
    else:
        shutil.rmtree(folder, ignore_errors=True)
        # Debian's has no pip of its own
        done = _run(interpreter.path, "-m", "venv", "--without-pip", folder)
        if done.returncode:
            raise NotUsableError(_reason(done))
    build, pins = _own_build(folder), _write_pins(folder)
    pip += ["--constraint", pins, "--build-constraint", pins]
    done = _run(*pip, DIST_EXTRA_CONFIG=str(build), GNOMON_QUICK="1")
    if done.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise NotInstallableError(_reason(done))
    stamp.write_text("\n".join(wanted))
    return python


def _digest(*names: str) -> str:
    """A hash of files and folders of the project, without what was made of them."""
    digest = hashlib.sha256(str(ROOT).encode())
    for name in names:
        for path in sorted([ROOT / name, *(ROOT / name).rglob("*")]):
            made = {"__pycache__", "gnomon.egg-info"} & set(path.parts) or path.suffix == ".so"
            if path.is_file() and not made:
                digest.update(f"{path}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _own_build(folder: Path) -> Path:
    """A configuration that builds in this folder."""
    build = folder / "build"
    build.mkdir(exist_ok=True)
    configuration = build / "setup.cfg"
    configuration.write_text(f"[build]\nbuild_base = {build}\n[egg_info]\negg_base = {build}\n")
    return configuration


def _write_pins(folder: Path) -> Path:
    """The locked versions without their hashes, which a folder to be installed has none of."""
    lines = (ROOT / "requirements" / "test.lock").read_text(encoding="utf-8").split("\n")
    pins = folder / "build" / "pins.txt"
    pins.write_text("\n".join(line.rstrip(" \\") for line in lines if re.match(r"\w", line)))
    return pins


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in (done.stderr or done.stdout).strip().split("\n") if line]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["it gives no reason"])[-1]


def run(interpreter: Interpreter, python: Path) -> bool:
    """Whether the suite passes under it."""
    start = time.perf_counter()
    suite: tuple[str | Path, ...] = (ROOT / "tests" / "pythons" / "suite.py",)
    if interpreter.extras:  # gnomon as it is installed there, not the source
        options = ("-q", "-p", "no:cacheprovider", "-o", "pythonpath=", "--rootdir", ROOT)
        suite = ("-m", "pytest", *options, "-m", "not verify", *(ROOT / name for name in _TESTS))
    done = _run(python, *suite)
    said = done.stdout.strip() or "nothing was said"
    if interpreter.extras and not done.returncode:
        said = said.split("\n")[-1]
    if done.returncode:
        said = f"FAILED\n{said}\n{done.stderr.strip()}"
    print(f"Python {interpreter.label}: {said} ({time.perf_counter() - start:.0f} s)", flush=True)
    return done.returncode == 0


def main() -> int:
    """Run all, and say which."""
    wanted = [name for name in sys.argv[1:] if not name.startswith("--")]
    fine, extras = True, "--extras" in sys.argv[1:]
    every = interpreters()
    if not wanted and "--all" not in sys.argv[1:]:
        own = ".".join(map(str, sys.version_info[:2]))
        supported = [one for one in every if one.supported]
        every = [one for one in supported if one.minor != own][-1:] or supported[-1:]
    for interpreter in (replace(python, extras=extras) for python in every):
        if wanted and not any(f"{interpreter.version}.".startswith(f"{name}.") for name in wanted):
            continue
        try:
            python = prepare(interpreter)
        except NotUsableError as error:
            print(f"Python {interpreter.label} is not run: {error}", flush=True)
            fine = fine and not (interpreter.supported and isinstance(error, NotInstallableError))
            continue
        fine = run(interpreter, python) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
