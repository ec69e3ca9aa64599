"""The data of mt-metrics-eval: one large archive of all sets, of which some are taken."""

from __future__ import annotations

import logging
import secrets
import shutil
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.errors import DataError, UnknownNameError
from gnomon.data.formats import read_test_set
from gnomon.data.official._folder import describe_folder, origin_of, write_origin
from gnomon.data.official.archive_files import sweep, unpack
from gnomon.data.official.obtaining import digest, obtain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gnomon.data.official._folder import WrittenSet
    from gnomon.data.official.obtaining import Origin

__all__ = ["NAME", "SETS", "URL", "fetch_metrics_eval"]


_log = logging.getLogger(__name__)

NAME = "mt-metrics-eval"
URL = "https://storage.googleapis.com/mt-metrics-eval/mt-metrics-eval-v2.tgz"
SETS = (
    "wmt19",
    "wmt20",
    "wmt21.flores",
    "wmt21.news",
    "wmt21.tedtalks",
    "wmt22",
    "wmt23",
    "wmt24",
)
_PARTS = (
    "sources",
    "references",
    "system-outputs",
    "documents",
    "human-scores",
    "metric-scores",
)
_BY_FOLDER = ("system-outputs", "metric-scores")


class _Member(NamedTuple):
    """A file of a set: ``SET/PART/...``, and the language pair that it is of."""

    set: str
    pair: str
    path: PurePosixPath


@dataclass
class _Choice:
    """Which files are taken, and what was seen while choosing."""

    sets: tuple[str, ...]
    pairs: tuple[str, ...]
    seen: dict[str, set[str]] = field(default_factory=dict)

    def takes(self, path: PurePosixPath) -> bool:
        """True if a file is taken."""
        member = _member(path)
        if member is None:
            return False
        self.seen.setdefault(member.set, set()).add(member.pair)
        return (not self.sets or member.set in self.sets) and (
            not self.pairs or member.pair in self.pairs
        )

    def check(self) -> None:
        """Check that all that was asked for is there."""
        if not self.seen:
            raise DataError(
                "the archive holds no test set of mt-metrics-eval (SET/sources, SET/references,"
                " SET/system-outputs)"
            )
        for name in self.sets:
            if name not in self.seen:
                raise UnknownNameError("test set of the archive", name, sorted(self.seen))
        there = {p for n, pairs in self.seen.items() if n in (self.sets or [n]) for p in pairs}
        for pair in self.pairs:
            if pair not in there:
                raise UnknownNameError("language pair of these sets", pair, sorted(there))


def fetch_metrics_eval(
    name: str | None, language_pairs: Sequence[str], origin: Origin
) -> list[WrittenSet]:
    """Fetch sets into ``HOME/mt-metrics-eval/SET``, in their own layout, which gnomon reads."""
    home = origin.home / NAME
    choice = _Choice((name,) if name else (), tuple(language_pairs))
    if name is not None and _has(home / name, language_pairs):
        return list(_describe_sets(home, {name: language_pairs or _pairs(home / name)}, new=False))
    sweep(home)
    scratch = home / f".{secrets.token_hex(8)}.new"
    try:
        with obtain(URL, origin) as archive:
            unpack(archive, scratch, wanted=choice.takes, progress=origin.progress)
            source = {"source": origin.given or URL, "sha256": digest(archive)}
        choice.check()
        taken = _settle(scratch, home)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for set_name, pairs in taken.items():
        _note(home / set_name, pairs, source, complete=not language_pairs)
    return list(_describe_sets(home, taken, new=True))


def _settle(scratch: Path, home: Path) -> dict[str, list[str]]:
    """Move files to their set; set -> pairs."""
    taken: dict[str, set[str]] = {}
    for file in sorted(scratch.rglob("*")) if scratch.is_dir() else ():
        member = _member(PurePosixPath(*file.relative_to(scratch).parts))
        if member is None or not file.is_file():
            continue
        target = home / member.path
        target.parent.mkdir(parents=True, exist_ok=True)
        file.replace(target)
        taken.setdefault(member.set, set()).add(member.pair)
    return {name: sorted(pairs) for name, pairs in sorted(taken.items())}


def _member(path: PurePosixPath) -> _Member | None:
    parts = path.parts
    at = next((i for i, folder in enumerate(parts) if folder in _PARTS), 0)
    if not 0 < at < len(parts) - 1:
        return None
    by_folder = parts[at] in _BY_FOLDER
    if by_folder and len(parts) < at + 3:
        return None
    pair = parts[at + 1] if by_folder else parts[at + 1].partition(".")[0]
    return _Member(parts[at - 1], pair, PurePosixPath(*parts[at - 1 :]))


def _has(folder: Path, pairs: Sequence[str]) -> bool:
    """True if a set is here, with these pairs (or all)."""
    if origin_of(folder).get("complete") is True:
        return True
    return bool(pairs) and set(pairs) <= set(_pairs(folder))


def _pairs(folder: Path) -> list[str]:
    pairs = origin_of(folder).get("language_pairs")
    return [str(pair) for pair in pairs] if isinstance(pairs, list) else []


def _note(folder: Path, pairs: Iterable[str], source: dict[str, str], *, complete: bool) -> None:
    every = sorted({*_pairs(folder), *pairs})
    write_origin(
        folder, {"publisher": NAME, **source, "language_pairs": every, "complete": complete}
    )


def _describe_sets(
    home: Path, taken: dict[str, Sequence[str]] | dict[str, list[str]], *, new: bool
) -> Iterable[WrittenSet]:
    for name, pairs in taken.items():
        for pair in pairs:
            path = home / name / pair
            try:
                testset = read_test_set(home / name, language_pair=pair)
            except DataError as error:
                _log.warning("%s is here, but cannot be read: %s", path, error)
            else:
                yield describe_folder(testset, path, new=new)
