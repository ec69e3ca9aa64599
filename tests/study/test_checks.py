"""The check of each method knows the options of the method, with the same defaults."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from gnomon import methods
from gnomon.study._methods import METHODS, hints_of, options_of
from gnomon.study._types import misfits

#: options that any value of their type is right for, or that are files of which a study knows
_FREE = {
    "paraphrase.gain": {"trees"},
    "paraphrase.diversity": {"trees", "words"},
}


_BY_HAND = [name for name in METHODS if name not in methods.BUILT_IN]


def _declared(name: str) -> Any:
    """What the decorator of a method says of it, if it has one."""
    return getattr(METHODS[name].load(), "method", None)


def _parameters(name: str) -> dict[str, inspect.Parameter]:
    made = _declared(name)
    check = METHODS[name].checks() if made is None else made.check
    return dict(inspect.signature(check).parameters)


@pytest.mark.parametrize("name", [n for n in METHODS if n not in methods.BUILT_IN])
def test_checks_know_all_options(name: str) -> None:
    if hasattr(METHODS[name].load(), "method"):
        return  # the types of its options say what each refuses
    known = _parameters(name)
    if _declared(name) is not None:  # what is wrong with an option alone, its type says
        of_the_run = {"outline", "allow_code", METHODS[name].parameter}
        assert set(known) - of_the_run <= set(options_of(name))
        return
    further = set(options_of(name)) - set(known)
    assert further - {"labels"} == _FREE.get(name, set()) - {"labels"}


@pytest.mark.parametrize("name", _BY_HAND)
def test_checks_have_the_defaults_of_the_methods(name: str) -> None:
    known = _parameters(name)
    for key, option in options_of(name).items():
        if key in known and known[key].default is not None:
            assert known[key].default == option.default, key


@pytest.mark.parametrize("name", _BY_HAND)
def test_checks_take_what_the_method_calls_its_metrics(name: str) -> None:
    known = list(_parameters(name))
    assert known[0] == "outline"
    if METHODS[name].metrics != "none":
        assert METHODS[name].parameter in known


@pytest.mark.parametrize("name", METHODS)
def test_defaults_are_of_the_types_that_are_asked_for(name: str) -> None:
    hints = hints_of(name)
    for key, option in options_of(name).items():
        default = list(option.default) if isinstance(option.default, tuple) else option.default
        assert list(misfits(default, hints[key], key)) == []
