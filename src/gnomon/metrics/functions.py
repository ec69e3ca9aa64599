"""A user's function as a metric: its arguments, its name, and its import."""

from __future__ import annotations

import hashlib
import inspect
import logging
import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from gnomon.core.dependencies import Dependency
from gnomon.core.errors import DataError, ScoringError, SpecError, UnknownNameError, UsageError
from gnomon.core.signature import Signature, add_texts, content_hash
from gnomon.core.user_code import import_target, is_target
from gnomon.metrics.base import Metric, OfOptions
from gnomon.metrics.requirements import offering_packages
from gnomon.metrics.similarity import PARAMETERS, SimilarityMetric
from gnomon.metrics.spec import CODE, NAME, RESERVED, Options, Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.metrics.base import BoundMetric, Input
    from gnomon.metrics.spec import Literals

__all__ = [
    "FunctionMetric",
    "TextMetric",
    "code_fields",
    "load_function_metric",
    "metric",
    "needs_of",
    "offered_function",
    "roles_of",
    "target_of",
]


# Arguments of a scoring function, by the names of its parameters or by its needs.


#: what a parameter of a scoring function stands for, by its name
_ROLES = {
    "candidate": "candidate",
    "hypothesis": "candidate",
    "hyp": "candidate",
    "prediction": "candidate",
    "reference": "reference",
    "ref": "reference",
    "references": "references",
    "refs": "references",
    "source": "source",
    "src": "source",
}
#: what a parameter of a function of lists stands for: each list has one item for every candidate
_LIST_ROLES = {
    **_ROLES,
    "candidates": "candidate",
    "hypotheses": "candidate",
    "hyps": "candidate",
    "predictions": "candidate",
    "references": "reference",
    "refs": "reference",
    "reference_lists": "references",
    "sources": "source",
    "srcs": "source",
}
#: the names of candidates that tell a function of lists
_CANDIDATES = ("candidates", "hypotheses", "hyps", "predictions")
_NEED: dict[str, Input] = {
    "reference": "references",
    "references": "references",
    "source": "sources",
}
_NEEDS: tuple[Input, ...] = ("references", "sources")


def takes_lists(function: Callable[..., Any]) -> bool:
    """True if a function says by its parameters' names that it scores many candidates at once."""
    return any(name in _CANDIDATES for name in _list_required(function) or ())


def roles_of(
    function: Callable[..., Any],
    name: str,
    needs: Iterable[Input] | None,
    *,
    lists: bool = False,
) -> tuple[str, ...]:
    """Roles of a function's arguments: "candidate", "reference", "references" or "source"."""
    checked = None if needs is None else _check_needs(needs)
    return _roles(function, name, checked, _LIST_ROLES if lists else _ROLES)


def needs_of(roles: tuple[str, ...]) -> frozenset[Input]:
    """Inputs that a function with these arguments scores candidates against."""
    return frozenset(_NEED[role] for role in roles if role in _NEED)


def _check_needs(needs: Iterable[Input]) -> frozenset[Input]:
    if isinstance(needs, str):
        raise UsageError(f"needs={needs!r} must be a list, such as needs=({needs!r},)")
    chosen = frozenset(needs)
    for need in sorted(chosen):
        if need not in _NEEDS:
            raise UnknownNameError("need of a metric", need, _NEEDS)
    return chosen


def _roles(
    function: Callable[..., Any],
    name: str,
    needs: frozenset[Input] | None,
    known: Mapping[str, str],
) -> tuple[str, ...]:
    parameters = _list_required(function)
    named = None if parameters is None else [known.get(p, "") for p in parameters]
    if named and all(named):
        return _check_roles(tuple(named), name, needs)
    needs = frozenset(("references",)) if needs is None else needs
    by_need = {"sources": "source", "references": "reference"}
    roles = ("candidate", *(role for need, role in by_need.items() if need in needs))
    if parameters is not None and len(parameters) != len(roles):
        raise UsageError(
            f"metric {name!r}: it is not clear what its parameters ({', '.join(parameters)}) are;"
            " name them candidate, reference (or references), source"
        )
    return roles


