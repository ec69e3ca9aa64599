"""Options, each declared once: by a parameter of a public function.

The parameter says its name, its type and its default, ``typing.Annotated`` its limits and what a
command line calls it beside its name, and the docstring what it means; its type may say that, too
(:class:`Help`), and the docstring then only what differs::

    def compare(testset: TestSet, metrics: Metrics = "bleu", *, resamples: Resamples = RESAMPLES):
        '''...

Args:
            resamples: resamples of the segments, for intervals; 0 for none.
        '''

Options that belong together (a recipe of training) may be the fields of a dataclass instead, which
a function takes as its own options by :func:`expand_fields`.

Everything else reads it there: the check of arguments (:func:`check_arguments`), the command line
(:func:`read_text`), study files (:func:`misfits`), and tables of the docs (:func:`options_of`).
Types that are imported for type checkers alone are known by their names.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import dataclasses
import functools
import inspect
import math
import numbers
import operator
import os
import re
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from gnomon.core.errors import UnknownNameError, UsageError, WrongTypeError, nearest
from gnomon.core.manifest import imported

if typing.TYPE_CHECKING:
    from gnomon.messages.audiences import Words

__all__ = [
    "CAPABILITIES",
    "CONFIDENCE",
    "FILES",
    "MODEL",
    "MOST",
    "RESAMPLES",
    "SEED",
    "Baseline",
    "BoundOptions",
    "By",
    "Capability",
    "Confidence",
    "Count",
    "Device",
    "DrawOptions",
    "Flags",
    "Group",
    "Help",
    "InputFile",
    "IntervalOptions",
    "Limits",
    "Metavar",
    "Misfit",
    "Needs",
    "NotInStudies",
    "Option",
    "Outcome",
    "OutputFile",
    "Positive",
    "Rare",
    "Reaches",
    "Resamples",
    "Seed",
    "Segments",
    "Share",
    "Shorthand",
    "Specs",
    "Unit",
    "Workers",
    "check_arguments",
    "check_fields",
    "describe",
    "describe_reaches",
    "documented",
    "expand_fields",
    "fields_of",
    "file_option",
    "help_texts",
    "is_outcome",
    "misfits",
    "options_of",
    "reaches",
    "read_pair",
    "read_text",
    "read_texts",
    "refusal",
    "refuse_unknown",
    "type_hints",
]

R = TypeVar("R")

#: of every draw (sacreBLEU's)
SEED = 12345
#: draws of intervals and tests, and the confidence of intervals
RESAMPLES, CONFIDENCE = 1000, 0.95
#: more of anything is a slip of the keyboard
MOST = 10**9
_MOST_SEGMENTS = 10**7  # of one test set


# What can be said of a type


@dataclass(frozen=True)
class Limits:
    """The least and the largest value that are allowed."""

    low: float | None = None  # the least; None: none
    high: float | None = None  # the largest; None: none
    words: str = ""  # what messages say of them, where numbers would not be plain

    def allow(self, value: float) -> bool:
        """True if a value lies within."""
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return low <= value <= high

    def __str__(self) -> str:
        if self.words:
            return self.words
        if self.low is None:
            return f"at most {self.high:,}"
        if self.high is None or self.high == MOST:
            return f"{self.low:g} or more"
        return f"from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Flags:
    """Further names of an option on the command line ("-pbsn")."""

    names: tuple[str, ...]
    alone: bool = False  # in place of its own, which Python has for a word that it keeps to itself


@dataclass(frozen=True)
class Shorthand:
    """Switches of the command line that stand for one value of an option ("-par" for "ar")."""

    names: tuple[str, ...]
    value: object


@dataclass(frozen=True)
class Metavar:
    """The placeholder in help for the value of an option ("NAME=FILE")."""

    text: str


@dataclass(frozen=True)
class Help:
    """The help of an option, where the docstring of the function has no other."""

    text: str


@dataclass(frozen=True)
class Group:
    """The heading of help under which an option stands."""

    title: str  # in plain words
    rare: bool = False  # few need any option of it; as :class:`Rare`


@dataclass(frozen=True)
class MachineShare:
    """The option says how much of the machine is used, and changes no result."""


@dataclass(frozen=True)
class Rare:
    """Few need the option: it stands in ``--help-all``, and not in ``--help``."""


#: what a text may reach beyond the request that holds it
Capability: TypeAlias = Literal["files", "network", "code"]
#: all capabilities, as lists give them
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)


@dataclass(frozen=True)
class Reaches:
    """Texts of the option may open files, ask other machines or run code that they name.

    Every option and every parameter of a spec whose texts do so has this mark: who takes requests
    from people whom they need not trust refuses what has it.
    """

    what: tuple[Capability, ...] = CAPABILITIES
    # tells which of these one text reaches, as `module:name` of a function that opens, asks,
    # imports and runs nothing that the text names; empty: every text reaches all of them
    of_text: str = dataclasses.field(default="", kw_only=True)

    def reached_by(self, text: str) -> frozenset[Capability]:
        """Capabilities that a text reaches."""
        if not self.of_text:
            return frozenset(self.what)
        reached: Iterable[Capability] = imported(self.of_text)(text)
        return frozenset(reached)


#: a file or folder that is no :class:`InputFile` to commands and studies
FILES = Reaches(("files",))
#: a model: a folder, or a name under which it may be fetched
MODEL = Reaches(("files", "network"))


@dataclass(frozen=True)
class Outcome(Reaches):
    """The option names a file that is written."""

    what: tuple[Capability, ...] = ("files",)


@dataclass(frozen=True)
class InputFile(Reaches):
    """The option names files that are read, and that no output may replace."""

    what: tuple[Capability, ...] = ("files",)
    # every text names a file; otherwise a text may say something else ("da", for a kind of human
    # scores) or name its file after a sign (NAME=FILE)
    sure: bool = True
    words: tuple[str, ...] = ()  # texts that name none, whatever files there are


@dataclass(frozen=True)
class Absent:
    """Names that will be asked for and are no choice, each with the reason and what to do."""

    reasons: Mapping[str, Words]


@dataclass(frozen=True)
class NotInStudies:
    """The option is not of a study, which says the same elsewhere."""


@dataclass(frozen=True)
class Needs:
    """Dependencies of results by an option: models, packages, taggers."""

    # a function, or where it lives, `module:name`. It takes the value, the language of references
    # and outputs (None: not known) and all options of the request by name, with `allow_code`, and
    # gives :class:`gnomon.core.dependencies.Dependency`
    ask: Callable[[Any, str | None, Mapping[str, Any]], Iterable[Any]] | str

    def dependencies(
        self, value: object, language: str | None, options: Mapping[str, Any]
    ) -> Iterable[Any]:
        """Dependencies of results by a value of the option."""
        ask = imported(self.ask) if isinstance(self.ask, str) else self.ask
        dependencies: Iterable[Any] = ask(value, language, options)
        return dependencies


@dataclass(frozen=True)
class Specs(Needs, Reaches):
    """Texts of the option are specs of metrics; files that these name are those of a study."""

    ask: Callable[[Any, str | None, Mapping[str, Any]], Iterable[Any]] | str = (
        "gnomon.metrics.registry:needs_of_specs"
    )
    of_text: str = dataclasses.field(
        default="gnomon.metrics.registry:reaches_of_spec", kw_only=True
    )
    words: tuple[str, ...] = ()  # texts that are no spec

    def reached_by(self, text: str) -> frozenset[Capability]:
        """Capabilities that a text reaches."""
        return frozenset() if text in self.words else super().reached_by(text)


@dataclass(frozen=True)
class Numbering:
    """Whole numbers from 1, or ranges of them ("4-6") where text gives them."""


Count: TypeAlias = Annotated[int, Limits(0, MOST), Metavar("N")]
Positive: TypeAlias = Annotated[int, Limits(1, MOST), Metavar("N")]
Workers: TypeAlias = Annotated[
    int,
    Limits(1, MOST),
    Metavar("N"),
    Rare(),
    MachineShare(),
    Help("threads for TER, chrF, masks and tests; results do not depend on it."),
]
Share: TypeAlias = Annotated[float, Limits(0, 1), Metavar("SHARE")]
Above0: TypeAlias = Annotated[float, Limits(sys.float_info.min, words="above 0"), Metavar("X")]
Below1: TypeAlias = Annotated[
    float, Limits(0, 1 - sys.float_info.epsilon, words="0 or more and below 1"), Metavar("X")
]
Seed: TypeAlias = Annotated[
    int, Limits(0), Metavar("N"), Group("intervals and tests"), Help("seed of all random draws.")
]
Resamples: TypeAlias = Annotated[
    int,
    Limits(0, MOST),
    Metavar("N"),
    Group("intervals and tests"),
    Help("draws for intervals and tests; 0: no intervals, and no tests that draw."),
]
# below 1e-12 no number of draws would do
_INNER = Limits(1e-12, 1 - 1e-12, words="strictly between 0 and 1")
Confidence: TypeAlias = Annotated[
    float,
    _INNER,
    Metavar("SHARE"),
    Group("intervals and tests"),
    Help("confidence level of the intervals, in (0, 1)."),
]
Unit: TypeAlias = Annotated[Literal["auto", "segment", "document"], Group("intervals and tests")]
Baseline: TypeAlias = Annotated[str | None, Metavar("SYSTEM")]
By: TypeAlias = Annotated[
    str | None,
    Metavar("KIND"),
    Help('also slices by "document", "domain", "length" or a label of the test set.'),
]
Device: TypeAlias = Annotated[
    str | None, Metavar("NAME"), Help("cpu, cuda or cuda:1; by default a GPU if there is one.")
]
Segments: TypeAlias = Annotated[Sequence[int] | None, Numbering(), Limits(1), Metavar("N")]
OutputFile: TypeAlias = Annotated[
    "str | os.PathLike[str] | None", Outcome(), Metavar("FILE"), Group("output")
]


@dataclass(frozen=True)
class DrawOptions:
    """Number of draws, confidence of intervals, and seed."""

    resamples: Resamples = RESAMPLES
    confidence: Confidence = CONFIDENCE
    seed: Seed = SEED


@dataclass(frozen=True)
class IntervalOptions:
    """Intervals of which confidence, and the seed of what is drawn."""

    confidence: Confidence = CONFIDENCE
    seed: Seed = SEED


# Options of a function


@dataclass(frozen=True)
class Option:
    """One parameter of a public function."""

    name: str  # as in Python and in study files; the command line writes dashes
    kind: Any  # its type, without what was said of it
    default: Any  # its default; :data:`inspect.Parameter.empty` where it must be given
    help: str  # what the docstring says of it
    marks: tuple[object, ...] = ()  # what was said of its type

    @property
    def required(self) -> bool:
        """True if it must be given."""
        return self.default is inspect.Parameter.empty

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        flags = self.mark(Flags)
        if flags and flags.alone:
            return str(flags.names[0])
        return f"--{self.name.replace('_', '-')}"

    def mark(self, kind: type[Any]) -> Any:
        """Its mark of that kind, or None."""
        return next((mark for mark in self.marks if isinstance(mark, kind)), None)

    @property
    def rare(self) -> bool:
        """True if few need it, by itself or with its group."""
        group = self.mark(Group)
        return self.mark(Rare) is not None or (group is not None and group.rare)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values that are allowed, where they are few: alone or as members of a list."""
        for kind in union_members(self.kind):
            if get_origin(kind) is Literal:
                return get_args(kind)
            if get_origin(kind) is collections.abc.Sequence and get_args(kind):
                inner = [p for p in union_members(get_args(kind)[0]) if get_origin(p) is Literal]
                if inner:
                    return get_args(inner[0])
        return ()

    @property
    def many(self) -> bool:
        """True if it takes a list."""
        return any(
            get_origin(kind) is collections.abc.Sequence for kind in union_members(self.kind)
        )

    @property
    def is_mapping(self) -> bool:
        """True if it takes values by name."""
        return any(get_origin(kind) is collections.abc.Mapping for kind in union_members(self.kind))

    @property
    def switch(self) -> bool:
        """True if it is on or off."""
        return self.kind is bool


