"""The processes that do the work: one that has loaded everything, and a fork of it for each job.

The fork server ends with the server, and its forks with it: it reads commands from a socket, whose
end it sees, and Linux ends its forks with it. Only the fork of a job writes in the folder of its
comparison while it runs, which a lock on that folder ensures.
"""

from __future__ import annotations

import json
import logging
import os
import select
import shutil
import signal
import socket
import sys
import time
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, GnomonError
from gnomon.core.option_files import OptionsError
from gnomon.core.validation import Problem
from gnomon.serve.comparison import (
    JOB,
    LOG,
    NAMES,
    OPEN,
    STORE,
    STUDY,
    TEXTS,
    UPLOADS,
    ComparisonChoices,
    ComparisonRecord,
    Job,
    JobState,
    Remedy,
    StepChoice,
    StepState,
    locked,
    new_job,
    now,
    read_record,
    study_text,
    write_record,
    write_whole,
)
from gnomon.serve.problems import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from gnomon.studies import RunOutcome, StudyPlan

_log = logging.getLogger(__name__)
#: exit codes of the fork of a job
FINISHED, BUSY, BROKEN = 0, 75, 70
#: seconds between two writes of how far a job is
_PAUSE = 0.2
#: the study file of a step that is tried
_TRIAL = ".step.toml"


# The fork server.


