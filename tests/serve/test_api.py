"""The API: a comparison in one call, its verdict and gate as data, and problems that say where."""

from __future__ import annotations

import html
import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from openapi_spec_validator import validate
from starlette.testclient import TestClient

from gnomon.core.signature import version
from gnomon.serve import make_app
from gnomon.serve.comparison import StepChoice
from gnomon.serve.job_table import StepState
from gnomon.serve.resources import ComparisonRequest
from gnomon.serve.schema import openapi

from .comparisons import wait_for
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
QUICK = {"metrics": ["bleu"], "language_pair": "en"}


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


def decided(running: TestClient, *outputs: list[str], **more: Any) -> dict[str, Any]:
    """A comparison when it has ended."""
    answer = running.post(ALL, files=as_files(*(outputs or (BETTER, WORSE)), **QUICK, **more))
    assert answer.status_code == 201, answer.text
    return finished(running, answer.json()["id"])


def finished(running: TestClient, id: str) -> dict[str, Any]:  # noqa: A002
    workspace = running.app.state.workspace  # type: ignore[attr-defined]  # of Starlette
    wait_for(lambda: not workspace.study(id).job.active)
    return running.get(f"{ALL}/{id}").json()  # type: ignore[no-any-return]  # JSON


@pytest.fixture(scope="module")
def made(running: TestClient) -> dict[str, Any]:
    """A comparison with a gate that has ended."""
    return decided(running, gate={"baseline": "A", "metrics": ["bleu"]})


def test_a_comparison_gives_verdict_and_gate(running: TestClient, made: dict[str, Any]) -> None:
    assert made["systems"] == ["A", "B"]
    assert made["segments"] == len(REFERENCE)
    assert [step["method"] for step in made["steps"]] == ["compare"]
    assert made["state"] == "done"
    (verdict,) = [each for each in made["verdict"] if each["method"] == "compare"]
    assert "B is worse than A by" in verdict["sentences"][0]["text"]
    assert verdict["sentences"][0]["level"] == "finding"
    assert made["gate"]["state"] == "failed"
    assert "B is worse than A under bleu" in made["gate"]["said"]
    table = running.get(f"{made['page']}/download/tables/comparisons.json").json()
    assert {row["system"] for row in table} == {"A", "B"}


def test_a_gate_decides_as_the_command_does(running: TestClient) -> None:
    import gnomon as gn

    testset = gn.TestSet.from_lists({"A": BETTER, "B": WORSE}, REFERENCE)
    for gate in ({"baseline": "A", "min_drop": 90.0}, {"baseline": "B"}):
        answer = decided(running, gate=gate)
        found = gn.compare(
            testset,
            ["bleu"],
            baseline=gate["baseline"],
            fail_if_worse=["bleu"],
            min_drop=gate.get("min_drop", 0.0),
        )
        assert answer["gate"]["said"] == found.failure
        assert answer["gate"]["state"] == "passed"


def test_a_deleted_comparison_is_gone(running: TestClient) -> None:
    made = running.post(ALL, files=as_files(BETTER, WORSE)).json()["id"]
    assert running.delete(f"{ALL}/{made}").status_code == 204
    gone = running.get(f"{ALL}/{made}")
    assert gone.status_code == 404
    assert gone.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"nope": 1}, None, "nope"),
        ({"metrics": []}, "metrics", "length"),
        ({"metrics": ["scores('/etc/passwd')"]}, "metrics", "files"),
        ({"metrics": ["python('os:system')"]}, "metrics", "code"),
        ({"metrics": ["blue"]}, "metrics", "did you mean 'bleu'"),
        ({"methods": ["stress"]}, "methods[0]", "'stress'"),
        ({"gate": {"baseline": "C"}}, "gate.baseline", "'C'"),
        ({"gate": {"metrics": ["ter"]}}, "gate.metrics", "'ter'"),
    ],
)
def test_what_makes_no_comparison_says_which_field_and_leaves_nothing(
    running: TestClient, changes: dict[str, Any], field: str | None, said: str
) -> None:
    workspace = running.app.state.workspace  # type: ignore[attr-defined]
    drafts = list((workspace.folder / "drafts").iterdir())
    answer = running.post(ALL, files=as_files(BETTER, WORSE, **changes))
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem.get("field") == field, problem
    assert said in problem["detail"] + problem["title"]
    for message in problem.get("messages", []):
        assert message["level"] == "error"
        assert message["text"] in f"{problem['detail']}."
        assert message["code"] != "error.unknown_name" or message["params"]["known"]
    assert list((workspace.folder / "drafts").iterdir()) == drafts


