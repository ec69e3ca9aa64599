"""What a file, a folder or an archive holds, before it is converted."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from gnomon.formats import SetInfo, sets_in
from gnomon.official._archives import is_archive, unpack
from gnomon.official._limits import Limits
from gnomon.official._metrics_eval import sets_in_archive

__all__ = ["Content", "contents"]


@dataclass(frozen=True)
class Content:
    """A test set in some place.

    Attributes:
        name: its folder or file there, or, of mt-metrics-eval's archive, its name.
        language_pair: if the names of the files tell.
        format: as ``gnomon list formats`` calls it.
    """

    name: str
    language_pair: str | None
    format: str


def contents(path: Path, *, limits: Limits | None = None) -> tuple[Content, ...]:
    """The sets of a file, a folder or an archive, which is unpacked for the time being.

    Raises:
        MissingFileError: there is nothing of this name.
        FormatError: an archive is refused, or a file is of no known format.
        DataError: there is no set.
    """
    if not is_archive(path):
        return tuple(_of(one, path) for one in sets_in(path))
    allowed = limits or Limits()
    by_name = sets_in_archive(path, allowed)
    if by_name:
        return tuple(
            Content(name, pair, "mt-metrics-eval")
            for name, pairs in by_name.items()
            for pair in pairs
        )
    with tempfile.TemporaryDirectory(prefix="gnomon-") as scratch:
        folder = Path(scratch) / "all"
        unpack(path, folder, limits=allowed)
        return tuple(_of(one, folder) for one in sets_in(folder))


def _of(one: SetInfo, root: Path) -> Content:
    place = Path(one.place)
    name = str(place.relative_to(root)) if place != root and root in place.parents else place.name
    return Content(name, one.language_pair, one.format)
