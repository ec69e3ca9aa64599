"""The API: comparisons as JSON, for programs and continuous integration."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from gnomon.core.errors import DataError, GnomonError, UnknownNameError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.records import table
from gnomon.core.registry import find, title_of
from gnomon.core.signature import Signature
from gnomon.serve._comparing import (
    check_files,
    delete_study,
    file_choices,
    guessed,
    looked_at,
    queue_of,
    reason,
    workspace_of,
)
from gnomon.serve.comparison import ComparisonChoices, GateRequest, StepChoice
from gnomon.serve.forms import checked
from gnomon.serve.pages import Page, json_response
from gnomon.serve.problems import NotFound, WebProblem, message_of, word_error
from gnomon.serve.resources import (
    ComparisonData,
    ComparisonRequest,
    GateData,
    StepData,
    VerdictData,
)
from gnomon.serve.schema import openapi
from gnomon.serve.uploads import receive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from starlette.requests import Request

    from gnomon.comparison.rows import ComparisonRow
    from gnomon.serve._inspection import Inspection
    from gnomon.serve.uploads import Upload
    from gnomon.serve.workspace import Comparison

__all__ = ["PAGES"]

#: form fields of files, and what their files are
_ROLES = ("reference", "output", "source")
_MEND = (
    "Send plain text in UTF-8. Line N of every file must be the same segment; for a gate, align"
    " outputs first (gnomon align)."
)


# Comparing.


async def _compare(request: Request) -> Response:
    workspace_of(request)
    upload = await receive(request)
    try:
        asked = _parse_request(upload)
        inspection = await looked_at(request, upload.draft)
        choices = await run_in_threadpool(_choices, request, upload, asked, inspection)
        made = await run_in_threadpool(queue_of(request).create, upload.draft, choices)
    except BaseException:
        with suppress(NotFound):
            workspace_of(request).delete_draft(upload.draft)
        raise
    answer = json_response(await run_in_threadpool(_data, request, made), HTTPStatus.CREATED)
    answer.headers["location"] = f"/api/v1/comparisons/{made.id}"
    return answer


def _parse_request(upload: Upload) -> ComparisonRequest:
    if unknown := {*upload.parts, *upload.fields} - {*_ROLES, "request"}:
        name = min(unknown)
        raise _unfit(
            f"There is no field {name!r:.80}", name, "Send reference, output, source and request."
        )
    for part in ("reference", "output"):
        if part not in upload.parts:
            raise _unfit(f"No file was sent as {part}", part, f"Add one: -F {part}=@FILE")
    written = upload.fields.get("request", ["{}"])[-1]
    try:
        return msgspec.json.decode(written, type=ComparisonRequest)
    except msgspec.ValidationError as error:
        # msgspec tells in words alone where it stopped
        what, _, place = str(error).partition(" - at `")
        field = place.removesuffix("`").removeprefix("$").lstrip(".")
        raise _unfit(what, field, "See /api/v1/openapi.json for what fits.") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _unfit(f"This is no JSON: {error}", "request", "Send JSON.") from error


def _unfit(
    said: str | GnomonError, field: str | None, remedy: str = "", *, file: str | None = None,
    line: int | None = None,
) -> WebProblem:  # fmt: skip
    detail = word_error(said)
    return WebProblem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "This makes no comparison",
        f"{detail}." if detail[-1:] not in ".?!" else detail,
        error=said if isinstance(said, GnomonError) else None,
        file=file,
        line=line,
        field=field or None,
        remedy=remedy or None,
    )


def _choices(
    request: Request, upload: Upload, asked: ComparisonRequest, inspection: Inspection
) -> ComparisonChoices:
    """Choices in a request, checked against the files that came with it."""
    form = guessed(upload.draft, inspection)
    members = workspace_of(request).draft(upload.draft).members
    for each in form.files:
        role = upload.parts[members.get(each.file.file, each.file.file)]
        if said := each.file.unfit():
            raise _unfit(said.text, role, _MEND, file=each.file.name, line=said.line)
        each.role = role
        each.title = each.file.name.removesuffix(".txt") or role
    check_files(form, aligned=asked.gate is None)
    wrong = [*form.errors.values(), *(said for f in form.files for said in f.errors.values())]
    if wrong:
        raise _unfit(wrong[0], None, _MEND)
    posted = checked(
        find("score"), {"metrics": asked.metrics}, allowed=request.state.settings.metrics
    )
    for said in posted.problems.values():
        raise _unfit(said, "metrics")
    metrics = list(dict.fromkeys(posted.options["metrics"]))
    systems = [each.title for each in form.files if each.role == "output"]
    _check_gate(asked.gate, systems, metrics)
    first = StepChoice(method="compare" if len(systems) > 1 else "score")
    if asked.gate is not None and asked.gate.baseline is not None:
        first.options = {"baseline": asked.gate.baseline}
    others = [StepChoice(method=name) for name in asked.methods if name != first.method]
    return ComparisonChoices(
        files=file_choices(form),
        title=asked.title.strip(),
        language_pair=asked.language_pair or inspection.language_pair,
        metrics=metrics,
        steps=[first, *others],
        gate=asked.gate,
    )


def _check_gate(gate: GateRequest | None, systems: Sequence[str], metrics: Sequence[str]) -> None:
    """Check that the request defines when the comparison counts as failed."""
    if gate is None:
        return
    if len(systems) < 2:
        raise _unfit("A gate compares two outputs or more", "gate", "Send one more output.")
    if gate.baseline is None and len(systems) > 2:
        raise _unfit(
            "A gate of three outputs or more needs a baseline",
            "gate.baseline",
            f"Name one of: {', '.join(systems)}.",
        )
    if gate.baseline is not None and gate.baseline not in systems:
        raise _unfit(UnknownNameError("system", gate.baseline, systems), "gate.baseline")
    for metric in gate.metrics:
        if metric not in metrics:
            unknown = UnknownNameError("metric of the comparison", metric, metrics)
            raise _unfit(unknown, "gate.metrics")


# What a comparison says.


def _data(request: Request, comparison: Comparison) -> ComparisonData:
    """A comparison as JSON."""
    about, job = comparison.about, comparison.job
    ahead = queue_of(request).ahead(comparison.id) if job.active else None
    return ComparisonData(
        id=comparison.id,
        title=about.title,
        state=job.state,
        made=about.made,
        page=f"/studies/{comparison.id}",
        systems=[file.title for file in about.choices.files if file.role == "output"],
        metrics=about.choices.metrics,
        language_pair=about.choices.language_pair,
        segments=about.segments,
        ahead=ahead,
        steps=[
            StepData(
                method=step.method,
                title=title_of(step.method),
                state=step.state,
                stage=step.stage,
                done=step.done,
                total=step.total,
                said=reason(request, step),
                remedy=step.remedy or None,
            )
            for step in job.steps
        ],
        verdict=_verdict(comparison.store, texts=request.state.user.texts),
        gate=_gate_data(request, comparison),
    )


def _verdict(store: Path, *, texts: bool) -> list[VerdictData]:
    from gnomon.serve.store_pages import quotes_texts
    from gnomon.studies import Store, verdicts

    try:
        found = verdicts(Store.open(store)) if Store.is_at(store) else ()
    except DataError:  # damaged, or being written: what there is next time
        return []
    return [
        VerdictData(
            method=verdict.section,
            title=title_of(verdict.section),
            sentences=[
                message_of(said) for said in verdict.verdict if texts or not quotes_texts(said.code)
            ],
        )
        for verdict in found
    ]


def _gate_data(request: Request, comparison: Comparison) -> GateData | None:
    """Outcome of a comparison's gate; None where it has none."""
    gate = comparison.about.choices.gate
    if gate is None:
        return None
    step = next((s for s in comparison.job.steps if s.method == "compare"), None)
    if step is not None and step.is_open:
        return GateData(state="waiting")
    if step is None or step.state != "done":
        return GateData(state="undecided", said=reason(request, step) if step else "")
    return _decided(comparison, gate)


