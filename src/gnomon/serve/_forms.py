"""Forms of methods, made of their declared options, and what people send with them.

A method declares each option once, as a parameter of its function; :func:`form_of` says how a page
asks for it, and :func:`read_form` reads what came back as the command line reads texts. Options
whose texts open files, ask other machines or run code are not offered; where a text says itself
what it reaches (specs of metrics, names of taggers), the harmless ones are taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_origin

from gnomon.core.errors import GnomonError, UsageError
from gnomon.core.options import (
    MOST,
    Group,
    Limits,
    MachineShare,
    Metavar,
    Reaches,
    in_files,
    parts_of,
    reaches,
    read_texts,
)
from gnomon.core.registry import plain_help

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.options import Option
    from gnomon.core.registry import Method

__all__ = ["Field", "FieldGroup", "Form", "Posted", "form_of", "offered_options", "read_form"]

Kind: TypeAlias = Literal["number", "switch", "select", "checkboxes", "list", "pairs", "text"]
#: what a switch sends; before its box stands a hidden field with the second
ON, OFF = "yes", "no"
#: the choice that leaves an option at a default that is none of its choices
UNSET = ""
_OWN = "options"
#: option -> what it asks for, in words, where its name is short for those who write commands
LABELS = {
    "alpha": "largest p of a difference",
    "alternative": "what is looked for",
    "baseline": "translation that the others are compared with",
    "by": "results for parts of the texts",
    "confidence": "confidence of ranges",
    "correction": "correction for several comparisons",
    "decay": "decay of the tree kernel",
    "doses": "places changed in a text",
    "draws": "random kinds of words drawn",
    "errors": "judge by marked errors",
    "errors_kind": "kind of marked errors",
    "examples": "segments shown",
    "explainer": "how the words of a score are found",
    "explainers": "how the words of a score are found",
    "fail_if_worse": "metrics by which a worse translation fails",
    "faithfulness": "judge by deletion and insertion",
    "features": "kinds of words",
    "groups": "numbers of groups",
    "iterations": "how often to explain",
    "kinds": "kinds of changes",
    "language": "language of the texts",
    "limit": "most sentences changed",
    "lone": "segments with fewer than two trees",
    "leave_one_out": "each system judged by the misses of the others",
    "longest": "words of the longest phrase",
    "lower_is_better": "metrics where lower is better",
    "masking": "how words are covered",
    "max_calls": "most pairs of texts scored",
    "measures": "measures of diversity",
    "metrics": "measured by",
    "min_count": "least occurrences of a listed word",
    "min_drop": "smallest drop that fails",
    "ngrams": "phrases listed",
    "experiments": "what is tried",
    "perturbed_system": "whose texts are changed",
    "p": "exponent of the mean",
    "parse": "make syntax trees",
    "pattern": "patterns of your own",
    "per_segment": "figures of every segment",
    "perturb": "changes that are made",
    "pool": "translations whose misses make words hard",
    "pool_by": "scores that choose these translations",
    "resamples": "random draws for ranges and tests",
    "sample": "segments drawn",
    "scale": "scale of the metric's scores",
    "scorers": "scorers of sentences",
    "seed": "seed of random draws",
    "detection_rate": "share of pairs that shows an error",
    "segments": "segments to explain",
    "shares": "shares of words that match",
    "shift": "how importances are made positive",
    "sides": "texts that are explained",
    "tagger": "program that tells kinds of words apart",
    "test": "test of a difference",
    "tie_tolerance": "difference that counts as none",
    "tokenizer": "how texts are split into words",
    "trials": "random draws of the other test",
    "unit": "what is drawn at random",
    "variants": "how segments are averaged",
    "vocabulary": "words that are split into groups",
    "w": "weight of the metric's own score",
    "words": "words in the trees",
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
        kind: "number", "switch" (a box that sends "yes" after a hidden field "no"), "select",
            "checkboxes" (several of the choices; before them a hidden field with no text), "list"
            (one value a line), "pairs" (NAME=VALUE, one a line) or "text".
        values: its texts now.
        choices: texts that it may take, where they are few.
        minimum: the least number.
        maximum: the largest.
        step: "1" for whole numbers, else "any".
        example: what a value looks like ("NAME=REGEX").
        required: it must be given.
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
    required: bool = False
    problem: str = ""


@dataclass(frozen=True)
class FieldGroup:
    """Fields under one heading; few people need the rare ones, which pages fold away."""

    title: str
    fields: tuple[Field, ...] = ()
    rare: tuple[Field, ...] = ()


@dataclass(frozen=True)
class Form:
    """All that a page asks of a method.

    Attributes:
        method: its name.
        title: what it is called.
        answers: the question that it answers.
        groups: its fields.
        problem: what is wrong with several of them together.
    """

    method: str
    title: str
    answers: str
    groups: tuple[FieldGroup, ...]
    problem: str = ""

    @property
    def fields(self) -> Iterator[Field]:
        """All fields, in the order of the page."""
        for group in self.groups:
            yield from (*group.fields, *group.rare)


@dataclass(frozen=True)
class Posted:
    """What was sent for a method.

    Attributes:
        options: those that differ from their defaults.
        problems: option -> what is wrong with it; "": with several together.
    """

    options: Mapping[str, Any]
    problems: Mapping[str, str]


def offered_options(method: Method) -> dict[str, Option]:
    """The options of a method that people without a shell may set: of a study, and harmless."""
    names = {*method.step_options, "metrics"}
    return {n: option for n, option in method.options.items() if n in names and _is_asked(option)}


def _is_asked(option: Option) -> bool:
    """Whether an option leaves the machine alone, and its texts reach nothing or tell what."""
    marks = (mark for mark in option.marks if isinstance(mark, Reaches))
    return option.mark(MachineShare) is None and all(mark.of_text for mark in marks)


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
    problems: Mapping[str, str] | None = None,
    *,
    usual: Mapping[str, Any] | None = None,
) -> Form:
    """The form of a method."""
    wrong = problems or {}
    plain: dict[str, list[Field]] = {}
    rare: dict[str, list[Field]] = {}
    for option in offered_options(method).values():
        group = option.mark(Group)
        heading = group.title if group else _OWN
        field = _field(method, option, wrong.get(option.name, ""), usual or {})
        if posted is not None and field.name in posted:
            field = replace(field, values=_sent(field, posted[field.name]))
        plain.setdefault(heading, [])
        (rare if option.rare else plain).setdefault(heading, []).append(field)
    groups = tuple(
        FieldGroup(heading, tuple(fields), tuple(rare.get(heading, ())))
        for heading, fields in plain.items()
    )
    return Form(method.name, method.title, method.answers, groups, wrong.get("", ""))


def _field(method: Method, option: Option, problem: str, usual: Mapping[str, Any]) -> Field:
    limits, metavar = limits_of(option), option.mark(Metavar)
    kind = kind_of(option)
    whole = kind == "number" and not _takes(option, float)
    choices = tuple(map(str, option.choices))
    default = () if option.required else texts_of(usual.get(option.name, option.default))
    if kind == "select" and not set(default) <= set(choices):
        choices = (*default, *choices)
    if kind == "select" and not default:
        choices = (UNSET, *choices)
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
        required=option.required,
        problem=problem,
    )


def kind_of(option: Option) -> Kind:
    """How a page asks for an option."""
    if option.switch:
        return "switch"
    if option.named and not option.many:
        return "pairs"
    free = any(part is str for part in parts_of(option.kind))
    if option.choices and not free:
        return "checkboxes" if option.many else "select"
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
    if isinstance(value, bool):
        return (ON if value else OFF,)
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
    if field.kind == "checkboxes":
        return tuple(text for text in texts if text)
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
    problems: dict[str, str] = {}
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
            problems[name] = str(error)
    return checked(method, options, problems, allowed=allowed)


def _read(option: Option, texts: tuple[str, ...]) -> dict[str, Any]:
    if option.switch:
        return {option.name: texts[-1:] == (ON,)}
    if not texts and option.many and option.default:
        return {option.name: []}
    if not texts:
        return {}
    return {option.name: read_texts(option, texts)}


def checked(
    method: Method,
    options: Mapping[str, Any],
    problems: Mapping[str, str] | None = None,
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
            wrong.setdefault(place[0] if place else "", str(problem.error))
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


def _out_of_reach(option: Option, value: object, allowed: set[str]) -> dict[str, str]:
    """What is wrong with a value that reaches what people without a shell may not reach."""
    refused: list[str] = []

    def check(text: str) -> str:
        if text not in allowed and reaches(option, text):
            refused.append(text)
        return text

    try:
        _map_texts(value, check)
    except GnomonError as error:
        return {option.name: str(error)}
    if not refused:
        return {}
    what = UsageError(
        f"{refused[0]!r:.80} would reach files, other machines or code, which only the owner of"
        " this server may allow"
    )
    return {option.name: str(what)}


def _map_texts(value: Any, change: Any) -> Any:
    """A value with its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [_map_texts(member, change) for member in value]
    if isinstance(value, Mapping):
        return {name: _map_texts(member, change) for name, member in value.items()}
    return value
