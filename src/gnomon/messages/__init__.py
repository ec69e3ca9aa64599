"""Messages: their type, the catalogue of templates, and the renderer.

Whoever finds something makes a message of a code and its parameters; the text is made where people
read it. A template stands once, in ``findings_and_cautions.toml`` or ``errors_and_notes.toml``,
with what has to hold for it to be true::

    yield message("omissions.rate", finding.positions([row]), system=row.system, rate=row.rate)

Parameters are numbers, names, lists and mappings of these; templates name the grammar:

=================================  ==================================================
``{segments:count segment}``       1,948 segments; ``count person|people``
``{names}``, ``{names:list 6}``    a, b and c; of many the first three, or six
``{names:is|are}``                 the first for one, or one name; else the second. A message
                                   that has this of its ``metric`` or ``system`` joins others
``{segments:about segment}``       2,620 segments: rounded to what an estimate bears
``{rate:amount low high unit}``    1.3 BLEU [0.4, 2.2]: its ends and unit are parameters, or parts
``{metric!c}``, ``{metric!u}``     with a capital letter; as the acronym that a short name is
``{rate:amount low high decided}`` of ends that are 0 and open: 1.0 (above 0, up to 2.0)
``{rate:share low high}``          likewise, .12 [.04, .19]
``{rate:percent low high}``         95 % [92, 98]
``{rate:size low high unit}``      likewise, without its sign; ``size-share``
``{rate:hundredths}``              .12
``{p:p least}``                    p = .004; p <= .002 where ``least`` is what draws can show;
                                   of several p = .004 or less
=================================  ==================================================

What a sentence has only sometimes is a part, by the name of its parameter: it is left out where
that is None, False or empty, said of each item of a list of mappings, and may be a choice, with
``else`` for all other values. Parts of a table of entries are parts of each of them::

    [metaeval.better]
    template = "{best} agrees better with people than {others}{documents}{level}"
    parts.others = "{metric} ({value:share}, corrected {p:p least})"
    parts.documents = " in {documents:count document}"
    parts.level = {system = ", system by system", segment = ""}

Nothing of gnomon is imported here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # msgspec reads them, in stores
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gnomon.messages.audiences import Audience, Written, written
from gnomon.messages.grammar import (
    FIGURES,
    amount,
    counted,
    listed,
    p_value,
    percent,
    rounded,
    unsigned_amount,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "Kind",
    "Level",
    "Message",
    "add",
    "catalogue",
    "joined",
    "kind_of",
    "message",
    "noted",
    "phrase",
    "rendered",
]

Level: TypeAlias = Literal["finding", "undecided", "caution", "note", "error"]
#: a number, a name, yes or no, or lists and mappings of these
Param: TypeAlias = str | bool | int | float | Sequence[Any] | Mapping[str, Any] | None


@dataclass(frozen=True)
class Kind:
    """A kind of message: an entry of the catalogue.

    Attributes:
        template: the sentence, with the names of its parameters in braces; ``{name!c}`` begins a
            sentence, and gets a capital letter. Cautions get their opening word, all their stop.
        level: of the message; None where it depends on the rows and is told with them.
        rests_on: which figures and which test have to hold for it to be true.
        quotes: whether it holds words of the texts, which not everybody may see who sees results.
        parts: templates of what it has only sometimes, or of items of a list, by the name of their
            parameter; where that is a choice, a template by what is chosen.
    """

    template: str
    level: Level | None
    rests_on: str
    quotes: bool = False
    parts: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Message(Written):
    """A message of a method, as data; ``str()`` gives the sentence.

    Attributes:
        code: its kind ("compare.better"), an entry of the catalogue.
        level: "finding" where the data show something, "undecided" where they do not, "caution" for
            what looks like a finding and is none, or what the others are read by, "note" for what
            else a reader should know, and "error" for what was refused.
        params: what stands in the braces of the template. Names stand in it as users gave them:
            whoever shows it escapes them.
        rows: what it rests on: positions of rows, by the name of their table.
        subjects: what it is about, by the kind: "testsets" and "metrics" where it stands among
            those of others, the "systems" whose outputs are doubtful, the "files" of an error.
    """

    code: str
    level: Level
    params: Mapping[str, Param] = field(default_factory=dict)
    rows: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    subjects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.code, self.level))

    def __str__(self) -> str:
        return rendered(self)

    def written(self, audience: Audience) -> str:
        """Its words, within those of another."""
        return phrase(self, audience)

    def about(self, **subjects: Sequence[str]) -> Message:
        """The message with further subjects."""
        told = {kind: tuple(names) for kind, names in subjects.items()}
        return replace(self, subjects={**self.subjects, **told})

    def renamed(self, rename: Callable[[str], str]) -> Message:
        """The message of other names: all its words are given to a function."""
        params = {k: _renamed(v, rename) for k, v in self.params.items()}
        subjects = {k: tuple(map(rename, names)) for k, names in self.subjects.items()}
        return replace(self, params=params, subjects=subjects)

    def parts(self) -> Iterable[Any]:
        """Its parameters."""
        return self.params.values()

    def words(self) -> Iterator[str]:
        """The names in its parameters, and other words."""
        return _words(self.params)


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return rename(value)
    if isinstance(value, Message):
        return value.renamed(rename)
    if isinstance(value, Mapping):
        return {k: _renamed(v, rename) for k, v in value.items()}
    return [_renamed(v, rename) for v in value] if isinstance(value, Sequence) else value


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Message):
        yield from value.words()
    elif isinstance(value, Mapping | Sequence):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _words(one)


@cache
def _kinds_in(file: str) -> Mapping[str, Kind]:
    import tomllib

    return dict(_kinds(tomllib.loads((Path(__file__).parent / file).read_text(encoding="utf-8"))))


def catalogue() -> Mapping[str, Kind]:
    """The kinds of messages that are told here, by their codes."""
    return _kinds_in("findings_and_cautions.toml")


#: kinds of methods of other packages
_ADDED: dict[str, Kind] = {}


def add(kinds: Mapping[str, Kind]) -> None:
    """Let a method of another package say its own kinds.

    Args:
        kinds: by their codes ("METHOD.NAME", with the name of the method in the registry).

    Raises:
        ValueError: if a code is another kind's.
    """
    for code, kind in kinds.items():
        if (catalogue().get(code) or _ADDED.setdefault(code, kind)) != kind:
            raise ValueError(f"{code} is another kind of message")


def kind_of(code: str) -> Kind:
    """The kind of a code.

    Raises:
        KeyError: if there is none.
    """
    if code.startswith(("error.", "note.")):
        return _kinds_in("errors_and_notes.toml")[code]
    return catalogue().get(code) or _ADDED[code]


def _kinds(
    entries: Mapping[str, Any], before: str = "", parts: Mapping[str, Any] | None = None
) -> list[tuple[str, Kind]]:
    """Entries, which stand in tables of their method."""
    found = []
    parts = {**(parts or {}), **entries.get("parts", {})}
    for name, entry in entries.items():
        if "template" in entry:
            own = {**parts, **entry.get("parts", {})}
            found.append((before + name, Kind(**{"level": None, **entry, "parts": own})))
        elif name != "parts":
            found += _kinds(entry, f"{before}{name}.", parts)
    return found


def message(
    code: str,
    rows: Mapping[str, Sequence[int]] | None = None,
    /,
    *,
    level: Any = None,  # one of Level; parameters may be given as a mapping beside it
    **params: object,
) -> Message:
    """A message of a kind.

    Args:
        code: the kind.
        rows: what it rests on: positions of rows, by the name of their table.
        level: where the kind itself has none.
        params: what stands in the braces of its template.

    >>> str(message("score.disagree"))
    'Caution: the metrics do not agree on which system is best.'
    """
    which = kind_of(code).level or level
    if which is None:
        raise ValueError(f"the message {code} needs a level")
    places = {name: tuple(some) for name, some in (rows or {}).items()}
    return Message(code, which, {name: _plain(value) for name, value in params.items()}, places)


def _plain(value: object) -> Any:
    """A parameter that JSON can hold, or that is written for each audience."""
    if value is None or isinstance(value, str | int | float | Written):
        return value
    if isinstance(value, Mapping):
        return {name: _plain(of) for name, of in value.items()}
    if isinstance(value, Sequence):
        return [_plain(one) for one in value]
    return value.__index__() if hasattr(value, "__index__") else str(value)


#: letters of names of kinds of judgements that are acronyms, at most ("esa")
_ACRONYM = 4


class _Sentences(Formatter):
    """Fills in a template."""

    def __init__(
        self,
        kind: Kind,
        params: Mapping[str, Any],
        inside: frozenset[str] = frozenset(),
        *,
        typeset: bool = False,
    ) -> None:
        self.kind, self.params, self.inside, self.typeset = kind, params, inside, typeset

    def filled(self, template: str) -> str:
        """The template with its parameters."""
        return self.vformat(template, (), self.params)

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        part = self.kind.parts.get(field_name)
        if part is None or field_name in self.inside:
            return super().get_field(field_name, args, kwargs)
        return self._part(field_name, part), field_name

    def _part(self, name: str, part: str | Mapping[str, str]) -> str | list[str]:
        """Words of a part, or its words for each item."""
        value = self.params[name]
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            return [self._inside(name, item).filled(str(part)) for item in value]
        if value is None or value is False or value in ("", []):
            return ""
        if not isinstance(part, str):
            part = part[str(value) if str(value) in part else "else"]
        return self._inside(name, value if isinstance(value, Mapping) else {}).filled(part)

    def _inside(self, name: str, own: Mapping[str, Any]) -> _Sentences:
        params, inside = {**self.params, **own}, self.inside | {name}
        return _Sentences(self.kind, params, inside, typeset=self.typeset)

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion == "u":
            return value.upper() if len(value) <= _ACRONYM else value
        if conversion != "c":
            return super().convert_field(value, conversion)
        if isinstance(value, list):
            return [self.convert_field(value[0], "c"), *value[1:]]
        return value[:1].upper() + value[1:]

    def format_field(self, value: Any, format_spec: str) -> str:
        name, _, rest = format_spec.partition(" ")
        if name in FIGURES:
            return self._figure(value, name, rest.split())
        if name in ("count", "about"):
            return _number_of(rounded(value) if name == "about" else value, rest)
        if name == "hundredths":
            return f"{value:.2f}".removeprefix("0")
        if "|" in format_spec:
            number = 1 if isinstance(value, str) else value
            number = len(value) if isinstance(value, list) else number
            return format_spec.split("|")[number != 1]
        if isinstance(value, list):
            return listed(list(map(str, value)), **({"most": int(rest)} if rest else {}))
        return str(super().format_field(value, format_spec))

    def _figure(self, value: Any, name: str, others: Sequence[str]) -> str:
        """A figure with others: its ends and unit, or the least p that draws can show."""
        known = [self.get_field(other, (), self.params)[0] for other in others]
        open_end = others[-1:] == ["decided"] and known.pop()
        if name == "p":
            every = value if isinstance(value, list) else [value]
            least = next(iter(known), None) or 0.0
            return p_value(max(every), least, most=len(every) > 1, typeset=self.typeset)
        if name == "percent":
            return percent(value, *known)
        *ends, unit = known if len(known) == 3 else [*known, ""]
        told = unsigned_amount if name.startswith("size") else amount
        share = name.endswith("share")
        return told(value, *ends, share=share, unit=unit or "", decided=open_end)


def _number_of(n: int, what: str) -> str:
    """A number of things, of which the plural may be given."""
    one, _, many = what.partition("|")
    if not one:
        return f"{n:,}"
    return counted(n, one) if n == 1 or not many else f"{n:,} {many}"


def rendered(
    said: Message,
    *,
    opening: bool = True,
    audience: Audience | None = None,
    typeset: bool = False,
) -> str:
    """The sentence of a message.

    Args:
        said: the message.
        opening: let cautions begin with that word. What is undecided says so itself ("cannot be
            told apart").
        audience: who reads it; whoever this process writes for by default.
        typeset: for a page, which has \u2264 for <= and keeps p on a line with its value.
    """
    own = phrase(said, audience, typeset=typeset)
    if said.level == "error":
        return own
    opened = ["Caution"] if opening and said.level == "caution" else []
    words = [
        *_names_of(said, "testsets"),
        *opened,
        *_names_of(said, "metrics"),
        own,
    ]
    text = ": ".join(words)
    return text if text.endswith((".", "!", "?")) else f"{text}."


def noted(said: Message) -> str:
    """Words of a notice, in a list of these: without opening and stop."""
    return ": ".join([*_names_of(said, "testsets"), *_names_of(said, "metrics"), phrase(said)])


def _names_of(said: Message, kind: str) -> list[str]:
    names = said.subjects.get(kind)
    return [listed(names)] if names else []


def joined(messages: Iterable[Message]) -> list[Message]:
    """Messages, each once; those that differ in the name of a metric or system alone are one."""
    said = list(dict.fromkeys(messages))
    for kind, param in (("metrics", "metric"), ("systems", "system")):
        groups: dict[Message, tuple[Message, dict[str, None]]] = {}
        for one in said:
            bare, names = _split_name(one, kind, param)
            groups.setdefault(bare, (one, {}))[1].update(dict.fromkeys(names))
        said = [_join_names(one, kind, param, tuple(names)) for one, names in groups.values()]
    return said


def _split_name(said: Message, kind: str, param: str) -> tuple[Message, Sequence[str]]:
    """A message but for the names that may join it to others, and these."""
    names = list(said.subjects.get(kind, ()))
    own = said.params.get(param)
    if isinstance(own, str):
        if not _takes_several(kind_of(said.code), param):
            return said, ()
        names.append(own)
    if not names:
        return said, ()
    params, subjects = ({**said.params, param: None}, {**said.subjects, kind: ()})
    return replace(said, params=params, subjects=subjects, rows={}), names


def _takes_several(kind: Kind, param: str) -> bool:
    """True if a template says a parameter of one or of several."""
    fields = Formatter().parse(kind.template)
    return any(name == param and "|" in (how or "") for _, name, how, _ in fields)


def _join_names(said: Message, kind: str, param: str, names: tuple[str, ...]) -> Message:
    """A message of several metrics or systems."""
    if len(names) < 2:
        return said
    params, subjects = dict(said.params), dict(said.subjects)
    if isinstance(params.get(param), str):
        params[param] = list(names)
    if subjects.get(kind):
        subjects[kind] = names
    return replace(said, params=params, subjects=subjects)


def phrase(said: Message, audience: Audience | None = None, *, typeset: bool = False) -> str:
    """The words of a message, without opening and stop, for a sentence that holds it."""
    kind = kind_of(said.code)
    params = {name: written(value, audience) for name, value in said.params.items()}
    return _Sentences(kind, params, typeset=typeset).filled(kind.template)