def is_outcome(option: Option) -> bool:
    """True if an option names a file that is written."""
    return option.mark(Outcome) is not None


def reaches(option: Option, *values: object) -> frozenset[Capability]:
    """Capabilities of an option beyond the request: files, the network, code.

    Without values what any text may reach; with values what these do, nested ones included. Nothing
    that a text names is opened, asked, imported or run to find out.

    Args:
        option: a parameter of a method, or a field of what a spec names.
        values: as it takes them; numbers and truth values reach nothing.

    Raises:
        SpecError, UnknownNameError: a text should be a spec, and cannot be read.
    """
    marks = [mark for mark in option.marks if isinstance(mark, Reaches)]
    if not values:
        return frozenset(what for mark in marks for what in mark.what)
    return frozenset(
        what for mark in marks for value in values for what in _reached_by(mark, value)
    )


def describe_reaches(options: Iterable[Option], always: Iterable[Capability] = ()) -> str:
    """Name capabilities that texts of some options may reach, for lists: ``files, specs``.

    "specs" stands for whatever a text reaches that says so itself: specs, names of taggers.
    """
    marks = [mark for option in options for mark in option.marks if isinstance(mark, Reaches)]
    reached = {*always, *(what for mark in marks if not mark.of_text for what in mark.what)}
    by_text = ["specs"] * any(mark.of_text for mark in marks)
    return ", ".join([*(what for what in CAPABILITIES if what in reached), *by_text])


