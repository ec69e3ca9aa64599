"""Official data: test sets as their publishers give them, fetched, checked, converted.

Fetched are the sets of sacreBLEU's registry and of mt-metrics-eval, and files at any address;
converted is whatever :mod:`gnomon.formats` reads (WMT's XML and SGML, MQM, quality estimation,
...), also from archives. Nothing of what is fetched is evaluated or unpickled. Without a
connection, every function works from files.

::

    from gnomon.data import official

    [one] = official.fetch("wmt22", language_pairs=["en-de"])       # one.path, one.next
    official.fetch("wmt19", language_pairs=["de-en"], given="test.tgz")
    official.fetch("mt-metrics-eval/wmt22", given="mt-metrics-eval-v2.tgz")
    official.convert(["newstest2021.en-de.all.xml"], "sets/wmt21")
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import UnknownNameError
from gnomon.core.options import expand_fields
from gnomon.data.official._available import Available, listed
from gnomon.data.official._convert import ConvertOptions, convert_sets
from gnomon.data.official._folder import WrittenSet, default_path, sets_here
from gnomon.data.official._sacrebleu import datasets, fetch_sacrebleu
from gnomon.data.official.archive_files import is_archive, unpack
from gnomon.data.official.downloading import download, require_url
from gnomon.data.official.metrics_eval import NAME as _METRICS_EVAL
from gnomon.data.official.metrics_eval import fetch_metrics_eval
from gnomon.data.official.obtaining import (
    Origin,
    alone,
    base_name,
    obtain,
    require_sha256,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.data.official.downloading import Progress

__all__ = [
    "Available",
    "WrittenSet",
    "available",
    "convert",
    "default_path",
    "download",
    "fetch",
    "is_archive",
    "unpack",
]


def available(folder: str | PathLike[str] | None = None) -> tuple[Available, ...]:
    """List the names that can be fetched, with those that are here; nothing is fetched.

    Args:
        folder: of fetched sets; :func:`default_path` by default.
    """
    return listed(_home(folder))


def fetch(
    name: str,
    *,
    language_pairs: Sequence[str] = (),
    folder: str | PathLike[str] | None = None,
    given: str | PathLike[str] | None = None,
    sha256: str | None = None,
    progress: Progress | None = None,
) -> tuple[WrittenSet, ...]:
    """Fetch a test set by name or address, and write it where ``-t`` can take it.

    What is here already is not fetched again. The SHA-256 of each file is recorded at the first
    fetch in ``FOLDER/downloads/lock.json``, when the file was read without error, and checked from
    then on; sacreBLEU's registry knows MD5s of its own.

    Args:
        name: a name of :func:`available`, "mt-metrics-eval" for all of its sets, or an address
            (``https://...``) of a file or archive of any format that is read.
        language_pairs: which; all by default.
        folder: where to put it, as ``FOLDER/NAME/PAIR``; :func:`default_path` by default.
        given: the publisher's file, a folder that holds it, or another address of it, to take in
            place of the publisher's address.
        sha256: the checksum that the file must have.
        progress: called with a stage, what is done, and the total.

    Returns:
        The sets, one per language pair.

    Raises:
        UnknownNameError: there is no such set or pair.
        MissingFileError: a file cannot be fetched, or is not where it was said to be.
        DataError: a checksum differs, or an archive is refused.
    """
    origin = Origin(
        home=_home(folder),
        given=None if given is None else str(given),
        sha256=None if sha256 is None else require_sha256(sha256),
        progress=progress,
    )
    _check_name(name, origin)
    whose = _METRICS_EVAL if name.startswith(f"{_METRICS_EVAL}/") else name
    with alone(origin.downloads / re.sub(r"\W", "_", whose)[:100]):
        return _fetch(name, language_pairs, origin)


@expand_fields(options=ConvertOptions)
def convert(
    paths: Sequence[str | PathLike[str]],
    folder: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  # the word that users know from every command
    options: ConvertOptions,
) -> tuple[WrittenSet, ...]:
    """Convert test sets of any format that is read into folders of gnomon's layout.

    Args:
        paths: files, folders or archives. XML or SGML files that are named together are one set;
            folders and archives are searched.
        folder: a new or empty one. One set is written right there, several as
            ``FOLDER/NAME/PAIR``.
        format: one that reads files named together with it (wmt-xml, wmt-sgml, wmt-mqm), where
            the files do not tell.
        options: what is to become of the sets.

    Returns:
        The sets that were written.

    Raises:
        MissingFileError: there is no such file.
        FormatError: a file is not what its format asks for; file and line are named.
        DataError: nothing is found, or a set cannot be converted (others are written all the same).
        OutputError: the folder is not empty.
    """
    return convert_sets([Path(path) for path in paths], Path(folder), options, form=format)


def _home(folder: str | PathLike[str] | None) -> Path:
    return default_path() if folder is None else Path(folder)


def _check_name(name: str, origin: Origin) -> None:
    if "://" in name:
        require_url(name)
    elif name.partition("/")[0] != _METRICS_EVAL and name not in datasets():
        names = (listed_set.name for listed_set in listed(origin.home))
        remedy = "an address (https://...) can be fetched, too, and a file be converted"
        raise UnknownNameError("test set", name, names, remedy=remedy)


def _fetch(name: str, language_pairs: Sequence[str], origin: Origin) -> tuple[WrittenSet, ...]:
    if "://" in name:
        return _fetch_address(name, language_pairs, origin)
    publisher, _, rest = name.partition("/")
    if publisher == _METRICS_EVAL:
        return tuple(fetch_metrics_eval(rest or None, language_pairs, origin))
    return tuple(fetch_sacrebleu(name, language_pairs, origin))


def _fetch_address(
    url: str, language_pairs: Sequence[str], origin: Origin
) -> tuple[WrittenSet, ...]:
    """A file or archive at some address, converted into ``HOME/FILE``."""
    target = origin.home / base_name(url).partition(".")[0]
    written: list[WrittenSet] = []
    for pair in language_pairs or (None,):
        folder = target / pair if pair else target
        here = sets_here(folder)
        if not here:
            with obtain(url, origin) as file:
                here += convert_sets([file], folder, ConvertOptions(pair), form=None)
        written += here
    return tuple(written)
