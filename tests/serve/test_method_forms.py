"""Methods by forms: what a comparison may be asked, what was typed, what is refused."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.serve.comparisons import wait_for
from tests.serve.conftest import browser_of, comparison_of, rest, running

from gnomon.core import registry
from gnomon.core.options import Reaches
from gnomon.serve import Settings, make_app
from gnomon.serve.comparison import StepChoice
from gnomon.serve.forms import form_of, served_methods

if TYPE_CHECKING:
    from starlette.testclient import TestClient

METHODS = tuple(served_methods())


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> tuple[TestClient, str, Any]:
    """A comparison that rests, in a server whose queue runs nothing."""
    folder = tmp_path_factory.mktemp("served") / "comparisons"
    app = make_app(Settings(folder=folder, metrics={"Ours": "bertscore(model='roberta-large')"}))
    study = comparison_of(app, "owner")
    (study.texts / "human").mkdir(parents=True)  # as of a test set that people have judged
    (study.texts / "human" / "mqm.spans.tsv").touch()
    rest(app.state.workspace, study.id, "cancelled")
    client = browser_of(app, app.state.access.launch_token())
    return client, f"/studies/{study.id}", app


def _steps(app: Any, base: str) -> dict[str, StepChoice]:
    steps = app.state.workspace.study(base.rpartition("/")[2]).about.choices.steps
    return {step.method: step for step in steps}


def _as_a_browser_sends(page: str) -> dict[str, list[str]]:
    """The fields of the form of a page that nobody touched."""
    sent: dict[str, list[str]] = {}
    form = page[page.index('<form class="sheet options"') : page.rindex("</form>")]
    tags = re.finditer(
        r"<input ([^>]*)>|<textarea ([^>]*)>\n?(.*?)</textarea>|<select ([^>]*)>(.*?)</select>",
        form,
        re.DOTALL,
    )
    for tag in tags:
        attributes = tag[1] or tag[2] or tag[4]
        name = re.search(r'name="([^"]*)"', attributes)[1]
        if tag[4]:
            chosen = re.search(r'value="([^"]*)" selected', tag[5])
            value = chosen[1] if chosen else re.search(r'value="([^"]*)"', tag[5])[1]
        elif tag[2]:
            value = tag[3]
        else:
            value = re.search(r'value="([^"]*)"', attributes)[1]
        sent.setdefault(name, []).append(html.unescape(value))
    return sent


def test_the_methods_of_a_comparison_say_what_they_answer_and_which_have_run(pages):
    client, base, _ = pages
    page = client.get(f"{base}/methods")
    assert page.status_code == 200
    for name, method in served_methods().items():
        assert f'href="{base}/methods/{name}"' in page.text
        assert html.escape(
            (method.purpose[0].upper() + method.purpose[1:]), quote=False
        ) in html.unescape(page.text)
    assert "gnomon list methods" in page.text
    assert f'href="{base}/methods"' in client.get(base).text


@pytest.mark.parametrize("name", METHODS)
def test_a_form_that_nobody_touched_asks_for_the_method_without_options(pages, name):
    client, base, app = pages
    page = client.get(f"{base}/methods/{name}")
    assert page.status_code == 200
    for field in form_of(registry.find(name)):
        assert f'name="{field.name}"' in page.text
    answer = client.post(f"{base}/methods/{name}", data=_as_a_browser_sends(page.text))
    assert answer.status_code == 303, re.findall(r'class="error".*', answer.text)
    assert answer.headers["location"] == base
    assert _steps(app, base)[name] == StepChoice(method=name)
    rest(app.state.workspace, base.rpartition("/")[2], "cancelled")


@pytest.mark.parametrize("name", METHODS)
def test_options_that_reach_files_are_not_there_and_are_refused(pages, name):
    client, base, _ = pages
    method = registry.find(name)
    page = client.get(f"{base}/methods/{name}").text
    for option in method.options.values():
        if any(isinstance(mark, Reaches) and not mark.of_text for mark in option.marks):
            assert f'"{name}:{option.name}"' not in page
            sent = {f"{name}:{option.name}": "/etc/passwd"}
            answer = client.post(f"{base}/methods/{name}", data=sent)
            assert answer.status_code == 422
            assert "this is not offered here" in answer.text


def test_what_is_wrong_stands_beside_its_field_with_what_was_typed(pages):
    client, base, app = pages
    before = _steps(app, base)
    sent = {"muler:resamples": "m<b>any", "muler:features": "pos:*\r\nre:x"}
    answer = client.post(f"{base}/methods/muler", data=sent)
    assert answer.status_code == 422
    assert "<title>Error: " in answer.text
    field = re.search(r'<input [^>]*id="option-resamples"[^>]*>', answer.text)[0]
    assert 'value="m&lt;b&gt;any"' in field
    assert 'aria-describedby="option-resamples-help option-resamples-error"' in field
    assert 'aria-invalid="true"' in field
    said = re.search(r'id="option-resamples-error"[^>]*>([^<]*)', answer.text)[1]
    assert "is not a whole number" in said
    assert '<a href="#option-resamples">' in answer.text
    assert "pos:*\nre:x</textarea>" in answer.text
    assert _steps(app, base) == before


@pytest.mark.parametrize("spec", ["scores('/etc/passwd')", "python('os:system')", "comet('x')"])
def test_a_metric_is_harmless_or_one_that_the_owner_named(pages, spec):
    client, base, app = pages
    refused = client.post(f"{base}/methods/score", data={"score:metrics": f"bleu\n{spec}"})
    assert refused.status_code == 422
    assert "only the owner of this server may allow" in html.unescape(refused.text)
    taken = client.post(f"{base}/methods/score", data={"score:metrics": "ter\nOurs"})
    assert taken.status_code == 303
    assert _steps(app, base)["score"].metrics == ["ter", "bertscore(model='roberta-large')"]
    assert ">\nter\nOurs</textarea>" in client.get(f"{base}/methods/score").text
    rest(app.state.workspace, base.rpartition("/")[2], "cancelled")


def test_what_still_runs_is_not_asked_for_more(pages):
    client, _, app = pages
    waiting = comparison_of(app, "owner").id
    assert "still running" in client.get(f"/studies/{waiting}/methods").text
    answer = client.post(f"/studies/{waiting}/methods/score", data={})
    assert answer.status_code == 422
    assert "still running" in answer.text


@pytest.mark.parametrize("name", ["bench", "stress", "nothing", "metaeval", "errors", "../people"])
def test_no_other_method_is_run_nor_one_whose_texts_lack_what_it_needs(pages, name):
    client, _, app = pages
    base = f"/studies/{comparison_of(app, 'owner').id}"
    assert client.get(f"{base}/methods/{name}").status_code == 404
    assert client.post(f"{base}/methods/{name}", data={}).status_code == 404


def test_a_method_joins_its_comparison_and_nothing_is_computed_again(tmp_path):
    app = make_app(Settings(folder=tmp_path / "comparisons"))
    study = comparison_of(app, "owner").id
    workspace, base = app.state.workspace, f"/studies/{study}"
    with running(app) as client:
        wait_for(lambda: not workspace.study(study).job.active)
        (first, *_) = workspace.study(study).job.steps
        assert first.state == "done"
        fields = {"score:metrics": "ter"}
        assert client.post(f"{base}/methods/score", data=fields).headers["location"] == base
        wait_for(lambda: not workspace.study(study).job.active)
        steps = {step.method: step for step in workspace.study(study).job.steps}
        assert steps["score"].state == "done"
        assert steps["compare"] == first  # untouched
        assert "score" in workspace.study(study).command
        titles = client.get(base).text
        assert "TER" in titles
        # the same again is one question; other settings replace the answer
        assert client.post(f"{base}/methods/score", data=fields).headers["location"] == base
        assert not workspace.study(study).job.active
        faults = {"check:kinds": "empty"}
        assert client.post(f"{base}/methods/check", data=faults).status_code == 303
        wait_for(lambda: not workspace.study(study).job.active)
        assert workspace.study(study).job.steps[-1].state == "done", workspace.study(study).job
        assert "Faults of outputs" in client.get(base).text
        again = client.post(f"{base}/methods/score", data={"score:metrics": "chrf"})
        assert again.headers["location"] == base
        wait_for(lambda: not workspace.study(study).job.active)
        assert "TER" not in client.get(base).text
