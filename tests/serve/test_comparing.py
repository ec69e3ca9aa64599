"""From files to an answer, as a browser without script does it."""

from __future__ import annotations

import io
import re
import time
import zipfile
from html import unescape

import pytest
from tests.serve.conftest import TEXTS, at_once, running

from gnomon.serve import Settings, make_app
from gnomon.serve import workspace as _workspace

#: seconds that a busy machine may take for three segments
_PATIENCE = 120


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    app = make_app(Settings(folder=tmp_path_factory.mktemp("server") / "comparisons"))
    with pytest.MonkeyPatch.context() as patch, running(app) as client:
        usual = _workspace.default_steps
        patch.setattr(_workspace, "default_steps", lambda outputs: usual(outputs)[:1])
        yield client


def _files(texts=None, field="files"):
    return [(field, (name, text)) for name, text in (texts or TEXTS).items()]


def _draft(browser, texts=None):
    answer = browser.post("/inspect", files=_files(texts))
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def _form(page):
    """The fields of a page as they are filled."""
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))
    for name, body in re.findall(
        r'<select id="[^"]*" name="([^"]+)".*?>(.*?)</select>', page, re.DOTALL
    ):
        chosen = re.search(r'value="([^"]*)" selected', body)
        fields[name] = chosen[1] if chosen else ""
    for name, value in re.findall(r'<input id="[^"]*" name="([^"]+)" value="([^"]*)"', page):
        fields[name] = unescape(value)
    fields["metric"] = re.findall(r'name="metric" value="([^"]*)" checked', page)
    fields["target"] = ""  # a language loads its tagger, which takes long
    return fields


def _ended(browser, address):
    """The state of a comparison when nothing of it is open."""
    latest = time.monotonic() + _PATIENCE
    while time.monotonic() < latest:
        job = browser.app.state.workspace.study(address.rpartition("/")[2]).job
        if not job.active:
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def test_files_are_confirmed_and_compared(browser):
    draft = _draft(browser)
    page = browser.get(draft).text
    fields = _form(page)
    assert [fields[f"role-{n}"] for n in range(3)] == ["reference", "output", "output"]
    assert "It rained all day." in page
    assert fields["metric"] == ["bleu", "chrf"]
    answer = browser.post("/studies", data=fields)
    assert answer.status_code == 303
    address = answer.headers["location"]
    job = _ended(browser, address)
    assert {step.method: step.state for step in job.steps}["compare"] == "done"
    assert "[[testsets]]" in browser.get(f"{address}/state").text
    assert address in browser.get("/").text
    assert browser.get(draft).status_code == 404  # it is a comparison now


def test_a_form_that_is_sent_twice_makes_one_comparison(browser):
    fields = _form(browser.get(_draft(browser)).text)
    workspace = browser.app.state.workspace
    before = len(workspace.studies())
    answers = at_once(browser.app, browser, *[("POST", "/studies", {"data": fields})] * 4)
    answers.append(browser.post("/studies", data=fields))
    assert {answer.status_code for answer in answers} == {303}
    assert {answer.headers["location"] for answer in answers} == {f"/studies/{fields['draft']}"}
    assert len(workspace.studies()) == before + 1


def test_pasted_texts_are_files(browser):
    boxes = [
        ("text-reference", "a b\nc d"), ("text-source", ""), ("text-output", "a b\r\nc e"),
        ("text-output", "x y\nc d"),
    ]  # fmt: skip
    answer = browser.post("/inspect", files=[(name, (None, text)) for name, text in boxes])
    page = browser.get(answer.headers["location"]).text
    for name in ("pasted reference", "pasted translation 1", "pasted translation 2"):
        assert name in page
    assert "pasted source" not in page


def test_what_is_missing_stands_beside_its_field(browser):
    draft = _draft(browser)
    fields = _form(browser.get(draft).text)
    wrong = fields | {"role-0": "ignored", "title-1": "", "metric": [], "source": "de"}
    answer = browser.post("/studies", data=wrong)
    assert answer.status_code == 422
    assert 'id="files-error">Say which file is the reference' in answer.text
    assert 'id="title-1-error">Give it a name.' in answer.text
    assert 'id="metric-error">Choose at least one.' in answer.text
    assert 'id="target-error">Choose the language' in answer.text
    assert 'aria-describedby="title-1-error"' in answer.text
    same = fields | {"title-1": "same", "title-2": "same"}
    assert "Two have this name" in browser.post("/studies", data=same).text
    assert browser.post(f"{draft}/delete").status_code == 303
    assert browser.get(draft).status_code == 404


