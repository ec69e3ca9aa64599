"""Each distinct text tagged once, in batches that are kept as soon as they are done."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon._processes import end_with, leash
from gnomon.annotate._facts import FORMAT, pack
from gnomon.cache import key, keys
from gnomon.errors import AnnotationError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gnomon.annotate._facts import Mark
    from gnomon.annotate._protocol import Annotator
    from gnomon.cache import Cache

__all__ = ["Tags", "tag"]

# one to two seconds of work with a small pipeline: this much an interruption loses at most
_BATCH_TEXTS = 256
_BATCH_CHARACTERS = 60_000

Packed = dict[str, bytes]


@dataclass(frozen=True)
class Tags:
    """What a tagger said: for each layer, one packed entry per text.

    Attributes:
        entries: for each layer, the packed marks of every text.
        tagged: number of texts that were tagged now.
        cached: number of texts whose layers all came from the cache.
    """

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
    processes: int = 1,
) -> Tags:
    """Tag distinct texts, taking from the cache what is there and keeping what is new.

    Batches depend on the texts that are missing and not on their order, and each is kept whole or
    not at all, so that an interrupted run, begun again, makes the same batches.

    Raises:
        UsageError: ``processes`` is below 1.
        AnnotationError: the annotator's spans lie outside their text.
        OutputError: the cache cannot be written.
    """
    if processes < 1:
        raise UsageError(f"processes={processes} was given; at least 1 is needed")
    found, missing = _lookup(texts, layers, annotator, cache)
    left = sum(bool(names) for names in missing)
    blank = sum(not text.strip() for text in texts)
    done = 0
    for task, results in _work(list(_tasks(texts, missing)), texts, annotator, processes):
        _keep(task, results, texts, annotator, cache)
        for number, packed in zip(task.numbers, results, strict=True):
            found[number].update(packed)
        done += len(task.numbers)
        if progress:
            progress("tagging", done, left)
    entries = {layer: [packed[layer] for packed in found] for layer in layers}
    return Tags(entries, left, len(texts) - left - blank)


def _lookup(
    texts: Sequence[str], layers: Sequence[str], annotator: Annotator, cache: Cache | None
) -> tuple[list[Packed], list[tuple[str, ...]]]:
    """For each text the layers found, and those missing; blank texts have no marks."""
    signature = annotator.signature
    nothing = dict.fromkeys(layers, pack(()))
    found: list[Packed] = [{} if text.strip() else dict(nothing) for text in texts]
    for layer in layers if cache else ():
        names = keys((FORMAT, signature, layer), texts)
        kept = cache.get_many(names) if cache else {}
        for packed, name in zip(found, names, strict=True):
            if name in kept:
                packed[layer] = kept[name]
    return found, [tuple(x for x in layers if x not in packed) for packed in found]


def _tasks(texts: Sequence[str], missing: Sequence[tuple[str, ...]]) -> Iterator[_Task]:
    """Batches of texts that lack the same layers, short texts first."""
    for layers in sorted({names for names in missing if names}):
        numbers = [i for i, names in enumerate(missing) if names == layers]
        batch: list[int] = []
        size = 0
        for number in sorted(numbers, key=lambda i: (len(texts[i]), texts[i])):
            length = len(texts[number])
            if batch and (len(batch) == _BATCH_TEXTS or size + length > _BATCH_CHARACTERS):
                yield _Task(tuple(batch), layers)
                batch, size = [], 0
            batch.append(number)
            size += length
        yield _Task(tuple(batch), layers)


def _work(
    tasks: Sequence[_Task], texts: Sequence[str], annotator: Annotator, processes: int
) -> Iterator[tuple[_Task, list[Packed]]]:
    """Tasks with their results, in any order."""
    if processes == 1 or len(tasks) < 2:
        for task in tasks:
            yield task, _annotate(annotator, [texts[i] for i in task.numbers], task.layers)
        return
    with ProcessPoolExecutor(
        min(processes, len(tasks)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=end_with,
        initargs=leash(),
    ) as pool:
        futures = {
            pool.submit(_annotate, annotator, [texts[i] for i in task.numbers], task.layers): task
            for task in tasks
        }
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _annotate(annotator: Annotator, texts: Sequence[str], layers: Sequence[str]) -> list[Packed]:
    results = annotator.annotate(texts, layers)
    if len(results) != len(texts) or any(layer not in r for r in results for layer in layers):
        raise AnnotationError(
            f"annotator {annotator.name} was given {len(texts)} texts and layers {list(layers)},"
            f" and returned {len(results)} results; one mapping per text with all layers is needed"
        )
    return [
        {layer: pack(_checked(marks, text, annotator.name)) for layer, marks in result.items()}
        for text, result in zip(texts, results, strict=True)
    ]


def _checked(marks: Sequence[Mark], text: str, name: str) -> Sequence[Mark]:
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
