"""spaCy pipelines as annotators: only the components that the asked features need."""

from __future__ import annotations

import contextlib
import gc
import importlib.metadata
import importlib.util
import json
import logging
import sys
import warnings
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError, MissingDependencyError, UnknownNameError, not_installed
from gnomon.linguistics.facts import Mark
from gnomon.linguistics.feature_names import universal_features

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from importlib.metadata import EntryPoint

    from gnomon.linguistics.pipeline import Pipeline

__all__ = ["SpacyAnnotator", "installed", "look_again", "meta_of"]


_PIECE = 100_000  # characters: a longer text is annotated in pieces, so that memory stays flat
_LEMMATISERS = frozenset(("lemmatizer", "trainable_lemmatizer"))
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SpacyAnnotator:
    """A spaCy pipeline that is installed as a package.

    Parts of speech and morphology equal those of the whole pipeline: where rules of its attribute
    ruler read dependency relations (English: "that" as PRON or SCONJ), the parser runs too.
    Entities are found without the parser's sentence bounds. Tokens of white space are left out.

    Attributes:
        package: the installed name, "en_core_web_sm".

    Raises:
        MissingDependencyError: spaCy or the pipeline is not installed.
    """

    package: str

    def __post_init__(self) -> None:
        meta_of(self.package)
        _spacy_version()

    @property
    def name(self) -> str:
        """The name in gnomon: ``spacy:en_core_web_sm``."""
        return f"spacy:{self.package}"

    @property
    def signature(self) -> str:
        """Pipeline and engine with their versions."""
        return f"{self.name}-{meta_of(self.package)['version']}/spacy-{_spacy_version()}"

    @property
    def layers(self) -> Mapping[str, tuple[str, ...]]:
        """For each layer that the pipeline has, the kinds of features in it."""
        components = meta_of(self.package)["pipeline"]
        has_pos = any(c in components for c in ("tagger", "morphologizer", "attribute_ruler"))
        kinds_by_layer = {
            "pos": ("pos", "morph") if has_pos else (),
            "ent": ("ent",) if "ner" in components else (),
            "dep": ("dep",) if "parser" in components else (),
        }
        return {
            **{layer: kinds for layer, kinds in kinds_by_layer.items() if kinds},
            **({"head": ()} if "parser" in components else {}),
            **({"lemma": ()} if not _LEMMATISERS.isdisjoint(components) else {}),
        }

    def inventory(self, kind: str) -> tuple[str, ...]:
        """The features of one kind that the pipeline may give."""
        labels = meta_of(self.package).get("labels", {})
        if kind == "ent":
            return tuple(f"ent:{name}" for name in labels.get("ner", ()))
        if kind == "dep":
            return (*(f"dep:{name}" for name in labels.get("parser", ())), "dep:nonprojective")
        return universal_features(kind)

    def annotate(self, texts: Sequence[str], layers: Sequence[str]) -> list[dict[str, list[Mark]]]:
        """The marks of some layers, and of those that come with them, one mapping per text."""
        pipeline = self._pipeline(layers)
        layers = (*layers, *(pipeline.gratis if "dep" not in layers else ()))
        pieces = [(i, *piece) for i, text in enumerate(texts) for piece in _pieces(text)]
        marks_of_texts: list[dict[str, list[Mark]]] = [
            {layer: [] for layer in layers} for _ in texts
        ]
        with _quiet(), _pause_collection(), pipeline.zone():
            # lemmatisers read parts of speech from the documents
            tabulated = "lemma" not in layers
            docs = pipeline.run([piece for _, _, piece in pieces], tabulated=tabulated)
            labels = pipeline.labels(docs) if "pos" in layers else repeat([])
            relations: dict[tuple[int, int, bool], str] = {}
            for (number, shift, _), doc, some in zip(pieces, docs, labels, strict=False):
                marks = marks_of_texts[number]
                places = _places(doc, shift)
                if "pos" in layers:
                    marks["pos"].extend(_marks(places, some))
                if "dep" in layers:
                    marks["dep"].extend(_marks(places, _relations(doc, relations)))
                if "head" in layers:
                    marks["head"].extend(_marks(places, _heads(doc)))
                if "lemma" in layers:
                    lemmas = ("" if token.is_space else token.lemma_ for token in doc)
                    marks["lemma"].extend(_marks(places, lemmas))
                if "ent" in layers:
                    marks["ent"].extend(_entities(doc, shift))
        return marks_of_texts

    def _pipeline(self, layers: Sequence[str]) -> Pipeline:
        from gnomon.linguistics.pipeline import load

        with _quiet():
            return load(self.package, meta_of(self.package)["version"], tuple(sorted(layers)))


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """A text in pieces of bounded length, cut at spaces where there are any."""
    start = 0
    while len(text) - start > _PIECE:
        space = text.rfind(" ", start + 1, start + _PIECE)
        end = space if space > 0 else start + _PIECE
        yield start, text[start:end]
        start = end
    if start < len(text):
        yield start, text[start:]


