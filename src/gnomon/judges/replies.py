"""Judges' replies, read strictly: a reply that cannot be read is missing."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.spans import ErrorSpan, Span
from gnomon.judges.plain_replies import choice_in, errors_in, number_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.judges.client import ChatAnswer
    from gnomon.judges.rubrics import Rubric

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_NUMBER = r"[+-]?\d{1,9}(?:\.\d{1,9})?"
_SIDES = {"translation": "candidate", "candidate": "candidate", "source": "source"}
_MOST_ERRORS = 1000
_MOST_OBJECTS = 64


class QuotedError(NamedTuple):
    """An error as a judge quotes it.

    Attributes:
        quote: the words that it is about; may be empty.
        side: "candidate" or "source".
        category: what kind of error it is.
        severity: how bad.
    """

    quote: str
    side: str
    category: str
    severity: str


class JudgeReply(NamedTuple):
    """Content of an answer.

    Attributes:
        score: on the rubric's scale; NaN where nothing can be read.
        errors: in the order in which they were named.
        choice: "first", "second" or "tie", of pairs; else empty.
        missing: why nothing can be read: "refused", "rejected" (the server could not take the
            question), "cut" or "unreadable"; empty where it can.
        reason: what the judge gives as its reason; empty where it gives none.
        text: the answer as it was written; of two turns, the second.
        first: likewise the answer of the first of two turns; else empty.
        lowered: errors that it calls critical under a rubric that knows none, which count as major.
    """

    score: float
    errors: tuple[QuotedError, ...] = ()
    choice: str = ""
    missing: str = ""
    reason: str = ""
    text: str = ""
    first: str = ""
    lowered: int = 0


def read_reply(answer: ChatAnswer, rubric: Rubric) -> JudgeReply:
    """Read an answer under a rubric."""
    if answer.rejected:
        return _missing("rejected")
    if answer.refused:
        return _missing("refused")
    cut = answer.finish == "length"
    reply = _read(strip_thoughts(answer.text), rubric, cut=cut)
    reply = reply or _missing("cut" if cut else "unreadable")
    return reply._replace(text=answer.text)


def strip_thoughts(text: str) -> str:
    """An answer without what stands in think tags before it."""
    return _THOUGHT.sub("", text).strip()


def listed_errors(errors: Sequence[QuotedError]) -> str:
    """Errors as a question shows them that asks for a score: a line of JSON for each.

    >>> listed_errors([])
    '(none)'
    """
    return (
        "\n".join(json.dumps(error._asdict(), ensure_ascii=False) for error in errors) or "(none)"
    )


def remarks_of(replies: Sequence[JudgeReply]) -> dict[str, str]:
    """Remarks of a judge on an output, by what it is; numbered where it was asked several times.

    >>> remarks_of([JudgeReply(70.0, reason="stiff", text='{"score": 70}')])
    {'reason': 'stiff', 'answer': '{"score": 70}'}
    """
    said: dict[str, str] = {}
    for number, reply in enumerate(replies, start=1):
        of = f" {number}" if len(replies) > 1 else ""
        words = {"reason": reply.reason, "first answer": reply.first, "answer": reply.text}
        said |= {f"{name}{of}": text for name, text in words.items() if text}
    return said


def mean_score(replies: Sequence[JudgeReply]) -> float:
    """The mean of the scores that can be read; NaN where there is none."""
    scores = [reply.score for reply in replies if math.isfinite(reply.score)]
    return float(np.mean(scores)) if scores else math.nan


def _missing(why: str) -> JudgeReply:
    return JudgeReply(math.nan, missing=why)


def _read(text: str, rubric: Rubric, *, cut: bool) -> JudgeReply | None:
    if rubric.plain:
        return None if cut else _reply_of_plain(text, rubric)
    key = {"errors": "errors", "choice": "better"}.get(rubric.answer, "score")
    try:
        objects = [given for given in json_objects(text) if key in given]
    except _RepeatedKeyError:
        return None
    if any(given != objects[0] for given in objects[1:]):
        return None  # it says different things
    if objects:
        return _reply_of_object(objects[0], rubric)
    if rubric.answer == "score" and not cut and "{" not in text:  # what begins one is broken
        return _reply_of_words(text, rubric)
    return None


class _RepeatedKeyError(ValueError):
    """An object of an answer has a key twice, so that it says different things."""


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    given = dict(pairs)
    if len(given) < len(pairs):
        raise _RepeatedKeyError
    return given


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in an answer, outermost ones; what stands in think tags before is no answer.

    Raises:
        ValueError: an object has a key twice.

    >>> list(json_objects('<think>{"a": 1}?</think> Well: {"a": 2} or {"a": {"b": 3}'))
    [{'a': 2}, {'b': 3}]
    """
    text = _THOUGHT.sub("", text)
    decoder, at = json.JSONDecoder(object_pairs_hook=_refuse_repeated_keys), text.find("{")
    for _ in range(_MOST_OBJECTS):
        if at < 0:
            return
        try:
            given, end = decoder.raw_decode(text, at)
        except _RepeatedKeyError:
            raise
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield given
        at = text.find("{", end)


