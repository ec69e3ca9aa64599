"""The folder of a server: comparisons, drafts of them, and the lock of the one server of it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from gnomon.core.errors import DataError, OutputError, UsageError
from gnomon.serve._inspection import Inspection
from gnomon.serve._link_guard import refuse_link, refuse_links
from gnomon.serve.comparison import (
    NAMES,
    STORE,
    STUDY,
    TEXTS,
    UPLOADS,
    USUAL_METRICS,
    WORD_METHOD,
    ComparisonChoices,
    ComparisonRecord,
    FileChoice,
    StepChoice,
    default_steps,
    flush_folder,
    locked,
    new_job,
    now,
    read_record,
    write_record,
)
from gnomon.serve.job_table import Job, JobTable
from gnomon.serve.problems import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Comparison", "Draft", "Workspace"]


_ID = re.compile(r"[0-9a-f]{32}")
_STUDIES, _DRAFTS, _LOCK, _JOBS, DRAFT, INSPECTION = (
    "studies", "drafts", "lock", "jobs.sqlite", "draft.json", "inspection.json",
)  # fmt: skip
#: seconds after which a draft that nobody confirmed is deleted
_DAY = 86_400


class Draft(msgspec.Struct, kw_only=True):
    """Files that were uploaded, and are not confirmed yet: ``uploads/0`` is ``names[0]``.

    ``encodings`` are those that the user confirmed, by number; ``members`` are files that came in
    an archive, with the number of this.
    """

    owner: str
    made: str
    names: list[str]
    encodings: dict[int, str] = {}
    members: dict[int, int] = {}


@dataclass(frozen=True)
class Comparison:
    """A comparison as its folder has it now.

    Attributes:
        id: 32 hexadecimal digits.
        folder: its folder.
        about: what it is called, whose it is and what it consists of.
        job: how far it is.
        damaged: what it consists of could not be read.
        closed: why nothing of it is read, if it holds links to elsewhere.
    """

    id: str
    folder: Path
    about: ComparisonRecord
    job: Job
    damaged: bool = False
    closed: str = ""

    @property
    def title(self) -> str:
        """Its title."""
        return self.about.title

    @property
    def store(self) -> Path:
        """Where its results are; the folder need not be there yet."""
        return self.folder / STORE

    @property
    def texts(self) -> Path:
        """Its test set, which need not be there yet."""
        return self.folder / TEXTS

    @property
    def command(self) -> str:
        """The study file, as ``gnomon run`` takes it; empty until the comparison has begun."""
        with suppress(OSError):
            return (self.folder / STUDY).read_text(encoding="utf-8")
        return ""


class Workspace:
    """A folder of comparisons.

    Args:
        folder: where it is; made, for its owner alone, where there is none.

    Raises:
        OutputError: it cannot be made or written.
        DataError: it leads elsewhere by links.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder = folder.absolute()
        self.received = 0  # bytes of uploads, ever
        self._lock: ExitStack | None = None
        for name in (_STUDIES, _DRAFTS, _LOCK, _JOBS):
            refuse_link(folder / name)
        try:
            for each in (folder, folder / _STUDIES, folder / _DRAFTS):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / _STUDIES).chmod(0o700)
            (folder / _DRAFTS).chmod(0o700)
            if not os.access(folder, os.W_OK):
                raise PermissionError(13, "permission is denied")
        except OSError as error:
            raise OutputError(
                f"the folder {folder} cannot be written: {error.strerror}; name another one"
            ) from error
        #: how far the comparisons are
        self.jobs = JobTable(folder / _JOBS)

    def hold(self) -> None:
        """Be the one server of this folder, until :meth:`release` or the end of the process."""
        if self._lock is not None:
            return
        lock = ExitStack()
        if not lock.enter_context(locked(self.folder / _LOCK)):
            lock.close()
            raise UsageError(
                f"another gnomon serve runs on the folder {self.folder}; use that one, end it, or"
                " name another folder: gnomon serve FOLDER"
            )
        self._lock = lock
        self._sweep()

    def release(self) -> None:
        """Let another server have the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def studies(self) -> list[Comparison]:
        """All comparisons, the newest first."""
        ids = [entry.name for entry in os.scandir(self._studies) if _ID.fullmatch(entry.name)]
        found, jobs = [], self.jobs.jobs()
        for id in ids:  # noqa: A001  # the word for it
            with suppress(NotFound):  # deleted meanwhile
                found.append(self._study(id, jobs.get(id)))
        return sorted(found, key=lambda each: (each.about.made, each.id), reverse=True)

    def study(self, id: str) -> Comparison:  # noqa: A002  # the word for it
        """A comparison."""
        return self._study(id, self.jobs.job(id))

    def _study(self, id: str, job: Job | None) -> Comparison:  # noqa: A002
        folder = self._folder(_STUDIES, id)
        if not folder.is_dir():
            raise NotFound
        try:
            refuse_links(folder)
        except DataError as error:
            return _unread(id, folder, str(error))
        about = read_record(folder / NAMES, ComparisonRecord)
        if about is None and not folder.is_dir():  # deleted meanwhile
            raise NotFound
        if about is None:
            return _unread(id, folder)
        return Comparison(id, folder, about, job or new_job(about))

    def delete(self, id: str) -> None:  # noqa: A002
        """Delete all of a comparison, which no process may work on (see ``Queue.delete``)."""
        self._remove(self._folder(_STUDIES, id))
        self.jobs.forget(id)

    def bytes_used(self) -> int:
        """Number of bytes of all files of the folder."""
        total = 0
        for folder, _, files in os.walk(self.folder):
            for name in files:
                with suppress(OSError):
                    total += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118  # many
        return total

    # Drafts: what was uploaded, and is not confirmed yet.

    def new_draft(self, owner: str) -> tuple[str, Path]:
        """The ID of a new draft, and the folder that takes its files, ``0``, ``1``, ..."""
        id = secrets.token_hex(16)  # noqa: A001
        uploads = self.folder / _DRAFTS / id / UPLOADS
        uploads.parent.mkdir(mode=0o700)
        uploads.mkdir(mode=0o700)
        write_record(uploads.parent / DRAFT, Draft(owner=owner, made=now(), names=[]))
        return id, uploads

    def name_files(self, id: str, names: list[str]) -> None:  # noqa: A002
        """Say what the files of a draft were called."""
        draft = self.draft(id)
        draft.names = names
        write_record(self.draft_folder(id) / DRAFT, draft)

    def draft(self, id: str) -> Draft:  # noqa: A002
        """The record of a draft."""
        draft = read_record(self.draft_folder(id) / DRAFT, Draft)
        if draft is None:
            raise NotFound
        return draft

    def draft_folder(self, id: str) -> Path:  # noqa: A002
        """Where a draft is."""
        folder = self._folder(_DRAFTS, id)
        if not folder.is_dir():
            raise NotFound
        try:
            refuse_links(folder)
        except DataError as error:
            raise NotFound from error
        return folder

    def inspection(self, id: str) -> Inspection | None:  # noqa: A002
        """Inspection of a draft by ``Queue.inspect``; None before."""
        return read_record(self.draft_folder(id) / INSPECTION, Inspection)

    def confirm_encodings(self, id: str, encodings: Mapping[int, str]) -> None:  # noqa: A002
        """Say in which encodings files of a draft are to be read."""
        draft = self.draft(id)
        draft.encodings |= encodings
        write_record(self.draft_folder(id) / DRAFT, draft)

    def delete_draft(self, id: str) -> None:  # noqa: A002
        """Delete a draft with its files."""
        self._remove(self._folder(_DRAFTS, id))

    # From a draft, or another comparison, to a comparison; the queue does the rest.

    def create(self, id: str, choices: ComparisonChoices) -> Comparison:  # noqa: A002
        """Make a comparison of a draft, whole or not at all; it keeps the ID."""
        with suppress(NotFound):
            return self.study(id)
        draft, folder = self.draft(id), self.draft_folder(id)
        inspection = self.inspection(id)
        about = ComparisonRecord(
            owner=draft.owner,
            made=now(),
            choices=_complete(choices),
            segments=inspection.segments if inspection else 0,
        )
        return self._publish(id, folder, about)

    def rename(self, id: str, title: str) -> Comparison:  # noqa: A002
        """Give a comparison that rests another title; without one it is called by its systems."""
        comparison = self._resting(id, "rename it")
        comparison.about.choices.title = title
        write_record(comparison.folder / NAMES, comparison.about)
        return comparison

    def _resting(self, id: str, what: str) -> Comparison:  # noqa: A002
        comparison = self.study(id)
        if comparison.job.active:
            raise DataError(f"this comparison is still running; {what} when it has finished")
        return comparison

    def _publish(self, id: str, folder: Path, about: ComparisonRecord) -> Comparison:  # noqa: A002
        write_record(folder / NAMES, about)
        self.jobs.replace(id, new_job(about))  # first: a comparison without a job would never run
        try:
            folder.rename(self._studies / id)
        except OSError:
            self.jobs.forget(id)
            raise
        flush_folder(self._studies)
        for left in (DRAFT, INSPECTION):  # needed until it is no draft any more
            (self._studies / id / left).unlink(missing_ok=True)
        return self.study(id)

    def add_system(self, id: str, draft: str, choice: FileChoice) -> Comparison:  # noqa: A002
        """Give a comparison that rests one more system: a file of a draft, which is then deleted.

        What its results say of the other systems alone is not computed again.
        """
        comparison = self._resting(id, "add a system")
        about = comparison.about
        if choice.title in {file.title for file in about.choices.files if file.role == "output"}:
            raise DataError(f"there is a system {choice.title!r} already; choose another name")
        upload = self.draft_folder(draft) / UPLOADS / str(choice.file)
        uploads = comparison.folder / UPLOADS
        uploads.mkdir(mode=0o700, exist_ok=True)
        number = max((file.file for file in about.choices.files), default=-1) + 1
        added = msgspec.structs.replace(choice, file=number, role="output", added=True)
        about.choices.files.append(added)
        upload.rename(uploads / str(number))  # a file that is not named yet is only litter
        write_record(comparison.folder / NAMES, about)
        self._queue_anew(comparison, every=True)
        self.delete_draft(draft)
        return self.study(id)

    def add_method(self, id: str, step: StepChoice) -> Comparison:  # noqa: A002
        """Give a comparison that rests one more method, or other options to one that it has.

        Nothing else is computed again.
        """
        comparison = self._resting(id, "add an analysis")
        about, job = comparison.about, comparison.job
        steps = {each.method: each for each in about.choices.steps}
        about.choices.steps = [*(steps | {step.method: step}).values()]
        states = {state.method: state for state in job.steps if state.method != step.method}
        anew = [states.get(state.method, state) for state in new_job(about).steps]
        self.jobs.replace(id, Job(anew))  # first: what is done would not be asked again
        write_record(comparison.folder / NAMES, about)
        return self.study(id)

    def again(self, id: str) -> Comparison:  # noqa: A002
        """Put a comparison that rests back into the queue: what is not done is tried again."""
        comparison = self.study(id)
        if not comparison.job.active:
            self._queue_anew(comparison, every=False)
        return self.study(id)

    def _queue_anew(self, comparison: Comparison, *, every: bool) -> None:
        job = new_job(comparison.about)
        if not every:
            done = {step.method: step for step in comparison.job.steps if step.state == "done"}
            job.steps = [done.get(step.method, step) for step in job.steps]
        self.jobs.replace(comparison.id, job)

    @property
    def _studies(self) -> Path:
        return self.folder / _STUDIES

    def _folder(self, kind: str, id: str) -> Path:  # noqa: A002
        """The folder of an ID; whatever is none leads nowhere."""
        if not _ID.fullmatch(id):
            raise NotFound
        return self.folder / kind / id

    def _remove(self, folder: Path) -> None:
        """Delete a folder, which is gone from lists at once, whatever comes between."""
        gone = folder.with_name(f".{secrets.token_hex(8)}.deleted")
        try:
            folder.rename(gone)
        except FileNotFoundError as error:
            raise NotFound from error
        if gone.is_symlink():
            gone.unlink()
        else:
            shutil.rmtree(gone)
        flush_folder(folder.parent)

    def _sweep(self) -> None:
        """Delete what a sudden end left half deleted, and drafts that are older than a day."""
        for kind in (_STUDIES, _DRAFTS):
            for entry in os.scandir(self.folder / kind):
                if entry.name.endswith(".deleted"):
                    shutil.rmtree(entry.path, ignore_errors=True)
        for entry in os.scandir(self.folder / _DRAFTS):
            with suppress(FileNotFoundError, NotFound):
                if time.time() - entry.stat().st_mtime > _DAY:
                    self.delete_draft(entry.name)


def _unread(id: str, folder: Path, closed: str = "") -> Comparison:  # noqa: A002
    about = ComparisonRecord(owner="", made="", choices=ComparisonChoices())
    return Comparison(id, folder, about, Job(), damaged=True, closed=closed)


def _complete(choices: ComparisonChoices) -> ComparisonChoices:
    """The choices with the methods that nobody named."""
    if not choices.steps:
        outputs = sum(file.role == "output" for file in choices.files)
        is_set = any(file.role == "set" for file in choices.files)
        choices.steps = default_steps(2 if is_set else outputs)
        changing = [spec for spec in choices.metrics if not spec.startswith("scores(")]
        for step in choices.steps if len(changing) < len(choices.metrics) else ():
            if step.method == WORD_METHOD:  # which changes texts, of which logs know no scores
                step.metrics = changing or [*USUAL_METRICS]
    return choices
