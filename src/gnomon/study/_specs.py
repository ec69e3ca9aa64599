"""Specs of metrics among the options of methods: where their files are, and what they need."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gnomon.errors import SpecError, UnknownNameError
from gnomon.study._methods import METHODS
from gnomon.study._traits import located_spec, traits_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from gnomon.study._needs import Need

__all__ = ["located_options", "needs_of_specs", "specs_among"]


def specs_among(method: str, options: Mapping[str, object]) -> Iterator[str]:
    """The specs in the options of a method; a kind of human scores may be among them."""
    for option in METHODS[method].specs:
        given = options.get(option) or ()
        yield from (str(one) for one in ([given] if isinstance(given, str) else given))  # type: ignore[attr-defined]  # a list of strings


def located_options(
    method: str, options: Mapping[str, object], folder: Path
) -> tuple[dict[str, object], dict[str, str]]:
    """Options whose specs name files in full, and these specs by those that the study gives.

    Args:
        method: a name of :data:`gnomon.study.METHODS`.
        options: as the study gives them.
        folder: that of the study.
    """
    places = {}
    for spec in specs_among(method, options):
        with suppress(SpecError):  # a kind of human scores
            if (place := located_spec(spec, folder)) != spec:
                places[spec] = place
    found = dict(options)
    for option in METHODS[method].specs:
        given = options.get(option)
        if isinstance(given, str):
            found[option] = places.get(given, given)
        elif isinstance(given, list | tuple):
            found[option] = [places.get(one, one) for one in given]
    return found, places


def needs_of_specs(
    method: str, options: Mapping[str, object], language: str | None, *, allow_code: bool
) -> Iterator[Need]:
    """What the metrics among the options of a method depend on; files are named in full."""
    for spec in specs_among(method, options):
        with suppress(SpecError, UnknownNameError):  # a kind of human scores
            yield from traits_of(spec, language, allow_code=allow_code).needs