def _reply_of_object(given: dict[str, Any], rubric: Rubric) -> JudgeReply | None:
    if rubric.answer == "choice":
        choice = given["better"]
        if choice not in ("first", "second", "tie"):
            return None
        return JudgeReply(math.nan, choice=choice, reason=_reason(given))
    if rubric.answer == "errors":
        errors = _errors(given["errors"], rubric)
        if errors is None:
            return None
        lowered = sum(_severity(error) not in rubric.penalties for error in given["errors"])
        return penalised(errors, rubric)._replace(reason=_reason(given), lowered=lowered)
    score = _score(given["score"], rubric)
    return None if score is None else JudgeReply(score, reason=_reason(given))


def _reason(given: dict[str, Any]) -> str:
    reason = given.get("reasons", given.get("reason"))
    return reason.strip() if isinstance(reason, str) else ""


def penalised(errors: Sequence[QuotedError], rubric: Rubric) -> JudgeReply:
    """Errors, and the score that is made of them: their cost, negated."""
    costs = sorted((rubric.penalties[error.severity] for error in errors), reverse=True)
    return JudgeReply(0.0 - min(rubric.most, sum(costs[: rubric.counted])), tuple(errors))


def _reply_of_plain(text: str, rubric: Rubric) -> JudgeReply | None:
    """Read the words of an answer, by the rule of the rubric."""
    if rubric.answer == "words":
        return JudgeReply(math.nan, reason=text) if text else None
    if rubric.answer == "choice":
        choice = choice_in(text)
        return None if choice is None else JudgeReply(math.nan, choice=choice)
    if rubric.answer == "errors":
        listed = errors_in(text)
        if listed is None or len(listed) > _MOST_ERRORS:
            return None
        errors = [
            QuotedError(
                error.quote,
                "source" if error.of_source else "candidate",
                error.category,
                counted_as(error.severity, rubric),
            )
            for error in listed
        ]
        lowered = sum(error.severity not in rubric.penalties for error in listed)
        return penalised(errors, rubric)._replace(lowered=lowered)
    score = number_in(text, *rubric.scale)
    return None if score is None else JudgeReply(score)


def _reply_of_words(text: str, rubric: Rubric) -> JudgeReply | None:
    """A number alone, or one that is called the score."""
    most = re.escape(f"{rubric.scale[1]:g}")
    plain = text.strip().strip("*").strip()
    whole = re.fullmatch(rf"({_NUMBER})(?:\s*/\s*{most})?\.?", plain)
    named = re.findall(
        rf"\bscore\b\W{{0,5}}(?:is\s+)?({_NUMBER})(?!\w|\.\d)(?:\s*/\s*{most})?",
        text,
        re.IGNORECASE,
    )
    values = {float(number) for number in ([whole[1]] if whole else named)}
    score = _score(values.pop(), rubric) if len(values) == 1 else None
    return None if score is None else JudgeReply(score)


