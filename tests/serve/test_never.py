"""What must never happen, each with its test."""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import logging
import re
import shutil
import stat
import time
import tracemalloc
from html.parser import HTMLParser

import pytest
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.testclient import TestClient
from tests.serve.conftest import (
    FROM_HERE,
    TEXTS,
    at_once,
    browser_of,
    comparison_of,
    rest,
    running,
)

from gnomon.cli import main
from gnomon.cli.serve_job import make_index, write_report, write_workbook
from gnomon.core.errors import DataError, FormatError, GnomonError
from gnomon.serve import Settings, make_app
from gnomon.serve import app as _app
from gnomon.serve.access import User
from gnomon.serve.job_files import inspect_draft
from gnomon.serve.notes import add_note
from gnomon.serve.problems import WebProblem
from gnomon.serve.settings import ServerLimits
from gnomon.serve.uploads import receive

_ZALGO = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e{{7*7}}"


def test_the_server_cannot_be_reached_from_outside_by_default(capsys, tmp_path):
    assert main(["serve", str(tmp_path), "--host", "0.0.0.0", "--no-browser"]) == 2  # noqa: S104
    assert "in the clear" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:80", "evil:8765", ""])
def test_a_name_that_was_bound_to_this_machine_reaches_nothing(owner, host):
    for path in ("/", "/healthz", "/static/serve.css", "/nothing"):
        assert owner.get(path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "said",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8765"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_another_site_changes_nothing(owner, said, method):
    answer = owner.request(method, "/", headers=FROM_HERE | said)
    assert answer.status_code == 403
    assert "was stopped" in answer.text


def test_the_cookie_is_of_this_site_alone_and_no_script_reads_it(visitor, app):
    answer = visitor().get("/enter", params={"token": app.state.access.launch_token()})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_a_token_is_in_no_history_log_or_referer(visitor, app, caplog):
    token = app.state.access.launch_token()
    with caplog.at_level(logging.DEBUG):
        answer = visitor().get("/enter", params={"token": token})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    assert token not in answer.text
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("gnomon")]
    assert ours == ["GET /enter 303"]


def test_a_page_opened_from_another_site_is_asked_again_by_this_one(owner, visitor):
    from_mail = {"sec-fetch-site": "cross-site"}
    again = visitor().get("/", headers=from_mail)
    assert 'http-equiv="refresh"' in again.text
    assert visitor().get("/", headers={"sec-fetch-site": "same-origin"}).status_code == 401


def test_a_way_in_from_another_site_asks_whose_it_is(visitor, app):
    _, token = app.state.access.add_token("Mallory", "author")
    browser = visitor()
    asked = browser.get("/enter", params={"token": token}, headers={"sec-fetch-site": "cross-site"})
    assert asked.headers["location"] == "/enter"
    assert browser.get("/").status_code == 401
    page = browser.get("/enter", headers={"sec-fetch-site": "cross-site"})
    assert "Come in as <bdi>Mallory</bdi>?" in page.text
    assert browser.post("/enter").status_code == 403
    assert browser.post("/enter", headers=FROM_HERE).headers["location"] == "/"
    assert browser.get("/").status_code == 200


def test_where_a_link_works_on_this_computer_alone_other_ways_come_first(app, owner):
    study = comparison_of(app, "owner").id
    page = owner.get(f"/studies/{study}/share").text
    assert page.index("works on this computer only") < page.index("Make a link")
    assert re.search(r'name="texts" value="1">', page)  # not chosen unless somebody does
    assert f"/studies/{study}/made/report" in page


def test_no_answer_names_a_version_or_may_be_framed_or_sniffed(owner, visitor):
    for answer in (
        owner.get("/"),
        owner.get("/nothing"),
        visitor().get("/"),
        owner.get("/healthz"),
    ):
        assert "server" not in answer.headers
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_cookie_without_a_word_on_its_page_changes_nothing(owner):
    quiet = {"origin": "", "sec-fetch-site": ""}
    assert owner.post("/", headers=quiet).status_code in (403, 405)


def test_static_files_are_those_that_are_named(owner):
    assert owner.get("/static/serve.css").headers["content-type"].startswith("text/css")
    for name in ("nothing.css", "..%2f..%2f_app.py", "%2e%2e/_app.py", "../_app.py"):
        assert owner.get(f"/static/{name}").status_code == 404


# Uploads fill neither memory nor disk.


_BOUNDARY = "x" * 20


def _part(name, filename=None):
    title = f'; filename="{filename}"' if filename is not None else ""
    return (
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{title}\r\n\r\n'
    ).encode()


