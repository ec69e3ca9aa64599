"""The index of a study's texts: made once by a process of its own, read by pages of segments.

A folder holds ``texts-N.parquet`` and ``marks-N.parquet`` for each test set, and ``index.json``,
which says what they are of. Texts come first, so that segments can be read while words are still
being marked. Cost grows in step with the texts.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from gnomon.core.errors import DataError, GnomonError
from gnomon.core.signature import content_hash
from gnomon.serve.comparison import locked, read_record, write_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from gnomon.core.findings import Kind
    from gnomon.core.page_data import PageSegment
    from gnomon.core.testset import TestSet
    from gnomon.studies import PlannedSet, Store

__all__ = ["Index", "IndexedSet", "make", "marks_file", "prepare", "read_index", "texts_file"]


#: version of the files
_LAYOUT = 3
_ABOUT, _LOCK = "index.json", "index.lock"
#: segments in a row group: what is read at least for one segment
_GROUP = 8192
#: scripts that put no spaces between words: their letters count one by one
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
State = Literal["waiting", "ready", "missing"]
#: why texts cannot be shown, in words that name no place of this machine
_LOST = (
    "The texts of {} have changed or are not where they were, so that segments cannot be shown. The"
    " results stand. Whoever runs the study can run it again with its texts."
)


class IndexedSet(msgspec.Struct):
    """The index's record of a test set."""

    name: str
    segments: int
    systems: list[str]
    references: list[str]
    sources: bool = False
    texts: State = "waiting"
    marks: State = "waiting"
    said: str = ""
    layers: list[str] = []


class Index(msgspec.Struct):
    """The contents of an index, and its progress."""

    layout: int
    texts_key: str
    marks_key: str
    sets: list[IndexedSet]
    finished: bool = False

    def set(self, name: str) -> tuple[int, IndexedSet] | None:
        """A test set and its number."""
        for number, indexed in enumerate(self.sets):
            if indexed.name == name:
                return number, indexed
        return None


def words_in(text: str) -> int:
    """Length of a text: words, and letters of scripts that put no spaces between words.

    >>> words_in("two words"), words_in("猫が好き")
    (2, 4)
    """
    letters = len(_UNSPACED.findall(text))
    return letters if letters > len(text) // 4 else len(text.split())


def keys_of(store: Store) -> tuple[str, str]:
    """Keys of what texts and marks of a store depend on."""
    from gnomon.core import registry as methods

    texts = content_hash(*(repr((p.source, p.sketch)) for p in store.sets()))
    done = (store.entries[key] for key in store.planned() if key in store.entries)
    marking = [
        entry.key
        for entry in done
        if (method := methods.installed(entry.method)) is not None and method.marks is not None
    ]
    return texts, content_hash(texts, *marking)


def read_index(folder: Path) -> Index | None:
    """Read the index of a folder; None where there is none, or one of another version."""
    index = read_record(folder / _ABOUT, Index)
    return index if index is not None and index.layout == _LAYOUT else None


def texts_file(folder: Path, number: int) -> Path:
    """Where the texts of a test set are."""
    return folder / f"texts-{number}.parquet"


def marks_file(folder: Path, number: int) -> Path:
    """Where the marks of a test set are."""
    return folder / f"marks-{number}.parquet"


# Making it, in a process of its own.


def prepare(
    store: Store, folder: Path, begin: Callable[[], object], *, marks: bool = True
) -> Index | None:
    """The index as it is; where it is none of this store's, it is begun beside."""
    texts, marked = keys_of(store)
    index = read_index(folder)
    fresh = index is not None and index.texts_key == texts
    whole = fresh and index is not None and index.finished
    if not whole or (marks and index is not None and index.marks_key != marked):
        begin()
    return index if fresh else None


def make(store: Store, folder: Path) -> Index | None:
    """Make the index of a store, or what is missing of it; None where another process does."""
    folder.mkdir(exist_ok=True, mode=0o700)  # of a study that was deleted it makes nothing
    with locked(folder / _LOCK) as alone:
        if not alone:
            return None
        texts_key, marks_key = keys_of(store)
        index = read_index(folder)
        if index is None or index.texts_key != texts_key:
            index = Index(_LAYOUT, texts_key, "", [_blank(planned) for planned in store.sets()])
        else:  # what went wrong is tried again: texts may be back
            index.finished = False
            for indexed in index.sets:
                indexed.texts = "ready" if indexed.texts == "ready" else "waiting"
        _keep(folder, index)
        for number, planned in enumerate(store.sets()):
            if index.sets[number].texts == "waiting":
                _add_texts(folder, index, number, planned)
        if index.marks_key != marks_key:
            _add_marks(store, folder, index)
            index.marks_key = marks_key
        index.finished = True
        _keep(folder, index)
        return index


