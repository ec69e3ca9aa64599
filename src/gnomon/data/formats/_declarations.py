"""Formats that are declared in TOML: their columns and scales, and how they are recognised.

``declared/*.toml`` beside this module are gnomon's own; a package declares others
(:func:`declare_format`). :class:`Declaration` and :class:`DeclaredTable` say what may stand there;
test sets are read by :mod:`gnomon.data.formats._declared_sets`, judgements by
:mod:`gnomon.data.formats._declared_judgements`.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from gnomon.core.errors import FormatError
from gnomon.data.formats._matching import pair_of
from gnomon.data.formats._registry import FoundSet, JudgementFormat, SetFormat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.core.human import Judgements
    from gnomon.core.testset import TestSet
    from gnomon.data.formats._declared_sets import Stem
    from gnomon.data.formats._judged_file import JudgedFile
    from gnomon.data.formats.rows import FileHead


class Scale(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The scale of a column of scores.

    Attributes:
        kind: of human scores; ``KIND`` in it stands for what a user calls them.
        low: the lowest score; by default, with ``high``, what is known of the kind.
        high: the highest one.
        lower_is_better: scores are turned, so that higher is better.
    """

    kind: str
    low: float | None = None
    high: float | None = None
    lower_is_better: bool = False


class DeclaredTags(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"
):
    """A column of tags, one for each word.

    Attributes:
        side: whose words.
        tags: the column.
        tokens: the column of the tokens that are tagged, if it is there; else the text's own.
        gaps: tags may stand for what is missing between words, too.
    """

    side: Literal["candidate", "source"]
    tags: str
    tokens: str = ""
    gaps: bool = False


class DeclaredTable(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"
):
    """A table, or parallel files, of which each is a column: ``.mt`` is the file ``STEM.mt``.

    Columns of a table must be there, but for ``optional`` ones and those of ``beside``; ``LP`` in
    the name of a parallel file stands for a language pair. In objects of JSON ``a.b`` is the key
    ``b`` inside ``a``, and ``a[].b`` the mean over the objects of a list.

    Attributes:
        fields: what separates them, or what the rows are: objects of JSON, one per line; or one
            object that holds segments, each with its systems ``inside``, and whose keys are the
            columns ``SEGMENT`` and ``SYSTEM``.
        known_by: columns by which a table is recognised.
        one_of: columns of which one must be there, too.
        columns: of a file that has no header.
        numbers: those of them that hold numbers.
        unnamed: names of the first columns, where a header lacks one of them.
        inside: the key of the systems of a segment.
        source: column of the sources.
        output: column of the outputs.
        system: column of the system, where each has rows of its own; else there is one, ``mt``.
        segment: column of the segment, with ``system`` or in judgements.
        document: column of the documents.
        references: column -> name of the reference; or names, where it holds lists.
        scores: column -> kind of human scores, or its scale.
        tags: columns of tags.
        number: column whose numbers must not occur twice.
        optional: columns that may be missing.
        may_differ: columns of which the first row of a segment counts, where others differ.
        left_out: columns that are no judgement, which is said.
        beside: ending of a further table, ``X.tags.tsv`` beside ``X.tsv``, with rows of the same
            segments; it may be missing.
        same: column of that table -> column whose texts it repeats.
        marks: what outputs and references hold that is no text.
        pair: columns of the language pair, or of its two languages.
        better: column of the better system of a pair.
        worse: column of the worse one.
        rank: columns of ranks, with ``*`` for the number that the column of the system has, too.
        rater: column of who judged.
    """

    fields: Literal["tabs", "commas", "spaces", "any", "objects", "nested"] = "tabs"
    known_by: frozenset[str] = frozenset()
    one_of: frozenset[str] = frozenset()
    columns: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    inside: str = ""
    source: str = ""
    output: str = ""
    system: str = ""
    segment: str = ""
    document: str = ""
    references: dict[str, str | list[str]] = {}
    scores: dict[str, str | Scale] = {}
    tags: tuple[DeclaredTags, ...] = ()
    number: str = ""
    optional: tuple[str, ...] = ()
    may_differ: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    beside: str = ""
    same: dict[str, str] = {}
    marks: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    better: str = ""
    worse: str = ""
    rank: str = ""
    rater: str = ""

    def fits(self, columns: frozenset[str]) -> bool:
        """True if a header is this table's, at least for the most part."""
        known = bool(self.known_by) and self.known_by <= columns
        return known and (not self.one_of or bool(self.one_of & columns))

    def recognises(self, head: FileHead) -> bool:
        """True if a file is such a table, by how it begins."""
        if self.fields in ("objects", "nested"):
            named = all(f'"{key}"' in head.text for key in self.known_by)
            return head.first_line.startswith("{") and named
        if self.columns:
            cells = dict(zip(self.columns, head.loose_columns, strict=False))
            is_whole = len(head.loose_columns) == len(self.columns)
            return is_whole and all(_is_number(cells[column]) for column in self.numbers)
        cut = head.first_line.split("\t" if self.fields == "tabs" else ",")
        return self.fits(
            frozenset(cut if self.fields in ("tabs", "commas") else head.loose_columns)
        )