def _places(doc: Any, shift: int) -> list[tuple[int, int]]:
    """Start and end of every token."""
    spans = doc.to_array(["IDX", "LENGTH"]).tolist()
    return [(start + shift, start + length + shift) for start, length in spans]


def _marks(places: Iterable[tuple[int, int]], labels: Iterable[str]) -> Iterator[Mark]:
    for (start, end), label in zip(places, labels, strict=True):
        if label:
            yield Mark(start, end, label)


def _entities(doc: Any, shift: int) -> Iterator[Mark]:
    for entity in doc.ents:
        text = entity.text
        start = entity.start_char + len(text) - len(text.lstrip())
        end = entity.start_char + len(text.rstrip())
        if start < end:
            yield Mark(start + shift, end + shift, entity.label_)


def _relations(doc: Any, labels: dict[tuple[int, int, bool], str]) -> Iterator[str]:
    """The relation of every token, how far it reaches, and whether it crosses; "" for a space."""
    from gnomon.linguistics.dependencies import crossing, reach

    columns = doc.to_array(["DEP", "IS_SPACE", "HEAD"]).T
    relations, spaces = columns[:2].tolist()
    heads = [token + step for token, step in enumerate(columns[2].astype("int64").tolist())]
    strings = doc.vocab.strings
    rows = zip(relations, reach(heads), crossing(heads), spaces, strict=True)
    for relation, reached, crossed, space in rows:
        if space:
            yield ""
            continue
        label = labels.get((relation, reached, crossed))
        if label is None:
            name = strings[relation] if relation else ""
            label = f"{name}|{reached}{'|crossing' if crossed else ''}"
            labels[relation, reached, crossed] = label
        yield label


def _heads(doc: Any) -> Iterator[str]:
    """Yield the offset of each token's head behind it, 0 for a root; "" for a space."""
    steps, spaces = doc.to_array(["HEAD", "IS_SPACE"]).astype("int64").T
    places = np.cumsum(1 - spaces)
    heads = np.arange(len(steps)) + steps
    distances = np.where(spaces[heads], 0, places[heads] - places).tolist()
    for distance, space in zip(distances, spaces.tolist(), strict=True):
        yield "" if space else str(distance)


@contextlib.contextmanager
def _pause_collection() -> Iterator[None]:
    """Let Python look for cycles later: a batch of documents holds few, and many objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Send spaCy's warnings to the log."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in caught:
        _log.debug("spaCy: %s", message.message)


def installed() -> tuple[str, ...]:
    """Names of the installed packages that hold a spaCy pipeline."""
    return _find_installed(importlib.metadata.entry_points, tuple(sys.path))


@lru_cache(maxsize=4)
def _find_installed(
    find: Callable[..., Iterable[EntryPoint]], _path: tuple[str, ...]
) -> tuple[str, ...]:
    """Sought once: many packages take long, and a plan asks for every method and test set."""
    return tuple(sorted({entry.name for entry in find(group="spacy_models")}))


def look_again() -> None:
    """Forget which packages are installed: there may be more now."""
    importlib.invalidate_caches()
    _find_installed.cache_clear()


@lru_cache(maxsize=64)
def meta_of(package: str) -> dict[str, Any]:
    """Metadata of a pipeline, read without loading it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            f"the spaCy pipeline {package!r} is not installed; installed:"
            f" {', '.join(installed()) or 'none'}; install it with"
            f" `python -m spacy download {package}` (or `gnomon setup {package[:2]}`)"
        )
    path = Path(spec.submodule_search_locations[0]) / "meta.json"
    if not path.is_file():
        raise UnknownNameError("spaCy pipeline", package, installed())
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read: {error}; install the pipeline anew") from error
    return meta if isinstance(meta, dict) else {}


def _spacy_version() -> str:
    try:
        return importlib.metadata.version("spacy")
    except importlib.metadata.PackageNotFoundError:
        raise not_installed("a tagger of spaCy", "spacy", "spacy") from None
