"""What is known of a test set, its systems and its segments: the files beside the texts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.errors import FormatError
from gnomon.formats._files import LOGGER
from gnomon.formats._folders import find, is_pair, text_files
from gnomon.formats._lines import read_lines
from gnomon.formats._tsv import read_tsv
from gnomon.testset import SystemInfo

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.formats._tsv import Row

INFO_COLUMNS = ("system", "year", "architecture", "constrained", "human")
_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True)
class About:
    """What ``testset.json`` says, or else the name of the directory."""

    name: str
    language_pair: str | None
    references: tuple[str, ...] = ()


def read_about(path: Path) -> About:
    """Read ``testset.json``; without it, ``SET/de-en`` is the set SET for the pair de-en.

    Raises:
        FormatError: it is not the JSON object that is expected.
    """
    folder = path.resolve()
    pair = folder.name if is_pair(folder.name) else None
    default = About((folder.parent.name or folder.name) if pair else folder.name, pair)
    file = find(path, "testset.json")
    if file is None:
        return default
    try:
        data = json.loads("\n".join(read_lines(file)))
        name, known, order = data["name"], data["language_pair"], data.get("references", [])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(
            "a JSON object with the keys name, language_pair and, optionally, references is"
            f" expected ({error})",
            path=file,
        ) from error
    words = isinstance(order, list) and all(isinstance(item, str) for item in order)
    if not isinstance(name, str) or not isinstance(known, (str, type(None))) or not words:
        raise FormatError(
            "name and language_pair must be strings (or null), references a list of strings",
            path=file,
        )
    return About(name, known, tuple(order))


@dataclass(frozen=True)
class Systems:
    """What ``systems.tsv`` says: every name it lists, and what is known of each."""

    names: tuple[str, ...] = ()
    info: tuple[tuple[str, SystemInfo], ...] = ()


def read_systems(path: Path) -> Systems:
    """Read ``systems.tsv``, which may list systems that have no text.

    Raises:
        FormatError: a system is listed twice, or a cell is not what its column asks for.
    """
    file = find(path, "systems.tsv")
    if file is None:
        return Systems()
    table = read_tsv(file)
    table.require("system")
    names: list[str] = []
    info: list[tuple[str, SystemInfo]] = []
    for row in table:
        name = row["system"]
        if name in names:
            raise row.error(f"system {name!r} is listed twice")
        names.append(name)
        known = _system_info(row)
        if known != SystemInfo():
            info.append((name, known))
    texts = text_files(path / "systems")
    silent = [name for name in names if name not in texts]
    if silent:
        LOGGER.info("%s: no text for %d of the systems: %s", file, len(silent), ", ".join(silent))
    return Systems(tuple(names), tuple(info))


def _system_info(row: Row) -> SystemInfo:
    extra = {k: v for k, v in row.cells.items() if k not in INFO_COLUMNS and v}
    return SystemInfo(
        year=row.integer("year", 0) if row.get("year") else None,
        architecture=row.get("architecture") or None,
        constrained=_flag(row, "constrained"),
        human=_flag(row, "human") or False,
        extra=extra,
    )


def _flag(row: Row, column: str) -> bool | None:
    text = row.get(column)
    if not text:
        return None
    if text.lower() not in _YES:
        raise row.error(f"{column} is {text!r}; yes or no is expected, or nothing if unknown")
    return _YES[text.lower()]


def read_documents(
    path: Path, segments: int
) -> tuple[list[str] | None, list[str] | None, dict[str, list[str]]]:
    """Read ``documents.tsv``: the documents, the domains and further labels of the segments.

    Raises:
        FormatError: there is not one row per segment.
    """
    file = find(path, "documents.tsv")
    if file is None:
        return None, None, {}
    table = read_tsv(file)
    if len(table.rows) != segments:
        raise FormatError(
            f"has {len(table.rows)} rows below its header; the test set has {segments} segments,"
            " one row is expected for each",
            path=file,
        )
    columns = {column: [row[column] for row in table] for column in table.columns}
    for column in ("document", "domain"):
        empty = [row.line for row in table if column in columns and not row[column]]
        if empty:
            LOGGER.info(
                "%s: %d segment(s) without a %s, the first in line %d",
                file,
                len(empty),
                column,
                empty[0],
            )
    return columns.pop("document", None), columns.pop("domain", None), columns
