"""Paraphrases of references: ``ref.NAME.txt`` beside each other, or JSONL with one per line."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.core.lazy import checked
from gnomon.core.testset import Paraphrase
from gnomon.data.formats._files import atomic_write, plain_name
from gnomon.data.formats._lines import check_writable, read_lines, shown
from gnomon.data.formats._records import read_records
from gnomon.data.formats._registry import Format

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from gnomon.core.testset import TestSet
    from gnomon.data.formats.rows import FileRecord


#: what the text of a paraphrase is called; under the last, there are several
_TEXTS = ("text", "paraphrase", "paraphrases")
_SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


@checked
def read_paraphrases(
    paths: Sequence[str | PathLike[str]], *, segments: int | None = None
) -> tuple[Paraphrase, ...]:
    r"""Read paraphrases: text files parallel to the references, or JSONL files.

    A text file holds one paraphrase per line, an empty line where there is none. Its method is its
    name without ``ref.``, ``.txt`` and a number at the end, so that ``ref.human1.txt`` and
    ``ref.human2.txt`` hold two paraphrases of the method ``human``. An object of a JSONL file holds
    ``segment`` (from 1; or ``id``, a number or its digits) and ``text`` (or ``paraphrase``; or
    several in ``paraphrases``), and may hold ``method``, ``system`` (for output-specific
    paraphrases), ``score``, ``seed`` and ``model``. Segments may have any number of paraphrases.

    Args:
        paths: the files.
        segments: how many segments there are; text files must then have as many lines, and
            numbers of segments must not be larger.

    Returns:
        The paraphrases of each file, in its order.

    Raises:
        MissingFileError: a file is missing.
        FormatError: a line is not what it should be, or a text file has too few or too many lines
            (file and line are named), or a file holds no paraphrase.
        WrongTypeError: a single path in place of a list.
    """
    paraphrases: list[Paraphrase] = []
    expected = segments
    for path in paths:
        if str(path).endswith(_SUFFIXES):
            records = read_records(path, "jsonl")
            new = [
                paraphrase for record in records for paraphrase in _parse_record(record, segments)
            ]
        else:
            lines = read_lines(path)
            expected = len(lines) if expected is None else expected
            _check_length(shown(path), len(lines), expected)
            method, name = method_of(path), shown(path)
            numbered = enumerate(lines, start=1)
            new = [Paraphrase(i, text, method, path=name, line=i) for i, text in numbered]
        if not any(paraphrase.text.strip() for paraphrase in new):
            raise FormatError("holds no paraphrase", path=path)
        paraphrases += new
    return tuple(paraphrases)


def write_paraphrases(path: str | PathLike[str], paraphrases: Iterable[Paraphrase]) -> None:
    """Write a JSONL file that :func:`read_paraphrases` reads.

    Raises:
        OutputError: the file cannot be written.
    """
    lines = [format_paraphrase(paraphrase) for paraphrase in paraphrases]
    with atomic_write(path) as file:
        file.writelines(line + "\n" for line in lines)


def format_paraphrase(paraphrase: Paraphrase) -> str:
    """One line of a paraphrase file; what is not known is left out."""
    keys = ("segment", "text", "method", "system", "score", "seed", "model")
    values = {key: getattr(paraphrase, key) for key in keys}
    present = {key: value for key, value in values.items() if value is not None}
    return json.dumps(present, ensure_ascii=False, allow_nan=False)


def method_of(path: str | PathLike[str]) -> str:
    """The method of a text file of paraphrases.

    >>> method_of("sets/ref.human1.txt"), method_of("laser-2.txt.gz"), method_of("ref.1.txt")
    ('human', 'laser', 'ref')
    """
    name = plain_name(path)
    return name.removeprefix("ref.").rstrip("0123456789").rstrip("-_.") or "ref"


@checked
def add_paraphrases(
    testset: TestSet,
    paraphrases: Sequence[Paraphrase] | Sequence[str | PathLike[str]],
    *,
    n: int | None = None,
    methods: Sequence[str] | None = None,
    original: bool = True,
) -> TestSet:
    """A test set with paraphrases as further references; see ``TestSet.with_paraphrases``."""
    if n is not None and n < 1:
        raise UsageError(f"n, the number of paraphrases of each method, is at least 1; got {n}")
    given = [p for p in paraphrases if isinstance(p, Paraphrase)]
    files = [p for p in paraphrases if not isinstance(p, Paraphrase)]
    given += read_paraphrases(files, segments=testset.segments)
    methods_given = tuple(dict.fromkeys(paraphrase.method for paraphrase in given))
    for method in methods or ():
        if method not in methods_given:
            raise UnknownNameError("method of paraphrases", method, methods_given)
    wanted = [
        paraphrase
        for method in methods or methods_given
        for paraphrase in given
        if paraphrase.method == method
    ]
    _check(testset, wanted)
    shared = columns_of([p for p in wanted if p.system is None], testset.segments, n)
    references = _join(dict(testset.references) if original else {}, shared)
    own_references = (
        {s: dict(refs) for s, refs in testset.system_references.items()} if original else {}
    )
    names = {**(testset.paraphrases if original else {}), **_methods(shared)}
    for system in testset.systems:
        columns = columns_of([p for p in wanted if p.system == system], testset.segments, n)
        if columns:
            own_references[system] = _join(own_references.get(system, {}), columns)
            names |= _methods(columns)
    _check_complete(testset, references, own_references)
    return replace(
        testset, references=references, system_references=own_references, paraphrases=names
    )


def _methods(columns: Iterable[str]) -> dict[str, str]:
    return {name: name.rpartition(".")[0] for name in columns}


def columns_of(
    paraphrases: Sequence[Paraphrase], segments: int, n: int | None = None
) -> dict[str, list[str | None]]:
    """Paraphrases as references: ``METHOD.1`` is the first one of each segment, and so on.

    Args:
        paraphrases: in the order in which they count; empty ones are left out.
        segments: how many segments there are.
        n: how many of each method and segment are taken; all by default.
    """
    columns: dict[str, list[str | None]] = {}
    counts: dict[tuple[str, int], int] = {}
    for paraphrase in paraphrases:
        key = (paraphrase.method, paraphrase.segment)
        rank = counts.get(key, 0) + 1
        if not paraphrase.text.strip() or (n is not None and rank > n):
            continue
        counts[key] = rank
        column = columns.setdefault(f"{paraphrase.method}.{rank}", [None] * segments)
        column[paraphrase.segment - 1] = paraphrase.text
    return columns


def _check(testset: TestSet, paraphrases: Sequence[Paraphrase]) -> None:
    for paraphrase in paraphrases:
        if not 1 <= paraphrase.segment <= testset.segments:
            raise paraphrase.error(
                f"segment {paraphrase.segment} is out of range: the test set has {testset.segments}"
                " segments, counted from 1"
            )
        if paraphrase.system is not None and paraphrase.system not in testset.systems:
            raise paraphrase.error(
                str(UnknownNameError("system", paraphrase.system, testset.systems))
            )


def _check_complete(
    testset: TestSet,
    references: Mapping[str, Sequence[str | None]],
    own_references: Mapping[str, Mapping[str, Sequence[str | None]]],
) -> None:
    """Without the originals, every segment still needs a reference, for every system."""
    if testset.sources is not None and not references and not own_references:
        raise DataError("no paraphrase is left to score with, and the originals are left out")
    for system in testset.systems or ("",):
        columns = [*references.values(), *own_references.get(system, {}).values()]
        bare = [i + 1 for i in range(testset.segments) if all(c[i] is None for c in columns)]
        before = testset.references.values()
        bare = [i for i in bare if any(column[i - 1] is not None for column in before)]
        if bare:
            raise DataError(
                f"without the original references, {len(bare)} segment(s) have no reference"
                f"{f' for {system}' if own_references else ''}, the first is {bare[0]}; keep"
                " the originals, or score only segments that have paraphrases"
            )


def _join(
    references: Mapping[str, Sequence[str | None]], columns: Mapping[str, Sequence[str | None]]
) -> dict[str, Sequence[str | None]]:
    for name in columns:
        if name in references:
            raise DataError(
                f"the test set has a reference {name!r} already, so that paraphrases of this method"
                " cannot have that name; were they added before?"
            )
    return {**references, **columns}


def _check_length(name: str, lines: int, expected: int) -> None:
    if lines != expected:
        at = min(lines, expected) + 1
        raise FormatError(
            f"has {lines} lines where {expected} are expected, one for each segment: the file is"
            f" {'too short' if lines < expected else 'too long'}; leave a line empty where there is"
            " no paraphrase",
            path=name,
            line=at,
        )


def _parse_record(record: FileRecord, segments: int | None) -> list[Paraphrase]:
    segment = _segment(record, segments)
    texts = _texts(record)
    try:
        for text in texts:
            check_writable(text, "the text")
    except DataError as error:
        raise record.error(str(error)) from error
    score = record.values.get("score")
    first = Paraphrase(
        segment=segment,
        text="",
        method=_optional(record, "method") or "paraphrase",
        system=_optional(record, "system"),
        score=None if score is None else record.finite("score", score),
        seed=None if record.values.get("seed") is None else _whole(record, "seed"),
        model=_optional(record, "model"),
        path=record.path,
        line=record.line,
    )
    return [replace(first, text=text) for text in texts]


def _segment(record: FileRecord, segments: int | None) -> int:
    """The number of the segment; what people number otherwise may still be called ``id``."""
    key = "id" if "id" in record.values and "segment" not in record.values else "segment"
    said = record.values.get(key)
    digits = key == "id" and isinstance(said, str) and said.isascii() and said.isdigit()
    segment = int(str(said)) if digits else _whole(record, key)
    if segment < 1 or (segments is not None and segment > segments):
        allowed = "at least 1" if segments is None else f"from 1 to {segments}"
        raise record.error(
            f"{key} is {segment}; a number {allowed} is expected: segments count from 1"
        )
    return segment


def _texts(record: FileRecord) -> list[str]:
    """The paraphrases of an object, under the one key of its kind that it has."""
    there = [key for key in _TEXTS if key in record.values]
    if len(there) > 1:
        raise record.error(
            f"holds {' and '.join(there)}, and one of them must be the paraphrase; name what else"
            " there is (the sentence itself) otherwise"
        )
    if there != ["paraphrases"]:
        return [record.text(there[0] if there else _TEXTS[0])]
    texts = record.texts("paraphrases")
    if not isinstance(texts, list):
        raise record.error(f"paraphrases is {texts!r:.40}; a list of strings is expected")
    return texts


def _whole(record: FileRecord, key: str) -> int:
    value = record.value(key)
    if type(value) is not int:
        raise record.error(f"{key} is {value!r:.40}; a whole number is expected")
    return value


def _optional(record: FileRecord, key: str) -> str | None:
    return None if record.values.get(key) is None else record.text(key)


FORMATS = (
    Format(
        name="paraphrases",
        title="paraphrases of references: parallel ref.NAME.txt, or JSONL with segment (or id)"
        " text (or paraphrase, paraphrases) method system score seed model",
        holds="paraphrases",
        read=read_paraphrases,
        write=write_paraphrases,
    ),
)
