"""Files of rubrics, in TOML: gnomon's, or the user's."""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gnomon.core.errors import FormatError, UnknownNameError, UsageError, nearest
from gnomon.core.signature import content_hash
from gnomon.data.formats import read_bytes
from gnomon.judges.rubrics import (
    ANSWER,
    ERRORS,
    FENCES,
    LANGUAGES,
    PLACE,
    QUOTE,
    TEXTS,
    AnswerKind,
    ReplyForm,
    Rubric,
    Shot,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LARGEST = 1 << 20  # bytes of a file


class _Penalties(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Penalties of errors."""

    critical: float = 25.0
    major: float = 5.0
    minor: float = 1.0
    most: float = 25.0
    counted: int | None = None


class _ShotOfFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The keys of a shot."""

    answer: str
    question: str = ""
    source: str | None = None
    candidate: str | None = None
    reference: str | None = None
    first: str | None = None
    second: str | None = None
    source_language: str | None = None
    target_language: str | None = None

    def select(self, names: Iterable[str]) -> dict[str, str]:
        """Select what is given under some names."""
        given = ((name, getattr(self, name)) for name in names)
        return {name: text.strip() for name, text in given if text is not None}


class _RubricFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The keys of a file."""

    answer: AnswerKind
    question: str
    about: str = ""
    system: str = ""
    question_with_reference: str = ""
    score_question: str = ""
    score_system: str | None = None
    scale: tuple[float, float] = (0.0, 100.0)
    higher_is_better: bool = True
    reasons: bool = False
    penalties: _Penalties | None = None
    reply: ReplyForm = "json"
    fences: bool = True
    shots: tuple[_ShotOfFile, ...] = ()


def rubric_names() -> tuple[str, ...]:
    """Names of the rubrics that gnomon brings."""
    return tuple(_read_bundled())


@functools.cache
def _read_bundled() -> Mapping[str, bytes]:
    folder = files(__package__).joinpath("prompts")
    rubrics = {
        file.name: file.read_bytes() for file in folder.iterdir() if file.name[-5:] == ".toml"
    }
    return {name.removesuffix(".toml"): rubrics[name] for name in sorted(rubrics)}


def find_rubric(name: str, *, references: bool = False) -> Rubric:
    """A rubric by its name, or read from a file of TOML.

    Args:
        name: ``gemba-da``, or the name of a file that ends in ``.toml``.
        references: take its question with a reference.

    Raises:
        UnknownNameError: there is no such rubric.
        MissingFileError: there is no such file.
        FormatError: the file is no rubric.
        UsageError: the rubric has no question with a reference.
    """
    if name in _read_bundled():
        return _read(name, _read_bundled()[name], name, references)
    if not name.endswith(".toml"):
        remedy = "name one of them, or a file of your own that ends in .toml"
        raise UnknownNameError("rubric", name, rubric_names(), remedy=remedy)
    return _read(Path(name).stem, read_bytes(name), name, references)


@functools.lru_cache(maxsize=64)
def _read(name: str, data: bytes, path: str, references: bool) -> Rubric:  # noqa: FBT001  # a part of the key
    if len(data) > _LARGEST:
        raise FormatError(f"is too large for a rubric: {len(data):,} bytes", path=path)
    try:
        given = msgspec.convert(tomllib.loads(data.decode("utf-8-sig")), _RubricFile)
    except (ValueError, RecursionError) as error:  # msgspec's and tomllib's errors are of this kind
        raise FormatError(f"is no rubric: {error}", path=path) from error
    question = given.question_with_reference if references else given.question
    if not question.strip():
        raise UsageError(
            f"the rubric {name} has no question with a reference; leave out references=True, or"
            " give its file a question_with_reference"
        )
    _check(given, question, path)
    penalties = given.penalties or _Penalties()
    costs = {severity: getattr(penalties, severity) for severity in ("critical", "major", "minor")}
    if given.answer == "errors-then-score":
        costs.pop("critical")  # ESA knows two severities
    scale = (-penalties.most, 0.0) if given.answer == "errors" else given.scale
    return Rubric(
        name=name,
        about=given.about,
        answer=given.answer,
        system=given.system.strip(),
        question=question.strip(),
        scale=scale,
        higher_is_better=given.higher_is_better,
        reasons=given.reasons,
        penalties=costs,
        most=penalties.most,
        identity=content_hash(data, question, FENCES, QUOTE),
        score_question=given.score_question.strip(),
        reply=given.reply,
        counted=penalties.counted,
        fenced=given.fences,
        shots=tuple(
            Shot(
                shot.select(TEXTS),
                shot.select(LANGUAGES),
                shot.answer.strip("\n"),
                shot.question.strip(),
            )
            for shot in given.shots
        ),
        score_system=None if given.score_system is None else given.score_system.strip(),
    )


def _check(given: _RubricFile, question: str, path: str) -> None:
    """Refuse a rubric that cannot be asked."""
    places = set(PLACE.findall(question))
    for unknown in sorted(places - {*TEXTS, *LANGUAGES}):
        near = nearest(unknown, (*TEXTS, *LANGUAGES))
        hint = f"; did you mean {{{near}}}?" if near else ""
        raise FormatError(
            f"the place {{{unknown}}} is unknown{hint}; there are"
            f" {', '.join(f'{{{name}}}' for name in (*TEXTS, *LANGUAGES))}",
            path=path,
        )
    _check_second_turn(given, places, path)
    if given.reply != "json" and given.reasons:
        raise FormatError(
            "reasons = true goes with reply = 'json' alone: plain text has no keys to tell them"
            " apart",
            path=path,
        )
    for number, shot in enumerate(given.shots, start=1):
        shown = set(PLACE.findall(shot.question or question)) - set(LANGUAGES)
        lacking = sorted(shown - set(shot.select(TEXTS)))
        if lacking:
            raise FormatError(
                f"shot {number} has no {lacking[0]}, which its question shows; give it as"
                f' {lacking[0]} = "..."',
                path=path,
            )
    needed = {"first", "second"} if given.answer == "choice" else {"candidate"}
    other = {"candidate"} if given.answer == "choice" else {"first", "second"}
    if not needed <= places or other & places:
        raise FormatError(
            f"a question whose answer is {given.answer!r} has the places"
            f" {' and '.join(f'{{{name}}}' for name in sorted(needed))}, and not"
            f" {' or '.join(f'{{{name}}}' for name in sorted(other))}",
            path=path,
        )
    least, most = given.scale
    if not -1e9 <= least < most <= 1e9:
        raise FormatError(
            f"scale is [{least:g}, {most:g}]; it must be the least and the largest score", path=path
        )
    if given.answer == "errors" and not given.higher_is_better:
        raise FormatError(
            "an answer of errors is scored by their penalties, negated: higher is better", path=path
        )


def _check_second_turn(given: _RubricFile, places: set[str], path: str) -> None:
    second = set(PLACE.findall(given.score_question))
    if bool(given.score_question.strip()) != given.answer.endswith("-then-score"):
        raise FormatError(
            "a score_question goes with answer = 'errors-then-score' or 'words-then-score', and"
            " no other",
            path=path,
        )
    if not given.score_question:
        return
    of_first = {ANSWER, ERRORS} if given.answer == "errors-then-score" else {ANSWER}
    shown = "candidate" in second and second & of_first
    if not (shown and second <= {*places, *of_first}):
        raise FormatError(
            f"a score_question has the places {{candidate}} and"
            f" {' or '.join(f'{{{name}}}' for name in sorted(of_first, reverse=True))}, and else"
            " none that the question has not",
            path=path,
        )
