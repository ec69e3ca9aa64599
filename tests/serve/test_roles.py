"""Who may do what, for every address: a matrix made of the route table."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import pytest
from starlette.responses import Response
from tests.serve.conftest import FROM_HERE, browser_of, comparison_of

from gnomon.serve import Settings, make_app
from gnomon.serve import app as _app

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from gnomon.serve.pages import Page

_RANKS = {"reader": 0, "author": 1, "owner": 2}
_PEOPLE = (
    "nobody", "stranger", "owner", "author", "another author", "reader", "link",
    "link without texts", "old link", "revoked link", "link to another",
)  # fmt: skip
PAGES = _app.pages()


async def _reached(_request: object) -> Response:
    return Response(status_code=204)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A server whose pages do nothing but be reached, with a comparison of an author."""
    import datetime as dt

    patch = pytest.MonkeyPatch()
    reached = tuple(dataclasses.replace(page, handler=_reached) for page in PAGES)
    patch.setattr(_app, "pages", lambda: reached)
    app = make_app(Settings(folder=tmp_path_factory.mktemp("world") / "comparisons"))
    patch.undo()
    access = app.state.access
    author, author_token = access.add_token("Ana", "author")
    study = comparison_of(app, author.id).id
    other = comparison_of(app, "owner").id
    tokens = {
        "owner": access.launch_token(),
        "author": author_token,
        "another author": access.add_token("Ben", "author")[1],
        "reader": access.add_token("Cleo", "reader")[1],
    }
    yesterday = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1)
    links = {
        "link": access.add_link(study),
        "link without texts": access.add_link(study, texts=False),
        "old link": access.add_link(study, until=yesterday),
        "revoked link": access.add_link(study),
        "link to another": access.add_link(other),
    }
    sessions = {name: access.session_of_link(link) for name, (link, _) in links.items()}
    access.revoke_link(study, links["revoked link"][0].id)
    # handlers do nothing here, so that sessions are put where they would put them
    people: dict[str, TestClient] = {}
    for name in _PEOPLE:
        client = browser_of(app)
        client.headers.update(FROM_HERE)
        if name in tokens:
            client.cookies.set("gnomon-8765", access.session_for(tokens[name]))
        elif name in sessions:
            client.cookies.set("gnomon-8765-link", sessions[name], path=f"/studies/{study}")
        elif name == "stranger":
            client.headers["authorization"] = "Bearer nobody"
        people[name] = client
    return people, study


def _may(person: str, page: Page) -> bool:
    if page.of == "public":
        return True
    if page.of == "workspace":
        ranks = {"owner": 2, "author": 1, "another author": 1, "reader": 0}
        return ranks.get(person, -1) >= _RANKS[page.needs]
    by_link = page.needs == "reader" and page.path.startswith("/studies/")  # no cookie elsewhere
    by_link = by_link and page.methods == ("GET",)  # who came by a link changes nothing
    return {
        "owner": True,
        "author": page.needs != "owner",
        "link": by_link,
        "link without texts": by_link and not page.texts,
    }.get(person, False)


def _addresses(page: Page, study: str) -> list[tuple[str, str]]:
    path = re.sub(r"\{(\w+)(:\w+)?\}", lambda m: study if m[1] == "id" else "x", page.path)
    return [(method, path) for method in page.methods]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.methods[0]} {page.path}")
def test_every_address_answers_those_alone_who_may(world, page):
    people, study = world
    for person, client in people.items():
        for method, path in _addresses(page, study):
            status = client.request(method, path).status_code
            unknown = {401} if _is_unknown(person, path, study) else {404}
            assert status in ({204} if _may(person, page) else unknown), (person, method, path)


def _is_unknown(person: str, path: str, study: str) -> bool:
    """Whether the server does not know who it is, and says so whatever is asked for."""
    below = path.startswith(f"/studies/{study}")
    return person in ("nobody", "stranger", "old link", "revoked link") or (
        "link" in person and not below
    )


@pytest.mark.parametrize("person", ["another author", "reader", "nobody", "old link"])
def test_what_one_may_not_see_looks_like_what_is_not_there(world, person):
    people, study = world
    client = people[person]
    there = client.get(f"/studies/{study}/state")
    not_there = client.get(f"/studies/{'0' * 32}/state")
    assert there.status_code == not_there.status_code
    assert there.text == not_there.text


def test_no_page_with_an_id_of_a_comparison_is_open_to_all():
    for page in PAGES:
        assert ("{id}" in page.path) == (page.of == "study")
        assert page.needs in _RANKS


def test_addresses_are_there_once():
    rows = [(method, page.path) for page in PAGES for method in page.methods]
    assert len(set(rows)) == len(rows)
