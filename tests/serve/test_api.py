"""The API: a comparison in one call, its verdict and gate as data, and problems that say where."""

from __future__ import annotations

import html
import io
import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from openapi_spec_validator import validate
from starlette.testclient import TestClient

from gnomon.core import registry
from gnomon.core.signature import version
from gnomon.serve import make_app
from gnomon.serve.comparison import StepChoice
from gnomon.serve.job_table import StepState
from gnomon.serve.resources import ComparisonRequest
from gnomon.serve.schema import openapi, options_schema, served_methods

from .conftest import ADDRESS, browser_of

if TYPE_CHECKING:
    from collections.abc import Iterator


ALL = "/api/v1/comparisons"
REFERENCE = [
    f"the {animal} {verb} on the {place} all day"
    for animal in ("cat", "dog", "cow", "hen", "fox")
    for verb in ("sat", "stood", "lay")
    for place in ("mat", "old roof", "wall", "green hill")
]
BETTER = [line.replace("sat", "was") for line in REFERENCE]
WORSE = [line.replace("the", "a").replace("lay on", "under") for line in REFERENCE]
QUICK = {"metrics": ["bleu"], "resamples": 200, "language_pair": "en"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A program with a token, and a server that works."""
    from gnomon.serve import Settings

    folder = tmp_path_factory.mktemp("api") / "comparisons"
    app = make_app(Settings(folder=folder))
    with TestClient(app, base_url=ADDRESS, raise_server_exceptions=False) as client:
        client.headers["authorization"] = f"Bearer {app.state.access.launch_token()}"
        yield client


def as_files(*outputs: list[str], reference: list[str] = REFERENCE, **more: Any) -> list[Any]:
    """The parts of a form."""
    parts = [("reference", ("ref.txt", _text(reference)))]
    parts += [
        ("output", (f"{name}.txt", _text(lines)))
        for name, lines in zip("AB", outputs, strict=False)
    ]
    if more:
        parts.append(("request", (None, json.dumps(more))))
    return parts


def _text(lines: list[str]) -> io.BytesIO:
    return io.BytesIO("".join(f"{line}\n" for line in lines).encode())


def as_json(**more: Any) -> dict[str, Any]:
    return {"references": {"ref": REFERENCE}, "outputs": {"A": BETTER, "B": WORSE}, **more}


def test_one_call_gives_verdict_and_gate(running: TestClient) -> None:
    gate = {"baseline": "A", "metrics": ["bleu"]}
    answer = running.post(
        ALL, params={"wait": 60}, files=as_files(BETTER, WORSE, **QUICK, gate=gate)
    )
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert answer.headers["location"] == f"{ALL}/{made['id']}"
    assert made["systems"] == ["A", "B"]
    assert made["segments"] == len(REFERENCE)
    assert [step["method"] for step in made["steps"]] == ["compare"]
    assert made["state"] == "done"
    (verdict,) = [each for each in made["verdict"] if each["method"] == "compare"]
    assert "B is worse than A by" in verdict["sentences"][0]["text"]
    assert verdict["sentences"][0]["level"] == "finding"
    assert made["gate"]["state"] == "failed"
    assert "B is worse than A under bleu" in made["gate"]["said"]
    (difference,) = made["gate"]["differences"]
    assert difference["low"] <= difference["difference"] <= difference["high"] < 0
    assert running.get(f"{ALL}/{made['id']}").json() == made


def test_a_gate_that_holds_is_passed_in_json_as_in_files(running: TestClient) -> None:
    gate = {"baseline": "B"}
    answer = running.post(ALL, params={"wait": 60}, json=as_json(**QUICK, gate=gate))
    assert answer.status_code == 201, answer.text
    assert answer.json()["gate"]["state"] == "passed"
    assert answer.json()["gate"]["baseline"] == "B"


def test_a_gate_decides_as_the_command_does(running: TestClient) -> None:
    import gnomon as gn

    testset = gn.TestSet.from_lists({"A": BETTER, "B": WORSE}, REFERENCE)
    for drop in (1.0, 90.0):
        gate = {"baseline": "A", "min_drop": drop}
        answer = running.post(ALL, params={"wait": 60}, json=as_json(**QUICK, gate=gate)).json()
        found = gn.compare(
            testset, ["bleu"], baseline="A", resamples=200, fail_if_worse=["bleu"], min_drop=drop
        )
        assert answer["gate"]["said"] == found.failure
        assert (answer["gate"]["state"] == "passed") is (found.failure == "")


def test_a_deleted_comparison_is_gone(running: TestClient) -> None:
    made = running.post(ALL, json=as_json(**QUICK)).json()["id"]
    assert running.delete(f"{ALL}/{made}").status_code == 204
    gone = running.get(f"{ALL}/{made}")
    assert gone.status_code == 404
    assert gone.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"outputs": {"A": REFERENCE[:3]}}, "outputs.A", "3 segments"),
        ({"outputs": {"A": [*REFERENCE[:-1], "a\nb"]}}, "outputs.A", "line break"),
        ({"outputs": {}}, "outputs", "length"),
        ({"nope": 1}, None, "nope"),
        ({"resamples": -1}, "resamples", ">= 0"),
        ({"metrics": ["scores('/etc/passwd')"]}, "metrics", "files"),
        ({"metrics": ["python('os:system')"]}, "metrics", "code"),
        ({"metrics": ["blue"]}, "metrics", "did you mean 'bleu'"),
        ({"methods": {"nope": {}}}, "methods.nope", "nope"),
        (
            {"methods": {"compare": {"delta_accuracy": "/etc/passwd"}}},
            "methods.compare.delta_accuracy",
            "offered",
        ),
        ({"methods": {"compare": {"resamples": "9"}}}, "methods.compare.resamples", "whole number"),
        ({"methods": {"compare": {"baseline": None}}}, "methods.compare.baseline", "leave it out"),
        (
            {"methods": {"muler": {"tagger": "spacy:os"}}},
            "methods.muler.tagger",
            "code",
        ),
        ({"gate": {"baseline": "C"}}, "gate.baseline", "'C'"),
        ({"gate": {"metrics": ["ter"]}}, "gate.metrics", "'ter'"),
        ({"outputs": {"A": BETTER}, "gate": {}}, "gate", "two outputs"),
    ],
)
def test_what_makes_no_comparison_says_which_field_and_leaves_nothing(
    running: TestClient, changes: dict[str, Any], field: str | None, said: str
) -> None:
    workspace = running.app.state.workspace  # type: ignore[attr-defined]
    drafts = list((workspace.folder / "drafts").iterdir())
    answer = running.post(ALL, json=as_json() | changes)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem.get("field") == field
    assert said in problem["detail"] + problem["title"]
    for message in problem.get("messages", []):
        assert message["level"] == "error"
        assert message["text"] in f"{problem['detail']}."
        assert message["code"] != "error.unknown_name" or message["params"]["known"]
    assert list((workspace.folder / "drafts").iterdir()) == drafts


def test_files_that_do_not_fit_are_named_with_line_and_remedy(running: TestClient) -> None:
    shifted = [*BETTER[:7], *BETTER[8:]]
    answer = running.post(ALL, files=as_files(BETTER, shifted))
    assert answer.status_code == 422
    assert "A.txt" in answer.json()["detail"] or "B.txt" in answer.json()["detail"]
    assert answer.json()["remedy"]
    word = running.post(
        ALL,
        files=[*as_files(BETTER), ("output", ("B.docx", io.BytesIO(b"PK\x03\x04" + bytes(99))))],
    )
    assert word.status_code == 422
    assert word.json()["file"] == "B.docx"
    assert word.json()["remedy"]


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [(b"{", "application/json", 400), (b"x", "text/plain", 415), (b"", "", 415),
     (b"x", "multipart/form-data; boundary=q", 400)],
)  # fmt: skip
def test_bodies_that_are_none_are_refused(
    running: TestClient, content: bytes, kind: str, status: int
) -> None:
    answer = running.post(ALL, content=content, headers={"content-type": kind})
    assert answer.status_code == status
    assert answer.json()["status"] == status


@pytest.mark.parametrize("query", ["wiat=1", "wait=61", "wait=many", "wait=1&wait=2", "wait=-1"])
def test_parameters_that_do_not_fit_are_refused(running: TestClient, query: str) -> None:
    answer = running.post(f"{ALL}?{query}", json=as_json(**QUICK))
    assert answer.status_code == 422
    assert answer.json()["detail"]


def test_without_a_token_nothing_but_the_document_is_told(running: TestClient) -> None:
    nobody = TestClient(running.app, base_url=ADDRESS)
    for answer in (nobody.post(ALL, json=as_json()), nobody.get(f"{ALL}/{'0' * 32}")):
        assert answer.status_code == 401
        assert answer.headers["content-type"] == "application/problem+json"
    document = nobody.get("/api/v1/openapi.json")
    assert document.status_code == 200
    assert document.json()["info"]["version"] == "1"
    assert f'"{version()}"' not in document.text
    assert running.get("/api/v1/openapi.json").json()["info"]["version"] == version()


def test_further_methods_run_with_their_options(running: TestClient) -> None:
    methods = {"muler": {"features": ["re:animal"], "pattern": {"animal": "cat|dog|cow"}}}
    answer = running.post(ALL, params={"wait": 60}, json=as_json(**QUICK, methods=methods)).json()
    assert "steps" in answer, answer
    assert [step["state"] for step in answer["steps"]] == ["done", "done"]
    assert "muler" in [verdict["method"] for verdict in answer["verdict"]]


def test_a_link_without_texts_gives_no_sentence_that_quotes_them(running: TestClient) -> None:
    app: Any = running.app
    first = running.post(ALL, params={"wait": 60}, json=as_json(**QUICK)).json()
    app.state.queue.ask(first["id"], StepChoice(method="bmx.explain"))
    made = running.get(f"{ALL}/{first['id']}", params={"wait": 60}).json()
    said = [each["text"] for verdict in made["verdict"] for each in verdict["sentences"]]
    quoting = [text for text in said if "“" in text]
    assert quoting
    access = running.app.state.access  # type: ignore[attr-defined]  # of Starlette
    for texts in (True, False):
        reader = browser_of(running.app)  # type: ignore[arg-type]  # likewise
        _, secret = access.add_link(made["id"], texts=texts)
        cookie = reader.get(f"/s/{secret}").headers["set-cookie"].partition(";")[0]
        for page in (made["page"], f"{ALL}/{made['id']}"):
            shown = reader.get(page, headers={"cookie": cookie})  # also where none is sent to
            assert shown.status_code == 200
            assert (quoting[0] in shown.text) == texts
            assert said[0] in html.unescape(shown.text)


def test_a_link_without_texts_gives_no_reason_that_may_quote_them(running: TestClient) -> None:
    made = running.post(ALL, params={"wait": 60}, json=as_json(**QUICK)).json()
    study = running.app.state.workspace.study(made["id"])  # type: ignore[attr-defined]  # of Starlette
    study.job.steps[0].said = "line 3, 'A cat sat on Zwieback', is no number"
    refused = StepState("muler", state="refused", said="No tagger.", remedy="Ask for one.")
    study.job.steps.append(refused)
    running.app.state.workspace.jobs.replace(study.id, study.job)  # type: ignore[attr-defined]  # likewise
    access = running.app.state.access  # type: ignore[attr-defined]  # likewise
    for texts in (True, False):
        reader = browser_of(running.app)  # type: ignore[arg-type]  # likewise
        _, secret = access.add_link(made["id"], texts=texts)
        cookie = reader.get(f"/s/{secret}").headers["set-cookie"].partition(";")[0]
        page = made["page"]
        for address in (f"{page}/state", f"{ALL}/{made['id']}"):
            shown = reader.get(address, headers={"cookie": cookie}).text
            assert ("Zwieback" in shown) == texts
            assert ("it may quote them" in shown) != texts
            assert "No tagger." in shown  # a reason of gnomon's own


# The document.


def test_the_document_is_openapi_and_names_all_addresses_of_the_route_table() -> None:
    from gnomon.serve.app import pages

    document = openapi(ADDRESS)
    validate(document)
    rows = {(p.path, m.lower()) for p in pages() if p.path.startswith("/api/") for m in p.methods}
    written = {
        (path, method)
        for path, methods in document["paths"].items()
        for method in methods
        if method != "parameters"
    }
    assert written == rows


@pytest.mark.parametrize("name", served_methods())
def test_schemas_take_the_defaults_of_options_and_refuse_what_they_refuse(name: str) -> None:
    method = registry.find(name)
    schema = options_schema(method)
    jsonschema.Draft202012Validator.check_schema(schema)
    defaults = {n: each["default"] for n, each in schema["properties"].items() if "default" in each}
    jsonschema.validate(defaults, schema)
    for wrong in ({"nope": 1}, {"resamples": "many"}, {"resamples": -1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema | {"properties": {"resamples": {
                "type": "integer", "minimum": 0}} | schema["properties"]})  # fmt: skip


def test_every_property_of_requests_and_answers_that_is_not_plain_is_explained() -> None:
    request = openapi()["components"]["schemas"][ComparisonRequest.__name__]
    plain = {"gate"}
    for name, schema in request["properties"].items():
        assert schema.get("description") or name in plain, name
