"""The options that a study may set have defaults of the types that it asks for."""

from __future__ import annotations

import pytest

from gnomon.study._methods import METHODS, hints_of, options_of
from gnomon.study._types import misfits


@pytest.mark.parametrize("name", METHODS)
def test_defaults_are_of_the_types_that_are_asked_for(name: str) -> None:
    hints = hints_of(name)
    for key, option in options_of(name).items():
        default = list(option.default) if isinstance(option.default, tuple) else option.default
        assert list(misfits(default, hints[key], key)) == []
