"""The parts of the benchmark for GPUs, on the CPU with a tiny model."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import gnomon as gn
from gnomon.models import load_encoder

torch = pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
TESTSET = gn.TestSet.from_lists(
    {"a": ["the cat sat .", "a dog"], "b": ["a cat sat", "the dog of the house"]},
    ["the cat sat on the mat .", "a dog"],
    language_pair="en",
)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("gpu_benchmark", FOLDER / "gpu.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "gpu_benchmark", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.verify
def test_without_a_gpu_it_says_so_and_ends_well() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    done = subprocess.run(
        [sys.executable, str(FOLDER / "gpu.py")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "no GPU here: nothing is measured\n"


def test_all_parts_run_and_make_a_table(gpu: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("bert_score", reason="the named peer: bert-score==0.3.13")
    shape = gpu.Shape(layers=2, width=16, heads=2, inner=32, vocabulary=40)
    lines = gpu.report(TESTSET, tmp_path, shape, "cpu", 1e12)
    figures = {line.split("|")[1].strip(): line.split("|")[2].strip() for line in lines[2:]}
    assert len(figures) == 8
    assert float(figures["fp32: largest difference from the CPU in fp32"]) == 0
    assert 0 < float(figures["bf16: largest difference from the CPU in fp32"]) < 0.05


def test_scores_of_the_peer_are_the_same(gpu: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("bert_score", reason="the named peer: bert-score==0.3.13")
    shape = gpu.Shape(layers=2, width=16, heads=2, inner=32, vocabulary=40)
    gpu.make_model(tmp_path, shape, list(TESTSET.batch().texts))
    found = gpu.ours(TESTSET, tmp_path, 2, "cpu", "fp32")
    np.testing.assert_allclose(found, gpu.peer(TESTSET, tmp_path, 2, "cpu")(), atol=1e-5)


def test_operations_are_those_that_torch_counts(gpu: ModuleType, tmp_path: Path) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    shape = gpu.Shape(layers=3, width=16, heads=2, inner=48, vocabulary=40)
    gpu.make_model(tmp_path, shape, ["the cat"])
    encoder = load_encoder(str(tmp_path), device="cpu")
    encoder.model.set_attn_implementation("eager")
    ids = np.full((2, 7), 5)
    with FlopCounterMode(display=False) as counter:
        encoder.hidden(ids, np.ones_like(ids, dtype=bool))
    assert shape.operations(np.array([7, 7])) == counter.get_total_flops()


@pytest.mark.parametrize(
    ("name", "peak"),
    [("NVIDIA H200", 989e12), ("NVIDIA H100 PCIe", 756e12), ("NVIDIA L40S", 362e12), ("X", None)],
)
def test_peaks_are_found_by_the_name_of_the_card(
    gpu: ModuleType, name: str, peak: float | None
) -> None:
    assert gpu.peak_of(name) == peak
