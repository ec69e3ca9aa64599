"""Registry of metrics: from a spec to a metric, and checks of a metric against a test set.

Built-in metrics are loaded when named; so are the entry points of the group ``gnomon.metrics``
that other packages offer. These cannot take the name of a built-in.
"""

from __future__ import annotations

import inspect
import logging
import re
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.core.errors import DataError, GnomonError, SpecError, UnknownNameError, UsageError
from gnomon.core.manifest import imported
from gnomon.core.options import CAPABILITIES, describe_reaches, fields_of
from gnomon.core.plugins import entry_points
from gnomon.core.validation import Problem, problems
from gnomon.messages.audiences import flag
from gnomon.metrics.base import Metric, check_needs
from gnomon.metrics.functions import CODE_OPTIONS, load_function_metric, metric, offered_function
from gnomon.metrics.requirements import GROUP, requirements
from gnomon.metrics.spec import (
    ALIASES,
    BUILTIN,
    CODE,
    NAME,
    Spec,
    check_names,
    default_of,
    fit,
    format_literal,
    ordered_fields,
    reaches_of_arguments,
    read_spec,
    unknown_argument,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from importlib.metadata import EntryPoint

    from gnomon.core.dependencies import Dependency
    from gnomon.core.options import BoundOptions, Capability
    from gnomon.core.outline import Outline

__all__ = [
    "Description",
    "check_metric",
    "check_score",
    "describe",
    "metric_class",
    "names",
    "needs_of_specs",
    "parse",
    "reaches_of_spec",
    "resolve",
]


# Names of metrics, and metrics from specs.


_LONGEST_PATH = 255
_LONGEST_NAME = 60
#: what lists say of the reach of what packages offer
FOREIGN = "not known"
_log = logging.getLogger("gnomon")


class Description(NamedTuple):
    """A metric, or what else specs name, for ``gnomon list``.

    Attributes:
        name: name in specs.
        options: options with their defaults, as specs write them (``word_order=0``).
        summary: one sentence.
        source: "built-in", "alias", or the package that offers it.
        reaches: what it may reach beyond the request.
    """

    name: str
    options: tuple[str, ...]
    summary: str
    source: str
    reaches: str


def parse(spec: str, *, allow_code: bool = False) -> Metric:
    """The metric that a spec string names.

    Args:
        spec: ``bleu``, ``chrf(word_order=2)``, ``chrf:word_order=2``, an alias such as ``chrf++``,
            a name that an installed package offers, or a whole signature.
        allow_code: let ``python('module:function')`` import and run the module.

    Raises:
        SpecError: the spec cannot be read, or an argument is unknown or of the wrong type.
        UnknownNameError: there is no such metric.
        UsageError: ``python(...)`` without ``allow_code``, or a file's name in place of a spec.
    """
    try:
        return build(read_spec(spec), allow_code=allow_code)
    except (SpecError, UnknownNameError):
        if elsewhere := _remedy_for_other_tools(spec):
            raise UnknownNameError("metric", spec, names(), instead=elsewhere) from None
        if _is_file(spec):
            if spec.endswith(".py"):
                raise UsageError(
                    f"{spec!r} is given as a metric; name the function in it: {spec}:FUNCTION"
                ) from None
            raise UsageError(
                f"{spec!r} is given as a metric, but it is a file; references come first:"
                " gnomon score REF -i SYSTEM ... -m METRIC"
            ) from None
        raise


#: metrics that other tools compute: what their names begin with or hold, without signs
_ELSEWHERE = re.compile(
    "comet|metricx|bleurt|gemba|^(bartscore|geval|matese|prism|questeval|unieval|unite|yisi)"
)


def _remedy_for_other_tools(spec: str) -> str:
    """Remedy for a metric that gnomon does not compute; empty where it is no known one."""
    name = spec.partition("(")[0].strip()
    if name.lower() in BUILTIN:
        return ""
    match = _ELSEWHERE.search(re.sub(r"[^a-z0-9]", "", name.lower()))
    if not match or len(name) > _LONGEST_NAME:
        return ""
    if match[0] == "gemba":
        return (
            f"{name!r} asks a language model, which gnomon does by the metric judge: -m"
            " \"judge('gemba-da', model='NAME', endpoint='http://localhost:8000/v1')\"; it takes"
            " scores that another tool made from a file, too: -m \"scores('FILE.tsv')\""
        )
    comet = match[0] == "comet"
    file = "comet.json" if comet else "FILE.tsv"
    how = (
        "what comet-score --to_json comet.json wrote, or TSV"
        if comet
        else "TSV with the columns system, segment and score"
    )
    begin = f"{name!r} is computed by a tool of its own, and"
    if match[0] in BUILTIN and not comet:
        begin = (
            f"{name!r} is no metric of that name: name the folder of its model, -m"
            f" \"{match[0]}('FOLDER')\"; also,"
        )
    if comet:
        begin = (
            f"{name!r} is no metric of that name: convert its weights once (gnomon setup model"
            " FOLDER), then name it -m \"comet('FOLDER')\" (CometKiwi: cometkiwi, UniTE: unite,"
            " xCOMET: xcomet); also,"
        )
    return (
        f"{begin} gnomon takes its scores from a file: run"
        f" that tool, then name the file as a metric, -m \"scores('{file}')\" ({how}; a score per"
        " segment, or one per system)"
    )


def needs_of_specs(
    given: object, language: str | None, options: Mapping[str, object]
) -> Iterator[Dependency]:
    """Yield the dependencies of metrics that an option names; other names are left out."""
    for spec in given if isinstance(given, list | tuple) else [given]:
        if isinstance(spec, str):
            with suppress(SpecError, UnknownNameError):
                metric = parse(spec, allow_code=options["allow_code"] is True)
                yield from requirements(metric, language)


def reaches_of_spec(text: str) -> frozenset[Capability]:
    """Capabilities that a spec from an untrusted user reaches: files, the network, code.

    Nothing that it names is opened, asked or imported. A metric of another package runs that
    package's code, of which nothing is known, and so reaches everything.

    >>> reaches_of_spec("chrf(word_order=2)"), sorted(reaches_of_spec("difficulty(comet('x'))"))
    (frozenset(), ['files', 'network'])

    Raises:
        SpecError: it cannot be read, or gives an option that there is not.
        UnknownNameError: there is no such metric.
    """
    spec = _expand(read_spec(text))
    if spec.name in BUILTIN:
        return reaches_of_arguments(spec, load_class(BUILTIN[spec.name]))
    if spec.name != CODE and spec.name.lower() not in map(str.lower, _plugins()):
        raise UnknownNameError("metric", spec.name, names())
    return frozenset(CAPABILITIES)


def reaches_of_kind_or_spec(text: str) -> frozenset[Capability]:
    """Likewise, of what may also be a kind of human scores: a name without a point."""
    try:
        return reaches_of_spec(text)
    except UnknownNameError:
        if NAME.fullmatch(text) is None or "." in text:
            raise
        return frozenset()


def resolve(what: str | Metric | Callable[..., float], *, allow_code: bool = False) -> Metric:
    """A metric from whatever names one: a spec, a metric, or a function of texts.

    Raises:
        SpecError, UnknownNameError, UsageError: as :func:`parse` and :func:`gnomon.metric`.
    """
    if isinstance(what, str):
        return parse(what, allow_code=allow_code)
    if isinstance(what, Metric):
        return what
    if callable(what):
        return metric(what)
    raise UsageError(
        f"{what!r} is no metric; give a spec such as 'bleu', a metric, or a function of texts"
    )


def names() -> tuple[str, ...]:
    """Names that specs may use: built-in metrics, aliases, then what packages offer."""
    return (*BUILTIN, *ALIASES, *_plugins())


def build(spec: Spec, *, allow_code: bool = False) -> Metric:
    """The metric that a spec stands for."""
    spec = _expand(spec)
    if spec.name == CODE:
        return _load_from_code(spec, allow_code=allow_code)
    if spec.name in BUILTIN:
        if spec.name in _list_offered():
            _log.warning(
                "the package %s offers a metric %r too; it is ignored, built-in metrics cannot be"
                " replaced",
                package_of(_list_offered()[spec.name]),
                spec.name,
            )
        return _construct(load_class(BUILTIN[spec.name]), spec, allow_code=allow_code)
    plugins = _plugins()
    name = spec.name
    if name not in plugins:
        alike = [plugin for plugin in plugins if plugin.lower() == name.lower()]
        if len(alike) != 1:
            raise UnknownNameError("metric", name, names())
        name = alike[0]
        spec = Spec(name, spec.first, spec.arguments)
    return _load_from_plugin(plugins[name], spec, allow_code=allow_code)


def metric_class(name: str) -> type[Any] | None:
    """The class of a metric by its name in specs; None where no class has it, or a broken one."""
    if name in BUILTIN:
        return load_class(BUILTIN[name])
    point = _plugins().get(name)
    if point is None:
        return None
    try:
        plugin = _load_plugin(point)
    except UsageError:
        return None
    return plugin if isinstance(plugin, type) else type(plugin)


def describe() -> tuple[Description, ...]:
    """Every metric, for ``gnomon list metrics``; packages' metrics are named but not loaded."""
    built_in = (
        Description(
            name, *summarise(load_class(target)), "built-in", reaches_of(load_class(target))
        )
        for name, target in BUILTIN.items()
    )
    aliases = (
        Description(name, (), f"short for {spec}", "alias", "") for name, spec in ALIASES.items()
    )
    plugins = (
        Description(name, (), f"offered as {point.value}", package_of(point), FOREIGN)
        for name, point in _plugins().items()
    )
    return (*built_in, *aliases, *plugins)


def package_of(point: EntryPoint) -> str:
    """Name and version of the package that offers an entry point."""
    return "an unknown package" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def _expand(spec: Spec) -> Spec:
    if spec.name not in ALIASES:
        return spec
    alias = ALIASES[spec.name]
    for key, value in alias.arguments:
        if key in dict(spec.arguments):
            raise SpecError(
                f"{spec.name!r} is short for {alias} and fixes {key}={format_literal(value)};"
                f" give {key} to {alias.name!r} itself"
            )
    return Spec(alias.name, spec.first, alias.arguments + spec.arguments)


def _construct(factory: type[Any], spec: Spec, *, allow_code: bool) -> Metric:
    arguments: dict[str, object] = dict(spec.arguments)
    if isinstance(spec.first, tuple):
        return _make_of_list(factory, spec, spec.first, arguments, allow_code=allow_code)
    check_names(spec.name, factory, arguments)
    positional = getattr(factory, "positional", None)
    opening = getattr(factory, "opening", None)
    if spec.first is not None and opening is not None:
        if opening in arguments:
            raise SpecError(f"{spec.name}: {opening} is given twice; given: {spec}")
        arguments[opening] = str(spec.first)  # a name needs no quotes
    elif spec.first is not None:
        if positional is None:
            raise SpecError(
                f"metric {spec.name!r} takes options by name only and wraps no metric; given:"
                f" {spec}"
            )
        first = spec.first
        arguments[positional] = (
            first if isinstance(first, str) else build(first, allow_code=allow_code)
        )
    elif positional is not None and _is_required(factory, positional):
        raise SpecError(
            f"metric {spec.name!r} wants its {positional} first: {spec.name}({positional.upper()},"
            f" ...); given: {spec}"
        )
    made: Metric = factory(**arguments)
    return made


def _make_of_list(
    factory: type[Any],
    spec: Spec,
    several: tuple[Spec | str, ...],
    arguments: Mapping[str, object],
    *,
    allow_code: bool,
) -> Metric:
    """Make a metric of a class with a list in place of the first argument."""
    make = getattr(factory, "several", None)
    if make is None:
        raise SpecError(f"metric {spec.name!r} takes no list first; given: {spec}")
    items = [
        item if isinstance(item, str) else build(item, allow_code=allow_code) for item in several
    ]
    made: Metric = imported(make)(items, arguments)
    return made


def _is_required(factory: type[Any], option: str) -> bool:
    """True if a dataclass has no default for a field."""
    return any(field.name == option and default_of(field) is MISSING for field in fields(factory))


def _load_from_plugin(point: EntryPoint, spec: Spec, *, allow_code: bool) -> Metric:
    offered = _load_plugin(point)
    if isinstance(offered, type):
        return _build_plugin(point, offered, spec, allow_code=allow_code)
    if spec.first is not None or spec.arguments:
        raise SpecError(f"metric {point.name!r} takes no options; given: {spec}")
    if isinstance(offered, Metric):
        return offered
    if not callable(offered):
        raise broken_plugin("metric", point, f"it is neither a metric nor a function: {offered!r}")
    return offered_function(offered, name=point.name, package=package_of(point))


def _build_plugin(point: EntryPoint, factory: type[Any], spec: Spec, *, allow_code: bool) -> Metric:
    if not (is_dataclass(factory) and issubclass(factory, Metric)):
        raise broken_plugin("metric", point, "it is no dataclass of gnomon.metrics.Metric")
    try:
        return _construct(factory, spec, allow_code=allow_code)
    except GnomonError:
        raise
    except Exception as error:
        raise broken_plugin("metric", point, f"{type(error).__name__}: {error}") from error


def _load_plugin(point: EntryPoint) -> object:
    try:
        return point.load()
    except Exception as error:  # a stranger's module may fail in any way
        raise broken_plugin("metric", point, f"{type(error).__name__}: {error}") from error


def broken_plugin(kind: str, point: EntryPoint, problem: str) -> UsageError:
    """Why what a package offers cannot be used, and what to do."""
    return UsageError(
        f"{kind} {point.name!r} of the package {package_of(point)} ({point.value}) cannot be used:"
        f" {problem}; update or uninstall that package"
    )


def _load_from_code(spec: Spec, *, allow_code: bool) -> Metric:
    if not allow_code:
        raise UsageError(
            f"{spec} runs code of {str(spec.first).rpartition(':')[0]}; if you trust it, allow it"
            " (",
            flag("allow_code", "", "True"),
            ")",
        )
    if not isinstance(spec.first, str):
        raise SpecError(
            f"python(...) takes 'module:function' or 'file.py:function' first, in quotes;"
            f" given: {spec}"
        )
    options: dict[str, Any] = {}
    for key, value in spec.arguments:
        if key not in CODE_OPTIONS:
            raise unknown_argument(CODE, key, CODE_OPTIONS)
        options[key] = fit(value, CODE_OPTIONS[key], f"{CODE}: {key}")
    return load_function_metric(spec.first, **options)


def load_class(target: str) -> type[Any]:
    """The class that ``module:class`` names."""
    kind: type[Any] = imported(target)
    return kind


def summarise(options: type[Any]) -> tuple[tuple[str, ...], str]:
    """The options of a class with their defaults (names alone without one), and its summary."""
    defaults = [(field.name, default_of(field)) for field in ordered_fields(options)]
    shown = tuple(n if default is MISSING else f"{n}={default!r}" for n, default in defaults)
    return shown, " ".join((inspect.getdoc(options) or "").split("\n\n", 1)[0].split())


def reaches_of(options: type[Any]) -> str:
    """The capability that a class reaches, by its options or anyway."""
    return describe_reaches(fields_of(options).values(), getattr(options, "reaches", ()))


def _list_offered() -> dict[str, EntryPoint]:
    points: dict[str, EntryPoint] = {}
    for point in _points(entry_points):
        earlier = points.setdefault(point.name, point)
        if earlier.value != point.value:
            _log.warning(
                "metric %r is offered by %s and by %s; the first is used",
                point.name,
                package_of(earlier),
                package_of(point),
            )
    return points


@cache
def _points(find: Callable[..., Iterable[EntryPoint]]) -> tuple[EntryPoint, ...]:
    """Entry points of packages, by name; sought once: many packages take long."""
    return tuple(sorted(find(group=GROUP), key=lambda p: (p.name, package_of(p))))


def _plugins() -> dict[str, EntryPoint]:
    taken = {*BUILTIN, *ALIASES, CODE}
    return {name: point for name, point in _list_offered().items() if name not in taken}


def _is_file(text: str) -> bool:
    if "(" in text or not ("/" in text or "." in text):
        return False  # a spec, or a name
    try:
        return len(text) <= _LONGEST_PATH and Path(text).is_file()
    except (OSError, ValueError):
        return False


# Checks of a metric against a test set, before anything is bound or scored.


def check_metric(
    what: str | Metric | Callable[..., float],
    outline: Outline | None,
    *,
    allow_code: bool = False,
    changed: bool = False,
    pairs: bool = False,
) -> None:
    """Refuse a metric that does not exist, or that a test set lacks something for.

    ``outline``: what the test set holds; None: it is not known yet. ``pairs``: metrics that compare
    two outputs, and score none, will do.
    """
    metric = resolve(what, allow_code=allow_code)
    if changed and metric.is_limited_to_test_set:
        from gnomon.metrics.score_file import changed_texts

        raise UsageError(changed_texts(metric.spec))
    if not pairs and metric.is_pairwise:
        raise UsageError(
            f"{metric.spec} compares two outputs and scores none; ask it by gnomon compare"
        )
    if outline is not None:
        check_needs(metric, outline)
    metric.check_outline(outline)


def check_once(metrics: Any, *, allow_code: bool = False) -> None:
    """Refuse a metric that is named twice: its rows could not be told apart."""
    seen = set()
    for given in metrics if isinstance(metrics, list | tuple) else ():
        try:
            name = str(
                resolve(given, allow_code=allow_code).spec if isinstance(given, str) else given
            )
        except GnomonError:
            continue
        if name in seen:
            raise UsageError(f"metric {given!r} is named twice; name each metric once")
        seen.add(name)


def check_score(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check arguments of :func:`gnomon.metrics.score`; as :func:`check_metric`."""
    several = isinstance(options.metrics, list | tuple)
    every: list[tuple[int | None, Any]] = (
        [*enumerate(options.metrics)] if several else [(None, options.metrics)]
    )
    for number, given in every:
        where = "metrics" if number is None else f"metrics[{number}]"
        yield from problems(where, check_metric, given, outline, allow_code=options.allow_code)
    if outline is not None and not outline.systems:
        yield Problem("", DataError(f"test set {outline.name!r} holds no system outputs"))
