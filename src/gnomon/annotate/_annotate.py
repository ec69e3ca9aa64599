"""From texts and names of features to a table of spans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.annotate._facts import Facts, table
from gnomon.annotate._names import expand, kind_of, matches, reach_of
from gnomon.annotate._protocol import Annotator, find, for_language
from gnomon.annotate._tagging import tag
from gnomon.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.cache import Cache
    from gnomon.spans import SpanTable

__all__ = ["Annotation", "annotate"]

Progress = "Callable[[int, int, str], None]"


@dataclass(frozen=True)
class Annotation:
    """Where features occur in texts, and who says so.

    Attributes:
        spans: the spans over the texts, in the order given; its features are the asked ones,
            wildcards replaced by the features that occur.
        taggers: signatures of the taggers, word lists, patterns and label files used.
        tagged: number of distinct texts that were tagged now.
        cached: number of distinct texts whose tags all came from the cache.
        notices: what a user should know: features that never occur, the tagger chosen.
    """

    spans: SpanTable
    taggers: tuple[str, ...]
    tagged: int = 0
    cached: int = 0
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Source:
    """What one annotator, set of lists or label file says of all texts."""

    facts: tuple[Facts, ...]
    known: frozenset[str]
    signatures: tuple[str, ...]
    tagged: int = 0
    cached: int = 0
    notices: tuple[str, ...] = ()


def annotate(
    texts: Sequence[str],
    features: Sequence[str],
    *,
    tagger: str | Annotator | None = None,
    language: str | None = None,
    cache: Cache | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    processes: int = 1,
) -> Annotation:
    """Mark features in texts; each distinct text is tagged once."""
    distinct = list(dict.fromkeys(texts))
    wanted = [(name, kind_of(name)) for name in features]
    annotator, notices = _annotator(tagger, language)
    layers = _layers(annotator, [kind for _, kind in wanted])
    tags = tag(distinct, layers, annotator, cache=cache, progress=progress, processes=processes)
    observed = {
        name
        for facts in tags.facts
        for names in facts.features([b for b in map(reach_of, features) if b])
        for name in names
    }
    known = {
        name
        for kinds in annotator.layers.values()
        for k in kinds
        for name in annotator.inventory(k)
    }
    names, said = expand(features, observed, known)
    spans = table(tags.facts, names, len(distinct))
    return Annotation(spans, (annotator.signature,), tags.tagged, tags.cached, (*notices, *said))


def _annotator(tagger, language):
    if tagger is None:
        if language is None:
            raise UsageError("no tagger")
        found = for_language(language)
        return found, (f"tagger {found.name} chosen for language {language}",)
    return (find(tagger) if isinstance(tagger, str) else tagger), ()


def _layers(annotator: Annotator, kinds: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        layer
        for layer, own in annotator.layers.items()
        if any(matches(k, o) for k in kinds for o in own)
    )