def test_files_that_do_not_fit_are_named_with_line_and_remedy(running: TestClient) -> None:
    shorter = [("source", ("src.txt", io.BytesIO(b"A.\nB.\n")))]
    answer = running.post(ALL, files=[*as_files(BETTER), *shorter])
    assert answer.status_code == 422
    assert "src.txt" in answer.json()["detail"] or "lines differ" in answer.json()["detail"]
    assert answer.json()["remedy"]
    word = running.post(
        ALL,
        files=[*as_files(BETTER), ("output", ("B.docx", io.BytesIO(b"PK\x03\x04" + bytes(99))))],
    )
    assert word.status_code == 422
    assert word.json()["file"] == "B.docx"
    assert word.json()["remedy"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"{}", "application/json"), (b"", ""), (b"x", "multipart/form-data; boundary=q")],
)
def test_bodies_that_are_none_are_refused(running: TestClient, content: bytes, kind: str) -> None:
    answer = running.post(ALL, content=content, headers={"content-type": kind})
    assert answer.status_code == 400
    assert answer.json()["status"] == 400


def test_parts_that_make_no_request_are_refused(running: TestClient) -> None:
    one, two = as_files(BETTER), as_files(BETTER, WORSE)
    for parts, field in (
        (one[:1], "output"),
        (one[1:], "reference"),
        ([*two, ("nope", (None, "1"))], "nope"),
        ([*two, ("request", (None, "{"))], "request"),
        (as_files(BETTER, gate={}), "gate"),
    ):
        answer = running.post(ALL, files=parts)
        assert answer.status_code == 422
        assert answer.json()["field"] == field


def test_without_a_token_nothing_but_the_document_is_told(running: TestClient) -> None:
    nobody = TestClient(running.app, base_url=ADDRESS)
    for answer in (nobody.post(ALL, files=as_files(BETTER)), nobody.get(f"{ALL}/{'0' * 32}")):
        assert answer.status_code == 401
        assert answer.headers["content-type"] == "application/problem+json"
    document = nobody.get("/api/v1/openapi.json")
    assert document.status_code == 200
    assert document.json()["info"]["version"] == "1"
    assert f'"{version()}"' not in document.text
    assert running.get("/api/v1/openapi.json").json()["info"]["version"] == version()


def test_further_methods_run_and_a_link_without_texts_gives_no_sentence_that_quotes_them(
    running: TestClient,
) -> None:
    app: Any = running.app
    first = decided(running, methods=["score"])
    assert [step["state"] for step in first["steps"]] == ["done", "done"]
    app.state.queue.ask(first["id"], StepChoice(method="bmx.explain"))
    made = finished(running, first["id"])
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
            text = html.unescape(shown.text).replace("\u00a0", " ").replace("\u2264", "<=")
            assert said[0] in text
            if page == made["page"]:  # with tables and charts
                words = {"roof", "stood"} & {*re.findall(r"\w+", shown.text)}
                assert bool(words) == texts


def test_a_link_without_texts_gives_no_reason_that_may_quote_them(
    running: TestClient, made: dict[str, Any]
) -> None:
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


def test_every_property_of_requests_and_answers_that_is_not_plain_is_explained() -> None:
    request = openapi()["components"]["schemas"][ComparisonRequest.__name__]
    plain = {"gate"}
    for name, schema in request["properties"].items():
        assert schema.get("description") or name in plain, name
