"""Makes the translations of the bundled example again, with Apertium.

    python scripts/make_example.py            # writes systems/*.txt and paraphrases/*.txt
    python scripts/make_example.py --check    # compares instead; exit status 1 on a difference

Each system is a chain of Apertium modes from Spanish to English: one step, or through a pivot. The
paraphrases are the references translated to another language and back. All depend on the versions
of Apertium's packages; the bundled ones were made with those of Debian 12, which the example's
README lists.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

BUNDLED = Path(__file__).resolve().parents[1] / "src" / "gnomon" / "data" / "example" / "es-en"

SYSTEMS: dict[str, tuple[str, ...]] = {
    "apertium-catalan": ("spa-cat", "cat-eng"),
    "apertium-direct": ("spa-eng",),
    "apertium-esperanto": ("es-eo", "eo-en"),
    "apertium-french": ("es-fr", "fra-cat", "cat-eng"),
    "apertium-galician": ("es-gl", "gl-en"),
}

#: round trips of the references, the shortest way of each language
PARAPHRASES: dict[str, tuple[str, ...]] = {
    "ref.round-trip.1": ("eng-cat", "cat-eng"),
    "ref.round-trip.2": ("eng-spa", "spa-eng"),
    "ref.round-trip.3": ("en-gl", "gl-en"),
    "ref.round-trip.4": ("en-eo", "eo-en"),
}

PACKAGES = {
    "spa-eng": "apertium-eng-spa",
    "spa-cat": "apertium-spa-cat",
    "cat-eng": "apertium-eng-cat",
    "es-eo": "apertium-eo-es",
    "eo-en": "apertium-eo-en",
    "es-fr": "apertium-fr-es",
    "fra-cat": "apertium-fra-cat",
    "es-gl": "apertium-es-gl",
    "gl-en": "apertium-en-gl",
    "eng-cat": "apertium-eng-cat",
    "eng-spa": "apertium-eng-spa",
    "en-gl": "apertium-en-gl",
    "en-eo": "apertium-eo-en",
}

MARKS = re.compile(r"[*#@](?=\w)")


class MakeError(Exception):
    """The translations cannot be made; the message says what to do."""


def find_apertium() -> str:
    """The path of the program ``apertium``, once every mode that the systems need is there."""
    program = shutil.which("apertium")
    if program is None:
        raise MakeError(f"no `apertium` on the PATH; on Debian or Ubuntu: {install_command()}")
    listed = subprocess.run(  # noqa: S603 - a fixed argument list
        [program, "-l"], capture_output=True, text=True, encoding="utf-8", check=True
    )
    missing = sorted(set(PACKAGES) - set(listed.stdout.split()))
    if missing:
        raise MakeError(
            f"Apertium has no mode {', '.join(missing)}; on Debian or Ubuntu: {install_command()}"
        )
    return program


def install_command() -> str:
    """What installs Apertium and the language pairs."""
    return "apt-get install " + " ".join(["apertium", *sorted(set(PACKAGES.values()))])


def data_folder(program: str) -> Path:
    """Where Apertium keeps its language data."""
    default = Path(program).resolve().parents[1] / "share" / "apertium"
    return Path(os.environ.get("APERTIUM_DATADIR", default))


def usable_data(mode: str, data: Path, scratch: Path) -> Path:
    """The data folder to use for ``mode``: ``data``, or a repaired mode file under ``scratch``.

    The mode file of Debian's apertium-eo-es names a folder ``apertium-eo-es``, but the package
    installs ``apertium-es-eo``.
    """
    source = data / "modes" / f"{mode}.mode"
    if not source.is_file():
        return data
    named, installed = data / "apertium-eo-es", data / "apertium-es-eo"
    text = source.read_text(encoding="utf-8")
    if f"{named}/" not in text or named.exists() or not installed.exists():
        return data
    modes = scratch / "modes"
    modes.mkdir(exist_ok=True)
    repaired = text.replace(f"{named}/", f"{installed}/")
    (modes / source.name).write_text(repaired, encoding="utf-8")
    return scratch


def run_mode(program: str, mode: str, lines: list[str]) -> list[str]:
    """Translates ``lines`` by one mode; a blank line after each keeps them apart."""
    with tempfile.TemporaryDirectory() as scratch:
        data = usable_data(mode, data_folder(program), Path(scratch))
        done = subprocess.run(  # noqa: S603 - a fixed argument list
            [program, "-d", str(data), "-u", "-f", "txt", mode],
            input="".join(f"{line}\n\n" for line in lines),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
    if done.returncode != 0:
        raise MakeError(f"apertium {mode} failed: {done.stderr.strip()}")
    rows = done.stdout.split("\n")
    texts, blanks = rows[0 : 2 * len(lines) : 2], rows[1 : 2 * len(lines) : 2]
    if len(rows) != 2 * len(lines) + 1 or not all(texts) or any(blanks):
        raise MakeError(
            f"apertium {mode} did not return one line for each of {len(lines)} lines: "
            f"{done.stderr.strip() or 'it reports no error'}"
        )
    return texts


def tidy(line: str) -> str:
    """One output line without Apertium's marks and doubled spaces, in NFC."""
    return unicodedata.normalize("NFC", " ".join(MARKS.sub("", line).split()))


