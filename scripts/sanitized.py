"""Runs Python with loops that AddressSanitizer and UndefinedBehaviorSanitizer look at.

    python scripts/sanitized.py -m pytest tests/native

Loops are compiled with bounds checks for it, in build/sanitized (needs gcc). The first access to
memory that is not theirs ends the process, and the sanitizer says where it was.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build(project: Path) -> Path:
    """Compile a project's loops for the sanitizers, and say where the package is then.

    Args:
        project: its folder, with setup.py.
    """
    argv = [sys.executable, "setup.py", "-q", "build"]
    subprocess.run(argv, cwd=project, env=os.environ | {"GNOMON_SANITIZED": "1"}, check=True)  # noqa: S603
    (package,) = (project / "build" / "sanitized").glob(f"lib*{sys.implementation.cache_tag}")
    return package


def environment(package: Path) -> dict[str, str]:
    """Variables under which Python loads a package that was built so.

    Raises:
        SystemExit: gcc has no sanitizers here.
    """
    gcc = shutil.which("gcc") or sys.exit("the sanitizers need gcc (Debian: apt-get install gcc)")
    libraries = []
    for name in ("libasan.so", "libubsan.so"):
        asked = [gcc, f"-print-file-name={name}"]
        path = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
        if not Path(path).is_absolute():
            sys.exit(f"gcc has no {name} here")
        libraries.append(path)
    return os.environ | {
        "PYTHONPATH": str(package),
        "LD_PRELOAD": " ".join(libraries),
        # Python itself frees little when it ends
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        # its own allocator hides where an object ends
        "PYTHONMALLOC": "malloc",
    }


if __name__ == "__main__":
    variables = environment(build(ROOT))
    sys.exit(subprocess.run([sys.executable, *sys.argv[1:]], env=variables, check=False).returncode)  # noqa: S603
