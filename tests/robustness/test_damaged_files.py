"""Damaged files of every format that is registered, through the command line.

The law, for every damaged file:

1. The command ends with 0, 1, 2 or 3 within the limit, and no traceback is seen. Where it refuses,
   it says one error in words.
2. Nothing is half-written: the target is there, whole, after 0 and 3; after 1 and 2 it is not
   there; and nothing else is left anywhere.
3. What was accepted is equal in content to the undamaged file, or a notice says the difference.

Nobody can know that a letter or a digit was another one before. Therefore "equal in content" means
two things. Where the damage changes no content (a byte order mark, other line ends, a missing last
one), everything that was read is the same. Elsewhere the *shape* is: as many segments, systems,
texts, scores, judgements, spans as before, of the same kinds, none of them newly empty or missing
(:func:`tests.robustness.examples.shape`). A notice is a line on stderr, or one among the result's
notices, that the undamaged file does not bring.

Some damage leaves a whole file of its format, and nobody can see it. In files whose records are as
many as there happen to be (judgements, word lists, a table that alone tells how many segments there
are: ``open_ended``) that is another number of lines, another number of fields that hold something
(an empty one, ``None`` or ``nan`` is how these formats write that nobody judged), and another name
of a field that may be missing (formats allow further fields). These alone are exempt.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.robustness import damage
from tests.robustness.examples import examples
from tests.robustness.law import Answer, Example, Slow, ask, shape

from gnomon import formats
from gnomon.cli import entry as _main
from gnomon.linguistics.scorers import describe_scorers

EXAMPLES = Path(__file__).parent / "examples.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Example]:
    return examples(tmp_path_factory.mktemp("examples"))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser of all commands is made once: most of what a refusal takes."""
    whole = cache(_main.parser)
    monkeypatch.setattr(_main, "parser", lambda *_: whole())


@pytest.mark.parametrize("draws", [1, pytest.param(75, marks=pytest.mark.verify)])
def test_damaged_files_are_refused_in_words_or_what_differs_is_said(
    made: list[Example], draws: int, tmp_path: Path
) -> None:
    some = made if draws > 1 else made[::3]
    problems = [fault for one in some for fault in probe(one, tmp_path / "out", draws)]
    assert not problems, "\n\n".join(problems)


@pytest.mark.parametrize("share", [0.01, pytest.param(1, marks=pytest.mark.verify)])
def test_what_is_no_file_is_refused_and_nothing_waits_for_it(
    made: list[Example], share: float, tmp_path: Path
) -> None:
    draw, problems = random.Random(1), []
    for one in made:
        whole = ask(one, tmp_path / "out")
        for file in one.files[:3]:
            for kind in damage.KINDS:
                if draw.random() >= share:
                    continue
                with replaced(file):
                    damage.no_file(file, kind)
                    fault = judged(one, tmp_path / "out", whole, file, b"", b"")
                problems += [f"{one.name}: {file.name} is a {kind}: {fault}"] if fault else []
    assert not problems, "\n\n".join(problems)


@pytest.mark.parametrize("name", ["gnomon", "human esa", "frozen"])
def test_a_process_ends_in_words_as_a_command_in_this_one_does(
    made: list[Example], name: str, tmp_path: Path
) -> None:
    example = next(one for one in made if one.name == name)
    file = example.files[0]
    with replaced(file):
        file.write_bytes(damage.foreign(b"", random.Random(name)))
        _refused_by_a_process(example, tmp_path / "out")


def test_an_endless_device_is_refused_before_it_fills_the_memory(
    made: list[Example], tmp_path: Path
) -> None:
    example = next(one for one in made if one.name == "plain")
    file = example.files[0]
    with replaced(file):
        file.unlink()
        file.symlink_to("/dev/zero")
        _refused_by_a_process(example, tmp_path / "out")


