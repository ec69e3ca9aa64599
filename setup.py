"""Compiles the loops of ``gnomon.native``; pyproject.toml says everything else.

GNOMON_CHECKED=1 checks every index; GNOMON_SANITIZED=1 lets AddressSanitizer and
UndefinedBehaviorSanitizer look on, too (``make verify`` builds so).
"""

import os
import shutil
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

#: no flag lets a compiler fuse or reorder floating-point operations, or use what only this
#: processor has
FLAGS = {"msvc": ["/O2", "/fp:precise"]}
OTHER_FLAGS = ["-O3", "-g0", "-ffp-contract=off"]

SANITIZED = bool(os.environ.get("GNOMON_SANITIZED"))
CHECKED = SANITIZED or bool(os.environ.get("GNOMON_CHECKED"))
SANITIZERS = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-O1", "-g"]

NO_COMPILER = """
gnomon's loops are compiled where it is installed from source, and {compiler} was not found.
Install a C compiler (Debian: apt-get install gcc python3-dev; macOS: xcode-select --install;
Windows: Build Tools for Visual Studio), or a wheel of gnomon, which needs none.
"""


class Build(build_ext):
    """Compiles with the flags of the compiler at hand, and says what to install where none is."""

    def build_extensions(self) -> None:
        """Compile all loops."""
        program = getattr(self.compiler, "compiler_so", None)
        if program and shutil.which(program[0]) is None:
            raise SystemExit(NO_COMPILER.format(compiler=program[0]))
        for extension in self.extensions:
            extension.extra_compile_args = FLAGS.get(self.compiler.compiler_type, OTHER_FLAGS)
            if SANITIZED:
                extension.extra_compile_args = [*OTHER_FLAGS, *SANITIZERS]
                extension.extra_link_args = SANITIZERS[:1]
        super().build_extensions()


modules = [
    Extension(f"gnomon.native.{path.stem}", [path.as_posix()])
    for path in sorted(Path("src/gnomon/native").glob("*.pyx"))
]
directives = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "initializedcheck": CHECKED,
    "cdivision": True,
    "embedsignature": True,
}
setup(
    cmdclass={"build_ext": Build},
    ext_modules=cythonize(
        modules, build_dir="build/c", compiler_directives=directives, force=CHECKED
    ),
)
