"""Pages of methods: further analyses of a comparison, and the form of each."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from gnomon.core.errors import DataError
from gnomon.serve._comparing import job_view, queue_of, redirect
from gnomon.serve._views import page_values
from gnomon.serve.comparison import StepChoice
from gnomon.serve.forms import form_of, read_form, served_methods, texts_of
from gnomon.serve.pages import Page, Shown
from gnomon.serve.problems import NotFound, word_error
from gnomon.serve.uploads import fields_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from gnomon.core.registry import Method
    from gnomon.serve.workspace import Comparison

__all__ = ["PAGES"]

_WORDS = {"done": "has run", "queued": "waits", "running": "runs"}


#: what a test set must hold for a method, as its folder has it
_NEEDS = {"errors": "human/*.spans.tsv", "metaeval": "human/*.tsv"}


def _offered(study: Comparison) -> dict[str, Method]:
    """The methods that the texts of a comparison allow."""
    single = _is_single(study)
    return {
        name: method
        for name, method in served_methods().items()
        if not (single and name == "compare")
        and (name not in _NEEDS or any(study.texts.glob(_NEEDS[name])))
    }


def _is_single(study: Comparison) -> bool:
    """True if a comparison has one translation."""
    roles = [file.role for file in study.about.choices.files]
    return roles.count("output") == 1 and "set" not in roles


async def _methods(request: Request) -> Shown:
    study: Comparison = request.state.study
    methods = await run_in_threadpool(_offered, study)
    job = await run_in_threadpool(job_view, request, study)
    steps = {step.method: more for step, *more in job["steps"]} if job else {}
    states = {step.method: _WORDS.get(step.state, "") for step in study.job.steps}
    values = {
        **page_values(request, study.about.title),
        "methods": list(methods.values()),
        "steps": steps,
        "states": states,
        "active": study.job.active,
        "single": _is_single(study),
    }
    return Shown("methods.html.j2", values)


async def _served(request: Request) -> Method:
    """The method of an address."""
    methods = await run_in_threadpool(_offered, request.state.study)
    method = methods.get(request.path_params["method"])
    if method is None:
        raise NotFound
    return method


def _usual(request: Request, method: Method) -> dict[str, Any]:
    """Options of a comparison for all its methods, in place of their defaults."""
    if method.metrics == "none":
        return {}
    names = {spec: name for name, spec in request.state.settings.metrics.items()}
    specs = request.state.study.about.choices.metrics
    return {"metrics": [names.get(spec, spec) for spec in specs]}


def _previous_values(request: Request, method: Method) -> dict[str, list[str]]:
    """The form of a method as a comparison has it, where that differs from what is usual."""
    steps = request.state.study.about.choices.steps
    step = next((each for each in steps if each.method == method.name), None)
    if step is None:
        return {}
    names = {spec: name for name, spec in request.state.settings.metrics.items()}
    given: dict[str, Any] = dict(step.options)
    if step.metrics is not None:
        given["metrics"] = [names.get(spec, spec) for spec in step.metrics]
    return {f"{method.name}:{name}": list(texts_of(value)) for name, value in given.items()}


async def _form(request: Request) -> Shown:
    method = await _served(request)
    return _asking(request, method, _previous_values(request, method), {})


def _asking(
    request: Request,
    method: Method,
    posted: Mapping[str, Sequence[str]],
    problems: Mapping[str, str],
    status: int = HTTPStatus.OK,
) -> Shown:
    study: Comparison = request.state.study
    form = form_of(method, posted, problems, usual=_usual(request, method))
    asked = {field.option: field.label for field in form}
    values = {
        **page_values(request, study.about.title),
        "method": method,
        "form": form,
        "problems": problems,
        "labels": asked,
        "done": any(s.method == method.name and s.state == "done" for s in study.job.steps),
        "active": study.job.active,
        "allowed": list(request.state.settings.metrics) if "metrics" in asked else [],
    }
    return Shown("method.html.j2", values, status)


async def _run(request: Request) -> Response | Shown:
    method, fields = await _served(request), await fields_of(request)
    allowed, usual = request.state.settings.metrics, _usual(request, method)
    read = await run_in_threadpool(read_form, method, fields, allowed=allowed, usual=usual)
    problems = {option: word_error(said) for option, said in read.problems.items()}
    if not problems:
        options = dict(read.options)
        metrics = options.pop("metrics", None)
        several = [metrics] if isinstance(metrics, str) else metrics
        step = StepChoice(method=method.name, options=options, metrics=several)
        ask = queue_of(request).ask
        try:
            made = await run_in_threadpool(ask, request.state.study.id, step)
            return redirect(f"/studies/{made.id}")
        except DataError as error:
            problems[""] = word_error(error)
    return _asking(request, method, fields, problems, HTTPStatus.UNPROCESSABLE_ENTITY)


PAGES = (
    Page("/studies/{id}/methods", ("GET",), _methods, "author", "study"),
    Page("/studies/{id}/methods/{method}", ("GET",), _form, "author", "study"),
    Page("/studies/{id}/methods/{method}", ("POST",), _run, "author", "study"),
)
