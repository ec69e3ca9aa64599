"""The options that a study may set have defaults of the types that it asks for."""

from __future__ import annotations

import pytest

from gnomon.core import registry as methods
from gnomon.core.options import file_option, misfits


@pytest.mark.parametrize("name", methods.steps())
def test_defaults_are_of_the_types_that_are_asked_for(name: str) -> None:
    for option in methods.find(name).step_options.values():
        assert list(misfits(file_option(option), option.default)) == []
