"""The bundle that draws the charts of pages is the one whose versions are written beside it."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path

_FOLDER = resources.files("gnomon.report") / "static" / "vendor"
_PINNED = Path(__file__).resolve().parents[2] / "scripts" / "vendor" / "package.json"


def test_the_bundle_has_its_checksum_versions_and_licences() -> None:
    about = json.loads((_FOLDER / "vega.json").read_text("utf-8"))
    script = (_FOLDER / "vega.js").read_bytes()
    assert hashlib.sha256(script).hexdigest() == about["sha256"]
    assert b"</script" not in script
    for name, version in json.loads(_PINNED.read_text("utf-8"))["dependencies"].items():
        assert f"{name}@{version} BSD-3-Clause" in about["packages"]
    licences = (_FOLDER / "LICENSES.txt").read_text("utf-8")
    assert all(package in licences for package in about["packages"])
