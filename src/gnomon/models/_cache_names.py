"""Keys and values that a model keeps between steps, under the name that its class has for them."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: the newer first: transformers renamed the argument and the output in 5.24
_NAMES = ("cache", "past_key_values")


def cache_argument(model: Any, cache: Any) -> dict[str, Any]:
    """The argument that gives a model its keys and values; it keeps those of the call, too."""
    taken = signature(type(model).forward).parameters
    return {next((name for name in _NAMES if name in taken), _NAMES[-1]): cache, "use_cache": True}


def output_cache(output: Mapping[str, Any]) -> Any:
    """The keys and values that a model gives back; None where it gives none."""
    given = dict(output.items())  # asking for a name that is not there makes transformers warn
    return next((given[name] for name in _NAMES if name in given), None)
