"""Annotation of texts: a table of spans for the features that are named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gnomon.core.errors import GnomonError, UsageError
from gnomon.core.lazy import checked
from gnomon.core.validation import Problem, problems
from gnomon.linguistics._tokens import SENTENCE_LAYERS, sentences
from gnomon.linguistics.annotators import find_tagger, standard_tagger
from gnomon.linguistics.facts import table
from gnomon.linguistics.faults.kinds import FaultMarks
from gnomon.linguistics.feature_names import (
    FORMS,
    LISTED,
    WORD_FORMS,
    expand,
    is_wildcard,
    kind_of,
    matches,
    reach_of,
)
from gnomon.linguistics.forms import mark_forms
from gnomon.linguistics.label_names import Labels
from gnomon.linguistics.tagging import (
    TaggingRun,
    check_kind,
    check_listed,
    find_labels,
    listed,
    tagged,
)
from gnomon.linguistics.word_lists import Lexicon, Pattern, add_built_in_lists
from gnomon.messages import message
from gnomon.messages.audiences import add_language, flag

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.core.cache import Cache
    from gnomon.core.spans import SpanTable
    from gnomon.linguistics._tokens import Sentence
    from gnomon.linguistics.annotators import Annotator
    from gnomon.linguistics.tagging import MarkSource
    from gnomon.messages import Message


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
        sentences: the texts in the order given as tokens, if these were asked for.
    """

    spans: SpanTable
    taggers: tuple[str, ...]
    tagged: int = 0
    cached: int = 0
    notices: tuple[Message, ...] = ()
    sentences: tuple[Sentence, ...] = ()


@checked
def annotate(
    texts: Sequence[str],
    features: Sequence[str],
    *,
    tagger: str | Annotator | None = None,
    language: str | None = None,
    lexicon: Mapping[str, str | PathLike[str] | Sequence[str]] | None = None,
    pattern: Mapping[str, str] | None = None,
    labels: Labels | None = None,
    references: Sequence[str] = (),
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    processes: int | None = None,
    tokens: bool = False,
) -> Annotation:
    """Mark features in texts; each distinct text is tagged once.

    Kinds of features that the user's labels hold come from them, ``lex`` and ``re`` from word
    lists and patterns, ``form`` from the form of words, all others from the tagger.

    Args:
        texts: the texts, distinct or not.
        features: names and wildcards: ``pos:NOUN``, ``ent:*``, ``morph:Gender=Fem``,
            ``dep:long>=5``, ``form:number``, ``lex:NAME``, ``re:NAME``, ``check:number``.
        tagger: its name or an annotator; by default the standard one of the language.
        language: "en", or a pair "de-en", of which the target counts.
        lexicon: word lists by name, as file or words. ``lex:gender`` needs none: gnomon brings an
            English list.
        pattern: regular expressions by name.
        labels: the user's own labels.
        references: one text per segment, by which words are rare (``form:rare``) and long; without
            any, no word is rare.
        cache: where annotations are kept between runs; none by default.
        progress: called with "tagging", texts done, texts to do.
        processes: how many processes tag; by default one, and for many texts on the command line
            one per core.
        tokens: give the texts as tokens, too, with lemmas and heads: those of CoNLL-U labels, else
            the tagger's. No features need be asked for then.

    Raises:
        UsageError: a feature's name is malformed, or nothing can give it.
        UnknownNameError: a feature, kind of feature or tagger does not exist.
        MissingDependencyError: the tagger is not installed.
        AnnotationError: a text has no labels, or spans of one feature overlap.
        OutputError: the cache cannot be written.
    """
    asked = list(dict.fromkeys(name.strip() for name in features))
    kinds = [kind_of(name) for name in asked]
    if not tokens:
        no_features(asked)
    distinct = list(dict.fromkeys(texts))
    listed_kinds = frozenset({*LISTED, *(labels.kinds if labels else ())})
    if labels is None or "lex" not in labels.kinds:
        lexicon = add_built_in_lists(lexicon, asked, language)
    sources = [
        *listed("lex", kinds, distinct, lexicon, Lexicon.read),
        *listed("re", kinds, distinct, pattern, Pattern.read),
        *listed("check", kinds, distinct, FaultMarks.collect(kinds), FaultMarks),
        *find_labels(kinds, distinct, labels, tokens=tokens),
        *mark_forms({*kinds}.difference(labels.kinds if labels else ()), distinct, references),
    ]
    left = [kind for kind in kinds if kind not in listed_kinds]
    words = _layers_of_words(sources, named=bool(tagger or language)) if tokens else []
    if words or any(not is_wildcard(kind) or tagger or language for kind in left):
        annotator, notices = annotator_of(tagger, language, left or ["pos"], labels)
        sources.append(
            tagged(
                annotator,
                asked,
                distinct,
                own=listed_kinds,
                run=TaggingRun(cache, progress, processes),
                notices=notices,
                words=words,
            )
        )
    annotation = _join_sources(sources, asked, texts, distinct)
    if not tokens:
        return annotation
    facts = {layer: some for source in sources for layer, some in source.words.items()}
    by_text = dict(zip(distinct, sentences(distinct, facts), strict=True))
    return replace(annotation, sentences=tuple(by_text[text] for text in texts))


