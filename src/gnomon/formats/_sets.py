"""Which test sets lie in a place, in any format that is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import DataError
from gnomon.formats import _layout, _mt_metrics_eval, _published
from gnomon.formats._files import require_directory
from gnomon.formats._layout import read_about

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from gnomon.formats._published import Found

_DEEPEST = 12


@dataclass(frozen=True)
class SetInfo:
    """One set that is there.

    Attributes:
        format: a name that ``gnomon list formats`` shows.
        place: what to give to ``-t`` or :func:`gnomon.formats.read_test_set`.
        language_pair: if known without reading the texts.
        files: the files of which it consists, where it is not a directory of its own.
    """

    format: str
    place: str
    language_pair: str | None
    files: tuple[Path, ...] = ()


def sets_in(path: str | PathLike[str]) -> tuple[SetInfo, ...]:
    """The test sets of a file, or of a directory and those inside it.

    Directories of gnomon's layout and mt-metrics-eval's are sets as a whole; in others, files of
    published formats are looked for, at any depth.

    Raises:
        MissingFileError: there is nothing of this name.
        FormatError: a file that was named is of no known format.
        DataError: there is no set.
    """
    place = Path(path)
    if place.is_file():
        return (_info(_published.of_file(place)),)
    require_directory(place)
    found = tuple(_walk(place, 0))
    if not found:
        known = ", ".join(("gnomon", "mt-metrics-eval", *_published.PUBLISHED))
        raise DataError(f"{place} holds no test set of a known format ({known})")
    return found


def _walk(folder: Path, depth: int) -> Iterator[SetInfo]:
    if _layout.is_layout(folder):
        yield SetInfo("gnomon", str(folder), read_about(folder).language_pair)
        return
    if _mt_metrics_eval.is_layout(folder) and not _published.is_package(folder):
        for pair in _mt_metrics_eval.language_pairs(folder):
            yield SetInfo("mt-metrics-eval", str(folder / pair), pair)
        return
    inside = [*_published.in_folder(folder), *_published.mqm_in(folder)]
    yield from map(_info, inside)
    if depth < _DEEPEST and not any(found.format == "wmt-package" for found in inside):
        for child in sorted(folder.iterdir()):
            if child.is_dir() and not child.is_symlink() and not child.name.startswith("."):
                yield from _walk(child, depth + 1)


def _info(found: Found) -> SetInfo:
    return SetInfo(found.format, found.place, found.pair, found.files)
