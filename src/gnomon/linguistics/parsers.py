"""Trees of texts, from a tagger's dependencies or by Stanza."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from gnomon.core.cache import keys
from gnomon.core.errors import FormatError, MissingDependencyError, UsageError, not_installed
from gnomon.core.lazy import checked
from gnomon.data.formats import Tree, parse_tree
from gnomon.linguistics._tokens import sentences
from gnomon.linguistics.annotators import find_tagger, standard_tagger
from gnomon.linguistics.dependencies import constituents
from gnomon.linguistics.tagging import facts_of
from gnomon.messages.audiences import add_language, flag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.core.cache import Cache
    from gnomon.linguistics.annotators import Annotator

__all__ = ["find_parser", "parse", "standard_parser"]


# Parsers by name: what makes constituency trees of texts.


#: what labels and words in brackets cannot hold
_UNFIT = re.compile(r"[()\s]")
_WRITTEN = {"(": "-LRB-", ")": "-RRB-"}


class TreeParser(Protocol):
    """Anything that makes trees of distinct texts: None where there is none."""

    def trees(
        self,
        texts: Sequence[str],
        *,
        cache: Cache | None,
        progress: Callable[[str, int, int], None] | None,
    ) -> list[Tree | None]: ...  # one per text, several sentences side by side


def find_parser(name: str) -> TreeParser:
    """The parser of a name like ``spacy:NAME`` or ``stanza:LANGUAGE``."""
    engine, _, model = name.partition(":")
    if engine in _ENGINES and model:
        return _ENGINES[engine](model)
    annotator = find_tagger(name)
    if not set(annotator.layers) >= _LAYERS:
        raise UsageError(
            f"trees are made by stanza, or from parts of speech and heads of words, which"
            f" {annotator.name} does not give: write spacy:NAME or stanza:LANGUAGE"
        )
    return _Heads(annotator)


def standard_parser(language: str) -> str:
    """The name of the standard parser of a language: its smallest installed spaCy pipeline.

    Raises:
        MissingDependencyError: no pipeline of the language is installed.
    """
    return standard_tagger(language, "head").name


_LAYERS = frozenset(("pos", "head"))


@dataclass(frozen=True)
class _Heads:
    """Constituents from dependencies, which are kept as tags are."""

    annotator: Annotator

    def trees(
        self,
        texts: Sequence[str],
        *,
        cache: Cache | None,
        progress: Callable[[str, int, int], None] | None,
    ) -> list[Tree | None]:
        def parsing(_: str, done: int, total: int) -> None:
            if progress is not None:
                progress("parsing", done, total)

        facts, _ = facts_of(self.annotator, sorted(_LAYERS), texts, cache=cache, progress=parsing)
        return [
            _read(
                constituents(
                    [token.text for token in sentence.tokens],
                    [token.pos or "X" for token in sentence.tokens],
                    [token.head for token in sentence.tokens],
                )
            )
            for sentence in sentences(texts, facts)
        ]


@dataclass(frozen=True)
class _Stanza:
    """The constituency parser of Stanza; it divides texts into sentences itself."""

    language: str

    def __post_init__(self) -> None:
        _version("stanza", f"'{self.name}'")
        _stanza(self.language)

    @property
    def name(self) -> str:
        return f"stanza:{self.language}"

    @property
    def signature(self) -> str:
        return f"{self.name}/stanza-{_version('stanza', self.name)}"

    def trees(
        self,
        texts: Sequence[str],
        *,
        cache: Cache | None,
        progress: Callable[[str, int, int], None] | None,
    ) -> list[Tree | None]:
        names = dict(zip(texts, keys([_VERSION, self.signature], texts), strict=True))
        kept = cache.get_many(list(names.values())) if cache is not None else {}
        trees_by_text = {t: kept[key].decode() for t, key in names.items() if key in kept}
        missing = [text for text in texts if text not in trees_by_text]
        if missing and progress is not None:
            progress("parsing", 0, len(missing))
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            new = dict(zip(batch, self._parsed(batch), strict=True))
            trees_by_text |= new
            if cache is not None:
                cache.put_many({names[text]: tree.encode() for text, tree in new.items()})
            if progress is not None:
                progress("parsing", start + len(batch), len(missing))
        return [_read(trees_by_text[text]) for text in texts]

    def _parsed(self, texts: Sequence[str]) -> list[str]:
        """The sentences of each text in brackets, side by side."""
        documents = _stanza(self.language).bulk_process(list(texts))
        return [
            " ".join(_brackets(sentence.constituency) for sentence in document.sentences)
            for document in documents
        ]


_ENGINES: dict[str, Callable[[str], TreeParser]] = {"stanza": _Stanza}


@lru_cache(maxsize=2)
def _stanza(language: str) -> Any:
    stanza = importlib.import_module("stanza")
    try:
        return stanza.Pipeline(
            language,
            processors="tokenize,pos,constituency",
            download_method=None,  # nothing is fetched unasked
            verbose=False,
        )
    except (OSError, ValueError, KeyError) as error:
        raise MissingDependencyError(
            f"Stanza has no constituency parser for {language!r} on this machine ({error}); fetch"
            f" it with: python -c \"import stanza; stanza.download('{language}')\""
        ) from error


def _version(package: str, what: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise not_installed(f"the parser {what}", package, package) from None


def _brackets(node: Any) -> str:
    """A tree of Stanza, whose words have nothing below them, in brackets."""
    label = _UNFIT.sub(lambda sign: _WRITTEN.get(sign[0], "_"), str(node.label or ""))
    if not node.children:
        return label or "_"
    return f"({label} {' '.join(map(_brackets, node.children))})"


_VERSION = "constituents-1"
_BATCH = 1000


@checked
def parse(
    texts: Sequence[str],
    *,
    tagger: str | None = None,
    language: str | None = None,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Tree | None]:
    """Trees of texts: from dependencies (:func:`constituents`) or by Stanza.

    Args:
        texts: the texts; equal ones are parsed once.
        tagger: ``spacy:NAME`` or ``stanza:LANGUAGE``; by default the standard
            spaCy pipeline of the language.
        language: "en", or a pair "de-en", of which the target counts.
        cache: where what they are made of is kept between runs.
        progress: called with "parsing", texts done, texts to do.

    Returns:
        One tree per text; ``None`` for a text without words, or nested deeper than 300.

    Raises:
        UsageError: neither tagger nor language was given, or the tagger makes no trees.
        MissingDependencyError: the parser or its model is not installed.
    """
    if tagger is None and language is None:
        raise UsageError(
            "trees need a parser: name the language (",
            add_language(),
            "), or a tagger (",
            flag("tagger", "spacy:en_core_web_sm"),
            "), or give trees of your own in brackets (",
            flag("trees", "FILE.ptb"),
            ")",
        )
    parser = find_parser(tagger if tagger is not None else standard_parser(str(language)))
    distinct = list(dict.fromkeys(texts))
    trees = dict(zip(distinct, parser.trees(distinct, cache=cache, progress=progress), strict=True))
    return [trees[text] for text in texts]


def _read(tree: Tree | str | None) -> Tree | None:
    """A tree as if it had been read from brackets."""
    try:
        return parse_tree(str(tree or ""))
    except FormatError:  # nested too deeply: a text of hundreds of words without a structure
        return None