def _reached_by(mark: Reaches, value: object) -> Iterable[Capability]:
    if isinstance(value, str):
        return mark.reached_by(value)
    if value is None or isinstance(value, numbers.Number):
        return ()
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [what for member in value for what in _reached_by(mark, member)]
    return mark.what


def file_option(option: Option) -> Option:
    """An option as a file can give it, which has no objects but their names."""
    return dataclasses.replace(option, kind=_kind_in_files(option.kind))


def _kind_in_files(kind: Any) -> Any:
    parts, origin, inner = union_members(kind), get_origin(kind), get_args(kind)
    if len(parts) > 1:
        if any(get_origin(each) is Literal for each in parts):  # which are its names in files
            parts = tuple(each for each in parts if not _is_object(each))
        given = dict.fromkeys(_kind_in_files(each) for each in parts if each is not type(None))
        return Union[tuple(given)]  # noqa: UP007  # of values
    if origin in _LISTS and inner:
        return Sequence[_kind_in_files(inner[0])]  # type: ignore[misc]  # made at run time
    if origin is collections.abc.Mapping:
        return Mapping[str, _kind_in_files(inner[1])]  # type: ignore[misc]  # likewise
    return kind if origin is Literal or kind in (bool, float, int) else str


def _is_object(kind: Any) -> bool:
    """True if a type is a class that no file can hold."""
    return isinstance(kind, type) and kind not in (str, bool, int, float, type(None))


