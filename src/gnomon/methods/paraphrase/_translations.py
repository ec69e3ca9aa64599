"""Paraphrases that are translations: outputs of other systems, and round trips."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import DataError, MissingDependencyError, UsageError
from gnomon.core.testset import Paraphrase
from gnomon.methods.paraphrase._constraints import check_share
from gnomon.metrics import score

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet


# Pseudo-references: what other systems said, where it is good enough.


def pseudo_references(
    testset: TestSet,
    metric: str = "chrf",
    *,
    n: int = 1,
    least: float | None = None,
    share: float = 1.0,
    shared: bool = False,
    allow_code: bool = False,
) -> tuple[Paraphrase, ...]:
    """Outputs of other systems as further references (Albrecht and Hwa, 2007), which cost nothing.

    For every system and segment, the n outputs of the *other* systems that the metric likes best
    against the references, so that no system is its own reference. An output that several systems
    have counts once, and an output equal to a reference is left out.
    """
    if n < 1:
        raise UsageError(f"at least 1 pseudo-reference is asked for; got {n}")
    check_share(share)
    if len(testset.systems) < 2:
        raise DataError("pseudo-references are other systems' outputs; give two systems or more")
    scores = score(testset, metric, allow_code=allow_code)
    sign = 1.0 if scores.higher_is_better else -1.0
    quality = sign * np.asarray(scores.segments)
    givers = _best(sign * np.asarray(scores.system), share)
    floor = -np.inf if least is None else sign * least
    names = list(testset.systems)
    made = []
    for i in range(testset.segments):
        ranked = _ranked(testset, i, givers, quality[:, i], floor)
        for k in [None] if shared else range(len(names)):
            system = None if k is None else names[k]
            texts: dict[str, float] = {}
            for text, giver in ranked:
                if giver != k and len(texts) < n:
                    texts.setdefault(text, sign * float(quality[giver, i]))
            made += [
                Paraphrase(i + 1, t, "pseudo", system, v, model=metric) for t, v in texts.items()
            ]
    return tuple(made)


def _best(system: NDArray[np.float64], share: float) -> list[int]:
    size = max(2, round(share * len(system)))
    order = np.argsort(-system, kind="stable")[:size]
    return sorted(int(k) for k in order)


def _ranked(
    testset: TestSet,
    segment: int,
    givers: Sequence[int],
    quality: NDArray[np.float64],
    floor: float,
) -> list[tuple[str, int]]:
    """Texts and their systems, best first; undefined scores, copies and empty texts left out."""
    columns = list(testset.systems.values())
    references = {texts[segment] for texts in testset.references.values()}
    fit = [
        k
        for k in givers
        if quality[k] >= floor
        and columns[k][segment] not in references
        and columns[k][segment].strip()
    ]
    fit.sort(key=lambda k: -float(quality[k]))
    return [(columns[k][segment], k) for k in fit]


# Paraphrases by translating references there and back, with any commands.


_SAID = 300


def round_trip(
    testset: TestSet,
    forward: str | Sequence[str],
    back: str | Sequence[str],
    *,
    timeout: float = 600.0,
    batch: int = 500,
    skip: Collection[int] = (),
) -> Iterator[list[Paraphrase]]:
    """Translate every reference into another language and back."""
    if batch < 1 or timeout <= 0:
        raise UsageError(f"batch and timeout must be positive; got {batch} and {timeout}")
    commands = [_words(command) for command in (forward, back)]
    model = " > ".join(shlex.join(words) for words in commands)
    given = [
        (i + 1, text)
        for i in range(testset.segments)
        for texts in testset.references.values()
        if i + 1 not in skip and (text := texts[i]) is not None and text.strip()
    ]
    for start in range(0, len(given), batch):
        batch_texts = given[start : start + batch]
        there = translate([text for _, text in batch_texts], commands[0], timeout=timeout)
        # an empty line is no text to translate: some commands swallow it
        translated = [n for n, text in enumerate(there) if text.strip()]
        again = translate([there[n] for n in translated], commands[1], timeout=timeout)
        yield [
            Paraphrase(batch_texts[n][0], text, "round-trip", model=model)
            for n, text in zip(translated, again, strict=True)
            if text.strip()
        ]


def translate(
    texts: Sequence[str], command: str | Sequence[str], *, timeout: float = 600.0
) -> list[str]:
    r"""Send lines through a command: one text per line in, one per line out, in the same order.

    The command is started once, without a shell, reads standard input to its end, and writes to
    standard output. White space at the ends of lines is removed; a carriage return is no line end.
    """
    words = _words(command)
    if not texts:
        return []
    if any("\n" in text for text in texts):
        raise DataError("a text to translate holds a line feed; replace it by a space")
    command_line = shlex.join(words)
    out, errors, code = _run(words, "".join(text + "\n" for text in texts).encode(), timeout)
    if code:
        last = errors.decode(errors="replace").strip()[-_SAID:]
        raise DataError(
            f"{command_line!r} failed with exit code {code}: {last or 'it said nothing'}"
        )
    try:
        lines = out.decode().split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{command_line!r} did not write UTF-8 (byte {error.start})") from error
    if lines[-1] == "":
        lines.pop()
    if len(lines) != len(texts):
        raise DataError(
            f"{command_line!r} gave {len(lines)} lines for {len(texts)}; it must write"
            " exactly one line for each line it reads (Apertium: -f line), and not join or split"
            " sentences"
        )
    return [line.strip() for line in lines]


def _words(command: str | Sequence[str]) -> list[str]:
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise UsageError(f"the command {command!r} cannot be read: {error}") from error
    if not words:
        raise UsageError("the command is empty; give a program and its arguments")
    if shutil.which(words[0]) is None:
        raise MissingDependencyError(
            f"there is no program {words[0]!r}; install it, or give its full path"
        )
    return words


def _run(words: Sequence[str], given: bytes, timeout: float) -> tuple[bytes, bytes, int]:
    # a session of its own, so that whatever the command starts can be stopped with it
    with subprocess.Popen(  # noqa: S603  # the user's own command, never through a shell
        list(words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            out, errors = process.communicate(given, timeout=timeout)
        except subprocess.TimeoutExpired:
            _stop(process)
            raise DataError(
                f"{shlex.join(words)!r} took longer than {timeout:g} seconds and was stopped; give"
                " it more time, or fewer lines at once"
            ) from None
        except BaseException:
            _stop(process)
            raise
    return out, errors, process.returncode


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
