"""Names of features, what they stand for, and the inventories of Universal Dependencies."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from gnomon.core.data_files import data_beside
from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from gnomon.messages import Message

__all__ = [
    "ENTITIES",
    "FORMS",
    "LISTED",
    "MEANINGS",
    "MORPH",
    "UPOS",
    "WORD_FORMS",
    "expand",
    "features_of",
    "gloss",
    "is_wildcard",
    "kind_of",
    "long_arcs",
    "matches",
    "ordered",
    "reach_of",
    "universal_features",
]


# The names that Universal Dependencies and OntoNotes fix.


_FIXED = data_beside(__file__)
#: parts of speech, with what each marks
UPOS: dict[str, str] = _FIXED["upos"]
#: kinds of entities, likewise
ENTITIES: dict[str, str] = _FIXED["entities"]
#: features of the form of words, likewise
WORD_FORMS: dict[str, str] = _FIXED["forms"]
#: labels of features whose names are fixed
MEANINGS = {
    f"{kind}:{name}": what
    for kind, names in (
        *(("pos", UPOS), ("ent", ENTITIES)),
        *(
            ("morph", _FIXED["inflections"]),
            ("dep", _FIXED["relations"]),
            ("check", _FIXED["checks"]),
            ("form", WORD_FORMS),
        ),
    )
    for name, what in names.items()
}

#: keys of forms of words, with their values
MORPH: dict[str, tuple[str, ...]] = {k: tuple(values) for k, values in _FIXED["morph"].items()}


# Names of features: ``pos:NOUN``, ``morph:Gender=Fem``, ``dep:long>=5``, wildcards.


FORMS = (
    "pos:NOUN, ent:PERSON, morph:Gender=Fem, morph:Gender, dep:nsubj, dep:long>=5,"
    " dep:nonprojective, form:number, lex:NAME, re:NAME, check:number, or with wildcards pos:*"
)
#: kinds that need no tagger
LISTED = ("form", "lex", "re", "check")
KINDS = ("pos", "ent", "morph", "dep", *LISTED, "label")
_OWN = {"lex": "words", "re": "matches"}
_LONG = re.compile(r"dep:long>=([1-9][0-9]*)")
_UPOS_PLACE = {name: place for place, name in enumerate(UPOS)}
#: layers that make sentences and trees of texts, and no features
_OF_TOKENS = frozenset({"head", "lemma", "token", "tree"})
_LEFT_OUT = frozenset({"SPACE", ""})


@lru_cache(maxsize=65536)
def features_of(layer: str, label: str) -> tuple[str, ...]:
    """The features that a label of a layer carries (arc lengths are not among them).

    >>> features_of("pos", "NOUN|Case=Acc,Dat|Number=Sing")[:4]
    ('pos:NOUN', 'morph:Case', 'morph:Case=Acc', 'morph:Case=Dat')
    >>> features_of("dep", "nsubj|7|crossing")
    ('dep:nsubj', 'dep:nonprojective')
    """
    if layer == "pos":
        upos, *facts = label.split("|")
        if upos in _LEFT_OUT and not facts:
            return ()
        morph = (name for fact in facts for name in _morph(fact))
        return (*((f"pos:{upos}",) if upos not in _LEFT_OUT else ()), *morph)
    if layer in _OF_TOKENS:
        return ()
    if layer == "dep":
        relation, *facts = label.split("|")
        crossing = ("dep:nonprojective",) if "crossing" in facts else ()
        return (*((f"dep:{relation}",) if relation else ()), *crossing)
    return (label,) if layer == "named" else (f"{layer}:{label}",)


def _morph(fact: str) -> tuple[str, ...]:
    key, _, values = fact.partition("=")
    return (f"morph:{key}", *(f"morph:{key}={value}" for value in values.split(",") if value))


def kind_of(feature: str) -> str:
    """The part of a feature's name before the colon."""
    kind, colon, rest = feature.partition(":")
    if colon and kind and rest:
        return kind
    raise UsageError(f"{feature!r} is not a feature's name{_guess(feature)}; names are {FORMS}")


def _guess(feature: str) -> str:
    wanted = feature.strip(":").casefold()
    for kind, names in (("pos", UPOS), ("ent", ENTITIES), ("morph", MORPH), ("form", WORD_FORMS)):
        for name in names:
            if name.casefold() == wanted:
                return f"; did you mean '{kind}:{name}'?"
    for name, meaning in MEANINGS.items():
        if wanted and wanted.rstrip("s") == meaning.rstrip("s"):
            return f"; did you mean '{name}'?"
    return f"; did you mean '{wanted}:*'?" if wanted in KINDS[:5] else ""


