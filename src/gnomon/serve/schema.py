"""The OpenAPI document; requests and answers are those of :mod:`gnomon.serve.resources`."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec

from gnomon.serve.problems import ProblemData
from gnomon.serve.resources import (
    ComparisonData,
    ComparisonRequest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["openapi"]

Schema = dict[str, Any]
_COMPONENTS = "#/components/schemas/{name}"
_PROBLEM = "application/problem+json"
_STRUCTURES = (
    ComparisonRequest,
    ComparisonData,
    ProblemData,
)
#: problems of every address, with what each says
_ALWAYS = {
    HTTPStatus.UNAUTHORIZED: "No token, or one that does not hold",
    HTTPStatus.NOT_FOUND: "There is nothing of that name that this token may see",
}


# Addresses.


def openapi(address: str = "", *, public: bool = False) -> Schema:
    """The OpenAPI 3.1 document of the API."""
    from gnomon.core.signature import version

    _, components = msgspec.json.schema_components(_STRUCTURES, ref_template=_COMPONENTS)
    for schema in components.values():
        schema.pop("title", None)
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
                "requestBody": {
                    "required": True,
                    "content": {
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
                "responses": {
                    "200": _answer("ComparisonData", "As far as it is"),
                    **_problems({}),
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
    return dict(_describe_problems({**_ALWAYS, **more}))


def _describe_problems(said: Mapping[HTTPStatus, str]) -> Iterator[tuple[str, Schema]]:
    for status in sorted(said):
        content = {_PROBLEM: {"schema": _ref("ProblemData")}}
        yield str(int(status)), {"description": said[status], "content": content}
