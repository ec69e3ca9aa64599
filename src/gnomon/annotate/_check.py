"""What is wrong with a request for features, as far as that can be told without a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.annotate._annotate import annotator_of, no_features
from gnomon.annotate._labels import Labels
from gnomon.annotate._lexicon import Lexicon, bare_name
from gnomon.annotate._lists import with_built_in
from gnomon.annotate._names import expand, is_wildcard, kind_of, matches, reach_of
from gnomon.annotate._parsers import find_parser, standard_parser
from gnomon.annotate._patterns import Pattern
from gnomon.annotate._protocol import find
from gnomon.annotate._sources import check_kind, check_listed
from gnomon.errors import GnomonError
from gnomon.faults import Fault, faults

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.annotate._protocol import Annotator

__all__ = ["feature_faults", "parser_faults", "tagger_faults"]

#: kinds of which inventories list examples alone
_OPEN = ("morph",)
_ANY = "any language"


def feature_faults(
    features: Sequence[str],
    *,
    tagger: str | Annotator | None = None,
    language: str | None = None,
    known: bool = True,
    lexicons: Mapping[str, str | PathLike[str] | Sequence[str]] | None = None,
    patterns: Mapping[str, str] | None = None,
    labels: object = None,
) -> Iterator[Fault]:
    """What :func:`gnomon.annotate.annotate` would refuse of these features, whatever the texts.

    No model is loaded. Features that a tagger may give without listing them (morphology) pass.

    Args:
        features: as there.
        tagger: as there.
        language: as there.
        known: whether it is known if there is a language; otherwise only a named tagger is looked
            at.
        lexicons: as there; they are read if a feature of word lists is asked for.
        patterns: as there; likewise.
        labels: as there, or names of their files, which are not read here: any kind of feature may
            come from them.

    Yields:
        Faults of "features", "tagger", "lexicons", "patterns".
    """
    yield from faults("features", no_features, features)
    good: dict[str, str] = {}
    for number, name in enumerate(features):
        wrong = list(faults(f"features[{number}]", _check_name, name.strip()))
        yield from wrong
        if not wrong:
            good[f"features[{number}]"] = name.strip()
    kinds = [kind_of(name) for name in good.values()]
    if any(matches(kind, "lex") for kind in kinds):
        for name, source in (lexicons or {}).items():
            yield from faults(f"lexicons.{name}", Lexicon.read, name, source)
    if any(matches(kind, "re") for kind in kinds):
        for name, pattern in (patterns or {}).items():
            yield from faults(f"patterns.{name}", Pattern.read, name, pattern)
    read = labels if isinstance(labels, Labels) else None
    if labels is None or read is not None:
        of_labels = read.kinds if read is not None else ()
        asked = {place: name for place, name in good.items() if kind_of(name) not in of_labels}
        yield from _of_lists(asked, lexicons, patterns, language)
        yield from _of_taggers(asked, tagger, language if known else _ANY, read)
    elif isinstance(tagger, str) and _tagged(good):
        yield from tagger_faults("tagger", tagger)


def tagger_faults(option: str, tagger: str | None) -> Iterator[Fault]:
    """A tagger that does not exist or is not installed."""
    if tagger is not None:
        yield from faults(option, find, tagger)


def parser_faults(*, parser: str | None = None, language: str | None = None) -> Iterator[Fault]:
    """A parser that does not exist or is not installed; by name, or the standard one."""
    if parser is not None:
        yield from faults("parser", find_parser, parser)
    elif language is not None:
        yield from faults("language", standard_parser, language)


def _of_lists(
    asked: Mapping[str, str],
    lexicons: Mapping[str, str | PathLike[str] | Sequence[str]] | None,
    patterns: Mapping[str, str] | None,
    language: str | None,
) -> Iterator[Fault]:
    """Word lists and patterns that are asked for and not given."""
    lists: Mapping[str, object] = lexicons or {}
    for place, name in asked.items():
        if kind_of(name) == "lex":
            wrong = list(faults(place, with_built_in, lexicons, [name], language))
            yield from wrong
            lists = (
                lists if wrong else {**lists, **(with_built_in(lexicons, [name], language) or {})}
            )
    known = {
        "lex": {f"lex:{bare_name(name)}" for name in lists},
        "re": {f"re:{name}" for name in patterns or {}},
    }
    for place, name in asked.items():
        kind = kind_of(name)
        if kind == "re" or (kind == "lex" and is_wildcard(name)):
            wrong = list(faults(place, check_listed, kind, [kind], known[kind]))
            yield from wrong or faults(place, _check_known, name, known[kind])


def _of_taggers(
    asked: Mapping[str, str],
    tagger: str | Annotator | None,
    language: str | None,
    labels: Labels | None,
) -> Iterator[Fault]:
    """A tagger that is not there, and features that it does not give."""
    left = _tagged(asked)
    kinds = [kind_of(name) for name in left.values()]
    if not left or (tagger is None and language == _ANY):
        return
    if tagger is None and language is None and all(map(is_wildcard, kinds)):
        return  # whatever the labels hold
    try:
        annotator, _ = annotator_of(tagger, language, kinds, labels)
    except GnomonError as error:
        yield Fault("tagger", error)
        return
    for place, name in left.items():
        yield from _of_tagger(annotator, place, name)


def _of_tagger(annotator: Annotator, place: str, name: str) -> Iterator[Fault]:
    kind, kinds = kind_of(name), [k for some in annotator.layers.values() for k in some]
    wrong = list(faults(place, check_kind, annotator, kinds, kind))
    yield from wrong
    if wrong or is_wildcard(kind) or kind in _OPEN or reach_of(name):
        return
    there = annotator.inventory(kind)
    if there:
        yield from faults(place, _check_known, name, there)


def _tagged(asked: Mapping[str, str]) -> dict[str, str]:
    """What neither word lists nor patterns give."""
    return {place: name for place, name in asked.items() if kind_of(name) not in ("lex", "re")}


def _check_name(name: str) -> None:
    kind_of(name)
    reach_of(name)


def _check_known(name: str, known: Collection[str]) -> None:
    expand([name], (), known)
