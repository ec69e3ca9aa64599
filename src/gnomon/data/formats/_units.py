"""Files of translation units: XLIFF 1.2 and 2, TMX, PO, and the cues of SRT and WebVTT.

Units are found by their ids, whatever their order, and not by lines. Codes inside a text (tags of
the document that it comes from) are no part of it and stand beside it as placeholders, ``⟦1⟧``;
white space around line feeds is one space.
XLIFF of translation tools (SDLXLIFF, MXLIFF, MQXLIFF) has a unit for each marked segment. What is
not to be translated, is fuzzy or is no longer used is left out.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import Element

from gnomon.core.errors import DataError, FormatError, LengthMismatchError
from gnomon.data.formats._files import LOGGER, read_bytes
from gnomon.data.formats._lines import BY_COLUMNS, JoinedTexts, decode
from gnomon.data.formats._registry import Format
from gnomon.data.formats._xml import tree
from gnomon.messages.audiences import Named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.data.formats._logs import LoggedSample


@dataclass(frozen=True)
class TranslationUnits:
    """The contents of a file of units.

    Attributes:
        sources: text by id, in the file's order; of subtitles there are none.
        targets: likewise; a unit that is not translated has none.
        language_pair: "en-de", where the file says so.
        references: of the log of an evaluation what its outputs were compared with, if anything;
            none of other files.
        scores: of such a log what metrics gave to its outputs: by metric, by id.
        system: the model whose outputs a log holds, where it says so.
        source_codes: the codes of the sources that have some, by id.
        target_codes: likewise.
    """

    sources: Mapping[str, str]
    targets: Mapping[str, str]
    language_pair: str | None = None
    references: Sequence[Mapping[str, str]] | None = None
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    system: str = ""
    source_codes: Mapping[str, str] = field(default_factory=dict)
    target_codes: Mapping[str, str] = field(default_factory=dict)

    @property
    def ids(self) -> Sequence[str]:
        """Of all units, in the file's order."""
        return list(self.sources or self.targets)


class UnitText(NamedTuple):
    """A text, and the codes that stand in it: ``⟦1⟧``, where a pair ends ``⟦/1⟧``."""

    text: str
    codes: str = ""


#: what stands for the document's own codes, whose content is no text
_CODES = frozenset({"x", "bx", "ex", "ph", "bpt", "ept", "it", "sc", "ec", "ut"})
#: other elements without text
_NOTHING = frozenset({"sm", "em", "cp"})
#: codes around a text, and those that end one
_AROUND, _ENDS = frozenset({"g", "pc"}), frozenset({"ex", "ept", "ec"})
#: what tells a code from others, the same where a pair begins and ends
_CODE_IDS = ("rid", "startRef", "i", "x", "id")

#: states of units of both versions of XLIFF
_UNTRANSLATED = frozenset({"new", "needs-translation", "initial"})


def read_units(path: str | PathLike[str], form: str) -> TranslationUnits:
    """Read a file in a format of units."""
    if Path(path).is_dir():
        from gnomon.data.formats._logs import samples_in

        units = _units_of_log(samples_in(Path(path)), str(path))
    else:
        units = _READERS[form](read_bytes(path), str(path))
    if not units.ids:
        raise FormatError(f"holds no unit to be translated; it was read as {form}", path=path)
    untranslated = len(units.ids) - len(units.targets)
    if untranslated:
        said = "%s: %d of %d units are not translated"
        LOGGER.info(said, path, untranslated, len(units.ids))
    return units


