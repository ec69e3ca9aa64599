"""A user's function as a metric."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.errors import DataError, ScoringError, SpecError, UsageError
from gnomon.metrics._builtin import CODE, RESERVED
from gnomon.metrics._code import imported, target_of
from gnomon.metrics._of_options import MeanOfSegments
from gnomon.metrics._reader import NAME
from gnomon.metrics._roles import needs_of, roles_of
from gnomon.metrics._spec import Options, Spec
from gnomon.signature import Signature, content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._spec import Literals
    from gnomon.metrics.protocol import Need
    from gnomon.testset import TestSet

__all__ = ["FunctionMetric", "from_code", "metric", "offered_function"]

#: values that their repr tells
_PLAIN = (bool, int, float, str, type(None))
#: types of the named arguments of ``python('module:function')``
CODE_OPTIONS = {
    "name": str | None,
    "higher_is_better": bool,
    "needs": tuple[Literal["references", "sources"], ...] | None,
}


def metric(
    function: Callable[..., float],
    *,
    name: str | None = None,
    higher_is_better: bool = True,
    needs: Iterable[Need] | None = None,
    spec: str | None = None,
) -> FunctionMetric:
    """Make a metric of a function of texts.

    What the function is given is decided by the names of its parameters: ``candidate`` (or
    ``hypothesis``, ``hyp``, ``prediction``), ``reference`` (``ref``: one text), ``references``
    (``refs``: the list of all), ``source`` (``src``). Where a required parameter has another name,
    ``needs`` decides: candidate and reference for ``("references",)``, candidate and source for
    ``("sources",)``, candidate, source and reference for both.

    A function of one reference is called for each reference, and the best score counts. The
    system score is the mean over segments. Equal texts are scored once.

    Args:
        function: texts -> a finite number; must be deterministic.
        name: what to call it; the function's own name by default.
        higher_is_better: False for error rates.
        needs: "references", "sources", both, or none; by default what the parameters' names say,
            and else "references".
        spec: the spec that makes this metric again, where a package offers it under one; by
            default ``python('module:function')`` if the function can be imported, else the name.

    Raises:
        UsageError: the parameters do not say what the function takes, or contradict ``needs``.
        SpecError: the name is not fit for a spec, or is that of a built-in metric.

    >>> metric(lambda candidate, reference: float(candidate == reference), name="exact").spec
    'exact'
    """
    own = getattr(function, "__name__", type(function).__name__)
    name = _checked_name(name or ("function" if own == "<lambda>" else own))
    made = FunctionMetric(
        function=function,
        name=name,
        roles=roles_of(function, name, needs),
        higher_is_better=higher_is_better,
        spec=spec or name,
        fields=_code_fields(function, spec),
    )
    target = None if spec else target_of(function)
    return made if target is None else _as_code(made, target, own=own, needs=needs)


def offered_function(function: Callable[..., float], *, name: str, package: str) -> FunctionMetric:
    """The metric of a function that a package offers as an entry point."""
    return replace(metric(function, name=name, spec=name), fields=(("package", package),))


def from_code(
    target: str,
    *,
    name: str | None = None,
    higher_is_better: bool = True,
    needs: Sequence[Need] | None = None,
) -> FunctionMetric:
    """The metric ``python('module:function')``; imports, and so runs, the module.

    Modules are looked for where Python looks, and then in the working directory.

    Raises:
        SpecError: the target is not of that form.
        UsageError: the module cannot be imported.
        UnknownNameError: the module has no such function.
    """
    function = imported(target)
    if not callable(function):
        raise UsageError(f"{target} is no function: {function!r}")
    own = target.rpartition(":")[2].rpartition(".")[2]
    made = metric(function, name=name or own, higher_is_better=higher_is_better, needs=needs)
    return _as_code(made, target, own=own, needs=needs)


class _Call(NamedTuple):
    """One call of the function: indices into the batch's texts, -1 or () where it takes none."""

    candidate: int
    source: int
    reference: int
    references: tuple[int, ...]


@dataclass(frozen=True)
class FunctionMetric:
    """A function of texts as a metric; made by :func:`metric`.

    Attributes:
        function: the function.
        name: its name.
        roles: what each of its arguments is.
        higher_is_better: False for error rates.
        spec: ``python('module:function')`` if it can be imported, or the name alone.
        fields: what else its signature tells (a hash of its source, where that tells all).
    """

    function: Callable[..., float]
    name: str
    roles: tuple[str, ...]
    higher_is_better: bool
    spec: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def needs(self) -> frozenset[Need]:
        """What the function scores candidates against."""
        return needs_of(self.roles)

    def bind(self, testset: TestSet) -> BoundFunction:
        """The metric, ready to score.

        Raises:
            DataError: the test set lacks what the function takes.
        """
        for need, there in (("references", testset.references), ("sources", testset.sources)):
            if need in self.needs and not there:
                raise DataError(f"metric {self.name!r} needs {need}; {testset.name!r} has none")
        return BoundFunction(self)


