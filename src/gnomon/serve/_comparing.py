"""Pages of a comparison: upload, confirmation, progress, actions."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import zip_longest
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from gnomon.core.errors import DataError
from gnomon.core.registry import title_of
from gnomon.serve.comparison import USUAL_METRICS
from gnomon.serve.encodings import ENCODINGS
from gnomon.serve.pages import Page, Shown
from gnomon.serve.problems import NotFound, WebProblem, word_error
from gnomon.serve.uploads import fields_of, receive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request

    from gnomon.serve._inspection import Inspection
    from gnomon.serve.comparison import ComparisonChoices, FileChoice
    from gnomon.serve.job_table import StepState
    from gnomon.serve.jobs import Queue
    from gnomon.serve.workers import Background
    from gnomon.serve.workspace import Comparison, Workspace

__all__ = [
    "PAGES",
    "background_of",
    "check_files",
    "file_choices",
    "guessed",
    "job_view",
    "metrics_of",
    "reason",
]

#: specs of metrics that every comparison may take, with what each counts
METRICS = {
    "bleu": ("BLEU", "words and phrases shared with the reference"),
    "chrf": ("chrF", "letters shared with the reference; kinder to endings of words"),
    "ter": ("TER", "words to edit until it is the reference; lower is better"),
}
_ROLES = {
    "reference": "reference (a good translation)",
    "source": "source (the original text)",
    "output": "translation to compare",
    "set": "a whole test set",
    "ignored": "leave it out",
}
_STATES = {
    "queued": "Waiting",
    "running": "Running",
    "done": "Done",
    "refused": "Not possible",
    "failed": "Failed",
    "cancelled": "Stopped",
}


def workspace_of(request: Request) -> Workspace:
    """The folder of the server; there is nothing to compare in where it only shows stores."""
    workspace: Workspace | None = request.app.state.workspace
    if workspace is None:
        raise NotFound
    return workspace


def queue_of(request: Request) -> Queue:
    """The queue that runs comparisons."""
    queue: Queue = request.app.state.queue
    return queue


def background_of(request: Request) -> Background:
    """The workers that make indices and reports."""
    background: Background = request.app.state.background
    return background


#: of drafts that are looked at: one look at a time
_looks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()


async def looked_at(
    request: Request, draft: str, encodings: Mapping[int, str] | None = None
) -> Inspection:
    """Look at the files of a draft; threads that make pages wait for none of it."""
    queue = queue_of(request)
    async with _look_of(draft):
        return await anyio.to_thread.run_sync(
            queue.inspect, draft, encodings, limiter=queue.inspections
        )


def _look_of(draft: str) -> anyio.Lock:
    return _looks.setdefault(draft, anyio.Lock())


def redirect(path: str) -> Response:
    """Go on there, by GET."""
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


# How far a comparison is.


#: what stands in place of a reason that may quote texts
_UNSAID = "Why is not said to those who may not see the texts: it may quote them."


def reason(request: Request, step: StepState) -> str:
    """Why a step was refused or failed, as far as this person may know.

    A reason with a remedy is gnomon's own sentence; any other may quote a line of the texts.
    """
    if step.said and not step.remedy and not request.state.user.texts:
        return _UNSAID
    return word_error(step.said)


def job_view(request: Request, study: Any) -> dict[str, Any] | None:
    """Progress of a comparison with this person's possible actions; None of a store alone."""
    job = getattr(study, "job", None)
    if job is None:
        return None
    user, access = request.state.user, request.state.access
    ahead = queue_of(request).ahead(study.id) if job.active else None
    words = _STATES[job.state]
    if ahead is not None and job.state == "queued":
        words = f"Waiting: {ahead} before you" if ahead else "Waiting: you are next"
    return {
        "id": study.id,
        "state": job.state,
        "words": words,
        "active": job.active,
        "finished": sum(not step.is_open for step in job.steps),
        "steps": [
            (step, title_of(step.method), _step_words(step), reason(request, step))
            for step in job.steps
        ],
        "undone": any(step.state != "done" for step in job.steps),
        "may_change": access.rights(user, study) == "change",
        "command": study.command if user.texts else "",
        "title": study.about.choices.title,
    }