def joined(
    files: Sequence[tuple[str, TranslationUnits | list[str]]], references: int, *, sourced: bool
) -> JoinedTexts:
    """The texts of files of units, and of lines, by the ids of the first file of units.

    Units that a reference does not translate are left out, and so are those that a file has
    beside the first. A unit that a system does not translate is an empty text.

    Args:
        files: each with its name: references, systems and, where one is named, the source.
        references: how many of the files are references.
        sourced: whether the last file is the source; else the first file of units has it.

    Raises:
        LengthMismatchError: there are more or fewer lines than units.
        DataError: a file lacks units of the first, has others by the same ids, or no unit is
            translated by all references.
    """
    first, units = next((name, file) for name, file in files if isinstance(file, TranslationUnits))
    columns = [_column(name, file, first, units) for name, file in files]
    of_references = [
        _references(*file, column)
        for file, column in zip(files[:references], columns[:references], strict=True)
    ]
    last = files[-1][1]
    sources = columns.pop() if sourced else units.sources
    if sourced and isinstance(last, TranslationUnits):
        sources = last.sources or sources
    kept = [i for i in units.ids if all(i in several[0] for several in of_references)]
    if not kept:
        raise DataError(f"no unit of {first} is translated in every reference; name a file that is")
    if len(kept) < len(units.ids):
        said = "%d of %d units have no reference translation and are left out"
        LOGGER.warning(said, len(units.ids) - len(kept), len(units.ids))
    pairs = (file.language_pair for _, file in files if isinstance(file, TranslationUnits))
    scores: dict[str, dict[int, list[float]]] = {}
    for number, (_, file) in enumerate(files[references : len(columns)]):
        for metric, given in file.scores.items() if isinstance(file, TranslationUnits) else ():
            scores.setdefault(metric, {})[number] = [given.get(i, nan) for i in kept]
    return JoinedTexts(
        [[[one.get(i) for i in kept] for one in several] for several in of_references],
        [[column.get(i, "") for i in kept] for column in columns[references:]],
        [sources.get(i, "") for i in kept] if sourced or any(sources.values()) else None,
        next(filter(None, pairs), None),
        scores,
        _codes(files[: len(columns)], references, last if sourced else units, kept),
        tuple(kept),
    )


def _codes(
    files: Sequence[tuple[str, TranslationUnits | list[str]]],
    references: int,
    source: TranslationUnits | list[str],
    kept: Sequence[str],
) -> dict[str, dict[int, list[str]]]:
    """The codes of all texts of files that may hold some; nothing where the sources have none."""
    if isinstance(source, list) or not source.source_codes:
        return {}
    found = {"sources": {0: [source.source_codes.get(i, "") for i in kept]}}
    for role, some in (("references", files[:references]), ("systems", files[references:])):
        found[role] = {
            number: [file.target_codes.get(i, "") for i in kept]
            for number, (_, file) in enumerate(some)
            if not isinstance(file, list)
        }
    return found


def _references(
    name: str, file: TranslationUnits | list[str], column: Mapping[str, str]
) -> Sequence[Mapping[str, str]]:
    """Those of a file: its texts, or, of the log of an evaluation, its targets."""
    if isinstance(file, list) or file.references is None:
        return [column]
    if not file.references:
        raise DataError(
            f"{name} holds outputs and no references; name a file of references before the"
            " outputs (",
            Named(f"ref.txt -i {name} ...", f"systems=[{name!r}, ...]"),
            ")",
        )
    return file.references


def _column(
    name: str, file: TranslationUnits | list[str], first: str, units: TranslationUnits
) -> Mapping[str, str]:
    """Texts by the ids of the first file of units."""
    if isinstance(file, TranslationUnits):
        _check_ids(name, file, first, units)
        return file.targets
    if len(file) != len(units.ids):
        raise LengthMismatchError(
            f"{first} has {len(units.ids)} units, {name} has {len(file)} lines; a file of lines"
            " beside files of units has one line for each unit, in their order",
            counts={first: len(units.ids), name: len(file)},
        )
    return dict(zip(units.ids, file, strict=True))


def _check_ids(name: str, file: TranslationUnits, first: str, units: TranslationUnits) -> None:
    ids, there = units.ids, set(file.ids)
    lacking = [i for i in ids if i not in there]
    if lacking:
        raise DataError(
            f"{name} lacks {len(lacking)} of the {len(ids)} units of {first}, the first is"
            f" {lacking[0]!r}; units are joined by their ids: write both files from the same"
            " project"
        )
    sides = [("sources", file.sources, units.sources)]
    if file.references and units.references:
        sides.append(("targets", file.references[0], units.references[0]))
    for side, theirs, texts in sides:
        both = ((theirs.get(i), read) for i, read in texts.items())
        other = sum(bool(one and read and one != read) for one, read in both)
        if other * 2 > len(ids):
            raise DataError(
                f"{name} has other {side} than {first} in {other} of {len(ids)} units with the"
                " same ids; write both files from the same project, or task"
            )
    if len(there) > len(ids):
        said = "%s: %d units are not in %s and are left out"
        LOGGER.warning(said, name, len(there) - len(ids), first)


