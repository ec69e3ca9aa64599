"""Bundled Spanish-English example: a reference, paraphrases, five systems."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["copy_to", "paraphrases", "path", "study"]

#: spec -> corpus score of apertium-direct, computed with sacreBLEU 2.6.0
CORPUS_SCORES = {
    "bleu": 36.07026335222421,
    "chrf": 61.98383612422348,
    "chrf++": 60.59296209363168,
    "ter": 47.93152639087018,
}

#: spec -> its mean sentence score, computed with sacreBLEU 2.6.0 and rouge-score 0.1.2
SENTENCE_SCORES = {"bleu": 34.060379393574316, "rougeL": 0.6490092234875667}


def path() -> Path:
    r"""The folder of the bundled test set, in gnomon's own directory layout.

    It holds ``src.txt``, ``ref.A.txt``, ``systems/NAME.txt``, ``documents.tsv`` and
    ``systems.tsv``; the ``README.md`` beside it says what they are and how they were made.

    Returns:
        The folder ``es-en`` among the installed files of the package.

    Example:
        >>> from gnomon.data import example
        >>> example.path().name
        'es-en'
        >>> (example.path() / "src.txt").read_text(encoding="utf-8").count("\n")
        209
    """
    return Path(str(resources.files(__name__))) / "es-en"


def paraphrases() -> tuple[Path, ...]:
    """Paraphrases of the references: four files, one line per segment, method ``round-trip``.

    Example:
        >>> from gnomon.data import example
        >>> [file.name for file in example.paraphrases()][:2]
        ['ref.round-trip.1.txt', 'ref.round-trip.2.txt']
    """
    return tuple(sorted((path() / "paraphrases").glob("ref.*.txt")))


def study() -> Path:
    """The study that ``gnomon demo`` runs.

    Example:
        >>> study().name
        'study.toml'
    """
    return path().with_name("study.toml")


def questions() -> Path:
    """Path of the questions of ``gnomon demo``: methods with verdicts, and questions in SQL."""
    return path().with_name("questions.toml")


def copy_to(folder: str | PathLike[str]) -> Path:
    """Copy the study and its texts; files that are there already stay as they are.

    Args:
        folder: where they go; it is made if it is not there.

    Returns:
        The study there.

    Raises:
        OSError: the folder cannot be written; what was copied is whole, and is not copied again.
    """
    from gnomon.data.formats import atomic_write

    target_folder = Path(folder)
    bundled = study().parent
    for file in [study(), *sorted(path().rglob("*"))]:
        target = target_folder / file.relative_to(bundled)
        if file.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(target, "wb") as copy:
                copy.write(file.read_bytes())
    return target_folder / study().name
