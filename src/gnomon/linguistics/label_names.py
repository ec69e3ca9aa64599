"""The user's own labels: marks of each text, by file."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from gnomon.core.errors import AnnotationError, FormatError, LengthMismatchError, UsageError
from gnomon.core.signature import content_hash
from gnomon.data.formats import read_lines
from gnomon.linguistics._tokens import TaggedWord, marks_of_words
from gnomon.linguistics.facts import Mark
from gnomon.linguistics.feature_names import features_of
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.messages import Message

__all__ = ["Labels"]


# Labels as CoNLL-U: ten columns per word, sentences parted by empty lines.


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
    lemma: str
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
    """
    sentences = list(_sentences(path))
    if aligned is not None:
        yield from _align(sentences, path, aligned)
        return
    for sentence in sentences:
        text = _join(sentence) if sentence.text is None else sentence.text
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
        match = _ID.fullmatch(columns[0])
        if len(columns) != 10 or match is None:
            problem = f"{len(columns)} columns parted by tabs, the first {columns[0][:20]!r}"
            _refuse_line(f"{problem}; a word has the ten columns {_COLUMNS}", path, number)
        first, sign = int(match[1]), match[2]
        if sign == ".":
            continue
        if first != len(words) + 1 or (sign and int(match[3]) < first):
            _refuse_line(f"ID {columns[0]} where {len(words) + 1} was due", path, number)
        if sign or first > covered:
            surfaces.append((number, columns[1], "SpaceAfter=No" not in columns[9].split("|")))
        if sign:
            covered = int(match[3])
        else:
            words.append(_word(columns, number, len(surfaces) - 1, path))
    if not words or covered > len(words):
        _refuse_line(
            "a sentence without words, or a token that lacks some of them", path, lines[0][0]
        )
    _check_heads(words, path)
    return _Sentence(lines[0][0], text, tuple(words), tuple(surfaces))


def _check_heads(words: Sequence[_Word], path: str) -> None:
    for word in words:
        if word.head is not None and word.head > len(words):
            _refuse_line(f"HEAD {word.head} in a sentence of {len(words)} words", path, word.line)


def _word(columns: Sequence[str], number: int, surface: int, path: str) -> _Word:
    lemma, upos, feats, head, relation, misc = (columns[i] for i in (2, 3, 5, 6, 7, 9))
    if head != "_" and not head.isdecimal():
        _refuse_line(f"HEAD {head!r} is not a number", path, number)
    if feats != "_" and not all("=" in fact for fact in feats.split("|")):
        _refuse_line(f"FEATS {feats!r} is not Key=Value|Key=Value", path, number)
    entity = _NER.search(misc)
    return _Word(
        line=number,
        upos="" if upos == "_" else upos,
        feats="" if feats == "_" else feats,
        head=None if head == "_" else int(head),
        relation="" if relation == "_" else relation,
        entity=(entity[1], entity[2]) if entity and entity[1] else None,
        lemma="" if lemma == "_" != columns[1] else lemma,
        surface=surface,
    )


def _join(sentence: _Sentence) -> str:
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
    words = [
        TaggedWord(
            *spans[word.surface],
            f"{word.upos}|{word.feats}" if word.feats else word.upos,
            word.lemma,
            word.relation,
            word.head - 1 if word.head else place,
        )
        for place, word in enumerate(sentence.words)
    ]
    layers = {**marks_of_words(words), "named": _entities(sentence.words, spans)}
    return {layer: tuple(marks) for layer, marks in layers.items() if marks}


def _entities(words: Sequence[_Word], spans: Sequence[tuple[int, int]]) -> list[Mark]:
    """Entities of BIO, BIOES or BILOU tags."""
    marks: list[Mark] = []
    going = ""
    for word in words:
        letter, label = word.entity or ("O", "")
        start, end = spans[word.surface]
        if letter == "O":
            going = ""
        elif letter in "BSU" or label != going:
            marks.append(Mark(start, end, f"ent:{label}"))
            going = label
        else:
            marks[-1] = Mark(marks[-1].start, end, f"ent:{label}")
    return list(dict.fromkeys(marks))


def _refuse_line(problem: str, path: str, number: int) -> NoReturn:
    raise FormatError(problem, path=path, line=number)


# Labels as JSON lines: character spans of one segment per line.


class _LabelledSpan(msgspec.Struct, gc=False):
    start: int
    end: int
    label: str


class _LabelledText(msgspec.Struct, gc=False):
    spans: list[_LabelledSpan]
    text: str | None = None


class _FeatureNames(dict[str, str]):
    """The feature of each label that is one."""

    def __missing__(self, label: str) -> str:
        if not label.strip() or "\n" in label:
            raise KeyError(label)
        name = self[label] = label if ":" in label else f"label:{label}"
        return name


_SHAPE = '{"text": "...", "spans": [{"start": 0, "end": 4, "label": "ent:PERSON"}]}'
_LABEL, _LABEL_AND_START = attrgetter("label"), attrgetter("label", "start")