def _check_roles(
    roles: tuple[str, ...], name: str, needs: frozenset[Input] | None
) -> tuple[str, ...]:
    distinct = set(roles)
    if (
        "candidate" not in distinct
        or len(distinct) < len(roles)
        or {"reference", "references"} <= distinct
    ):
        raise UsageError(
            f"metric {name!r} takes {', '.join(roles)}; it must take one candidate, and reference"
            " or references, and source, each at most once"
        )
    if needs is not None and needs != needs_of(roles):
        raise UsageError(
            f"metric {name!r}: needs={tuple(sorted(needs))} contradicts its parameters, which are"
            f" {', '.join(roles)}"
        )
    return roles


def _list_required(function: Callable[..., Any]) -> list[str] | None:
    """Names of the positional parameters that have no default or whose name is a role."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [p.name for p in by_position if p.default is p.empty]


# Functions named as ``module:function``.


def target_of(function: Callable[..., Any]) -> str | None:
    """``module:function`` if importing that gives this very function."""
    module = getattr(function, "__module__", None)
    path = getattr(function, "__qualname__", "")
    target = f"{module}:{path}"
    if module in (None, "__main__") or not is_target(target):
        return None
    member: object = sys.modules.get(str(module))
    for attribute in path.split("."):
        member = getattr(member, attribute, None)
    return target if member is function else None


# A user's function as a metric.


#: values that their repr tells
_PLAIN = (bool, int, float, str, type(None))
#: types of the named arguments of ``python('module:function')``
CODE_OPTIONS = {
    "name": str | None,
    "higher_is_better": bool,
    "needs": tuple[Literal["references", "sources"], ...] | None,
    "lists": bool | None,
}
_log = logging.getLogger(__name__)
#: pairs that a function of lists is given at a time, which bounds the memory that it takes
_AT_ONCE = 16384
#: requests for more pairs than these are announced before they begin
COSTLY = 10_000
#: scores that a function's metric remembers
_REMEMBERED = 1 << 19


def metric(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    higher_is_better: bool = True,
    needs: Iterable[Input] | None = None,
    lists: bool | None = None,
    spec: str | None = None,
) -> FunctionMetric | SimilarityMetric:
    """Make a metric of a function of texts, or of words.

    What the function is given is decided by the names of its parameters: ``candidate`` (or
    ``hypothesis``, ``hyp``, ``prediction``), ``reference`` (``ref``: one text), ``references``
    (``refs``: the list of all), ``source`` (``src``). Where a required parameter has another name,
    ``needs`` decides: candidate and reference for ``("references",)``, candidate and source for
    ``("sources",)``, candidate, source and reference for both.

    A function of ``candidate_tokens`` and ``reference_tokens`` compares words: it returns their
    similarities, [C, R], at most 1, and the metric matches words greedily, as BERTScore does.

    A function of one reference is called for each reference, and the best score counts. The
    system score is the mean over segments. Equal texts are scored once, also where a method asks
    for many variants of them (MuLER's masks, BMX's perturbations).

    A function whose parameter is called ``candidates`` (``hypotheses``, ``hyps``,
    ``predictions``), or that is said to take ``lists``, is given lists of equal length, up to
    16384 items at a time, and returns as many numbers: ``references`` (``refs``) has one reference
    for each candidate, ``reference_lists`` all of them, ``sources`` (``srcs``) its source. Which
    pairs stand in one list depends on what is asked for; the score of a pair must not.

    Args:
        function: texts -> a finite number, lists of texts -> as many, or words -> similarities;
            must be deterministic.
        name: what to call it; the function's own name by default.
        higher_is_better: False for error rates.
        needs: "references", "sources", both, or none; by default what the parameters' names say,
            and else "references".
        lists: it takes lists of texts; by default what the parameters' names say.
        spec: the spec that makes this metric again, where a package offers it under one; by
            default ``python('module:function')`` if the function can be imported, else the name.

    Raises:
        UsageError: the parameters do not say what the function takes, or contradict ``needs``.
        SpecError: the name is not fit for a spec, or is that of a built-in metric.

    >>> metric(lambda candidate, reference: float(candidate == reference), name="exact").spec
    'exact'
    """
    own_name = getattr(function, "__name__", type(function).__name__)
    name = _check_name(name or ("function" if own_name == "<lambda>" else own_name))
    made: FunctionMetric | SimilarityMetric
    if tuple(_list_required(function) or ()) == PARAMETERS:
        made = _word_metric(function, name, spec, higher_is_better=higher_is_better, needs=needs)
        needs = lists = None
    else:
        many = takes_lists(function) if lists is None else lists
        made = FunctionMetric(
            function=function,
            name=name,
            roles=roles_of(function, name, needs, lists=many),
            lists=many,
            higher_is_better=higher_is_better,
            spec=spec or name,
            fields=code_fields(function, spec),
        )
    target = None if spec else target_of(function)
    return (
        made
        if target is None
        else _record_code(made, target, own=own_name, needs=needs, lists=lists)
    )


def _word_metric(
    function: Callable[..., Any],
    name: str,
    spec: str | None,
    *,
    higher_is_better: bool,
    needs: Iterable[Input] | None,
) -> SimilarityMetric:
    """The metric of a function that compares words."""
    if not higher_is_better or (needs is not None and set(needs) != {"references"}):
        raise UsageError(
            f"metric {name!r} compares words of candidate and reference by their similarity: it"
            " needs references, and higher is better"
        )
    return SimilarityMetric(function, name, spec or name, code_fields(function, spec))


def offered_function(
    function: Callable[..., Any], *, name: str, package: str
) -> FunctionMetric | SimilarityMetric:
    """The metric of a function that a package offers as an entry point."""
    return replace(metric(function, name=name, spec=name), fields=(("package", package),))


def load_function_metric(
    target: str,
    *,
    name: str | None = None,
    higher_is_better: bool = True,
    needs: Sequence[Input] | None = None,
    lists: bool | None = None,
) -> FunctionMetric | SimilarityMetric:
    """The metric ``python('module:function')``; imports, and so runs, the module."""
    function = import_target(target)
    if not callable(function):
        raise UsageError(f"{target} is no function: {function!r}")
    own_name = target.rpartition(":")[2].rpartition(".")[2]
    made = metric(
        function, name=name or own_name, higher_is_better=higher_is_better, needs=needs, lists=lists
    )
    if isinstance(made, SimilarityMetric):
        needs = lists = None
    return _record_code(made, target, own=own_name, needs=needs, lists=lists)


class _Call(NamedTuple):
    """One call of the function: indices into the batch's texts, -1 or () where it takes none."""

    candidate: int
    source: int
    reference: int
    references: tuple[int, ...]


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """A function of texts as a metric; made by :func:`metric`."""

    function: Callable[..., Any]
    name: str
    roles: tuple[str, ...]  # what each of its arguments is
    higher_is_better: bool  # False for error rates
    spec: str  # ``python('module:function')`` if it can be imported, or the name alone
    # further fields of its signature (a hash of its source, where that is complete)
    fields: tuple[tuple[str, str], ...] = ()
    lists: bool = False  # it is given lists, an item for every candidate

    pooled: ClassVar[bool] = False

    def requires(self, language: str | None) -> tuple[Dependency, ...]:  # noqa: ARG002  # as all metrics
        """The function, and the package that offers it."""
        offered = "package" in dict(self.fields)
        return (Dependency("code", self.spec), *(offering_packages(self.name) if offered else ()))

    @property
    def needs(self) -> frozenset[Input]:
        """The inputs that the function scores candidates against."""
        return needs_of(self.roles)

    def bind(self, testset: TestSet) -> BoundFunction:
        """The metric, ready to score."""
        for need, there in (("references", testset.references), ("sources", testset.sources)):
            if need in self.needs and not there:
                raise DataError(f"metric {self.name!r} needs {need}; {testset.name!r} has none")
        return BoundFunction(self)