def translate(program: str, modes: tuple[str, ...], lines: list[str]) -> list[str]:
    """The final output of a chain of modes, one line for each of ``lines``."""
    for mode in modes:
        lines = run_mode(program, mode, lines)
    return [tidy(line) for line in lines]


def write_lines(file: Path, lines: list[str]) -> None:
    """Writes ``lines`` to ``file`` in one step: a reader sees the old file or the new one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        fresh = Path(scratch) / file.name
        fresh.write_bytes("".join(f"{line}\n" for line in lines).encode())
        fresh.replace(file)


def read_lines(file: Path) -> list[str]:
    """The lines of a UTF-8 text file, split at line feeds only."""
    return file.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def difference(file: Path, lines: list[str]) -> str | None:
    """How ``file`` differs from ``lines``, in words; None if it does not."""
    if not file.is_file():
        return "there is no such file"
    bundled = read_lines(file)
    if bundled == lines:
        return None
    if len(bundled) != len(lines):
        return f"{len(bundled)} lines, made again {len(lines)}"
    changed = [i for i, (old, new) in enumerate(zip(bundled, lines, strict=True), 1) if old != new]
    return f"{len(changed)} of {len(lines)} lines differ, the first is line {changed[0]}"


def check(outputs: dict[str, list[str]], folder: Path) -> int:
    """Compares ``outputs`` with the files under ``folder``; returns the exit status."""
    differences = 0
    for name, lines in outputs.items():
        change = difference(folder / f"{name}.txt", lines)
        print(f"{Path(name).name}: {change or 'the same'}")
        differences += change is not None
    if differences:
        print("Another version of Apertium or of a language pair may translate differently.")
    return 1 if differences else 0


def made(program: str, folder: Path) -> dict[str, list[str]]:
    """All outputs and paraphrases, by their files' names under ``folder`` without ``.txt``."""
    sources, references = (read_lines(folder / name) for name in ("src.txt", "ref.A.txt"))
    chains = [
        *((f"systems/{name}", modes, sources) for name, modes in SYSTEMS.items()),
        *((f"paraphrases/{name}", modes, references) for name, modes in PARAPHRASES.items()),
    ]
    return {name: translate(program, modes, lines) for name, modes, lines in chains}


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        description="Makes the translations of the bundled example again, with Apertium.",
        epilog=f"Needs Apertium and its language pairs: {install_command()}",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare with the files that are there, write nothing; exit status 1 on a difference",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=BUNDLED,
        metavar="DIR",
        help="the test set: reads DIR/src.txt and DIR/ref.A.txt, writes DIR/systems/*.txt and"
        " DIR/paraphrases/*.txt (default: the bundled one)",
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Runs the program; returns its exit status: 0, 1 on a difference, 2 where it cannot run."""
    asked = parse_arguments(arguments)
    try:
        program = find_apertium()
        outputs = made(program, asked.folder)
    except (MakeError, OSError, subprocess.CalledProcessError) as error:
        print(f"make_example: {error}", file=sys.stderr)
        return 2
    if asked.check:
        return check(outputs, asked.folder)
    for name, lines in outputs.items():
        write_lines(asked.folder / f"{name}.txt", lines)
        print(f"{Path(name).name}: {len(lines)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
