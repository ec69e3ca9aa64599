"""Label files of a task: names with ``{system}`` and ``{testset}`` stand for a file of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import DataError, MissingFileError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.annotate import Labels

__all__ = ["label_files", "labels_of", "located"]


def located(value: object, folder: Path) -> object:
    """Names of label files, in full: they are relative to the study."""
    if isinstance(value, str):
        return str((folder / Path(value).expanduser()).resolve())
    return [located(one, folder) for one in value] if isinstance(value, list) else value


def label_files(
    options: Mapping[str, object], testset: str, systems: Sequence[str]
) -> tuple[str, ...]:
    """The label files that a task reads; none where the options name none.

    A task of one system reads that system's file alone, so that labels of hundreds of systems
    need not be read for each of them.

    Raises:
        DataError: ``labels`` are not names of files.
        MissingFileError: a file is not there.
    """
    given = options.get("labels") or ()
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        raise DataError(f"labels are names of files (.conllu, .jsonl); got {given!r}")
    found = {
        name.replace("{testset}", testset).replace("{system}", system): None
        for name in names
        for system in (systems if "{system}" in name else ("",))
    }
    for name in found:
        if not Path(name).is_file():
            raise MissingFileError(f"there is no label file {name!r}, which {testset} needs")
    return tuple(found)


def labels_of(options: Mapping[str, object], testset: str, systems: Sequence[str]) -> Labels | None:
    """The labels that a task reads; None where the options name none.

    Raises:
        FormatError: a file is not what its suffix says.
        AnnotationError: labels do not fit their text.
    """
    files = label_files(options, testset, systems)
    if not files:
        return None
    from gnomon.annotate import Labels

    return Labels.read(files)
