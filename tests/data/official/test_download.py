"""Fetching a file: from a server of this machine that breaks off, refuses, moves and lies."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gnomon.core.errors import DataError, MissingFileError, UsageError
from gnomon.data.official import Patience, download

QUICK = Patience(tries=3, pause=0.0)
DATA = bytes(range(256)) * 4000  # about 1 MB


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_file_comes_whole_and_nothing_else_is_left(site, tmp_path: Path) -> None:
    site.files["/a.tgz"] = DATA
    seen: list[tuple[str, int, int]] = []
    download(
        f"{site.url}/a.tgz",
        tmp_path / "a.tgz",
        patience=QUICK,
        progress=lambda *said: seen.append(said),
    )
    assert (tmp_path / "a.tgz").read_bytes() == DATA
    assert names(tmp_path) == ["a.tgz"]
    assert seen[-1] == ("fetch", len(DATA), len(DATA))


def test_a_broken_transfer_goes_on_where_it_broke_off(site, tmp_path: Path) -> None:
    site.files["/a.tgz"] = DATA
    site.cuts = [300_000, 200_000]
    download(f"{site.url}/a.tgz", tmp_path / "a", patience=QUICK)
    assert (tmp_path / "a").read_bytes() == DATA
    assert [asked for _, asked in site.asked] == [None, "bytes=300000-", "bytes=500000-"]


def test_what_an_earlier_run_left_is_taken_up(site, tmp_path: Path) -> None:
    site.files["/a.tgz"] = DATA
    site.cuts = [300_000]
    once = Patience(tries=1)
    with pytest.raises(MissingFileError, match=r"broke off after 300,000 of 1,024,000 bytes, 1 ti"):
        download(f"{site.url}/a.tgz", tmp_path / "a", patience=once)
    assert names(tmp_path) == [".a.part", ".a.part.json"]
    download(f"{site.url}/a.tgz", tmp_path / "a", patience=once)
    assert (tmp_path / "a").read_bytes() == DATA
    assert names(tmp_path) == ["a"]
    assert site.asked[-1][1] == "bytes=300000-"


def test_a_process_that_is_killed_leaves_what_the_next_one_goes_on_with(
    site, tmp_path: Path
) -> None:
    site.files["/a.tgz"] = DATA
    site.hold = 300_000
    code = "import sys; from pathlib import Path; from gnomon.data.official import download;"
    code += "download(sys.argv[1], Path(sys.argv[2]))"
    target = tmp_path / "a"
    process = subprocess.Popen([sys.executable, "-c", code, f"{site.url}/a.tgz", str(target)])
    part = tmp_path / ".a.part"
    while not part.exists() or part.stat().st_size < 200_000:
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    site.hold = None
    kept = part.stat().st_size
    download(f"{site.url}/a.tgz", target, patience=QUICK)
    assert target.read_bytes() == DATA
    assert site.asked[-1][1] == f"bytes={kept}-"


def test_a_file_that_has_changed_meanwhile_is_fetched_anew(site, tmp_path: Path) -> None:
    site.files["/a.tgz"] = DATA
    site.cuts = [300_000]
    with pytest.raises(MissingFileError):
        download(f"{site.url}/a.tgz", tmp_path / "a", patience=Patience(tries=1))
    site.files["/a.tgz"] = DATA[::-1]
    download(f"{site.url}/a.tgz", tmp_path / "a", patience=QUICK)
    assert (tmp_path / "a").read_bytes() == DATA[::-1]


def test_parts_of_another_address_are_not_mixed_in(site, tmp_path: Path) -> None:
    site.files |= {"/a.tgz": DATA, "/b.tgz": DATA[::-1]}
    site.cuts = [300_000]
    with pytest.raises(MissingFileError):
        download(f"{site.url}/a.tgz", tmp_path / "x", patience=Patience(tries=1))
    download(f"{site.url}/b.tgz", tmp_path / "x", patience=QUICK)
    assert (tmp_path / "x").read_bytes() == DATA[::-1]
    assert site.asked[-1][1] is None


@pytest.mark.parametrize(("ranges", "tagged"), [(False, True), (True, False)])
def test_a_server_without_parts_or_versions_sends_all_again(
    site, tmp_path: Path, ranges: bool, tagged: bool
) -> None:
    site.files["/a.tgz"] = DATA
    site.cuts, site.ranges, site.tagged = [300_000], ranges, tagged
    download(f"{site.url}/a.tgz", tmp_path / "a", patience=QUICK)
    assert (tmp_path / "a").read_bytes() == DATA


def test_a_busy_server_is_asked_again_and_a_missing_file_is_not(site, tmp_path: Path) -> None:
    site.files["/a.tgz"] = DATA
    site.statuses = [503, 429]
    download(f"{site.url}/a.tgz", tmp_path / "a", patience=QUICK)
    assert len(site.asked) == 3
    with pytest.raises(
        MissingFileError, match=r"status 404 \(Not Found\)\. .*--from FILE"
    ) as caught:
        download(f"{site.url}/b.tgz", tmp_path / "b", patience=QUICK)
    assert f"{site.url}/b.tgz" in str(caught.value)
    assert len(site.asked) == 4


def test_a_part_longer_than_the_file_is_forgotten(site, tmp_path: Path) -> None:
    site.files["/a.tgz"] = DATA
    site.cuts = [300_000]
    with pytest.raises(MissingFileError):
        download(f"{site.url}/a.tgz", tmp_path / "a", patience=Patience(tries=1))
    site.statuses = [416]
    download(f"{site.url}/a.tgz", tmp_path / "a", patience=QUICK)
    assert (tmp_path / "a").read_bytes() == DATA


def test_a_server_that_does_not_answer_is_given_up(site, tmp_path: Path) -> None:
    site.files["/a.tgz"] = DATA
    site.stall = 600
    with pytest.raises(MissingFileError, match=r"no answer for 0\.2 seconds, 2 times"):
        download(
            f"{site.url}/a.tgz", tmp_path / "a", patience=Patience(timeout=0.2, tries=2, pause=0)
        )


def test_a_host_where_nothing_listens_is_named(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(MissingFileError, match=r"the connection failed \(.*refused\), 3 times"):
        download(f"http://127.0.0.1:{port}/a", tmp_path / "a", patience=QUICK)


def test_a_file_that_is_too_large_is_not_taken(site, tmp_path: Path) -> None:
    site.files["/a.tgz"] = DATA
    with pytest.raises(DataError, match=r"1,024,000 bytes; at most 1,000 are fetched"):
        download(f"{site.url}/a.tgz", tmp_path / "a", patience=Patience(most=1000))
    assert not (tmp_path / "a").exists()


def test_a_move_to_another_address_is_followed_and_to_a_file_it_is_not(
    site, tmp_path: Path
) -> None:
    site.files["/new.tgz"] = DATA
    site.redirects["/old.tgz"] = f"{site.url}/new.tgz"
    download(f"{site.url}/old.tgz", tmp_path / "a", patience=QUICK)
    assert (tmp_path / "a").read_bytes() == DATA
    for target in ("file:///etc/hostname", "ftp://127.0.0.1/x"):
        site.redirects["/old.tgz"] = target
        with pytest.raises(MissingFileError, match=rf"{target}.* not (allowed|followed)"):
            download(f"{site.url}/old.tgz", tmp_path / "b", patience=QUICK)


def test_the_proxy_of_the_environment_is_used(
    site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.files["/a.tgz"] = DATA
    monkeypatch.setenv("http_proxy", site.url)
    download("http://data.invalid/a.tgz", tmp_path / "a", patience=QUICK)
    assert (tmp_path / "a").read_bytes() == DATA
    assert site.asked[0][0] == "http://data.invalid/a.tgz"


@pytest.mark.parametrize(
    "url",
    ["file:///etc/hostname", "ftp://host/x", "http://", "data:,x", "host/x", "https://[host/x"],
)
def test_only_addresses_of_the_web_are_taken(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match="http:// or https:// is expected"):
        download(url, tmp_path / "a")


def test_a_password_in_an_address_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds a user name or a password") as caught:
        download("https://me:secret@host/x", tmp_path / "a")
    assert "secret" not in str(caught.value)