def _layers_of_words(sources: Sequence[MarkSource], *, named: bool) -> list[str]:
    """The layers that a tagger must give, if there is to be one, so that there are sentences."""
    there = {layer for source in sources for layer in source.words}
    if "token" not in there:
        return [layer for layer in SENTENCE_LAYERS if layer not in there]
    return ["ent"] if named and "ent" not in there else []


def no_features(asked: Sequence[str]) -> None:
    """Refuse a request for nothing."""
    if not asked:
        raise UsageError(f"no feature was asked for; names are {FORMS}")


def annotator_of(
    tagger: str | Annotator | None,
    language: str | None,
    kinds: Sequence[str],
    labels: Labels | None,
) -> tuple[Annotator, tuple[Message, ...]]:
    """The tagger that gives some kinds of features, and notices of how it was chosen."""
    if isinstance(tagger, str):
        return find_tagger(tagger), ()
    if tagger is not None:
        return tagger, ()
    if language is None and labels is not None:
        there = ", ".join(sorted(labels.kinds))
        rest = (
            f"; they hold {there}: ask for those, or name" if there else " nor of any other; name"
        )
        raise UsageError(
            f"the label files ({', '.join(labels.files)}) hold no features of kind"
            f" {', '.join(dict.fromkeys(kinds))}{rest} a language (",
            add_language(),
            ") or a tagger (",
            flag("tagger", "spacy:en_core_web_sm"),
            f") for {'the others' if there else 'them'}",
        )
    if language is None:
        raise UsageError(
            message(
                "error.no_language",
                kinds=", ".join(dict.fromkeys(kinds)),
                language=add_language(),
                tagger=flag("tagger", "spacy:en_core_web_sm"),
                labels=flag("labels", "FILE"),
            )
        )
    layer = next((kind for kind in ("dep", "ent") if kind in kinds), "pos")
    annotator = standard_tagger(language, layer)
    return annotator, (message("note.tagger_chosen", tagger=annotator.name, language=language),)


def _join_sources(
    sources: Sequence[MarkSource],
    asked: Sequence[str],
    texts: Sequence[str],
    distinct: Sequence[str],
) -> Annotation:
    number = {text: i for i, text in enumerate(distinct)}
    rows = [number[text] for text in texts]
    facts = [
        layer_facts.select(rows) for source in sources for layer_facts in source.facts.values()
    ]
    bounds = [bound for bound in map(reach_of, asked) if bound is not None]
    observed = {
        name for layer_facts in facts for names in layer_facts.features(bounds) for name in names
    }
    declared = {name for source in sources for name in source.known}
    names, said = expand(asked, observed, declared)
    return Annotation(
        spans=table(facts, names, len(texts)),
        taggers=tuple(source.signature for source in sources),
        tagged=sum(source.tagged for source in sources),
        cached=sum(source.cached for source in sources),
        notices=(*(n for source in sources for n in source.notices), *said),
    )


# Checks of a request for features that need no text.


#: kinds of which inventories list examples alone
_OPEN = ("morph",)
_ANY = "any language"


