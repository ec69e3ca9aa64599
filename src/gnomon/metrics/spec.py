"""The spec language: a metric's spec as data, reading and writing it, options, built-in names.

``NAME`` or ``NAME(FIRST, key=literal, ...)``; FIRST is the wrapped metric or a string. Specs are
read by a small tokeniser and a recursive reader; nothing is ever evaluated. A built-in metric
declares its options as the fields of a frozen dataclass::

    @dataclass(frozen=True)
    class Chrf(Options):
        name: ClassVar[str] = "chrf"
        word_order: int = 0
"""

from __future__ import annotations

import inspect
import json
import math
import re
import sys
import types
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache, lru_cache
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

from gnomon.core.errors import SpecError, nearest
from gnomon.core.options import CAPABILITIES, describe, fields_of, fits, reaches, union_members
from gnomon.core.signature import Signature
from gnomon.core.user_code import is_target
from gnomon.metrics.requirements import needs_of_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gnomon.core.dependencies import Dependency
    from gnomon.core.options import Capability

__all__ = [
    "ALIASES",
    "BUILTIN",
    "CODE",
    "NAME",
    "RESERVED",
    "Literals",
    "Options",
    "Spec",
    "fit",
    "format_literal",
    "reaches_of_arguments",
    "read_spec",
]


# The spec of a metric as data, its canonical text, and the options that a metric declares.


#: what a spec can say: strings, numbers, True, False, None, and lists of them (as tuples)
Literals: TypeAlias = bool | int | float | str | tuple["Literals", ...] | None

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class Spec:
    """The content of a spec string."""

    name: str
    # the wrapped metric, the string that came first, or several of them in a list
    first: Spec | str | tuple[Spec | str, ...] | None = None
    arguments: tuple[tuple[str, Literals], ...] = ()  # the named arguments, in the order given

    def __str__(self) -> str:
        """The canonical text; reading it gives an equal spec.

        >>> str(Spec("difficulty", Spec("bertscore"), (("pool", "top:30%"),)))
        "difficulty(bertscore, pool='top:30%')"
        """
        return _text(self.name, self.first, self.arguments)


def format_literal(value: Literals) -> str:
    """A literal as specs write it."""
    if isinstance(value, str):
        return "'" + "".join(map(_escape, value)) + "'"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(format_literal, value)) + "]"
    if isinstance(value, float) and math.isnan(value):
        raise SpecError("nan is no value for an option: it would not even equal itself")
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    raise SpecError(
        f"a spec cannot say {value!r}; it takes strings, numbers, True, False, None and lists"
    )


