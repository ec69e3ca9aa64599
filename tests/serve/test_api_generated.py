"""Requests made of the server's own document, fitting and not, and answers held to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gnomon.serve.schema import openapi

from .conftest import ADDRESS, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

#: what the document promises of every answer. That fitting requests are taken is not among it: no
#: schema says which specs of metrics there are, or that texts have as many segments
PROMISES = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
DOCUMENT = schemathesis.openapi.from_dict(openapi(ADDRESS))
OPERATIONS = [result.ok() for result in DOCUMENT.get_all_operations()]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """How to ask a server, whose comparisons wait and are not run."""
    with serving(tmp_path_factory.mktemp("generated")) as app:
        app.state.queue.workers = 0
        token = app.state.access.launch_token()
        address = app.state.settings.address
        yield {"base_url": address, "headers": {"authorization": f"Bearer {token}"}}


def check(program: dict[str, Any], operation: Any, mode: GenerationMode, examples: int) -> None:
    """Send requests that fit the document, or that do not."""
    fits = mode is GenerationMode.POSITIVE
    checks = PROMISES if fits else [*PROMISES, negative_data_rejection]

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case: Any) -> None:
        case.validate_response(case.call(**program), checks=checks)

    run()


def takes_anything(operation: Any) -> bool:
    return bool(operation.body or operation.query or operation.path_parameters)


CALLS = [(operation, GenerationMode.POSITIVE) for operation in OPERATIONS] + [
    (operation, GenerationMode.NEGATIVE) for operation in OPERATIONS if takes_anything(operation)
]
IDS = [f"{operation.label} {mode.name.lower()}" for operation, mode in CALLS]


@pytest.mark.parametrize(("operation", "mode"), CALLS, ids=IDS)
def test_every_answer_is_one_that_the_document_tells_of(
    program: dict[str, Any], operation: Any, mode: GenerationMode
) -> None:
    check(program, operation, mode, 8)


@pytest.mark.verify
@pytest.mark.parametrize(("operation", "mode"), CALLS, ids=IDS)
def test_every_answer_to_many_requests_is_one_that_the_document_tells_of(
    program: dict[str, Any], operation: Any, mode: GenerationMode
) -> None:
    check(program, operation, mode, 500)
