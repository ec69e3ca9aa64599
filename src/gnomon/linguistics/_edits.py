"""Edits of texts by offset: deletion, replacement and exchange, with white space and capitals."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator


_PLACE = itemgetter(0, 1)


class Edit(NamedTuple):
    """Characters ``start`` to ``end`` (half-open) become ``new``; an empty span inserts it."""

    start: int
    end: int
    new: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with some edits made; nothing else of it changes.

    >>> apply_edits("the old cat", [Edit(8, 11, "dog"), Edit(4, 7, "big")])
    'the big dog'

    Args:
        text: the text.
        edits: disjoint edits in any order; insertions at one place follow each other as given,
            before what replaces the characters that begin there.

    Returns:
        The edited text.

    Raises:
        ValueError: edits overlap, or lie outside the text.
    """
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(edits, key=_PLACE):
        if not at <= start <= end <= len(text):
            raise ValueError(
                f"edit {start}:{end} of a text of {len(text)} characters overlaps another, or lies"
                " outside the text"
            )
        parts += (text[at:start], new)
        at = end
    return "".join([*parts, text[at:]])


# Beginnings of sentences, and their capitals.


#: marks that end a sentence, in any script
FINAL_MARKS = ".!?…‼⁇⁈⁉؟۔।॥။។៕།༎።։。．！？｡"
_CLOSING = "\"'’”»)]}〉》」』】）］｝"
_OPENING = "\"'‘“„«‹([{<¿¡"
#: quotes and brackets that open, and dashes and bullets, before the first word of a sentence
_OPENED = re.compile(rf"(?:[{re.escape(_OPENING)}]|[-–—•*]\s+)+$")
#: text up to a sentence's last mark, then white space where the script has any
_END = re.compile(
    rf"[{FINAL_MARKS}][{re.escape(_CLOSING)}]*\s+$|[。．！？｡][{re.escape(_CLOSING)}]*$"
)
#: a full stop that ends no sentence: of an initial, an ordinal ("am 3. Mai"), a title
_ABBREVIATED = re.compile(
    r"(?<!\w)([^\W\d_]|\d{1,2}|Mrs?|Ms|Drs?|Prof|Sgt|Gen|Rev|Hon|Jr|Sr|Sta?|Mme|Mlle|vs)\.\s+$"
)
_LETTER = re.compile(r"[^\W_]")


def begins_sentence(text: str, start: int) -> bool:
    """True if a word begins the text, or stands behind the final punctuation of a sentence.

    >>> begins_sentence("Yes. Mr. Ito came.", 5), begins_sentence("Yes. Mr. Ito came.", 9)
    (True, False)

    Args:
        text: the text.
        start: where the word begins; quotes, brackets, dashes and bullets that open the sentence
            may stand before it.
    """
    before = _OPENED.sub("", text[:start])
    return not before.strip() or (bool(_END.search(before)) and not _ABBREVIATED.search(before))


def _has_capital(text: str, start: int) -> bool:
    """True if a sentence begins here, and with a capital."""
    letter = text[start : start + 1]
    return (letter.isupper() or letter.istitle()) and begins_sentence(text, start)


def _capitalise(text: str) -> str:
    """The text with its first letter as a capital, as far as it has one."""
    return text[:1].title() + text[1:]


def _is_all_capitals(text: str) -> bool:
    return text.isupper() and sum(map(str.isalpha, text)) > 1


# Deletion, replacement, exchange.


def deletion(text: str, start: int, end: int) -> Edit:
    """The edit that deletes a span, so that white space and the sentence's capital stay in order.

    The white space after the span goes, too; at the end of the text, and where punctuation follows
    at once, that before it. Where the span begins a sentence with a capital, the word that then
    begins it takes one.

    >>> apply_edits("A red cat, too", [deletion("A red cat, too", 6, 9)])
    'A red, too'
    >>> apply_edits("The cat sat.", [deletion("The cat sat.", 0, 3)])
    'Cat sat.'
    """
    deleted = Edit(start, end, "")
    return next(iter(joint_edits(text, [deleted])), deleted)