def read_jsonl(
    path: str, aligned: str | None = None
) -> Iterator[tuple[int, str, dict[str, Sequence[Mark]]]]:
    """Line number, text and marks of each segment."""
    lines = read_lines(path)
    texts = None if aligned is None else read_lines(aligned)
    if texts is not None and len(texts) != len(lines):
        raise LengthMismatchError(
            f"{path} labels {len(lines)} segments, {aligned} has {len(texts)}; give one object per"
            " segment"
        )
    decode, features = msgspec.json.Decoder(_LabelledText).decode, _FeatureNames()
    for number, line in enumerate(lines, start=1):
        plain = _plain(line, decode, features) if texts is None else None
        if plain is not None:
            yield number, *plain
            continue
        record = _record(line, path, number)
        text = record.get("text", None if texts is None else texts[number - 1])
        if not isinstance(text, str):
            _refuse_record("'text' is missing", path, number)
        if texts is not None and text != texts[number - 1]:
            raise AnnotationError(
                f"{path}:{number}: the text is {text[:60]!r}, but segment {number} of {aligned} is"
                f" {texts[number - 1][:60]!r}"
            )
        marks = sorted({_mark(span, text, path, number) for span in record["spans"]})
        _check_overlaps(marks, path, number)
        yield number, text, {"named": tuple(marks)}


def _plain(
    line: str, decode: Callable[[str], _LabelledText], features: Mapping[str, str]
) -> tuple[str, dict[str, Sequence[Mark]]] | None:
    """Text and marks of a line in which no span meets another; None for all others, wrong or not.

    There may be millions of lines, and nearly all of them are such.
    """
    try:
        line_record = decode(line)
        marks = [  # as Mark(...) does, in two thirds of the time
            tuple.__new__(Mark, (span.start, span.end, features[span.label]))
            for span in line_record.spans
        ]
    except (msgspec.MsgspecError, KeyError, RecursionError):
        return None
    if line_record.text is None:
        return None
    marks.sort()
    last = 0
    for start, end, _ in marks:
        if not last <= start < end:
            return None
        last = end
    return (line_record.text, {"named": tuple(marks)}) if last <= len(line_record.text) else None


def _record(line: str, path: str, number: int) -> dict[str, Any]:
    if not line.strip():
        _refuse_record("the line is empty, where a segment's object was due", path, number)
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON ({error}); write {_SHAPE}", path=path, line=number) from error
    if not isinstance(record, dict) or not isinstance(record.get("spans"), list):
        _refuse_record("not an object with a list 'spans'", path, number)
    value: dict[str, Any] = record
    return value


def _mark(span: object, text: str, path: str, number: int) -> Mark:
    if not isinstance(span, dict):
        _refuse_record(f"span {span!r} is not an object", path, number)
    start, end, label = span.get("start"), span.get("end"), span.get("label")
    if type(start) is not int or type(end) is not int:
        _refuse_record(f"'start' and 'end' of span {span!r} are not whole numbers", path, number)
    if not isinstance(label, str) or not label.strip() or "\n" in label:
        _refuse_record(f"'label' of span {span!r} is not a name", path, number)
    if not 0 <= start < end <= len(text):
        raise AnnotationError(
            f"{path}:{number}: span {start}:{end} ({label}) does not fit its text of {len(text)}"
            " characters; spans are half-open code points, 0 <= start < end <= length"
        )
    return Mark(start, end, label if ":" in label else f"label:{label}")


def _check_overlaps(marks: Sequence[Mark], path: str, number: int) -> None:
    for mark, other in pairwise(sorted(marks, key=_LABEL_AND_START)):
        if mark.label == other.label and other.start < mark.end:
            raise AnnotationError(
                f"{path}:{number}: spans {mark.start}:{mark.end} and {other.start}:{other.end} of"
                f" {mark.label} overlap; spans of one feature must not"
            )


def _refuse_record(problem: str, path: str, number: int) -> NoReturn:
    raise FormatError(f"{problem}; write {_SHAPE}", path=path, line=number)


#: files; those who label system after system need the references' labels each time
_KEPT = 3
#: seconds
_YOUNG = 1.0
_READERS = {".conllu": read_conllu, ".conll": read_conllu, ".jsonl": read_jsonl}


