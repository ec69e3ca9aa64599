"""The user's own labels: which marks each text bears."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.annotate._conllu import read_conllu
from gnomon.annotate._jsonl import read_jsonl
from gnomon.annotate._names import features_of
from gnomon.errors import FormatError, UsageError
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from gnomon.annotate._facts import Mark

__all__ = ["Labels"]

#: files; those who label system after system need the references' labels each time
_KEPT = 3
#: seconds
_YOUNG = 1.0
_READERS = {".conllu": read_conllu, ".conll": read_conllu, ".jsonl": read_jsonl}


@dataclass(frozen=True)
class Labels:
    """Labels by text: references and candidates alike are looked up by their very characters.

    Attributes:
        texts: for each text, layer -> marks. Layer ``named`` holds marks whose label is the whole
            name of a feature; ``pos`` and ``dep`` are as ``Mark`` says.
        files: where they come from.
        notices: texts that occur with two different labellings (the first one counts).
    """

    texts: Mapping[str, Mapping[str, Sequence[Mark]]]
    files: tuple[str, ...]
    notices: tuple[str, ...] = ()

    @classmethod
    def read(cls, paths: Iterable[str | PathLike[str]]) -> Labels:
        """Read label files: CoNLL-U (``.conllu``) or JSONL of character spans (``.jsonl``).

        CoNLL-U gives ``pos``, ``morph`` and ``dep`` features, and ``ent`` where column MISC holds
        ``NER=B-PER`` (BIO or BIOES). JSONL has one object per segment::

            {"text": "Ann paid.", "spans": [{"start": 0, "end": 3, "label": "ent:PERSON"}]}

        A label without a kind (``idiom``) becomes ``label:idiom``.

        Args:
            paths: the files, also compressed (``.gz``). ``LABELS=TEXT`` aligns the labels with
                the segments of a text file: JSONL objects may then lack ``text``, and one segment
                may hold several CoNLL-U sentences.

        Raises:
            UsageError: no file, or one with another suffix, is given.
            MissingFileError: a file does not exist.
            FormatError: a file is not what its suffix says.
            AnnotationError: labels do not fit their text.
            LengthMismatchError: labels and text file have unequal numbers of segments.
        """
        texts: dict[str, Mapping[str, Sequence[Mark]]] = {}
        notices = []
        files = tuple(str(path) for path in paths)
        if not files:
            raise UsageError("no label file was given; name .conllu or .jsonl files")
        for file in files:
            clashes = []
            for line, text, marks in _rows(file, _state(file)):
                if texts.setdefault(text, marks) != marks:
                    clashes.append(line)
            if clashes:
                notices.append(
                    f"{file}: {len(clashes)} texts were labelled otherwise before (the first in"
                    f" line {clashes[0]}); the first labels of a text count"
                )
        return cls(texts, files, tuple(notices))

    @cached_property
    def layers(self) -> tuple[str, ...]:
        """The layers that hold marks."""
        return tuple(sorted({layer for marks in self.texts.values() for layer in marks}))

    @cached_property
    def features(self) -> frozenset[str]:
        """All features that occur."""
        labels = {
            (layer, mark.label)
            for layers in self.texts.values()
            for layer, marks in layers.items()
            for mark in marks
        }
        return frozenset(name for pair in labels for name in features_of(*pair))

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Their kinds: what stands before the colon."""
        return frozenset(name.partition(":")[0] for name in self.features)

    @cached_property
    def signature(self) -> str:
        """``labels#HASH``, the hash of texts and marks."""
        parts = (
            f"{text}\0{sorted((layer, *mark) for layer in marks for mark in marks[layer])}"
            for text, marks in self.texts.items()
        )
        return f"labels#{content_hash(*sorted(parts))}"


def _state(file: str) -> tuple[tuple[int, ...], ...]:
    """What changes when a file does, or the text that it is aligned with; of young ones, always."""
    paths = [path for path in map(Path, (file, *file.split("=", 1))) if path.exists()]
    stats = [path.stat() for path in paths]
    now = time.time()
    young = any(now - one.st_ctime < _YOUNG for one in stats)  # clocks of files tick slowly
    states = [(one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns) for one in stats]
    return (*states, (time.perf_counter_ns(),) * young)


@lru_cache(maxsize=_KEPT)
def _rows(file: str, _state: object) -> tuple[tuple[int, str, Mapping[str, Sequence[Mark]]], ...]:
    return tuple(_read(file))


def _read(file: str) -> Iterable[tuple[int, str, Mapping[str, Sequence[Mark]]]]:
    name, text = file, None
    if not Path(file).exists() and "=" in file:
        name, _, text = file.partition("=")
    suffix = Path(name.removesuffix(".gz")).suffix.lower()
    if suffix not in _READERS:
        raise FormatError(
            "labels are read from .conllu or .jsonl files (or these with .gz); rename the file or"
            " convert it",
            path=name,
        )
    return _READERS[suffix](name, text)
