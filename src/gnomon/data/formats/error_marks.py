"""Errors as texts mark them (``<v>``, offsets of browsers), and words that people tagged as wrong.

A file of tags has one line per segment and one tag per token: ``OK`` or ``BAD``, ``0`` or ``1``.
Tags of a target may also speak of what is missing: ``2n + 1`` tags for n tokens are gap, word,
gap, ..., word, gap (WMT 2018 to 2021); ``n + 1`` are the words and the end of the sentence, which
the tokenised text writes as ``<EOS>`` (WMT 2022). All lines of a file are of one kind.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from gnomon.core.spans import ErrorSpan, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gnomon.data.formats.rows import FileRecord

__all__ = [
    "KIND",
    "MarkedText",
    "SpanEnds",
    "TaggedText",
    "decode_browser_span",
    "ends_of_spans",
    "is_within_word",
    "realign",
    "remove_whitespace",
    "strip_doubled_quotes",
    "strip_marks",
    "strip_quotes",
    "tagged_errors",
    "unmark",
]


# Where an error stands: marks in a text, offsets of other tools, texts that differ in spaces.


_MARK = re.compile(r"</?v>")


class MarkedText(NamedTuple):
    """A text without its marks, and from the first mark's start to the last one's end."""

    text: str
    span: Span | None


def unmark(text: str) -> MarkedText | None:
    """Take ``<v>`` and ``</v>`` out of a text; None where they do not pair up.

    >>> unmark("a <v>big</v> dog")
    MarkedText(text='a big dog', span=Span(start=2, end=5))
    """
    if "v>" not in text:
        return MarkedText(text, None)
    clean, ends, last, opened = "", [], 0, False
    for match in _MARK.finditer(text):
        clean += text[last : match.start()]
        last = match.end()
        if (match.group() == "<v>") == opened:
            return None
        opened = not opened
        ends.append(len(clean))
    if opened:
        return None
    return MarkedText(clean + text[last:], Span(ends[0], ends[-1]) if ends else None)


def strip_marks(text: str) -> str:
    """A text without its marks, whether they pair up or not."""
    return _MARK.sub("", text)


def strip_quotes(text: str) -> str:
    """A field that a spreadsheet wrote in quotation marks, as it was meant.

    >>> strip_quotes('"He said ""no""."')
    'He said "no".'
    """
    inner = text[1:-1]
    whole = len(text) > 1 and text[0] == text[-1] == '"'
    return inner.replace('""', '"') if whole and '"' not in inner.replace('""', "") else text


def strip_doubled_quotes(field: str) -> str:
    """A field without a spreadsheet's quotation marks, which double those inside.

    Marks that double none may be the text's own, and are kept.
    """
    return strip_quotes(field) if '""' in field[1:-1] else field


def remove_whitespace(text: str) -> str:
    """A text without its white space."""
    return "".join(text.split())


def realign(span: Span, text: str, target: str) -> Span | None:
    """A span of one text in another that differs in white space at most; None if it differs more.

    >>> realign(Span(3, 5), "a  big dog", "a big dog")
    Span(start=2, end=4)
    """
    if text == target:
        return span
    if remove_whitespace(text) != remove_whitespace(target):
        return None
    before = len(remove_whitespace(text[: span.start]))
    inside = len(remove_whitespace(text[span.start : span.end]))
    places = [i for i, c in enumerate(target) if not c.isspace()]
    if not inside:
        return Span(len(target), len(target))
    return Span(places[before], places[before + inside - 1] + 1)


#: what the end of a span is in a file: its last character, or the one behind it
SpanEnds: TypeAlias = Literal["last", "behind"]
_FEWEST_ENDS = 20  # spans, below which words are cut by chance
_MANY_ENDS = 0.3  # share of them


class EndsOfSpans(NamedTuple):
    """Where some spans end, as shares of them."""

    spans: int
    cut: float
    cut_longer: float
    spaced: float

    @property
    def doubt(self) -> str:
        """The likelier kind of ends, where they were taken for another; else empty.

        People mark words. Read a character too short, most spans end within one; a character too
        long, with the space behind one. Scripts without spaces tell nothing.
        """
        if self.spans < _FEWEST_ENDS:
            return ""
        if self.cut >= _MANY_ENDS and self.cut >= 3 * self.cut_longer:
            return (
                f"{self.cut:.0%} of {self.spans:,} error spans end within a word, and"
                f" {self.cut_longer:.0%} would if the end of a span were its last character"
                " (ends='last'; gnomon data convert --span-ends last)"
            )
        if self.spaced >= _MANY_ENDS:
            return (
                f"{self.spaced:.0%} of {self.spans:,} error spans end with white space, as if the"
                " end of a span were the character behind it (ends='behind'; gnomon data convert"
                " --span-ends behind)"
            )
        return ""


def ends_of_spans(spans: Iterable[tuple[Span, str]]) -> EndsOfSpans:
    """Where spans end in their texts; empty ones are left out.

    >>> text = "a big dog"
    >>> ends_of_spans([(Span(2, 4), text), (Span(2, 6), text)])
    EndsOfSpans(spans=2, cut=0.5, cut_longer=0.5, spaced=0.5)
    """
    n = cut = longer = spaced = 0
    for span, text in spans:
        if span.end > span.start:
            n += 1
            cut += is_within_word(text, span.end)
            longer += is_within_word(text, span.end + 1)
            spaced += text[: span.end][-1:].isspace()
    total = max(n, 1)
    return EndsOfSpans(n, cut / total, longer / total, spaced / total)


def is_within_word(text: str, at: int) -> bool:
    """True if a place in a text stands between two letters or digits."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def decode_browser_span(start: int, last: int, text: str) -> Span | None:
    """Half-open code points from a browser's inclusive UTF-16 units, line ends not counted."""
    units = [i for i, c in enumerate(text) if c != "\n" for _ in range(1 + (ord(c) > 0xFFFF))]
    if not 0 <= start < len(units) or last < start:
        return None
    return Span(units[start], units[min(last, len(units) - 1)] + 1)