def _text(element: Element | None) -> UnitText | None:
    """The text of an element; none where there is no element."""
    if element is None:
        return None
    codes: list[str] = []
    text = _join_lines("".join(_pieces(element, codes)))
    return UnitText(text, "".join(f"⟦{code}⟧" for code in codes))


def _pieces(element: Element, codes: list[str]) -> Iterator[str]:
    """The pieces of a text, whose codes are added to those that are given."""
    yield element.text or ""
    for inner in element:
        tag, around = inner.tag, inner.tag in _AROUND
        name = next(filter(None, map(inner.get, _CODE_IDS)), tag)
        if around or tag in _CODES:
            codes.append(f"/{name}" if tag in _ENDS else name)
        if tag not in _CODES | _NOTHING and inner.get("mtype") != "x-sdl-deleted":
            yield from _pieces(inner, codes)
        if around:
            codes.append(f"/{name}")
        yield inner.tail or ""


def _join_lines(text: str) -> str:
    return " ".join(filter(None, map(str.strip, re.split("[\r\n]+", text))))


def _collected(
    units: Iterator[tuple[str, UnitText | None, UnitText | None]], language_pair: str | None
) -> TranslationUnits:
    """Of (id, source, target); an id that was there before gets a number."""
    sources: dict[str, str] = {}
    targets: dict[str, str] = {}
    codes: tuple[dict[str, str], dict[str, str]] = {}, {}
    seen: Counter[str] = Counter()
    for name, source, target in units:
        unique = unique_id(name, seen)
        sources[unique] = source.text if source else ""
        if target and target.text:
            targets[unique] = target.text
        for side, text in zip(codes, (source, target), strict=True):
            if text and text.codes:
                side[unique] = text.codes
    return TranslationUnits(
        sources, targets, language_pair, source_codes=codes[0], target_codes=codes[1]
    )


def unique_id(name: str, seen: Counter[str]) -> str:
    """The id, with a number where it was seen before; it counts as seen."""
    seen[name] += 1
    if seen[name] == 1:
        return name
    while seen[numbered := f"{name}#{seen[name]}"]:  # an id of the file's own
        seen[name] += 1
    seen[numbered] += 1
    return numbered


def _pair(source: str | None, target: str | None) -> str | None:
    """Of codes such as "en-GB"."""
    codes = [(code or "").replace("_", "-").partition("-")[0].lower() for code in (source, target)]
    return "-".join(codes) if all(codes) else None


def _xliff(data: bytes, path: str) -> TranslationUnits:
    root = tree(data, path, "XLIFF files")
    second = is_xliff_2(root, path)
    languages = root if second else next(root.iter("file"), root)
    source, target = ("srcLang", "trgLang") if second else ("source-language", "target-language")
    units = (
        (one.name, *_translation(one.state, one.source, one.target))
        for one in xliff_units(root, path)
    )
    return _collected(units, _pair(languages.get(source), languages.get(target)))


def is_xliff_2(root: Element, path: str) -> bool:
    """True if an XLIFF file is of version 2."""
    if root.tag != "xliff":
        raise FormatError(f"begins as <{root.tag}>, not as <xliff>", path=path, line=1)
    return root.get("version", "").startswith("2")


class XliffText(NamedTuple):
    """A text that is to be translated: a unit, or one of its segments."""

    unit: Element
    name: str  # the id; of a segment with its own
    state: str | None
    source: Element | None
    target: Element | None


def xliff_units(root: Element, path: str) -> Iterator[XliffText]:
    """Yield the translatable texts of an XLIFF file, in its order."""
    read = _units_2 if is_xliff_2(root, path) else _units_1
    for file in root.iter("file"):
        yield from read(file)


def _translatable_units(element: Element, name: str, *, wanted: bool = True) -> Iterator[Element]:
    """The units in an element, without those that it, or they themselves, keep as they are."""
    wanted = {"no": False, "yes": True}.get(element.get("translate", ""), wanted)
    if element.tag == name:
        if wanted:
            yield element
        return
    for inner in element:
        yield from _translatable_units(inner, name, wanted=wanted)


def _translation(
    state: str | None, source: Element | None, target: Element | None
) -> tuple[UnitText | None, UnitText | None]:
    """The texts of both; a copy of the source that is yet to be translated is no translation."""
    texts = _text(source), _text(target)
    return (texts[0], None) if state in _UNTRANSLATED and texts[0] == texts[1] else texts