def _asked(app, settings, pieces):
    """A request whose body comes piece by piece, and its announcement of nothing."""
    left = iter(pieces)

    async def more():
        try:
            piece = next(left)
        except StopIteration:
            return {"type": "http.request", "body": b"", "more_body": False}
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": True}

    kind = f"multipart/form-data; boundary={_BOUNDARY}"
    scope = {
        "type": "http", "method": "POST", "path": "/inspect", "query_string": b"", "app": app,
        "headers": [(b"content-type", kind.encode())],
    }  # fmt: skip
    request = Request(scope, more)
    request.state.settings = settings
    request.state.user = User("ana", "Ana", "author")
    return request


def _drafts(app):
    return list((app.state.workspace.folder / "drafts").iterdir())


def test_a_file_goes_to_disk_and_not_to_memory(app, settings):
    block = b"a line of text\n" * 4000
    size = 20_000_000

    def pieces():
        yield _part("files", "big.txt")
        for _ in range(size // len(block)):
            yield block
        yield f"\r\n--{_BOUNDARY}--\r\n".encode()

    tracemalloc.start()
    upload = asyncio.run(receive(_asked(app, settings, pieces())))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3_000_000
    file = app.state.workspace.draft_folder(upload.draft) / "uploads" / "0"
    assert file.stat().st_size == size // len(block) * len(block)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        (ServerLimits(file=1000), 413),
        (ServerLimits(upload=3000), 413),
        (ServerLimits(files=2), 413),
        (ServerLimits(quota=3000), 507),
    ],
)
def test_what_is_too_much_is_refused_while_it_comes_and_leaves_nothing(
    app, settings, limits, status
):
    settings = dataclasses.replace(settings, limits=limits)

    def pieces():
        for n in range(5):
            yield _part("files", f"{n}.txt")
            for _ in range(11):
                yield b"x" * 99 + b"\n"
            yield b"\r\n"
        pytest.fail("it was read to its end")

    with pytest.raises(WebProblem) as refused:
        asyncio.run(receive(_asked(app, settings, pieces())))
    assert refused.value.status == status
    assert refused.value.data.remedy or status == 413
    assert _drafts(app) == []


def test_uploads_at_once_share_the_space_that_is_left(app, settings):
    used = app.state.workspace.bytes_used()
    settings = dataclasses.replace(settings, limits=ServerLimits(quota=used + 3000))

    async def both():
        def pieces():
            yield _part("files", "a.txt")
            yield b"x" * 2000
            yield f"\r\n--{_BOUNDARY}--\r\n".encode()

        asked = [_asked(app, settings, pieces()) for _ in range(2)]
        return await asyncio.gather(*map(receive, asked), return_exceptions=True)

    first, second = asyncio.run(both())
    refused, taken = sorted((first, second), key=lambda each: isinstance(each, WebProblem))[::-1]
    assert refused.status == 507
    assert [folder.name for folder in _drafts(app)] == [taken.draft]


def test_a_sender_who_goes_away_leaves_nothing(app, settings):
    pieces = [_part("files", "a.txt"), b"half", None]
    with pytest.raises(ClientDisconnect):
        asyncio.run(receive(_asked(app, settings, pieces)))
    assert _drafts(app) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nothing of a form",
        _part("files", "a.txt") + b"cut off",
        _part("f" * 9000),
        _part("plain") + b"x" * 600_000,
        (_part("plain") + b"\r\n") * 2500,
    ],
)
def test_a_form_that_is_none_is_refused(app, settings, body):
    with pytest.raises(WebProblem) as refused:
        asyncio.run(receive(_asked(app, settings, [body])))
    assert refused.value.status == 400
    assert _drafts(app) == []


def test_a_form_without_files_is_cut_off_where_it_grows(owner):
    long = (b"x" * 65536 for _ in range(100))
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert owner.post("/people", content=long, headers=form).status_code == 413
    announced = form | {"content-length": str(10**12)}
    assert owner.post("/people", content=b"a=b", headers=announced).status_code == 413


def test_an_empty_file_is_kept_to_be_spoken_of_and_an_empty_box_is_not(app, settings):
    body = [_part("files", "a.txt"), b"\r\n", _part("files", ""), b"\r\n", _part("text-source")]
    upload = asyncio.run(
        receive(_asked(app, settings, [*body, f"\r\n--{_BOUNDARY}--\r\n".encode()]))
    )
    assert upload.names == ["a.txt"]
    assert (app.state.workspace.draft_folder(upload.draft) / "uploads" / "0").read_bytes() == b""


