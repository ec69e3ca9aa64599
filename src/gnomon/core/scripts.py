"""Scripts of texts, and words of languages without spaces."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = [
    "FULL_STOPS",
    "UNSPACED",
    "UNSPACED_SCRIPTS",
    "base_language",
    "is_unspaced",
    "latin_share",
    "main_script",
    "script_counts",
    "spaced_words",
    "split_words",
    "unit_of_words",
    "unspaced_language",
    "unspaced_letters",
    "word_pattern",
]

#: scripts in which what stands between spaces is no word, and the language that each is taken for
UNSPACED_SCRIPTS = {
    "HAN": "zh",
    "KANA": "ja",
    "HANGUL": "ko",
    "THAI": "th",
    "LAO": "lo",
    "KHMER": "km",
    "MYANMAR": "my",
    "TIBETAN": "bo",
}
#: what ends a sentence in scripts that have no "."
FULL_STOPS = {
    **dict.fromkeys(("HAN", "KANA"), "。"),
    **dict.fromkeys(("DEVANAGARI", "BENGALI", "GURMUKHI", "ORIYA"), "।"),
    "KHMER": "។", "MYANMAR": "။", "TIBETAN": "།", "ETHIOPIC": "።", "ARMENIAN": "։",
}  # fmt: skip
#: their letters, as the inside of a class of characters
UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_RUNS = re.compile(f"[{UNSPACED}]+")
_SPACED = re.compile(r"\S+")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_LANGUAGES = frozenset((*UNSPACED_SCRIPTS.values(), "dz"))
#: codes of three letters, and languages that are written alike
_ALIKE = {
    "bod": "bo", "cmn": "zh", "dzo": "dz", "jpn": "ja", "khm": "km", "kor": "ko", "lao": "lo",
    "lzh": "zh", "mya": "my", "tha": "th", "wuu": "zh", "yue": "zh", "zho": "zh",
}  # fmt: skip
#: an English word has about five letters, and a Chinese character is about a word
_LETTERS_OF_A_WORD = 5
#: of the letters in Japanese, at least so many are kana
_KANA = 0.1
_CLEAR = 0.8  # of the letters are of one script
#: below, and between the two others, no letter of these scripts stands
_FIRST, _SIGNS, _MORE = 0x0E00, 0x2000, 0x2E80


@lru_cache
def word_pattern(joining: str = "", *, signs: bool = True, syllables: bool = False) -> Any:
    """Pattern of the words of a text: no word is cut at a combining mark.

    In scripts without spaces each letter, with its marks, counts as a word.

    Args:
        joining: what joins the parts of a word, as a part of a pattern.
        signs: find single signs of punctuation, too.
        syllables: cut Korean into syllables, for what spaces part there holds several words.

    >>> word_pattern().findall("बीयर वाकई, 你好")
    ['बीयर', 'वाकई', ',', '你', '好']
    """
    import regex

    single = UNSPACED if syllables else f"{UNSPACED}--\uac00-\ud7af"
    letters = rf"[\w--[{single}]--_]+"
    joined = rf"{letters}(?:(?:{joining}){letters})*" if joining else letters
    kinds = [rf"(?!\p{{M}})[{single}]\p{{M}}*", joined, *([r"[^\w\s]", "_"] if signs else [])]
    return regex.compile("|".join(kinds), flags=regex.VERSION1)


def spaced_words(text: str) -> list[tuple[int, int]]:
    """Where words stand that spaces part, and letters of scripts in which none does.

    >>> spaced_words("a cat, 你好")
    [(0, 1), (2, 6), (7, 8), (8, 9)]
    """
    if not _has_unspaced(text):  # \S and str.split() agree on what is white space
        return [match.span() for match in _SPACED.finditer(text)]
    return [match.span() for match in _letters_and_words().finditer(text)]


def split_words(text: str) -> list[str]:
    """The words of :func:`spaced_words`.

    >>> split_words("a cat, 你好")
    ['a', 'cat,', '你', '好']
    """
    found: list[str] = _letters_and_words().findall(text) if _has_unspaced(text) else text.split()
    return found


def _has_unspaced(text: str) -> bool:
    return _UNSPACED_LETTER.search(text) is not None


@lru_cache
def _letters_and_words() -> Any:
    import regex

    single = f"{UNSPACED}--\\uac00-\\ud7af"
    pattern = rf"(?!\p{{M}})[{single}]\p{{M}}*|[\S--[{single}]]+"
    return regex.compile(pattern, flags=regex.VERSION1)


def unit_of_words(words: Iterable[str]) -> str:
    """Name of words, in English: characters where most are one of a script without spaces.

    >>> unit_of_words(["你", "ที่", "London"]), unit_of_words(["a", "house"])
    ('character', 'word')
    """
    some = list(words)
    single = sum(_is_letter(word) for word in some)
    return "character" if 2 * single > len(some) else "word"


def _is_letter(word: str) -> bool:
    """True if it is a letter of a script without spaces, with its marks."""
    marks = all(unicodedata.category(char)[0] == "M" for char in word[1:])
    return marks and _UNSPACED_LETTER.match(word) is not None


def base_language(language: str | None) -> str:
    """A language's code without its region, in the form of two letters where there is one.

    >>> base_language("zh_TW"), base_language("jpn"), base_language(None)
    ('zh', 'ja', '')
    """
    code = (language or "").split("_")[0].lower()
    return _ALIKE.get(code, code)


def is_unspaced(language: str | None) -> bool:
    """True if what stands between spaces is no word in a language.

    Korean is among these: its spaces part phrases of a word and its particles.
    """
    return base_language(language) in _LANGUAGES


def unspaced_letters(text: str) -> int:
    """Number of letters of a text in scripts whose words no space parts."""
    return sum(map(len, _RUNS.findall(text)))


def unspaced_language(texts: Iterable[str | None]) -> str | None:
    """The language that the script of texts tells, where spaces do not part its words.

    The letters of all texts together decide: one in five is enough, for names, code and whole
    sentences in Latin letters do no harm to a tokeniser of such a script, and the other way round
    a sentence counts as one word.

    >>> unspaced_language(["我们明天去London。"]), unspaced_language(["wir fahren morgen"])
    ('zh', None)
    """
    given = [text for text in texts if text]
    if all(map(str.isascii, given)):
        return None
    joined = "".join(given)
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    if not bool(np.any((codes >= _MORE) | ((codes >= _FIRST) & (codes < _SIGNS)))):
        return None
    counts = script_counts(joined)
    unspaced = {script: counts[script] for script in UNSPACED_SCRIPTS if counts[script]}
    if not unspaced or _LETTERS_OF_A_WORD * sum(unspaced.values()) < counts.total():
        return None
    return UNSPACED_SCRIPTS[max(unspaced, key=lambda script: unspaced[script])]


def latin_share(texts: Iterable[str]) -> float:
    """The share of a-z, A-Z and 0-9 among all letters and digits of texts; 1 where there is none.

    >>> latin_share(["Sony と東京"])
    0.5714285714285714
    """
    joined = "".join(texts)
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    distinct, counts = np.unique(codes, return_counts=True)
    read = whole = 0
    for letter, count in zip(map(chr, distinct.tolist()), counts.tolist(), strict=True):
        if letter.isalnum():
            whole += count
            read += count if letter.isascii() else 0
    return read / whole if whole else 1.0


def script_counts(text: str) -> Counter[str]:
    """Count letters of a text by script; Japanese kanji count as kana."""
    counts: Counter[str] = Counter()
    numbers = np.bincount(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4"))
    there = np.flatnonzero(numbers)
    for letter, count in zip(map(chr, there.tolist()), numbers[there].tolist(), strict=True):
        if letter.isalpha() or _script(letter) in UNSPACED_SCRIPTS:
            counts[_script(letter)] += count
    kana = counts.pop("HIRAGANA", 0) + counts.pop("KATAKANA", 0)
    if kana > _KANA * (kana + counts["HAN"]):
        counts["KANA"] = kana + counts.pop("HAN", 0)
    return +counts


def main_script(text: str) -> str | None:
    """The script of most letters of a text; None where none is clear."""
    counts = script_counts(text)
    script, most = max(counts.items(), key=lambda item: item[1], default=("", 0))
    return script if most and most >= _CLEAR * counts.total() else None


@lru_cache(maxsize=20_000)
def _script(letter: str) -> str:
    word = unicodedata.name(letter, "?").split()[0].partition("-")[0]
    return "HAN" if word == "CJK" else word