def _units_1(file: Element) -> Iterator[XliffText]:
    for unit in _translatable_units(file, "trans-unit"):
        name = unit.get("id", "")
        source, target = unit.find("source"), unit.find("target")
        divided = unit.find("seg-source")
        marks = {} if divided is None else _segments(divided)
        state = None if target is None else target.get("state")
        if not marks:
            yield XliffText(unit, name, state, source, target)
            continue
        others = {} if target is None else _segments(target)
        for number, mark in marks.items():
            yield XliffText(unit, f"{name}/{number}", state, mark, others.get(number))


def _segments(element: Element) -> dict[str, Element]:
    marks = (mark for mark in element.iter("mrk") if mark.get("mtype") == "seg")
    return {mark.get("mid", ""): mark for mark in marks}


def _units_2(file: Element) -> Iterator[XliffText]:
    for unit in _translatable_units(file, "unit"):
        segments = unit.findall("segment")
        for number, segment in enumerate(segments, start=1):
            name = unit.get("id", "")
            if len(segments) > 1:
                name += f"/{segment.get('id', number)}"
            source, target = segment.find("source"), segment.find("target")
            yield XliffText(unit, name, segment.get("state"), source, target)


def _language(side: Element) -> str:
    return side.get("xml:lang") or side.get("lang") or ""


def _distance(one: str, other: str) -> int:
    """Distance of two language codes: alike (0), of one language, or neither.

    >>> _distance("en", "en"), _distance("en-gb", "en"), _distance("de", "en")
    (0, 1, 2)
    """
    return 0 if one == other else 2 - (re.split("[-_]", one)[0] == re.split("[-_]", other)[0])


def _tmx(data: bytes, path: str) -> TranslationUnits:
    root = tree(data, path, "TMX files")
    header, first = root.find("header"), root.find(".//tuv")
    stated = "" if header is None else header.get("srclang", "")
    # the first text's, where the header names none ("*all*")
    languages = {_language(side).lower() for side in root.iter("tuv")}
    language = stated.lower()
    if min((_distance(one, language) for one in languages), default=0) > 1 and first is not None:
        language = _language(first).lower()
    pairs: Counter[str | None] = Counter()
    units = []
    for number, unit in enumerate(root.iter("tu"), start=1):
        sides = [(_language(side), side) for side in unit.iter("tuv")]
        sides.sort(key=lambda side: _distance(side[0].lower(), language))  # the source first
        if len(sides) > 2:
            raise FormatError(
                f"holds units of {len(sides)} languages, such as number {number}; export a memory"
                " of two",
                path=path,
            )
        sides += [("", Element("tuv"))] * (2 - len(sides))
        (source, one), (target, other) = sides
        pairs[_pair(source, target)] += 1
        text = _text(one.find("seg"))
        name = unit.get("tuid", text.text if text else "")
        units.append((name, text, _text(other.find("seg"))))
    return _collected(iter(units), pairs.most_common(1)[0][0] if pairs else None)


_ENTRY = re.compile(r'(msgctxt|msgid|msgid_plural|msgstr(?:\[\d+\])?)\s+(".*")\s*')
_ESCAPE = re.compile(r"\\(.)")
_MEANT = {"n": "\n", "t": "\t", "r": "\r"}


def _log(data: bytes, path: str) -> TranslationUnits:
    from gnomon.data.formats._logs import samples_of

    samples = samples_of(data, path)
    if samples is None:
        raise FormatError(
            "holds no lines of texts, and no log of an evaluation that is known; a table is read by"
            " its columns (",
            BY_COLUMNS,
            ")",
            path=path,
        )
    return _units_of_log(samples, path)


def _units_of_log(samples: Sequence[LoggedSample], path: str) -> TranslationUnits:
    from gnomon.data.formats._logs import has_texts

    if not has_texts(samples):
        raise FormatError("holds no answer in words: none of its samples has a text", path=path)
    found = _collected(
        ((one.name, UnitText(one.source or ""), UnitText(one.output or "")) for one in samples),
        None,
    )
    named = list(zip(found.ids, samples, strict=True))
    most = max(len(one.references) for one in samples)
    references = [
        {i: one.references[n] for i, one in named if len(one.references) > n} for n in range(most)
    ]
    scores: dict[str, dict[str, float]] = {}
    for i, sample in named:
        for metric, score in sample.scores.items():
            scores.setdefault(metric, {})[i] = score
    system = samples[0].system.rpartition("/")[2]
    return replace(found, references=references, scores=scores, system=system)


