"""What packages offer and their versions, against Python's own search."""

from __future__ import annotations

import importlib.metadata
import sys
from typing import TYPE_CHECKING

import pytest

from gnomon.core.plugins import entry_points, version_of

if TYPE_CHECKING:
    from pathlib import Path


def _installed(folder: Path, about: str = "own-1.0.dist-info") -> None:
    info = folder / about
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gnomon.things]\nown = own:thing\n")


@pytest.mark.parametrize("group", ["gnomon.things", "gnomon.metrics", "console_scripts"])
@pytest.mark.parametrize("offered", [False, True])
def test_what_packages_offer_is_what_python_finds(
    group: str, offered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if offered:
        _installed(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
    found = sorted(entry_points(group=group))
    assert found == sorted(importlib.metadata.entry_points(group=group))
    assert ("own" in [one.name for one in found]) == (offered and group == "gnomon.things")


def test_an_archive_or_a_finder_is_asked_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Finder:
        asked = 0

        @classmethod
        def find_spec(cls, *_: object) -> None:
            return None

        @classmethod
        def find_distributions(cls, *_: object) -> list[importlib.metadata.Distribution]:
            cls.asked += 1
            _installed(tmp_path / "elsewhere") if cls.asked == 1 else None
            about = tmp_path / "elsewhere" / "own-1.0.dist-info"
            return [importlib.metadata.Distribution.at(about)]

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert [one.name for one in entry_points(group="gnomon.things")] == ["own"]
    assert Finder.asked


def test_versions_are_those_of_python() -> None:
    for package in ("sacrebleu", "numpy"):
        assert version_of(package) == importlib.metadata.version(package)
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        version_of("no_such_package_at_all")
