"""Checksums: given, recorded, and what happens when they differ."""

from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.data.formats.wmt_files import small_set, to_xml
from tests.data.official.official_sets import tgz, xml_archive

import gnomon as gn
from gnomon import official
from gnomon.core.errors import (
    DataError,
    FormatError,
    MissingFileError,
    UnknownNameError,
    UsageError,
)
from gnomon.data.official.obtaining import Origin, obtain


def fetch(url: str, folder: Path, **options: object) -> tuple[official.WrittenSet, ...]:
    return official.fetch(url, folder=folder, **options)


def lock(folder: Path) -> dict[str, dict[str, object]]:
    return json.loads((folder / "downloads" / "lock.json").read_text())["files"]


def test_a_file_at_any_address_is_fetched_converted_and_recorded(site, tmp_path: Path) -> None:
    data = to_xml(small_set()).encode()
    site.files["/sets/mini.xml"] = data
    [found] = fetch(f"{site.url}/sets/mini.xml", tmp_path)
    assert gn.TestSet.read(found.path).systems == small_set().systems
    assert found.path == tmp_path / "mini"
    entry = lock(tmp_path)[f"{site.url}/sets/mini.xml"]
    assert entry["sha256"] == hashlib.sha256(data).hexdigest()
    assert entry["bytes"] == len(data)
    origin = json.loads((found.path / "origin.json").read_text())
    assert origin["format"] == "wmt-xml"
    assert set(origin["sha256"].values()) == {entry["sha256"]}


def test_an_archive_at_any_address_is_unpacked(site, tmp_path: Path) -> None:
    site.files["/mini.tgz"] = xml_archive()
    [found] = fetch(f"{site.url}/mini.tgz", tmp_path, language_pairs=["de-en"])
    assert found.path == tmp_path / "mini" / "de-en"
    assert found.segments == 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["downloads", "mini"]
    with pytest.raises(UnknownNameError, match="there are: de-en"):
        fetch(f"{site.url}/mini.tgz", tmp_path / "b", language_pairs=["de-fr"])


def test_the_checksum_that_was_given_must_be_that_of_the_file(site, tmp_path: Path) -> None:
    site.files["/mini.tgz"] = data = xml_archive()
    url = f"{site.url}/mini.tgz"
    with pytest.raises(
        DataError, match=r"has the sha256 .* f{64} is expected.*renamed to .*reject"
    ):
        fetch(url, tmp_path, sha256="f" * 64)
    assert not (tmp_path / "downloads" / "lock.json").exists()
    [found] = fetch(url, tmp_path, sha256=hashlib.sha256(data).hexdigest().upper())
    assert found.new
    with pytest.raises(UsageError, match="64 hexadecimal digits are expected"):
        fetch(url, tmp_path, sha256="abc")


def test_a_file_that_differs_from_the_recorded_one_is_refused(site, tmp_path: Path) -> None:
    site.files["/mini.tgz"] = xml_archive()
    url = f"{site.url}/mini.tgz"
    fetch(url, tmp_path)
    [download] = [f for f in (tmp_path / "downloads").iterdir() if f.name.endswith("mini.tgz")]
    download.unlink()
    changed = xml_archive(to_xml(small_set()).replace("It rains", "It snows"))
    site.files["/mini.tgz"] = changed
    with pytest.raises(
        DataError, match=r"recorded when .*first fetched.*pass its own with sha256="
    ):
        fetch(url, tmp_path, language_pairs=["de-en"])
    fetch(url, tmp_path, language_pairs=["de-en"], sha256=hashlib.sha256(changed).hexdigest())
    assert lock(tmp_path)[url]["sha256"] == hashlib.sha256(changed).hexdigest()


def test_the_recorded_checksum_holds_unless_another_is_given(site, tmp_path: Path) -> None:
    url, origin = f"{site.url}/x.bin", Origin(tmp_path)
    site.files["/x.bin"] = b"one"
    with obtain(url, origin) as path:
        assert path.read_bytes() == b"one"
    path.unlink()
    site.files["/x.bin"] = b"two"
    with (
        pytest.raises(DataError, match="recorded when"),
        obtain(url, origin),
    ):
        pass
    assert lock(tmp_path)[url]["sha256"] == hashlib.sha256(b"one").hexdigest()
    asked = replace(origin, sha256=hashlib.sha256(b"two").hexdigest())
    with obtain(url, asked) as path:
        assert path.read_bytes() == b"two"
    assert lock(tmp_path)[url]["sha256"] == asked.sha256


def test_a_kept_download_is_not_fetched_again_and_damage_to_it_is_seen(
    site, tmp_path: Path
) -> None:
    site.files["/mini.tgz"] = xml_archive()
    url = f"{site.url}/mini.tgz"
    fetch(url, tmp_path)
    fetch(url, tmp_path, language_pairs=["de-en"])
    assert len(site.asked) == 1
    [download] = [f for f in (tmp_path / "downloads").iterdir() if f.name.endswith("mini.tgz")]
    download.write_bytes(b"x")
    with pytest.raises(DataError, match="has the sha256"):
        fetch(url, tmp_path, language_pairs=["fr-en"])