def _step_words(step: StepState) -> str:
    if step.state == "running" and step.total:
        return f"{step.stage or 'Running'}: {step.done:,} of {step.total:,}"
    return step.stage if step.state == "running" and step.stage else _STATES[step.state]


async def _cancel(request: Request) -> Response:
    await run_in_threadpool(queue_of(request).cancel, request.path_params["id"])
    return redirect(f"/studies/{request.path_params['id']}")


async def _again(request: Request) -> Response:
    id = request.path_params["id"]  # noqa: A001  # as it is called everywhere
    await run_in_threadpool(queue_of(request).again, id)
    return redirect(f"/studies/{id}")


async def _ask_delete(request: Request) -> Shown:
    study = request.state.study
    links = request.state.access.links(study.id)
    return Shown(
        "delete.html.j2", {"id": study.id, "title": study.about.title, "links": len(links)}
    )


async def _delete(request: Request) -> Response:
    await delete_study(request)
    return redirect("/")


async def delete_study(request: Request) -> None:
    """Delete the comparison of the address, what is being made of it, and links to it."""
    id = request.path_params["id"]  # noqa: A001  # as it is called everywhere
    folder = request.state.study.folder
    await run_in_threadpool(queue_of(request).delete, id)
    await run_in_threadpool(background_of(request).stop, folder, folder / "index")
    request.state.access.forget(id)


# Files that were sent, and what they are.


@dataclass
class FileForm:
    """A file of a draft, and what the form says of it."""

    file: Any
    role: str
    title: str
    encoding: str
    errors: dict[str, str] = field(default_factory=dict)


@dataclass
class DraftForm:
    """The page on which files are confirmed: what was found, what was chosen, what is wrong."""

    draft: str
    inspection: Any
    files: list[FileForm]
    title: str
    source: str
    target: str
    chosen: list[str]
    errors: dict[str, str]

    @property
    def logged(self) -> dict[str, tuple[str, str]]:
        """Specs of the scores that all logs have, as :func:`metrics_of` has others."""
        logs = [each.file.scores for each in self.files if each.role == "set"]
        from gnomon.metrics.titles import metric_titles

        specs = [spec for spec in logs[0] if all(spec in log for log in logs)] if logs else []
        titles = metric_titles(specs)
        return {spec: (titles[spec], "as each log has it") for spec in specs}

    @property
    def lines(self) -> list[tuple[str, list[str]]]:
        """First and last lines of files of lines side by side: a label, then one per file."""
        shown = [form.file for form in self.files if form.file.kind == "text"]
        first = zip_longest(*(file.first for file in shown), fillvalue="")
        last = zip_longest(*(file.last[::-1] for file in shown), fillvalue="")
        names = ("last", "second from last", "third from last")
        ends = [(name, [*texts]) for name, texts in zip(names, last, strict=False)]
        return [(str(n), [*texts]) for n, texts in enumerate(first, start=1)] + ends[::-1]


async def _inspect(request: Request) -> Response | Shown:
    workspace_of(request)
    upload = await receive(request)
    if not upload.draft:
        raise WebProblem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "No files were sent",
            "Nothing was chosen, or all boxes are empty.",
            field="files",
            remedy="Go back, choose a reference and at least one translation, or paste them.",
        )
    await looked_at(request, upload.draft)
    return redirect(f"/drafts/{upload.draft}")


def _draft(request: Request) -> str:
    """The draft of an address, if it is this person's."""
    draft: str = request.path_params["draft"]
    if workspace_of(request).draft(draft).owner != request.state.user.id:
        raise NotFound
    return draft


async def _confirm(request: Request) -> Shown:
    draft = _draft(request)
    return _confirming(request, guessed(draft, await _inspection(request, draft)))


