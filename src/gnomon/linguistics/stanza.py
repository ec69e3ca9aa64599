"""Stanza's pipelines as annotators, with the models that lie in Stanza's own folder."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import MissingDependencyError, not_installed
from gnomon.core.signature import content_hash
from gnomon.linguistics._tokens import TaggedWord, make_readable, marks_of_words
from gnomon.linguistics.facts import Mark
from gnomon.linguistics.feature_names import universal_features

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["StanzaAnnotator", "forget_models"]


#: for each layer the processor that it needs last, and its kinds of features
_LAYERS = {
    "pos": ("pos", ("pos", "morph")),
    "dep": ("depparse", ("dep",)),
    "ent": ("ner", ("ent",)),
    "token": ("pos", ()),
    "tree": ("constituency", ()),
}
_WORDS = ("tokenize", "mwt", "pos", "lemma", "depparse")
_PROCESSORS = {
    "pos": _WORDS[:3],
    "dep": _WORDS,
    "ent": ("tokenize", "mwt", "ner"),
    "token": _WORDS,
    "tree": (*_WORDS[:3], "constituency"),
}
#: what labels and words in brackets cannot hold
_UNFIT = re.compile(r"[()\s]")
_WRITTEN = {"(": "-LRB-", ")": "-RRB-"}


@dataclass(frozen=True)
class StanzaAnnotator:
    """The default models of a language, as far as they have been fetched; it fetches none.

    Words of a multiword token stand in one place, unless they are spelled out in it ("don't").
    Layer ``tree`` holds a sentence's constituents in brackets.

    Attributes:
        language: Stanza's code, "de".

    Raises:
        MissingDependencyError: Stanza or a tagger of the language is not installed.
    """

    language: str

    def __post_init__(self) -> None:
        if "pos" not in _models(self.language):
            raise _no_model(self.language)

    @property
    def name(self) -> str:
        """The name in gnomon: ``stanza:de``."""
        return f"stanza:{self.language}"

    @property
    def signature(self) -> str:
        """Language, models and engine."""
        models = sorted(_models(self.language).items())
        return f"{self.name}-{content_hash(str(models))}/stanza-{_version()}"

    @property
    def layers(self) -> Mapping[str, tuple[str, ...]]:
        """For each layer that the models give, the kinds of features in it."""
        models = _models(self.language)
        return {
            layer: kinds for layer, (processor, kinds) in _LAYERS.items() if processor in models
        }

    def inventory(self, kind: str) -> tuple[str, ...]:
        """The features of one kind that may occur; of entities and relations none is known."""
        return universal_features(kind)

    def annotate(self, texts: Sequence[str], layers: Sequence[str]) -> list[dict[str, list[Mark]]]:
        """The marks of some layers, one mapping per text."""
        wanted = {processor for layer in layers for processor in _PROCESSORS[layer]}
        pipeline = _pipeline(self.language, frozenset(wanted.intersection(_models(self.language))))
        documents = pipeline.bulk_process([*map(make_readable, texts)])
        return [_marks(document, layers) for document in documents]


def _marks(document: Any, layers: Sequence[str]) -> dict[str, list[Mark]]:
    marks: dict[str, list[Mark]] = {}
    if not {"pos", "dep", "token"}.isdisjoint(layers):
        marks |= marks_of_words([*_words(document)])
    if "ent" in layers:
        found = {Mark(e.start_char, e.end_char, e.type) for e in document.ents}
        marks["ent"] = sorted(found)
    if "tree" in layers:
        marks["tree"] = [
            Mark(s.tokens[0].start_char, s.tokens[-1].end_char, _brackets(s.constituency))
            for s in document.sentences
        ]
    return {layer: marks[layer] for layer in layers}


def _words(document: Any) -> Iterator[TaggedWord]:
    counts = accumulate((len(s.words) for s in document.sentences), initial=0)
    for sentence, before in zip(document.sentences, counts, strict=False):
        places = [(token, word) for token in sentence.tokens for word in token.words]
        for number, (token, word) in enumerate(places):
            place = token if word.start_char is None else word
            yield TaggedWord(
                place.start_char,
                place.end_char,
                "|".join(filter(None, (word.upos, word.feats))),
                " ".join((word.lemma or "").split()),
                word.deprel or "",
                before + (word.head - 1 if word.head else number),
            )


def _brackets(node: Any) -> str:
    """A tree of Stanza, whose words have nothing below them, in brackets."""
    label = _UNFIT.sub(lambda sign: _WRITTEN.get(sign[0], "_"), str(node.label or ""))
    if not node.children:
        return label or "_"
    return f"({label} {' '.join(map(_brackets, node.children))})"


@lru_cache(maxsize=16)
def _models(language: str) -> Mapping[str, tuple[str, str]]:
    """The default model of each processor, with its hash, as far as it has been fetched."""
    _version()
    common = importlib.import_module("stanza.resources.common")
    folder = Path(common.DEFAULT_MODEL_DIR)
    try:
        resources = common.load_resources_json(str(folder))
    except (OSError, ValueError) as error:
        raise _no_model(language) from error
    entry = resources.get(language, {})
    code = entry.get("alias", language)
    entry = resources.get(code, {})
    defaults = dict(entry.get("packages", {}).get("default", {}))
    defaults |= defaults.pop("optional", {})
    return {
        processor: (package, entry.get(processor, {}).get(package, {}).get("md5", ""))
        for processor, package in defaults.items()
        if package == "identity" or (folder / code / processor / f"{package}.pt").is_file()
    }


@lru_cache(maxsize=2)
def _pipeline(language: str, processors: frozenset[str]) -> Any:
    stanza = importlib.import_module("stanza")
    try:
        return stanza.Pipeline(
            language,
            processors=",".join(sorted(processors)),
            download_method=None,  # nothing is fetched unasked
            verbose=False,
        )
    except (OSError, ValueError, KeyError) as error:
        raise _no_model(language) from error


def forget_models() -> None:
    """Forget which models are there: there may be more now."""
    _models.cache_clear()
    _pipeline.cache_clear()


def _no_model(language: str) -> MissingDependencyError:
    return MissingDependencyError(
        f"Stanza has not all models of {language!r} on this machine; fetch them with: python -c"
        f" \"import stanza; stanza.download('{language}')\""
    )


def _version() -> str:
    try:
        return importlib.metadata.version("stanza")
    except importlib.metadata.PackageNotFoundError:
        raise not_installed("a tagger of Stanza", "stanza", "stanza") from None
