"""Registry of file formats.

A format is declared beside its reader: ``FORMATS`` of each module in this folder, and what packages
offer by entry points of the group ``gnomon.formats`` (a record, or several in a tuple). A file is
compared with the built-in formats first, module by module in the order of the alphabet, except
where a format names others that go before it (``after``).
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.core.plugins import entry_points
from gnomon.data.formats._files import LOGGER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from importlib.metadata import EntryPoint

    from gnomon.core.testset import TestSet
    from gnomon.data.formats.rows import FileHead

GROUP = "gnomon.formats"
Holds = Literal["test set", "judgements", "scores", "paraphrases", "trees", "pairs", "sample"]
_SHOWN = {"test set": "yes", "paraphrases": "yes"}


class FoundSet(NamedTuple):
    """A test set that is there.

    Attributes:
        place: what to give to ``-t`` for it.
        read: reads it.
        language_pair: if it is known without reading the texts.
        files: the files of which it consists, where they are several.
    """

    place: Path
    read: Callable[[], TestSet]
    language_pair: str | None = None
    files: tuple[Path, ...] = ()


def not_read(*_: object, **__: object) -> Any:
    """The reader of a format that nothing reads."""
    raise UsageError("files of this format are not read")


def not_written(*_: object, **__: object) -> None:
    """The writer of a format that nothing writes."""
    raise UsageError("files of this format are not written")


@dataclass(frozen=True, kw_only=True)
class Format:
    """A file format, declared beside its reader.

    Attributes:
        name: what users write, and ``gnomon list formats`` shows.
        title: what is in its files, in one line.
        holds: what one reads of them. A name may occur once for each.
        read: reads it, if anything does; what it takes depends on the kind of format.
        write: writes it, if anything does.
        after: names of formats that a file is compared with before.
    """

    name: str
    title: str
    holds: Holds
    read: Callable[..., Any] = not_read
    write: Callable[..., None] = not_written
    after: tuple[str, ...] = ()

    @property
    def is_read(self) -> bool:
        """True if files of it are read."""
        return self.read is not not_read

    @property
    def is_written(self) -> bool:
        """True if files of it are written."""
        return self.write is not not_written

    @cached_property
    def options(self) -> tuple[str, ...]:
        """Names of the reader's options, which are its keyword-only parameters."""
        if self.read is not_read:
            return ()
        parameters = inspect.signature(self.read).parameters.values()
        return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)


@dataclass(frozen=True, kw_only=True)
class FolderFormat(Format):
    """A test set as a directory of its own.

    ``read(folder, *, language_pair, systems, references)`` gives the test set, and
    ``write(testset, folder, *, compress)`` fills an empty directory.

    Attributes:
        recognise: whether a directory is one.
        pairs: the language pairs in it; None where a directory is of one pair.
        pair_of: the pair of such a directory, if it says one.
        outputs: the files that hold nothing but the output of one system, by its name; takes the
            directory, and the pair if it holds several.
        expected: what is in such a directory, for an error.
    """

    holds: Holds = "test set"
    recognise: Callable[[Path], bool]
    pairs: Callable[[Path], tuple[str, ...]] | None = None
    pair_of: Callable[[Path], str | None] | None = None
    outputs: Callable[[Path, str | None], dict[str, Path]] = lambda _folder, _pair: {}
    expected: str = ""


@dataclass(frozen=True, kw_only=True)
class SetFormat(Format):
    """A test set in a file, or in several that lie beside each other.

    ``read(files, **options)`` reads files that a user names together with their format; without
    it, they are read as they are found.

    Attributes:
        of_file: the set that a file is, or of which it is a part.
        in_folder: the sets in a folder that consist of several files.
        suffixes: of files that are sets on their own; they are looked for in folders.
        side_suffixes: of files that only go with others, and are no sets of a folder.
        whole_folder: a folder of it is not looked into, and is of no layout.
        judgements_too: a file may be of judgements of another set: it is read as a set where it is
            named, but not where its folder is.
        together: files that are named together are one set.
    """

    holds: Holds = "test set"
    of_file: Callable[[FileHead], FoundSet | None] | None = None
    in_folder: Callable[[Path], Sequence[FoundSet]] | None = None
    suffixes: tuple[str, ...] = ()
    side_suffixes: tuple[str, ...] = ()
    whole_folder: bool = False
    judgements_too: bool = False
    together: bool = False

    @property
    def reads_named_files(self) -> bool:
        """True if users may name files together with this format."""
        return self.read is not not_read

    @property
    def is_read(self) -> bool:
        """True if files of it are read, by their format or as they are found."""
        return super().is_read or self.of_file is not None or self.in_folder is not None