class BoundFunction(MeanOfSegments):
    """A function of texts, ready to score; remembers the calls for the texts that it saw last."""

    metric: FunctionMetric

    def __init__(self, metric: FunctionMetric) -> None:
        self.metric = metric
        self._texts: tuple[str, ...] | None = None
        self._known: dict[_Call, float] = {}

    @property
    def signature(self) -> Signature:
        """The spec, and a hash of the function's source where it can be had."""
        return Signature(self.metric.spec).adding(dict(self.metric.fields))

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """The function's scores, float64 [K, N]; NaN for segments without a reference.

        Raises:
            ScoringError: the function fails, or returns something that is not a finite number.
        """
        if self._texts is not batch.texts:
            self._texts, self._known = batch.texts, {}
        known = self._known
        best = max if self.higher_is_better else min
        scores = np.full(batch.shape, np.nan)
        for k, i in np.ndindex(batch.shape):
            calls = self._calls(batch, k, i)
            for call in calls:
                if call not in known:
                    known[call] = self._score(batch, call, k, i)
            if calls:
                scores[k, i] = best(known[call] for call in calls)
        return scores

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

    def _score(self, batch: Batch, call: _Call, k: int, i: int) -> float:
        texts = batch.texts
        given: Mapping[str, str | list[str]] = {
            "candidate": texts[call.candidate],
            "source": texts[call.source],
            "reference": texts[call.reference],
            "references": [texts[index] for index in call.references],
        }
        where = f"system {batch.systems[k]!r}, segment {int(batch.segments[i]) + 1}"
        try:
            value = self.metric.function(*(given[role] for role in self.metric.roles))
        except Exception as error:
            raise ScoringError(
                f"metric {self.name!r} failed at {where}: {type(error).__name__}: {error}"
            ) from error
        return _checked_score(value, self.name, where)


def _checked_score(value: object, name: str, where: str) -> float:
    try:
        number = math.nan if isinstance(value, (str, bytes)) else float(value)  # type: ignore[arg-type]  # what is no number raises
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ScoringError(
            f"metric {name!r} returned {value!r} at {where}; a metric must return a finite number"
        )
    return number


def _checked_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise SpecError(
            f"{name!r} cannot be the name of a metric: a letter, then letters, digits and _ . + -;"
            " give another with name="
        )
    if name in RESERVED:
        raise SpecError(f"{name!r} is a metric of gnomon itself; give another name with name=")
    return name


def _code_fields(function: Callable[..., float], spec: str | None) -> tuple[tuple[str, str], ...]:
    """A hash of the source, if that tells all: no values from around it, no object's state.

    The state of options is told if they are those of the spec; then their class is hashed whole.
    """
    owner = getattr(function, "__self__", None)
    told = spec is not None and isinstance(owner, Options) and owner.spec == spec
    written = function if inspect.isfunction(function) else type(owner if told else function)
    if not told and _holds_more(function):
        return ()
    try:
        source = inspect.getsource(written)
    except (OSError, TypeError):
        return ()
    given = (*(getattr(function, name, None) for name in ("__defaults__", "__kwdefaults__")),)
    # a default in the source may be a name: lambda candidate, reference, k=k: ...
    return (("code", content_hash(source + (repr(given) if any(given) else ""))),)


def _holds_more(function: Callable[..., float]) -> bool:
    """Whether what a function gives rests on more than its own source."""
    if inspect.isfunction(function):
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        plain = all(isinstance(value, _PLAIN) for value in defaults)
        return bool(function.__closure__) or bool(vars(function)) or not plain
    slots = any(getattr(kind, "__slots__", ()) for kind in type(function).__mro__)
    called = inspect.isfunction(type(function).__call__)
    return slots or bool(getattr(function, "__dict__", {})) or not called


def _as_code(
    made: FunctionMetric, target: str, *, own: str, needs: Iterable[Need] | None
) -> FunctionMetric:
    arguments: list[tuple[str, Literals]] = []
    if made.name != own:
        arguments.append(("name", made.name))
    if not made.higher_is_better:
        arguments.append(("higher_is_better", False))
    if needs is not None:
        arguments.append(("needs", tuple(sorted(needs))))
    return replace(made, spec=str(Spec(CODE, target, tuple(arguments))))
