"""Fetching a file: from a server of this machine that breaks off, refuses, moves and lies."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from gnomon.core.errors import DataError, MissingFileError, UsageError
from gnomon.data.official import download
from gnomon.data.official import downloading as _download

DATA = bytes(range(256)) * 4000  # about 1 MB


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_file_comes_whole_and_nothing_else_is_left(site, tmp_path: Path) -> None:
    site.files["/a.tgz"] = DATA
    seen: list[tuple[str, int, int]] = []
    download(
        f"{site.url}/a.tgz",
        tmp_path / "a.tgz",
        progress=lambda *said: seen.append(said),
    )
    assert (tmp_path / "a.tgz").read_bytes() == DATA
    assert names(tmp_path) == ["a.tgz"]
    assert seen[-1] == ("fetch", len(DATA), len(DATA))


def test_a_broken_transfer_leaves_nothing_and_the_next_one_starts_anew(
    site, tmp_path: Path
) -> None:
    site.files["/a.tgz"] = DATA
    site.cuts = [300_000]
    with pytest.raises(MissingFileError, match=r"broke off after 300,000 of 1,024,000 bytes"):
        download(f"{site.url}/a.tgz", tmp_path / "a")
    assert names(tmp_path) == []
    download(f"{site.url}/a.tgz", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == DATA


@pytest.mark.parametrize("name", ["a.tar.gz", "a.txt"])
def test_a_file_is_kept_byte_by_byte_whatever_it_is_called(site, tmp_path: Path, name: str) -> None:
    site.files["/x"] = DATA
    download(f"{site.url}/x", tmp_path / name)
    assert (tmp_path / name).read_bytes() == DATA


@pytest.mark.parametrize(("status", "said"), [(503, "Service Unavailable"), (404, "Not Found")])
def test_what_a_server_answers_is_told(site, tmp_path: Path, status: int, said: str) -> None:
    site.statuses = [status]
    with pytest.raises(MissingFileError, match=rf"status {status} \({said}\)\. .*--from FILE") as e:
        download(f"{site.url}/b.tgz", tmp_path / "b")
    assert f"{site.url}/b.tgz" in str(e.value)


def test_a_server_that_does_not_answer_is_given_up(site, tmp_path: Path) -> None:
    site.files["/a.tgz"] = DATA
    site.stall = 600
    with pytest.raises(MissingFileError, match=r"no answer for 0\.2 seconds"):
        download(f"{site.url}/a.tgz", tmp_path / "a", timeout=0.2)


def test_a_host_where_nothing_listens_is_named(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(MissingFileError, match=r"the connection failed \(.*refused; offline"):
        download(f"http://127.0.0.1:{port}/a", tmp_path / "a")


def test_a_file_that_is_too_large_is_not_taken(
    site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.files["/a.tgz"] = DATA
    monkeypatch.setattr(_download, "_MOST", 1000)
    with pytest.raises(DataError, match=r"1,024,000 bytes; at most 1,000 are fetched"):
        download(f"{site.url}/a.tgz", tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_move_to_another_address_is_followed_and_to_a_file_it_is_not(
    site, tmp_path: Path
) -> None:
    site.files["/new.tgz"] = DATA
    site.redirects["/old.tgz"] = f"{site.url}/new.tgz"
    download(f"{site.url}/old.tgz", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == DATA
    for target in ("file:///etc/hostname", "ftp://127.0.0.1/x"):
        site.redirects["/old.tgz"] = target
        with pytest.raises(MissingFileError, match=rf"{target}.* not (allowed|followed)"):
            download(f"{site.url}/old.tgz", tmp_path / "b")


def test_the_proxy_of_the_environment_is_used(
    site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.files["/a.tgz"] = DATA
    monkeypatch.setenv("http_proxy", site.url)
    download("http://data.invalid/a.tgz", tmp_path / "a")
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