def joint_edits(text: str, changes: Iterable[Edit], *, capitals: bool = True) -> tuple[Edit, ...]:
    """The edits that delete and replace some spans together.

    Each is what :func:`deletion` or :func:`replacement` makes of it alone, but that spans with
    nothing or white space between them are deleted as one, and that a word which replaces another
    takes the capital of what is deleted before it.

    >>> apply_edits("The cat", joint_edits("The cat", [Edit(0, 3, ""), Edit(4, 7, "dog")]))
    'Dog'

    Args:
        text: the text.
        changes: disjoint spans in any order, and what becomes of each; "" deletes it.
        capitals: capitals of sentences and words stay in their places; else only white space does.

    Returns:
        The edits, in the order of the text.
    """
    runs: list[tuple[int, int]] = []
    edits: list[tuple[Edit, bool]] = []
    for start, end, new in sorted(changes):
        if new:
            edit = replacement(text, start, end, new) if capitals else Edit(start, end, new)
            edits.append((edit, False))
        elif runs and not text[runs[-1][1] : start].strip():
            runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
        elif start < end:
            runs.append((start, end))
    for start, end in runs:
        edit = Edit(*_extend_over_space(text, start, end), "")
        edits.append((edit, capitals and _has_capital(text, start)))
    edits.sort()
    together = [edit for edit, _ in edits]
    for number, (_, leaves_capital) in enumerate(edits):
        if leaves_capital:
            together[number : number + 2] = _pass_capital(text, *together[number : number + 2])
    return tuple(together)


def _extend_over_space(text: str, start: int, end: int) -> tuple[int, int]:
    """A span with the white space that goes with it."""
    before, after = text[:start], text[end:]
    spaces = len(after) - len(after.lstrip())
    if spaces == len(after) or _closes(after[0]):
        return len(before.rstrip()) if before.strip() else start, end
    if spaces and (not before or before[-1].isspace() or before[-1] in _OPENING):
        return start, end + spaces
    return start, end


def _pass_capital(text: str, deleted: Edit, *following: Edit) -> Iterator[Edit]:
    """A deletion, and the edit after it, such that the next word takes the capital."""
    match = _LETTER.search(text, deleted.end)
    position = match.start() if match else len(text)
    if any(edit.start <= position for edit in following):
        yield deleted
        yield from (edit._replace(new=_capitalise(edit.new)) for edit in following)
        return
    letter = text[position : position + 1]
    if letter != _capitalise(letter):
        new = text[deleted.end : position] + _capitalise(letter)
        deleted = Edit(deleted.start, position + 1, new)
    yield deleted
    yield from following


def _closes(character: str) -> bool:
    """True if a character is punctuation that stands close behind a word."""
    category = unicodedata.category(character)
    return category[0] == "P" and category not in ("Ps", "Pi")


def replacement(text: str, start: int, end: int, new: str) -> Edit:
    """The edit that puts other words in the place of a span, capitalised as that was.

    A capital that begins the sentence stays there, and words in CAPITALS (two letters or more)
    are replaced by such. Otherwise ``new`` is taken as it is.

    >>> replacement("The cat sat.", 0, 3, "a")
    Edit(start=0, end=3, new='A')
    """
    if _is_all_capitals(text[start:end]):
        return Edit(start, end, new.upper())
    return Edit(start, end, _capitalise(new) if _has_capital(text, start) else new)


def exchange(
    text: str, first: tuple[int, int], second: tuple[int, int], *, keep_capital: bool = False
) -> tuple[Edit, Edit]:
    """The edits by which two spans change places; a capital that begins a sentence stays there.

    >>> apply_edits("Red cats sat", exchange("Red cats sat", (0, 3), (4, 8)))
    'Cats red sat'

    Args:
        text: the text.
        first: start and end of a span.
        second: start and end of another.
        keep_capital: a word that leaves the beginning of a sentence has its capital anywhere (a
            name, "I", a German noun).

    Raises:
        ValueError: the spans overlap.
    """
    (start, end), (other_start, other_end) = sorted((first, second))
    if end > other_start:
        raise ValueError(f"spans {start}:{end} and {other_start}:{other_end} overlap")
    words = [text[start:end], text[other_start:other_end]]
    begins = [_has_capital(text, start), _has_capital(text, other_start)]
    for i in (0, 1):
        if begins[i] and not keep_capital and not _is_all_capitals(words[i]):
            words[i] = words[i][:1].lower() + words[i][1:]
    moved = [_capitalise(words[1 - i]) if begins[i] else words[1 - i] for i in (0, 1)]
    return Edit(start, end, moved[0]), Edit(other_start, other_end, moved[1])


@dataclass(frozen=True)
class FeatureWords:
    """The words of a feature, one for each occurrence, of which one may stand in for another.

    Attributes:
        words: the words.
    """

    words: tuple[str, ...]

    @cached_property
    def _folded(self) -> tuple[str, ...]:
        return tuple(word.casefold() for word in self.words)

    def elsewhere(self, at: float, absent: Container[str]) -> str | None:
        """A word that some texts do not have; ``None`` where there is none.

        Args:
            at: a number in [0, 1), the place from which on words are tried.
            absent: the case-folded words that it must not be.
        """
        size = len(self.words)
        start = int(at * size)
        for number in range(start, start + size):
            if self._folded[number % size] not in absent:
                return self.words[number % size]
        return None