def gloss(feature: str) -> str:
    """Explain a feature in a word or two; by its name where nothing is known.

    >>> gloss("pos:ADP"), gloss("morph:Tense=Past"), gloss("dep:nsubj"), gloss("lex:food")
    ('adpositions', 'past tense', 'subjects', "words of 'food'")
    """
    kind, _, name = feature.partition(":")
    if kind in _OWN:
        return f"{_OWN[kind]} of {name!r}"
    if bound := _LONG.fullmatch(feature):
        return f"words linked over {bound[1]} words or more"
    return MEANINGS.get(feature, feature).replace(", ", "/")  # it stands in lists


def universal_features(kind: str) -> tuple[str, ...]:
    """The names of parts of speech or morphology that Universal Dependencies fix."""
    if kind == "pos":
        return tuple(f"pos:{name}" for name in UPOS)
    values = (f"morph:{key}={v}" for key, vs in MORPH.items() for v in vs)
    return (*(f"morph:{key}" for key in MORPH), *values) if kind == "morph" else ()


def is_wildcard(feature: str) -> bool:
    """True if a name stands for all features that it matches (``*`` any run, ``?`` one)."""
    return "*" in feature or "?" in feature


def reach_of(feature: str) -> int | None:
    """N of ``dep:long>=N``; none for other features."""
    match = _LONG.fullmatch(feature)
    if match is None and re.match(r"dep:long\b", feature):
        raise UsageError(f"{feature!r} lacks its bound in tokens; write it as 'dep:long>=5'")
    return int(match[1]) if match else None


def long_arcs(layer: str, label: str, bounds: Sequence[int]) -> tuple[str, ...]:
    """The features ``dep:long>=N`` that a token has whose longest arc the label gives.

    >>> long_arcs("dep", "nsubj|7", [5, 9])
    ('dep:long>=5',)
    """
    if layer != "dep" or not bounds:
        return ()
    reached = next((int(word) for word in label.split("|")[1:] if word.isdigit()), 0)
    return tuple(f"dep:long>={bound}" for bound in bounds if reached >= bound)


def matches(pattern: str, name: str) -> bool:
    """True if a name fits a pattern with * and ?."""
    expression = "".join(
        ".*" if piece == "*" else "." if piece == "?" else re.escape(piece) for piece in pattern
    )
    return re.fullmatch(expression, name, re.DOTALL) is not None


def ordered(names: Iterable[str]) -> list[str]:
    """Kinds as listed above, universal parts of speech as UD lists them, then the alphabet."""
    return sorted(set(names), key=_rank)


def _rank(name: str) -> tuple[int, int, str]:
    kind, _, rest = name.partition(":")
    rank = KINDS.index(kind) if kind in KINDS else len(KINDS)
    return rank, _UPOS_PLACE.get(rest, len(UPOS)) if kind == "pos" else 0, name


def expand(
    asked: Sequence[str], observed: Collection[str], known: Collection[str]
) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    """The features that the names stand for, each once, and notices of names without a feature."""
    features: dict[str, None] = {}
    notices = []
    for name in asked:
        hits = ordered(n for n in observed if matches(name, n)) if is_wildcard(name) else [name]
        if is_wildcard(name) and not hits:
            if not any(matches(name, n) for n in known):
                raise _unknown(name, observed, known)
            notices.append(message("note.no_match", name=name))
        if not is_wildcard(name) and name not in observed:
            if name not in known and reach_of(name) is None:
                raise _unknown(name, observed, known)
            notices.append(message("note.no_words", kind=gloss(name)))
        features.update(dict.fromkeys(hits))
    return tuple(features), tuple(notices)


def _unknown(name: str, observed: Collection[str], features: Collection[str]) -> UnknownNameError:
    names = ordered([*observed, *features])
    alike = [n for n in names if n.partition(":")[0] == name.partition(":")[0]]
    folded = next((n for n in alike if n.casefold() == name.casefold()), "")
    remedy = f"names are case-sensitive: {folded!r}" if folded else ""
    return UnknownNameError("feature", name, alike or names, remedy=remedy)
