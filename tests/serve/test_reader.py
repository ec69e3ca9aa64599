"""The process that reads stores for a server, which loads nothing that computes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gnomon.core.errors import DataError, UnknownNameError
from gnomon.serve._downloads import table_file
from gnomon.serve._reader import ReaderEndedError, StoreProcess, StoreReader
from gnomon.serve._store_pages import (
    TableQuery,
    open_store,
    provenance,
    sizes_of_sets,
    study_result,
    table_page,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: what a server has answered when it is asked which modules it has
_SERVER = """
import json, sys
from pathlib import Path
from starlette.testclient import TestClient
from gnomon.serve import StoreProcess, Settings, make_app

store, folder, pages = json.loads(sys.argv[1])
app = make_app(Settings(folder=Path(folder), stores=(Path(store),)), StoreProcess(apart=True))
client = TestClient(app, base_url="http://127.0.0.1:8765", follow_redirects=False)
client.get("/enter", params={"token": app.state.access.launch_token()})
(study,) = app.state.stored
answers = {}
for page in pages:
    answer = client.get(page.format(study), headers={"accept": "text/html"})
    answers[page] = (answer.status_code, len(answer.content))
print(json.dumps([answers, sorted(sys.modules)]))
"""
_HEAVY = ("duckdb", "numpy", "pyarrow", "scipy", "gnomon.metrics.registry")


@pytest.fixture(scope="module")
def reader() -> Iterator[StoreProcess]:
    reader = StoreProcess(apart=True)
    yield reader
    reader.stop()


def test_a_server_shows_results_and_loads_nothing_that_computes(
    stored: Path, tmp_path: Path
) -> None:
    pages = ["/", "/studies/{}", "/studies/{}/tables/scores", "/studies/{}/maps/muler",
             "/studies/{}/progress", "/studies/{}/download/tables/scores.csv",
             "/studies/{}/download/study.zip", "/api/v1/methods"]  # fmt: skip
    given = json.dumps([str(stored), str(tmp_path / "folder"), pages])
    command = [sys.executable, "-c", _SERVER, given]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answers, modules = json.loads(done.stdout)
    assert {page: status for page, (status, _) in answers.items()} == dict.fromkeys(pages, 200)
    assert all(size for _, size in answers.values())
    assert not set(_HEAVY) & set(modules)


def test_it_gives_what_a_call_here_gives(reader: StoreProcess, finished: Path) -> None:
    read, opened = StoreReader(reader, finished), open_store(finished)
    assert read(study_result) == study_result(opened)
    assert read(provenance) == provenance(opened)
    query = TableQuery(sort="score", rows=5)
    assert read(table_page, "scores", query) == table_page(opened, "scores", query)
    assert b"".join(read.stream(table_file, "scores", "tsv")) == b"".join(
        table_file(opened, "scores", "tsv")
    )


def test_what_is_wrong_is_raised_here(reader: StoreProcess, finished: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="scores"):
        StoreReader(reader, finished)(table_page, "scorse", TableQuery())
    with pytest.raises(UnknownNameError):
        StoreReader(reader, finished).stream(table_file, "scorse", "tsv")
    with pytest.raises(DataError, match="there is no store"):
        StoreReader(reader, tmp_path)(sizes_of_sets)


def test_a_process_that_ends_is_started_again(reader: StoreProcess, finished: Path) -> None:
    first = reader(os.getpid)
    assert first != os.getpid()
    with pytest.raises(ReaderEndedError):
        reader(os._exit, 1)
    assert reader(os.getpid) not in (first, os.getpid())
    assert StoreReader(reader, finished)(sizes_of_sets)