@dataclass(frozen=True)
class Options:
    """Base of the built-in metrics: their fields are the options of their spec.

    Types of fields: bool, int, float, str, ``Literal[...]``, ``tuple[T, ...]`` (a list in specs)
    and unions of them with None. A whole number is taken where a float is wanted. A field that
    changes no score is declared with ``compare=False``: specs do not show it.

    Attributes:
        name: name of the metric.
        title: its short name for people; the name where it is empty. Of what wraps a metric or
            reads a file, ``{}`` stands for that.
        titles: titles of settings that have names of their own, by the option as specs write it
            (``{"word_order=2": "chrF++"}``).
        positional: the field that a spec gives first and without a name (a wrapped metric, a
            file), if any.
        opening: the option that a text means which a spec gives first (``bertscore('minilm')``);
            canonical specs name it.
        bounds: option -> the least and the largest value that it takes.
        packages: of other people, whose versions may change its numbers.
        reaches: what it reaches whatever its options say; what texts of options reach is a mark
            of their types (:class:`gnomon.core.options.Reaches`).

    Raises:
        SpecError: a value is not of its option's type, or out of its range.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    titles: ClassVar[Mapping[str, str]] = types.MappingProxyType({})
    positional: ClassVar[str | None] = None
    opening: ClassVar[str | None] = None
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = types.MappingProxyType({})
    packages: ClassVar[tuple[str, ...]] = ()
    reaches: ClassVar[tuple[Capability, ...]] = ()

    def __post_init__(self) -> None:
        hints = option_types(type(self))  # type: ignore[arg-type]  # classes have hashes
        for option in fields(self):
            if option.name != self.positional:
                value = getattr(self, option.name)
                fitted = fit(value, hints[option.name], f"{self.name}: {option.name}")
                if fitted is not value:
                    object.__setattr__(self, option.name, fitted)
        for name, (least, most) in self.bounds.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise SpecError(
                    f"{self.name}: {name} is {value}; it must be from {least} to {most}"
                )

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        """Dependencies of its numbers beside texts and options: packages, models, files.

        Args:
            language: of candidates and references, where known.
        """
        return needs_of_options(self, language)

    @property
    def spec(self) -> str:
        """Canonical spec: the options that differ from their default, in the order of fields."""
        given = [(option, getattr(self, option.name)) for option in ordered_fields(self)]
        first = next((value for option, value in given if option.name == self.positional), None)
        first = None if first == "" else first
        arguments = tuple(
            (option.name, _literal(value))
            for option, value in given
            if option.name != self.positional
            and option.compare
            and not _same(value, default_of(option))
        )
        return _text(self.name, first, arguments)


def ordered_fields(options: Any) -> list[Field[Any]]:
    """The fields of a dataclass as specs and lists give them: what is by name alone comes last."""
    return sorted(fields(options), key=lambda option: option.kw_only is True)


@cache
def option_types(options: type[Any]) -> Mapping[str, Any]:
    """Option -> its type, for a dataclass; annotations of anything but fields are not looked at."""
    types_of: dict[str, Any] = {}
    for owner in reversed(options.__mro__):
        annotations = inspect.get_annotations(owner)
        names = {f.name for f in getattr(owner, "__dataclass_fields__", {}).values()} & set(
            annotations
        )

        def only() -> None: ...

        only.__annotations__ = {
            name: annotations[name] for name in names if "ClassVar" not in str(annotations[name])
        }
        types_of |= get_type_hints(only, globalns=vars(sys.modules[owner.__module__]))
    return types.MappingProxyType(types_of)


def default_of(option: Field[Any]) -> object:
    """The default of a dataclass field; ``MISSING`` where it has none."""
    if option.default_factory is not MISSING:
        return option.default_factory()
    return option.default


def unknown_argument(metric: str, given: str, known: Iterable[str]) -> SpecError:
    """The error for an argument that a metric lacks."""
    names = list(known)
    near = nearest(given, names)
    hint = f"; did you mean {near!r}?" if near else ""
    takes = f"it takes: {', '.join(names)}" if names else "it takes no options"
    return SpecError(f"metric {metric!r} has no option {given!r}{hint}; {takes}")


def check_names(metric: str, options: type[Any], arguments: Mapping[str, object]) -> None:
    """Refuse arguments that are not fields of a dataclass."""
    names = [option.name for option in ordered_fields(options) if option.init]
    for name in arguments:
        if name not in names:
            raise unknown_argument(metric, name, names)


def reaches_of_arguments(spec: Spec, options: type[Any]) -> frozenset[Capability]:
    """Capabilities that a spec reaches by arguments of a dataclass, nested specs included.

    Raises:
        SpecError: the dataclass has no such option.
        UnknownNameError: a nested spec names what there is not.
    """
    if isinstance(spec.first, tuple):  # of a list, a class makes something else
        return frozenset(CAPABILITIES)
    given: dict[str, object] = dict(spec.arguments)
    check_names(spec.name, options, given)
    if spec.first is not None:
        first = getattr(options, "opening", None) or getattr(options, "positional", None)
        if first is None:
            raise SpecError(f"{spec.name!r} takes options by name only; given: {spec}")
        given[first] = str(spec.first)
    declared = fields_of(options)
    by_arguments = (reaches(declared[name], value) for name, value in given.items())
    return frozenset(getattr(options, "reaches", ())).union(*by_arguments)


def fit(value: object, kind: Any, where: str) -> object:
    """A value as its option wants it (a whole number as a float)."""
    if not _fits(kind, value) or _has_nan(value):
        shown = format_literal(value) if isinstance(value, str) else repr(value)
        raise SpecError(f"{where} cannot be {shown}; it takes {describe(kind)}")
    return _fit_value(value, kind)


def _fits(kind: Any, value: Any) -> bool:
    """True if a value is of a type; an object that is no text by the protocol it keeps."""
    return any(
        isinstance(value, member) and not isinstance(value, type)
        if getattr(member, "_is_protocol", False)
        else fits(member, value) is True
        for member in union_members(kind)
    )


def _has_nan(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_nan, value))
    return isinstance(value, float) and math.isnan(value)


def _fit_value(value: Any, kind: Any) -> object:
    """A list as a tuple, and a number as what is wanted."""
    member = next(kind for kind in union_members(kind) if _fits(kind, value))
    if get_origin(member) is tuple:
        return tuple(_fit_value(item, get_args(member)[0]) for item in value)
    return member(value) if member in (int, float) else value


def _literal(value: Any) -> Literals:
    """An option as specs say it: an object with a spec of its own by that."""
    spec = getattr(value, "spec", None)
    return spec if isinstance(spec, str) else value


def _same(a: object, b: object) -> bool:
    # 1 == True == 1.0 in Python, but not as options
    return type(a) is type(b) and a == b


def _text(name: str, first: object, arguments: tuple[tuple[str, Literals], ...]) -> str:
    parts = [] if first is None else [_first_text(first)]
    parts += [f"{key}={format_literal(value)}" for key, value in arguments]
    return f"{name}({', '.join(parts)})" if parts else name


def _first_text(first: object) -> str:
    # a string, a spec, a metric, which has a canonical spec of its own, or several of these
    if isinstance(first, tuple):
        return f"[{', '.join(map(_first_text, first))}]"
    return format_literal(first) if isinstance(first, str) else str(getattr(first, "spec", first))


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if character.isprintable():
        return character
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


# Reading spec strings: a small tokeniser and a recursive reader; nothing is ever evaluated.


#: how the name of a metric may look
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(
    r"[+-]?(?:inf(?![A-Za-z0-9_])|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
)
_WHOLE = re.compile(r"[+-]?[0-9]+")
_BARE = re.compile(r"[^,|'\"]*")
_SPACE = re.compile(r"[ \t]*")
_WORDS: dict[str, Literals] = {"True": True, "False": False, "None": None}
_BARE_WORDS: dict[str, Literals] = _WORDS | {"true": True, "false": False}
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
_HEX = {"x": 2, "u": 4, "U": 8}
_LONGEST = 4096
_DEEPEST = 16
_SHOWN = 80


@lru_cache(maxsize=1024)
def read_spec(text: str) -> Spec:
    """Read a spec, its form for shells, a function, or a signature, whose fields are left out.

    Names are not looked up; ``gnomon.metrics.parse`` does that.

    >>> read_spec("chrf:word_order=2") == read_spec("chrf(word_order=2)|refs:1|gnomon:1.0.0")
    True
    >>> str(read_spec("code/my.py:overlap"))
    "python('code/my.py:overlap')"
    """
    if len(text) > _LONGEST:
        raise SpecError(f"a spec of {len(text)} characters is too long; up to {_LONGEST} are read")
    text = text.strip()
    if is_target(text) and text.partition(":")[0].lower() not in _NAMES:
        return Spec(CODE, text)
    return _SpecReader(text).whole()


class _SpecReader:
    """One pass over a spec; ``at`` is the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def whole(self) -> Spec:
        self.skip()
        name = self.name()
        spec = self.shell_form(name) if self.take(":") else self.rest(name)
        self.skip()
        if self.peek() == "|":
            self.check_fields()
        elif self.peek():
            more = "; several metrics are separated by blanks" if self.peek() == "," else ""
            raise self.error(f"the spec should end here, or go on with '(' or ':'{more}")
        return spec

    def check_fields(self) -> None:
        """Check that what comes after a bar are the fields of a signature."""
        try:
            fields = Signature.parse(self.text[self.at :])
        except SpecError:
            fields = Signature("", gnomon="")
        if not fields.gnomon or "" in fields:
            raise self.error(
                "what follows is no signature that gnomon printed (SPEC|FIELD:VALUE|...|"
                "gnomon:VERSION); leave it out, and give options in parentheses, as:"
                " bleu(tokenize='zh')"
            )

    def rest(self, name: str) -> Spec:
        """Read the rest behind a name: nothing, or arguments in parentheses."""
        self.skip()
        if not self.take("("):
            return Spec(name)
        self.enter()
        first: Spec | str | tuple[Spec | str, ...] | None = None
        arguments: dict[str, Literals] = {}
        self.skip()
        while not self.take(")"):
            if self.key_follows():
                self.argument(arguments)
            elif first is None and not arguments:
                first = self.several() if self.peek() == "[" else self.first()
            else:
                raise self.error("expected key=value; only the first may go without a name")
            self.skip()
            if not self.take(",") and self.peek() != ")":
                raise self.error("expected ',' or ')'")
            self.skip()
        self.depth -= 1
        return Spec(name, first, tuple(arguments.items()))

    def shell_form(self, name: str) -> Spec:
        """Read key=value pairs behind ``name:``, with values as bare words."""
        arguments: dict[str, Literals] = {}
        while True:
            self.skip()
            self.argument(arguments, bare=True)
            self.skip()
            if not self.take(","):
                return Spec(name, None, tuple(arguments.items()))

    def first(self) -> Spec | str:
        if self.peek() in ("'", '"'):
            return self.string()
        word = NAME.match(self.text, self.at)
        if word is None or word[0] in _WORDS or word[0] in ("inf", "nan"):
            wanted = "a metric, a string in quotes, or key=value"
            if self.text.lstrip().startswith(f"{CODE}("):
                wanted = f"{CODE}('module:function') or {CODE}('file.py:function'), in quotes"
            raise self.error(f"expected {wanted}")
        return self.rest(self.name())

    def several(self) -> tuple[Spec | str, ...]:
        """Read the list that comes first: metrics, or strings."""
        self.enter()
        self.at += 1
        items: list[Spec | str] = []
        self.skip()
        while not self.take("]"):
            items.append(self.first())
            self.skip()
            if not self.take(",") and self.peek() != "]":
                raise self.error("expected ',' or ']'")
            self.skip()
        self.depth -= 1
        return tuple(items)

    def argument(self, arguments: dict[str, Literals], *, bare: bool = False) -> None:
        start = self.at
        key = _KEY.match(self.text, start)
        if key is None:
            raise self.error("expected key=value")
        self.at = key.end()
        self.skip()
        if not self.take("="):
            raise self.error(f"expected '=' after {key[0]!r}")
        self.skip()
        value = self.bare() if bare else self.literal()
        if key[0] in arguments:
            self.at = start
            raise self.error(f"option {key[0]!r} is given twice")
        arguments[key[0]] = value

    def literal(self) -> Literals:
        if self.peek() in ("'", '"'):
            return self.string()
        if self.peek() == "[":
            return self.items()
        if self.peek() == "{":
            return json.dumps(self.fields(), ensure_ascii=False, sort_keys=True)
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            return _number(number[0])
        word = _KEY.match(self.text, self.at)
        if word is not None and word[0] in _WORDS:
            self.at = word.end()
            return _WORDS[word[0]]
        hint = f" (a string needs quotes: '{word[0]}')" if word and word[0] != "nan" else ""
        raise self.error(f"expected a string, a number, inf, True, False, None or a list{hint}")

    def fields(self) -> dict[str, object]:
        """An object, ``{'name': value, ...}``; options take it as the text of its JSON."""
        self.enter()
        self.at += 1
        values: dict[str, object] = {}
        self.skip()
        while not self.take("}"):
            if self.peek() not in ("'", '"'):
                raise self.error("expected the name of a field in quotes, or '}'")
            start, name = self.at, self.string()
            if name in values:
                self.at = start
                raise self.error(f"the field {name!r} is given twice")
            self.skip()
            if not self.take(":"):
                raise self.error(f"expected ':' after {name!r}")
            self.skip()
            values[name] = self.fields() if self.peek() == "{" else self.literal()
            self.skip()
            if not self.take(",") and self.peek() != "}":
                raise self.error("expected ',' or '}'")
            self.skip()
        self.depth -= 1
        return values

    def bare(self) -> Literals:
        if self.peek() in ("'", '"'):
            return self.string()
        match = _BARE.match(self.text, self.at)
        word = match[0].strip() if match else ""
        if not word or word.lower() in ("nan", "+nan", "-nan"):
            raise self.error("expected a value (a word, a number, true or false)")
        self.at += len(match[0]) if match else 0
        if word in _BARE_WORDS:
            return _BARE_WORDS[word]
        return _number(word) if _NUMBER.fullmatch(word) else word

    def items(self) -> tuple[Literals, ...]:
        self.enter()
        self.at += 1
        values: list[Literals] = []
        self.skip()
        while not self.take("]"):
            values.append(self.literal())
            self.skip()
            if not self.take(",") and self.peek() != "]":
                raise self.error("expected ',' or ']'")
            self.skip()
        self.depth -= 1
        return tuple(values)

    def string(self) -> str:
        start, quote = self.at, self.text[self.at]
        self.at += 1
        characters: list[str] = []
        while self.peek() != quote:
            if not self.peek():
                self.at = start
                raise self.error("this string has no closing quote")
            characters.append(self.escape() if self.peek() == "\\" else self.peek())
            self.at += 1
        self.at += 1
        return "".join(characters)

    def escape(self) -> str:
        """The character that a backslash stands for; leaves ``at`` on its last one."""
        self.at += 1
        letter = self.peek()
        if letter in _HEX:
            digits = self.text[self.at + 1 : self.at + 1 + _HEX[letter]]
            if re.fullmatch(rf"[0-9a-fA-F]{{{_HEX[letter]}}}", digits):
                code = int(digits, 16)
                if code <= 0x10FFFF:
                    self.at += len(digits)
                    return chr(code)
        elif letter in _ESCAPED:
            return _ESCAPED[letter]
        raise self.error(r"unknown escape; there are \\ \' \" \n \r \t \xHH \uHHHH \UHHHHHHHH")

    def name(self) -> str:
        match = NAME.match(self.text, self.at)
        if match is None:
            raise self.error("expected a name, such as bleu or chrf(word_order=2)")
        self.at = match.end()
        return _NAMES.get(match[0].lower(), match[0])

    def key_follows(self) -> bool:
        key = _KEY.match(self.text, self.at)
        return key is not None and self.text[key.end() :].lstrip(" \t").startswith("=")

    def enter(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(f"nested too deeply; {_DEEPEST} levels are read")

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, character: str) -> bool:
        taken = self.peek() == character
        self.at += taken
        return taken

    def skip(self) -> None:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at

    def error(self, problem: str) -> SpecError:
        shown = self.text if len(self.text) <= _SHOWN else self.text[:_SHOWN] + "..."
        there = f"{self.peek()!r} is there" if self.peek() else "the text ends"
        return SpecError(
            f"the spec {shown!r} cannot be read: at character {self.at + 1}, where {there}:"
            f" {problem}"
        )


