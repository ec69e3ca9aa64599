"""spaCy pipelines as annotators: only the components that the asked features need."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import logging
import re
import sys
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.annotate._facts import Mark
from gnomon.annotate._features import MORPH, UPOS
from gnomon.errors import MissingDependencyError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from importlib.metadata import EntryPoint


_PIECE = 100_000  # characters: a longer text is annotated in pieces, so that memory stays flat
_PIPE_BATCH = 128
_SURROGATES = re.compile("[\ud800-\udfff]")
# entities first: they must not depend on whether the parser runs (it would set sentence bounds)
_RUNS = {
    "ent": ("ner",),
    "pos": ("tagger", "morphologizer", "attribute_ruler"),
    "dep": ("parser",),
}
_UPSTREAM = ("tok2vec", "transformer", "curated_transformer")
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
        found = {
            "pos": ("pos", "morph") if has_pos else (),
            "ent": ("ent",) if "ner" in components else (),
            "dep": ("dep",) if "parser" in components else (),
        }
        return {layer: kinds for layer, kinds in found.items() if kinds}

    def inventory(self, kind: str) -> tuple[str, ...]:
        """The features of one kind that the pipeline may give."""
        labels = meta_of(self.package).get("labels", {})
        if kind == "pos":
            return tuple(f"pos:{name}" for name in UPOS)
        if kind == "morph":
            values = (f"morph:{key}={v}" for key, vs in MORPH.items() for v in vs)
            return (*(f"morph:{key}" for key in MORPH), *values)
        if kind == "ent":
            return tuple(f"ent:{name}" for name in labels.get("ner", ()))
        relations = tuple(f"dep:{name}" for name in labels.get("parser", ()))
        return (*relations, "dep:nonprojective") if kind == "dep" else ()

    def annotate(self, texts: Sequence[str], layers: Sequence[str]) -> list[dict[str, list[Mark]]]:
        """The marks of some layers, and of those that come with them, one mapping per text."""
        pipeline = _load(self.package, tuple(sorted(layers)))
        layers = (*layers, *(pipeline.gratis if "dep" not in layers else ()))
        pieces = [(i, *piece) for i, text in enumerate(texts) for piece in _pieces(text)]
        found: list[dict[str, list[Mark]]] = [{layer: [] for layer in layers} for _ in texts]
        with _quiet(), pipeline.zone():
            docs = pipeline.run([piece for _, _, piece in pieces])
            for (number, shift, _), doc in zip(pieces, docs, strict=True):
                for layer in layers:
                    found[number][layer].extend(_READERS[layer](doc, shift))
        return found

    def dependencies(self, texts: Sequence[str]) -> list[tuple[list[str], list[str], list[int]]]:
        """Words, parts of speech and positions of heads, per text; a root is its own head."""
        pipeline = _load(self.package, ("dep", "pos"))
        pieces = [(i, piece) for i, text in enumerate(texts) for _, piece in _pieces(text)]
        found: list[tuple[list[str], list[str], list[int]]] = [([], [], []) for _ in texts]
        with _quiet(), pipeline.zone():
            docs = pipeline.run([piece for _, piece in pieces])
            for (number, _), doc in zip(pieces, docs, strict=True):
                words, tags, heads = found[number]
                kept = [token for token in doc if not token.is_space]
                place = {token.i: len(words) + n for n, token in enumerate(kept)}
                heads += [place.get(token.head.i, place[token.i]) for token in kept]
                tags += [token.pos_ or "X" for token in kept]
                words += [token.text for token in kept]
        return found


@dataclass(frozen=True)
class _Pipeline:
    nlp: Any
    order: tuple[str, ...]
    gratis: tuple[str, ...]  # layers that come with those asked for

    def run(self, texts: Sequence[str]) -> list[Any]:
        docs = [self.nlp.make_doc(_SURROGATES.sub("\ufffd", text)) for text in texts]
        for name in self.order:
            component = self.nlp.get_pipe(name)
            docs = (
                list(component.pipe(docs, batch_size=_PIPE_BATCH))
                if hasattr(component, "pipe")
                else [component(doc) for doc in docs]
            )
        return docs

    def zone(self) -> contextlib.AbstractContextManager[Any]:
        """Frees the strings of the texts afterwards (spaCy 3.8 and later)."""
        has = hasattr(self.nlp, "memory_zone")
        return self.nlp.memory_zone() if has else contextlib.nullcontext()


@lru_cache(maxsize=4)
def _load(package: str, layers: tuple[str, ...]) -> _Pipeline:
    """Load the components that some layers need, and put them in the order to run."""
    import spacy

    folder = Path(spacy.util.get_package_path(package))
    folder /= f"{package}-{meta_of(package)['version']}"
    config = spacy.util.load_config(folder / "config.cfg")
    order = _order(config, layers, rules_read_arcs=_rules_read_arcs(folder))
    with _quiet():
        nlp = spacy.load(
            package, exclude=[name for name in config["components"] if name not in order]
        )
    parsed = any(config["components"][name]["factory"] == "parser" for name in order)
    return _Pipeline(nlp, order, ("dep",) if parsed else ())


def _order(
    config: Mapping[str, Any], layers: Sequence[str], *, rules_read_arcs: bool
) -> tuple[str, ...]:
    factories = {name: part.get("factory", name) for name, part in config["components"].items()}
    wanted = {factory for layer in layers for factory in _RUNS[layer]}
    if "pos" in layers and rules_read_arcs:
        wanted.add("parser")
    names = [name for name in config["nlp"]["pipeline"] if factories[name] in wanted]
    if any("Listener" in json.dumps(config["components"][n], default=str) for n in names):
        names += [n for n in config["nlp"]["pipeline"] if factories[n] in _UPSTREAM]
    place = {name: i for i, name in enumerate(config["nlp"]["pipeline"])}
    return tuple(
        sorted(
            names,
            key=lambda n: (factories[n] not in _UPSTREAM, factories[n] != "ner", place[n]),
        )
    )


def _rules_read_arcs(folder: Path) -> bool:
    """Whether the attribute ruler sets parts of speech or morphology by dependency relation."""
    import srsly

    path = folder / "attribute_ruler" / "patterns"
    if not path.is_file():
        return False
    rules: Any = srsly.read_msgpack(path)
    return any(
        "DEP" in token and "IS_SPACE" not in token
        for rule in rules
        if not set(rule["attrs"]).isdisjoint({"POS", "MORPH", "TAG"})
        for pattern in rule["patterns"]
        for token in pattern
    )


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


def _read_pos(doc: Any, shift: int) -> Iterator[Mark]:
    for token in doc:
        label = token.pos_
        if token.is_space or not label:
            continue
        start = token.idx + shift
        morph = str(token.morph)
        yield Mark(start, start + len(token.text), f"{label}|{morph}" if morph else label)


def _read_ent(doc: Any, shift: int) -> Iterator[Mark]:
    for entity in doc.ents:
        text = entity.text
        start = entity.start_char + len(text) - len(text.lstrip())
        end = entity.start_char + len(text.rstrip())
        if start < end:
            yield Mark(start + shift, end + shift, entity.label_)


def _read_dep(doc: Any, shift: int) -> Iterator[Mark]:
    from gnomon.annotate._dependencies import crossing, reach

    heads = [token.head.i for token in doc]
    reached, crossed = reach(heads), crossing(heads)
    for token in doc:
        if token.is_space:
            continue
        start = token.idx + shift
        flag = "|crossing" if crossed[token.i] else ""
        label = f"{token.dep_}|{reached[token.i]}{flag}"
        yield Mark(start, start + len(token.text), label)


_READERS = {"pos": _read_pos, "ent": _read_ent, "dep": _read_dep}


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
    return _installed(importlib.metadata.entry_points, tuple(sys.path))


@lru_cache(maxsize=4)
def _installed(
    find: Callable[..., Iterable[EntryPoint]], _path: tuple[str, ...]
) -> tuple[str, ...]:
    """Sought once: many packages take long, and a plan asks for every method and test set."""
    return tuple(sorted({entry.name for entry in find(group="spacy_models")}))


def look_again() -> None:
    """Forget which packages are installed: there may be more now."""
    importlib.invalidate_caches()
    _installed.cache_clear()


@lru_cache(maxsize=64)
def meta_of(package: str) -> dict[str, Any]:
    """What a pipeline says of itself, read without loading it.

    Raises:
        MissingDependencyError: there is no such package.
        UnknownNameError: the package is not a spaCy pipeline.
    """
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
    meta: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return meta


def _spacy_version() -> str:
    try:
        return importlib.metadata.version("spacy")
    except importlib.metadata.PackageNotFoundError:
        raise MissingDependencyError(
            "spaCy is not installed, and a spaCy tagger was asked for; install it with"
            " `pip install 'gnomon[spacy]'`"
        ) from None
