"""Parsing, logging and exit codes: 0 fine, 1 bad data, 2 bad usage, 3 a gate failed."""

from __future__ import annotations

import argparse
import errno
import logging
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich_argparse import RawDescriptionRichHelpFormatter

from gnomon.cli import (
    _cite,
    bmx,
    cache,
    compare,
    data,
    demo,
    difficulty,
    export,
    info,
    listing,
    metaeval,
    muler,
    paraphrase,
    query,
    report,
    run,
    score,
    selftest,
    setup,
)
from gnomon.cli._parser import Parser
from gnomon.errors import GnomonError, OutputError
from gnomon.signature import version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["main", "parser"]

_COMMANDS = (
    score,
    compare,
    metaeval,
    muler,
    bmx,
    difficulty,
    paraphrase,
    run,
    query,
    report,
    export,
    data,
    info,
    listing,
    setup,
    selftest,
    demo,
    cache,
)
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the arguments, without the program's name; those of the process by default.

    Returns:
        The exit code.
    """
    args = argparse.Namespace()
    try:
        args = parser().parse_args(argv)
        with _logging(args):
            code: int = args.run(args)
        sys.stdout.flush()
    except GnomonError as error:
        return _failed(args, error, error.exit_code)
    except BrokenPipeError:
        # the reader of our output has gone (head, less): not a fault, but nothing more to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _failed(args, _said(error), 1)
    except KeyboardInterrupt:
        return _interrupted()
    except SystemError as error:
        # how a compiled loop ends that was interrupted
        if isinstance(error.__cause__, KeyboardInterrupt):
            return _interrupted()
        raise
    return code


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    RawDescriptionRichHelpFormatter.styles["argparse.metavar"] = "cyan"
    top = Parser(
        prog="gnomon",
        description="Makes any metric of translation or text generation say more.",
        formatter_class=RawDescriptionRichHelpFormatter,
        epilog="Start with:  gnomon demo      Help on one command:  gnomon COMMAND --help",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"gnomon {version()}")
    top.add_argument("--cite", action=_cite.CiteAction, help="print how to cite, as BibTeX")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add(commands)
    return top


@contextmanager
def _logging(args: argparse.Namespace) -> Iterator[None]:
    """What gnomon's rooms say goes to stderr while a command runs, and no longer."""
    from gnomon.tabular import visible_lines

    class Plain(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            level = "" if record.levelno < logging.WARNING else f"{record.levelname.lower()}: "
            return f"gnomon: {level}{visible_lines(record.getMessage())}"

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Plain())
    logger = logging.getLogger("gnomon")
    before = (logger.handlers[:], logger.propagate, logger.level)
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(logging.ERROR if getattr(args, "quiet", False) else logging.INFO)
    try:
        yield
    finally:
        logger.handlers[:], logger.propagate = before[:2]
        logger.setLevel(before[2])


def _interrupted() -> int:
    sys.stderr.write("\ngnomon: interrupted; what was tagged so far is kept in the cache\n")
    return _INTERRUPTED


def _said(error: OSError) -> Exception:
    """The error, or, where it names no file, what it means: our own output cannot be written."""
    if error.errno != errno.ENOSPC or error.filename is not None:
        return error
    return OutputError(
        "cannot write to standard output: the disk is full: free some space, or name a file on"
        " another disk with -o FILE"
    )


def _failed(args: argparse.Namespace, error: Exception, code: int) -> int:
    from gnomon.tabular import visible_lines

    if getattr(args, "debug", False):
        raise error
    sys.stderr.write(f"gnomon: error: {visible_lines(str(error))}\n")
    return code