def _number(word: str) -> int | float:
    return int(word) if _WHOLE.fullmatch(word) else float(word)


# The names that gnomon itself gives to metrics.


#: name -> "module:class", loaded when named
BUILTIN = {
    "bertscore": "gnomon.metrics.bertscore:BertScore",
    "bleu": "gnomon.metrics.bleu:Bleu",
    "bleurt": "gnomon.learned.bleurt:Bleurt",
    "bmx": "gnomon.bmx.metric:Bmx",
    "chrf": "gnomon.metrics.chrf:Chrf",
    "comet": "gnomon.learned.comet:Comet",
    "cometkiwi": "gnomon.learned.unified:CometKiwi",
    "difficulty": "gnomon.difficulty:Difficulty",
    "judge": "gnomon.judges.metric:ChatJudge",
    "meteor": "gnomon.metrics.meteor:Meteor",
    "metricx": "gnomon.learned.metricx:MetricX",
    "moverscore": "gnomon.metrics.moverscore:MoverScore",
    "pear": "gnomon.learned.pear:Pear",
    "random": "gnomon.metrics.random_:Random",
    "rouge": "gnomon.metrics.rouge:Rouge",
    "sbert": "gnomon.metrics.sbert:Sbert",
    "scores": "gnomon.metrics.score_file:ScoreFile",
    "ter": "gnomon.metrics.ter:Ter",
    "unite": "gnomon.learned.unified:Unite",
    "xbertscore": "gnomon.metrics.bertscore:XBertScore",
    "xcomet": "gnomon.learned.unified:Xcomet",
    "xmoverscore": "gnomon.metrics.moverscore:XMoverScore",
}