def _row(cells: Mapping[str, Any]) -> ComparisonRow:
    """A row of a comparison with the interval of its difference, which rows of stores lack."""
    from gnomon.comparison.rows import ComparisonRow

    ends = (cells.get("low"), cells.get("high"))
    return replace(ComparisonRow.from_row(cells), intervals={"difference": ends})


def _decided(comparison: Comparison, gate: GateRequest) -> GateData:
    from gnomon.comparison.gate import gate_cases
    from gnomon.comparison.rows import ComparisonRow
    from gnomon.serve.store_pages import COMPARED, open_store, rows_of

    opened = open_store(comparison.store, comparison.folder / "index")
    entries = [entry for entry in opened.entries if entry.method == "compare"]
    rows = rows_of(opened, opened.rows(), COMPARED, None, {}).rows
    signatures = {
        name: Signature.parse(text) for entry in entries for name, text in entry.signatures.items()
    }
    finding = Finding(
        "compare",
        comparison.about.title,
        (table(COMPARED, "", ComparisonRow, [*map(_row, rows)]),),
        signatures=signatures,
        notices=tuple(notice for entry in entries for notice in entry.notices),
    )
    try:
        judged = gate.metrics or comparison.about.choices.metrics
        finding = replace(finding, gate=gate_cases(finding, judged, min_drop=gate.min_drop))
    except (DataError, UsageError, UnknownNameError) as error:
        return GateData(state="undecided", said=word_error(error))
    said = finding.failure
    return GateData(state="failed" if said else "passed", said=said)


async def _read(request: Request) -> Response:
    return json_response(await run_in_threadpool(_data, request, _comparison(request)))


def _comparison(request: Request) -> Comparison:
    """The comparison of a request; a store that is only shown is none."""
    if getattr(request.state.study, "about", None) is None:
        raise NotFound
    comparison: Comparison = request.state.study
    return comparison


async def _delete(request: Request) -> Response:
    _comparison(request)
    await delete_study(request)
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def _openapi(request: Request) -> Response:
    address, public = request.state.settings.address, request.state.user is None
    return json_response(await run_in_threadpool(lambda: openapi(address, public=public)))


_ALL = "/api/v1/comparisons"
PAGES = (
    Page(_ALL, ("POST",), _compare, "author", "workspace", upload=True),
    Page(f"{_ALL}/{{id}}", ("GET",), _read, "reader", "study"),
    Page(f"{_ALL}/{{id}}", ("DELETE",), _delete, "author", "study", deletes=True),
    Page("/api/v1/openapi.json", ("GET",), _openapi, "reader", "public"),
)
