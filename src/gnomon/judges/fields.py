"""Further fields of requests, names of models, and prices, as a judge's spec gives them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from gnomon.core.errors import SpecError
from gnomon.judges.endpoints import KEY, Endpoint

#: fields that requests have anyway, or that would change what an answer is
_TAKEN = {
    "messages": "the rubric makes them",
    "model": "name it by model=",
    "response_format": "the rubric says the form of answers",
    "temperature": "give temperature=",
    "seed": "give seed=",
    "max_tokens": "give max_tokens=",
    "stream": "whole answers are read",
    "n": "give repeats=",
    "tools": "answers are texts",
    "functions": "answers are texts",
}
_SECRET = re.compile(
    r"api[-_]?key|authori[sz]ation|password|secret|bearer|credential|private[-_]?key"
    r"|access[-_]?token|^(?:(?:api|auth|hf|id|refresh|session)[-_]?)?token$",
    re.IGNORECASE,
)
#: prefixes of the keys of well-known servers, and headers with any
_KEY = re.compile(r"(?:sk-|gsk_|hf_|xai-|ghp_|AIza)[\w-]{16,}|Bearer\s+\S+")
_HOW = "give an object, as extra={'reasoning_effort': 'low', 'top_p': 0.9}"


def checked_fields(given: object, endpoint: str) -> str:
    """Further fields of a request as JSON with sorted names; empty where there are none.

    Args:
        given: a mapping, or its JSON.
        endpoint: where requests are sent; the key for it may stand in no field.

    Raises:
        SpecError: it is no object, names a field that requests have anyway, or holds a key: what is
            given here stands in signatures and files.
    """
    fields = dict(given) if isinstance(given, Mapping) else _read(given)
    if not fields:
        return ""
    for name in fields:
        if not isinstance(name, str):
            raise SpecError(f"judge: names in extra are texts; got {name!r}")
        if name in _TAKEN:
            raise SpecError(f"judge: extra cannot set {name!r}: {_TAKEN[name]}")
    try:
        text = json.dumps(fields, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SpecError(f"judge: extra must be JSON: {error}; {_HOW}") from error
    secret = any(
        _SECRET.search(part) if is_name else _KEY.fullmatch(part)
        for part, is_name in _texts(fields)
    )
    if secret or Endpoint(endpoint).holds_key(text):
        raise _key_error("judge: extra holds what")
    return text


def check_model(model: str, endpoint: str, *, of: str) -> None:
    """Refuse a key in the place of a model's name.

    Args:
        model: the name that was given.
        endpoint: where requests are sent.
        of: what takes the name, in words.

    Raises:
        SpecError: it is a key, or looks like one; the message does not show it.
    """
    if _KEY.fullmatch(model.strip()) or Endpoint(endpoint).holds_key(model):
        raise _key_error(f"{of}: model= holds what")


def _key_error(what: str) -> SpecError:
    return SpecError(
        f"{what} looks like a key; it would stand in results and files, so give keys by the"
        f" environment ({KEY}=...)"
    )


def _read(given: object) -> dict[str, Any]:
    if not given:
        return {}
    try:
        fields = json.loads(given) if isinstance(given, str) else None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise SpecError(f"judge: extra is {given!r}; {_HOW}")
    return fields


def _texts(given: object) -> Iterable[tuple[str, bool]]:
    """All texts of some fields, inner ones, too, and whether each is the name of a field."""
    if isinstance(given, str):
        yield given, False
    elif isinstance(given, Mapping):
        for name, value in given.items():
            yield str(name), True
            yield from _texts(value)
    elif isinstance(given, list | tuple):
        for value in given:
            yield from _texts(value)


def check_prices(prices: tuple[float, ...] | None) -> None:
    """Refuse what are no two prices.

    Raises:
        SpecError: it is so.
    """
    if prices is None:
        return
    if len(prices) != 2 or not all(math.isfinite(price) and price >= 0 for price in prices):
        raise SpecError(
            f"judge: prices is {list(prices)}; give two numbers of 0 or more: what a million tokens"
            " of questions cost, and a million of answers, as prices=[0.5, 1.5]"
        )
