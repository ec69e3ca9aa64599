"""A small test set that people judged, and a way to write files of others' formats beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon import TestSet

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = ["Der Hund schläft.", "Die Katze trinkt Milch.", "Es regnet."]
SYSTEMS = {
    "alpha": ["The dog sleeps.", 'The cat "drinks" milk.', "It rains."],
    "beta": ["A dog 🐕 is asleep.", "The cat drinks milk.", "Rain, rain."],
}


def judged_set(**parts: object) -> TestSet:
    """Two systems, three segments, de-en."""
    fixed: dict[str, object] = {
        "name": "small",
        "references": {"A": ["The dog is sleeping.", "The cat drinks milk.", "It is raining."]},
        "systems": SYSTEMS,
        "sources": SOURCES,
        "language_pair": "de-en",
    }
    return TestSet(**(fixed | parts))  # type: ignore[arg-type]  # parts of any type


def written(folder: Path, name: str, *lines: str) -> Path:
    """A file of these lines."""
    file = folder / name
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file