class TextMetric(Metric):
    """A metric that looks at one segment at a time.

    Attributes:
        text_score: the score of a text: of candidate and reference, or what else :func:`metric`
            takes.
    """

    text_score: Callable[..., float]

    def bind(self, testset: TestSet) -> BoundMetric:
        """The metric, ready to score.

        Raises:
            DataError: the test set lacks what the metric needs.
        """
        better = self.higher_is_better
        made = metric(self.text_score, name=self.name, spec=self.spec, higher_is_better=better)
        return made.bind(testset)


class _CallOrigin(NamedTuple):
    """Where a call comes from first, for messages; texts are looked up in the batch."""

    batch: Batch
    call: _Call
    system: int
    segment: int

    def __str__(self) -> str:
        number = int(self.batch.segments[self.segment]) + 1
        return f"system {self.batch.systems[self.system]!r}, segment {number}"

    def texts(self, role: str) -> str | list[str]:
        """Texts that the function is given in a role."""
        if role == "references":
            return [self.batch.texts[index] for index in self.call.references]
        index: int = getattr(self.call, role)
        return self.batch.texts[index]

    def address(self, roles: tuple[str, ...]) -> bytes:
        """The same for the same texts, whatever their numbers."""
        digest = hashlib.blake2b(digest_size=16)
        for role in roles:
            given = self.texts(role)
            each = [given] if isinstance(given, str) else given
            digest.update(len(each).to_bytes(8, "little"))
            add_texts(digest, each)
        return digest.digest()


