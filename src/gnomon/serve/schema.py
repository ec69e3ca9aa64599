"""JSON Schema of methods, and the OpenAPI document, made of what is declared elsewhere.

Options come from the parameters of methods (as forms do, :mod:`gnomon.serve.forms`), requests and
answers from their structures (:mod:`gnomon.serve.resources`), addresses from the route table.
"""

from __future__ import annotations

import collections.abc
import functools
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, get_args, get_origin

import msgspec

from gnomon.core.options import in_files, parts_of
from gnomon.core.registry import find, plain_help
from gnomon.serve.forms import OFFERED, limits_of, offered_options
from gnomon.serve.problems import ProblemData
from gnomon.serve.resources import (
    ComparisonData,
    ComparisonRequest,
    TextRequest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gnomon.core.options import Option
    from gnomon.core.registry import Method

__all__ = ["openapi", "option_schema", "options_schema", "served_methods"]

Schema = dict[str, Any]
_COMPONENTS = "#/components/schemas/{name}"
_PROBLEM = "application/problem+json"
_STRUCTURES = (
    ComparisonRequest,
    TextRequest,
    ComparisonData,
    ProblemData,
)
#: problems of every address, with what each says
_ALWAYS = {
    HTTPStatus.UNAUTHORIZED: "No token, or one that does not hold",
    HTTPStatus.NOT_FOUND: "There is nothing of that name that this token may see",
}


@functools.cache
def served_methods() -> Mapping[str, Method]:
    """Methods that a comparison may take."""
    return {name: find(name) for name in OFFERED}


# Options.


def options_schema(method: Method) -> Schema:
    """JSON Schema (2020-12) of the options that people without a shell may give a method."""
    offered = offered_options(method)
    return {
        "title": method.title,
        "description": f"{method.purpose[0].upper()}{method.purpose[1:]}.",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: option_schema(option) for name, option in offered.items()},
    }


def option_schema(option: Option) -> Schema:
    """JSON Schema of the values of an option."""
    written = in_files(option)
    schema = _of_kind(written.kind, option)
    schema["description"] = plain_help(option)
    if option.default is not None:
        default = option.default
        schema["default"] = list(default) if isinstance(default, tuple) else default
    return schema


def _of_kind(kind: Any, option: Option) -> Schema:
    parts = parts_of(kind)
    if len(parts) > 1:
        return {"anyOf": [_of_one(part, option) for part in parts]}
    return _of_one(kind, option)


def _of_one(kind: Any, option: Option) -> Schema:
    origin, inner = get_origin(kind), get_args(kind)
    if kind in (int, float):
        return {"type": "integer" if kind is int else "number"} | _limits(option)
    if origin is collections.abc.Sequence:
        return {"type": "array", "items": _of_kind(inner[0], option)}
    if origin is collections.abc.Mapping:
        return {"type": "object", "additionalProperties": _of_kind(inner[1], option)}
    if inner:  # a choice of values
        return {"enum": list(inner)}
    return {"type": "string"}


def _limits(option: Option) -> Schema:
    limits = limits_of(option)
    if limits is None:
        return {}
    given = {"minimum": limits.low, "maximum": limits.high}
    return {name: value for name, value in given.items() if value is not None}


# Addresses.


def openapi(address: str = "", *, public: bool = False) -> Schema:
    """The OpenAPI 3.1 document of the API."""
    from gnomon.core.signature import version

    _, components = msgspec.json.schema_components(_STRUCTURES, ref_template=_COMPONENTS)
    for schema in components.values():
        schema.pop("title", None)
    for name, method in served_methods().items():
        components[f"{name}.options"] = options_schema(method)
    by_method = {name: _ref(f"{name}.options") for name in served_methods()}
    for name in ("ComparisonRequest", "TextRequest"):
        components[name]["properties"]["methods"] |= {
            "properties": by_method,
            "additionalProperties": False,
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "gnomon",
            "version": "1" if public else version(),
            "summary": "Which of these translations is better, and where each one fails.",
        },
        "servers": [{"url": address or "/"}],
        "security": [{"token": []}],
        "paths": _paths(),
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of the server, made on its page People.",
                }
            },
        },
    }


def _ref(name: str) -> Schema:
    return {"$ref": _COMPONENTS.format(name=name)}


def _paths() -> Schema:
    wait = _query(
        "wait",
        {"type": "number", "minimum": 0, "maximum": 60, "default": 0},
        "Seconds to wait for results before answering with what there is.",
    )
    comparison_id = {
        "name": "id",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
    }
    form = {
        "type": "object",
        "required": ["reference", "output"],
        "properties": {
            "reference": _files("Good translations, one segment a line, UTF-8."),
            "output": _files("The translations to compare; their file names name the systems."),
            "source": {"type": "string", "format": "binary"},
            "request": _ref("ComparisonRequest"),
        },
    }
    wrong = {
        HTTPStatus.BAD_REQUEST: "The body did not arrive whole, or is no JSON",
        HTTPStatus.UNPROCESSABLE_ENTITY: "What was sent makes no comparison; see field and remedy",
    }
    return {
        "/api/v1/comparisons": {
            "post": {
                "operationId": "compare",
                "summary": "Compare translations",
                "parameters": [wait],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": _ref("TextRequest")},
                        "multipart/form-data": {
                            "schema": form,
                            "encoding": {"request": {"contentType": "application/json"}},
                        },
                    },
                },
                "responses": {
                    "201": _answer("ComparisonData", "The new comparison", located=True),
                    **_problems(
                        wrong
                        | {
                            HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "More than this server takes",
                            HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "Neither JSON nor a form with files",
                            HTTPStatus.INSUFFICIENT_STORAGE: "The server has no more room",
                        }
                    ),
                },
            },
        },
        "/api/v1/comparisons/{id}": {
            "parameters": [comparison_id],
            "get": {
                "operationId": "read",
                "summary": "A comparison: how far it is, its verdict and its gate",
                "parameters": [wait],
                "responses": {
                    "200": _answer("ComparisonData", "As far as it is"),
                    **_problems({HTTPStatus.UNPROCESSABLE_ENTITY: "A parameter does not fit"}),
                },
            },
            "delete": {
                "operationId": "delete",
                "summary": "Delete all of a comparison: texts, results, notes, links",
                "responses": {"204": {"description": "It is gone"}, **_problems({})},
            },
        },
        "/api/v1/openapi.json": {
            "get": {
                "operationId": "openapi",
                "summary": "This document",
                "security": [],
                "responses": {
                    "200": {
                        "description": "OpenAPI 3.1",
                        "content": {"application/json": {"schema": {"type": "object"}}},
                    }
                },
            }
        },
    }


def _query(name: str, schema: Schema, description: str) -> Schema:
    return {"name": name, "in": "query", "schema": schema, "description": description}


def _files(description: str) -> Schema:
    return {
        "type": "array",
        "minItems": 1,
        "items": {"type": "string", "format": "binary"},
        "description": description,
    }


def _answer(name: str, description: str, *, located: bool = False) -> Schema:
    answer: Schema = {
        "description": description,
        "content": {"application/json": {"schema": _ref(name)}},
    }
    if located:
        answer["headers"] = {"location": {"required": True, "schema": {"type": "string"}}}
    return answer


def _problems(more: Mapping[HTTPStatus, str]) -> Schema:
    return dict(_each_problem({**_ALWAYS, **more}))


def _each_problem(said: Mapping[HTTPStatus, str]) -> Iterator[tuple[str, Schema]]:
    for status in sorted(said):
        content = {_PROBLEM: {"schema": _ref("ProblemData")}}
        yield str(int(status)), {"description": said[status], "content": content}
