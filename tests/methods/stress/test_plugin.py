"""The example of a package that offers a perturbation, installed as users install it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import gnomon

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "plugin-perturbation"


def test_an_installed_package_offers_its_perturbation_by_name(tmp_path):
    copied = tmp_path / "package"
    for path in EXAMPLE.rglob("*"):
        if path.is_file() and "egg-info" not in str(path):
            target = copied / path.relative_to(EXAMPLE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(site), str(copied)], check=True)
    source = Path(gnomon.__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(source)])}

    def run(*arguments):
        made = subprocess.run(
            [sys.executable, "-m", "gnomon", *arguments, "-f", "json", "-q"],
            env=environment,
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        )
        return json.loads(made.stdout)

    listed = run("list", "perturbations")["rows"]
    (units,) = [row for row in listed if row["name"] == "units"]
    assert (units["phenomenon"], units["languages"], units["source"]) == (
        "wrong units",
        "en",
        "gnomon-units 1.0.0",
    )
    (tmp_path / "ref.txt").write_text("It is 5 km long.\nNothing here.\n")
    (tmp_path / "sys.txt").write_text("It has 5 km.\nNothing here.\n")
    found = run(
        *("stress", "ref.txt", "-i", "sys.txt", "-l", "en", "-m", "chrf", "--perturb", "units")
    )
    assert {(row["phenomenon"], row["pairs"]) for row in found["rows"]} == {("wrong units", 1)}
