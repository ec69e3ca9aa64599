"""Trees of texts, made once and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.annotate._parsers import find_parser, standard_parser
from gnomon.cache import keys
from gnomon.doors import checked
from gnomon.errors import FormatError, UsageError
from gnomon.formats import Tree, parse_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.cache import Cache

__all__ = ["parse"]

_VERSION = "constituents-1"
_BATCH = 1000


@checked
def parse(
    texts: Sequence[str],
    *,
    tagger: str | None = None,
    language: str | None = None,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Tree | None]:
    """Trees of texts: from spaCy's dependencies (:func:`constituents`) or by Stanza.

    Args:
        texts: the texts; equal ones are parsed once.
        tagger: ``spacy:NAME`` or ``stanza:LANGUAGE``; by default the standard
            spaCy pipeline of the language.
        language: "en", or a pair "de-en", of which the target counts.
        cache: where trees are kept between runs.
        progress: called with "parsing", texts done, texts to do.

    Returns:
        One tree per text; ``None`` for a text without words, or nested deeper than 300.

    Raises:
        UsageError: neither tagger nor language was given, or the tagger makes no trees.
        MissingDependencyError: the parser or its model is not installed.
    """
    if tagger is None and language is None:
        raise UsageError(
            "trees need a parser: name the language (-l en; language='en'), or a tagger (--tagger"
            " spacy:en_core_web_sm), or give trees of your own in brackets (--trees FILE.ptb)"
        )
    parser = find_parser(tagger if tagger is not None else standard_parser(str(language)))
    distinct = list(dict.fromkeys(texts))
    names = dict(zip(distinct, keys([_VERSION, parser.signature], distinct), strict=True))
    kept = cache.get_many(list(names.values())) if cache is not None else {}
    known = {t: kept[key].decode() for t, key in names.items() if key in kept}
    missing = [text for text in distinct if text not in known]
    for start in range(0, len(missing), _BATCH):
        part = missing[start : start + _BATCH]
        made = parser.trees(part)
        new = {text: str(tree or "(())") for text, tree in zip(part, made, strict=True)}
        known |= new
        if cache is not None:
            cache.put_many({names[text]: tree.encode() for text, tree in new.items()})
        if progress is not None:
            progress("parsing", start + len(part), len(missing))
    trees = {text: _read(tree) for text, tree in known.items()}
    return [trees[text] for text in texts]


def _read(text: str) -> Tree | None:
    try:
        return parse_tree(text)
    except FormatError:  # nested too deeply: a text of hundreds of words without a structure
        return None
