"""Writing the directories of mt-metrics-eval, as far as they can hold a test set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import DataError, UsageError
from gnomon.formats._files import LOGGER
from gnomon.formats._folders import natural
from gnomon.formats._human import LEVELS
from gnomon.formats._lines import write_lines
from gnomon.formats._mt_metrics_eval import UNKNOWN
from gnomon.formats._tsv import print_number
from gnomon.testset import SystemInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from gnomon.testset import HumanScores, TestSet

_SHORT = {level: short for short, level in LEVELS.items()}


def write_layout(testset: TestSet, folder: Path) -> None:
    """Fill an empty directory with a test set; what the layout cannot hold is left out and said.

    Raises:
        UsageError: the language pair is unknown.
        DataError: a name or a text cannot be held, or a segment lacks a reference.
        OutputError: a file cannot be written.
    """
    pair = require_pair(testset)
    if testset.sources is not None:
        _write(folder / "sources" / f"{pair}.txt", testset.sources)
    for name, texts in testset.references.items():
        _write_reference(folder / "references" / f"{pair}.{name}.txt", name, texts)
    for name, texts in testset.systems.items():
        check_word("system", name)
        _write(folder / "system-outputs" / pair / f"{name}.txt", texts)
    _write_documents(testset, folder / "documents" / f"{pair}.docs")
    for human in testset.human:
        if human.rater is None:
            file = folder / "human-scores" / f"{pair}.{human.kind}.{_SHORT[human.level]}.score"
            check_word("score", human.kind)
            _write(file, human_lines(human, testset))
    _say_what_is_left_out(testset)


def require_pair(testset: TestSet) -> str:
    """The language pair.

    Raises:
        UsageError: it is not known.
    """
    if not testset.language_pair:
        raise UsageError(
            f"the language pair of {testset.name!r} is not known, and this format needs it; give"
            " it (de-en)"
        )
    check_word("language pair", testset.language_pair)
    return testset.language_pair


def check_word(kind: str, name: str) -> None:
    """Refuse a name that cannot be both a file name and a field between white space.

    Raises:
        DataError: it is empty, begins with a dot, or holds white space or a slash.
    """
    if name.startswith(".") or name.split() != [name] or set(name) & set("/\\\0"):
        raise DataError(
            f"the {kind} name {name!r} cannot stand in mt-metrics-eval's files: it must not be"
            " empty, begin with a dot, or hold white space or a slash; rename it"
        )


def score_lines(systems: Sequence[str], values: Iterable[Sequence[float]]) -> Iterable[str]:
    """``SYSTEM<tab>SCORE``, a block per system."""
    for system, scores in zip(systems, values, strict=True):
        check_word("system", system)
        for score in scores:
            yield f"{system}\t{print_number(score, UNKNOWN)}"


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():
        raise DataError(f"two parts of the test set would both be written to {file.name}")
    write_lines(file, lines)


def _write_reference(file: Path, name: str, texts: Sequence[str | None]) -> None:
    check_word("reference", name)
    if name in ("all", "src") or set(name) & set(".-"):
        raise DataError(
            f"the reference name {name!r} cannot stand in mt-metrics-eval's files: it must not be"
            " 'all' or 'src', nor hold a dot or a dash; rename it"
        )
    if None in texts:
        raise DataError(
            f"segment {texts.index(None) + 1} lacks reference {name!r}; mt-metrics-eval's files"
            " cannot say so: write gnomon's layout, or leave the reference out"
        )
    _write(file, [str(text) for text in texts])


def _write_documents(testset: TestSet, file: Path) -> None:
    if testset.documents is None and testset.domains is None:
        return
    unknown = [UNKNOWN] * testset.segments
    documents, domains = testset.documents or unknown, testset.domains or unknown
    for name in {*documents, *domains}:
        check_field("document or domain", name)
    _write(file, [f"{a}\t{b}" for a, b in zip(domains, documents, strict=True)])


def check_field(kind: str, name: str) -> None:
    """Refuse a name that cannot be a field between white space.

    Raises:
        DataError: it is empty or holds white space.
    """
    if name.split() != [name]:
        raise DataError(
            f"the {kind} name {name!r} cannot stand in mt-metrics-eval's files: it must not be"
            " empty or hold white space; rename it"
        )


def human_lines(human: HumanScores, testset: TestSet) -> list[str]:
    """The lines of a ``.score`` file.

    Raises:
        DataError: a name cannot be held, or documents are not the test set's.
    """
    values = human.values
    if human.level == "domain":
        for name in human.items:
            check_field("domain", name)
        blocks = (score_lines([s], [row]) for s, row in zip(human.systems, values, strict=True))
        return [f"{n}\t{line}" for b in blocks for n, line in zip(human.items, b, strict=True)]
    if human.level == "document":
        documents = tuple(dict.fromkeys(testset.documents or ()))
        if sorted(documents) != sorted(human.items):
            raise DataError(
                f"the document scores {human.kind!r} are not of the test set's documents;"
                " mt-metrics-eval's files cannot hold them"
            )
        values = values[:, [human.items.index(name) for name in documents]]
    return list(score_lines(human.systems, values))


def _say_what_is_left_out(testset: TestSet) -> None:
    known = {
        name: i
        for name, i in testset.info.items()
        if i not in (SystemInfo(), _implied(testset, name))
    }
    parts = {
        "what is known of the systems": known,
        "labels of segments": testset.labels,
        "scores of single raters": [h for h in testset.human if h.rater is not None],
        "rankings": testset.rankings,
        "references of single systems": testset.system_references,
    }
    left_out = [name for name, part in parts.items() if part]
    if left_out:
        LOGGER.warning("mt-metrics-eval's layout cannot hold, left out: %s", ", ".join(left_out))
    order = sorted(testset.systems, key=natural)
    if list(testset.systems) != order:
        LOGGER.info("mt-metrics-eval's layout keeps no order of systems: they come back sorted")


def _implied(testset: TestSet, name: str) -> SystemInfo:
    return SystemInfo(human=name in testset.references)