@functools.cache
def options_of(function: Callable[..., Any]) -> Mapping[str, Option]:
    """The parameters of a function by name, in its order; ``*args`` and ``**kwargs`` left out."""
    function = inspect.unwrap(function)
    helps = help_texts(inspect.getdoc(function) or "")
    hints: Mapping[str, Any] | None = getattr(function, "hints", None)  # set by expand_fields
    if hints is None:
        hints = type_hints(function.__annotations__, function.__globals__)
    options = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        kind, marks = _bare(hints.get(parameter.name, Any))
        options[parameter.name] = _option(
            parameter.name, kind, parameter.default, helps.get(parameter.name, ""), marks
        )
    return types.MappingProxyType(options)


def _option(name: str, kind: Any, default: Any, said: str, marks: tuple[object, ...]) -> Option:
    """An option with the help of its type, unless a docstring says something else of it."""
    option = Option(name, kind, default, said, marks)
    shared = option.mark(Help)
    return dataclasses.replace(option, help=shared.text) if shared and not said else option


def documented(function: Callable[..., Any], further: Mapping[str, str] | None = None) -> str:
    """The docstring of a function with what types say of its parameters."""
    doc = inspect.getdoc(function) or ""
    options = options_of(function)
    helps = {name: (further or {}).get(name, "") for name in options}
    helps |= {name: option.help for name, option in options.items() if option.help}
    helps |= {k: v for k, v in help_texts(doc).items() if k not in helps}
    lines = [
        textwrap.fill(
            f"{name}: {text}",
            width=100,
            initial_indent=" " * 4,
            subsequent_indent=" " * 8,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name, text in helps.items()
        if text
    ]
    return _ARGS.sub(lambda _: "\n".join(["Args:", *lines, ""]), doc, count=1)


_ARGS = re.compile(r"^Args:\n((?:[ ]{4}.*\n?)+)", re.MULTILINE)


def fields_of(kind: type[Any]) -> Mapping[str, Option]:
    """The fields of a dataclass as options; "Attributes" of its docstring says their help."""
    helps: dict[str, str] = {}
    for owner in reversed(kind.__mro__):
        helps |= help_texts(inspect.cleandoc(owner.__doc__ or ""), "Attributes")
    options = {}
    for field in dataclasses.fields(kind):
        bare, marks = _bare(_field_hints(kind)[field.name])
        default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
        options[field.name] = _option(field.name, bare, default, helps.get(field.name, ""), marks)
    return types.MappingProxyType(options)


def _field_hints(kind: type[Any]) -> Mapping[str, Any]:
    """The types of the fields of a dataclass, with what was said of them."""
    names = {field.name for field in dataclasses.fields(kind)}
    hints: dict[str, Any] = {}
    for owner in reversed(kind.__mro__):
        annotations = {k: v for k, v in inspect.get_annotations(owner).items() if k in names}
        hints |= type_hints(annotations, vars(sys.modules[owner.__module__]))
    return hints


def expand_fields(**parts: type[Any]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let a function that takes objects of dataclasses take their fields in their place, by name.

    ::

        @expand_fields(recipe=Recipe)
        def train(pairs, *, save, recipe: Recipe): ...

        train(pairs, save="folder", dropout=0.2)

    What such a parameter is called is the heading in help of the fields that have none.
    """

    def decorated(function: Callable[..., R]) -> Callable[..., R]:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> R:
            made = {
                name: kind(**{key: kwargs.pop(key) for key in fields_of(kind) if key in kwargs})
                for name, kind in parts.items()
            }
            return function(*args, **kwargs, **made)

        del called.__wrapped__  # its signature is another one
        taken = inspect.signature(function)
        hints = type_hints(function.__annotations__, function.__globals__)
        parameters = []
        for parameter in taken.parameters.values():
            if parameter.name not in parts:
                parameters.append(parameter)
                continue
            del hints[parameter.name]
            kind, heading = parts[parameter.name], Group(parameter.name.replace("_", " "))
            for field in fields_of(kind).values():
                hint: Any = Annotated[_field_hints(kind)[field.name], Help(field.help)]
                hints[field.name] = hint if field.mark(Group) else Annotated[hint, heading]
                written = kind.__dataclass_fields__[field.name].type  # as people read it
                parameters.append(
                    parameter.replace(name=field.name, default=field.default, annotation=written)
                )
        called.__signature__ = taken.replace(parameters=parameters)  # type: ignore[attr-defined]  # read by inspect
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        called.hints = hints  # type: ignore[attr-defined]  # read by options_of
        doc = inspect.getdoc(function) or ""
        for name in parts:
            doc = re.sub(rf"^    {name}: .*\n(?:[ ]{{8}}.*\n)*", "", doc, flags=re.MULTILINE)
        called.__doc__ = doc
        called.__doc__ = documented(called)
        return called

    return decorated


class BoundOptions(types.SimpleNamespace):
    """The options of a request by name, each as given or with its default."""

    def build(self, kind: type[R]) -> R:
        """An object of a dataclass whose fields are among the options."""
        return kind(**{name: getattr(self, name) for name in fields_of(kind)})


class _Known(dict[str, Any]):
    """The names of a module; a name that it lacks stands for a class of that name."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        if hasattr(collections.abc, name):
            return getattr(collections.abc, name)
        if hasattr(typing, name):
            return getattr(typing, name)
        if name == "PathLike":
            return os.PathLike
        return _unseen(name)


class _AnyName(type):
    """Every name of a module that was not imported is one more class known by its name."""

    def __getattr__(cls, name: str) -> type:
        if name.startswith("_"):
            raise AttributeError(name)
        return _unseen(name)


class Unseen(metaclass=_AnyName):
    """Stands for a class that is imported for type checkers alone; known by its name."""

    def __class_getitem__(cls, _: object) -> type[Unseen]:
        return cls


@functools.cache
def _unseen(name: str) -> type:
    return _AnyName(name, (Unseen,), {})


def type_hints(annotations: Mapping[str, Any], home: Mapping[str, Any]) -> dict[str, Any]:
    """Annotations as types; a class that the module lacks is known by its name."""
    names = _Known(home)
    return {name: _evaluated(annotation, names) for name, annotation in annotations.items()}


def _evaluated(annotation: Any, home: _Known) -> Any:
    """An annotation as a type; texts are looked up among the names of the module."""
    for _ in range(3):  # an alias may be a text, too
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if not isinstance(annotation, str):
            break
        annotation = _value_of(ast.parse(annotation.strip(), mode="eval").body, home)
    if get_origin(annotation) is Annotated:
        kind, *marks = get_args(annotation)
        return Annotated[(_evaluated(kind, home), *marks)]
    if isinstance(annotation, types.UnionType) or get_origin(annotation) is Union:
        parts = tuple(_evaluated(argument, home) for argument in get_args(annotation))
        return Union[parts]  # noqa: UP007  # of values
    return annotation


def _value_of(node: ast.expr, home: _Known) -> Any:  # noqa: PLR0911  # one exit per kind
    """The value of what annotations are written with: names, brackets, calls, ``|``, arithmetic.

    No ``eval``: which names Python itself looks up there, and where, differs by its version.
    """
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return home[node.id]
        case ast.Attribute():
            return getattr(_value_of(node.value, home), node.attr)
        case ast.Subscript():
            return _value_of(node.value, home)[_value_of(node.slice, home)]
        case ast.Tuple():
            return tuple(_value_of(element, home) for element in node.elts)
        case ast.List():
            return [_value_of(element, home) for element in node.elts]
        case ast.UnaryOp(op=ast.USub()):
            return -_value_of(node.operand, home)
        case ast.BinOp() if type(node.op) in _OPERATIONS:
            operation = _OPERATIONS[type(node.op)]
            return operation(_value_of(node.left, home), _value_of(node.right, home))
        case ast.Call():
            given = {word.arg: _value_of(word.value, home) for word in node.keywords if word.arg}
            return _value_of(node.func, home)(*(_value_of(a, home) for a in node.args), **given)
    raise TypeError(f"annotations hold no {type(node).__name__}: {ast.unparse(node)}")


_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.BitOr: operator.or_,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}


def _bare(hint: Any) -> tuple[Any, tuple[object, ...]]:
    """A type and what was said of it, of all its parts."""
    if get_origin(hint) is Annotated:
        kind, *said = get_args(hint)  # what was said last, of an alias, counts first
        inner, more = _bare(kind)
        return inner, (*reversed(said), *more)
    if get_origin(hint) in (Union, types.UnionType):
        parts = [_bare(argument) for argument in get_args(hint)]
        marks = tuple(mark for _, more in parts for mark in more)
        return Union[tuple(kind for kind, _ in parts)], marks  # noqa: UP007  # of values
    if get_origin(hint) is collections.abc.Sequence and get_args(hint):
        kind, marks = _bare(get_args(hint)[0])
        return Sequence[kind], marks  # type: ignore[valid-type]  # made at run time
    return hint, ()


def union_members(kind: Any) -> tuple[Any, ...]:
    """The parts of a union; a type by itself."""
    if get_origin(kind) in (Union, types.UnionType):
        return tuple(inner for argument in get_args(kind) for inner in union_members(argument))
    return (kind,)


def help_texts(doc: str, heading: str = "Args") -> dict[str, str]:
    """Parameter -> what a section of a docstring says of it."""
    section = re.search(rf"^{heading}:\n((?:[ ]{{4}}.*\n?|\n)+)", doc, re.MULTILINE)
    texts: dict[str, str] = {}
    name = ""
    for line in (section.group(1) if section else "").splitlines():
        start = re.match(r"    (\w+): (.*)", line)
        if start:
            name, texts[start.group(1)] = start.group(1), start.group(2)
        elif name and line.strip():
            texts[name] += " " + line.strip()
    return texts


# Values


class Misfit(NamedTuple):
    """A value that does not fit."""

    where: str  # the place within the value ("[2]"); empty: the value itself
    must: str  # what must stand there, as in "a whole number, 0 or more"
    given: object  # what does
    error: type[UsageError]  # what a function raises of it


_PLAIN: Mapping[Any, tuple[Any, str, str]] = {
    int: (numbers.Integral, "a whole number", "whole numbers"),
    float: (numbers.Real, "a number", "numbers"),
    str: (str, "a text", "texts"),
    os.PathLike: (os.PathLike, "a path", "paths"),
    collections.abc.Mapping: (Mapping, "a mapping", "mappings"),
    collections.abc.Callable: (Callable, "a function", "functions"),
}
#: classes of gnomon that have no protocol, and how to get an object of each
_MADE = {
    "TestSet": "read one: gnomon.TestSet.read({})",
    "Scores": "make some: gnomon.score(testset, 'bleu')",
    "Finding": "methods such as gnomon.compare(testset) give one",
    "Explained": "make one: gnomon.bmx.explained(testset, 'bleu')",
    "Explanations": "make some: gnomon.bmx.explanations(testset, 'bleu')",
    "Grids": "read some: gnomon.bmx.read_grids({})",
    "Paraphrase": "read some: gnomon.formats.read_paraphrases([{}])",
    "StudyPlan": "make one: gnomon.study.plan(gnomon.study.read_study({}))",
    "Store": "open one: gnomon.study.Store({})",
    "Study": "read one: gnomon.study.read_study({})",
}
_LISTS = (collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)


def misfits(option: Option, value: object) -> Iterator[Misfit]:
    """Yield misfits of a value: of its type, then of its limits; none if it fits.

    What types do not tell apart (objects with a protocol) is left to the function.
    """
    if value is None and (option.default is None or type(None) in union_members(option.kind)):
        return
    if fits(option.kind, value) is False:
        unknown = _unknown(option, value)
        if unknown:
            yield from unknown
            return
        literal = option.choices and isinstance(value, str) and not option.many
        error = UnknownNameError if literal else WrongTypeError
        for where, kind, given in _wrong_places(option.kind, value):
            yield Misfit(where, _must(kind, option), given, error)
        return
    limits = option.mark(Limits)
    if limits is None:
        return
    many = isinstance(value, collections.abc.Collection)  # an array, too
    members: Iterable[object] = value if many else (value,)  # type: ignore[assignment]
    for number, member in enumerate(members):
        if isinstance(member, numbers.Real) and not limits.allow(member):
            kind = "a whole number" if _takes(option.kind, int) else "a number"
            yield Misfit(f"[{number}]" * many, f"{kind}, {limits}", member, UsageError)


def _wrong_places(kind: Any, value: Any, where: str = "") -> list[tuple[str, Any, object]]:
    """The innermost places at which a value does not fit, with what is wanted there."""
    wrong_by_alternative = []
    for alternative in union_members(kind):
        origin, inner = get_origin(alternative), get_args(alternative)
        if _is_list(alternative) and inner and isinstance(value, list | tuple) and value:
            members = [
                (f"{where}[{number}]", inner[0], member) for number, member in enumerate(value)
            ]
        elif origin is collections.abc.Mapping and isinstance(value, Mapping) and value:
            members = [(f"{where}.{name}", inner[1], member) for name, member in value.items()]
        else:
            continue
        wrong = [member for member in members if fits(member[1], member[2]) is False]
        wrong_by_alternative.append(
            [p for at, must, member in wrong for p in _wrong_places(must, member, at)]
        )
    return min(wrong_by_alternative, key=len) if wrong_by_alternative else [(where, kind, value)]


def _unknown(option: Option, value: object) -> list[Misfit]:
    """The members of a list of names that are none of the choices; empty if more is wrong."""
    if not (option.choices and option.many and isinstance(value, list | tuple)):
        return []
    if not all(isinstance(member, str) for member in value):
        return []
    return [
        Misfit(f"[{number}]", _must(option.kind, option), member, UnknownNameError)
        for number, member in enumerate(value)
        if member not in option.choices
    ]


def check_arguments(function: Callable[..., Any], given: Mapping[str, object]) -> None:
    """Refuse arguments that do not fit the parameters of a function."""
    options = options_of(function)
    for name, value in given.items():
        if name not in options:
            continue
        for misfit in misfits(options[name], value):
            raise refusal(options[name], misfit, function.__name__)


def refuse_unknown(function: Callable[..., Any], given: Iterable[str]) -> None:
    """Refuse names that are no parameters of a function; of any other wrong call, Python tells."""
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    for name in given:
        if name not in parameters:
            near = nearest(name, parameters)
            meant = f"did you mean {near!r}? " if near else ""
            raise WrongTypeError(
                f"{function.__name__}() takes no {name!r}; {meant}it takes: {', '.join(parameters)}"
            )


def check_fields(one: object) -> None:
    """Refuse an object of a dataclass whose fields do not fit their types; as arguments."""
    for name, option in fields_of(type(one)).items():
        for wrong in misfits(option, getattr(one, name)):
            raise refusal(option, wrong, type(one).__name__)


def refusal(
    option: Option, wrong: Misfit, function: str = "", *, named: Words | None = None
) -> UsageError:
    """The error that tells of a misfit; by the name of the option where it has no other."""
    if wrong.error is UnknownNameError:
        name = option.name if function else option.name.replace("_", " ")
        return _unknown_choice(option, name, str(wrong.given))
    misfit = f"{wrong.where} must be {wrong.must}; got {wrong.given!r:.60}"
    if wrong.error is UsageError or not function:
        return UsageError(named or option.name, misfit)
    given = type(wrong.given).__name__
    remedy = _remedy(option.kind, wrong.given)
    return WrongTypeError(f"{function}: {option.name}{misfit} ({given}){remedy}")


def fits(kind: Any, value: Any) -> bool | None:  # noqa: PLR0911  # one exit per kind
    """True if a value is of a kind; None where the kind does not tell."""
    parts = union_members(kind)
    if len(parts) > 1:
        each = {fits(inner, value) for inner in parts}
        return True if True in each else None if None in each else False
    origin = get_origin(kind)
    if kind is None or kind is type(None):
        return value is None
    if origin is Literal:
        return any(type(inner) is type(value) and inner == value for inner in get_args(kind))
    if kind is bool:
        return type(value).__name__ in ("bool", "bool_")
    if _is_list(kind):
        return _fits_list(get_args(kind)[:1], value)
    if origin is collections.abc.Mapping and isinstance(value, Mapping):
        each = {fits(get_args(kind)[1], member) for member in value.values()}
        return False if False in each else None if None in each else True
    if (origin or kind) in _PLAIN:
        if isinstance(value, bool) and kind in (int, float):
            return False
        return isinstance(value, _PLAIN[origin or kind][0])
    name = getattr(kind, "__name__", "")
    if name in _MADE:
        return any(base.__name__ == name for base in type(value).__mro__)
    return None


def _is_list(kind: Any) -> bool:
    """True if a kind is a list of any length: tuples that say each member are none."""
    if get_origin(kind) is tuple:
        return get_args(kind)[1:] == (Ellipsis,)
    return get_origin(kind) in _LISTS or kind in _LISTS


def _fits_list(kind: tuple[Any, ...], values: Any) -> bool | None:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        return False
    if not isinstance(values, list | tuple) or not kind:
        return None  # an array, a view, a generator: not walked through here
    plain = (None, type(None), bool, *_PLAIN)
    # the class of a value says if it is of such a kind
    if all(alternative in plain for alternative in union_members(kind[0])):
        values = {type(value): value for value in values}.values()  # lists of texts are long
    each = {fits(kind[0], value) for value in values}
    return False if False in each else None if None in each else True


def _takes(kind: Any, plain: type) -> bool:
    return any(
        plain in (alternative, *get_args(alternative)) for alternative in union_members(kind)
    )


def _must(kind: Any, option: Option) -> str:
    limits = option.mark(Limits)
    said = describe(kind)
    return f"{said}, {limits}" if limits and said in ("a whole number", "a number") else said


def describe(kind: Any) -> str:
    """A type in words, for messages and tables.

    >>> describe(int | None)
    'a whole number or None'
    """
    parts = union_members(kind)
    path = any(os.PathLike in (alternative, get_origin(alternative)) for alternative in parts)
    said = [_described(alternative) for alternative in parts if not (path and alternative is str)]
    return " or ".join(dict.fromkeys(words for words in said if words))


def _described(kind: Any) -> str:  # one exit per kind
    origin = get_origin(kind)
    if kind is None or kind is type(None):
        return "None"
    if kind is bool:
        return "True or False"
    if origin is Literal:
        return ", ".join(repr(inner) for inner in get_args(kind))
    if _is_list(kind):
        each = (
            [_plural(inner) for inner in union_members(get_args(kind)[0])] if get_args(kind) else []
        )
        many = " or ".join(dict.fromkeys(words for words in each if words))
        return f"a list of {many}" if many else "a list"
    if (origin or kind) in _PLAIN:
        return _PLAIN[origin or kind][1]
    name = getattr(kind, "__name__", "")
    return f"a {name}" if name in _MADE else ""


def _plural(kind: Any) -> str:
    origin = get_origin(kind)
    if (origin or kind) in _PLAIN:
        return _PLAIN[origin or kind][2]
    if origin is Literal:
        return ", ".join(repr(choice) for choice in get_args(kind))
    name = getattr(kind, "__name__", "")
    return f"{name}s" if name in _MADE else "lists" if origin in _LISTS else ""


def _test_set_of(path: str | bytes, given: object) -> str:
    """Describe how a value given in place of a test set becomes one."""
    name = str(path).removesuffix(".gz")
    if hasattr(given, "columns") or isinstance(given, Mapping):
        return "make one: gnomon.TestSet.from_frame(frame, reference='ref', systems=['sysA'])"
    if name.endswith(".txt"):
        return (
            f"read one: gnomon.TestSet.from_files(references=[{path!r}], systems=['sysA.txt']), or"
            " gnomon.TestSet.read(directory)"
        )
    if name.endswith((".csv", ".tsv", ".parquet")):
        return (
            f"read one: gnomon.formats.read_table({path!r}, references=['ref'], systems=['sysA'])"
        )
    return _MADE["TestSet"].format(repr(path))


def _remedy(kind: Any, value: object) -> str:
    named = [
        getattr(inner, "__name__", "")
        for alternative in union_members(kind)
        for inner in (alternative, *get_args(alternative))
    ]
    made = next((_MADE[name] for name in named if name in _MADE), "")
    if made:
        path = os.fspath(value) if isinstance(value, str | os.PathLike) else "path"
        if "TestSet" in named:
            return f"; {_test_set_of(path, value)}"
        return f"; {made.format(repr(path))}"
    listed = any(get_origin(inner) in _LISTS for inner in union_members(kind))
    return f": pass [{value!r}]" if listed and isinstance(value, str) else ""


# Texts of a command line


def read_text(option: Option, text: str) -> object:
    """Read a text of a command line as a value of an option, or as a member of its list."""
    if option.mark(Numbering):
        return _segment_numbers(text)
    choices = option.choices
    if choices:
        return _choice(option, text, choices)
    value: object = text
    if not _takes(option.kind, str):
        for plain in (int, float):
            if _takes(option.kind, plain):
                value = _number(text, plain)
                break
    limits = option.mark(Limits)
    if limits and isinstance(value, int | float) and not limits.allow(value):
        kind = "a whole number" if _takes(option.kind, int) else "a number"
        raise UsageError(f"it must be {kind}, {limits}; got {text}")
    return value


def read_pair(option: Option, text: str) -> tuple[str, str]:
    """A name and its value, of an option that takes values by name."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        metavar = option.mark(Metavar)
        raise UsageError(f"it takes {metavar.text if metavar else 'NAME=VALUE'}; got {text!r}")
    return name, value


def read_texts(option: Option, texts: Sequence[str]) -> object:
    """Read texts as the value of an option: one, or those of its list or mapping.

    Raises:
        UsageError, UnknownNameError: a text is no such value.
    """
    if option.is_mapping and not option.many:
        pairs = [read_pair(option, text) for text in texts]
        twice = [
            name for name, count in collections.Counter(k for k, _ in pairs).items() if count > 1
        ]
        if twice:
            raise UsageError(f"it names {twice[0]!r} twice")
        return dict(pairs)
    values: list[Any] = [read_text(option, text) for text in texts]
    if not option.many:
        (value,) = values
        return value
    if option.mark(Numbering):
        return list(dict.fromkeys(number for numbers in values for number in numbers))
    return values


def _choice(option: Option, text: str, choices: tuple[Any, ...]) -> object:
    for choice in choices:
        if str(choice) == text:
            return choice
    if any(alternative is str for alternative in union_members(option.kind)):
        return text
    raise _unknown_choice(option, option.name.replace("_", " "), text)


def _unknown_choice(option: Option, kind: str, given: str) -> UnknownNameError:
    """The error of a name that is no choice of an option, by its own reason where it has one."""
    absent = option.mark(Absent)
    reason = absent.reasons.get(given, "") if absent else ""
    instead = (f"there is no {kind} {given!r}: ", reason) if reason else ""
    return UnknownNameError(kind, given, map(str, option.choices), instead=instead)


def _number(text: str, kind: type) -> int | float:
    try:
        value = int(text) if kind is int else float(text)
    except ValueError:
        value = math.nan
    if value != value:  # noqa: PLR0124  # nan; a whole number may be too large for a float
        raise UsageError(f"{text!r:.60} is not {'a whole number' if kind is int else 'a number'}")
    return value


def _segment_numbers(text: str) -> list[int]:
    """Segments from 1: ``7``, or ``4-6`` for three of them."""
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text)
    first = int(match[1]) if match else 0
    last = int(match[2] or first) if match else 0
    if not 1 <= first <= last:
        raise UsageError(f"{text!r} is no segment: 7, or 4-6, counted from 1")
    if last > _MOST_SEGMENTS:
        raise UsageError(f"no test set has so many segments as {text} names")
    return list(range(first, last + 1))
