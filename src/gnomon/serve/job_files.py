"""The files of a job: texts of a comparison of what was sent, and what a look at it finds."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from gnomon.core.errors import GnomonError
from gnomon.serve.comparison import (
    NAMES,
    TEXTS,
    UPLOADS,
    ComparisonRecord,
    read_record,
    write_record,
)
from gnomon.serve.problems import in_words

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
                said = f"It could not be added: {in_words(error)}"
                about.choices.files.remove(choice)
                write_record(folder / NAMES, about)
    shutil.rmtree(uploads, ignore_errors=True)
    return said


def inspect_draft(folder: Path) -> int:
    """Look at the files of a draft, and write down what they are."""
    from gnomon.serve.inspect import inspect
    from gnomon.serve.workspace import DRAFT, INSPECTION, Draft

    draft = read_record(folder / DRAFT, Draft)
    if draft is None:
        return BROKEN
    files = [(name, folder / UPLOADS / str(n)) for n, name in enumerate(draft.names)]
    write_record(folder / INSPECTION, inspect(files, draft.encodings))
    return 0
