"""The study file of a comparison."""

from __future__ import annotations

import tomllib

import pytest

from gnomon.serve.comparison import (
    ComparisonChoices,
    ComparisonRecord,
    default_steps,
    now,
    study_text,
)


@pytest.mark.parametrize("outputs", [2, 5])
def test_methods_are_given_all_translations_at_once_so_that_they_say_which_is_better(
    outputs: int,
) -> None:
    choices = ComparisonChoices(language_pair="es-en", steps=default_steps(outputs))
    record = ComparisonRecord(owner="ann", made=now(), choices=choices)
    said = tomllib.loads(study_text(record))
    assert said["methods"]["muler"] == {"together": True}
    assert said["methods"]["compare"] == {}
