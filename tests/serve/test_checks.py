"""A comparison that is computed again, to see whether the same comes out."""

from __future__ import annotations

import time

import pytest
from tests.serve.conftest import FROM_HERE, TEXTS, browser_of, running

from gnomon import study
from gnomon.serve import Settings, make_app
from gnomon.serve._checks import CheckOutcome, outcome_in
from gnomon.serve._comparison import now, write_record
from gnomon.serve._workspace import check_id
from gnomon.studies import reading

_PATIENCE = 120


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    return make_app(Settings(folder=tmp_path_factory.mktemp("server") / "comparisons"))


@pytest.fixture(scope="module")
def owner(app):
    with running(app) as client:
        yield client


@pytest.fixture(scope="module")
def address(owner):
    """A comparison that has finished."""
    files = [("reference", ("reference.txt", TEXTS["reference.txt"]))]
    files += [("output", (name, TEXTS[name])) for name in ("one.txt", "two.txt")]
    made = owner.post("/api/v1/comparisons?wait=60", files=files).json()
    return f"/studies/{made['id']}"


def _reader(app, address, **more):
    """A browser with a link to a comparison."""
    _, secret = app.state.access.add_link(address.rpartition("/")[2], **more)
    browser = browser_of(app)
    assert browser.get(f"/s/{secret}").status_code == 303
    browser.headers.update(FROM_HERE)
    return browser


def _rests(browser, address):
    while browser.get(f"{address}/state.json").json()["job"]["active"]:
        time.sleep(0.05)


def _concluded(browser, address):
    end = time.monotonic() + _PATIENCE
    while (check := browser.get(f"{address}/check.json").json()["check"])["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.05)
    return check


def test_whoever_has_a_link_that_says_so_runs_it_again_and_reads_that_it_is_the_same(
    app, owner, address
):
    reader = _reader(app, address, again=True)
    page = reader.get(address)
    assert f'href="{address}/provenance#check"' in page.text
    assert ">Run again<" in reader.get(f"{address}/provenance").text
    answer = reader.post(f"{address}/check")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{address}/provenance#check")
    check = _concluded(reader, address)
    assert check["state"] == "same"
    assert check["outcome"]["found"]["figures"] > 20
    shown = owner.get(f"{address}/provenance").text
    assert "The same came out:" in shown
    assert f"all {check['outcome']['found']['figures']:,} figures" in shown
    # the check itself is nobody's comparison
    id = check_id(address.rpartition("/")[2])  # noqa: A001
    assert owner.get(f"/studies/{id}").status_code == 404
    assert reader.get(f"/studies/{id}").status_code == 401
    assert id not in owner.get("/").text
    assert id not in str(owner.get("/api/v1/comparisons").json())
    folder = app.state.workspace.folder / "studies" / id
    assert not (folder / "texts").exists()
    assert not (folder / "store").exists()


def test_what_came_out_otherwise_is_named_but_not_to_whoever_may_not_see_texts(app, owner, address):
    id = address.rpartition("/")[2]  # noqa: A001
    cell = reading.CellDifference("Systems", "<b>one</b>, BLEU", "Score", 38.1, 38.4)
    found = reading.StoreDifferences(1200, 4, 17, 2, 1, [cell])
    job = app.state.workspace.study(id).job
    outcome = CheckOutcome(
        compared=job.finished, finished=now(), gnomon="0.2.0", was=["0.1.0"], found=found
    )
    owner.post(f"{address}/check")
    _concluded(owner, address)
    write_record(app.state.workspace.study(check_id(id)).folder / "check.json", outcome)
    page = owner.get(f"{address}/provenance").text
    assert "17 cells of the tables differ (1,200 figures were computed); 2 rows are in" in page
    assert "1 sentence is said by one of both alone" in page
    assert "by gnomon 0.2.0; it had been computed by gnomon 0.1.0" in page
    assert "&lt;b&gt;one&lt;/b&gt;, BLEU" in page
    blind = _reader(app, address, texts=False)
    page = blind.get(f"{address}/provenance").text
    assert "17 cells of the tables differ" in page
    assert "&lt;b&gt;one" not in page
    assert blind.get(f"{address}/check.json").json()["check"]["outcome"]["found"]["examples"] == []


def test_what_is_damaged_is_not_the_same(app, owner, address):
    made = owner.post(f"{address}/edit", data={"title": "other", "target": "en", "metric": "chrf"})
    other = made.headers["location"]
    _rests(owner, other)
    store = study.Store.open(app.state.workspace.study(other.rpartition("/")[2]).store)
    file = next(iter(store.files().values()))[0]
    file.write_bytes(file.read_bytes()[:-20])
    owner.post(f"{other}/check")
    check = _concluded(owner, other)
    assert check["state"] == "failed"
    assert "damaged" in check["said"]


@pytest.mark.parametrize("again", [True, False])
def test_a_link_that_does_not_say_so_starts_nothing(app, address, again):
    reader = _reader(app, address, again=again)
    assert (">Run again<" in reader.get(f"{address}/provenance").text) is again
    if not again:
        assert reader.post(f"{address}/check").status_code == 404


def test_it_is_one_at_a_time_and_goes_with_the_comparison(app, owner):
    files = [("reference", ("reference.txt", TEXTS["reference.txt"] * 200))]
    files += [("output", (name, TEXTS[name] * 200)) for name in ("one.txt", "two.txt")]
    made = owner.post("/api/v1/comparisons?wait=60", files=files).json()
    address, id = f"/studies/{made['id']}", check_id(made["id"])  # noqa: A001
    for _ in range(3):
        assert owner.post(f"{address}/check").status_code == 303
    folder = app.state.workspace.folder / "studies" / id
    assert folder.is_dir()
    assert owner.post(f"{address}/delete").status_code == 303
    assert not folder.exists()
    assert outcome_in(folder) is None


def test_nothing_is_said_of_a_comparison_that_was_changed_since(app, owner, address):
    owner.post(f"{address}/check")
    assert _concluded(owner, address)["state"] == "same"
    files = {"files": ("three.txt", TEXTS["one.txt"])}
    assert owner.post(f"{address}/add", files=files, data={"title": "three"}).status_code == 303
    _rests(owner, address)
    assert _concluded(owner, address)["state"] == "none"
    owner.post(f"{address}/check")
    assert _concluded(owner, address)["state"] == "same"
    assert reading.is_store(app.state.workspace.study(address.rpartition("/")[2]).store)


def test_a_store_that_is_only_shown_has_nothing_to_run_again(shows):
    study = shows()
    assert study.get("/check.json").status_code == 404
    assert study.post("/check", headers=FROM_HERE).status_code == 404
    assert "Run again" not in study.get("/provenance").text
