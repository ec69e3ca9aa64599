"""Which explainers there are, and from a spec to an explainer."""

from __future__ import annotations

import importlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gnomon.bmx._protocol import CheckingExplainer
from gnomon.errors import SpecError, UnknownNameError
from gnomon.metrics.spec import default_of, read_spec

if TYPE_CHECKING:
    from gnomon.bmx._protocol import Explainer
    from gnomon.metrics.protocol import Metric

__all__ = [
    "EXPLAINERS",
    "ExplainerDescription",
    "check_explainer",
    "describe_explainers",
    "find_explainer",
]

#: name -> "module:class", loaded when named; the classes are ``gnomon.metrics.Options``
EXPLAINERS = {
    "erasure": "gnomon.bmx._erasure:Erasure",
    "gradient": "gnomon.bmx._gradient:Gradient",
    "lime": "gnomon.bmx._lime:Lime",
    "marginalisation": "gnomon.bmx._marginalisation:Marginalisation",
    "match": "gnomon.bmx._match:Match",
    "random": "gnomon.bmx._random:RandomExplainer",
    "shap": "gnomon.bmx._shap:Shap",
}


class ExplainerDescription(NamedTuple):
    """An explainer for ``gnomon list explainers``.

    Attributes:
        name: name in specs.
        options: options with their defaults, as specs write them.
        summary: one sentence.
    """

    name: str
    options: tuple[str, ...]
    summary: str


def find_explainer(what: str | Explainer) -> Explainer:
    """The explainer that a spec names: ``erasure``, ``lime(samples=100, seed=0)``.

    Raises:
        SpecError: the spec cannot be read, or an option is unknown or of the wrong type.
        UnknownNameError: there is no such explainer.
    """
    if not isinstance(what, str):
        return what
    spec = read_spec(what)
    if spec.name not in EXPLAINERS:
        raise UnknownNameError("explainer", spec.name, EXPLAINERS)
    options = _load(spec.name)
    if spec.first is not None:
        raise SpecError(f"explainer {spec.name!r} takes options by name only; given: {what}")
    known = [option.name for option in fields(options)]
    for key, _ in spec.arguments:
        if key not in known:
            raise UnknownNameError(f"option of {spec.name}", key, known)
    return cast("Explainer", options(**dict(spec.arguments)))


def check_explainer(what: str | Explainer, metric: Metric) -> None:
    """Refuse an explainer that does not exist, or that cannot explain a metric.

    Args:
        what: a spec, or an explainer.
        metric: what it is to explain, not yet bound.

    Raises:
        SpecError, UnknownNameError: as :func:`find_explainer`.
        UsageError: it cannot explain that metric.
    """
    found = find_explainer(what)
    if isinstance(found, CheckingExplainer):
        found.check(metric)


def describe_explainers() -> tuple[ExplainerDescription, ...]:
    """Every explainer, for ``gnomon list explainers``."""
    return tuple(_describe(name) for name in EXPLAINERS)


def _describe(name: str) -> ExplainerDescription:
    options = _load(name)
    shown = tuple(f"{option.name}={default_of(option)!r}" for option in fields(options))
    summary = (options.__doc__ or "").split("\n\n", 1)[0].replace("\n", " ")
    return ExplainerDescription(name, shown, summary)


def _load(name: str) -> type[Any]:
    module, _, found = EXPLAINERS[name].partition(":")
    options: type[Any] = getattr(importlib.import_module(module), found)
    return options
