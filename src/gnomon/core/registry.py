"""Registry of methods by name: purpose, inputs and needs of each, without importing it.

A method is a function with a decorator::

    @method("muler", purpose="measure what word classes, names and forms cost each system")
    def score(testset: TestSet, metrics: Metrics = "bleu", *, seed: Seed = SEED) -> Finding:

It is then ``gnomon muler`` on the command line, ``muler`` in a study and ``gnomon.muler`` in
Python; its parameters are the options of all three (:mod:`gnomon.core.options`). Packages offer
methods of their own by the entry point ``gnomon.methods``.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar, cast

from gnomon.core.errors import GnomonError, UnknownNameError, UsageError
from gnomon.core.manifest import BUILT_IN, GROUPS, imported
from gnomon.core.options import (
    BoundOptions,
    NotInStudies,
    check_arguments,
    documented,
    is_outcome,
    misfits,
    options_of,
    refusal,
    refuse_unknown,
)
from gnomon.core.plugins import entry_points
from gnomon.core.validation import Problem, refuse
from gnomon.messages.audiences import parameter

if TYPE_CHECKING:
    from gnomon.core.findings import Finding
    from gnomon.core.options import Option
    from gnomon.core.outline import Outline
    from gnomon.core.records import Record
    from gnomon.core.store_views import Highlighter, StoredRows, StoredView, SystemScoreColumn
    from gnomon.messages import Message

__all__ = [
    "BUILT_IN",
    "OF_THE_RUN",
    "Method",
    "Texts",
    "find",
    "group_purpose",
    "installed",
    "method",
    "names",
    "package_of",
    "plain_help",
    "purpose_of",
    "steps",
    "title_of",
]

P = ParamSpec("P")
R = TypeVar("R")

#: parameters that belong to a run and not to a request, and what they mean
OF_THE_RUN: Mapping[str, str] = {
    "allow_code": "let a spec ``python('module:function')`` import and run the module.",
    "cache": "where tags, trees or explanations are kept between runs; none by default.",
    "progress": "called with a stage, what is done and the total.",
}
_ENTRY_POINTS = "gnomon.methods"

#: what a method is given: a test set with systems; one that may have none; several test sets;
#: nothing; or what a function makes of the command line's inputs and of the options that it names
Given: TypeAlias = (
    Literal["systems", "testset", "testsets", "nothing"] | Callable[..., tuple[Any, ...]]
)

#: what a test set may hold beside references and outputs
Texts: TypeAlias = Literal["sources", "documents", "domains", "paraphrases"]


@dataclass(frozen=True)
class Method:
    """A method, beside its parameters."""

    name: str  # `GROUP.NAME` or `NAME`
    purpose: str  # what it does, as help writes it after its name
    function: Callable[..., Any]  # the function itself
    title: str = ""  # what its page in a study is called; by default its name in words
    # its parameters that hold the data; all others are options
    data: tuple[str, ...] = ("testset",)
    given: Given = "systems"  # what a command line makes of them
    examples: str = ""  # calls on a command line, for help
    # what its tables are called in a store, by their names within a finding; the first table of a
    # finding is under "". Empty: a study cannot run it
    tables: Mapping[str, str] = field(default_factory=dict)
    # the classes of its rows by the names of its tables, the main one first
    rows: Mapping[str, type[Record]] = field(default_factory=dict)
    # how a study gives it metrics: one per call, all at once, or none; "none" by default where it
    # has no parameter of that name
    metrics: Literal["one", "all", "none"] = "one"
    by_system: bool = False  # what it says of a system does not depend on the other systems
    human: bool | str = False  # it reads people's scores; or the option that makes it read them
    # it has nothing to say where people said nothing; or a function that tells of an outline of a
    # test set and of options whether there is something to look at
    judged: bool | Callable[[Outline, Mapping[str, Any]], bool] = False
    systems: bool = True  # it needs systems
    doubts: bool = True  # it says what looks wrong in its test sets, and nothing of such systems
    untranslated: bool = False  # it says which systems have many outputs that are no translations
    aligns: bool = False  # its command aligns outputs with more or fewer lines, except under a gate
    guided: bool = False  # its command takes what outputs are aligned by
    # what of a test set neither its numbers nor its pages need: its command cannot name it
    unread: tuple[Texts, ...] = ()
    # options that its command reads from a file in TOML, a recipe, and not from the command line
    recipe: tuple[str, ...] = ()
    tagged: bool = False  # it looks at linguistic features
    # whether it takes scores of other tasks: of all metrics, or of those "costly" ones whose corpus
    # scores are means
    reuses: Literal["", "all", "costly"] = ""
    # the option with which it resamples corpus scores, so that statistics are wanted beside them
    resamples_with: str = ""
    # options that a study sets otherwise than the function does
    usual: Mapping[str, object] = field(default_factory=dict)
    # makes its data of what it takes by name: `testset` with paraphrases, the `original` without,
    # all `paraphrases`, and those that the study has `chosen`; by default it is given the first
    from_study: Callable[..., tuple[Any, ...]] | None = None
    paraphrased: bool = False  # it has nothing to say without paraphrases
    # options that say how many segments a page shows, each with the table that lists them too, if
    # there is one: the command line gathers none where neither is written
    for_pages: Mapping[str, str] = field(default_factory=dict)
    # further tables that a study makes of its rows, for queries and pages
    views: tuple[StoredView, ...] = ()
    # what marks the texts of a test set by its rows, on the pages of a study; None where it has
    # nothing to say of that set. It may raise a GnomonError, which pages tell
    marks: Callable[[StoredRows], Highlighter | None] | None = None
    # a column of its tables that says how good systems are, beside their scores
    standing: SystemScoreColumn | None = None
    # what is left of a run that was interrupted, in words; empty: what the cache keeps
    kept: str = ""
    # says what was found, of a finding without a verdict: statements in the order in which they are
    # read; see :mod:`gnomon.core.verdicts`
    verdict: Callable[[Finding], Iterable[Message]] | None = None
    # what it would refuse of a test set and options that fit each alone: a function of the outline
    # of a test set (None: not known yet) and of :class:`~gnomon.core.options.BoundOptions`, which
    # yields faults. Their `sets` says how many test sets are given together
    check: Callable[[Outline | None, BoundOptions], Iterable[Problem]] | None = None

    @property
    def command(self) -> tuple[str, ...]:
        """Its name on the command line, word by word."""
        return tuple(self.name.replace("_", "-").split("."))

    @functools.cached_property
    def options(self) -> Mapping[str, Option]:
        """Its options by name, without its data and without those of a run."""
        left_out = (*self.data, *OF_THE_RUN)
        return {k: v for k, v in options_of(self.function).items() if k not in left_out}

    @functools.cached_property
    def step_options(self) -> Mapping[str, Option]:
        """The options that a step of a study may set beside its metrics."""
        return {
            name: option
            for name, option in self.options.items()
            if name != "metrics" and not is_outcome(option) and option.mark(NotInStudies) is None
        }

    @functools.cached_property
    def runtime_parameters(self) -> tuple[str, ...]:
        """Which parameters of a run it has."""
        return tuple(name for name in OF_THE_RUN if name in options_of(self.function))

    @property
    def gives_scores(self) -> bool:
        """True if it gives what metrics said, and no finding."""
        return "Scores" in str(self.function.__annotations__.get("return"))

    def reads_people(self, options: Mapping[str, object]) -> bool:
        """True if what people said goes into the results."""
        return bool(options.get(self.human)) if isinstance(self.human, str) else self.human

    def is_applicable(self, outline: Outline, options: Mapping[str, object]) -> bool:
        """True if a test set has the human judgements that it needs."""
        if callable(self.judged):
            return self.judged(outline, options)
        return not self.judged or bool(outline.human or outline.rankings)

    def problems(
        self, outline: Outline | None, options: Mapping[str, object], *, sets: int = 1
    ) -> Iterator[Problem]:
        """Check options: each alone, then together and on a test set.

        They are not checked together while one is missing that has no default.
        """
        wrong = False
        for name in [name for name in options if name in self.options]:
            option, named = self.options[name], None if name in self.recipe else parameter(name)
            for misfit in misfits(option, options[name]):
                wrong = True
                yield Problem(f"{name}{misfit.where}", refusal(option, misfit, named=named))
        if self.check is None or wrong:
            return
        declared = options_of(self.function)
        values = {name: option.default for name, option in declared.items() if not option.required}
        values |= options
        if all(name in values for name in self.options):
            yield from self.check(outline, BoundOptions(**values, sets=sets))

    def add_verdict(
        self, found: R, anomalies: Sequence[Message] = (), language_pair: str = ""
    ) -> R:
        """Add the verdict to a result of the method; scores are given without a finding."""
        from gnomon.core.data_cautions import doubtful_systems, fullest
        from gnomon.core.findings import Finding  # help loads neither
        from gnomon.core.reading_order import cautious
        from gnomon.core.scores import Scores

        if isinstance(found, Scores):
            names = doubtful_systems(anomalies)
            told = fullest((*anomalies, *found.notices))
            told_scores = replace(found, notices=told, doubtful=names)
            return cast("R", told_scores)
        if isinstance(found, list):
            return cast("R", [self.add_verdict(each, anomalies, language_pair) for each in found])
        if not isinstance(found, Finding):
            return found
        told = fullest((*anomalies, *found.notices))
        result: Finding = replace(found, notices=told, language_pair=language_pair)
        if self.verdict is not None:
            judges = bool(self.judged)
            verdict = cautious(self.verdict, result, judges=judges)
            result = replace(result, verdict=verdict)
        return cast("R", result)

    def table(self, name: str, *, first: bool) -> str:
        """Name of a finding's table in a store."""
        main = self.tables[""]
        if name in self.rows:
            first = name == next(iter(self.rows))
        return main if first else self.tables.get(name, f"{main}_{name.replace(' ', '_')}")


