"""What is built and published: its files, what it needs, what it says where nothing compiles it."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from gnomon.core.signature import VERSION

_ROOT = Path(__file__).resolve().parent.parent
_PACKAGE = _ROOT / "src" / "gnomon"
_PAPERS = [p for p in (_ROOT / "papers").rglob("*") if p.is_file() and p.suffix != ".pyc"]
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_NAME = f"gnomon-{VERSION}"
#: all that comes with the core
_INSTALLED = """
    colorama gnomon jinja2 lxml markdown-it-py markupsafe mdurl msgspec numpy platformdirs
    portalocker pygments regex rich rich-argparse sacrebleu tabulate threadpoolctl
"""
_BESIDE_SOURCE = """
    LICENSE MANIFEST.in PKG-INFO README.md pyproject.toml setup.cfg setup.py
"""
_BESIDE_WHEEL = "METADATA RECORD WHEEL entry_points.txt licenses/LICENSE top_level.txt"
_OUTSIDE = {
    name: value
    for name, value in os.environ.items()
    if name not in ("PYTHONPATH", "VIRTUAL_ENV", "GNOMON_CHECKED", "GNOMON_SANITIZED")
}


def _run(*argv: str | Path, cwd: Path = _ROOT, **variables: str) -> str:
    done = subprocess.run(
        argv, cwd=cwd, env=_OUTSIDE | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _build(kind: str, project: Path, into: Path) -> Path:
    """An archive of a project, made without a trace in its folder."""
    into.mkdir(exist_ok=True)
    configuration = into / "setup.cfg"
    configuration.write_text(f"[build]\nbuild_base = {into}\n[egg_info]\negg_base = {into}\n")
    call = f"from setuptools import build_meta; build_meta.build_{kind}({str(into)!r})"
    _run(sys.executable, "-c", call, cwd=project, DIST_EXTRA_CONFIG=str(configuration))
    (archive,) = [path for path in into.iterdir() if path.suffix in (".gz", ".whl")]
    return archive


def _files() -> set[str]:
    """Files of the package, without what was made of them."""
    return {
        path.relative_to(_PACKAGE).as_posix()
        for path in _PACKAGE.rglob("*")
        if path.is_file() and path.suffix not in (".so", ".pyd") and "__pycache__" not in path.parts
    }


def test_a_source_archive_has_the_package_the_papers_and_what_builds_it(
    tmp_path: Path,
) -> None:
    with tarfile.open(_build("sdist", _ROOT, tmp_path)) as archive:
        names = {member.name for member in archive if member.isfile()}
    expected = {f"{_NAME}/{name}" for name in _BESIDE_SOURCE.split()}
    expected |= {f"{_NAME}/{path.relative_to(_ROOT).as_posix()}" for path in _PAPERS}
    assert names == expected | {f"{_NAME}/src/gnomon/{name}" for name in _files()}


@pytest.mark.verify
def test_a_wheel_has_the_package_compiled_and_works_with_its_dependencies_alone(
    tmp_path: Path,
) -> None:
    with tarfile.open(_build("sdist", _ROOT, tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    # loops that were compiled here are not compiled again; modules of an earlier build go
    built = tmp_path / "wheel" / f"lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    (built / "gnomon" / "native").mkdir(parents=True)
    for path in (_PACKAGE / "native").glob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}"):
        shutil.copy2(path, built / "gnomon" / "native")
    left = built / "gnomon" / "of_an_earlier_version.py"
    left.touch()
    wheel = _build("wheel", tmp_path / _NAME, tmp_path / "wheel")
    assert not left.exists()
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        about = archive.read(f"{_NAME}.dist-info/METADATA").decode()
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    loops = {Path(name).stem for name in _files() if name.endswith(".pyx")}
    files = {name for name in _files() if Path(name).suffix not in (".pyx", ".pxd", ".h")}
    files |= {f"native/{name}{suffix}" for name in (*loops, "_shared")}
    expected = {f"{_NAME}.dist-info/{name}" for name in _BESIDE_WHEEL.split()}
    assert names == expected | {f"gnomon/{name}" for name in files}
    assert {f"native/{name}.pyi" for name in loops} <= files
    assert f"Version: {VERSION}\n" in about
    assert f"License-Expression: {_PROJECT['project']['license']}\n" in about

    alone = tmp_path / "alone"
    _run(sys.executable, "-m", "venv", "--without-pip", alone)
    programs = alone / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", programs / "python"]
    _run(*pip, "install", "-q", "--no-compile", wheel)
    installed = json.loads(_run(*pip, "list", "--format", "json"))
    assert {one["name"].lower().replace("_", "-") for one in installed} == set(_INSTALLED.split())
    _run(programs / "gnomon", "selftest", cwd=tmp_path, GNOMON_CACHE=str(tmp_path / "cache"))


def test_the_description_has_no_link_into_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_ROOT)
    text = runpy.run_path("setup.py")["description"]()
    linked = re.findall(r"(?:\]\(|src=\"|srcset=\")([^)\"]+)", text)
    assert "https://gnomon.readthedocs.io/en/stable/images/two.png" in linked
    assert [address for address in linked if not address.startswith("https://")] == []


def test_what_is_compiled_with_is_what_is_required_to_compile() -> None:
    assert _PROJECT["dependency-groups"]["build"] == _PROJECT["build-system"]["requires"]


def test_all_pages_say_the_version_of_the_package() -> None:
    changes = (_ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == VERSION
    citation = (_ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)", citation, re.MULTILINE) == [VERSION]


def test_the_recipe_of_conda_needs_what_the_package_needs() -> None:
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((_ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    renamed = {"msgspec-python": "msgspec"}
    needs = [one.split() for one in recipe["requirements"]["run"]]
    assert [f"{renamed.get(n[0], n[0])}{''.join(n[1:])}" for n in needs] == [
        "python",
        *_PROJECT["project"]["dependencies"],
    ]
    builds = {one.replace(" ", "") for one in recipe["requirements"]["host"]}
    assert builds == {"pip", "python", *_PROJECT["build-system"]["requires"]}
    assert recipe["context"]["version"] == VERSION


def _refusal(cwd: Path, *argv: str | Path, **variables: str) -> str:
    done = subprocess.run(
        argv, cwd=cwd, env=_OUTSIDE | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


@pytest.mark.skipif(os.name != "posix", reason="Windows' own compiler is looked for by setuptools")
def test_without_a_compiler_it_says_what_to_install(tmp_path: Path) -> None:
    argv = [sys.executable, "setup.py", "-q", "build", "-b", tmp_path]
    said = _refusal(_ROOT, *argv, CC="/nonexistent/cc")
    assert "Traceback" not in said
    assert said.split("\n")[1] == (
        "gnomon compiles loops when it is installed from source, and no C compiler was found "
        "(/nonexistent/cc)."
    )
    assert "apt-get install gcc python3-dev" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="Python for Windows always has its headers")
def test_without_the_headers_of_python_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sysconfig\nfrom pathlib import Path\n"
        "is_file = Path.is_file\n"
        "Path.is_file = lambda path: path.name != 'Python.h' and is_file(path)\n"
    )
    argv = [sys.executable, "setup.py", "-q", "build", "-b", tmp_path / "build"]
    said = _refusal(_ROOT, *argv, PYTHONPATH=str(tmp_path))
    assert "Traceback" not in said
    assert "C headers of this Python were not" in said
    assert "apt-get install python3-dev" in said


def _without_compilers(folder: Path) -> str:
    """A PATH on which is all but compilers."""
    folder.mkdir()
    compilers = re.compile(r"(.*-)?(cc|gcc|clang|c89|c99|tcc)(-[\d.]+)?")
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(place).glob("*"):
            if not compilers.fullmatch(program.name):
                (folder / program.name).unlink(missing_ok=True)
                (folder / program.name).symlink_to(program)
    return str(folder)


@pytest.mark.verify
@pytest.mark.skipif(os.name != "posix", reason="zig is for machines without a compiler")
def test_pip_says_it_without_a_compiler_and_compiles_with_zigs(tmp_path: Path) -> None:
    archive = _build("sdist", _ROOT, tmp_path)
    path = _without_compilers(tmp_path / "programs")
    _run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "alone")
    python = tmp_path / "alone" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-cache-dir"]
    said = _refusal(tmp_path, *pip, archive, PATH=path)
    assert "and no C compiler was found" in said
    lines = re.search(r"\[(\d+) lines of output\]", said)
    assert lines is not None
    assert int(lines.group(1)) < 20
    assert "Traceback" not in said

    # what the message says
    remedy = re.search(r"pip install (--upgrade .*)", said)
    assert remedy is not None
    _run(*pip, "-q", *remedy.group(1).split(), PATH=path)
    _run(*pip, "-q", "--no-build-isolation", archive, PATH=path)
    _run(python, "-m", "gnomon", "selftest", cwd=tmp_path, GNOMON_CACHE=str(tmp_path / "cache"))
