"""Labels as CoNLL-U: ten columns per word, sentences parted by empty lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from gnomon.annotate._arcs import crossing, reach
from gnomon.annotate._facts import Mark
from gnomon.errors import AnnotationError, FormatError
from gnomon.formats import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["read_conllu"]

_COLUMNS = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC"
_ID = re.compile(r"([0-9]+)(?:([-.])([0-9]+))?")
_NER = re.compile(r"(?:^|\|)NER=(?:([BIESLU])-([^|]+)|O)(?:$|\|)")


@dataclass(frozen=True)
class _Word:
    line: int
    upos: str
    feats: str
    head: int | None
    relation: str
    entity: tuple[str, str] | None
    surface: int  # which stretch of the text bears the word


@dataclass(frozen=True)
class _Sentence:
    line: int
    text: str | None
    words: tuple[_Word, ...]
    surfaces: tuple[tuple[int, str, bool], ...]  # line, form, whether a space follows


def read_conllu(
    path: str, aligned: str | None = None
) -> Iterator[tuple[int, str, dict[str, Sequence[Mark]]]]:
    """Line number, text and marks of each sentence, or of each segment of a text file.

    Words of a multiword token (``1-2``) bear the span of the whole token; empty nodes (``1.1``)
    are left out. Without ``# text`` the text is put together from the forms.

    Args:
        path: the file.
        aligned: a text file whose segments hold one or more of the sentences each.

    Raises:
        FormatError: a line is not CoNLL-U.
        AnnotationError: the words are not those of the text.
    """
    sentences = list(_sentences(path))
    if aligned is not None:
        yield from _align(sentences, path, aligned)
        return
    for sentence in sentences:
        text = _joined(sentence) if sentence.text is None else sentence.text
        spans = _place(sentence, text, 0, path)
        rest = text[spans[-1][1] :].strip() if spans else text.strip()
        if rest:
            raise AnnotationError(
                f"{path}:{sentence.line}: after the last word the text goes on with {rest[:40]!r}"
            )
        yield sentence.line, text, _marks(sentence, spans)


def _align(
    sentences: Sequence[_Sentence], path: str, aligned: str
) -> Iterator[tuple[int, str, dict[str, Sequence[Mark]]]]:
    """Segments of a text file, each with the sentences that fill it."""
    rest = iter(sentences)
    for number, text in enumerate(read_lines(aligned), start=1):
        end = line = 0
        marks: dict[str, Sequence[Mark]] = {}
        while text[end:].strip():
            sentence = next(rest, None)
            if sentence is None:
                raise AnnotationError(
                    f"{path} ends before segment {number} of {aligned} does: no words for"
                    f" {text[end:][:60]!r}"
                )
            line = line or sentence.line
            spans = _place(sentence, text, end, path, of=f" (segment {number} of {aligned})")
            end = spans[-1][1]
            for layer, some in _marks(sentence, spans).items():
                marks[layer] = (*marks.get(layer, ()), *some)
        yield line, text, marks
    left = next(rest, None)
    if left is not None:
        raise AnnotationError(
            f"{path}:{left.line}: {aligned} ends before the labels do; both must hold the same"
            " segments"
        )


def _sentences(path: str) -> Iterator[_Sentence]:
    lines: list[tuple[int, str]] = []
    for number, line in enumerate([*read_lines(path), ""], start=1):
        if line.strip():
            lines.append((number, line))
        elif lines:
            yield _sentence(lines, path)
            lines = []


def _sentence(lines: Sequence[tuple[int, str]], path: str) -> _Sentence:
    text = None
    words: list[_Word] = []
    surfaces: list[tuple[int, str, bool]] = []
    covered = 0  # last word of the multiword token under way
    for number, line in lines:
        if line.startswith("#"):
            name, equals, value = line[1:].partition("=")
            if equals and name.strip() == "text":
                text = value.strip()
            continue
        columns = line.split("\t")
        found = _ID.fullmatch(columns[0])
        if len(columns) != 10 or found is None:
            problem = f"{len(columns)} columns parted by tabs, the first {columns[0][:20]!r}"
            _refuse(f"{problem}; a word has the ten columns {_COLUMNS}", path, number)
        first, sign = int(found[1]), found[2]
        if sign == ".":
            continue
        if first != len(words) + 1 or (sign and int(found[3]) < first):
            _refuse(f"ID {columns[0]} where {len(words) + 1} was due", path, number)
        if sign or first > covered:
            surfaces.append((number, columns[1], "SpaceAfter=No" not in columns[9].split("|")))
        if sign:
            covered = int(found[3])
        else:
            words.append(_word(columns, number, len(surfaces) - 1, path))
    if not words or covered > len(words):
        _refuse("a sentence without words, or a token that lacks some of them", path, lines[0][0])
    _check_heads(words, path)
    return _Sentence(lines[0][0], text, tuple(words), tuple(surfaces))


def _word(columns: Sequence[str], number: int, surface: int, path: str) -> _Word:
    upos, feats, head, relation, misc = (columns[i] for i in (3, 5, 6, 7, 9))
    if head != "_" and not head.isdecimal():
        _refuse(f"HEAD {head!r} is not a number", path, number)
    if feats != "_" and not all("=" in fact for fact in feats.split("|")):
        _refuse(f"FEATS {feats!r} is not Key=Value|Key=Value", path, number)
    entity = _NER.search(misc)
    return _Word(
        line=number,
        upos="" if upos == "_" else upos,
        feats="" if feats == "_" else feats,
        head=None if head == "_" else int(head),
        relation="" if relation == "_" else relation,
        entity=(entity[1], entity[2]) if entity and entity[1] else None,
        surface=surface,
    )


def _check_heads(words: Sequence[_Word], path: str) -> None:
    for word in words:
        if word.head is not None and word.head > len(words):
            _refuse(f"HEAD {word.head} in a sentence of {len(words)} words", path, word.line)


def _joined(sentence: _Sentence) -> str:
    return "".join(form + " " * space for _, form, space in sentence.surfaces).rstrip()


def _place(
    sentence: _Sentence, text: str, start: int, path: str, of: str = ""
) -> list[tuple[int, int]]:
    """Where the surface tokens of a sentence stand in its text."""
    spans = []
    for line, form, _ in sentence.surfaces:
        while text[start : start + 1].isspace():
            start += 1
        if not text.startswith(form, start):
            raise AnnotationError(
                f"{path}:{line}: the word is {form!r}, but at character {start} the text{of} has"
                f" {text[start : start + len(form) + 10]!r}"
            )
        spans.append((start, start + len(form)))
        start += len(form)
    return spans


def _marks(sentence: _Sentence, spans: Sequence[tuple[int, int]]) -> dict[str, Sequence[Mark]]:
    words = sentence.words
    pos, dep = [], []
    heads = [i if not word.head else word.head - 1 for i, word in enumerate(words)]
    reached, crossed = reach(heads), crossing(heads)
    for i, word in enumerate(words):
        start, end = spans[word.surface]
        if word.upos or word.feats:
            label = f"{word.upos}|{word.feats}" if word.feats else word.upos
            pos.append(Mark(start, end, label))
        if word.relation or reached[i]:
            label = f"{word.relation}|{reached[i]}" + "|crossing" * crossed[i]
            dep.append(Mark(start, end, label))
    found = {"pos": pos, "dep": dep, "named": _entities(words, spans)}
    return {layer: tuple(dict.fromkeys(marks)) for layer, marks in found.items() if marks}


def _entities(words: Sequence[_Word], spans: Sequence[tuple[int, int]]) -> list[Mark]:
    """Entities of BIO, BIOES or BILOU tags."""
    found: list[Mark] = []
    going = ""
    for word in words:
        place, label = word.entity or ("O", "")
        start, end = spans[word.surface]
        if place == "O":
            going = ""
        elif place in "BSU" or label != going:
            found.append(Mark(start, end, f"ent:{label}"))
            going = label
        else:
            found[-1] = Mark(found[-1].start, end, f"ent:{label}")
    return list(dict.fromkeys(found))


def _refuse(problem: str, path: str, number: int) -> NoReturn:
    raise FormatError(problem, path=path, line=number)