def fork_server(descriptor: int) -> None:
    """Start a fork for each command of a socket, until its other end is closed.

    Commands and answers are lines of JSON: ``{"start": KEY, "task": ..., "folder": ..., "cpu":
    SECONDS}`` and ``{"kill": KEY}``; ``{"ready": PID}``, ``{"started": KEY, "pid": PID}`` and
    ``{"ended": KEY, "status": STATUS, "memory": BYTES}``.
    """
    os.umask(0o077)
    wake_in, wake_out = os.pipe()
    for pipe in (wake_in, wake_out):
        os.set_blocking(pipe, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who is at the terminal ends the server
    signal.set_wakeup_fd(wake_out)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    connection = socket.socket(fileno=descriptor)
    warm()
    _send(connection, {"ready": os.getpid()})
    pids: dict[str, int] = {}
    received = b""
    watched: list[socket.socket | int] = [connection, wake_in]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if wake_in in ready:
            with suppress(BlockingIOError):
                os.read(wake_in, 4096)
            _reap(pids, connection)
        if connection in ready:
            data = connection.recv(1 << 16)
            if not data:
                break
            *lines, received = (received + data).split(b"\n")
            for line in lines:
                _obey(json.loads(line), pids, connection, (wake_in, wake_out))
    for pid in pids.values():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    os._exit(0)


def _obey(
    command: Mapping[str, object],
    pids: dict[str, int],
    connection: socket.socket,
    pipes: Collection[int],
) -> None:
    if "kill" in command:
        pid = pids.get(str(command["kill"]))
        if pid is not None:  # not reaped yet, so that no other process has its number
            os.kill(pid, signal.SIGKILL)
        return
    parent, key = os.getpid(), str(command["start"])
    pid = os.fork()
    if pid == 0:
        code = BROKEN
        try:
            connection.close()
            code = _forked(command, parent, pipes)
        finally:
            os._exit(code)
    pids[key] = pid
    _send(connection, {"started": key, "pid": pid})


def _forked(command: Mapping[str, object], parent: int, pipes: Collection[int]) -> int:
    """What a fork does; its exit code."""
    import resource  # not on all systems

    from gnomon.core.processes import end_with

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for pipe in pipes:
        os.close(pipe)
    end_with(parent, True)  # noqa: FBT003  # the fork server has one thread, which forked
    seconds = int(str(command["cpu"]))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = Path(str(command["folder"]))
    tasks: dict[str, Callable[[Path], int]] = {
        "first": partial(run_job, first=True),
        "study": run_job,
        "inspect": inspect_draft,
    }
    with _logged(folder / LOG):
        return tasks[str(command["task"])](folder)


def _reap(pids: dict[str, int], connection: socket.socket) -> None:
    keys = {pid: key for key, pid in pids.items()}
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        key = keys.get(pid)
        if key is not None:
            del pids[key]
            answer = {"ended": key, "status": status, "memory": usage.ru_maxrss * 1024}
            _send(connection, answer)


def _send(connection: socket.socket, message: Mapping[str, object]) -> None:
    with suppress(OSError):  # the end of the server is seen in reading
        connection.sendall(json.dumps(message).encode() + b"\n")


def warm() -> None:
    """Load what comparisons need, and compare two outputs of the example once."""
    import tempfile

    from gnomon.core.testset import TestSet
    from gnomon.data import example
    from gnomon.data.formats import write_test_set

    logging.disable(logging.CRITICAL)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            source = Path(next(iter(example.__path__))) / "es-en"
            names = [*TestSet.read(source).systems][:2]
            testset = TestSet.read(source).select(systems=names, segments=range(20))
            write_test_set(testset, folder / TEXTS, numbered=True)
            choices = ComparisonChoices(language_pair="es-en", steps=[StepChoice(method="compare")])
            about = ComparisonRecord(owner="", made=now(), choices=choices)
            write_record(folder / NAMES, about, durable=False)
            write_record(folder / JOB, new_job(about), durable=False)
            run_job(folder)
    finally:
        logging.disable(logging.NOTSET)


@contextmanager
def _logged(file: Path) -> Iterator[None]:
    """What is printed and logged goes to a file."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in (1, 2):
        os.dup2(descriptor, number)
    os.close(descriptor)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.getLogger("gnomon").addHandler(handler)
    try:
        yield
    except BaseException:
        logging.getLogger("gnomon").exception("the process broke off")
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


# The fork of a job.


def run_job(folder: Path, *, first: bool = False) -> int:
    """Do what is left of a comparison, step by step; what is done stays whenever this ends."""
    with locked(folder / "lock") as mine:
        if not mine:
            return BUSY
        _JobRun(folder).run_steps(first=first)
    return FINISHED


class _JobRun:
    def __init__(self, folder: Path) -> None:
        about = read_record(folder / NAMES, ComparisonRecord)
        if about is None:
            raise DataError(f"{folder / NAMES} cannot be read")
        self.folder, self.about = folder, about
        self.job = read_record(folder / JOB, Job) or new_job(about)
        self._written = 0.0

    def run_steps(self, *, first: bool) -> None:
        self.job.state, self.job.started = "running", self.job.started or now()
        self.job.finished, self.job.said, self.job.remedy = None, "", None
        self._keep()
        if not (self.folder / STUDY).is_file():  # the server has not loaded what tells of options
            write_whole(self.folder / STUDY, study_text(self.about).encode())
        try:
            self.job.said = make_texts(self.folder, self.about) or ""
        except GnomonError as error:
            self.job.stop("refused", refusal(error, "")[0])
            self._keep()
            return
        while (state := self.job.current) is not None:
            self._step(state)
            if first and self.job.current is not None:
                self.job.state = "queued"
                self._keep()
                return
        taken = self._steps("done", "failed", "cancelled")
        if taken:
            write_whole(self.folder / STUDY, study_text(self.about, taken).encode())
        (self.folder / _TRIAL).unlink(missing_ok=True)
        self.job.settle()
        self._keep()

    def _steps(self, *states: JobState) -> list[StepChoice]:
        """The methods in these states."""
        steps = zip(self.about.choices.steps, self.job.steps, strict=True)
        return [choice for choice, step in steps if step.state in states]

    def _step(self, state: StepState) -> None:
        state.state, state.started, state.finished = "running", now(), None
        state.said, state.remedy = "", None
        self._keep()
        try:
            outcome = self._run(state)
        except GnomonError as error:
            state.state = "refused"
            state.said, state.remedy = refusal(error, state.method)
        except Exception:  # noqa: BLE001  # other steps go on
            _log.exception("%s broke off", state.method)
            state.state, state.said = "failed", "It broke off; the log of this comparison says why."
            state.remedy = Remedy("again", "Run it again.")
        else:
            self._conclude(state, outcome)
        state.finished, state.stage = now(), ""
        self._keep()

    def _conclude(self, state: StepState, outcome: RunOutcome) -> None:
        reasons = dict.fromkeys(map(in_words, outcome.failed.values()))
        state.state = "failed" if reasons else "done"
        state.said = "\n".join(reasons)

    def _run(self, state: StepState) -> RunOutcome:
        """The tasks of a step that those which are done did not have."""
        from gnomon.studies import Store, open_engine, plan, read_study, reporting, run

        def planned(steps: list[StepChoice]) -> StudyPlan:
            file = self.folder / _TRIAL
            write_whole(file, study_text(self.about, steps).encode(), durable=False)
            return plan(read_study(file))

        before = self._steps("done")
        earlier = {task.key for task in planned(before).tasks} if before else set()
        made = planned(self._steps("done", "running"))
        keys = {task.key for task in made.tasks} - earlier
        state.total = len(keys)
        store = Store.open(self.folder / STORE, create=True)
        last = all(step is state for step in self.job.steps if step.state in OPEN)
        with reporting(lambda *said: self._progress(state, *said)):
            return run(
                made,
                open_engine("here"),
                store=store,
                only=keys,
                prune=last,
                progress=lambda *said: self._progress(state, *said),
            )

    def _progress(self, state: StepState, stage: str, done: int, total: int) -> None:
        state.stage, state.done, state.total = stage, done, total
        if time.monotonic() > self._written + _PAUSE:
            self._keep(durable=False)

    def _keep(self, *, durable: bool = True) -> None:
        write_record(self.folder / JOB, self.job, durable=durable)
        self._written = time.monotonic()


def refusal(error: GnomonError, method: str) -> tuple[str, Remedy | None]:
    """An error as a page says it: no folders of the server, no shell; and its remedy.

    >>> from gnomon.messages import message
    >>> error = DataError(message("error.no_tagger", language="sw"))
    >>> text, remedy = refusal(error, "muler")
    >>> text, remedy.id
    ('There is no tagger for Swahili here, which would tell its kinds of words apart.', 'install')
    """
    problems = error.problems if isinstance(error, OptionsError) else (Problem("", error),)
    first = problems[0].error.message
    if first.code == "error.no_tagger":
        from gnomon.core.languages import english_names

        asked = str(first.params["language"])
        language = english_names().get(asked, asked)
        return (
            f"There is no tagger for {language} here, which would tell its kinds of words apart.",
            Remedy("install", "The owner of this server can install one.", {"what": asked}),
        )
    if first.code == "error.no_language":
        return (
            "Nobody said which language the translations are in.",
            Remedy("anew", "Compare the files anew, and name the language."),
        )
    step = f"methods.{method}"
    lines = [
        in_words(wrong if not key or key.startswith(step) else DataError(f"{key}: ", wrong))
        for key, wrong in problems
    ]
    return "\n".join(lines), None


# The texts of a comparison, from the files that were uploaded.


def make_texts(folder: Path, about: ComparisonRecord) -> str | None:
    """Make a test set of what was uploaded, whole or not at all; or add a system to it."""
    from gnomon.serve._texts import add_output, test_set_of

    uploads, texts = folder / UPLOADS, folder / TEXTS
    if not uploads.is_dir():
        return None
    if not texts.is_dir():
        from gnomon.data.formats import write_test_set

        testset = test_set_of(uploads, about)
        about.segments = testset.segments
        write_record(folder / NAMES, about)
        write_test_set(testset, texts, numbered=True)
    said = None
    for choice in [choice for choice in about.choices.files if choice.added]:
        if (uploads / str(choice.file)).is_file():
            try:
                add_output(texts, uploads / str(choice.file), choice, about.segments)
            except GnomonError as error:
                said = f"It could not be added: {in_words(error)}"
                about.choices.files.remove(choice)
                write_record(folder / NAMES, about)
    shutil.rmtree(uploads, ignore_errors=True)
    return said


# The fork of an inspection.


def inspect_draft(folder: Path) -> int:
    """Look at the files of a draft, and write down what they are."""
    from gnomon.serve.inspect import inspect
    from gnomon.serve.workspace import DRAFT, INSPECTION, Draft

    draft = read_record(folder / DRAFT, Draft)
    if draft is None:
        return BROKEN
    files = [(name, folder / UPLOADS / str(n)) for n, name in enumerate(draft.names)]
    write_record(folder / INSPECTION, inspect(files, draft.encodings))
    return FINISHED