@pytest.mark.parametrize("path", ["/inspect", "/people", "/example"])
def test_a_full_disk_is_said_and_leaves_nothing(app, owner, monkeypatch, path):
    def full(*_given, **_more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("gnomon.serve.comparison.os.fsync", full)
    form = {"data": {"name": "Ana", "role": "reader"}, "files": [("files", ("a.txt", "a\n"))]}
    answer = owner.post(path, **(form if path == "/inspect" else {"data": form["data"]}))
    assert answer.status_code == 507
    assert "no more room" in answer.text
    monkeypatch.undo()
    assert app.state.access.tokens() == []
    assert not any(file.is_file() for draft in _drafts(app) for file in draft.rglob("*"))


class _Together:
    """Work that takes a while, and how much of it was done at once."""

    def __init__(self):
        self.now = self.most = self.done = 0

    def work(self):
        self.now += 1
        self.most = max(self.most, self.now)
        time.sleep(0.01)
        self.now -= 1
        self.done += 1


def test_inspections_keep_no_thread_from_pages(app, owner, monkeypatch):
    together = _Together()

    def inspect(*_given):
        together.work()
        raise DataError("too much")

    monkeypatch.setattr(app.state.queue, "inspect", inspect)
    form = {"files": {"files": ("a.txt", "a\n")}}
    answers = at_once(app, owner, *[("POST", "/inspect", form)] * 10)
    assert {answer.status_code for answer in answers} == {422}
    assert together.most <= 2


def test_looks_at_one_draft_and_its_comparison_wait_for_each_other(app, owner, monkeypatch):
    together = _Together()

    class Worker:
        def __init__(self, _task, folder, _limits, _wall, *most):
            self.asked = (folder, *most)

        def wait(self):
            together.work()
            assert inspect_draft(*self.asked) == 0

    monkeypatch.setattr("gnomon.serve.jobs.Worker", Worker)
    workspace = app.state.workspace
    draft, uploads = workspace.new_draft("owner")
    for number in range(3):
        (uploads / str(number)).write_bytes("Il a payé cher.\n".encode("cp1252"))
    workspace.name_files(draft, list(TEXTS))
    page = f"/drafts/{draft}"
    reread = [("POST", page, {"data": {"read": f"{n}:cp1252"}}) for n in range(3)] * 2
    answers = at_once(app, owner, ("GET", page, {}), *reread)
    assert {answer.status_code for answer in answers} == {200}
    assert together.most == 1
    assert [file.encoding for file in workspace.inspection(draft).files] == ["cp1252"] * 3
    fields = {"draft": draft, "metric": "bleu"}
    for n, role in enumerate(("reference", "output", "output")):
        fields |= {f"role-{n}": role, f"title-{n}": f"t{n}", f"encoding-{n}": "cp1252"}
    answers = at_once(app, owner, *reread, ("POST", "/studies", {"data": fields}), *reread)
    assert {answer.status_code for answer in answers} <= {200, 303, 404}
    assert workspace.study(draft).about.segments == 1
    assert _drafts(app) == []


def test_many_requests_of_one_link_keep_no_thread_from_others(settings, monkeypatch):
    together, before = _Together(), []

    async def heavy(_request):
        await run_in_threadpool(together.work)
        return Response()

    async def other(_request):
        await run_in_threadpool(lambda: before.append(together.done))
        return Response()

    handlers = {"/studies/{id}/segments": heavy, "/studies/{id}/tables": other}
    rows = tuple(
        dataclasses.replace(page, handler=handlers.get(page.path, page.handler))
        for page in _app.pages()
    )
    monkeypatch.setattr(_app, "pages", lambda: rows)
    app = make_app(settings)
    study = comparison_of(app, "owner").id
    link, _ = app.state.access.add_link(study)
    guest = {"cookie": f"gnomon-8765-link={app.state.access.session_of_link(link)}"}
    owner = browser_of(app, app.state.access.launch_token())
    asked = [("GET", f"/studies/{study}/segments", {"headers": guest})] * 60
    answers = at_once(app, owner, *asked, ("GET", f"/studies/{study}/tables", {}))
    assert {answer.status_code for answer in answers} == {200}
    assert together.most == 4
    assert before[0] < 30


def test_what_is_made_beside_pages_makes_no_deleted_folder_anew(tmp_path, finished, capsys):
    gone = tmp_path / "deleted"
    assert write_report(gone, finished) != 0
    assert capsys.readouterr().err
    for make in (write_workbook, lambda folder, store: make_index(folder / "index", store)):
        with pytest.raises((OSError, GnomonError)):
            make(gone, finished)
    with pytest.raises(FileNotFoundError):
        add_note(gone, "es-en", 1, "a note", by="owner", author="you")
    assert not gone.exists()


def test_names_of_files_lead_nowhere(app, settings):
    names = ["../../../etc/passwd", "/etc/passwd", "C:\\a\\b.txt", "..", "x y", "a" * 1000]
    pieces = [p for name in names for p in (_part("files", name), b"x\n", b"\r\n")]
    pieces[-1] = f"\r\n--{_BOUNDARY}--\r\n".encode()
    upload = asyncio.run(receive(_asked(app, settings, pieces)))
    folder = app.state.workspace.draft_folder(upload.draft) / "uploads"
    assert sorted(file.name for file in folder.iterdir()) == list("012345")
    assert upload.names[:3] == ["passwd", "passwd", "b.txt"]
    assert max(map(len, upload.names)) <= 200


@pytest.mark.parametrize(
    "id",
    ["x", "%2e%2e", "..%2f..%2fetc", "0" * 31, "0" * 33, "G" * 32, "0" * 32 + "%00"],
)
def test_an_address_leads_to_comparisons_alone(owner, id):  # noqa: A002  # as it is called everywhere
    for path in (f"/studies/{id}/state", f"/drafts/{id}", f"/studies/{id}"):
        assert owner.get(path).status_code == 404


# Nothing is run, and nothing is sent.


class _Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.inline = [], []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "href", "action", "formaction"):
                self.found.append(value)
            if name.startswith("on") or name == "style":
                self.inline.append((tag, name))
        is_data = ("type", "application/json") in attrs  # which no browser runs
        if tag in ("script", "style") and not dict(attrs).get("src") and not is_data:
            self.inline.append((tag, ""))


