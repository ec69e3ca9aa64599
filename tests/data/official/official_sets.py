"""Miniatures of published archives, with texts of our own."""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sacrebleu.dataset
import sacrebleu.dataset.base
import sacrebleu.utils
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.wmt_xml import WMTXMLDataset
from tests.data.formats.wmt_files import REFERENCE, SOURCES, small_set, to_sgml, to_xml

from gnomon.data.formats import write_test_set

if TYPE_CHECKING:
    import pytest


def tgz(members: dict[str, bytes]) -> bytes:
    """A compressed tar archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as packed:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def tgz_of(folder: Path, prefix: str) -> bytes:
    """A compressed tar archive of a folder."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return tgz({f"{prefix}/{f.relative_to(folder).as_posix()}": f.read_bytes() for f in files})


def md5(data: bytes) -> str:
    """As sacreBLEU's registry has it."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def sgml_archive() -> bytes:
    """The source and the reference of a set, as before 2021."""
    files = {
        "test/mini-deen-src.de.sgm": to_sgml(small_set(), "srcset", SOURCES),
        "test/mini-deen-ref.en.sgm": to_sgml(small_set(), "refset", REFERENCE),
    }
    return tgz({name: text.encode() for name, text in files.items()})


def xml_archive(text: str | None = None) -> bytes:
    """A set with outputs, as from 2021."""
    data = (text or to_xml(small_set())).encode()
    return tgz({"mini-systems-1.0/xml/mini.de-en.all.xml": data})


def register(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    name: str,
    urls: list[str],
    archives: list[bytes],
    *,
    xml: bool,
) -> Any:
    """Put a set into sacreBLEU's registry, and its data into a folder of the test."""
    monkeypatch.setattr(sacrebleu.utils, "SACREBLEU_DIR", str(folder))
    monkeypatch.setattr(sacrebleu.dataset.base, "SACREBLEU_DIR", str(folder))
    pairs: dict[str, Any] = {
        "de-en": ["test/mini-deen-src.de.sgm", "test/mini-deen-ref.en.sgm"],
    }
    if xml:
        pairs = {"de-en": ["mini-systems-1.0/xml/mini.de-en.all.xml"]}
    kind = WMTXMLDataset if xml else FakeSGMLDataset
    more = {"refs": ["A"]} if xml else {}
    dataset = kind(
        name,
        data=urls,
        md5=[md5(data) for data in archives],
        description="A small set.",
        langpairs=pairs,
        **more,
    )
    monkeypatch.setitem(sacrebleu.dataset.DATASETS, name, dataset)
    return dataset


def metrics_eval_folder(folder: Path) -> Path:
    """Two sets of mt-metrics-eval, as its archive has them, beside what gnomon does not read."""
    folder.mkdir(parents=True)
    root = folder / "mt-metrics-eval-v2"
    write_test_set(small_set(), folder / "one", layout="mt-metrics-eval")
    other = replace(small_set(), language_pair="fr-en")
    write_test_set(other, folder / "two", layout="mt-metrics-eval")
    for name in ("wmt22", "wmt23"):
        for part in ("one", "two"):
            for file in (folder / part).rglob("*"):
                target = root / name / file.relative_to(folder / part)
                if file.is_file():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(file.read_bytes())
        scores = root / name / "metric-scores" / "de-en" / "BLEU-A.sys.score"
        scores.parent.mkdir(parents=True)
        scores.write_text("alpha\t20.5\nbeta\t100\n")
        (root / name / "metric-outputs" / "de-en").mkdir(parents=True)
        (root / name / "metric-outputs" / "de-en" / "spans.jsonl").write_text("{}\n")
    return root
