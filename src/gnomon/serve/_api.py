"""The API: comparisons as JSON, for programs and continuous integration."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from gnomon.core.errors import DataError, GnomonError, UnknownNameError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import in_files, reaches
from gnomon.core.records import table
from gnomon.core.registry import find, title_of
from gnomon.core.signature import Signature
from gnomon.serve._comparing import delete_study, looked_at, queue_of, reason, workspace_of
from gnomon.serve.comparison import (
    ComparisonChoices,
    FileChoice,
    StepChoice,
    read_record,
    write_record,
)
from gnomon.serve.forms import checked
from gnomon.serve.pages import Page, json_response
from gnomon.serve.problems import NotFound, WebProblem, in_words, message_of, no_room
from gnomon.serve.resources import (
    ComparisonData,
    ComparisonRequest,
    GateData,
    GateDifference,
    GateRequest,
    StepData,
    TextRequest,
    VerdictData,
)
from gnomon.serve.schema import openapi, served_methods
from gnomon.serve.uploads import receive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from starlette.requests import Request

    from gnomon.comparison.tables import ComparisonRow
    from gnomon.messages import Message
    from gnomon.serve._inspection import Inspection
    from gnomon.serve.workspace import Comparison

__all__ = ["PAGES"]

T = TypeVar("T")
#: bytes of a request in JSON; larger ones are sent as files, which are never held in memory
_LARGEST = 20_000_000
#: seconds between two looks at a comparison that somebody waits for
_LOOKS = (0.05, 0.1, 0.25)
#: seconds that an answer may take
_LONGEST_WAIT = 60
#: form fields of files, and what their files are
_ROLES = {"reference": "reference", "output": "output", "source": "source"}
#: in the folder of a comparison: when it counts as failed
_GATE = "gate.json"


# Comparing.


async def _compare(request: Request) -> Response:
    wait = _wait(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        upload = await _written(request)
    elif kind == "multipart/form-data":
        upload = await _received(request)
    else:
        raise WebProblem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "This is neither JSON nor a form with files",
            remedy="Send application/json, or multipart/form-data with reference and output.",
        )
    try:
        inspection = await looked_at(request, upload.draft)
        made = await run_in_threadpool(_create, request, upload, inspection)
    except BaseException:
        with suppress(NotFound):
            workspace_of(request).delete_draft(upload.draft)
        raise
    comparison = await _waited(request, made.id, wait)
    data = await run_in_threadpool(_data, request, comparison)
    answer = json_response(data, status=HTTPStatus.CREATED)
    answer.headers["location"] = f"/api/v1/comparisons/{comparison.id}"
    return answer


@dataclass
class _Upload:
    """A draft with its files, and what is asked of them."""

    draft: str
    files: list[FileChoice]
    asked: ComparisonRequest


async def _written(request: Request) -> _Upload:
    """A draft of the texts of a request in JSON."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _LARGEST:
            raise WebProblem(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                "This is too much for JSON",
                remedy="Send the texts as files: multipart/form-data.",
            )
    asked = _decoded(bytes(body), TextRequest)
    texts = [("reference", name, lines) for name, lines in asked.references.items()]
    texts += [("output", name, lines) for name, lines in asked.outputs.items()]
    texts += [("source", "source", asked.source)] if asked.source else []
    for role, name, lines in texts:
        _check_lines(f"{role}s.{name}" if role != "source" else role, lines, len(texts[0][2]))
    draft = await run_in_threadpool(_keep, request, texts)
    files = [
        FileChoice(file=n, name=name, role=role, title=name)  # type: ignore[arg-type]  # one of _ROLES
        for n, (role, name, _) in enumerate(texts)
    ]
    return _Upload(draft, files, asked)


def _check_lines(field: str, lines: Sequence[str], segments: int) -> None:
    if len(lines) != segments:
        raise _unfit(
            f"{field} has {len(lines):,} segments, and the first reference has {segments:,}",
            field,
            "Give all texts as many segments.",
        )
    for number, line in enumerate(lines, start=1):
        if len(line.splitlines()) > 1 or line.endswith(("\n", "\r")):
            raise _unfit(
                "A segment holds a line break", field, "Write it without, or as two.", line=number
            )