class Declaration(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"
):
    """A format of test sets, or of judgements of one.

    Attributes:
        title: what is in its files, in one line.
        after: names of formats that a file is compared with before.
        language_pair: of its files; by default their names tell.
        kind: what judgements are called; none: it is a format of test sets.
        first_segment: the number of the first segment in judgements of segments.
        table: its tables; a file is the first one that fits.
        files: its parallel files.
    """

    title: str
    after: tuple[str, ...] = ()
    language_pair: str | None = None
    kind: str = ""
    first_segment: int | None = None
    table: tuple[DeclaredTable, ...] = ()
    files: tuple[DeclaredTable, ...] = ()


def declare_format(path: str | PathLike[str]) -> SetFormat | JudgementFormat:
    """A format from its declaration, a TOML file that is called as the format.

    A package offers it by an entry point of the group ``gnomon.formats``.

    Args:
        path: the file, ``NAME.toml``.

    Raises:
        FormatError: it is no declaration; the key is named.
    """
    file = Path(path)
    try:
        declared = msgspec.toml.decode(file.read_bytes(), type=Declaration)
    except msgspec.DecodeError as error:
        raise FormatError(f"is no declaration of a format: {error}", path=file) from error
    if declared.kind:
        return _judgement_format(file.stem, declared)
    suffixes = {"tabs": ".tsv", "commas": ".csv", "objects": ".jsonl", "nested": ".json"}
    return SetFormat(
        name=file.stem,
        title=declared.title,
        after=declared.after,
        of_file=partial(_set_of_file, declared),
        in_folder=partial(_sets_in_folder, declared),
        suffixes=tuple({suffixes[t.fields]: 0 for t in declared.table if t.fields in suffixes}),
        side_suffixes=tuple(table.beside for table in declared.table if table.beside),
    )


# Test sets.


def _set_of_file(declared: Declaration, head: FileHead) -> FoundSet | None:
    """A table, or the files of a split."""
    path = head.path
    for table in declared.table:
        if table.recognises(head):
            pair = declared.language_pair or pair_of(path)
            return FoundSet(path, partial(_read_table, path, table, pair), pair)
    if not path.parent.is_dir():
        return None
    stems = (stem for stem in _stems(declared, path.parent) if path in stem.files.values())
    return next((_set_of_stem(stem, path) for stem in stems), None)


def _sets_in_folder(declared: Declaration, folder: Path) -> Sequence[FoundSet]:
    return [_set_of_stem(s, s.files[s.table.source]) for s in _stems(declared, folder)]


def _stems(declared: Declaration, folder: Path) -> list[Stem]:
    if not declared.files:
        return []
    from gnomon.data.formats._declared_sets import stems_of

    return [stem for table in declared.files for stem in stems_of(folder, table)]


def _set_of_stem(stem: Stem, path: Path) -> FoundSet:
    place = path.parent / stem.pair if stem.pair and path.name.endswith(f".{stem.pair}") else path
    return FoundSet(place, partial(_read_files, stem), stem.pair, tuple(stem.files.values()))


def _read_table(path: Path, table: DeclaredTable, pair: str | None) -> TestSet:
    from gnomon.data.formats._declared_sets import read_table

    return read_table(path, table, pair)


def _read_files(stem: Stem) -> TestSet:
    from gnomon.data.formats._declared_sets import read_files

    return read_files(stem)


# Judgements.


def _judgement_format(name: str, declared: Declaration) -> JudgementFormat:
    defaults: dict[str, Any] = {"kind": declared.kind, "rename": None, "language_pair": None}
    if declared.first_segment is not None:
        defaults["first_segment"] = declared.first_segment
    return JudgementFormat(
        name=name,
        title=declared.title,
        after=declared.after,
        recognise=lambda head: any(table.recognises(head) for table in declared.table),
        defaults=defaults,
        read=partial(_read_judgements, declared.table),
    )


def _read_judgements(tables: Sequence[DeclaredTable], file: JudgedFile) -> Judgements:
    from gnomon.data.formats._declared_judgements import read_judgements

    return read_judgements(tables, file)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_FILES = sorted((Path(__file__).parent / "declared").glob("*.toml"))
FORMATS = tuple(map(declare_format, _FILES))