def _blank(planned: PlannedSet) -> IndexedSet:
    sketch = planned.sketch
    return IndexedSet(planned.name, sketch.segments, list(sketch.systems), list(sketch.references))


def _keep(folder: Path, index: Index) -> None:
    write_record(folder / _ABOUT, index, durable=False)


def _add_texts(folder: Path, index: Index, number: int, planned: PlannedSet) -> None:
    indexed = index.sets[number]
    try:
        testset = planned.read()
    except DataError:
        indexed.texts, indexed.said = "missing", _LOST.format(planned.name)
    else:
        indexed.sources = bool(testset.sources)
        _write(texts_file(folder, number), _columns_of(indexed), _rows_of(testset))
        indexed.texts, indexed.said = "ready", ""
    _keep(folder, index)


def _columns_of(indexed: IndexedSet) -> dict[str, Kind]:
    references = [f"r{n}" for n in range(len(indexed.references))]
    outputs = [f"o{n}" for n in range(len(indexed.systems))]
    texts = ["document", "domain", "source", *references, *outputs]
    return {"segment": "count", "length": "count", **dict.fromkeys(texts, "text")}


def _rows_of(testset: TestSet) -> Iterator[Sequence[Any]]:
    """Yield the row of each segment."""
    references = [*testset.references.values()]
    about = [testset.documents, testset.domains, testset.sources]
    for i in range(testset.segments):
        given = [None if texts is None else texts[i] for texts in about]
        good = [texts[i] for texts in references]
        length = words_in(next((t for t in (*good, given[2]) if t is not None), ""))
        yield i + 1, length, *given, *good, *(texts[i] for texts in testset.systems.values())


def _write(file: Path, kinds: Mapping[str, Kind], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows some at a time; the file appears whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from gnomon.studies.reading import buffers_of

    types = {name: pa.string() if kind == "text" else pa.int64() for name, kind in kinds.items()}
    schema = pa.schema([*types.items()])
    scratch, left = file.with_name(f".{file.name}"), iter(rows)
    with pq.ParquetWriter(scratch, schema, compression="zstd") as writer:
        while some := list(islice(left, _GROUP)):
            columns = zip(types.values(), kinds.values(), zip(*some, strict=True), strict=True)
            arrays = [
                pa.Array.from_buffers(
                    type_, len(some), [*map(pa.py_buffer, buffers_of(cells, kind))]
                )
                for type_, kind, cells in columns
            ]
            writer.write_table(pa.table(arrays, schema=schema))
    scratch.replace(file)


def _add_marks(store: Store, folder: Path, index: Index) -> None:
    """Mark features in all texts that can be read, as the report of the study does."""
    from gnomon.core.cache import Cache, default_path
    from gnomon.serve.store_pages import open_store
    from gnomon.studies.reading import study_sets

    source = open_store(store.path).rows()
    try:
        sets = study_sets(source, cache=Cache(default_path()))
    except GnomonError:  # texts stay to be read without marks
        sets = ()
    by_name = {study_set.name: study_set for study_set in sets}
    for number, indexed in enumerate(index.sets):
        page = by_name.get(indexed.name)
        if page is None or page.missing or indexed.texts != "ready":
            indexed.marks = "missing"
            continue
        layers = [n for n, layer in enumerate(page.layers) if layer.kind == "spans"]
        indexed.layers = [page.layers[n].name for n in layers]
        numbers = {layer: n for n, layer in enumerate(layers)}
        kinds: dict[str, Kind] = dict.fromkeys(("segment", "side", "layer"), "count")
        marks = _marks_of(page.read() if layers else (), numbers)
        _write(marks_file(folder, number), kinds | {"ends": "text"}, marks)
        indexed.marks = "ready"
        _keep(folder, index)


def _marks_of(segments: Iterable[PageSegment], numbers: dict[int, int]) -> Iterator[Sequence[Any]]:
    """A row for each text of a segment and each layer that it has marks of.

    References are the sides -1, -2 and so on, systems 0, 1 and so on.
    """
    for number, segment in enumerate(segments, start=1):
        sides = [(-1 - n, text) for n, text in enumerate(segment.references)]
        sides += [*enumerate(segment.outputs)]
        for side, text in sides:
            for layer, ends, _ in segment.texts[text].marks if text is not None else ():
                if layer in numbers:
                    yield number, side, numbers[layer], " ".join(map(str, ends))
