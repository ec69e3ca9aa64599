"""A test set from an MQM file alone: the rows carry the sources and the outputs that were rated."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import FormatError, UnknownNameError
from gnomon.formats._estimated import pair_of
from gnomon.formats._files import LOGGER
from gnomon.formats._marked import solid, unmark, unquoted
from gnomon.formats._mqm import NOT_RATED, columns_of, read_mqm
from gnomon.formats._passages import Choices, Collected, Passages, Place, assemble
from gnomon.formats._tsv import read_tsv, whole_number
from gnomon.testset import SystemInfo

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.formats._passages import Incomplete
    from gnomon.formats._tsv import Row, Rows
    from gnomon.testset import TestSet

KNOWN_BY = frozenset({"system", "rater", "source", "target", "category", "severity"})
_HUMAN = re.compile(r"(ref|reference|human)([-._ ]?[A-Z0-9])?(\.\d+)?", re.IGNORECASE)
_GLUED = re.compile(r"_([a-z]{2})([a-z]{2})(?=[._]|$)")


def read_mqm_set(
    path: str | PathLike[str],
    *,
    language_pair: str | None = None,
    references: Sequence[str] = (),
    incomplete: Incomplete = "refuse",
) -> TestSet:
    """Read the texts and the judgements of an MQM file that has both.

    The segments are those that were rated: by their numbers where these count through the set, else
    in the order of the file.

    Args:
        path: the file (``.gz`` allowed), in the columns of the public MQM files.
        language_pair: if the name of the file does not tell (``mqm_ted_ende.tsv``).
        references: human translations among the "systems", which become references; one that was
            rated throughout stays a system, too.
        incomplete: what becomes of a system of which not all segments were rated: "refuse" the
            file, "empty" texts there, or "drop" the system.

    Raises:
        FormatError: a column is missing, or a row is damaged.
        DataError: a system lacks segments.
        UnknownNameError: a reference is no system of the file.
    """
    table = read_tsv(path)
    table.require(*sorted(KNOWN_BY))
    found = _collected(table)
    _take_references(found, references)
    testset = assemble(
        found,
        path=table.path,
        language_pair=language_pair or pair_in_mqm(Path(path)),
        choices=Choices(("unreferenced",), incomplete),
    )
    human = [name for name in testset.systems if _HUMAN.fullmatch(name) or name in references]
    if human and not references:
        LOGGER.info(
            "%s: %s look like human translations; they can be made references",
            table.path,
            ", ".join(human),
        )
    testset = replace(testset, info={name: SystemInfo(human=True) for name in human})
    places = {(p.document, p.number): i for i, p in enumerate(found.parts[0].texts)}
    return testset.with_human(read_mqm(path, testset, places=places))


def pair_in_mqm(path: Path) -> str | None:
    """The language pair, from the name of the file or of its folder."""
    glued = _GLUED.findall(path.name)
    return "-".join(glued[-1]) if glued else pair_of(path)


def _take_references(found: Collected, references: Sequence[str]) -> None:
    outputs = {part.name: part for part in found.of("system")}
    for name in references:
        if name not in outputs:
            raise UnknownNameError("system to take as a reference", name, outputs)
        part = outputs[name]
        if len(part.texts) < len(found.parts[0].texts):
            found.parts.remove(part)
        found.parts.append(replace(part, role="reference"))


def _collected(table: Rows) -> Collected:
    """Sources first, then each system, in the order of the segments."""
    column = columns_of(table)["seg_id"]
    sources = Passages("source", "", table.path)
    outputs: dict[str, Passages] = {}
    differing: list[int] = []
    for row in table:
        if row["severity"].lower().startswith(NOT_RATED):
            continue
        place = Place(row.get("doc"), row[column])
        if whole_number(place.number) < 0:
            raise row.error(f"{column} is {place.number!r}; a whole number is expected")
        part = outputs.setdefault(row["system"], Passages("system", row["system"], table.path))
        same = [_noted(sources, place, row, "source"), _noted(part, place, row, "target")]
        differing += [] if all(same) else [row.line]
    if not sources.texts:
        raise FormatError("has no rated segments below its header", path=table.path)
    if differing:
        LOGGER.warning(
            "%s: %d rows have another text than an earlier row of the same segment, whose text is"
            " taken; the first is line %d",
            table.path,
            len(differing),
            differing[0],
        )
    _order(sources)
    facts: dict[str, dict[str, str]] = {place.document: {} for place in sources.texts}
    return Collected(_name_of(table.path), [sources, *outputs.values()], facts)


def _noted(part: Passages, place: Place, row: Row, column: str) -> bool:
    """Note the text of a row without its marks; whether it agrees with what is known of it."""
    found = unmark(_meant(row[column]))
    if found is None:
        raise row.error(
            f"the marks in {column} do not pair up: {row[column][:80]!r}; an error stands between"
            " <v> and </v>"
        )
    if place not in part.texts:
        part.add(place, found.text, row.line)
        return True
    return solid(part.texts[place]) == solid(found.text)


def _meant(field: str) -> str:
    """A field without a spreadsheet's quotation marks, which double those inside."""
    return unquoted(field) if '""' in field[1:-1] else field


def _order(sources: Passages) -> None:
    """By number, if each number is of one segment; else as the file has them."""
    numbers = [int(place.number) for place in sources.texts]
    if len(set(numbers)) == len(numbers):
        ordered = sorted(sources.texts.items(), key=lambda item: int(item[0].number))
        sources.texts = dict(ordered)


def _name_of(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2].removesuffix(".gz").removesuffix(".tsv")