def test_a_mirror_a_file_or_a_folder_stands_in_for_the_address(site, tmp_path: Path) -> None:
    data = xml_archive()
    site.files["/mirror.tgz"] = data
    url = "https://data.invalid/mini.tgz"
    fetch(url, tmp_path / "a", given=f"{site.url}/mirror.tgz")
    file = tmp_path / "mini.tgz"
    file.write_bytes(data)
    fetch(url, tmp_path / "b", given=file)
    fetch(url, tmp_path / "c", given=tmp_path)
    for name in "abc":
        assert lock(tmp_path / name)[url]["sha256"] == hashlib.sha256(data).hexdigest()
        assert gn.TestSet.read(tmp_path / name / "mini").segments == 4
    assert file.read_bytes() == data
    with pytest.raises(MissingFileError, match=r"holds none of other\.tgz"):
        fetch("https://data.invalid/other.tgz", tmp_path / "d", given=tmp_path)
    with pytest.raises(MissingFileError, match="which --from names"):
        fetch(url, tmp_path / "d", given=tmp_path / "nothing")


def test_what_came_from_an_address_is_not_converted_again(site, tmp_path: Path) -> None:
    site.files["/mini.tgz"] = xml_archive()
    [first] = fetch(f"{site.url}/mini.tgz", tmp_path)
    site.files.clear()
    [again] = fetch(f"{site.url}/mini.tgz", tmp_path)
    assert again == replace(first, new=False)


def test_two_who_fetch_at_once_get_the_same_and_ask_once(site, tmp_path: Path) -> None:
    site.files["/mini.tgz"] = xml_archive()
    site.stall = 0.2
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(fetch, f"{site.url}/mini.tgz", tmp_path) for _ in range(3)]
        found = [one.result()[0] for one in asked]
    assert sorted(one.new for one in found) == [False, False, True]
    assert len(site.asked) == 1


def test_progress_is_told_of_fetching_and_unpacking(
    site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    site.files["/v2.tgz"] = tgz({"x/wmt22/sources/de-en.txt": os.urandom(4 << 20)})
    seen: list[tuple[str, int, int]] = []
    found = official.fetch(
        "mt-metrics-eval",
        folder=tmp_path,
        given=f"{site.url}/v2.tgz",
        progress=lambda *said: seen.append(said),
    )
    assert found == ()  # its source is no text, which is said
    assert "cannot be read" in caplog.text
    size = len(site.files["/v2.tgz"])
    assert {stage for stage, _, _ in seen} == {"fetch", "unpack"}
    assert all(0 < done <= total == size for _, done, total in seen)


def test_two_addresses_of_one_name_are_kept_apart(site, tmp_path: Path) -> None:
    site.files |= {"/17/test.tgz": xml_archive(), "/18/test.tgz": xml_archive()}
    fetch(f"{site.url}/17/test.tgz", tmp_path / "one", given=None)
    fetch(f"{site.url}/18/test.tgz", tmp_path / "one", language_pairs=["de-en"])
    assert len(site.asked) == 2
    assert len({entry["file"] for entry in lock(tmp_path / "one").values()}) == 2


def test_a_damaged_record_is_named(site, tmp_path: Path) -> None:
    (tmp_path / "downloads").mkdir()
    for text in ("{", "[]", '{"version": 2, "files": {}}', '{"version": 1, "files": []}'):
        (tmp_path / "downloads" / "lock.json").write_text(text)
        with pytest.raises(
            FormatError, match=r"lock\.json: is no record of checksums of version 1"
        ):
            fetch(f"{site.url}/mini.tgz", tmp_path)


def test_an_unknown_name_is_answered_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'wmt22'\?.*an address"):
        official.fetch("wmt22x", folder=tmp_path)


def test_a_damaged_first_download_is_not_recorded_and_is_fetched_anew(site, tmp_path: Path) -> None:
    data = xml_archive()
    changed = bytearray(data)
    changed[len(data) // 2] ^= 4
    url, site.files["/mini.tgz"] = f"{site.url}/mini.tgz", bytes(changed)
    with pytest.raises(DataError, match=r"damaged or cut short.*renamed to .*not recorded"):
        fetch(url, tmp_path)
    assert not (tmp_path / "downloads" / "lock.json").exists()
    assert not (tmp_path / "mini").exists()
    site.files["/mini.tgz"] = data
    fetch(url, tmp_path)
    assert lock(tmp_path)[url]["sha256"] == hashlib.sha256(data).hexdigest()


def test_a_damaged_file_of_the_user_stays_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "mini.tgz"
    file.write_bytes(xml_archive()[:-4])
    with pytest.raises(DataError, match="damaged or cut short"):
        fetch("https://data.invalid/mini.tgz", tmp_path / "sets", given=file)
    assert file.exists()
    assert not (tmp_path / "sets" / "downloads" / "lock.json").exists()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