def _refused_by_a_process(example: Example, out: Path) -> None:
    command = [str(out) if word == "OUT" else word for word in example.command]
    limits = 'ulimit -v 6000000; exec "$@"'
    done = subprocess.run(
        ["sh", "-c", limits, "sh", sys.executable, "-m", "gnomon", *command],
        capture_output=True, timeout=300, check=False, text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode in (1, 2), done.stderr
    assert "gnomon: error: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()


def test_every_format_that_is_registered_has_an_example(made: list[Example]) -> None:
    """Loops over gnomon's registries: what comes to them has to come here."""
    covered = {name for example in made for name in example.covers}
    human = {form.name for form in formats.formats_of(formats.JudgementFormat)}
    needed = {info.name for info in formats.describe()} - human - {"wmt"}
    needed |= {
        f"human:{form.name}" for form in formats.formats_of(formats.JudgementFormat) if form.is_read
    }
    needed |= {f"scores:{form.name}" for form in formats.formats_of(formats.ScoreFormat)}
    needed |= {
        f"scorer:{row[0].removesuffix('=FILE')}" for row in describe_scorers() if "=FILE" in row[0]
    }
    needed |= _options(_main.parser())
    missing = sorted(needed - covered - set(ELSEWHERE))
    assert not missing, f"add an example of {', '.join(missing)} to {EXAMPLES}"
    assert not covered & set(ELSEWHERE)


# options that take no file of a format, and what is damaged elsewhere
ELSEWHERE = {
    "--batch-read": "answers of batches: tests/metrics/judges/test_requests.py",
    "--batch-write": "is written",
    "--certificate": "certificates: tests/serve/test_command.py",
    "--config": "settings of a server: tests/serve/test_command.py",
    "places": "folders and stores of a server: tests/serve/test_command.py",
    "--encoder": "configurations of encoders, tests/metrics/learned/test_checkpoints.py",
    "--vocabulary": "likewise",
    "folder": "folders of models: tests/models",
    "--folder": "the folder of fetched test sets, which each reader reads as its own",
    "sacrebleu": "archives, tests/official; then plain text",
    "--from": "archives: tests/robustness/test_archives.py",
    "--test-set": "the formats of test sets, one by one",
    "paths": "likewise",
    "--model": "models", "--embeddings": "models",
    "--codes": "safetensors beside a model", "--codes-folder": "likewise",
    "--texts": "plain text",
    "files": "plain text", "--column": "a number", "--sha256": "a sum",
    "--code-identity": "a sum", "--human-format": "a name", "--references": "names",
}  # fmt: skip
WRITTEN = {
    "--output", "--html", "--export", "--save", "--sheet", "--form", "--segments",
    "--differences", "--keep", "--into", "to", "store",
}  # fmt: skip


def _options(parser: argparse.ArgumentParser) -> set[str]:
    """Options of all commands that name a file to read."""
    found = set()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                found |= _options(command)
        elif action.nargs != 0 and re.search(
            r"FILE|DIR|PATH|FOLDER|TOML|REF|SYSTEM\b", f"{action.metavar}"
        ):
            found.add(action.option_strings[-1] if action.option_strings else action.dest)
    return found - WRITTEN


@contextlib.contextmanager
def replaced(file: Path) -> Iterator[None]:
    """Whatever happens to a file, it is back afterwards."""
    data = file.read_bytes()
    try:
        yield
    finally:
        if file.is_dir() and not file.is_symlink():
            file.rmdir()
        else:
            file.unlink(missing_ok=True)
        file.write_bytes(data)


def broken(example: Example, file: Path, data: bytes, damaged: bytes, answers: list[Answer]) -> str:
    """What the law says against an answer to a damaged file; empty where it holds."""
    whole, found = answers
    if found.code not in (0, 3) or set(found.said) - set(whole.said):
        return ""
    before, after = (shape(one.content, leave=(*example.leave, "path")) for one in answers)
    if before == after:
        return ""
    if file.name.startswith(example.open_ended) and _outline(data) != _outline(damaged):
        return ""
    return f"accepted without a word: {dict(before - after)} became {dict(after - before)}"


def _outline(data: bytes) -> tuple[int, int, list[bytes]]:
    """How many lines hold a record, how many fields are not missing, and the names of fields."""
    lines = [line for line in data.split(b"\n") if line.strip() and not line.startswith(b"#")]
    cells = re.split(rb"[\s,]+", b" ".join(lines))
    missing = (b"", b"none", b"nan", b"null")
    named = re.findall(rb'"[^"]*"(?=\s*:)|\w+(?==)', data) or lines[:1]
    return len(lines), sum(cell.lower() not in missing for cell in cells), named


def probe(example: Example, out: Path, draws: int) -> list[str]:
    """Damage the files of an example in many ways; what is found against the law."""
    problems = []
    whole = ask(example, out)
    assert whole.code == 0, whole.said
    draw = random.Random(example.name)
    ways = draw.sample((*damage.WAYS, *damage.DRESSED), k=len(damage.WAYS) + len(damage.DRESSED))
    for number in range(draws):
        file, way = draw.choice(example.files), ways[number % len(ways)]
        data = file.read_bytes()
        damaged = way(data, draw)
        if file.suffix == ".gz" and draw.random() < 0.5:
            damaged = damage.within_gzip(way)(data, draw)
        with replaced(file):
            file.write_bytes(damaged)
            fault = judged(example, out, whole, file, data, damaged)
        if fault:
            problems.append(
                f"{example.name} {number}: {way.__name__} of {file.name}: {fault:.2000}"
            )
    return problems


def judged(
    example: Example, out: Path, whole: Answer, file: Path, data: bytes, damaged: bytes
) -> str:
    """What is found against the law where a file is damaged."""
    try:
        found = ask(example, out)
    except (Exception, Slow) as error:  # noqa: BLE001  # whatever a command raises is a fault
        return f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(out, ignore_errors=True)
        out.unlink(missing_ok=True)
    if damaged in _dressed(data) and found.code == 0 and set(found.said) <= set(whole.said):
        return "" if repr(found.content) == repr(whole.content) else "other content, same text"
    return broken(example, file, data, damaged, [whole, found])


def _dressed(data: bytes) -> list[bytes]:
    """The same text, written otherwise."""
    if b"\0" in data or data.startswith(b"\x1f\x8b"):
        return []
    return [data, *(way(data, random.Random(0)) for way in damage.DRESSED)]