async def _inspection(request: Request, draft: str) -> Inspection:
    there = await run_in_threadpool(workspace_of(request).inspection, draft)
    return there or await looked_at(request, draft)


def guessed(draft: str, inspection: Inspection) -> DraftForm:
    """The form as it is filled before anybody touched it."""
    source, _, target = (inspection.language_pair or "").rpartition("-")
    files = [
        FileForm(
            file,
            "ignored" if file.kind == "unreadable" or file.role == "unknown" else file.role,
            file.title,
            file.encoding or "",
        )
        for file in inspection.files
    ]
    form = DraftForm(draft, inspection, files, "", source, target, [*USUAL_METRICS], {})
    form.chosen += form.logged
    return form


def _confirming(request: Request, form: DraftForm, status: int = HTTPStatus.OK) -> Shown:
    from gnomon.core.languages import english_names

    languages = sorted(english_names().items(), key=lambda item: item[1])
    values = {
        "form": form,
        "roles": _ROLES,
        "encodings": ENCODINGS,
        "languages": languages,
        "metrics": metrics_of(request) | form.logged,
    }
    return Shown("confirm.html.j2", values, status)


def metrics_of(request: Request) -> dict[str, tuple[str, str]]:
    """Specs of metrics that are offered, with a name and what each is: the owner may add some."""
    allowed = request.state.settings.metrics.items()
    return METRICS | {spec: (name, "allowed by the owner of this server") for name, spec in allowed}


async def _reread(request: Request) -> Shown:
    """The form as it was filled, with a file read in another encoding."""
    draft = _draft(request)
    fields = await fields_of(request)
    inspection = await _inspection(request, draft)
    number, _, encoding = _only(fields, "read").partition(":")
    if encoding in ENCODINGS and number in {str(file.file) for file in inspection.files}:
        inspection = await looked_at(request, draft, {int(number): encoding})
    form = _filled(request, guessed(draft, inspection), {**fields, f"encoding-{number}": []})
    for each in form.files:
        each.errors.clear()
    form.errors.clear()
    return _confirming(request, form)


async def _forget_draft(request: Request) -> Response:
    await run_in_threadpool(workspace_of(request).delete_draft, _draft(request))
    return redirect("/")


async def _compare(request: Request) -> Response | Shown:
    """Make a comparison of a draft, as it was confirmed; or say beside the fields what is wrong."""
    fields = await fields_of(request)
    try:
        return await _created(request, fields)
    except (NotFound, OSError):  # it was sent twice: the other one has made it
        with contextlib.suppress(NotFound):
            made = await run_in_threadpool(workspace_of(request).study, _only(fields, "draft"))
            if made.about.owner == request.state.user.id:
                return redirect(f"/studies/{made.id}")
        raise


async def _created(request: Request, fields: Mapping[str, list[str]]) -> Response | Shown:
    request.path_params["draft"] = _only(fields, "draft")
    draft = _draft(request)
    inspection = await _inspection(request, draft)
    form = _filled(request, guessed(draft, inspection), fields)
    if not form.errors and not any(each.errors for each in form.files):
        try:
            async with _look_of(draft):  # no process looks at files that are moved
                made = await run_in_threadpool(queue_of(request).create, draft, _choices(form))
            return redirect(f"/studies/{made.id}")
        except DataError as error:
            form.errors["files"] = word_error(error)
    return _confirming(request, form, HTTPStatus.UNPROCESSABLE_ENTITY)


def _filled(request: Request, form: DraftForm, fields: Mapping[str, list[str]]) -> DraftForm:
    """The form as it was sent, and what is wrong with it."""
    form.title = _only(fields, "title")[:200]
    form.source, form.target = _only(fields, "source"), _only(fields, "target")
    for each in form.files:
        number = each.file.file
        role = _only(fields, f"role-{number}")
        each.role = role if role in _ROLES else "ignored"
        each.title = _only(fields, f"title-{number}")[:200].strip()
        each.encoding = _only(fields, f"encoding-{number}") or each.encoding
    offered = metrics_of(request) | form.logged
    form.chosen = [spec for spec in fields.get("metric", []) if spec in offered]
    check_files(form)
    form.errors |= _wrong_settings(form.chosen, form.source, form.target)
    return form


