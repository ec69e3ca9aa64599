"""From a download to a verdict, as docs/reference/learned.md has it, in an empty folder."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import gnomon as gn
from gnomon import example
from gnomon.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "learned.md"
_COMMIT = "2760a223ac957f30acfb18c8aa649b01cf1d75f2"


def _documented() -> Iterator[list[str]]:
    """The commands of gnomon's on the page, up to the verdict."""
    section = _PAGE.read_text(encoding="utf-8").split("## From a download to a verdict\n")[1]
    for line in re.findall(r"^\$ gnomon (.*)$", section.split("\n## ")[0], re.MULTILINE):
        yield shlex.split(line)


def _texts() -> None:
    testset = gn.TestSet.read(example.path()).select(segments=range(60))
    files = {
        "ref": next(iter(testset.references.values())),
        "src": testset.sources or (),
        **dict(zip(("sysA", "sysB"), testset.systems.values(), strict=False)),
    }
    for name, lines in files.items():
        Path(f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def fetched(cache: Path, name: str, source: Path, files: list[str]) -> None:
    """What ``hf download NAME`` leaves in the cache of the hub."""
    repository = cache / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(_COMMIT, encoding="utf-8")
    for file in files:
        target = repository / "snapshots" / _COMMIT / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / file, target)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and no scores of earlier runs."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GNOMON_SCORES_LIMIT")
    monkeypatch.delenv("GNOMON_ALLOW_DOWNLOADS", raising=False)
    return folder


def _encodings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    from gnomon.learned.encoder import MetricEncoder

    counts: list[int] = []
    padded = MetricEncoder.padded

    def counted(self: Any, sequences: Any) -> Any:
        counts.append(len(sequences))
        return padded(self, sequences)

    monkeypatch.setattr(MetricEncoder, "padded", counted)
    return counts


def test_the_commands_of_the_page_lead_from_the_hubs_cache_to_a_verdict(
    oracles: Path, empty: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hub = empty.parent / "hub"
    checkpoint = oracles / "regression" / "sparsemax"
    fetched(hub, "Unbabel/wmt22-comet-da", checkpoint, ["hparams.yaml", "checkpoints/model.ckpt"])
    encoder = oracles / "regression" / "encoder"
    fetched(hub, "xlm-roberta-large", encoder, ["config.json", "tokenizer.json"])
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    _texts()
    commands = list(_documented())
    assert [command[0] for command in commands] == ["setup", "compare", "list"]
    printed = []
    for command in commands:
        # this checkpoint's hyper-parameters name another encoder
        more = ["--encoder", "xlm-roberta-large"] if command[0] == "setup" else []
        assert main([*command, *more]) == 0
        printed.append(capsys.readouterr().out)
    setup, compare, models = printed
    assert "comet('Unbabel/wmt22-comet-da')" in setup
    first = compare.split("\n", 1)[0]
    assert re.search(r"sys[AB].* under COMET|sys[AB] is better than sys[AB]", first), first
    assert "origin:Unbabel/wmt22-comet-da@2760a223ac95" in compare
    assert "licence:Apache-2.0" in compare  # what is known of that name
    assert "wmt22-comet-da" in models
    counts = _encodings(monkeypatch)
    assert main(commands[1]) == 0
    assert sum(counts) == 0
    assert capsys.readouterr().out == compare


def test_a_folder_of_ones_own_does_as_well(
    oracles: Path, empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(oracles / "regression" / "sparsemax", empty / "wmt22-comet-da")
    card = "---\nlicense: apache-2.0\n---\n"
    (empty / "wmt22-comet-da" / "README.md").write_text(card, encoding="utf-8")
    shutil.copytree(oracles / "regression" / "encoder", empty / "xlm-roberta-large")
    _texts()
    assert main(["setup", "model", "wmt22-comet-da", "--encoder", "xlm-roberta-large"]) == 0
    assert "comet('wmt22-comet-da')" in capsys.readouterr().out
    outputs = []
    for name in ("wmt22-comet-da", "./wmt22-comet-da", str(empty / "wmt22-comet-da")):
        command = ["compare", "ref.txt", "-i", "sysA.txt", "sysB.txt", "-s", "src.txt"]
        assert main([*command, "-m", f"comet('{name}')", "-f", "json"]) == 0
        outputs.append(re.findall(r'"score": ([-0-9.e]+)', capsys.readouterr().out))
    assert outputs[0]
    assert outputs[0] == outputs[1] == outputs[2]