class BoundFunction(OfOptions):
    """A function of texts, ready to score; remembers what it gave for half a million of them.

    Masked, perturbed and selected batches repeat texts of the batch that they come from: each
    distinct pair is asked for once.
    """

    metric: FunctionMetric

    def __init__(self, metric: FunctionMetric) -> None:
        self.metric = metric
        self.asked = 0
        self._announced = False
        self._remembered: dict[bytes, float] = {}

    @property
    def signature(self) -> Signature:
        """The spec, and a hash of the function's source where it can be had."""
        return Signature(self.metric.spec).adding(dict(self.metric.fields))

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """The function's scores, float64 [K, N]; NaN for segments without a reference."""
        scored: dict[_Call, float] = self.memory_of(batch.texts)
        calls = {(k, i): self._calls(batch, k, i) for k, i in np.ndindex(batch.shape)}
        new: dict[_Call, _CallOrigin] = {}
        for (k, i), cell_calls in calls.items():
            for call in cell_calls:
                if call not in scored:
                    new.setdefault(call, _CallOrigin(batch, call, k, i))
        scored |= self._ask(list(new.values()))
        best = max if self.higher_is_better else min
        scores = np.full(batch.shape, np.nan)
        for cell, cell_calls in calls.items():
            if cell_calls:
                scores[cell] = best(scored[call] for call in cell_calls)
        return scores

    def announce(self, pairs: int) -> None:
        """Say once that many pairs of texts will be asked for, before that begins."""
        if pairs > COSTLY and not self._announced:
            self._announced = True
            of_lists = f"given up to {pairs:,} pairs in lists"
            asked = of_lists if self.metric.lists else f"called up to {pairs:,} times"
            _log.warning("%r will be %s", self.name, asked)

    def _ask(self, places: Sequence[_CallOrigin]) -> dict[_Call, float]:
        """Scores of calls, from memory or from the function."""
        address = {origin.call: origin.address(self.metric.roles) for origin in places}
        wanted: dict[bytes, _CallOrigin] = {}
        for origin in places:
            if address[origin.call] not in self._remembered:
                wanted.setdefault(address[origin.call], origin)
        self.announce(len(wanted))
        self.asked += len(wanted)
        keys, scores_by_key = list(wanted), dict[bytes, float]()
        step = _AT_ONCE if self.metric.lists else 1
        for start in range(0, len(keys), step):
            some = keys[start : start + step]
            asked = [wanted[key] for key in some]
            scores = self._score_list(asked) if self.metric.lists else [self._score_one(asked[0])]
            scores_by_key |= zip(some, scores, strict=True)
        scored = {
            c: self._remembered.get(key, scores_by_key.get(key, 0.0)) for c, key in address.items()
        }
        self._remembered |= scores_by_key
        while len(self._remembered) > _REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        return scored

    def _calls(self, batch: Batch, k: int, i: int) -> list[_Call]:
        roles = self.metric.roles
        candidate = int(batch.candidates[k, i])
        source = -1
        if "source" in roles and batch.sources is not None:
            source = int(batch.sources[i])
        if "references" not in self.needs:
            return [_Call(candidate, source, -1, ())]
        references = tuple(batch.references_of(k)[i].tolist())
        if "references" in roles:
            return [_Call(candidate, source, -1, references)] if references else []
        return [_Call(candidate, source, reference, ()) for reference in references]

    def _score_one(self, place: _CallOrigin) -> float:
        try:
            value = self.metric.function(*(place.texts(role) for role in self.metric.roles))
        except Exception as error:
            raise ScoringError(
                f"metric {self.name!r} failed at {place}: {type(error).__name__}: {error}"
            ) from error
        return _check_score(value, self.name, str(place))

    def _score_list(self, places: Sequence[_CallOrigin]) -> list[float]:
        lists = [[origin.texts(role) for origin in places] for role in self.metric.roles]
        where = f"{places[0]} to {places[-1]}"
        try:
            values = list(self.metric.function(*lists))
        except Exception as error:
            raise ScoringError(
                f"metric {self.name!r} failed on lists of {len(places)} texts ({where}):"
                f" {type(error).__name__}: {error}"
            ) from error
        if len(values) != len(places):
            raise ScoringError(
                f"metric {self.name!r} returned {len(values)} scores for lists of {len(places)}"
                f" texts ({where}); it must return one for each"
            )
        return [
            _check_score(value, self.name, str(origin))
            for value, origin in zip(values, places, strict=True)
        ]