def test_names_and_texts_are_shown_and_never_obeyed(tmp_path):
    app = make_app(Settings(folder=tmp_path / "comparisons"))
    with running(app) as browser:
        texts = {_ZALGO: "a b\n" * 3, "b.txt": f"{_ZALGO}\n" * 3, "c.txt": "c d\n" * 3}
        files = [("files", (name, text)) for name, text in texts.items()]
        draft = browser.post("/inspect", files=files).headers["location"]
        study = comparison_of(app, "owner", title=_ZALGO)
        browser.post("/people", data={"name": _ZALGO[:100], "role": "reader"})
        browser.post(f"/studies/{study.id}/share", data={"note": _ZALGO[:100]})
        below = ("", "/share", "/add", "/delete", "/state")
        paths = ["/", draft, "/people", *(f"/studies/{study.id}{part}" for part in below)]
        for path in paths:
            page = browser.get(path)
            assert page.status_code == 200, path
            links = _Links()
            links.feed(page.text)
            assert links.inline == [], path
            assert all(re.match(r"[/#](?!/)", link) for link in links.found), path
            assert "<script>" not in page.text
            assert "<img" not in page.text
            assert "\u202e" not in page.text
            assert "49" not in re.findall(r"<(?:h1|title|legend|li)[^>]*>([^<]*)", page.text)


# Errors say no more than they must.


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("/srv/secret/path/file.txt of gnomon 1.2.3"),
        FormatError("no tab", path="/srv/secret/path/file.txt", line=3),
        OSError(13, "denied", "/srv/secret/path/file.txt"),
    ],
)
@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_errors_show_no_path_version_or_trace(monkeypatch, settings, error, accept):
    async def fail(_request):
        raise error

    rows = tuple(
        dataclasses.replace(page, handler=fail) if page.path == "/" else page
        for page in _app.pages()
    )
    monkeypatch.setattr(_app, "pages", lambda: rows)
    app = make_app(settings)
    answer = browser_of(app, app.state.access.launch_token()).get("/", headers={"accept": accept})
    assert answer.status_code >= 400
    for secret in ("/srv", "secret", "1.2.3", "Traceback", "starlette", "uvicorn", "Error:"):
        assert secret not in answer.text
        assert secret not in str(answer.headers)
    if isinstance(error, FormatError):
        assert "file.txt" in answer.text


# Links that lead out of a folder, as in an unpacked archive, are not followed.


def _planted(study, where, outside):
    """A link to what lies outside, at a place of a comparison: symbolic, or a second name."""
    kind, _, name = where.partition(" ")
    place = study / name if name else study
    if not name:
        shutil.copytree(study, outside / "moved")
        shutil.rmtree(study)
        place.symlink_to(outside / "moved")
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    target = outside / ("folder" if kind == "folder" else "secret.txt")
    if kind == "hard":
        place.hardlink_to(target)
    else:
        place.symlink_to(target)


