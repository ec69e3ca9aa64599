"""A small Spanish-English test set to try things on: a reference, paraphrases, five systems."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

__all__ = ["paraphrases", "path"]


def path() -> Path:
    r"""The folder of the bundled test set, in gnomon's own directory layout.

    It holds ``src.txt``, ``ref.A.txt``, ``systems/NAME.txt``, ``documents.tsv`` and
    ``systems.tsv``; what they are and how they were made is told in the ``README.md`` beside it.

    Returns:
        The folder ``es-en`` among the installed files of the package.

    Example:
        >>> from gnomon import example
        >>> example.path().name
        'es-en'
        >>> (example.path() / "src.txt").read_text(encoding="utf-8").count("\n")
        209
    """
    return Path(str(resources.files(__name__))) / "es-en"


def paraphrases() -> tuple[Path, ...]:
    """Paraphrases of the references: four files, one line per segment, method ``round-trip``.

    Example:
        >>> from gnomon import example
        >>> [file.name for file in example.paraphrases()][:2]
        ['ref.round-trip.1.txt', 'ref.round-trip.2.txt']
    """
    return tuple(sorted((path() / "paraphrases").glob("ref.*.txt")))
