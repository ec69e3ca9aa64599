"""Combinations of parameters, of which some are left to the long form."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any

import pytest


def thinned(*values: Collection[Any], keep: int = 2) -> list[Any]:
    """All combinations; all but one in ``keep`` of them under verify alone.

    Of three parameters or more, every two values of two parameters still meet in what is kept.
    """
    return [
        pytest.param(
            *(value for _, value in chosen),
            marks=[pytest.mark.verify] * (sum(place for place, _ in chosen) % keep > 0),
        )
        for chosen in itertools.product(*map(enumerate, values))
    ]
