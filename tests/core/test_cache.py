from __future__ import annotations

import logging
import os
import pickle
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.cache import Cache, default_path, key
from gnomon.core.errors import OutputError
from gnomon.core.sqlite import salvaged

FILE = "gnomon-entries-1.sqlite3"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def _spoil(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path / FILE)
    with connection:
        connection.execute(statement)
    connection.close()


def test_what_was_put_is_got_and_nothing_else(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        cache.put_many({b"a": b"1", b"b": b""})
        assert cache.get_many([b"a", b"b", b"c"]) == {b"a": b"1", b"b": b""}
    with Cache(tmp_path) as again:
        assert again.get_many([b"a"]) == {b"a": b"1"}


def test_more_keys_than_one_query_takes_are_got(tmp_path: Path) -> None:
    items = {str(i).encode(): b"x" * (i % 50) for i in range(2500)}
    with Cache(tmp_path) as cache:
        cache.put_many(items)
        assert cache.get_many(list(items)) == items


def test_a_later_value_replaces_an_earlier_one(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        cache.put_many({b"a": b"old"})
        cache.put_many({b"a": b"new"})
        assert cache.get_many([b"a"]) == {b"a": b"new"}
        assert cache.stats().entries == 1


def test_folder_and_files_are_the_owners_alone(tmp_path: Path) -> None:
    with Cache(tmp_path / "made" / "here") as cache:
        cache.put_many({b"a": b"1"})
        files = list(cache.path.iterdir())
        assert {file.name for file in files} == {FILE, f"{FILE}-wal", f"{FILE}-shm"}
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert stat.S_IMODE(cache.path.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "damage",
    ["value = x'00'", "digest = x'00'", "value = 'text'", "value = value || 'more'"],
)
def test_a_damaged_entry_is_dropped_and_can_be_put_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    with Cache(tmp_path) as cache:
        cache.put_many({b"a": b"1", b"b": b"2"})
    _spoil(tmp_path, f"UPDATE entries SET {damage} WHERE key = x'61'")  # fixed above
    with Cache(tmp_path) as cache:
        with caplog.at_level(logging.WARNING):
            assert cache.get_many([b"a", b"b"]) == {b"b": b"2"}
        assert "1 damaged" in caplog.text
        assert cache.stats().entries == 1
        cache.put_many({b"a": b"1"})
        assert cache.get_many([b"a"]) == {b"a": b"1"}


def test_entries_swapped_with_each_other_count_as_damaged(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        cache.put_many({b"a": b"1", b"b": b"2"})
    _spoil(tmp_path, "UPDATE entries SET key = CASE key WHEN x'61' THEN x'63' ELSE key END")
    with Cache(tmp_path) as cache:
        assert cache.get_many([b"c", b"b"]) == {b"b": b"2"}


def test_a_file_that_is_no_database_is_put_aside_and_begun_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).write_bytes(b"this is not a database at all" * 100)
    with Cache(tmp_path) as cache, caplog.at_level(logging.WARNING):
        assert cache.get_many([b"a"]) == {}
        cache.put_many({b"a": b"1"})
        assert cache.get_many([b"a"]) == {b"a": b"1"}
    assert "put aside" in caplog.text
    assert (tmp_path / "gnomon-damaged-1.sqlite3").read_bytes().startswith(b"this is not")


def test_a_file_with_damaged_pages_is_put_aside_and_begun_anew(tmp_path: Path) -> None:
    items = {str(i).encode(): b"x" * 300 for i in range(500)}
    with Cache(tmp_path) as cache:
        cache.put_many(items)
    data = bytearray((tmp_path / FILE).read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    (tmp_path / FILE).write_bytes(data)
    with Cache(tmp_path) as cache:
        assert cache.get_many(list(items)) == {}
        cache.put_many(items)
        assert cache.get_many(list(items)) == items


def _answers() -> dict[bytes, bytes]:
    """Entries of all lengths, some longer than a page."""
    return {f"{i}".encode() * 3: bytes([i % 251]) * (i * 37 % 9000) for i in range(400)}


def test_a_damaged_page_costs_the_entries_of_that_page_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    items = _answers()
    with Cache(tmp_path / "whole") as cache:
        cache.put_many(items)
    whole = (tmp_path / "whole" / FILE).read_bytes()
    pages = len(whole) // 4096
    lost = []
    for page in (0, 1, 2, 3, *range(4, pages, 29)):
        folder = tmp_path / str(page)
        folder.mkdir()
        data = bytearray(whole)
        data[4096 * page : 4096 * (page + 1)] = b"\xff" * 4096
        (folder / FILE).write_bytes(data)
        caplog.clear()
        with Cache(folder) as cache:
            found = cache.get_many(list(items))
        assert all(items[name] == value for name, value in found.items())
        lost.append(len(items) - len(found))
        aside = folder / "gnomon-damaged-1.sqlite3"
        if aside.exists():
            assert aside.read_bytes() == bytes(data)
            assert f"put aside as {aside.name}, and a new one begun with the" in caplog.text
    assert max(lost) <= 4096 // 20  # of as short ones as there are
    assert sum(lost) / len(lost) < 10


def test_entries_in_the_log_of_a_damaged_file_are_kept(tmp_path: Path) -> None:
    items = _answers()
    other = {b"late": b"x" * 5000}
    with Cache(tmp_path) as cache:
        cache.put_many(items)
    with Cache(tmp_path) as cache:
        cache.put_many(other)
        names = (FILE, f"{FILE}-wal")
        (tmp_path / "copy").mkdir()
        for name in names:  # as after a kill
            (tmp_path / "copy" / name).write_bytes((tmp_path / name).read_bytes())
    data = bytearray((tmp_path / "copy" / FILE).read_bytes())
    data[:4096] = b"\xff" * 4096
    (tmp_path / "copy" / FILE).write_bytes(data)
    with Cache(tmp_path / "copy") as cache:
        assert cache.get_many([*items, b"late"]) == {**items, **other}


@given(st.binary(max_size=9000), st.integers(0, 2**32))
def test_any_bytes_in_place_of_a_file_are_passed_over(data: bytes, seed: int) -> None:
    page = (b"\x0d\x00\x00\x00\x20" + data).ljust(12288, bytes([seed % 256]))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "x").write_bytes(page)
        assert list(salvaged(Path(folder) / "x")) == []


_LEFT_OPEN = """
import sys
from gnomon.core.cache import Cache
cache = Cache(sys.argv[1])
cache.put_many({b"a": b"1"})
"""


def test_a_process_leaves_all_entries_in_one_file(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _LEFT_OPEN, str(tmp_path)], check=True)
    assert [file.name for file in tmp_path.iterdir()] == [FILE]
    with Cache(tmp_path) as cache:
        assert cache.get_many([b"a"]) == {b"a": b"1"}


def test_a_file_that_is_deleted_meanwhile_is_begun_anew(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        cache.put_many({b"a": b"1"})
        for file in tmp_path.iterdir():
            file.unlink()
        cache.put_many({b"b": b"2"})
    with Cache(tmp_path) as cache:
        assert cache.get_many([b"a", b"b"]) == {b"b": b"2"}


def test_above_the_limit_the_least_recently_used_entries_go(tmp_path: Path) -> None:
    clock = Clock()
    with Cache(tmp_path, limit_bytes=400_000, clock=clock) as cache:
        for batch in range(30):
            clock.now += 10_000
            cache.get_many([b"0-0"])  # kept in use throughout
            cache.put_many({f"{batch}-{i}".encode(): bytes(1000) for i in range(20)})
            assert cache.stats().bytes <= 400_000
        last = [f"29-{i}".encode() for i in range(20)]
        assert set(cache.get_many(last)) == set(last)
        assert cache.get_many([b"0-0"])
        assert not cache.get_many([f"0-{i}".encode() for i in range(1, 20)])
    assert (tmp_path / FILE).stat().st_size <= 440_000  # one batch more at most


_WORKER = """
import sys
from gnomon.core.cache import Cache
path, worker = sys.argv[1:]
cache = Cache(path)
for batch in range(20):
    own = {f"{worker}-{batch}-{i}".encode(): worker.encode() * 50 for i in range(20)}
    both = {f"shared-{batch}-{i}".encode(): b"same" for i in range(20)}
    cache.put_many({**own, **both})
    assert cache.get_many([*own, *both]) == {**own, **both}
"""


def test_four_processes_write_and_read_together(tmp_path: Path) -> None:
    workers = [
        subprocess.Popen([sys.executable, "-c", _WORKER, str(tmp_path), str(worker)])
        for worker in range(4)
    ]
    assert [worker.wait(timeout=600) for worker in workers] == [0] * 4
    with Cache(tmp_path) as cache:
        assert cache.stats().entries == 4 * 20 * 20 + 20 * 20


def test_a_full_disk_is_refused_with_what_to_do_and_nothing_is_half_kept(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        cache.put_many({b"a": b"1"})
        pages = cache._connection().execute("PRAGMA page_count").fetchone()[0]
        cache._connection().execute(f"PRAGMA max_page_count = {pages + 5}")
        with pytest.raises(OutputError, match=r"disk is full.*GNOMON_CACHE.*cache=") as caught:
            cache.put_many({str(i).encode(): bytes(1000) for i in range(500)})
        assert str(tmp_path) in str(caught.value)
        assert cache.get_many([b"a", b"0", b"1"]) == {b"a": b"1"}


def test_a_cache_that_may_only_be_read_is_read_but_not_written(tmp_path: Path) -> None:
    clock = Clock()
    with Cache(tmp_path, clock=clock) as cache:
        cache.put_many({b"a": b"1"})
        cache._connection().execute("PRAGMA query_only = 1")
        clock.now += 100_000
        assert cache.get_many([b"a"]) == {b"a": b"1"}
        with pytest.raises(OutputError, match=r"readonly.*cache="):
            cache.put_many({b"b": b"2"})


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="GNOMON_CACHE"):
        Cache(tmp_path / "file").get_many([b"a"])


def test_clearing_forgets_everything(tmp_path: Path) -> None:
    for name in ("gnomon-damaged-1.sqlite3", "gnomon-entries-0.sqlite3-wal"):
        (tmp_path / name).write_text("old")
    with Cache(tmp_path) as cache:
        cache.put_many({str(i).encode(): bytes(1000) for i in range(500)})
        before = cache.stats()
        cache.clear()
        assert cache.stats().entries == 0
        assert cache.stats().bytes < before.bytes
        assert cache.get_many([b"1"]) == {}
    assert {path.name for path in tmp_path.iterdir()} == {FILE}


def test_clearing_leaves_what_is_not_gnomons(tmp_path: Path) -> None:
    theirs = ["notes.txt", "my.sqlite3", "damaged.sqlite3", "entries-1.sqlite3-wal", "mine/a"]
    theirs += ["gnomon-notes.sqlite3", "gnomon-entries-1.sqlite3.bak"]
    folder = tmp_path / "cache"
    for name in theirs:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a").write_text("x")
    (folder / "gnomon-damaged-1.sqlite3").symlink_to(tmp_path / "elsewhere" / "a")
    with Cache(folder) as cache:
        cache.clear()
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert left == {FILE, *theirs}
    assert (tmp_path / "elsewhere" / "a").read_text() == "x"


@pytest.mark.parametrize("kind", ["fifo", "link", "folder"])
def test_what_is_no_regular_file_is_not_taken_for_the_cache(tmp_path: Path, kind: str) -> None:
    other, file = tmp_path / "other.sqlite3", tmp_path / "cache" / FILE
    file.parent.mkdir()
    {"fifo": os.mkfifo, "link": lambda f: f.symlink_to(other), "folder": os.mkdir}[kind](file)
    for act in (Cache.stats, Cache.clear):
        with pytest.raises(OutputError, match="a link or no regular file"):
            act(Cache(file.parent))
    assert not other.exists()


def test_a_cache_travels_to_other_processes_without_its_connection(tmp_path: Path) -> None:
    with Cache(tmp_path, 1_234_567) as cache:
        cache.put_many({b"a": b"1"})
        copy = pickle.loads(pickle.dumps(cache))  # noqa: S301  # our own bytes
        assert (copy.path, copy.limit_bytes) == (tmp_path, 1_234_567)
        assert copy.get_many([b"a"]) == {b"a": b"1"}
        copy.close()


def test_the_environment_names_the_default_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "mine"))
    assert default_path() == tmp_path / "mine"
    assert Cache().path == tmp_path / "mine"
    monkeypatch.delenv("GNOMON_CACHE")
    assert default_path().name == "gnomon"


@given(st.lists(st.text(), min_size=1), st.lists(st.text(), min_size=1))
def test_keys_are_equal_only_for_equal_parts(one: list[str], other: list[str]) -> None:
    assert (key(*one) == key(*other)) == (one == other)
