"""Taggers of a user's own: functions of a text, and annotators, named as ``file.py:function``."""

from __future__ import annotations

import importlib.util
import inspect
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gnomon.core.errors import AnnotationError, UsageError
from gnomon.core.signature import content_hash
from gnomon.core.user_code import import_target, is_target, module_of
from gnomon.linguistics.annotators import Annotator, engines
from gnomon.linguistics.facts import Mark
from gnomon.linguistics.feature_names import universal_features

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    TagsOfText: TypeAlias = Callable[[str], Iterable[tuple[int, int, str]]]

__all__ = ["is_own_tagger", "load_own_tagger"]


def is_own_tagger(name: str) -> bool:
    """True if a tagger is named as a function, and not as a model of an engine."""
    module = name.rpartition(":")[0]
    if not is_target(name) or module in engines():
        return False
    top = module.partition(".")[0]
    there = Path(top).is_dir() or Path(f"{top}.py").is_file()
    return module.endswith(".py") or there or importlib.util.find_spec(top) is not None


def load_own_tagger(target: str) -> Annotator:
    """The tagger of ``module:function`` or ``file.py:function``; imports, and so runs, the module.

    Args:
        target: an annotator, something without arguments that makes one, or a function of a text
            that gives ``(start, end, label)`` of its words: a universal part of speech, and
            morphology after bars if there is any (``NOUN|Case=Acc``).

    Raises:
        UsageError: there is no such module, or what is named is no tagger.
        UnknownNameError: the module has no such function.
    """
    _import_annotator(target)
    return _OwnTagger(target)


@dataclass(frozen=True)
class _OwnTagger:
    """A tagger from a user's code; it travels to other processes by its name."""

    name: str

    @property
    def signature(self) -> str:
        """The name, a hash of the module's file, and what an annotator says of itself."""
        file = Path(module_of(self.name).__file__ or "")
        code = content_hash(file.read_bytes()) if file.is_file() else "unknown"
        made = _import_annotator(self.name)
        own = "" if isinstance(made, _Function) else f"/{made.signature}"
        return f"{self.name}-{code}{own}"

    @property
    def layers(self) -> Mapping[str, tuple[str, ...]]:
        """The kinds of features, by layer."""
        return _import_annotator(self.name).layers

    def inventory(self, kind: str) -> Sequence[str]:
        """Names of the features of a kind."""
        return _import_annotator(self.name).inventory(kind)

    def annotate(
        self, texts: Sequence[str], layers: Sequence[str]
    ) -> Sequence[Mapping[str, Sequence[Mark]]]:
        """The marks of some layers."""
        return _import_annotator(self.name).annotate(texts, layers)


@lru_cache(maxsize=8)
def _import_annotator(target: str) -> Annotator:
    given = import_target(target)
    if isinstance(given, Annotator) and not isinstance(given, type):
        return given
    if not callable(given):
        raise UsageError(f"{target} is no tagger, but {given!r:.80}; name a function of a text")
    if inspect.signature(given).parameters:
        return _Function(target, cast("TagsOfText", given))
    made = given()
    if not isinstance(made, Annotator):
        raise UsageError(f"{target} makes no annotator, but {made!r:.80}")
    return made


@dataclass(frozen=True)
class _Function:
    """A function that tells the parts of speech of a text."""

    name: str
    function: TagsOfText

    @property
    def signature(self) -> str:
        return self.name

    @property
    def layers(self) -> Mapping[str, tuple[str, ...]]:
        return {"pos": ("pos", "morph")}

    def inventory(self, kind: str) -> Sequence[str]:
        return universal_features(kind)

    def annotate(
        self, texts: Sequence[str], layers: Sequence[str]
    ) -> Sequence[Mapping[str, Sequence[Mark]]]:
        return [dict.fromkeys(layers, self._marks(text)) for text in texts]

    def _marks(self, text: str) -> Sequence[Mark]:
        try:
            marks = [Mark(int(s), int(e), str(label)) for s, e, label in self.function(text)]
        except Exception as error:  # a user's function may fail in any way
            raise AnnotationError(
                f"tagger {self.name} failed on {text[:80]!r}: {type(error).__name__}: {error};"
                " it must give (start, end, label) for each word"
            ) from error
        return sorted(marks)
