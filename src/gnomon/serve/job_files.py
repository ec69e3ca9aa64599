"""The files of a job: texts of a comparison of what was sent, and what a look at it finds."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, GnomonError
from gnomon.serve.comparison import (
    NAMES,
    TEXTS,
    UPLOADS,
    ComparisonRecord,
    read_record,
    write_record,
)
from gnomon.serve.problems import word_error

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["BROKEN", "BUSY", "inspect_draft", "make_texts"]

#: exit codes beside those of commands: another process works there; a record cannot be read
BUSY, BROKEN = 75, 70


# The texts of a comparison, from the files that were uploaded.


def make_texts(folder: Path, about: ComparisonRecord) -> str | None:
    """Make a test set of what was uploaded, whole or not at all; or add a system to it."""
    from gnomon.serve._texts import add_output, test_set_of

    uploads, texts = folder / UPLOADS, folder / TEXTS
    if not uploads.is_dir():
        return None
    if not texts.is_dir():
        from gnomon.data.formats import write_test_set

        testset = test_set_of(uploads, about)
        about.segments = testset.segments
        write_record(folder / NAMES, about)
        write_test_set(testset, texts, numbered=True)
    said = None
    for choice in [choice for choice in about.choices.files if choice.added]:
        if (uploads / str(choice.file)).is_file():
            try:
                add_output(texts, uploads / str(choice.file), choice, about.segments)
            except GnomonError as error:
                said = f"It could not be added: {word_error(error)}"
                about.choices.files.remove(choice)
                write_record(folder / NAMES, about)
    shutil.rmtree(uploads, ignore_errors=True)
    return said


def inspect_draft(folder: Path, files: int, size: int, total: int) -> int:
    """Look at the files of a draft, and write down what they are; archives are unpacked first.

    ``files``, ``size`` and ``total``: how many files a draft has at most, and bytes of one and of
    those from archives together.
    """
    from gnomon.serve.archives import unpack
    from gnomon.serve.inspect import inspect, is_archive
    from gnomon.serve.workspace import DRAFT, INSPECTION, Draft

    draft = read_record(folder / DRAFT, Draft)
    if draft is None:
        return BROKEN
    uploads, refused, opened = folder / UPLOADS, {}, {*draft.members.values()}
    for number, name in enumerate([*draft.names]):
        archive, first = uploads / str(number), len(draft.names)
        if number in (*opened, *draft.members) or not is_archive(archive, name):
            continue
        try:
            draft.names += unpack(
                archive, name, first, files=files - first + 1, size=size, total=total
            )
        except DataError as error:
            refused[number] = f"{name} {error}."
            continue
        draft.members |= dict.fromkeys(range(first, len(draft.names)), number)
        total -= sum((uploads / str(n)).stat().st_size for n in range(first, len(draft.names)))
    write_record(folder / DRAFT, draft)
    opened = {*draft.members.values()}
    for number in opened:
        (uploads / str(number)).unlink(missing_ok=True)
    given = {n: (name, uploads / str(n)) for n, name in enumerate(draft.names) if n not in opened}
    found = inspect(given, draft.encodings)
    for file in found.files:
        if file.file in refused:
            file.problems[0].text = refused[file.file]
    write_record(folder / INSPECTION, found)
    return 0
