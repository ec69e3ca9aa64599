"""Texts of a test set from uploaded files."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, FormatError, GnomonError
from gnomon.core.testset import TestSet
from gnomon.data.formats import (
    best_texts,
    is_evaluation_log,
    read_plain,
    read_systems,
    read_table,
    write_lines,
)
from gnomon.data.formats.side_files import write_beside
from gnomon.serve.comparison import write_whole
from gnomon.serve.problems import word_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.serve.comparison import ComparisonRecord, FileChoice


def test_set_of(uploads: Path, about: ComparisonRecord) -> TestSet:
    """The test set of the files that were confirmed."""
    choices = [file for file in about.choices.files if file.role != "ignored"]
    sets = [choice for choice in choices if choice.role == "set"]
    if sets:
        testset = (
            read_set(uploads / str(sets[0].file), sets[0].name)
            if len(sets) == 1
            else _read_logs(uploads, sets)
        )
        pair = testset.language_pair or about.choices.language_pair
        return replace(testset, name=about.title, language_pair=pair)
    if any(choice.kind not in ("text", "set") for choice in choices):
        return _joined(uploads, choices, about)
    texts = {file.file: lines_of(uploads / str(file.file), file) for file in choices}
    counts = {file.name: len(texts[file.file]) for file in choices}
    if not any(counts.values()):
        raise DataError("the files are empty: there is no segment to compare")
    by_role = {
        role: {file.title: texts[file.file] for file in choices if file.role == role}
        for role in ("reference", "output", "source")
    }
    fixed = {len(lines) for role in ("reference", "source") for lines in by_role[role].values()}
    alignable = by_role["reference"] and len(fixed) == 1 and about.choices.gate is None
    if len(set(counts.values())) > 1 and not alignable:
        said = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        raise DataError(f"the files have different numbers of lines: {said}")
    made = TestSet(
        name=about.title,
        references=by_role["reference"],
        systems={} if alignable else by_role["output"],
        sources=next(iter(by_role["source"].values()), None),
        language_pair=about.choices.language_pair,
    )
    return made.align(by_role["output"]) if alignable else made


def _joined(uploads: Path, choices: Sequence[FileChoice], about: ComparisonRecord) -> TestSet:
    """Files of translation units, and files of lines beside them: joined by the ids of units."""
    with TemporaryDirectory(dir=uploads) as folder:
        files: dict[str, dict[str, Path]] = {"reference": {}, "output": {}, "source": {}}
        for choice in choices:
            sent, lines = uploads / str(choice.file), choice.kind == "text"
            file = Path(folder) / f"{_safe(choice.name)}{'.txt' if lines else ''}"
            if file.exists():
                file = file.with_name(f"{choice.file}-{file.name}")
            if lines:
                write_lines(file, lines_of(sent, choice))
            else:
                shutil.copyfile(sent, file)
            files[choice.role][choice.title] = file
        made = read_plain(
            references=list(files["reference"].values()),
            systems=list(files["output"].values()),
            source=next(iter(files["source"].values()), None),
        )
    titles = {
        "references": dict(zip(made.references, files["reference"], strict=True)),
        "systems": dict(zip(made.systems, files["output"], strict=True)),
        "sources": {"": ""},
    }
    return replace(
        made,
        name=about.title,
        references={titles["references"][n]: texts for n, texts in made.references.items()},
        systems={titles["systems"][n]: texts for n, texts in made.systems.items()},
        language_pair=about.choices.language_pair or made.language_pair,
        codes={
            role: {titles[role][name]: column for name, column in codes.items()}
            for role, codes in made.codes.items()
        },
        logged={
            metric: {titles["systems"][name]: column for name, column in scores.items()}
            for metric, scores in made.logged.items()
        },
    )


def _read_logs(uploads: Path, choices: Sequence[FileChoice]) -> TestSet:
    """Test set of several logs of evaluations, each of a system."""
    with TemporaryDirectory(dir=uploads) as folder:
        for choice in choices:
            file = Path(folder) / f"{_safe(choice.title)}{Path(choice.name).suffix}"
            if file.exists():
                file = file.with_stem(f"{file.stem}-{choice.file}")
            shutil.copyfile(uploads / str(choice.file), file)
        try:
            return replace(TestSet.read(folder), path=None)
        except GnomonError as error:
            raise DataError(word_error(error)) from error


def is_log(path: Path, name: str) -> bool:
    """True if a file that was sent is the log of an evaluation."""
    with TemporaryDirectory(dir=path.parent) as folder:
        file = Path(folder) / _safe(name)
        shutil.copyfile(path, file)
        return is_evaluation_log(file)


def texts_of_units(path: Path, name: str) -> list[str]:
    """Translations in the translation units of a file, in its order."""
    with TemporaryDirectory(dir=path.parent) as folder:
        file = Path(folder) / _safe(name)
        shutil.copyfile(path, file)
        (texts,) = read_systems([file]).values()
    return texts


def lines_of(path: Path, choice: FileChoice) -> list[str]:
    """The lines of a file in the encoding that was confirmed."""
    return best_texts(choice.name, decoded(path.read_bytes(), choice.encoding, choice.name))


def decoded(data: bytes, encoding: str, name: str) -> list[str]:
    r"""The lines of a text, which end at ``\n`` alone."""
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except (UnicodeDecodeError, LookupError) as error:
        line = data.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise FormatError(f"cannot be read as {encoding}", path=name, line=line) from error
    if "\0" in text:
        at = text.count("\n", 0, text.index("\0")) + 1
        raise FormatError("is no text: it holds a NUL byte", path=name, line=at)
    *lines, last = text.split("\n")
    return [line.removesuffix("\r") for line in [*lines, *([last] if last else [])]]


#: of files that may be a test set of their own
SET_SUFFIXES = (
    *(".xml", ".sgm", ".sgml", ".tsv", ".csv", ".jsonl", ".json", ".xlsx"),
    *(".eval", ".parquet"),
)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_TABLES = (".tsv", ".csv", ".jsonl", ".json", ".xlsx", ".parquet")


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", Path(name).name)[-100:].lstrip(".")


def read_set(path: Path, name: str) -> TestSet:
    """The test set that a file holds by itself: of a published format, or a table of texts."""
    with TemporaryDirectory(dir=path.parent) as folder:
        # readers tell formats by names; this one is made of letters, digits and dots
        file = Path(folder) / _safe(name)
        shutil.copyfile(path, file)
        try:
            return replace(TestSet.read(file), path=None)
        except GnomonError as error:
            if file.suffix not in _TABLES:
                raise DataError(word_error(error)) from error
        try:
            return replace(read_table(file), path=None)
        except GnomonError as error:
            raise DataError(word_error(error)) from error


def add_output(texts: Path, upload: Path, choice: FileChoice, segments: int) -> None:
    """Add the output of a system to a test set; nothing where it is there already."""
    about = json.loads((texts / "testset.json").read_text(encoding="utf-8"))
    file = f"systems/added-{choice.file}.txt"
    if file in about["names"]:
        return
    if choice.title in [n for other, n in about["names"].items() if other.startswith("systems/")]:
        raise DataError(f"there is a system {choice.title!r} already")
    lines = lines_of(upload, choice)
    if len(lines) != segments:
        with_output = TestSet.read(texts).align({choice.title: lines})
        lines = list(with_output.systems[choice.title])
        write_beside(with_output, texts)
    (texts / file).parent.mkdir(mode=0o700, exist_ok=True)
    write_lines(texts / file, lines)
    about["names"][file] = choice.title
    write_whole(texts / "testset.json", json.dumps(about, indent=1).encode())
