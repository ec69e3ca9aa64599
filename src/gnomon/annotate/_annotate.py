"""From texts and names of features to a table of spans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.annotate._facts import table
from gnomon.annotate._lexicon import Lexicon
from gnomon.annotate._lists import with_built_in
from gnomon.annotate._names import FORMS, expand, is_wildcard, kind_of, reach_of
from gnomon.annotate._patterns import Pattern
from gnomon.annotate._protocol import find, for_language
from gnomon.annotate._sources import labelled, listed, tagged
from gnomon.doors import checked
from gnomon.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from gnomon.annotate._labels import Labels
    from gnomon.annotate._protocol import Annotator
    from gnomon.annotate._sources import Source
    from gnomon.cache import Cache
    from gnomon.spans import SpanTable

__all__ = ["Annotation", "annotate"]


@dataclass(frozen=True)
class Annotation:
    """Where features occur in texts, and who says so.

    Attributes:
        spans: the spans over the texts in the order given; its features are those asked for,
            wildcards replaced by the features that occur.
        taggers: signatures of taggers, word lists, patterns and label files.
        tagged: number of distinct texts that were tagged now.
        cached: number of distinct texts whose tags all came from the cache.
        notices: what a user should know: features that never occur, the tagger chosen.
    """

    spans: SpanTable
    taggers: tuple[str, ...]
    tagged: int = 0
    cached: int = 0
    notices: tuple[str, ...] = ()


@checked
def annotate(
    texts: Sequence[str],
    features: Sequence[str],
    *,
    tagger: str | Annotator | None = None,
    language: str | None = None,
    lexicons: Mapping[str, str | PathLike[str] | Sequence[str]] | None = None,
    patterns: Mapping[str, str] | None = None,
    labels: Labels | None = None,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    processes: int = 1,
) -> Annotation:
    """Mark features in texts; each distinct text is tagged once.

    Kinds of features that the user's labels hold come from them, ``lex`` and ``re`` from word
    lists and patterns, all others from the tagger.

    Args:
        texts: the texts, distinct or not.
        features: names and wildcards: ``pos:NOUN``, ``ent:*``, ``morph:Gender=Fem``,
            ``dep:long>=5``, ``lex:NAME``, ``re:NAME``.
        tagger: ``spacy:NAME`` or an annotator; by default the standard one of the language.
        language: "en", or a pair "de-en", of which the target counts.
        lexicons: word lists by name, as file or words; a name ending in ``:case`` minds case.
            ``lex:gender`` needs none: gnomon brings an English list.
        patterns: regular expressions by name.
        labels: the user's own labels.
        cache: where annotations are kept between runs; none by default.
        progress: called with "tagging", texts done, texts to do.
        processes: how many processes tag.

    Raises:
        UsageError: a feature's name is malformed, or nothing can give it.
        UnknownNameError: a feature, kind of feature or tagger does not exist.
        MissingDependencyError: the tagger is not installed.
        AnnotationError: a text has no labels, or spans of one feature overlap.
        OutputError: the cache cannot be written.
    """
    asked = list(dict.fromkeys(name.strip() for name in features))
    kinds = [kind_of(name) for name in asked]
    no_features(asked)
    distinct = list(dict.fromkeys(texts))
    own = frozenset({"lex", "re", *(labels.kinds if labels else ())})
    if labels is None or "lex" not in labels.kinds:
        lexicons = with_built_in(lexicons, asked, language)
    sources = [
        *listed("lex", kinds, distinct, lexicons, Lexicon.read),
        *listed("re", kinds, distinct, patterns, Pattern.read),
        *labelled(kinds, distinct, labels),
    ]
    left = [kind for kind in kinds if kind not in own]
    if any(not is_wildcard(kind) or tagger or language for kind in left):
        annotator, notices = annotator_of(tagger, language, left, labels)
        sources.append(
            tagged(
                annotator,
                asked,
                distinct,
                own=own,
                cache=cache,
                progress=progress,
                processes=processes,
                notices=notices,
            )
        )
    return _joined(sources, asked, texts, distinct)


def no_features(asked: Sequence[str]) -> None:
    """Refuse a request for nothing.

    Raises:
        UsageError: no feature was asked for.
    """
    if not asked:
        raise UsageError(f"no feature was asked for; names are {FORMS}")


def annotator_of(
    tagger: str | Annotator | None,
    language: str | None,
    kinds: Sequence[str],
    labels: Labels | None,
) -> tuple[Annotator, tuple[str, ...]]:
    """The tagger that gives some kinds of features, and what is to be said of that.

    Raises:
        UsageError: neither tagger nor language was given.
        UnknownNameError, MissingDependencyError: there is no such tagger.
    """
    if isinstance(tagger, str):
        return find(tagger), ()
    if tagger is not None:
        return tagger, ()
    if language is None and labels is not None:
        raise UsageError(
            f"the label files ({', '.join(labels.files)}) hold no features of kind"
            f" {', '.join(dict.fromkeys(kinds))}; they hold {', '.join(sorted(labels.kinds))}: ask"
            " for those, or name a language (-l en; language='en') or a tagger (--tagger"
            " spacy:en_core_web_sm) for the others"
        )
    if language is None:
        raise UsageError(
            f"features of kind {', '.join(dict.fromkeys(kinds))} need a tagger, and neither tagger"
            " nor language was given: name the language (-l en; language='en') or a tagger"
            " (--tagger spacy:en_core_web_sm), or give your own labels (--labels FILE);"
            " `gnomon setup en` installs a tagger, `gnomon list taggers` shows those installed"
        )
    found = for_language(language)
    return found, (f"tagger {found.name} was chosen for language {language!r}",)


def _joined(
    sources: Sequence[Source], asked: Sequence[str], texts: Sequence[str], distinct: Sequence[str]
) -> Annotation:
    number = {text: i for i, text in enumerate(distinct)}
    rows = [number[text] for text in texts]
    facts = [part.select(rows) for source in sources for part in source.facts.values()]
    bounds = [bound for bound in map(reach_of, asked) if bound is not None]
    observed = {name for part in facts for names in part.features(bounds) for name in names}
    known = {name for source in sources for name in source.known}
    names, said = expand(asked, observed, known)
    return Annotation(
        spans=table(facts, names, len(texts)),
        taggers=tuple(source.signature for source in sources),
        tagged=sum(source.tagged for source in sources),
        cached=sum(source.cached for source in sources),
        notices=(*(n for source in sources for n in source.notices), *said),
    )