@dataclass(frozen=True)
class Labels:
    """Labels by text: references and candidates alike are looked up by their very characters.

    Attributes:
        texts: for each text, layer -> marks. Layer ``named`` holds marks whose label is the whole
            name of a feature; ``pos`` and ``dep`` are as ``Mark`` says; ``token`` holds all that
            CoNLL-U says of each word.
        files: where they come from.
        notices: texts that occur with two different labellings (the first one counts).
    """

    texts: Mapping[str, Mapping[str, Sequence[Mark]]]
    files: tuple[str, ...]
    notices: tuple[Message, ...] = ()
    #: the states that the files had
    _states: tuple[object, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def read(cls, paths: Iterable[str | PathLike[str]]) -> Labels:
        """Read label files: CoNLL-U (``.conllu``) or JSONL of character spans (``.jsonl``).

        CoNLL-U gives ``pos``, ``morph`` and ``dep`` features, and ``ent`` where column MISC holds
        ``NER=B-PER`` (BIO or BIOES). JSONL has one object per segment::

            {"text": "Ann paid.", "spans": [{"start": 0, "end": 3, "label": "ent:PERSON"}]}

        A label without a kind (``idiom``) becomes ``label:idiom``.

        Args:
            paths: the files, also compressed (``.gz``). ``LABELS=TEXT`` aligns the labels with
                the segments of a text file: JSONL objects may then lack ``text``, and one segment
                may hold several CoNLL-U sentences.

        Raises:
            UsageError: no file, or one with another suffix, is given.
            MissingFileError: a file does not exist.
            FormatError: a file is not what its suffix says.
            AnnotationError: labels do not fit their text.
            LengthMismatchError: labels and text file have unequal numbers of segments.
        """
        texts: dict[str, Mapping[str, Sequence[Mark]]] = {}
        notices = []
        files = tuple(str(path) for path in paths)
        if not files:
            raise UsageError("no label file was given; name .conllu or .jsonl files")
        states = tuple(map(_state, files))
        for file, state in zip(files, states, strict=True):
            clashes = []
            for line, text, marks in _rows(file, state):
                if texts.setdefault(text, marks) != marks:
                    clashes.append(line)
            if clashes:
                n, line = len(clashes), clashes[0]
                notices.append(message("note.labelled_twice", file=file, texts=n, line=line))
        return cls(texts, files, tuple(notices), states)

    @cached_property
    def layers(self) -> tuple[str, ...]:
        """The layers that hold marks."""
        return tuple(sorted({layer for marks in self.texts.values() for layer in marks}))

    @cached_property
    def features(self) -> frozenset[str]:
        """All features that occur."""
        labels: dict[str, set[str]] = {layer: set() for layer in self.layers}
        for layers in self.texts.values():
            for layer, marks in layers.items():
                labels[layer].update(map(_LABEL, marks))
        pairs = ((layer, label) for layer, some in labels.items() for label in some)
        return frozenset(name for pair in pairs for name in features_of(*pair))

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Their kinds: what stands before the colon."""
        return frozenset(name.partition(":")[0] for name in self.features)

    @cached_property
    def signature(self) -> str:
        """``labels#HASH``, the hash of texts and marks (without lemmas and heads)."""
        parts: Mapping[str, str] = {}
        if 0 < len(self._states) <= _KEPT:  # of more files nothing is remembered
            described = [*map(_describe_file, self.files, self._states)]
            parts = dict(pair for texts in reversed(described) for pair in texts.items())
        parts = parts or _describe(self.texts.items())
        return f"labels#{content_hash(*sorted(parts.values()))}"

    @cached_property
    def token_signature(self) -> str:
        """The same with lemmas and heads."""
        tokens = (f"{text}\0{marks.get('token')}" for text, marks in self.texts.items())
        return f"labels#{content_hash(self.signature, *sorted(tokens))}"


def _describe(rows: Iterable[tuple[str, Mapping[str, Sequence[Mark]]]]) -> dict[str, str]:
    """Describe each text for a signature: the text and the sorted list of its marks."""
    spelled: dict[str, str] = {}
    descriptions: dict[str, str] = {}
    for text, layers in rows:
        marks = [
            f"('{layer}', {start}, {end}, {spelled.get(label) or _spell(label, spelled)})"
            for layer in sorted(layers)
            if layer != "token"
            for start, end, label in sorted(layers[layer])
        ]
        descriptions.setdefault(text, f"{text}\0[{', '.join(marks)}]")
    return descriptions


def _spell(label: str, spelled: dict[str, str]) -> str:
    spelled[label] = repr(label)
    return spelled[label]


def _state(file: str) -> tuple[tuple[int, ...], ...]:
    """State of files and the texts that they are aligned with; of young ones, always another."""
    paths = [path for path in map(Path, (file, *file.split("=", 1))) if path.exists()]
    stats = [path.stat() for path in paths]
    now = time.time()
    young = any(now - stat.st_ctime < _YOUNG for stat in stats)  # clocks of files tick slowly
    states = [(stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for stat in stats]
    return (*states, (time.perf_counter_ns(),) * young)


@lru_cache(maxsize=_KEPT)
def _rows(file: str, _state: object) -> tuple[tuple[int, str, Mapping[str, Sequence[Mark]]], ...]:
    return tuple(_read(file))


@lru_cache(maxsize=_KEPT)
def _describe_file(file: str, state: object) -> Mapping[str, str]:
    return _describe((text, marks) for _, text, marks in _rows(file, state))


def _read(file: str) -> Iterable[tuple[int, str, Mapping[str, Sequence[Mark]]]]:
    name, text = file, None
    if not Path(file).exists() and "=" in file:
        name, _, text = file.partition("=")
    suffix = Path(name.removesuffix(".gz")).suffix.lower()
    if suffix not in _READERS:
        raise FormatError(
            "labels are read from .conllu or .jsonl files (or these with .gz); rename the file or"
            " convert it",
            path=name,
        )
    return _READERS[suffix](name, text)