def _score(given: object, rubric: Rubric) -> float | None:
    """A score on the scale; None where it is no number or beyond."""
    if isinstance(given, str):
        most = re.escape(f"{rubric.scale[1]:g}")
        match = re.fullmatch(rf"\s*({_NUMBER})(?:\s*/\s*{most})?\s*", given)
        given = float(match[1]) if match else None
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    least, most_ = rubric.scale
    return float(given) if least <= given <= most_ else None


def _errors(given: object, rubric: Rubric) -> tuple[QuotedError, ...] | None:
    """Errors as they are named; None where one has no severity that costs are known of."""
    if not isinstance(given, list) or len(given) > _MOST_ERRORS:
        return None
    errors = []
    for error in given:
        if not isinstance(error, dict):
            return None
        severity = counted_as(_severity(error), rubric)
        side = _SIDES.get(str(error.get("side") or "translation").strip().lower())
        if severity not in rubric.penalties or side is None:
            return None
        quote, category = error.get("quote"), error.get("category")
        errors.append(
            QuotedError(
                quote if isinstance(quote, str) else "",
                side,
                category.strip() if isinstance(category, str) else "",
                severity,
            )
        )
    return tuple(errors)


def _severity(error: dict[str, Any]) -> str:
    return str(error.get("severity", "")).strip().lower()


def counted_as(severity: str, rubric: Rubric) -> str:
    """The severity that an error counts as: the gravest that the rubric knows for a graver one."""
    is_graver = severity == "critical" and severity not in rubric.penalties
    return "major" if is_graver else severity


# Places of quoted errors.


def located(quote: str, text: str, taken: Sequence[Span] = ()) -> Span | None:
    """Where quoted words stand in a text: as they are, else without regard to case and spaces.

    Args:
        quote: the words.
        text: where they are sought.
        taken: spans of the same words that were found before, which are left out.

    Returns:
        The first span that is not taken; None where there is none, or the quote is empty.

    >>> located("a  CAT", "This is a cat.")
    Span(start=8, end=13)
    """
    words = quote.split()
    if not words:
        return None
    exact = re.escape(quote.strip())
    loose = r"\s+".join(map(re.escape, words))
    for pattern, flags in ((exact, 0), (loose, re.IGNORECASE)):
        for match in re.finditer(pattern, text, flags):
            span = Span(*match.span())
            if span not in taken:
                return span
    return None


def error_spans(
    judgements: Sequence[JudgeReply],
    texts: dict[str, str],
    rubric: Rubric,
    *,
    system: str,
    segment: int,
    rater: str,
) -> tuple[list[ErrorSpan], Counter[str]]:
    """The errors that a judge's repetitions quote from one output, where they can be found.

    Returns spans in the order of their start, each once, with the share of readable repetitions
    that mark it as confidence, where there are several; and counts: "quoted", "lost" (quotes that
    the text does not hold).
    """
    counts: Counter[str] = Counter()
    marks: dict[tuple[str, Span, str], list[str]] = {}
    readable = [reply for reply in judgements if not reply.missing]
    for reply in readable:
        taken: dict[str, list[Span]] = {}
        for error in reply.errors:
            counts["quoted"] += 1
            before = taken.setdefault(f"{error.side} {error.quote}", [])
            span = located(error.quote, texts.get(error.side, ""), before)
            if span is None:
                counts["lost"] += 1
                continue
            before.append(span)
            marks.setdefault((error.side, span, error.severity), []).append(error.category)
    spans = [
        ErrorSpan(
            system=system,
            segment=segment,
            side=side,
            start=span.start,
            end=span.end,
            category=Counter(categories).most_common(1)[0][0],
            severity=severity,
            rater=rater,
            kind=rubric.name,
            score=rubric.penalties[severity],
            confidence=min(1.0, len(categories) / len(readable)) if len(judgements) > 1 else None,
            by="judge",
        )
        for (side, span, severity), categories in marks.items()
    ]
    return sorted(spans, key=lambda span: (span.start, span.end, span.side, span.severity)), counts
