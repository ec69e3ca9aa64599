"""Bundle the scripts that draw the charts of pages: ``make vendor``.

What ``vendor/package-lock.json`` pins is installed by npm into a temporary folder and bundled by
esbuild; the bundle, the licences of all packages in it, and a checksum with their versions are
written to ``src/gnomon/report/static/vendor``.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_FROM, _TO = _ROOT / "scripts" / "vendor", _ROOT / "src/gnomon/report/static/vendor"


def main() -> None:
    """Install, bundle, write."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for file in _FROM.iterdir():
            shutil.copy(file, folder)
        _run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        bundle = ("--bundle", "--minify", "--format=iife", "--global-name=vega", "--charset=utf8")
        written = ("--legal-comments=none", "--metafile=meta.json", "--outfile=bundle.js")
        _run(folder, "npx", "esbuild", "vega.js", *bundle, *written)
        inputs = json.loads((folder / "meta.json").read_text("utf-8"))["inputs"]
        packages = sorted(
            {_package(folder / name) for name in inputs if "node_modules" in name}, key=_name
        )
        script = (folder / "bundle.js").read_bytes()
        _TO.mkdir(exist_ok=True)
        (_TO / "vega.js").write_bytes(script)
        (_TO / "LICENSES.txt").write_text(_licences(packages), "utf-8")
        about = {"sha256": hashlib.sha256(script).hexdigest(), "packages": [*map(_name, packages)]}
        (_TO / "vega.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True)  # noqa: S603


def _package(file: Path) -> Path:
    """The folder of the package that a file is of."""
    return next(above for above in file.parents if above.parent.name == "node_modules")


def _name(package: Path) -> str:
    about = json.loads((package / "package.json").read_text("utf-8"))
    return f"{about['name']}@{about['version']} {about['license']}"


def _licences(packages: list[Path]) -> str:
    """Each text once, below the packages that it is of."""
    by_text: dict[str, list[str]] = {}
    for package in packages:
        text = next(package.glob("LICEN[SC]E*")).read_text("utf-8").strip()
        by_text.setdefault(text, []).append(_name(package))
    return "\n\n".join("\n".join([*names, "", text, ""]) for text, names in by_text.items())


if __name__ == "__main__":
    main()
