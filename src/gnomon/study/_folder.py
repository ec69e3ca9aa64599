"""The folder of a store: what makes it one, and small files in it that appear whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError, OutputError
from gnomon.study._migrate import SCHEMA

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "ABOUT",
    "MANIFEST",
    "PLAN",
    "SKETCHES",
    "TABLES",
    "json_of",
    "layout_of",
    "make_store",
    "replace_text",
]

MANIFEST, PLAN, TABLES, ABOUT = "manifest.jsonl", "plan.json", "tables", "store.json"
SKETCHES = "sketches.json"


def make_store(folder: Path) -> None:
    """Make an empty store.

    Raises:
        OutputError: the folder holds something else, or cannot be made.
    """
    from gnomon.formats import atomic_write

    try:
        taken = folder.exists() and any(folder.iterdir())
        if not taken:
            (folder / TABLES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        said = "a file is there" if folder.is_file() else error.strerror
        raise OutputError(
            f"the store {folder} cannot be made: {said}; name another folder: store = '...' in"
            " the study"
        ) from error
    if taken:
        raise OutputError(f"{folder} holds something else; name a new or an empty folder as store")
    with atomic_write(folder / ABOUT) as file:
        json.dump({"gnomon-store": SCHEMA}, file)


def layout_of(folder: Path) -> object:
    """The version of its layout.

    Raises:
        DataError: it does not say.
    """
    about = folder / ABOUT
    try:
        return json.loads(about.read_text(encoding="utf-8"))["gnomon-store"]
    except OSError as error:
        raise DataError(f"{about} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{about} is damaged: it does not say the version of the store") from error


def json_of(file: Path) -> dict[str, Any]:  # what JSON holds
    """What a file holds; nothing where it is missing.

    Raises:
        DataError: it cannot be read, or holds something else.
    """
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError) as error:
        raise DataError(f"{file} is damaged; run the study again, which writes it anew") from error


def replace_text(file: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    from gnomon.formats import atomic_write

    with atomic_write(file) as stream:
        stream.write(text)