@dataclass(frozen=True, kw_only=True)
class RecordFormat(Format):
    """A table in a file, whose columns or keys users name.

    ``read(path)`` gives :class:`gnomon.formats.FileRecord`, one for each row.

    Attributes:
        suffixes: by which a file is recognised.
    """

    holds: Holds = "test set"
    suffixes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class JudgementFormat(Format):
    """A file of what people said of a test set.

    ``read(file)`` gives :class:`gnomon.core.human.Judgements` of a
    :class:`gnomon.formats.JudgedFile`. ``write(path, testset, kind, level)`` writes judgements of
    one kind.

    Attributes:
        defaults: those of ``kind``, ``rename``, ``weights``, ``language_pair``, ``first_segment``
            and ``ends`` that users may give, with what holds where they do not.
        recognise: whether a file is one, by its name and its first line.
        suffix: a file of this suffix is written in this format.
        segments: the numbers (from 1) of the segments that a file judges, where a file tells them
            without the test set.
    """

    holds: Holds = "judgements"
    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)
    recognise: Callable[[FileHead], bool] | None = None
    suffix: str | None = None
    segments: Callable[[str], frozenset[int]] | None = None

    @cached_property
    def options(self) -> tuple[str, ...]:
        """Names of the options that users may give."""
        return tuple(self.defaults)


@dataclass(frozen=True, kw_only=True)
class ScoreFormat(Format):
    """A file of what metrics said.

    ``read(path, **options)`` gives metric -> (system, segment from 1, or None) -> score; of the
    options ``column``, ``language_pair``, ``test_set`` and ``segments`` it has those that it names.
    ``write(path, scores, testset)`` writes scores of segments.

    Attributes:
        suffixes: by which a file is recognised.
        recognise: whether a file is one, whatever it is called.
    """

    holds: Holds = "scores"
    suffixes: tuple[str, ...] = ()
    recognise: Callable[[FileHead], bool] | None = None


F = TypeVar("F", bound=Format)


def formats_of(kind: type[F]) -> Iterator[F]:
    """The formats of a kind, in the order in which a file is compared with them.

    Packages are asked last, and loaded only if it comes to that.
    """
    yield from (form for form in _built_in() if isinstance(form, kind))
    yield from (form for form in _plugin_formats() if isinstance(form, kind))


def format_of_name(kind: type[F], name: str, what: str, *, written: bool = False) -> F:
    """The format of a name that a user wrote."""
    there: list[str] = []
    for form in formats_of(kind):
        if not (form.is_written if written else form.is_read):
            continue
        if form.name == name:
            return form
        there.append(form.name)
    raise UnknownNameError(what, name, there)


class FormatInfo(NamedTuple):
    """One format, as ``gnomon list formats`` shows it."""

    name: str
    reads: str
    writes: str
    sentence: str


def describe() -> list[FormatInfo]:
    """The formats: name, whether it is read, whether it is written, and what it is."""
    named: dict[str, list[Format]] = {}
    for form in sorted(formats_of(Format), key=lambda form: form.holds != "test set"):
        named.setdefault(form.name, []).append(form)
    return [
        FormatInfo(
            name,
            next((_SHOWN.get(f.holds, f.holds) for f in forms if f.is_read), "no"),
            next((_SHOWN.get(f.holds, f.holds) for f in forms if f.is_written), "no"),
            forms[0].title,
        )
        for name, forms in named.items()
    ]


@cache
def _built_in() -> tuple[Format, ...]:
    names = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = (importlib.import_module(f"gnomon.data.formats.{name}") for name in names)
    return _order_formats([form for module in modules for form in getattr(module, "FORMATS", ())])


def _order_formats(forms: Sequence[Format]) -> tuple[Format, ...]:
    """The formats with those that others name before them, else as they are."""
    ordered: dict[Format, None] = {}

    def put(form: Format) -> None:
        if form not in ordered:
            for other in forms:
                if other.name in form.after and other.holds == form.holds:
                    put(other)
            ordered[form] = None

    for form in forms:
        put(form)
    return tuple(ordered)


def _plugin_formats() -> tuple[Format, ...]:
    return _load(tuple(sorted(entry_points(group=GROUP), key=lambda p: (p.name, p.value))))


@cache
def _load(points: tuple[EntryPoint, ...]) -> tuple[Format, ...]:
    """The formats of packages, each entry point loaded once; a warning names one that fails."""
    taken = {(form.name, form.holds) for form in _built_in()}
    formats: list[Format] = []
    for point in points:
        try:
            forms = _load_formats(point)
        except Exception as error:  # noqa: BLE001  # a stranger's module may fail in any way
            _say_broken(point, f"{type(error).__name__}: {error}")
            continue
        for form in forms:
            if (form.name, form.holds) in taken:
                _say_broken(point, f"there is a format {form.name!r} of {form.holds}s already")
                continue
            taken.add((form.name, form.holds))
            formats.append(form)
    return _order_formats(formats)


def _load_formats(point: EntryPoint) -> Sequence[Format]:
    offered = point.load()
    forms = offered if isinstance(offered, (tuple, list)) else (offered,)
    for form in forms:
        if not isinstance(form, Format):
            raise TypeError(f"it is no gnomon.formats.Format: {form!r:.80}")
    return forms


def _say_broken(point: EntryPoint, problem: str) -> None:
    LOGGER.warning(
        "format %r of the package %s (%s) cannot be used: %s; update or uninstall that package",
        point.name,
        "(unknown)" if point.dist is None else point.dist.name,
        point.value,
        problem,
    )
