"""Warnings of test sets that were read without an error, and look wrong."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from gnomon.core.lazy import checked
from gnomon.core.scores import list_names
from gnomon.data.formats._files import LOGGER
from gnomon.messages import noted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.testset import TestSet

_DOUBTS = logging.getLogger("gnomon.formats.doubts")
_REFERENCE = re.compile(r"(ref(erence)?s?|gold)([._\-0-9].*)?", re.IGNORECASE)
_SOURCE = re.compile(r"(src|sources?)([._\-0-9].*)?", re.IGNORECASE)


@checked
def warn_of_anomalies(testset: TestSet) -> TestSet:
    """The same test set, with a warning for each thing that looks wrong in it."""
    if _DOUBTS.isEnabledFor(logging.WARNING):
        for text in map(noted, testset.anomalies):
            _DOUBTS.warning("%s: %s", testset.name, text)
    return testset


def say_roles(references: Sequence[str], systems: Sequence[str], source: str | None = None) -> None:
    """Warn of files whose names say that they are something else than they are given as."""
    wrong = [name for name in systems if _REFERENCE.fullmatch(name)]
    if wrong and not any(_REFERENCE.fullmatch(name) for name in references):
        LOGGER.warning(
            "%s is given as a system, and %s as reference; are they swapped? references come first:"
            " REF -i SYSTEM",
            list_names(wrong),
            list_names(list(references)),
        )
    others = [("a reference", name) for name in references]
    others += [("a system", name) for name in systems]
    for role, name in others:
        if _SOURCE.fullmatch(name):
            LOGGER.warning("%s is given as %s; the source is named with -s (source=)", name, role)
    if source is not None and _REFERENCE.fullmatch(source):
        LOGGER.warning("%s is given as the source; references come first, without -s", source)
