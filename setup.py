"""Compiles the loops of ``gnomon.native``; pyproject.toml says everything else.

GNOMON_CHECKED=1 checks every index; GNOMON_SANITIZED=1 lets AddressSanitizer and
UndefinedBehaviorSanitizer look on, too (``make sanitize``). Both have build folders of their own.
GNOMON_QUICK=1 compiles in a third of the time what is to be tried and not to be fast.
"""

import importlib.util
import os
import re
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

#: no flag lets a compiler fuse or reorder floating-point operations, or use what only this
#: processor has
FLAGS = {"msvc": ["/O2", "/fp:precise"]}
OTHER_FLAGS = ["-O0" if os.environ.get("GNOMON_QUICK") else "-O3", "-g0", "-ffp-contract=off"]

SANITIZED = bool(os.environ.get("GNOMON_SANITIZED"))
CHECKED = SANITIZED or bool(os.environ.get("GNOMON_CHECKED"))
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SANITIZED_FLAGS = [*SANITIZERS, "-fno-omit-frame-pointer", "-O1", "-g"]

BASE = "build/sanitized" if SANITIZED else "build/checked" if CHECKED else "build"

NATIVE = Path("src/gnomon/native")
#: what Cython would write into each loop's C: half the time that compiling takes
SHARED = "_shared"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "initializedcheck": CHECKED,
    "cdivision": True,
    "embedsignature": True,
    "show_performance_hints": not CHECKED,
}

NO_COMPILER = """
gnomon compiles loops when it is installed from source, and no C compiler was found ({command}).
Install one:
    Debian, Ubuntu   apt-get install gcc python3-dev
    Fedora           dnf install gcc python3-devel
    macOS            xcode-select --install
or, where you may not, zig's, which is a Python package:
    pip install --upgrade ziglang cython setuptools
and then gnomon with pip install --no-build-isolation.
"""
NO_HEADERS = """
gnomon compiles loops when it is installed from source, and the C headers of this Python were not
found (no Python.h in {folders}). Install them:
    Debian, Ubuntu   apt-get install python3-dev   (for another than python3: python{version}-dev)
    Fedora           dnf install python3-devel
or take a Python that has them, such as pyenv's or conda's.
"""


#: what README.md links to is published there, but for files that are no documentation
DOCUMENTATION = "https://gnomon.readthedocs.io/en/stable/"
#: a badge or a link in brackets, and its address; addresses within the repository alone
LINK = re.compile(r"\[((?:!\[[^\]]*\]\([^)]*\)|[^\[\]])*)\]\((?!https?:|#)[^)]*\)")
IMAGE = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)]*\)")


def description() -> str:
    """README.md as an index of packages shows it, which has no files beside it."""
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(r"(\]\(|src=\"|srcset=\")docs/", rf"\1{DOCUMENTATION}", text)
    text = re.sub(rf"({DOCUMENTATION}[^\s)\"#]*)\.md\b", r"\1.html", text)
    return LINK.sub(r"\1", IMAGE.sub("", text))


def configured() -> str:
    """The command that compiles C by the settings of this Python."""
    return os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"


def compiler() -> list[str]:
    """The command that compiles C: the configured one, else another, else zig's; or nothing."""
    names = [configured()] if "CC" in os.environ else [configured(), "cc", "gcc", "clang"]
    for name in map(shlex.split, names):
        if shutil.which(name[0]):
            return name
    if "CC" in os.environ or importlib.util.find_spec("ziglang") is None:
        return []
    # by itself it compiles for this very processor
    return [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"]


class Build(build):
    """Compiles first, so that nothing hides what is missing; keeps nothing else between builds."""

    sub_commands = sorted(build.sub_commands, key=lambda command: command[0] != "build_ext")

    def run(self) -> None:
        """Build without modules that the source no longer has."""
        loops = self.get_finalized_command("build_ext").get_outputs()
        for path in Path(self.build_lib).rglob("*"):
            if path.is_file() and str(path) not in loops:
                path.unlink()
        super().run()


class BuildLoops(build_ext):
    """Compiles with the flags of the compiler at hand."""

    def run(self) -> None:
        """Compile all loops, or say what to install."""
        if os.name == "posix":
            if not compiler():
                raise SystemExit(NO_COMPILER.format(command=configured()))
            self._require_headers()
        super().run()

    def _require_headers(self) -> None:
        searched = [os.environ.get(name, "") for name in ("CPATH", "C_INCLUDE_PATH")]
        folders = [*self.include_dirs, *filter(None, os.pathsep.join(searched).split(os.pathsep))]
        if not any((Path(folder) / "Python.h").is_file() for folder in folders):
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            raise SystemExit(NO_HEADERS.format(folders=", ".join(folders), version=version))

    def build_extensions(self) -> None:
        """Make C of all loops, and compile it on all cores."""
        from Cython.Build import cythonize

        if os.name == "posix" and compiler() != shlex.split(configured()):
            self._use(compiler())
        for extension in self.extensions:
            extension.extra_compile_args = FLAGS.get(self.compiler.compiler_type, OTHER_FLAGS)
            if SANITIZED:
                extension.extra_compile_args = SANITIZED_FLAGS
                extension.extra_link_args = SANITIZERS
        outdated = [extension for extension in self.extensions if self._is_outdated(extension)]
        made = cythonize(
            outdated,
            build_dir=self.build_temp,
            compiler_directives=DIRECTIVES,
            force=True,
            quiet=True,
            shared_utility_qualified_name=f"gnomon.native.{SHARED}",
        )
        for extension, compiled in zip(outdated, made, strict=True):
            extension.sources = compiled.sources
        self.parallel = self.parallel or os.cpu_count()
        super().build_extensions()

    def build_extension(self, extension: Extension) -> None:
        """Compile a loop whose source is newer."""
        if self._is_outdated(extension):
            super().build_extension(extension)

    def _is_outdated(self, extension: Extension) -> bool:
        compiled = Path(self.get_ext_fullpath(extension.name))
        made = compiled.stat().st_mtime if compiled.is_file() else 0
        sources = map(Path, [*extension.sources, *extension.depends])
        written = (source for source in sources if source.stem != SHARED)  # by Cython
        return bool(self.force) or any(source.stat().st_mtime > made for source in written)

    def _use(self, command: list[str]) -> None:
        """Compile by another command than Python's own, whose options need not be the same."""
        mac = sys.platform == "darwin"
        share = ["-bundle", "-undefined", "dynamic_lookup"] if mac else ["-shared"]
        options = ["-fPIC", "-fwrapv", "-DNDEBUG"]
        self.compiler.set_executables(
            compiler_so=[*command, *options], linker_so=[*command, *share]
        )
        # zig compiles parts of itself, and would keep them in the user's home
        folder = Path(self.build_temp, "zig").absolute()
        os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", folder.as_posix())


def main() -> None:
    """Build what the command line says."""
    headers = [path.as_posix() for suffix in ("h", "pxd") for path in NATIVE.glob(f"*.{suffix}")]
    setup(
        cmdclass={"build": Build, "build_ext": BuildLoops},
        ext_modules=[
            Extension(
                f"gnomon.native.{path.stem}",
                [path.as_posix()],
                include_dirs=[NATIVE.as_posix()],
                depends=["setup.py", *sorted(headers)],
            )
            for path in [*sorted(NATIVE.glob("*.pyx")), NATIVE / f"{SHARED}.c"]
        ],
        long_description=description(),
        long_description_content_type="text/markdown",
        options={"build": {"build_base": BASE}},
    )


if __name__ == "__main__":
    main()