def _po(data: bytes, path: str) -> TranslationUnits:
    header: dict[str, str] = {}
    units = []
    for entry in _po_entries(decode(data, path), path):
        source, context = entry.get("msgid", ""), entry.get("msgctxt", "")
        if not source:
            lines = entry.get("msgstr", "").split("\n")
            header = dict(line.split(": ", 1) for line in lines if ": " in line)
            continue
        forms = {key: text for key, text in entry.items() if key.startswith("msgstr")}
        for key, text in forms.items():
            plural = key not in ("msgstr", "msgstr[0]")
            read = entry.get("msgid_plural", source) if plural else source
            name = f"{context}|{source}" if context else source
            sides = UnitText(_join_lines(read)), UnitText(_join_lines(text))
            units.append((name + key[len("msgstr") :], *sides))
    target = header.get("Language", "")
    english = None if target.startswith("en") else "en"  # what strings are mostly translated from
    return _collected(iter(units), _pair(header.get("Source-Language", english), target))


def _po_entries(text: str, path: str) -> Iterator[dict[str, str]]:
    """The entries in use: not the fuzzy ones, and not those that are commented out."""
    entry: dict[str, list[str]] = {}
    key, fuzzy = "", False
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        begun = _ENTRY.fullmatch(line.strip())
        whole = "msgid" in entry and any(part.startswith("msgstr") for part in entry)
        ended = line.startswith("#") or not line.strip() or (begun and begun[1][:5] != "msgst")
        if whole and ended:
            if not fuzzy or not any(entry["msgid"]):
                yield {name: "".join(pieces) for name, pieces in entry.items()}
            entry, fuzzy = {}, False
        if line.startswith("#") or not line.strip():
            fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
            continue
        if begun:
            key, quoted = begun[1], begun[2]
        elif line.strip().startswith('"') and line.strip().endswith('"') and entry:
            quoted = line.strip()
        else:
            raise FormatError(
                "is no line of a PO file: msgid, msgstr or a text in double quotes is expected",
                path=path,
                line=number,
            )
        meant = _ESCAPE.sub(lambda found: _MEANT.get(found[1], found[1]), quoted[1:-1])
        entry.setdefault(key, []).append(meant)


_TIMES = re.compile(r"\s*(?:\d+:)?\d+:\d+[.,]\d+\s*-->\s*(?:\d+:)?\d+:\d+[.,]\d+.*")
_STYLE = re.compile(r"</?(?:[A-Za-z]|\d+:)[^<>]*>|\{\\[^{}]*\}")


def _cues(data: bytes, path: str) -> TranslationUnits:
    """Cues are numbered: their times differ between translations."""
    text = decode(data, path).replace("\r\n", "\n")
    texts: list[str] = []
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").split("\n")
        times = [number for number, line in enumerate(lines) if _TIMES.fullmatch(line)]
        for time, end in pairwise([*times, len(lines)]):
            said = lines[time + 1 : end]
            if end < len(lines) and said and said[-1].strip().isdigit():
                said.pop()  # the number of the next cue, with no empty line before it
            texts.append(_join_lines(_STYLE.sub("", "\n".join(said))))
    if text.startswith("WEBVTT"):
        texts = [html.unescape(one) for one in texts]
    return TranslationUnits({}, {str(number): one for number, one in enumerate(texts, start=1)})


_READERS: Mapping[str, Callable[[bytes, str], TranslationUnits]] = {
    "xliff": _xliff,
    "tmx": _tmx,
    "po": _po,
    "subtitles": _cues,
    "log": _log,
}


FORMATS = tuple(
    Format(name=name, title=title, holds="test set", read=partial(read_units, form=name))
    for name, title in (
        ("xliff", "XLIFF 1.2 and 2: .xlf, .xliff, .sdlxliff, .mxliff, .mqxliff; units by id"),
        ("tmx", "TMX, a translation memory of two languages; units by id, or by source"),
        ("po", "PO of gettext, without fuzzy entries; units by source and context"),
        ("subtitles", "SubRip and WebVTT: .srt, .vtt; cues in their order"),
    )
)
