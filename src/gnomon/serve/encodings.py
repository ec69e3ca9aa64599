"""In which encoding a file may be written: UTF-8 for certain, others as proposals to confirm."""

from __future__ import annotations

import codecs
import unicodedata
from typing import NamedTuple

from gnomon.serve.language import guess_language

__all__ = ["certain_encoding", "name_of", "proposals"]


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
_NAMES = {
    "utf-8-sig": "UTF-8", "utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16",
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
_FITTING = 0.3
_MOST = 3
#: bytes, and characters that are not ASCII, by which encodings are told apart
_SAMPLE, _CHARACTERS = 400_000, 4000
#: proposals are at least so likely, of 1, and at most so much less than the first
_LEAST, _BEHIND = 0.2, 0.5


class Proposal(NamedTuple):
    """An encoding in which a file can be read, and how likely its text is then."""

    encoding: str
    likely: float


def name_of(encoding: str) -> str:
    """What people call an encoding.

    >>> name_of("cp1252"), name_of("koi8-u")
    ('Windows-1252 (Western European)', 'KOI8-U')
    """
    return _NAMES.get(encoding, encoding.upper())


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


def proposals(data: bytes) -> list[Proposal]:
    """Encodings in which a file that is not UTF-8 may be written, the likeliest first.

    >>> [p.encoding for p in proposals("Grüße".encode("utf-16"))]
    ['utf-16']
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark) and mark != codecs.BOM_UTF8:
            return [Proposal(encoding, 1.0)] if _decodes(data, encoding) else []
    wide = _wide(data)
    if wide is not None or b"\0" in data:
        return [] if wide is None or not _decodes(data, wide) else [Proposal(wide, 1.0)]
    sample = _sample(data)
    likely: dict[str, Proposal] = {}
    for encoding in _CANDIDATES:
        try:
            text = sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        fitting = _FITTING if _is_of(encoding, text) else 0.0
        proposal = Proposal(encoding, _likelihood(text) + fitting)
        likely.setdefault(text, proposal)
    ordered = sorted(likely.values(), key=lambda proposal: -proposal.likely)
    best = ordered[0].likely if ordered else 0.0
    kept = [p for p in ordered if p.likely >= max(_LEAST, best - _BEHIND)]
    return [proposal for proposal in kept if _decodes(data, proposal.encoding)][:_MOST]


def _is_of(encoding: str, text: str) -> bool:
    """Whether a text is in a language that an encoding was made for."""
    language = guess_language(text.splitlines())
    if language is None or language not in _LANGUAGES[encoding].split():
        return False
    letters, share = _FREQUENT.get(language, (frozenset(), 0.0))
    others = sum(not character.isascii() for character in text)
    return sum(character in letters for character in text) >= share * others


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return "\0" not in text


def _wide(data: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of its Latin letters and line ends is 0."""
    zeros = [data[at::2].count(0) for at in (1, 0)]
    ends = [
        sum(data[at : at + 2] == end for at in range(0, min(len(data), _SAMPLE) - 1, 2))
        for end in (b"\n\0", b"\0\n")
    ]
    for order, encoding in enumerate(_UTF16):
        other = 1 - order
        if zeros[order] > len(data) // 8 and zeros[order] > 4 * zeros[other]:
            return encoding
        if ends[order] and not ends[other] and zeros[order] >= ends[order]:
            return encoding
    return None


def _sample(data: bytes) -> bytes:
    """The lines with bytes that are not ASCII, as many as say enough."""
    if len(data) <= _SAMPLE:
        return data
    lines, size = [], 0
    for line in data.split(b"\n"):
        if not line.isascii():
            lines.append(line)
            size += len(line)
            if size > _SAMPLE:
                break
    return b"\n".join(lines)


def _likelihood(text: str) -> float:
    """How much the characters of a text that are not ASCII look like those of words, up to 1."""
    points = count = 0.0
    padded = f" {text} "
    for at, character in enumerate(text, start=1):
        if character.isascii():
            continue
        count += 1
        points += _fitness(padded[at - 1], character, padded[at + 1])
        if count >= _CHARACTERS:
            break
    return points / count if count else 0.0


def _fitness(before: str, character: str, after: str) -> float:
    """Whether a character goes with its neighbours, from -3 to 1."""
    category = unicodedata.category(character)
    if category in _POINTS:
        return _POINTS[category]
    if category[0] not in "LM":
        return 0.7 if category[0] == "P" else -1.0
    near = [letter for letter in (before, after) if letter.isalpha()]
    mixed = any(letter.isascii() for letter in near)
    if category in ("Lo", "Lm", "Mn", "Mc"):  # no word has these beside a, b, c
        return -0.5 if mixed or "HALFWIDTH" in unicodedata.name(character, "") else 1.0
    if character.isupper() and before.islower():
        return -1.0
    if not unicodedata.name(character, "").startswith("LATIN"):
        return -1.0 if mixed else 1.0
    # words hardly consist of letters with marks alone
    return 1.0 if mixed or not near else -0.5


#: of characters that words do not have
_POINTS = {"Cc": -3.0, "Cn": -3.0, "Co": -3.0, "Zs": -0.2}
