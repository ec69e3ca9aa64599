"""Sources of marks: taggers (in processes, and from the cache), labels, word lists, patterns."""

from __future__ import annotations

import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from gnomon.core.cache import key, keys
from gnomon.core.errors import AnnotationError, UnknownNameError, UsageError
from gnomon.core.processes import exit_with_parent, parent_arguments, starting_workers
from gnomon.linguistics.facts import FORMAT, columns, keep, pack, recall, unpack
from gnomon.linguistics.feature_names import is_wildcard, kind_of, matches
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from gnomon.core.cache import Cache
    from gnomon.linguistics.annotators import Annotator
    from gnomon.linguistics.facts import LayerFacts, Mark
    from gnomon.linguistics.label_names import Labels
    from gnomon.messages import Message

__all__ = [
    "MarkSource",
    "check_kind",
    "check_listed",
    "facts_of",
    "find_labels",
    "listed",
    "tag",
    "tagged",
]


# one to two seconds of work with a small pipeline: this much an interruption loses at most
_BATCH_TEXTS = 256
_BATCH_CHARACTERS = 60_000
# batches for which a process more is worth loading the tagger once more
_WORTH_A_PROCESS = 12

Packed = dict[str, bytes]


@dataclass(frozen=True)
class Tags:
    """The marks of a tagger: for each layer, one packed entry per text."""

    entries: Mapping[str, list[bytes]]
    tagged: int
    cached: int


@dataclass(frozen=True)
class _Task:
    numbers: tuple[int, ...]
    layers: tuple[str, ...]


def tag(
    texts: Sequence[str],
    layers: Sequence[str],
    annotator: Annotator,
    *,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    processes: int | None = None,
) -> Tags:
    """Tag distinct texts, taking from the cache what is there and keeping what is new.

    The command line uses all cores for many texts by default. Other programs use one: their main
    module would be imported anew in each process, which not all of them provide for.

    Batches depend on the texts that are missing and not on their order, and each is kept whole or
    not at all, so that an interrupted run, begun again, makes the same batches.
    """
    if processes is not None and processes < 1:
        raise UsageError(f"processes={processes} was given; at least 1 is needed")
    facts_of_texts, missing = _lookup(texts, layers, annotator, cache)
    left = sum(bool(names) for names in missing)
    blank = sum(not text.strip() for text in texts)
    done = 0
    if left and progress:
        progress("tagging", done, left)
    for task, results in _work(list(_tasks(texts, missing)), texts, annotator, processes):
        _keep(task, results, texts, annotator, cache)
        for number, packed in zip(task.numbers, results, strict=True):
            facts_of_texts[number].update(packed)
        done += len(task.numbers)
        if progress:
            progress("tagging", done, left)
    entries = {layer: [packed[layer] for packed in facts_of_texts] for layer in layers}
    return Tags(entries, left, len(texts) - left - blank)


def _lookup(
    texts: Sequence[str], layers: Sequence[str], annotator: Annotator, cache: Cache | None
) -> tuple[list[Packed], list[tuple[str, ...]]]:
    """For each text the layers found, and those missing; blank texts have no marks."""
    signature = annotator.signature
    nothing = dict.fromkeys(layers, pack(()))
    facts_of_texts: list[Packed] = [{} if text.strip() else dict(nothing) for text in texts]
    for layer in layers if cache else ():
        names = keys((FORMAT, signature, layer), texts)
        kept = cache.get_many(names) if cache else {}
        for packed, name in zip(facts_of_texts, names, strict=True):
            if name in kept:
                packed[layer] = kept[name]
    return facts_of_texts, [
        tuple(x for x in layers if x not in packed) for packed in facts_of_texts
    ]


def _tasks(texts: Sequence[str], missing: Sequence[tuple[str, ...]]) -> Iterator[_Task]:
    """Batches of texts that lack the same layers; those that begin alike stand together."""
    for layers in sorted({names for names in missing if names}):
        numbers = [i for i, names in enumerate(missing) if names == layers]
        batch: list[int] = []
        size = 0
        for number in sorted(numbers, key=texts.__getitem__):
            length = len(texts[number])
            if batch and (len(batch) == _BATCH_TEXTS or size + length > _BATCH_CHARACTERS):
                yield _Task(tuple(batch), layers)
                batch, size = [], 0
            batch.append(number)
            size += length
        yield _Task(tuple(batch), layers)


