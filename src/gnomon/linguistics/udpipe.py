"""Models of UDPipe 1 that a user brings, as annotators."""

from __future__ import annotations

import importlib
import importlib.metadata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import FormatError, MissingFileError, not_installed
from gnomon.core.signature import content_hash
from gnomon.linguistics._tokens import TaggedWord, make_readable, marks_of_words
from gnomon.linguistics.feature_names import universal_features

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.linguistics.facts import Mark

__all__ = ["UdpipeAnnotator"]


@dataclass(frozen=True)
class UdpipeAnnotator:
    """A model file of UDPipe 1; words of a multiword token stand in one place.

    Attributes:
        file: the model, "czech-pdt-ud-2.5-191206.udpipe".

    Raises:
        MissingDependencyError: the package ufal.udpipe is not installed.
        MissingFileError: there is no such file.
        FormatError: it holds no model, or one that cuts no words or tags none.
    """

    file: str

    def __post_init__(self) -> None:
        _version()
        if not Path(self.file).is_file():
            raise MissingFileError(f"there is no model of UDPipe at {self.file}")
        if "pos" not in self.layers:
            raise FormatError(
                "no model of UDPipe 1 that cuts texts into words and tags them", path=self.file
            )

    @property
    def name(self) -> str:
        """The name in gnomon: ``udpipe:FILE``."""
        return f"udpipe:{self.file}"

    @property
    def signature(self) -> str:
        """The file's name and hash, and the engine."""
        path = Path(self.file)
        return f"udpipe:{path.name}-{_hash(self.file, _state(path))}/ufal.udpipe-{_version()}"

    @property
    def layers(self) -> Mapping[str, tuple[str, ...]]:
        """For each layer that the model gives, the kinds of features in it."""
        _, tags, parses = _load(self.file, _state(Path(self.file)))
        kinds = {"pos": ("pos", "morph"), "token": ()} if tags else {}
        return {**kinds, "dep": ("dep",)} if parses else kinds

    def inventory(self, kind: str) -> tuple[str, ...]:
        """The features of one kind that may occur; of relations none is known."""
        return universal_features(kind)

    def annotate(self, texts: Sequence[str], layers: Sequence[str]) -> list[dict[str, list[Mark]]]:
        """The marks of some layers, one mapping per text."""
        model, _, parses = _load(self.file, _state(Path(self.file)))
        parses = parses and {*layers} != {"pos"}
        marks = (marks_of_words([*_words(model, text, parses=parses)]) for text in texts)
        return [{layer: some[layer] for layer in layers} for some in marks]


def _words(model: Any, text: str, *, parses: bool) -> Iterator[TaggedWord]:
    """The words of a text; ranges count code points."""
    before = 0
    for sentence in _sentences(model, text):
        model.tag(sentence, model.DEFAULT)
        if parses:
            model.parse(sentence, model.DEFAULT)
        places: dict[int, Any] = {}
        for token in sentence.multiwordTokens:
            places |= dict.fromkeys(range(token.idFirst, token.idLast + 1), token)
        words = list(sentence.words)[1:]  # the first is the root
        for word in words:
            place = places.get(word.id, word)
            head = word.head if parses and word.head else word.id
            yield TaggedWord(
                place.getTokenRangeStart(),
                place.getTokenRangeEnd(),
                "|".join(filter(None, (word.upostag, word.feats))),
                word.lemma,
                word.deprel,
                before + head - 1,
            )
        before += len(words)


def _sentences(model: Any, text: str) -> Iterator[Any]:
    udpipe = importlib.import_module("ufal.udpipe")
    tokeniser = model.newTokenizer(model.TOKENIZER_RANGES)
    tokeniser.setText(make_readable(text))
    sentence = udpipe.Sentence()
    while tokeniser.nextSentence(sentence):
        yield sentence
        sentence = udpipe.Sentence()


@lru_cache(maxsize=2)
def _load(file: str, _state: object) -> tuple[Any, bool, bool]:
    """A model, whether it tags texts, and whether it parses them."""
    udpipe = importlib.import_module("ufal.udpipe")
    model = udpipe.Model.load(file)
    if model is None or model.newTokenizer(model.DEFAULT) is None:
        return None, False, False
    probe = udpipe.Sentence()
    probe.addWord("a")
    tags = model.tag(probe, model.DEFAULT)
    return model, tags, tags and model.parse(probe, model.DEFAULT)


@lru_cache(maxsize=4)
def _hash(file: str, _state: object) -> str:
    return content_hash(Path(file).read_bytes())


def _state(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def _version() -> str:
    try:
        return importlib.metadata.version("ufal.udpipe")
    except importlib.metadata.PackageNotFoundError:
        raise not_installed("a tagger of UDPipe", "ufal.udpipe", "udpipe") from None
