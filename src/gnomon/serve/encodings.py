"""Detection of encodings: UTF-8 for certain, others as proposals to confirm."""

from __future__ import annotations

import codecs
import unicodedata
from itertools import islice

from gnomon.serve.language import guess_language

__all__ = ["ENCODINGS", "certain_encoding", "proposals"]


_UTF16 = ("utf-16-le", "utf-16-be")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: the likely ones first: they win where several give the same text
_CANDIDATES = (
    "cp1252", "cp1250", "cp1251", "koi8-r", "cp1253", "cp1254", "cp1255", "cp1256", "iso8859-2",
    "shift_jis", "euc-jp", "gb18030", "big5", "euc-kr",
)  # fmt: skip
#: encoding -> what people call it
ENCODINGS = {
    "utf-8": "UTF-8", "utf-8-sig": "UTF-8 (with a mark)", "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 (little endian)", "utf-16-be": "UTF-16 (big endian)",
    "utf-32": "UTF-32", "cp1252": "Windows-1252 (Western European)",
    "cp1250": "Windows-1250 (Central European)", "cp1251": "Windows-1251 (Cyrillic)",
    "koi8-r": "KOI8-R (Russian)", "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)", "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)", "iso8859-2": "ISO-8859-2 (Central European)",
    "shift_jis": "Shift JIS (Japanese)", "euc-jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)", "big5": "Big5 (Chinese)", "euc-kr": "EUC-KR (Korean)",
}  # fmt: skip
#: languages that encodings were made for; of two that fit alike, that of the text's language
_LANGUAGES = {
    "cp1252": "en de fr es pt it nl sv da nb fi is ca gl eu ga af id ms et",
    "cp1250": "pl cs sk hu ro hr sl sq bs", "iso8859-2": "pl cs sk hu ro hr sl sq bs",
    "cp1251": "ru uk be bg sr mk", "koi8-r": "ru", "cp1253": "el", "cp1254": "tr",
    "cp1255": "he", "cp1256": "ar fa ur", "shift_jis": "ja", "euc-jp": "ja", "gb18030": "zh",
    "big5": "zh", "euc-kr": "ko",
}  # fmt: skip
#: characters that are frequent where no words are counted, and their least share of all others
_FREQUENT = {
    "zh": (frozenset("的一是不了在人有我他这這中大来來上个個国國们們就到说說和地为為子"), 0.03),
    "ja": (frozenset("のにはをたがでてとしれさいるなもっかりま"), 0.15),
    "ko": (frozenset("이다는의에가을하고한를은로기지서사도"), 0.15),
}
#: proposals at most, the lines and characters by which they are told apart, and how much less
#: likely than the first one others may be
_MOST, _LINES, _CHARACTERS, _BEHIND = 3, 2000, 4000, 0.5
#: categories of characters that words consist of, but for the first letter of some
_OF_WORDS = ("Ll", "Lo", "Mn", "Mc")


def certain_encoding(data: bytes) -> str | None:
    """UTF-8, with or without a byte order mark, where a file is that; else None.

    >>> certain_encoding("Grüße".encode()), certain_encoding("Grüße".encode("cp1252"))
    ('utf-8', None)
    """
    if b"\0" in data:
        return None
    try:
        codecs.utf_8_decode(data, "strict", True)  # noqa: FBT003  # takes no names
    except UnicodeDecodeError:
        return None
    return "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"


def proposals(data: bytes) -> list[str]:
    """Encodings in which a file that is not UTF-8 may be written, the likeliest first.

    >>> proposals("Grüße".encode("utf-16"))
    ['utf-16']
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark) and mark != codecs.BOM_UTF8:
            return [encoding] if _decoded(data, encoding) else []
    if b"\0" in data:  # in UTF-16 without a mark, lines end in one of two ways
        return [encoding for encoding in _UTF16 if "\n" in _decoded(data, encoding)]
    telling = (line for line in data.split(b"\n") if not line.isascii())
    sample = b"\n".join(islice(telling, _LINES))
    likely: dict[str, tuple[float, str]] = {}
    for encoding in _CANDIDATES:
        if text := _decoded(sample, encoding):
            likely.setdefault(text, (_likelihood(text, encoding), encoding))
    ordered = sorted(likely.values(), key=lambda each: -each[0])
    kept = [name for points, name in ordered if points >= ordered[0][0] - _BEHIND]
    return [encoding for encoding in kept if _decoded(data, encoding)][:_MOST]


def _decoded(data: bytes, encoding: str) -> str:
    """A text; empty where it is none in this encoding."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return ""
    return "" if "\0" in text else text


def _likelihood(text: str, encoding: str) -> float:
    """Likelihood that a text is of a language that its encoding was made for, up to 2."""
    others = [character for character in text if not character.isascii()][:_CHARACTERS]
    of_words = sum(unicodedata.category(character) in _OF_WORDS for character in others)
    language = guess_language(text.splitlines())
    letters, share = _FREQUENT.get(language or "", (frozenset(), 0.0))
    fits = language in _LANGUAGES[encoding].split() and sum(
        character in letters for character in others
    ) >= share * len(others)
    return of_words / max(1, len(others)) + fits
