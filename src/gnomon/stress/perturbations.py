r"""Perturbations: rules that put an error, or a harmless change, into a text; their registry.

A rule is a function of an output, of the other outputs, and of a generator of random numbers. It
yields the places where it may change the text, in any order::

    @perturbation("units", kind="error", severity="critical", phenomenon="wrong units")
    def units(output, pool, rng):
        for word in re.finditer(r"\b(kilometres|hours)\b", output.text):
            yield word.start(), word.end(), "pounds"

Which of these places are changed, what becomes of white space and capitals, and whether the text
changed at all, is the same for all of them (:mod:`gnomon.stress.making`). Packages offer
perturbations by the entry point ``gnomon.perturbations``.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, get_args

from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.core.minimal_pairs import KINDS, PairKind
from gnomon.core.options import Metavar
from gnomon.core.plugins import entry_points
from gnomon.linguistics import gloss
from gnomon.messages.audiences import Named
from gnomon.metrics.registry import broken_plugin, package_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "Change",
    "Crossed",
    "Perturbation",
    "Perturbations",
    "Severity",
    "Site",
    "bind_feature",
    "describe_perturbations",
    "find_perturbations",
    "perturbation",
    "perturbation_names",
]

#: characters from start to end (half-open code points), and the text that stands there instead
Change: TypeAlias = tuple[int, int, str]
#: changes at one place: one, or several that belong together
Site: TypeAlias = "Change | Sequence[Change]"
Severity: TypeAlias = Literal["critical", "major", "minor", ""]
#: names, with wildcards, or perturbations
Perturbations: TypeAlias = Annotated["Sequence[str | Perturbation] | None", Metavar("NAME")]
Rule: TypeAlias = Callable[..., Iterable[Any]]

_GROUP = "gnomon.perturbations"
_MODULES = (
    "any_language",
    "english_meaning",
    "english_grammar",
    "english_wording",
    "german",
    "sanity",
)


class Crossed(NamedTuple):
    """Changes that make a better text, which is worded otherwise, and those that make a worse."""

    good: Site
    bad: Site


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """A rule that changes texts, and what is known of what it makes.

    Attributes:
        name: how it is asked for ("number").
        phenomenon: what the changed texts have, in words, in the plural ("wrong numbers").
        rule: yields sites of an output; or, of crossed pairs, :class:`Crossed`.
        kind: whether it makes errors, harmless changes, crossed pairs or no translation at all.
        severity: of errors: "critical", "major", "minor".
        languages: target languages that it is written for ("en"); none: any.
        features: what a tagger must mark for it ("lex:unit").
        feature: of one of a feature, that feature ("pos:VERB").
        needs: what it must be given: "tokens" (a tagger's words), "source", "others" (the outputs
            of other segments), "feature" (it is asked for as "NAME FEATURE"), "inflections" (forms
            of English words, by lemminflect).
        exact: its changes stand as they are; else white space and capitals are put in order.
        default: whether it is used where none is asked for.
        general: of one of a feature, the one of any ("delete" of "delete pos:VERB").
        package: which offers it.
        about: what it does, in a line.
    """

    name: str
    phenomenon: str
    rule: Rule
    kind: PairKind = "error"
    severity: Severity = ""
    languages: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    feature: str = ""
    needs: frozenset[str] = frozenset()
    exact: bool = False
    default: bool = True
    general: Perturbation | None = None
    package: str = "gnomon"
    about: str = ""

    def fits(self, language: str | None) -> bool:
        """True if it is made for texts of a language; None: not known."""
        return not self.languages or (language or "").partition("-")[0] in self.languages

    def sites(self, output: Any, pool: Any, rng: Any) -> Iterator[Any]:
        """Where it may change an output."""
        return iter(self.rule(output, pool, rng))


_NEEDS = frozenset(("tokens", "source", "others", "feature", "inflections"))


def perturbation(
    name: str,
    *,
    phenomenon: str,
    kind: PairKind = "error",
    severity: Severity = "",
    languages: str | Sequence[str] = (),
    features: Sequence[str] = (),
    needs: Sequence[str] = (),
    exact: bool = False,
    default: bool = True,
) -> Callable[[Rule], Perturbation]:
    """Make a function a perturbation.

    Args:
        name: how it is asked for.
        phenomenon: what the changed texts have, in words, in the plural.
        kind: "error", "harmless", "crossed" or "sanity".
        severity: "critical", "major" or "minor", of errors.
        languages: target languages that it is written for; none: any.
        features: features that a tagger, a word list or a pattern must mark for it.
        needs: "tokens", "source", "others" or "inflections".
        exact: changes stand as they are; else white space and capitals are put in order.
        default: whether it is used where none is asked for.

    Returns:
        A decorator of functions of an output, a pool of other outputs and a numpy generator, which
        yield sites: ``(start, end, new)`` in code points, or several of these.

    Raises:
        UsageError: kind, severity or needs are none of these.
    """
    for said, value, allowed in (
        ("kind", [kind], KINDS),
        ("severity", [severity], get_args(Severity)),
        ("needs", needs, tuple(sorted(_NEEDS))),
    ):
        wrong = [each for each in value if each not in allowed]
        if wrong:
            raise UsageError(
                f"{said} of the perturbation {name!r} is {wrong[0]!r}; it is one of"
                f" {', '.join(filter(None, allowed))}"
            )

    def decorate(rule: Rule) -> Perturbation:
        listed = (languages,) if isinstance(languages, str) else tuple(languages)
        return Perturbation(
            name=name,
            phenomenon=phenomenon,
            rule=rule,
            kind=kind,
            severity=severity,
            languages=listed,
            features=tuple(features),
            needs=frozenset(needs),
            exact=exact,
            default=default,
            about=(rule.__doc__ or "").partition("\n")[0],
        )

    return decorate


@functools.cache
def _built_in() -> dict[str, Perturbation]:
    found = {}
    for module in _MODULES:
        home = importlib.import_module(f"gnomon.stress.rules.{module}")
        every = [value for value in vars(home).values() if isinstance(value, Perturbation)]
        found.update({each.name: each for each in every})
    return found


def _package_perturbations() -> dict[str, EntryPoint]:
    """Perturbations of packages; of two under one name the first, and none in the place of ours."""
    points = sorted(entry_points(group=_GROUP), key=lambda point: (point.name, package_of(point)))
    return {point.name: point for point in reversed(points) if point.name not in _built_in()}


def perturbation_names() -> tuple[str, ...]:
    """The names of all perturbations: built-in ones, then what packages offer."""
    return (*_built_in(), *_package_perturbations())


def _load(name: str) -> Perturbation:
    if name in _built_in():
        return _built_in()[name]
    point = _package_perturbations()[name]
    try:
        loaded = point.load()
    except Exception as error:  # a stranger's module may fail in any way
        raise broken_plugin("perturbation", point, f"{type(error).__name__}: {error}") from error
    if not isinstance(loaded, Perturbation):
        raise broken_plugin("perturbation", point, f"{loaded!r:.80} is no perturbation")
    return replace(loaded, package=package_of(point))


def describe_perturbations() -> tuple[Perturbation, ...]:
    """All perturbations, for ``gnomon list``."""
    return tuple(_load(name) for name in perturbation_names())


def find_perturbations(asked: Perturbations, language: str | None) -> list[Perturbation]:
    """The perturbations that names and wildcards stand for, each once, in the order asked.

    Args:
        asked: names ("number", "replace ent:*", "*"), or perturbations; None: the usual ones of
            the language.
        language: of the texts; None where it is not known.

    Returns:
        The perturbations; "delete FEATURE" and "replace FEATURE" may hold wildcards, which
        :func:`of_feature` resolves.

    Raises:
        UnknownNameError: there is no such perturbation.
        UsageError: one is written for other languages, or lacks its feature.
    """
    every = describe_perturbations()
    if asked is None:
        chosen = [each for each in every if each.default and each.fits(language)]
        return [each for found in chosen for each in _usual(found)]
    perturbations: list[Perturbation] = []
    for name in asked:
        perturbations += [name] if isinstance(name, Perturbation) else _matching(name, language)
    return list({each.name: each for each in perturbations}.values())


def _matching(name: str, language: str | None) -> Iterator[Perturbation]:
    from fnmatch import fnmatchcase

    every = {each.name: each for each in describe_perturbations()}
    first, _, feature = name.strip().partition(" ")
    if first in every and "feature" in every[first].needs:
        if not feature:
            raise UsageError(
                f"the perturbation {first!r} lacks its feature; write it as '{first} pos:VERB'"
            )
        yield bind_feature(every[first], feature.strip())
        return
    if not any(letter in name for letter in "*?["):
        if name not in every:
            raise UnknownNameError("perturbation", name, tuple(every))
        if not every[name].fits(language):
            raise UsageError(
                f"the perturbation {name!r} is written for {', '.join(every[name].languages)},"
                " and the texts are"
                f" {f'in {language!r}' if language else 'of an unknown language'}; name their"
                " language (",
                Named("-l", "language='en'"),
                ")",
            )
        yield every[name]
        return
    hits = [each for each in every.values() if fnmatchcase(each.name, name)]
    if not hits:
        raise UnknownNameError("perturbation", name, tuple(every))
    for hit in hits:
        if hit.fits(language):
            yield from _usual(hit)


def _usual(general: Perturbation) -> Iterator[Perturbation]:
    """Itself, or with each of the features that it usually changes."""
    if "feature" not in general.needs:
        yield general
        return
    for feature in general.features:
        yield bind_feature(general, feature)


#: parts of speech whose loss changes what is said; of others it is heard, and understood
_CONTENT = frozenset(("ADJ", "ADV", "NOUN", "NUM", "PROPN", "VERB"))


def bind_feature(general: Perturbation, feature: str) -> Perturbation:
    """A perturbation of any feature, of one of them.

    >>> deleted = find_perturbations(["delete pos:VERB"], "en")[0]
    >>> deleted.phenomenon, deleted.severity
    ('deleted verbs', 'critical')
    """
    kind, _, label = feature.partition(":")
    words = gloss(feature)
    words = words.partition(" (")[0] if words != feature else feature
    light = kind == "pos" and label not in _CONTENT
    return replace(
        general,
        name=f"{general.name} {feature}",
        phenomenon=f"{general.phenomenon} {words}",
        rule=partial(general.rule, feature=feature),
        features=(feature,),
        feature=feature,
        general=general,
        severity="minor" if light else general.severity,
        needs=general.needs - {"feature"},
    )
