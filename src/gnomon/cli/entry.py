"""Parsing, logging and exit codes: 0 fine, 1 bad data, 2 bad usage, 3 a gate failed."""

from __future__ import annotations

import argparse
import atexit
import codecs
import errno
import gc
import io
import logging
import math
import os
import re
import select
import signal
import sys
import threading
from collections import Counter
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gnomon.cli import _cite
from gnomon.cli._requests import are_planned, read_batches
from gnomon.cli.commands import add_commands, add_group, add_method
from gnomon.cli.parser import CallRefused, HelpFormatter, Parser
from gnomon.core import registry as methods
from gnomon.core.errors import DataError, GnomonError, OutputError
from gnomon.core.signature import version
from gnomon.messages.audiences import written_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from gnomon.cli._options import Subparsers

__all__ = ["main", "parser"]

#: first words of commands -> methods, or groups of them
_METHODS = {
    head.replace("_", "-"): head
    for head in dict.fromkeys(name.partition(".")[0] for name in methods.BUILT_IN)
}
#: modules with the commands that run no method
_OTHERS = ("studies", "serve", "data", "installation", "demo")
#: the commands as help lists them, by headings
_GROUPS = {
    "start": ("demo", "serve", "score", "compare", "check"),
    "explain": ("muler", "errors", "difficulty", "bmx", "paraphrase"),
    "metrics and raters": ("metaeval", "human", "judges", "stress", "train"),
    "many at once": ("run", "query", "report", "export"),
    "data and set-up": ("data", "align", "info", "list", "setup", "selftest", "cache"),
}
_STOPPING = ("strict", "surrogateescape")  # how streams are set by default
_RULE = "\u2500"  # the lines of tables
#: new objects between two looks for cycles
_MANY = 50_000
#: signals that end a command in order
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: seconds for that
_GRACE = 1.5
_KEPT = "what was tagged or explained so far is kept in the cache; the same command goes on with it"
_THREADS = "OPENBLAS_NUM_THREADS"


#: arguments that ask for JSON
_JSON = frozenset({"-f json", "--format json", "--format=json"})


class _Ended(KeyboardInterrupt):
    """A signal asked for the end; of a plain interrupt within exec() Python itself would die."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the arguments, without the program's name; those of the process by default, which then
            ends with the command where that fails.

    Returns:
        The exit code.
    """
    atexit.register(_leave_cycles)
    if argv is not None:
        return _main(argv)
    try:
        code = _main(sys.argv[1:])
    except Exception:  # noqa: BLE001  # shown as Python does
        sys.excepthook(*sys.exc_info())
        code = 1
    if code:  # threads may wait for a server, and libraries count what an error still holds
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    return code


def _main(argv: Sequence[str]) -> int:
    with written_for("shell"):
        return _run_command(argv)


def _run_command(argv: Sequence[str]) -> int:
    args = argparse.Namespace()
    try:
        with _rare_collection():
            with _limit_threads():
                args = parser(argv).parse_args(argv or ["--help"])
            with (
                _end_on_signals(args),
                _logging(args),
                _limit_input(args),
                _allow_network(args),
                _escape_output(),
            ):
                read_batches(args)
                code = _run(args)
                sys.stdout.flush()
    except BrokenPipeError:
        # the reader of our output has gone (head, less): not a fault, but nothing more to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except CallRefused as refused:
        _print_as_json(argv, refused.command, refused.error)
        raise
    except (GnomonError, OSError, MemoryError) as error:
        return _failed(args, argv, _translate_error(error))
    except KeyboardInterrupt as error:
        return _interrupted(args, *error.args)
    return code


def _run(args: argparse.Namespace) -> int:
    with _limit_threads():
        if not getattr(args, "computes", True):
            return int(args.run(args))
        import numpy as np  # noqa: F401  # what is not there yet cannot be limited
    from threadpoolctl import threadpool_limits

    # sums of products end in other digits on other numbers of threads
    with threadpool_limits(1, user_api="blas"):
        code: int = args.run(args)
    return code