def _keep(request: Request, texts: Sequence[tuple[str, str, Sequence[str]]]) -> str:
    """A draft with texts as its files."""
    workspace = workspace_of(request)
    if workspace.bytes_used() >= request.state.settings.limits.quota:
        raise no_room()
    draft, folder = workspace.new_draft(request.state.user.id)
    try:
        for number, (_, _, lines) in enumerate(texts):
            (folder / str(number)).touch(0o600)
            (folder / str(number)).write_bytes(_encoded(lines))
        workspace.name_files(draft, [f"{name}.txt" for _, name, _ in texts])
    except BaseException:
        workspace.delete_draft(draft)
        raise
    return draft


def _encoded(lines: Sequence[str]) -> bytes:
    try:
        return "".join(f"{line}\n" for line in lines).encode()
    except UnicodeEncodeError as error:
        raise _unfit("A text holds half a character", "", "Send whole characters.") from error


async def _received(request: Request) -> _Upload:
    """A draft of the files of a form."""
    workspace = workspace_of(request)
    upload = await receive(request)
    try:
        asked = _read_form(upload)
        files = [
            FileChoice(file=n, name=name, role=_ROLES[part])  # type: ignore[arg-type]  # its values
            for n, (name, part) in enumerate(zip(upload.names, upload.parts, strict=True))
        ]
    except BaseException:
        if upload.draft:
            workspace.delete_draft(upload.draft)
        raise
    return _Upload(upload.draft, files, asked)


def _read_form(upload: Any) -> ComparisonRequest:
    unknown = {*upload.parts, *upload.fields} - {*_ROLES, "request"}
    if unknown:
        name = min(unknown)
        raise _unfit(
            f"There is no field {name!r:.80}", name, "Send reference, output, source and request."
        )
    for part in ("reference", "output"):
        if part not in upload.parts:
            raise _unfit(f"No file was sent as {part}", part, f"Add one: -F {part}=@FILE")
    written = upload.fields.get("request", ["{}"])
    return _decoded(written[-1].encode(), ComparisonRequest)