def feature_faults(
    features: Sequence[str],
    *,
    tagger: str | Annotator | None = None,
    language: str | None = None,
    known: bool = True,
    lexicon: Mapping[str, str | PathLike[str] | Sequence[str]] | None = None,
    pattern: Mapping[str, str] | None = None,
    labels: object = None,
) -> Iterator[Problem]:
    """Check features for :func:`gnomon.annotate.annotate`, whatever the texts.

    No model is loaded. Features that a tagger may give without listing them (morphology) pass.

    Args:
        features: as there.
        tagger: as there.
        language: as there.
        known: whether it is known if there is a language; otherwise only a named tagger is looked
            at.
        lexicon: as there; they are read if a feature of word lists is asked for.
        pattern: as there; likewise.
        labels: as there, or names of their files, which are not read here: any kind of feature may
            come from them.

    Yields:
        Faults of "features", "tagger", "lexicon", "pattern".
    """
    yield from problems("features", no_features, features)
    good: dict[str, str] = {}
    for number, name in enumerate(features):
        wrong = list(problems(f"features[{number}]", _check_name, name.strip()))
        yield from wrong
        if not wrong:
            good[f"features[{number}]"] = name.strip()
    kinds = [kind_of(name) for name in good.values()]
    if any(matches(kind, "lex") for kind in kinds):
        for name, source in (lexicon or {}).items():
            yield from problems(f"lexicon.{name}", Lexicon.read, name, source)
    if any(matches(kind, "re") for kind in kinds):
        for name, regex in (pattern or {}).items():
            yield from problems(f"pattern.{name}", Pattern.read, name, regex)
    read = labels if isinstance(labels, Labels) else None
    if labels is None or read is not None:
        of_labels = read.kinds if read is not None else ()
        asked = {
            position: name for position, name in good.items() if kind_of(name) not in of_labels
        }
        yield from _check_lists(asked, lexicon, pattern, language)
        yield from _check_taggers(asked, tagger, language if known else _ANY, read)
    elif isinstance(tagger, str) and _select_tagged(good):
        yield from tagger_faults(tagger)


def tagger_faults(tagger: str | None) -> Iterator[Problem]:
    """A tagger that does not exist or is not installed."""
    if tagger is not None:
        yield from problems("tagger", find_tagger, tagger)


def _check_lists(
    asked: Mapping[str, str],
    lexicons: Mapping[str, str | PathLike[str] | Sequence[str]] | None,
    patterns: Mapping[str, str] | None,
    language: str | None,
) -> Iterator[Problem]:
    """Word lists and patterns that are asked for and not given."""
    lists: Mapping[str, object] = lexicons or {}
    for position, name in asked.items():
        if kind_of(name) == "lex":
            wrong = list(problems(position, add_built_in_lists, lexicons, [name], language))
            yield from wrong
            lists = (
                lists
                if wrong
                else {**lists, **(add_built_in_lists(lexicons, [name], language) or {})}
            )
    listed = {
        "form": {f"form:{name}" for name in WORD_FORMS},
        "lex": {f"lex:{name}" for name in lists},
        "re": {f"re:{name}" for name in patterns or {}},
        "check": {f"check:{name}" for name in FaultMarks.collect(map(kind_of, asked.values()))},
    }
    for position, name in asked.items():
        kind = kind_of(name)
        if kind in ("form", "re", "check") or (kind == "lex" and is_wildcard(name)):
            wrong = list(problems(position, check_listed, kind, [kind], listed[kind]))
            yield from wrong or problems(position, _check_known, name, listed[kind])


def _check_taggers(
    asked: Mapping[str, str],
    tagger: str | Annotator | None,
    language: str | None,
    labels: Labels | None,
) -> Iterator[Problem]:
    """A tagger that is not there, and features that it does not give."""
    left = _select_tagged(asked)
    kinds = [kind_of(name) for name in left.values()]
    if not left or (tagger is None and language == _ANY):
        return
    if tagger is None and language is None and all(map(is_wildcard, kinds)):
        return  # whatever the labels hold
    try:
        annotator, _ = annotator_of(tagger, language, kinds, labels)
    except GnomonError as error:
        yield Problem("tagger", error)
        return
    for position, name in left.items():
        yield from _check_tagger(annotator, position, name)


def _check_tagger(annotator: Annotator, position: str, name: str) -> Iterator[Problem]:
    kind, kinds = kind_of(name), [k for some in annotator.layers.values() for k in some]
    wrong = list(problems(position, check_kind, annotator, kinds, kind))
    yield from wrong
    if wrong or is_wildcard(kind) or kind in _OPEN or reach_of(name):
        return
    there = annotator.inventory(kind)
    if there:
        yield from problems(position, _check_known, name, there)


def _select_tagged(asked: Mapping[str, str]) -> dict[str, str]:
    """Features that neither word lists, patterns, forms of words nor kinds of faults give."""
    return {position: name for position, name in asked.items() if kind_of(name) not in LISTED}


def _check_name(name: str) -> None:
    kind_of(name)
    reach_of(name)


def _check_known(name: str, there: Collection[str]) -> None:
    expand([name], (), there)
