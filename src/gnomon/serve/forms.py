"""Forms of the methods that a server runs, and what people send with them.

:data:`OFFERED` names methods and the few options of each; all else is for the command line. A
method declares each option once, as a parameter of its function; :func:`form_of` says how a page
asks for it, and :func:`read_form` reads what came back as the command line reads texts. Where a
text says itself what it reaches (specs of metrics, names of taggers), harmless ones are taken.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_origin

from gnomon.core.errors import GnomonError, UsageError
from gnomon.core.options import (
    MOST,
    Limits,
    Metavar,
    in_files,
    parts_of,
    reaches,
    read_texts,
)
from gnomon.core.registry import find, plain_help

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.options import Option
    from gnomon.core.registry import Method

__all__ = [
    "OFFERED",
    "Field",
    "Form",
    "Posted",
    "form_of",
    "offered_options",
    "read_form",
    "served_methods",
]

Kind: TypeAlias = Literal["number", "select", "list", "pairs", "text"]
#: method -> the options that people without a shell may set; none opens a file or runs code
OFFERED: Mapping[str, tuple[str, ...]] = {
    "score": ("metrics",),
    "compare": ("metrics", "baseline", "test", "resamples", "confidence", "seed"),
    "muler": ("metrics", "features", "pattern", "tagger", "resamples", "confidence"),
}
#: option -> what it asks for, in words, where its name is short for those who write commands
LABELS = {
    "baseline": "translation that the others are compared with",
    "confidence": "confidence of ranges",
    "features": "kinds of words",
    "metrics": "measured by",
    "pattern": "patterns of your own",
    "resamples": "random draws for ranges and tests",
    "seed": "seed of random draws",
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
        kind: "number", "select", "list" (one value a line), "pairs" (NAME=VALUE, one a line) or
            "text".
        values: its texts now.
        choices: texts that it may take, where they are few.
        minimum: the least number.
        maximum: the largest.
        step: "1" for whole numbers, else "any".
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
    minimum: float | None = None
    maximum: float | None = None
    step: str = "any"
    example: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Form:
    """All that a page asks of a method.

    Attributes:
        method: its name.
        title: what it is called.
        purpose: what it does.
        fields: in the order of the page.
        problem: what is wrong with several of them together.
    """

    method: str
    title: str
    purpose: str
    fields: tuple[Field, ...]
    problem: str = ""


@dataclass(frozen=True)
class Posted:
    """What was sent for a method.

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


#: the largest count that may be asked of a server, where an option has no limit of its own
_MOST_SERVED = 100_000


def limits_of(option: Option) -> Limits | None:
    """What a number may be on a server: counts end where nobody needs more of them."""
    limits: Limits | None = option.mark(Limits)
    if limits is None or limits.high != MOST or not _takes(option, int):
        return limits
    usual = option.default if isinstance(option.default, int) else 0
    return replace(limits, high=max(_MOST_SERVED, usual))


def form_of(
    method: Method,
    posted: Mapping[str, Sequence[str]] | None = None,
    problems: Mapping[str, str | GnomonError] | None = None,
    *,
    usual: Mapping[str, Any] | None = None,
) -> Form:
    """The form of a method."""
    wrong = {name: str(said) for name, said in (problems or {}).items()}
    fields = []
    for option in offered_options(method).values():
        field = _field(method, option, wrong.get(option.name, ""), usual or {})
        if posted is not None and field.name in posted:
            field = replace(field, values=_sent(field, posted[field.name]))
        fields.append(field)
    return Form(method.name, method.title, method.purpose, tuple(fields), wrong.get("", ""))


def _field(method: Method, option: Option, problem: str, usual: Mapping[str, Any]) -> Field:
    limits, metavar = limits_of(option), option.mark(Metavar)
    kind = kind_of(option)
    whole = kind == "number" and not _takes(option, float)
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
        minimum=limits.low if limits and kind == "number" else None,
        maximum=limits.high if limits and kind == "number" else None,
        step="1" if whole else "any",
        example=metavar.text if metavar and kind in ("text", "list", "pairs") else "",
        problem=problem,
    )


def kind_of(option: Option) -> Kind:
    """How a page asks for an option."""
    if option.named and not option.many:
        return "pairs"
    free = any(part is str for part in parts_of(option.kind))
    if option.choices and not free:
        return "select"
    if option.many:
        return "list"
    if not free and (_takes(option, int) or _takes(option, float)):
        return "number"
    return "text"


def _takes(option: Option, plain: type) -> bool:
    return plain in parts_of(option.kind)


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
    if field.kind in ("list", "pairs"):
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
    fields = {field.name: field for field in form_of(method, usual=usual).fields}
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
    offered, wrong = offered_options(method), dict(problems or {})
    specs = dict(allowed or {})
    taken: dict[str, Any] = {}
    for name, value in options.items():
        if name not in offered:
            wrong.setdefault(name, "this is not offered here")
            continue
        taken[name] = _map_texts(value, lambda text: specs.get(text, text))
        if isinstance(value, Mapping) and not _takes_pairs(offered[name]):
            wrong.setdefault(name, "this takes a value or a list, no names with values")
        if name not in wrong:
            wrong |= _out_of_reach(offered[name], taken[name], set(specs.values()))
            wrong |= _too_much(offered[name], taken[name])
    if not wrong:
        for problem in method.problems(None, taken):
            place = re.match(r"\w*", problem.option)
            wrong.setdefault(place[0] if place else "", problem.error)
    return Posted(taken, wrong)


def _too_much(option: Option, value: object) -> dict[str, str]:
    """What is wrong with numbers above what a server computes."""
    limits, numbers = limits_of(option), value if isinstance(value, list | tuple) else [value]
    most = limits.high if limits and limits != option.mark(Limits) else None
    if most is None or not any(isinstance(n, int | float) and n > most for n in numbers):
        return {}
    return {option.name: f"at most {most:,.0f} on this server"}


def _takes_pairs(option: Option) -> bool:
    """Whether names with values may be given."""
    return any(get_origin(kind) is Mapping for kind in parts_of(in_files(option).kind))


def _out_of_reach(option: Option, value: object, allowed: set[str]) -> dict[str, GnomonError]:
    """What is wrong with a value that reaches what people without a shell may not reach."""
    refused: list[str] = []

    def check(text: str) -> str:
        if text not in allowed and reaches(option, text):
            refused.append(text)
        return text

    try:
        _map_texts(value, check)
    except GnomonError as error:
        return {option.name: error}
    if not refused:
        return {}
    what = UsageError(
        f"{refused[0]!r:.80} would reach files, other machines or code, which only the owner of"
        " this server may allow"
    )
    return {option.name: what}


def _map_texts(value: Any, change: Any) -> Any:
    """A value with its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [_map_texts(member, change) for member in value]
    if isinstance(value, Mapping):
        return {name: _map_texts(member, change) for name, member in value.items()}
    return value
