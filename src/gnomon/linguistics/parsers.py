"""Trees of texts, from a tagger's trees or dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.errors import FormatError, UsageError
from gnomon.core.lazy import checked
from gnomon.data.formats import Tree, parse_tree
from gnomon.linguistics._tokens import sentences
from gnomon.linguistics.annotators import find_tagger, standard_tagger
from gnomon.linguistics.dependencies import constituents
from gnomon.linguistics.tagging import facts_of
from gnomon.messages.audiences import add_language, flag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.core.cache import Cache
    from gnomon.linguistics.annotators import Annotator

__all__ = ["find_parser", "parse", "standard_parser"]


#: layers that trees need: the first of these sets that a tagger gives
_LAYERS = (("tree",), ("dep", "token"), ("head", "pos"))


def find_parser(name: str) -> Annotator:
    """The tagger of a name like ``spacy:NAME`` or ``stanza:LANGUAGE``, if it makes trees."""
    annotator = find_tagger(name)
    _layers_of_trees(annotator)
    return annotator


def _layers_of_trees(annotator: Annotator) -> tuple[str, ...]:
    for layers in _LAYERS:
        if annotator.layers.keys() >= {*layers}:
            return layers
    raise UsageError(
        f"trees are made by stanza, or from parts of speech and heads of words, which"
        f" {annotator.name} does not give: write spacy:NAME, stanza:LANGUAGE or udpipe:FILE"
    )


def standard_parser(language: str) -> str:
    """The name of the standard tagger of a language that makes trees.

    Raises:
        MissingDependencyError: none of the language is installed.
    """
    return standard_tagger(language, "dep").name


@checked
def parse(
    texts: Sequence[str],
    *,
    tagger: str | None = None,
    language: str | None = None,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Tree | None]:
    """Trees of texts: a tagger's own, or from dependencies (:func:`constituents`).

    Args:
        texts: the texts; equal ones are parsed once.
        tagger: ``spacy:NAME``, ``stanza:LANGUAGE`` or ``udpipe:FILE``; by default the standard
            one of the language.
        language: "en", or a pair "de-en", of which the target counts.
        cache: where what they are made of is kept between runs.
        progress: called with "parsing", texts done, texts to do.

    Returns:
        One tree per text; ``None`` for a text without words, or nested deeper than 300.

    Raises:
        UsageError: neither tagger nor language was given, or the tagger makes no trees.
        MissingDependencyError: the parser or its model is not installed.
    """
    if tagger is None and language is None:
        raise UsageError(
            "trees need a parser: name the language (",
            add_language(),
            "), or a tagger (",
            flag("tagger", "spacy:en_core_web_sm"),
            "), or give trees of your own in brackets (",
            flag("trees", "FILE.ptb"),
            ")",
        )
    annotator = find_parser(tagger if tagger is not None else standard_parser(str(language)))
    layers = _layers_of_trees(annotator)

    def parsing(_: str, done: int, total: int) -> None:
        if progress is not None:
            progress("parsing", done, total)

    distinct = list(dict.fromkeys(texts))
    facts, _ = facts_of(annotator, layers, distinct, cache=cache, progress=parsing)
    if "tree" in facts:  # several sentences side by side
        made = [" ".join(mark.label for mark in marks) for marks in facts["tree"].marks()]
    else:
        made = [
            str(
                constituents(
                    [token.text for token in sentence.tokens],
                    [token.pos or "X" for token in sentence.tokens],
                    [token.head for token in sentence.tokens],
                )
                or ""
            )
            for sentence in sentences(distinct, facts)
        ]
    trees = dict(zip(distinct, map(_read, made), strict=True))
    return [trees[text] for text in texts]


def _read(brackets: str) -> Tree | None:
    """A tree of its brackets."""
    try:
        return parse_tree(brackets)
    except FormatError:  # nested too deeply: a text of hundreds of words without a structure
        return None