def check_files(form: DraftForm, *, aligned: bool = True) -> None:
    """Check the files of a form, beside its fields; outputs with other lines may be aligned."""
    used = [each for each in form.files if each.role != "ignored"]
    logs = all(each.file.kind == "log" for each in used)
    roles = [each.role for each in used]
    if wrong := ("" if logs and used else _wrong_roles(roles)) or _wrong_counts(
        used, aligned=aligned
    ):
        form.errors["files"] = wrong
    for each in used:
        named = each.role in ("reference", "output")
        same = [other for other in used if (other.role, other.title) == (each.role, each.title)]
        if named and not each.title:
            each.errors["title"] = "Give it a name."
        elif named and len(same) > 1:
            each.errors["title"] = "Two have this name; change one."
        if each.file.kind == "text" and each.encoding not in ENCODINGS:
            each.errors["encoding"] = "Say how this file is to be read."


def _wrong_roles(roles: Sequence[str]) -> str:
    if "set" in roles:
        alone = "A file that is a test set of its own is compared alone; leave the others out."
        return alone if len(roles) > 1 else ""
    if "reference" not in roles:
        return "Say which file is the reference: a good translation."
    if "output" not in roles:
        return "Say which file is a translation to compare."
    return "Only one file can be the source." if roles.count("source") > 1 else ""


def _wrong_counts(used: Sequence[FileForm], *, aligned: bool) -> str:
    """Describe wrong numbers of lines, of files that are read as they were inspected."""
    read = [
        each.file
        for each in used
        if each.encoding == each.file.encoding
        and not each.file.is_of_units
        and not (aligned and each.role == "output" and each.file.kind == "text")
    ]
    counts = {file.segments for file in read if file.has_texts}
    if len(counts) < 2:
        return ""
    return (
        "Their numbers of lines differ: leave out the files that do not fit, or choose other files."
    )


def _wrong_settings(chosen: Sequence[str], source: str, target: str) -> dict[str, str]:
    from gnomon.core.languages import english_names

    errors = {} if chosen else {"metric": "Choose at least one."}
    for name, code in (("source", source), ("target", target)):
        if code and code not in english_names():
            errors[name] = "Choose a language from the list."
    if source and not target:
        errors["target"] = "Choose the language of the translations, too."
    return errors


def file_choices(form: DraftForm) -> list[FileChoice]:
    """The files of a form as a comparison has them."""
    from gnomon.serve.comparison import FileChoice

    return [
        FileChoice(
            file=each.file.file,
            name=each.file.name,
            role=each.role,  # type: ignore[arg-type]  # one of _ROLES
            title=each.title,
            encoding=each.encoding or "utf-8",
            kind=each.file.kind,
        )
        for each in form.files
    ]


def _choices(form: DraftForm) -> ComparisonChoices:
    from gnomon.serve.comparison import ComparisonChoices

    return ComparisonChoices(
        files=file_choices(form),
        title=form.title.strip(),
        language_pair=_pair(form.source, form.target),
        metrics=form.chosen,
    )


def _pair(source: str, target: str) -> str | None:
    return f"{source}-{target}" if source and target else target or None


def _only(fields: Mapping[str, list[str]], name: str) -> str:
    return (fields.get(name) or [""])[-1]


# Another name, and one more system.


async def _rename(request: Request) -> Response:
    fields = await fields_of(request)
    title, study = _only(fields, "title").strip()[:200], request.state.study.id
    await run_in_threadpool(queue_of(request).rename, study, title)
    return redirect(f"/studies/{study}")