def method(name: str, *, purpose: str, **more: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function a method: its arguments are checked, and its name is known.

    Its name is ``GROUP.NAME`` or ``NAME``; ``more`` are further fields of :class:`Method`.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                refuse_unknown(function, kwargs)
                return function(*args, **kwargs)  # Python says what is missing
            check_arguments(function, bound.arguments)
            bound.apply_defaults()
            if described.check is not None:
                options = {k: v for k, v in bound.arguments.items() if k not in described.data}
                data = bound.arguments.get(described.data[0]) if described.data else None
                outlines = list(_outlines(data)) or [None]
                for outline in outlines:
                    refuse(described.problems(outline, options, sets=len(outlines)))
            told = described.systems and described.doubts
            doubts = _anomalies(bound.arguments, described) if told else ()
            data = bound.arguments.get(described.data[0]) if described.data else None
            some = data if isinstance(data, list | tuple) else [data]
            pairs = {getattr(each, "language_pair", None) or "" for each in some}
            pair = pairs.pop() if len(pairs) == 1 else ""
            return described.add_verdict(function(*args, **kwargs), doubts, pair)

        if "metrics" not in signature.parameters:
            more["metrics"] = "none"
        more.setdefault("title", _spell_out(name))
        called.__doc__ = documented(function, OF_THE_RUN)
        described = Method(name, purpose, called, **more)
        called.method = described  # type: ignore[attr-defined]  # where the registry finds it
        return called

    return decorated


def _anomalies(arguments: Mapping[str, object], method: Method) -> tuple[Message, ...]:
    """Anomalies of the test sets that a method is given."""
    data = arguments.get(method.data[0]) if method.data else None
    sets = data if isinstance(data, list | tuple) else (data,)
    found: dict[Message, None] = {}
    for testset in sets:
        said = getattr(testset, "anomalies", ())
        if method.untranslated:
            said = (*said, *getattr(testset, "untranslated", ()))
        if said and method.judged is True:  # of systems that nobody judged nothing is said
            judged = {name for each in (*testset.human, *testset.rankings) for name in each.systems}
            said = (one for one in said if judged.intersection(one.subjects.get("systems", judged)))
        found |= dict.fromkeys(said)
    return tuple(found)


def _outlines(data: object) -> Iterator[Outline | None]:
    for testset in data if isinstance(data, list | tuple) else (data,):
        outline = getattr(testset, "outline", None)
        if outline is not None:
            yield outline


#: what docstrings say of code: :func:`name`
_CODE = re.compile(r"``(\w+)(?:=\"?([\w-]+)\"?)?``")
_ROLES = re.compile(r":\w+:`~?([^`]+)`")
#: what they say of objects of Python, which neither command lines nor forms take
_OBJECTS = re.compile(
    r",? or (?:what )?:\w+:`[^`]+`(?: made of (?:it|them))?| \((?:see )?:\w+:`[^`]+`\)"
)


def plain_help(
    option: Option,
    *,
    titles: bool = False,
    options: Mapping[str, Option] | None = None,
) -> str:
    """The help of an option for who knows no Python: functions are commands, or titles.

    Options of the command line are named as it has them: ``test="ar"`` is --test ar.
    """

    def as_flag(match: re.Match[str]) -> str:
        other = options.get(match[1]) if options else None
        return f"{other.flag} {match[2] or ''}".rstrip() if other else match[0]

    text = _ROLES.sub(
        _replace_by_title if titles else _replace_by_command, _OBJECTS.sub("", option.help)
    )
    return _CODE.sub(as_flag, text).replace("``", "").rstrip(".")


def _replace_by_command(match: re.Match[str]) -> str:
    name = match[1].removeprefix("gnomon.")
    if name in BUILT_IN:
        return f"gnomon {name.replace('.', ' ').replace('_', '-')}"
    return match[1]


def _replace_by_title(match: re.Match[str]) -> str:
    name = match[1].removeprefix("gnomon.")
    return title_of(name) if name in BUILT_IN else match[1]


def names() -> tuple[str, ...]:
    """The names of all methods: built-in ones, then those of packages."""
    return (*BUILT_IN, *(name for name in _offered() if name not in BUILT_IN))


def steps() -> tuple[str, ...]:
    """The names of the methods that a study can run; broken packages are left out."""
    return tuple(name for name in names() if (method := installed(name)) and method.tables)


def installed(name: str) -> Method | None:
    """The method of that name; None where it is not installed here, or cannot be loaded."""
    try:
        return find(name)
    except GnomonError:
        return None


def title_of(name: str) -> str:
    """Title of a method's page, whether it is installed here or not."""
    if name in BUILT_IN:
        return BUILT_IN[name].title
    method = installed(name)
    return method.title if method else _spell_out(name)


def _spell_out(name: str) -> str:
    return name.replace(".", " ").replace("_", " ").capitalize()


@functools.cache
def find(name: str) -> Method:
    """The method of that name."""
    if name in BUILT_IN:
        return imported(BUILT_IN[name].home).method  # type: ignore[no-any-return]  # by the decorator
    if name not in _offered():
        raise UnknownNameError("method", name, names())
    try:
        offered = _offered()[name].load()
    except Exception as error:
        raise UsageError(
            f"the method {name!r} of the package {package_of(name)} cannot be loaded: {error}"
        ) from error
    made = getattr(offered, "method", None)
    if not isinstance(made, Method):
        raise UsageError(
            f"the entry point {name!r} of {_ENTRY_POINTS} names {offered!r}, which is no method;"
            " put @gnomon.core.registry.method(...) before the function"
        )
    if made.name != name:
        raise UsageError(
            f"the package {package_of(name)} offers the method {made.name!r} as the entry point"
            f" {name!r} of {_ENTRY_POINTS}; both must have one name"
        )
    return made


def purpose_of(name: str) -> str:
    """Purpose of a method; built-in ones are not imported for that."""
    if name in BUILT_IN:
        return BUILT_IN[name].purpose
    try:
        return find(name).purpose
    except GnomonError as error:  # reported when it is called; others go on
        return f"cannot be used: {error}"


def package_of(name: str) -> str:
    """The distribution that offers a method."""
    return "gnomon" if name in BUILT_IN else _offered()[name].dist.name


def group_purpose(group: str) -> str:
    """Purpose of a group of methods; for packages alone it names the methods."""
    inside = (name for name in names() if name.startswith(f"{group}."))
    return GROUPS.get(group) or ", ".join(name.removeprefix(f"{group}.") for name in inside)


@functools.cache
def _offered() -> Mapping[str, Any]:
    return {entry_point.name: entry_point for entry_point in entry_points(group=_ENTRY_POINTS)}