_PLANTED = (
    "itself",
    "link names.json",
    "link notes.json",
    "hard notes.json",
    "hard log.txt",
    "link texts/x.txt",
    "folder store",
    "link store/manifest.jsonl",
    "link report.html",
    "hard report.html",
    "folder index",
)


def test_a_link_out_of_a_comparison_is_not_followed(app, owner, tmp_path):
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    for file in (outside / "secret.txt", outside / "folder" / "index.html"):
        file.write_text("SECRET\n")
    studies = [comparison_of(app, "owner") for _ in _PLANTED]
    assert all(owner.get(f"/studies/{s.id}/state").status_code == 200 for s in studies)
    for study, where in zip(studies, _PLANTED, strict=True):
        _planted(study.folder, where, outside)
    before = _contents(outside)
    rows = [page for page in _app.pages() if page.of == "study" and not page.deletes]
    asked = [(page, studies[0]) for page in rows]  # all pages of one, and two pages of each
    asked += [(p, study) for study in studies for p in rows if p.path.endswith(("{id}", "/notes"))]
    for page, study in asked:
        path = page.path.replace("{id}", study.id).replace("{", "").replace("}", "")
        for method in page.methods:
            answer = owner.request(method, path, data={"text": "a note", "segment": "1"})
            assert answer.status_code == 409, (method, path)
            assert "SECRET" not in answer.text
            assert str(tmp_path) not in answer.text
    first = owner.get("/").text
    with TestClient(app):  # a server that starts anew touches nothing of it, either
        assert _contents(outside) == before
        for study in studies:
            assert f"/studies/{study.id}/delete" in first
            assert owner.post(f"/studies/{study.id}/delete").status_code == 303
            assert not study.folder.exists()
    assert _contents(outside) == before


def _contents(folder):
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("where", ["link plan.json", "folder tables", "link tables/a.parquet"])
def test_a_link_out_of_a_store_is_not_followed(stored, tmp_path, where):
    app = make_app(Settings(stores=(stored,)))
    (study,) = app.state.stored
    owner = browser_of(app, app.state.access.launch_token())
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "secret.txt").write_text("SECRET")
    _planted(stored, where, outside)
    for below in ("", "/tables", "/download/tables/scores.csv", "/segments"):
        assert owner.get(f"/studies/{study}{below}").status_code == 409
    with pytest.raises(DataError, match="is a link"):
        make_app(Settings(stores=(stored,)))


@pytest.mark.parametrize("name", ["studies", "drafts", "lock", "access.json", "access.lock"])
def test_a_link_at_the_top_of_a_folder_is_said_at_the_start(tmp_path, capsys, name):
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / name).symlink_to(outside / "new")
    assert main(["serve", str(tmp_path / "here"), "--no-browser", "--port", "0"]) != 0
    assert "is a link" in capsys.readouterr().err
    assert not (outside / "new").exists()


# What is deleted is gone.


def test_no_text_stays_after_delete(tmp_path, monkeypatch):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    app = make_app(Settings(folder=tmp_path / "comparisons"))
    marked = {name: text.replace("rain", "Zyxwvut") for name, text in TEXTS.items()}
    with running(app) as browser:
        files = [("files", (name, text)) for name, text in marked.items()]
        draft = browser.post("/inspect", files=files).headers["location"]
        fields = {"draft": draft.rpartition("/")[2], "metric": ["bleu"], "title": "Zyxwvut"}
        for n, role in enumerate(("reference", "output", "output")):
            fields |= {f"role-{n}": role, f"title-{n}": f"t{n}", f"encoding-{n}": "utf-8"}
        address = browser.post("/studies", data=fields).headers["location"]
        while "data-live" in browser.get(f"{address}/state").text:
            time.sleep(0.05)
        browser.get(address)
        browser.post(f"{address}/share", data={"note": "Zyxwvut"})
        rest(app.state.workspace, address.rpartition("/")[2], "failed", "line 2, 'Zyxwvut'")
        held = [file for file in tmp_path.rglob("*") if file.is_file()]
        assert any(b"Zyxwvut" in file.read_bytes() for file in held)
        assert browser.post(f"{address}/delete").status_code == 303
    left = [
        str(file.relative_to(tmp_path))
        for file in tmp_path.rglob("*")
        if file.is_file() and b"zyxwvut" in file.read_bytes().lower()
    ]
    assert left == []
    assert address.rpartition("/")[2] not in {path.name for path in tmp_path.rglob("*")}
