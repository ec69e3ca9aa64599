"""Whence marks come: taggers, the user's labels, word lists, patterns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from gnomon.annotate._facts import pack, unpack
from gnomon.annotate._names import is_wildcard, kind_of, matches
from gnomon.annotate._tagging import tag
from gnomon.annotate._whole import keep, recall
from gnomon.errors import AnnotationError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from gnomon.annotate._facts import Facts, Mark
    from gnomon.annotate._labels import Labels
    from gnomon.annotate._protocol import Annotator
    from gnomon.cache import Cache

__all__ = ["Source", "check_kind", "check_listed", "labelled", "listed", "tagged"]

_GIVEN_BY = {
    "lex": "a word list (--lexicon NAME=FILE; lexicons={NAME: FILE})",
    "re": "a pattern (--pattern NAME=REGEX; patterns={NAME: REGEX})",
}
S = TypeVar("S")


@dataclass(frozen=True)
class Source:
    """What one tagger, label file, word list or pattern says of distinct texts.

    Attributes:
        facts: for each layer, what it says of the texts.
        known: features that it may give, occurring or not.
        signature: what it is, exactly.
        tagged: number of texts that were tagged now.
        cached: number of texts that came from the cache.
        notices: what a user should know.
    """

    facts: Mapping[str, Facts]
    known: frozenset[str]
    signature: str
    tagged: int = 0
    cached: int = 0
    notices: tuple[str, ...] = ()


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
) -> Iterator[Source]:
    """Word lists or patterns, if they are asked for.

    Raises:
        UsageError: they are asked for and none is given.
    """
    if not any(matches(asked, kind) for asked in kinds):
        return
    check_listed(kind, kinds, given)
    for name, source in (given or {}).items():
        marker = read(name, source)
        entries = [pack(tuple(marker.marks(text))) for text in texts]
        known = frozenset({f"{kind}:{marker.name}"})
        yield Source({"named": unpack("named", entries)}, known, marker.signature)


def check_listed(kind: str, kinds: Collection[str], given: Collection[str] | None) -> None:
    """Refuse features of word lists or patterns where none is given.

    Raises:
        UsageError: likewise.
    """
    if not given and kind in kinds:
        raise UsageError(f"features of kind {kind!r} need {_GIVEN_BY[kind]}; none was given")


def check_kind(annotator: Annotator, kinds: Iterable[str], wanted: str) -> None:
    """Refuse a kind of feature that a tagger does not give.

    Args:
        annotator: the tagger.
        kinds: what it gives.
        wanted: what is asked for, perhaps with wildcards.

    Raises:
        UnknownNameError: likewise.
    """
    if not is_wildcard(wanted) and wanted not in kinds:
        remedy = f"tagger {annotator.name} gives these; others come from lists or label files"
        raise UnknownNameError("kind of feature", wanted, kinds, remedy=remedy)


def labelled(
    kinds: Collection[str], texts: Sequence[str], labels: Labels | None
) -> Iterator[Source]:
    """The user's labels, if any of their kinds is asked for.

    Raises:
        AnnotationError: a text has no labels.
    """
    wanted = labels and any(matches(asked, own) for asked in kinds for own in labels.kinds)
    if labels is None or not wanted:
        return
    for number, text in enumerate(texts, start=1):
        if text.strip() and text not in labels.texts:
            raise AnnotationError(
                f"text {number} of {len(texts)} has no labels: {text[:80]!r}; the label files"
                f" ({', '.join(labels.files)}) must hold each reference and each candidate,"
                " character by character"
            )
    facts = {
        layer: unpack(layer, [pack(labels.texts.get(text, {}).get(layer, ())) for text in texts])
        for layer in labels.layers
    }
    yield Source(facts, labels.features, labels.signature, notices=labels.notices)


def tagged(
    annotator: Annotator,
    asked: Sequence[str],
    texts: Sequence[str],
    *,
    own: frozenset[str],
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
    processes: int,
    notices: tuple[str, ...],
) -> Source:
    """What a tagger says, for the kinds that no other source gives.

    Raises:
        UnknownNameError: a kind of feature is asked for that the tagger does not give.
    """
    kinds = {kind: layer for layer, some in annotator.layers.items() for kind in some}
    left = [name for name in asked if kind_of(name) not in own]
    layers: dict[str, None] = {}
    for name in left:
        hits = [k for k in kinds if matches(kind_of(name), k) and k not in own]
        if not hits:
            check_kind(annotator, kinds, kind_of(name))
        layers.update(dict.fromkeys(kinds[kind] for kind in hits))
    whole = recall(cache, annotator.signature, sorted(layers), texts)
    lacking = [layer for layer in sorted(layers) if layer not in whole]
    tags = tag(texts, lacking, annotator, cache=cache, progress=progress, processes=processes)
    new = {layer: unpack(layer, entries) for layer, entries in tags.entries.items()}
    keep(cache, annotator.signature, new, texts)
    facts = whole | new
    return Source(
        facts={layer: replace(facts[layer], without=own) for layer in sorted(layers)},
        known=_inventory(annotator, left, [k for k in kinds if kinds[k] in layers]),
        signature=annotator.signature,
        tagged=tags.tagged,
        cached=tags.cached,
        notices=notices if layers else (),
    )


def _inventory(
    annotator: Annotator, asked: Sequence[str], kinds: Collection[str]
) -> frozenset[str]:
    """What the tagger may give; a kind of unknown inventory may give whatever is asked."""
    named = {kind: tuple(annotator.inventory(kind)) for kind in kinds}
    free = [name for name in asked if not named.get(kind_of(name), ("",))]
    return frozenset([*free, *(name for names in named.values() for name in names)])