def _check_score(value: object, name: str, where: str) -> float:
    try:
        number = math.nan if isinstance(value, (str, bytes)) else float(value)  # type: ignore[arg-type]  # what is no number raises
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ScoringError(
            f"metric {name!r} returned {value!r} at {where}; a metric must return a finite number"
        )
    return number


def _check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise SpecError(
            f"{name!r} cannot be the name of a metric: a letter, then letters, digits and _ . + -;"
            " give another with name="
        )
    if name in RESERVED:
        raise SpecError(f"{name!r} is a metric of gnomon itself; give another name with name=")
    return name


def code_fields(function: Callable[..., Any], spec: str | None) -> tuple[tuple[str, str], ...]:
    """A hash of the source, if that tells all: no values from around it, no object's state.

    The state of options is that of the spec, if they are those of the spec; then their class is
    hashed whole.
    """
    owner = getattr(function, "__self__", None)
    stated = spec is not None and isinstance(owner, Options) and owner.spec == spec
    written = function if inspect.isfunction(function) else type(owner if stated else function)
    if not stated and _holds_more(function):
        return ()
    try:
        source = inspect.getsource(written)
    except (OSError, TypeError):
        return ()
    given = (*(getattr(function, name, None) for name in ("__defaults__", "__kwdefaults__")),)
    # a default in the source may be a name: lambda candidate, reference, k=k: ...
    return (("code", content_hash(source + (repr(given) if any(given) else ""))),)


def _holds_more(function: Callable[..., Any]) -> bool:
    """True if what a function gives rests on more than its own source."""
    if inspect.isfunction(function):
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        plain = all(isinstance(value, _PLAIN) for value in defaults)
        return bool(function.__closure__) or bool(vars(function)) or not plain
    slots = any(getattr(kind, "__slots__", ()) for kind in type(function).__mro__)
    called = inspect.isfunction(type(function).__call__)
    return slots or bool(getattr(function, "__dict__", {})) or not called


def _record_code(
    made: FunctionMetric | SimilarityMetric,
    target: str,
    *,
    own: str,
    needs: Iterable[Input] | None,
    lists: bool | None,
) -> FunctionMetric | SimilarityMetric:
    arguments: list[tuple[str, Literals]] = []
    if made.name != own:
        arguments.append(("name", made.name))
    if not made.higher_is_better:
        arguments.append(("higher_is_better", False))
    if needs is not None:
        arguments.append(("needs", tuple(sorted(needs))))
    if lists is not None:
        arguments.append(("lists", lists))
    return replace(made, spec=str(Spec(CODE, target, tuple(arguments))))