def test_files_of_different_length_are_not_compared(browser):
    draft = _draft(browser, TEXTS | {"source.txt": "Un gato.\nNadie vino.\n"})
    page = browser.get(draft).text
    assert "reference.txt</span> has 3; " in page
    assert "source.txt</span> has 2." in page
    fields = _form(page)
    answer = browser.post("/studies", data=fields)
    assert answer.status_code == 422
    assert 'id="files-error">Their numbers of lines differ' in answer.text
    answer = browser.post("/studies", data=fields | {"role-2": "ignored", "role-3": "ignored"})
    assert answer.status_code == 303
    address = answer.headers["location"]
    _ended(browser, address)
    methods = browser.get(f"{address}/methods").text
    assert "Add a second one" in methods
    assert "/methods/muler" in methods
    assert "/methods/compare" not in methods  # of one there is nothing to compare


def test_scores_of_logs_are_offered_and_compared(browser):
    logs = {
        f"samples_{name}.jsonl": "\n".join(
            f'{{"doc_id": {n}, "target": "It rained.", "resps": [["{name} {n}"]], "acc": {score}}}'
            for n in range(3)
        )
        for name, score in (("a", 0.25), ("b", 1))
    }
    page = browser.get(_draft(browser, logs)).text
    assert "acc (log) <small>as each log has it</small>" in page
    fields = _form(page)
    fields["metric"] = [unescape(spec) for spec in fields["metric"]]
    assert fields["metric"] == ["bleu", "chrf", "scores(metric='acc')"]
    address = browser.post("/studies", data=fields).headers["location"]
    made = browser.app.state.workspace.study(address.rpartition("/")[2])
    assert made.about.choices.metrics == fields["metric"]


def test_files_of_an_archive_drift_apart_under_their_names(browser):
    lines = [f"The {n}th line says that nobody came to see {n} birds.\n" for n in range(12)]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("texts/ref.txt", "".join(lines))
        archive.writestr("texts/one.txt", "".join([*lines[:5], *lines[6:], "One more.\n"]))
    page = browser.get(_draft(browser, {"all.zip": packed.getvalue()})).text
    assert "all.zip" not in page
    assert re.search(r">Line</th><th [^>]*>one.txt</th><th [^>]*>ref.txt<", page)


def test_a_file_is_read_in_the_encoding_that_is_chosen(browser):
    texts = TEXTS | {"one.txt": "Café\nnoir\nfin\n".encode("utf-16")}
    draft = _draft(browser, texts)
    fields = _form(browser.get(draft).text) | {"read": "1:utf-16"}
    page = browser.post(draft, data=fields).text
    assert re.search(r'name="encoding-1".*?value="utf-16" selected', page, re.DOTALL)


def test_a_metric_that_is_not_offered_is_not_taken(browser):
    fields = _form(browser.get(_draft(browser)).text)
    for spec in ("python('os:system')", "judge('gemba-da', model='m')", "comet('x')", "nothing"):
        answer = browser.post("/studies", data=fields | {"metric": [spec]})
        assert answer.status_code == 422
        assert "Choose at least one." in answer.text


def test_an_example_is_one_click_away(browser):
    answer = browser.post("/example")
    page = browser.get(answer.headers["location"]).text
    assert page.count('value="output" selected') == 5


def test_a_comparison_is_renamed_added_to_run_again_and_deleted(browser):
    fields = _form(browser.get(_draft(browser)).text)
    address = browser.post("/studies", data=fields).headers["location"]
    _ended(browser, address)
    assert ">one, two</a>" in browser.get("/").text
    assert browser.post(f"{address}/rename", data={"title": "Mine"}).status_code == 303
    assert ">Mine</a>" in browser.get("/").text
    assert browser.post(f"{address}/rename", data={"title": ""}).status_code == 303

    third = ("three.txt", "A cat.\nRain.\nNobody.\n")
    added = browser.post(f"{address}/add", files={"file": third}, data={"title": "Third"})
    assert added.status_code == 303
    _ended(browser, address)
    assert "Third" in browser.get(f"{address}/add").text
    assert ">one, two, Third</a>" in browser.get("/").text
    assert browser.post(f"{address}/again").status_code == 303
    _ended(browser, address)

    assert "cannot be undone" in browser.get(f"{address}/delete").text
    assert browser.post(f"{address}/delete").status_code == 303
    assert browser.get(f"{address}/state").status_code == 404


def test_a_comparison_is_stopped(browser):
    fields = _form(browser.get(_draft(browser)).text)
    address = browser.post("/studies", data=fields).headers["location"]
    assert browser.post(f"{address}/cancel").status_code == 303
    assert _ended(browser, address).state in ("cancelled", "done")


def test_no_files_are_a_problem_with_a_way_on(browser):
    answer = browser.post("/inspect", files=[("files", ("", ""))])
    assert answer.status_code == 422
    assert "No files were sent" in answer.text


def test_problems_are_told_to_programs_as_json(browser):
    problem = browser.get("/nothing.json", headers={"accept": "application/json"})
    assert problem.headers["content-type"] == "application/problem+json"
    assert problem.json()["status"] == 404