ALIASES = {
    "chrf++": Spec("chrf", None, (("word_order", 2),)),
    "rouge1": Spec("rouge", None, (("type", "rouge1"),)),
    "rouge2": Spec("rouge", None, (("type", "rouge2"),)),
    "rougeL": Spec("rouge", None, (("type", "rougeL"),)),
    "rougeLsum": Spec("rouge", None, (("type", "rougeLsum"),)),
    "spbleu": Spec("bleu", None, (("tokenize", "flores200"),)),
}

#: ``python('module:function')``
CODE = "python"

#: the name with which a spec begins
_FIRST_NAME = re.compile(r"[\w.+-]+")
#: names in lower case -> names: those of gnomon's own metrics are read without regard to case
_NAMES = {name.lower(): name for name in (*BUILTIN, *ALIASES)}


def is_own_metric(spec: str) -> bool:
    """True if a spec names a metric of gnomon's own, whose direction is known.

    Scores of a file, and those of somebody's function, may be error rates without saying so.

    >>> is_own_metric("ter"), is_own_metric("scores('ter.tsv')")
    (True, False)
    """
    name = _FIRST_NAME.match(spec)
    return name is not None and name[0] in BUILTIN and name[0] != "scores"


#: names that neither a user's function nor a package's metric may take
RESERVED = frozenset((*BUILTIN, *ALIASES, CODE))