def _work(
    tasks: Sequence[_Task], texts: Sequence[str], annotator: Annotator, processes: int | None
) -> Iterator[tuple[_Task, list[Packed]]]:
    """Tasks with their results, in any order."""
    if processes is None:
        processes = _worthwhile(len(tasks))
    if processes == 1 or len(tasks) < 2:
        for task in tasks:
            yield task, _annotate(annotator, [texts[i] for i in task.numbers], task.layers)
        return
    others = multiprocessing.active_children()
    with starting_workers():
        pool = ProcessPoolExecutor(
            min(processes, len(tasks)),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=exit_with_parent,
            initargs=parent_arguments(),
        )
        futures = {
            pool.submit(_annotate, annotator, [texts[i] for i in task.numbers], task.layers): task
            for task in tasks
        }
    workers = [process for process in multiprocessing.active_children() if process not in others]
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BaseException:
        for worker in workers:
            worker.kill()  # nobody waits for what they do
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _worthwhile(tasks: int) -> int:
    """Number of processes that the command line tags with; one in any other program."""
    main = sys.modules["__main__"]
    name = Path(getattr(main, "__file__", None) or "").name
    module = getattr(getattr(main, "__spec__", None), "name", None)
    if name != "gnomon" and module != "gnomon.__main__":
        return 1
    return max(1, min(len(os.sched_getaffinity(0)), tasks // _WORTH_A_PROCESS))


def _annotate(annotator: Annotator, texts: Sequence[str], layers: Sequence[str]) -> list[Packed]:
    results = annotator.annotate(texts, layers)
    if len(results) != len(texts) or any(layer not in r for r in results for layer in layers):
        raise AnnotationError(
            f"annotator {annotator.name} was given {len(texts)} texts and layers {list(layers)},"
            f" and returned {len(results)} results; one mapping per text with all layers is needed"
        )
    return [
        {layer: pack(_check_marks(marks, text, annotator.name)) for layer, marks in result.items()}
        for text, result in zip(texts, results, strict=True)
    ]


def _check_marks(marks: Sequence[Mark], text: str, name: str) -> Sequence[Mark]:
    for mark in marks:
        if not 0 <= mark[0] < mark[1] <= len(text) or "\n" in mark[2]:
            raise AnnotationError(
                f"annotator {name} marks {mark[0]}:{mark[1]} as {mark[2]!r} in a text of"
                f" {len(text)} characters ({text[:60]!r}); spans are half-open, not empty, inside"
                " the text, and labels hold no line feed"
            )
    return marks


def _keep(
    task: _Task,
    results: Sequence[Packed],
    texts: Sequence[str],
    annotator: Annotator,
    cache: Cache | None,
) -> None:
    if cache is None:
        return
    signature = annotator.signature
    cache.put_many(
        {
            key(FORMAT, signature, layer, texts[number]): entry
            for number, packed in zip(task.numbers, results, strict=True)
            for layer, entry in packed.items()
        }
    )


# Sources of marks: taggers, the user's labels, word lists, patterns.


_GIVEN_BY = {
    "lex": ("a word list (", flag("lexicon", "NAME=FILE", "{NAME: FILE}"), ")"),
    "re": ("a pattern (", flag("pattern", "NAME=REGEX", "{NAME: REGEX}"), ")"),
}
S = TypeVar("S")


@dataclass(frozen=True)
class MarkSource:
    """The marks of one tagger, label file, word list or pattern in distinct texts."""

    facts: Mapping[str, LayerFacts]
    known: frozenset[str]
    signature: str
    tagged: int = 0
    cached: int = 0
    notices: tuple[Message, ...] = ()
    #: the layers that sentences are made of
    words: Mapping[str, LayerFacts] = field(default_factory=dict)


class _Marker(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> str: ...

    def marks(self, text: str) -> Iterator[Mark]: ...


def listed(
    kind: str,
    kinds: Collection[str],
    texts: Sequence[str],
    given: Mapping[str, S] | None,
    read: Callable[[str, S], _Marker],
) -> Iterator[MarkSource]:
    """Word lists or patterns, if they are asked for."""
    if not any(matches(asked, kind) for asked in kinds):
        return
    check_listed(kind, kinds, given)
    for name, source in (given or {}).items():
        marker = read(name, source)
        marks = columns("named", [tuple(marker.marks(text)) for text in texts])
        features = frozenset({f"{kind}:{marker.name}"})
        yield MarkSource({"named": marks}, features, marker.signature)


def check_listed(kind: str, kinds: Collection[str], given: Collection[str] | None) -> None:
    """Refuse features of word lists or patterns where none is given."""
    if not given and kind in kinds:
        raise UsageError(f"features of kind {kind!r} need ", _GIVEN_BY[kind], "; none was given")


def check_kind(annotator: Annotator, kinds: Iterable[str], wanted: str) -> None:
    """Refuse a kind of feature that a tagger does not give."""
    if not is_wildcard(wanted) and wanted not in kinds:
        remedy = f"tagger {annotator.name} gives these; others come from lists or label files"
        raise UnknownNameError("kind of feature", wanted, kinds, remedy=remedy)


def find_labels(
    kinds: Collection[str], texts: Sequence[str], labels: Labels | None, *, tokens: bool = False
) -> Iterator[MarkSource]:
    """The user's labels, if any of their kinds is asked for, or tokens that they hold."""
    if labels is None:
        return
    tokens = tokens and not {"ent", "token"}.isdisjoint(labels.kinds | {*labels.layers})
    if not tokens and not any(matches(asked, kind) for asked in kinds for kind in labels.kinds):
        return
    for number, text in enumerate(texts, start=1):
        if text.strip() and text not in labels.texts:
            raise AnnotationError(
                f"text {number} of {len(texts)} has no labels: {text[:80]!r}; the label files"
                f" ({', '.join(labels.files)}) must hold each reference and each candidate,"
                " character by character"
            )
    rows = [labels.texts.get(text, {}) for text in texts]
    facts = {layer: columns(layer, [row.get(layer, ()) for row in rows]) for layer in labels.layers}
    words = {layer: facts.pop(layer) for layer in ("token",) if layer in facts}
    if tokens and "ent" in labels.kinds:
        named = ([m for m in row.get("named", ()) if m.label.startswith("ent:")] for row in rows)
        entities = [[mark._replace(label=mark.label[4:]) for mark in marks] for marks in named]
        words["ent"] = columns("ent", entities)
    yield MarkSource(
        facts,
        labels.features,
        labels.token_signature if tokens else labels.signature,
        notices=labels.notices,
        words=words if tokens else {},
    )


class TaggingRun(NamedTuple):
    """The settings of a tagging run, which change no tag."""

    cache: Cache | None = None
    progress: Callable[[str, int, int], None] | None = None
    processes: int | None = None


def tagged(
    annotator: Annotator,
    asked: Sequence[str],
    texts: Sequence[str],
    *,
    own: frozenset[str],
    run: TaggingRun,
    notices: tuple[Message, ...],
    words: Sequence[str] = (),
) -> MarkSource:
    """Marks of a tagger, for the kinds that no other source gives, and layers of words."""
    kinds = {kind: layer for layer, some in annotator.layers.items() for kind in some}
    left = [name for name in asked if kind_of(name) not in own]
    layers: dict[str, None] = {}
    for name in left:
        hits = [k for k in kinds if matches(kind_of(name), k) and k not in own]
        if not hits:
            check_kind(annotator, kinds, kind_of(name))
        layers.update(dict.fromkeys(kinds[kind] for kind in hits))
    words = [layer for layer in words if layer in annotator.layers]
    needed = sorted({*layers, *words})
    facts, tags = facts_of(annotator, needed, texts, **run._asdict())
    named = {
        kind: tuple(annotator.inventory(kind)) for kind in [k for k in kinds if kinds[k] in layers]
    }
    free = [name for name in left if not named.get(kind_of(name), ("",))]
    return MarkSource(
        facts={layer: replace(facts[layer], without=own) for layer in sorted(layers)},
        known=frozenset([*free, *(name for names in named.values() for name in names)]),
        signature=annotator.signature,
        tagged=tags.tagged,
        cached=tags.cached,
        notices=notices if needed else (),
        words={layer: facts[layer] for layer in words},
    )


def facts_of(
    annotator: Annotator,
    layers: Sequence[str],
    texts: Sequence[str],
    *,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
    processes: int | None = None,
) -> tuple[dict[str, LayerFacts], Tags]:
    """Facts of a tagger on distinct texts in some layers, and the tags that had to be made."""
    whole = recall(cache, annotator.signature, layers, texts)
    lacking = [layer for layer in layers if layer not in whole]
    tags = tag(texts, lacking, annotator, cache=cache, progress=progress, processes=processes)
    new = {layer: unpack(layer, entries) for layer, entries in tags.entries.items()}
    keep(cache, annotator.signature, new, texts)
    return whole | new, tags