async def _ask_system(request: Request) -> Shown:
    study: Comparison = request.state.study
    return _adding(study, "")


def _adding(study: Comparison, error: str, status: int = HTTPStatus.OK) -> Shown:
    files = study.about.choices.files
    systems = [file.title for file in files if file.role == "output"]
    values = {
        "id": study.id,
        "title": study.about.title,
        "segments": study.about.segments,
        "systems": systems,
        "error": error,
    }
    return Shown("add.html.j2", values, status)


async def _add_system(request: Request) -> Response | Shown:
    study: Comparison = request.state.study
    upload = await receive(request)
    if not upload.draft:
        return _adding(study, "Choose a file, or paste a translation.", 422)
    workspace, queue = workspace_of(request), queue_of(request)
    try:
        choice = _system_of(upload, await looked_at(request, upload.draft))
        await run_in_threadpool(queue.add_system, study.id, upload.draft, choice)
    except DataError as error:
        await run_in_threadpool(workspace.delete_draft, upload.draft)
        return _adding(study, word_error(error), HTTPStatus.UNPROCESSABLE_ENTITY)
    return redirect(f"/studies/{study.id}")


def _system_of(upload: Any, inspection: Inspection) -> FileChoice:
    """The file of one more system."""
    from gnomon.serve.comparison import FileChoice

    (file, *more) = inspection.files
    if more:
        raise DataError("one translation is added at a time; choose one file")
    if wrong := file.unfit():
        raise DataError(wrong.text)
    if file.kind != "text":
        raise DataError(
            f"{file.name} holds translation units, which are joined by their ids as a comparison"
            " begins; start a new comparison with it, or add its texts as plain text, one segment"
            " per line"
        )
    title = _only(upload.fields, "title").strip()[:200] or file.title
    encoding = file.encoding or "utf-8"
    return FileChoice(
        file=file.file,
        name=file.name,
        role="output",
        title=title,
        encoding=encoding,
        kind=file.kind,
    )


# The example.


async def _example(request: Request) -> Response:
    draft = await run_in_threadpool(_example_draft, workspace_of(request), request.state.user.id)
    await looked_at(request, draft)
    return redirect(f"/drafts/{draft}")


def _example_draft(workspace: Workspace, owner: str) -> str:
    """A draft with the reference, the source and the systems of the bundled example."""
    from gnomon.data import example

    folder = example.path()
    files = [folder / "ref.A.txt", folder / "src.txt", *sorted((folder / "systems").glob("*.txt"))]
    draft, uploads = workspace.new_draft(owner)
    for number, file in enumerate(files):
        (uploads / str(number)).write_bytes(file.read_bytes())
        (uploads / str(number)).chmod(0o600)
    names = ["reference.txt", "source.txt", *(file.name for file in files[2:])]
    workspace.name_files(draft, names)
    return draft


PAGES = (
    Page("/inspect", ("POST",), _inspect, "author", "workspace", upload=True),
    Page("/example", ("POST",), _example, "author", "workspace"),
    Page("/drafts/{draft}", ("GET",), _confirm, "author", "workspace"),
    Page("/drafts/{draft}", ("POST",), _reread, "author", "workspace"),
    Page("/drafts/{draft}/delete", ("POST",), _forget_draft, "author", "workspace"),
    Page("/studies", ("POST",), _compare, "author", "workspace"),
    Page("/studies/{id}/cancel", ("POST",), _cancel, "author", "study"),
    Page("/studies/{id}/again", ("POST",), _again, "author", "study"),
    Page("/studies/{id}/rename", ("POST",), _rename, "author", "study"),
    Page("/studies/{id}/add", ("GET",), _ask_system, "author", "study"),
    Page("/studies/{id}/add", ("POST",), _add_system, "author", "study", upload=True),
    Page("/studies/{id}/delete", ("GET",), _ask_delete, "author", "study", deletes=True),
    Page("/studies/{id}/delete", ("POST",), _delete, "author", "study", deletes=True),
)
