"""Forms of the methods that a server runs, and what people send with them.

:data:`OFFERED` names methods and the few options of each; all else is for the command line. A
method declares each option once, as a parameter of its function; :func:`form_of` says how a page
asks for it, and :func:`read_form` reads what came back as the command line reads texts. Where a
text says itself what it reaches (specs of metrics, names of taggers), harmless ones are taken.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gnomon.core.errors import GnomonError, UsageError
from gnomon.core.options import Metavar, reaches, read_texts, union_members
from gnomon.core.registry import find, plain_help

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.options import Option
    from gnomon.core.registry import Method

__all__ = [
    "OFFERED",
    "Field",
    "Posted",
    "form_of",
    "offered_options",
    "read_form",
    "served_methods",
]

Kind: TypeAlias = Literal["select", "lines", "text"]
#: method -> the options that people without a shell may set; none opens a file or runs code
OFFERED: Mapping[str, tuple[str, ...]] = {
    "score": ("metrics",),
    "compare": ("metrics", "baseline", "test", "resamples", "confidence", "seed"),
    "muler": ("metrics", "features", "pattern", "tagger", "resamples", "confidence"),
    "check": ("kinds", "baseline", "tagger", "resamples", "confidence", "seed"),
    "errors": ("features", "side", "pattern", "tagger", "resamples", "confidence"),
    "metaeval": ("levels", "test", "baseline", "resamples", "confidence", "seed"),
}
#: option -> what it asks for, in words, where its name is short for those who write commands
LABELS = {
    "baseline": "translation that the others are compared with",
    "confidence": "confidence of ranges",
    "features": "kinds of words",
    "kinds": "kinds of faults",
    "levels": "what is judged",
    "metrics": "measured by",
    "pattern": "patterns of your own",
    "resamples": "random draws for ranges and tests",
    "seed": "seed of random draws",
    "side": "side whose errors are counted",
    "tagger": "program that tells kinds of words apart",
    "test": "test of a difference",
}
#: option -> what it means on a page, where its help speaks of Python
_HELP = {
    "metrics": "names of metrics, as bleu, chrf and ter; with settings as chrf(word_order=2)",
}


@dataclass(frozen=True)
class Field:
    """One option on a page.

    Attributes:
        name: of the form field.
        option: of the option.
        label: what stands before it.
        help: what it means.
        kind: "select", "lines" (one value or NAME=VALUE a line) or "text".
        values: its texts now.
        choices: texts that it may take, where they are few.
        example: what a value looks like ("NAME=REGEX").
        problem: what is wrong with what was sent.
    """

    name: str
    option: str
    label: str
    help: str
    kind: Kind
    values: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    example: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Posted:
    """The form that was sent for a method.

    Attributes:
        options: those that differ from their defaults.
        problems: option -> what is wrong with it; "": with several together.
    """

    options: Mapping[str, Any]
    problems: Mapping[str, str | GnomonError]


@functools.cache
def served_methods() -> Mapping[str, Method]:
    """Methods that a comparison may take."""
    return {name: find(name) for name in OFFERED}


def offered_options(method: Method) -> dict[str, Option]:
    """The options of a method that people without a shell may set."""
    return {name: method.options[name] for name in OFFERED[method.name]}


def form_of(
    method: Method,
    posted: Mapping[str, Sequence[str]] | None = None,
    problems: Mapping[str, str | GnomonError] | None = None,
    *,
    usual: Mapping[str, Any] | None = None,
) -> list[Field]:
    """The form of a method, in the order of the page."""
    wrong = {name: str(said) for name, said in (problems or {}).items()}
    fields = []
    for option in offered_options(method).values():
        field = _field(method, option, wrong.get(option.name, ""), usual or {})
        if posted is not None and field.name in posted:
            field = replace(field, values=_sent(field, posted[field.name]))
        fields.append(field)
    return fields


def _field(method: Method, option: Option, problem: str, usual: Mapping[str, Any]) -> Field:
    metavar, kind = option.mark(Metavar), kind_of(option)
    choices = tuple(map(str, option.choices))
    default = texts_of(usual.get(option.name, option.default))
    if kind == "select" and not default:
        choices = ("", *choices)
    return Field(
        name=f"{method.name}:{option.name}",
        option=option.name,
        label=LABELS.get(option.name, option.name.replace("_", " ")),
        help=_HELP.get(option.name) or plain_help(option, titles=True),
        kind=kind,
        values=default,
        choices=choices,
        example=metavar.text if metavar else "",
        problem=problem,
    )


def kind_of(option: Option) -> Kind:
    """Kind of the control with which a page asks for an option."""
    if option.many or option.is_mapping:
        return "lines"
    return "select" if option.choices and str not in union_members(option.kind) else "text"


def texts_of(value: object) -> tuple[str, ...]:
    """A value as the texts that a form shows; reading them gives it again."""
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return tuple(f"{name}={text}" for name, text in value.items())
    if isinstance(value, list | tuple):
        return tuple(text for member in value for text in texts_of(member))
    return (repr(value) if isinstance(value, float) else str(value),)


def _sent(field: Field, texts: Sequence[str]) -> tuple[str, ...]:
    """The texts of a field as they were sent: lists line by line, without empty lines."""
    if field.kind == "lines":
        lines = (line.strip() for text in texts for line in text.splitlines())
        return tuple(line for line in lines if line)
    last = texts[-1] if texts else ""
    return (last.strip(),) if last.strip() else ()


def read_form(
    method: Method,
    posted: Mapping[str, Sequence[str]],
    *,
    allowed: Mapping[str, str] | None = None,
    usual: Mapping[str, Any] | None = None,
) -> Posted:
    """The options that a form says, and what is wrong with it."""
    fields = {field.name: field for field in form_of(method, usual=usual)}
    defaults = {field.option: field.values for field in fields.values()}
    texts: dict[str, tuple[str, ...]] = {}
    problems: dict[str, str | GnomonError] = {}
    for name, sent in posted.items():
        if name in fields:
            texts[fields[name].option] = _sent(fields[name], sent)
        elif name.startswith(f"{method.name}:"):
            problems[name.partition(":")[2]] = "this is not offered here"
    options: dict[str, Any] = {}
    for name, given in texts.items():
        option = method.options[name]
        if given == defaults[name]:
            continue  # the default, which need not be said
        try:
            options |= _read(option, given)
        except GnomonError as error:
            problems[name] = error
    return checked(method, options, problems, allowed=allowed)


def _read(option: Option, texts: tuple[str, ...]) -> dict[str, Any]:
    if not texts and option.many and option.default:
        return {option.name: []}
    if not texts:
        return {}
    return {option.name: read_texts(option, texts)}


def checked(
    method: Method,
    options: Mapping[str, Any],
    problems: Mapping[str, str | GnomonError] | None = None,
    *,
    allowed: Mapping[str, str] | None = None,
) -> Posted:
    """Options as a study may have them, and what is wrong with them: reach, types, limits."""
    wrong, specs = dict(problems or {}), dict(allowed or {})
    taken = dict(options)
    if "metrics" in taken:
        taken["metrics"] = [specs.get(text, text) for text in taken["metrics"]]
    for name, value in taken.items():
        wrong |= _out_of_reach(method.options[name], value, set(specs.values()))
    if not wrong:
        for problem in method.problems(None, taken):
            place = re.match(r"\w*", problem.option)
            wrong.setdefault(place[0] if place else "", problem.error)
    return Posted(taken, wrong)


def _out_of_reach(option: Option, value: object, allowed: set[str]) -> dict[str, GnomonError]:
    """Problems of values that reach what people without a shell may not reach."""
    texts = value.values() if isinstance(value, Mapping) else value
    several = [texts] if isinstance(texts, str) else texts if isinstance(texts, Iterable) else []
    for text in several:
        try:
            reached = isinstance(text, str) and text not in allowed and reaches(option, text)
        except GnomonError as error:
            return {option.name: error}
        if reached:
            what = UsageError(
                f"{text!r:.80} would reach files, other machines or code, which only the owner of"
                " this server may allow"
            )
            return {option.name: what}
    return {}