def _decoded(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        # msgspec tells in words alone where it stopped
        what, _, place = str(error).partition(" - at `")
        field = place.removesuffix("`").removeprefix("$").lstrip(".")
        raise _unfit(what, field or None, "See /api/v1/openapi.json for what fits.") from error
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise WebProblem(
            HTTPStatus.BAD_REQUEST,
            "This is no JSON",
            str(error),
            remedy="Send JSON, encoded as UTF-8.",
        ) from error


def _unfit(
    said: str | GnomonError, field: str | None, remedy: str = "", *, file: str | None = None,
    line: int | None = None,
) -> WebProblem:  # fmt: skip
    detail = in_words(said)
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


def _create(request: Request, upload: _Upload, inspection: Inspection) -> Comparison:
    """A comparison of a draft."""
    choices = _choices(request, upload, inspection)
    gate = _gate(upload.asked, choices)
    if gate is not None:
        write_record(workspace_of(request).draft_folder(upload.draft) / _GATE, gate)
    return queue_of(request).create(upload.draft, choices)


def _choices(request: Request, upload: _Upload, inspection: Inspection) -> ComparisonChoices:
    """What a request asks, checked against the files that came with it."""
    asked = upload.asked
    if all(found.kind == "text" and found.encoding for found in inspection.files):
        _check_counts(inspection)
    for choice, found in zip(upload.files, inspection.files, strict=True):
        stops = next((problem for problem in found.problems if problem.stops), None)
        if stops or found.kind != "text" or found.encoding is None:
            ways = ("save", "unpack", "encoding")  # the others are for who sees a page
            remedies = [each.text for each in stops.remedies if each.id in ways] if stops else []
            said = stops.text if stops else f"{found.name} is not plain text, one line a segment"
            raise _unfit(
                said,
                choice.role,
                " ".join(remedies) or "Save it as plain text in UTF-8.",
                file=found.name,
                line=stops.line if stops else None,
            )
        choice.encoding, choice.kind = found.encoding, found.kind
        choice.title = choice.title or re.sub(r"\.(txt|gz)$", "", found.name) or choice.role
    for role in ("reference", "output"):
        titles = [file.title for file in upload.files if file.role == role]
        if twice := next((title for title in titles if titles.count(title) > 1), None):
            raise _unfit(f"Two files are called {twice!r}", role, "Give each a name of its own.")
    if sum(file.role == "source" for file in upload.files) > 1:
        raise _unfit("Two files are the source", "source", "Send one.")
    allowed = dict(request.state.settings.metrics)
    metrics = [_metric(spec, allowed, "metrics") for spec in asked.metrics]
    return ComparisonChoices(
        files=upload.files,
        title=asked.title.strip(),
        language_pair=asked.language_pair or inspection.language_pair,
        metrics=list(dict.fromkeys(metrics)),
        steps=_steps(asked, upload.files, allowed),
        resamples=asked.resamples,
        seed=asked.seed,
        first=asked.first,
    )


def _check_counts(inspection: Inspection) -> None:
    if not inspection.counts_differ:
        return
    drift = inspection.drifts[0] if inspection.drifts else None
    counts = ", ".join(f"{file.name} {file.segments or 0:,}" for file in inspection.files)
    raise _unfit(
        f"The files have different numbers of lines: {counts}"
        + (f". {drift.text}" if drift else ""),
        None,
        "Line N of every file must be the same segment.",
        file=inspection.files[drift.file].name if drift else None,
        line=drift.line if drift else None,
    )


def _metric(spec: str, allowed: Mapping[str, str], field: str) -> str:
    """A spec as a study takes it; none that reaches what its owner did not allow."""
    spec = allowed.get(spec, spec)
    if spec in allowed.values():
        return spec
    option = find("score").options["metrics"]
    try:
        reached = reaches(option, spec)
    except GnomonError as error:
        raise _unfit(error, field) from error
    if reached:
        raise _unfit(
            f"{spec!r:.80} would reach files, other machines or code",
            field,
            "Take another metric, or ask the owner of this server to allow it.",
        )
    return spec


def _steps(
    asked: ComparisonRequest, files: Sequence[FileChoice], allowed: Mapping[str, str]
) -> list[StepChoice]:
    """The methods of a request with their options, the comparison first."""
    outputs = sum(file.role == "output" for file in files)
    first = "compare" if outputs > 1 else "score"
    wanted: dict[str, dict[str, Any]] = {first: {}, **asked.methods}
    if asked.gate is not None and outputs < 2:
        raise _unfit("A gate compares two outputs or more", "gate", "Send one more output.")
    if asked.gate is not None and asked.gate.baseline is not None:
        wanted["compare"] = {**wanted["compare"], "baseline": asked.gate.baseline}
    steps = []
    for name, options in wanted.items():
        if name not in served_methods():
            unknown = UnknownNameError("method", name, served_methods())
            raise _unfit(unknown, f"methods.{name}")
        method = served_methods()[name]
        given = {key: _whole(method.options.get(key), value) for key, value in options.items()}
        posted = checked(method, given, _nothing(given), allowed=allowed)
        for option, said in posted.problems.items():
            raise _unfit(said, f"methods.{name}.{option}".rstrip("."))
        taken = dict(posted.options)
        metrics = taken.pop("metrics", None)
        several = [metrics] if isinstance(metrics, str) else metrics
        steps.append(StepChoice(method=name, options=taken, metrics=several))
    return steps


def _nothing(options: Mapping[str, Any]) -> dict[str, str]:
    """Options that say nothing, which a study cannot write down."""
    return {
        name: "leave it out to take the default"
        for name, value in options.items()
        if value is None or (isinstance(value, list) and None in value)
    }


def _whole(option: Any, value: object) -> object:
    """3.0 as 3 where a whole number is wanted, which is one in JSON."""
    if option is None or not isinstance(value, float) or not value.is_integer():
        return value
    kinds = in_files(option).kind
    return int(value) if kinds is int else value


def _gate(asked: ComparisonRequest, choices: ComparisonChoices) -> GateRequest | None:
    """When the comparison counts as failed, checked."""
    gate = asked.gate
    if gate is None:
        return None
    systems = [file.title for file in choices.files if file.role == "output"]
    if gate.baseline is None and len(systems) > 2:
        raise _unfit(
            "A gate of three outputs or more needs a baseline",
            "gate.baseline",
            f"Name one of: {', '.join(systems)}.",
        )
    if gate.baseline is not None and gate.baseline not in systems:
        unknown = UnknownNameError("system", gate.baseline, systems)
        raise _unfit(unknown, "gate.baseline")
    for metric in gate.metrics:
        if metric not in choices.metrics:
            unknown = UnknownNameError("metric of the comparison", metric, choices.metrics)
            raise _unfit(unknown, "gate.metrics")
    return gate


# What a comparison says.


async def _waited(request: Request, id: str, seconds: float) -> Comparison:  # noqa: A002
    """A comparison when it has ended, or when the time is over."""
    workspace, until = workspace_of(request), time.monotonic() + seconds
    looks = iter(_LOOKS)
    look = next(looks)
    while True:
        comparison = await run_in_threadpool(workspace.study, id)
        left = until - time.monotonic()
        if not comparison.job.active or left <= 0:
            return comparison
        await anyio.sleep(min(look, left))
        look = next(looks, look)


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
    """Whether a comparison passed its gate; None where it has none."""
    gate = read_record(comparison.folder / _GATE, GateRequest)
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
    from gnomon.comparison.tables import ComparisonRow

    ends = (cells.get("low"), cells.get("high"))
    return replace(ComparisonRow.from_row(cells), intervals={"difference": ends})


def _decided(comparison: Comparison, gate: GateRequest) -> GateData:
    from gnomon.comparison.gate import failures
    from gnomon.comparison.tables import ComparisonRow
    from gnomon.studies import Store
    from gnomon.studies.reading import cells_of

    store = Store.open(comparison.store)
    name = find("compare").tables[""]
    rows: list[ComparisonRow] = []
    signatures: dict[str, Signature] = {}
    notices: list[Message] = []
    for entry in (entry for entry in store.entries.values() if entry.method == "compare"):
        if entry.key not in store.planned() or not entry.rows.get(name):
            continue
        cells = cells_of(store.file(name, entry.key))
        rows += [
            _row(dict(zip(cells, values, strict=True)))
            for values in zip(*cells.values(), strict=True)
        ]
        signatures |= {k: Signature.parse(text) for k, text in entry.signatures.items()}
        notices += entry.notices
    finding = Finding(
        "compare",
        comparison.about.title,
        (table(name, "", ComparisonRow, rows),),
        signatures=signatures,
        notices=tuple(notices),
    )
    judged = gate.metrics or comparison.about.choices.metrics
    differences = [
        GateDifference(
            system=row.system,
            metric=row.metric,
            difference=row.difference,
            low=row.ends("difference")[0],
            high=row.ends("difference")[1],
            p=row.p,
            verdict=row.verdict,
        )
        for row in rows
        if row.slice is None and row.metric in judged and row.system != row.baseline
    ]
    baseline = next((row.baseline for row in rows), None)
    try:
        said = failures(finding, judged, min_drop=gate.min_drop)
    except (DataError, UsageError, UnknownNameError) as error:
        return GateData(
            state="undecided",
            said=in_words(error),
            baseline=baseline,
            differences=differences,
        )
    return GateData(
        state="failed" if said else "passed",
        said=said,
        baseline=baseline,
        differences=differences,
    )


async def _read(request: Request) -> Response:
    _comparison(request)
    wait = _wait(request)
    comparison = await _waited(request, request.path_params["id"], wait)
    return json_response(await run_in_threadpool(_data, request, comparison))


def _comparison(request: Request) -> Comparison:
    """What is asked for, if it is a comparison and no store that is only shown."""
    if getattr(request.state.study, "about", None) is None:
        raise NotFound
    comparison: Comparison = request.state.study
    return comparison


async def _delete(request: Request) -> Response:
    _comparison(request)
    await delete_study(request)
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _wait(request: Request) -> float:
    """How long to wait; a slip of the keyboard is not what was meant."""
    if unknown := sorted(set(request.query_params) - {"wait"}):
        raise _unfit(f"There is no parameter {unknown[0]!r:.80}", None, "There is: wait")
    given = request.query_params.getlist("wait") or ["0"]
    fits = len(given) == 1 and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", given[0], re.ASCII)
    if not fits or float(given[0]) > _LONGEST_WAIT:
        raise _unfit(f"wait is a number from 0 to {_LONGEST_WAIT}", "wait")
    return float(given[0])


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