# Words that people tagged as wrong, as error spans.


KIND = "word-tags"
WORD, GAP = "word", "gap"
SEVERITY = "bad"
_WRONG = {"OK": False, "BAD": True, "0": False, "1": True}
_EOS = "<EOS>"
_WAYS = {  # tags = a * tokens + b
    "one for each token": (1, 0),
    "one for each token and each gap (2n + 1)": (2, 1),
    "one for each token and the end (n + 1)": (1, 1),
}
_WORDS, _GAPS, _END = _WAYS


class TaggedText(NamedTuple):
    """The tags of one segment, and where they stand."""

    tags: str
    tokenised: str
    text: str
    row: FileRecord
    column: str = ""


def tagged_errors(
    segments: Sequence[TaggedText], system: str, side: str, *, gaps: bool = False
) -> list[ErrorSpan]:
    """The tagged words and gaps, one span each, in the order of the segments."""
    tags = [tagged.tags.split() for tagged in segments]
    way = _way(segments, [len(marks) for marks in tags], tuple(_WAYS) if gaps else (_WORDS,))
    errors: list[ErrorSpan] = []
    for segment, tagged in enumerate(segments):
        spans = _token_spans(tagged, _tokens(tagged, way, len(tags[segment])))
        wrong = [_is_wrong(tag, tagged) for tag in tags[segment]]
        for category, span in _wrong_spans(spans, wrong, way, len(tagged.text)):
            errors.append(ErrorSpan(system, segment, side, *span, category, SEVERITY, kind=KIND))
    return errors


def _tokens(tagged: TaggedText, way: str, tags: int) -> list[str]:
    """Tokens stand between plain spaces; other white space ends one only if the tags say so."""
    plain = _drop_end_token([token for token in tagged.tokenised.split(" ") if token], tagged.text)
    if _fits(way, len(plain), tags):
        return plain
    return _drop_end_token(tagged.tokenised.split(), tagged.text)


def _drop_end_token(tokens: list[str], text: str) -> list[str]:
    marked = tokens[-1:] == [_EOS] and not text.rstrip().endswith(_EOS)
    return tokens[:-1] if marked else tokens


def _fits(way: str, tokens: int, tags: int) -> bool:
    times, more = _WAYS[way]
    return tags == times * tokens + more


def _way(segments: Sequence[TaggedText], counts: Sequence[int], allowed: Sequence[str]) -> str:
    """Name the file's way to count: the one that fits most lines, and then must fit all."""
    fitting = {
        way: [
            _fits(way, len(_tokens(tagged, way, tags)), tags)
            for tagged, tags in zip(segments, counts, strict=True)
        ]
        for way in allowed
    }
    best = max(allowed, key=lambda way: sum(fitting[way]))
    if not all(fitting[best]):
        at = fitting[best].index(False)
        tagged, words = segments[at], len(_tokens(segments[at], best, counts[at]))
        ways = best if any(fitting[best]) else "; or ".join(allowed)
        raise tagged.row.error(
            f"{tagged.column or 'the line'} has {counts[at]} tags for {words} tokens; expected are"
            f" {ways}: {tagged.tokenised[:60]!r}"
        )
    return best


def _token_spans(tagged: TaggedText, tokens: Sequence[str]) -> list[Span]:
    bare = [remove_whitespace(token) for token in tokens]
    if "".join(bare) != remove_whitespace(tagged.text):
        raise tagged.row.error(
            f"the tagged tokens {tagged.tokenised[:60]!r} are not the text {tagged.text[:60]!r};"
            " only white space may differ"
        )
    positions = [i for i, c in enumerate(tagged.text) if not c.isspace()] + [len(tagged.text)]
    spans, start = [], 0
    for token in bare:
        end = start + len(token)
        behind = positions[end - 1] + 1 if token else positions[start]
        spans.append(Span(positions[start], behind))
        start = end
    return spans


def _is_wrong(tag: str, tagged: TaggedText) -> bool:
    if tag not in _WRONG:
        raise tagged.row.error(f"the tag {tag!r} is unknown; OK and BAD, or 0 and 1, are expected")
    return _WRONG[tag]


def _wrong_spans(
    words: Sequence[Span], wrong: Sequence[bool], way: str, length: int
) -> Iterator[tuple[str, Span]]:
    gaps = [Span(word.start, word.start) for word in words] + [Span(length, length)]
    if way == _GAPS:
        spans = [span for both in zip(gaps, words, strict=False) for span in both] + [gaps[-1]]
    else:
        spans = [*words, gaps[-1]]
    for number, (span, is_wrong) in enumerate(zip(spans, wrong, strict=False)):
        if is_wrong:
            gap = number % 2 == 0 if way == _GAPS else number == len(words)
            yield (GAP if gap else WORD), span
