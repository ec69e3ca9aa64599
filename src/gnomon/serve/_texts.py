"""From files that were uploaded to the texts of a test set."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, FormatError
from gnomon.core.testset import TestSet
from gnomon.data.formats import write_lines
from gnomon.serve._comparison import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.serve._comparison import About, FileChoice


def test_set_of(uploads: Path, about: About) -> TestSet:
    """The test set of the files that were confirmed.

    Raises:
        DataError: they do not fit together, or are not what they were said to be.
    """
    choices = [file for file in about.choices.files if file.role != "ignored"]
    texts = {file.file: lines_of(uploads / str(file.file), file) for file in choices}
    counts = {file.name: len(texts[file.file]) for file in choices}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        raise DataError(f"the files have different numbers of lines: {said}")
    if not any(counts.values()):
        raise DataError("the files are empty: there is no segment to compare")
    by_role = {
        role: {file.title: texts[file.file] for file in choices if file.role == role}
        for role in ("reference", "output")
    }
    return TestSet(
        name=about.title,
        references=by_role["reference"],
        systems=by_role["output"],
        sources=next((texts[file.file] for file in choices if file.role == "source"), None),
        language_pair=about.choices.language_pair,
    )


def lines_of(path: Path, choice: FileChoice) -> list[str]:
    r"""The lines of a file in the encoding that was confirmed, which end at ``\n`` alone.

    Raises:
        FormatError: it is not of that encoding.
    """
    data = path.read_bytes()
    try:
        text = data.decode(choice.encoding).removeprefix("\ufeff")
    except (UnicodeDecodeError, LookupError) as error:
        line = data.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise FormatError(
            f"cannot be read as {choice.encoding}: {error}", path=choice.name, line=line
        ) from error
    if "\0" in text:
        at = text.count("\n", 0, text.index("\0")) + 1
        raise FormatError("is no text: it holds a NUL byte", path=choice.name, line=at)
    *lines, last = text.split("\n")
    return [text.removesuffix("\r") for text in [*lines, *([last] if last else [])]]


def add_output(texts: Path, upload: Path, choice: FileChoice, segments: int) -> None:
    """Add the output of a system to a test set; nothing where it is there already.

    Raises:
        DataError: it has another number of lines, or is not of its encoding.
    """
    about = json.loads((texts / "testset.json").read_text(encoding="utf-8"))
    file = f"systems/added-{choice.file}.txt"
    if file in about["names"]:
        return
    if choice.title in [n for other, n in about["names"].items() if other.startswith("systems/")]:
        raise DataError(f"there is a system {choice.title!r} already")
    lines = lines_of(upload, choice)
    if len(lines) != segments:
        raise DataError(
            f"{choice.name} has {len(lines):,} lines, and the other files have {segments:,}"
        )
    (texts / file).parent.mkdir(mode=0o700, exist_ok=True)
    write_lines(texts / file, lines)
    about["names"][file] = choice.title
    write_whole(texts / "testset.json", json.dumps(about, indent=1).encode())


def count_lines(path: Path) -> int:
    """How many lines a file has, whatever it holds; in constant memory."""
    count, last = 0, b"\n"
    with suppress(OSError), path.open("rb") as file:
        while piece := file.read(1 << 20):
            count += piece.count(b"\n")
            last = piece[-1:]
    return count + (last != b"\n")