def _limit_threads() -> AbstractContextManager[None]:
    """Let numpy start no threads for linear algebra: that takes longer than loading it."""
    return _variable(_THREADS, "1")


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """A variable of the environment, which workers inherit, within it."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def parser(argv: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of all commands."""
    HelpFormatter.styles["argparse.metavar"] = "cyan"
    top = Parser(
        prog="gnomon",
        description="Compare translations: which is better, by how much, and on which words.",
        formatter_class=HelpFormatter,
        epilog="Start with:  gnomon demo      Help on one command:  gnomon COMMAND --help",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"gnomon {version()}")
    top.add_argument("--cite", action=_cite.CiteAction, help="print how to cite, as BibTeX")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    top.groups = _GROUPS
    first = argv[0] if argv else ""
    if first == "serve":  # a browser waits for it
        import_module("gnomon.cli.serve").add(commands)
        return top
    alone = first in _METHODS
    for word in [first] if alone else _METHODS:
        add = add_method if _METHODS[word] in methods.BUILT_IN else add_group
        add(commands, _METHODS[word])
    if not alone:
        for module in _OTHERS:
            import_module(f"gnomon.cli.{module}").add(commands)
        add_commands(commands, done=commands.choices)
        _add_offered(commands)
    return top


def _add_offered(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands that other packages offer by an entry point."""
    from importlib.metadata import entry_points

    for point in entry_points(group="gnomon.commands"):
        try:
            point.load()(commands)
        except Exception as error:  # noqa: BLE001  # whatever it raises stops no other command
            package = point.dist.name if point.dist else point.value
            logging.getLogger("gnomon").warning(
                "the command %s of the package %s cannot be added: %s", point.name, package, error
            )


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Python looks for cycles among all that is loaded, again and again while it loads more."""
    before = gc.get_threshold()
    gc.set_threshold(_MANY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _leave_cycles() -> None:
    """Python searches all that there is for cycles when it ends: a fifth of a small command.

    DuckDB says on standard error what of its own is not collected then.
    """
    if "duckdb" not in sys.modules:
        gc.freeze()


@contextmanager
def _logging(args: argparse.Namespace) -> Iterator[None]:
    """Send gnomon's log to stderr while a command runs, and no longer."""
    from gnomon.core.tabular import visible_lines

    class Plain(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            level = "" if record.levelno < logging.WARNING else f"{record.levelname.lower()}: "
            return f"gnomon: {level}{visible_lines(record.getMessage())}"

    seen = set[str]()

    def is_new(record: logging.LogRecord) -> bool:
        """Of what is said of many files alike, the first alone."""
        repeated = getattr(record, "once", False) and record.msg in seen
        seen.add(record.msg)
        return not repeated

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Plain())
    handler.addFilter(is_new)
    logger = logging.getLogger("gnomon")
    readers, doubts = (
        logging.getLogger(f"gnomon.{name}") for name in ("formats", "formats.doubts")
    )
    before = (logger.handlers[:], logger.propagate)
    levels = {each: each.level for each in (logger, readers, doubts)}
    logger.handlers[:] = [handler]
    logger.propagate = False
    if getattr(args, "quiet", False):
        logger.setLevel(logging.ERROR)
    elif getattr(args, "verbose", False):
        logger.setLevel(logging.DEBUG)
    else:
        logger.setLevel(logging.INFO)
        readers.setLevel(logging.WARNING if hasattr(args, "answers") else logging.NOTSET)
    if getattr(args, "answers", False) and not args.output:  # which begins with them
        doubts.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.handlers[:], logger.propagate = before
        for each, level in levels.items():
            each.setLevel(level)


@contextmanager
def _limit_input(args: argparse.Namespace) -> Iterator[None]:
    """The largest input of this command, of its workers too: these have its environment."""
    given = getattr(args, "max_input", None)
    if given is None:
        yield
        return
    from gnomon.data.formats import MAX_INPUT, largest_input

    with _variable(MAX_INPUT, given):
        largest_input()
        yield


def _allow_network(args: argparse.Namespace) -> AbstractContextManager[None]:
    """Let this command and its workers send texts to other machines, where that is allowed."""
    # where requests are planned or written to a file, nothing is sent
    planned = are_planned(args)
    if not getattr(args, "allow_network", False) and not planned:
        return nullcontext()
    from gnomon.judges import network_allowed

    return network_allowed()


@contextmanager
def _escape_output() -> Iterator[None]:
    """Escape characters that stdout's encoding lacks, and say so: no result is lost."""
    stream, lacking = sys.stdout, Counter[str]()
    if not isinstance(stream, io.TextIOWrapper) or stream.errors not in _STOPPING:
        yield  # captured, or told what to do by PYTHONIOENCODING=latin-1:replace
        return

    def escaped(error: UnicodeError) -> tuple[str | bytes, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        characters = error.object[error.start : error.end]
        lacking.update(characters.replace(_RULE, ""))
        return "".join("-" if c == _RULE else ascii(c)[1:-1] for c in characters), error.end

    codecs.register_error("gnomon", escaped)
    before = stream.errors
    stream.reconfigure(errors="gnomon")
    try:
        yield
    finally:
        stream.reconfigure(errors=before)
    if lacking:
        logging.getLogger("gnomon").warning(
            "standard output is %s, which lacks %s of the characters written to it: they are"
            " written as escapes (%s); -o FILE writes UTF-8, and so does PYTHONIOENCODING=utf-8",
            stream.encoding,
            lacking.total(),
            ", ".join(ascii(character)[1:-1] for character in list(lacking)[:3]),
        )


@contextmanager
def _end_on_signals(args: argparse.Namespace) -> Iterator[None]:
    """End in order when asked to, unless somebody provided for the signal (nohup)."""
    usual = (signal.SIG_DFL, signal.default_int_handler)
    handlers = {signum: signal.getsignal(signum) for signum in _ENDS}
    before = {signum: handler for signum, handler in handlers.items() if handler in usual}
    if threading.current_thread() is not threading.main_thread():  # it may not set them
        yield
        return
    asked: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        asked.append(number)
        for signum in before:
            signal.signal(signum, signal.SIG_DFL)  # who asks twice does not want to wait
        raise _Ended(number)

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    threading.Thread(target=_end_late, args=(args, reader), daemon=True).start()
    for signum in before:
        signal.signal(signum, end)
    last = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(last)
        os.close(writer)
        for signum, handler in before.items():
            signal.signal(signum, handler)
        if asked:  # compiled loops and databases that were interrupted say so in their own ways
            raise _Ended(asked[0])


def _end_late(args: argparse.Namespace, signals: int) -> None:
    """End a command whose compiled loop or database does not look up from its work."""
    with open(signals, "rb", buffering=0) as reader:
        while number := reader.read(1):
            if number[0] in _ENDS and not select.select([reader], [], [], _GRACE)[0]:
                os._exit(_interrupted(args, number[0]))


def _interrupted(args: argparse.Namespace, number: int = signal.SIGINT) -> int:
    """Say that the command was interrupted; a shell's code for a signal is 128 and its number."""
    how = "" if number == signal.SIGINT else f" by {signal.Signals(number).name}"
    with suppress(OSError):  # the terminal may be what has gone
        sys.stderr.write(f"\ngnomon: interrupted{how}; {getattr(args, 'kept', _KEPT)}\n")
    return 128 + number


def _translate_error(error: GnomonError | OSError | MemoryError) -> GnomonError:
    """The error; in words of gnomon, what one of the system means."""
    if isinstance(error, GnomonError):
        return error
    if isinstance(error, MemoryError):
        shape: Any = getattr(error, "shape", ())  # of an array of numpy's
        dtype: Any = getattr(error, "dtype", None)
        much = f" ({_format_gigabytes(math.prod(shape) * dtype.itemsize)} at once)" if dtype else ""
        return DataError(
            f"there is not enough memory for this{much}: take less at a time: fewer draws"
            " (--resamples), segments (--first) or systems (--systems)"
        )
    if error.filename:
        said = f"cannot read or write {error.filename}: {error.strerror}"
        return OutputError(said, path=error.filename)
    if error.errno == errno.ENOSPC:
        return OutputError(
            "cannot write to standard output: the disk is full: free some space, or name a file on"
            " another disk with -o FILE"
        )
    return OutputError(error.strerror or str(error))


def _format_gigabytes(size: int) -> str:
    return f"{size / (1 << 30):,.1f} GiB"


def _failed(args: argparse.Namespace, argv: Sequence[str], error: GnomonError) -> int:
    from gnomon.core.tabular import visible_lines

    if getattr(args, "debug", False):
        raise error
    # libraries hand on the words of the system, which begin with its number
    said = re.sub(r"\[Errno -?\d+\] ", "", str(error))
    sys.stderr.write(f"gnomon: error: {visible_lines(said)}\n")
    if not getattr(args, "printed", False):  # otherwise it failed in the midst of it, or a gate did
        _print_as_json(argv, args.command, error)
    return error.exit_code


def _print_as_json(argv: Sequence[str], command: str, error: GnomonError) -> None:
    """Print the problems, as messages, where a program asked for JSON."""
    if any(given in _JSON for given in (*argv, *map(" ".join, pairwise(argv)))):
        from gnomon import report

        name = command.partition(" ")[2]
        sys.stdout.write(report.envelope(name, (), {}, verdict=error.messages))
