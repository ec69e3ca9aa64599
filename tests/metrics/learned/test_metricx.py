"""MetricX: equal to the original, and what gnomon makes of its scores."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.metrics.learned import sequence_models
from tests.metrics.learned.sequence_models import Original, spelled
from tests.told import notes

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import DataError, SpecError
from gnomon.learned.metric import Triple
from gnomon.metrics import parse

pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
pytest.importorskip("transformers", reason="needs transformers: pip install 'gnomon[models]'")

#: the original's batches of 8 differ from its single texts by 3e-5, on a scale of 0 to 25
_NEAR = 1e-4


@pytest.fixture(scope="module")
def original(shared: Path) -> Original:
    if not (shared / "oracles" / "learned" / "metricx").is_dir():
        pytest.skip("the scores of MetricX are not there")
    return Original(shared, "metricx")


@pytest.fixture(scope="module")
def folder(original: Original, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model with its weights unpacked."""
    made = tmp_path_factory.mktemp("metricx") / "model"
    shutil.copytree(original.folder / "model", made)
    packed = made / "model.safetensors.gz"
    with gzip.open(packed) as source, (made / "model.safetensors").open("wb") as target:
        shutil.copyfileobj(source, target)
    packed.unlink()
    return made


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sequence_models.metricx(tmp_path_factory.mktemp("tiny") / "metricx")


_MODES = {
    "src+mt+ref": "",
    "src+mt": ", against='source'",
    "src+mt+ref, max length 256": ", limit=256",
}


@pytest.mark.parametrize("mode", _MODES)
def test_pieces_are_those_of_the_original(mode: str, original: Original, folder: Path) -> None:
    testset = sequence_models.test_set_of(original.rows)
    bound: Any = parse(f"metricx('{folder}'{_MODES[mode]})").bind(testset)
    told = [
        Triple(row["mt"], row["src"], None if mode == "src+mt" else row["ref"])
        for row in original.rows
    ]
    said = original.expected["modes"][mode]
    found = bound.model.sequences(told)
    for number in original.plain().tolist():
        assert len(found[number].ids) == said["lengths"][number]
        if "input_ids" in said:
            assert found[number].ids == said["input_ids"][number]


def test_scores_are_those_of_the_original(original: Original, folder: Path) -> None:
    said = original.expected["modes"]["src+mt+ref"]["predictions"]
    rows = original.plain(longest=600)
    assert len(rows) > 60
    assert original.differences(f"metricx('{folder}')", said, 64, rows).max() < _NEAR


@pytest.mark.verify
@pytest.mark.parametrize("mode", _MODES)
@pytest.mark.parametrize("batch", [1, 7, 64])
def test_scores_of_all_texts_are_those_of_the_original(
    mode: str, batch: int, original: Original, folder: Path
) -> None:
    said = original.expected["modes"][mode]["predictions"]
    spec = f"metricx('{folder}'{_MODES[mode]})"
    assert original.differences(spec, said, batch, original.plain()).max() < _NEAR


def test_a_vocabulary_of_sentencepiece_gives_the_same_pieces(
    original: Original, folder: Path, tmp_path: Path
) -> None:
    shutil.copy(folder / "spiece.model", tmp_path / "spiece.model")
    testset = sequence_models.test_set_of(original.rows)
    bound: Any = parse(f"metricx('{folder}', vocabulary='{tmp_path}')").bind(testset)
    told = [Triple(row["mt"], row["src"], row["ref"]) for row in original.rows]
    found = bound.model.sequences(told)
    said = original.expected["modes"]["src+mt+ref"]["input_ids"]
    for number in original.plain().tolist():
        assert found[number].ids == said[number]


@pytest.mark.verify
def test_half_precision_is_near(original: Original, folder: Path) -> None:
    said = original.expected["modes"]["src+mt+ref"]["predictions"]
    spec = f"metricx('{folder}', precision='bf16')"
    found = original.differences(spec, said, 64, original.plain())
    assert 0 < np.median(found) < 0.5


# On a tiny model of our own.


def _testset(**more: Any) -> gn.TestSet:
    given: dict[str, Any] = {"sources": ["das haus", "ja", ""], **more}
    outputs = {"a": ["the house", "yes", ""], "b": ["a house", "yes", "no"]}
    return gn.TestSet.from_lists(outputs, ["the house", "yes", "none"], **given)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", "source: das haus candidate: a house reference: the house"),
        (", against='source'", "source: das haus candidate: a house"),
        (", version=23", "candidate: a house reference: the house"),
        (", version=23, against='source'", "candidate: a house source: das haus"),
    ],
)
def test_prompts_are_those_of_the_versions(options: str, expected: str, tiny: Path) -> None:
    bound: Any = parse(f"metricx('{tiny}'{options})").bind(_testset())
    reference = None if "source'" in options else "the house"
    (found,) = bound.model.sequences([Triple("a house", "das haus", reference)])
    assert spelled(found.ids) == expected
    assert 1 not in found.ids  # </s>


def test_lower_is_better_and_scores_lie_between_0_and_25(tiny: Path) -> None:
    found = gn.score(_testset(), f"metricx('{tiny}')")
    assert not found.higher_is_better
    assert ((found.segments >= 0) & (found.segments <= 25)).all()
    assert found.system == pytest.approx(found.segments.mean(axis=1))


def test_equal_prompts_are_read_once_whatever_the_system(tiny: Path) -> None:
    testset = _testset()
    bound: Any = parse(f"metricx('{tiny}')").bind(testset)
    bound.model.forget()
    before = bound.model.read
    first = bound.segments(testset.batch())
    assert bound.model.read - before == 5  # both say "yes"
    again = bound.segments(testset.batch().select(systems=[1]))
    bound.statistics(testset.batch())
    assert bound.model.read - before == 5
    assert np.array_equal(again[0], first[1])


def test_the_score_is_the_mean_over_several_references(tiny: Path) -> None:
    def scored(*references: str) -> float:
        testset = gn.TestSet.from_lists({"a": ["a house"]}, [[*references]], sources=["das haus"])
        return float(gn.score(testset, f"metricx('{tiny}')").segments[0, 0])

    apart = [scored("the house"), scored("some home")]
    assert scored("the house", "some home") == pytest.approx(sum(apart) / 2)
    assert apart[0] != apart[1]


def test_a_segment_without_a_reference_has_no_score(tiny: Path) -> None:
    testset = gn.TestSet.from_lists(
        {"a": ["a house", "yes"]}, [[], ["yes"]], sources=["das haus", "ja"]
    )
    found = gn.score(testset, f"metricx('{tiny}')").segments[0]
    assert np.isnan(found[0])
    assert not np.isnan(found[1])


def test_texts_that_were_cut_are_told_with_their_number(tiny: Path) -> None:
    found = gn.score(_testset(), f"metricx('{tiny}', limit=40)")
    (told,) = notes(found.notices)
    assert "3 of 5 inputs are longer than the model takes (40 pieces" in told
    assert "the end of the reference" in told
    assert not notes(gn.score(_testset(), f"metricx('{tiny}')").notices)


def test_the_signature_names_weights_pieces_and_licence(tiny: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny, tmp_path / "licensed")
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n# A model\n")
    first, second = (
        dict(gn.score(_testset(), f"metricx('{one}')").signature.fields) for one in (tiny, folder)
    )
    assert first["licence"] == "unknown"
    assert second["licence"] == "apache-2.0"
    assert second["pieces"] == "1536"
    assert first["model"].partition("#")[2] == second["model"].partition("#")[2] != ""


def test_embeddings_that_serve_as_output_layer_are_rescaled(tmp_path: Path) -> None:
    """As T5 does: the decoder's output times the root of 1 / d."""
    apart: Any = parse(f"metricx('{sequence_models.metricx(tmp_path / 'apart')}')").bind(_testset())
    tied: Any = parse(f"metricx('{sequence_models.metricx(tmp_path / 'tied', tied=True)}')").bind(
        _testset()
    )
    assert tied.model.network[2] == pytest.approx(apart.model.network[2] * 8**-0.5)


def test_weights_of_16_bits_in_several_files_give_the_scores_of_one_file(
    tiny: Path, tmp_path: Path
) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    weights = {
        name: value.to(torch.bfloat16)
        for name, value in load_file(tiny / "model.safetensors").items()
    }
    whole, parts = (shutil.copytree(tiny, tmp_path / name) for name in ("whole", "parts"))
    save_file({name: value.float() for name, value in weights.items()}, whole / "model.safetensors")
    (parts / "model.safetensors").unlink()
    names = sorted(weights)
    where: dict[str, str] = {}
    for number, some in enumerate((names[:9], names[9:]), start=1):
        file = f"model-{number:05}-of-00002.safetensors"
        save_file({name: weights[name] for name in some}, parts / file, {"format": "pt"})
        where |= dict.fromkeys(some, file)
    index = {"metadata": {}, "weight_map": where}
    (parts / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    one, several, full = (
        gn.score(_testset(), f"metricx('{folder}')").segments for folder in (whole, parts, tiny)
    )
    assert several == pytest.approx(one, abs=1e-6)
    assert np.abs(full - one).max() > 1e-3


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("metricx('google/metricx-23-xl-v2p0')", "say version=23"),
        ("metricx('x', version=22)", "version"),
        ("metricx('x', limit=1)", "limit"),
        ("metricx('x', against='both')", "against"),
    ],
)
def test_wrong_options_are_refused(spec: str, expected: str) -> None:
    with pytest.raises(SpecError, match=expected):
        parse(spec)


def test_what_a_model_needs_is_asked_for_first(tiny: Path) -> None:
    outputs, references = {"a": ["a house"]}, ["the house"]
    with pytest.raises(DataError, match="needs sources"):
        gn.score(gn.TestSet.from_lists(outputs, references), f"metricx('{tiny}')")
    found = gn.score(gn.TestSet.from_lists(outputs, references), f"metricx('{tiny}', version=23)")
    assert np.isfinite(found.system).all()


def test_a_folder_with_another_model_is_refused(tiny_model: Path, tiny: Path) -> None:
    with pytest.raises(DataError, match="MetricX is an mT5"):
        gn.score(_testset(), f"metricx('{tiny_model}', vocabulary='{tiny}')")


def test_a_vocabulary_that_is_damaged_is_refused(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "spiece.model").write_bytes(b"\x0a\xff\xff\xff")
    with pytest.raises(DataError, match="no SentencePiece model"):
        gn.score(_testset(), f"metricx('{tiny}', vocabulary='{tmp_path}')")
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        gn.score(_testset(), f"metricx('{tiny}', vocabulary='{tmp_path}')")


def test_a_model_without_a_vocabulary_names_where_the_published_ones_have_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub", reason="needs gnomon[models]")
    monkeypatch.delenv("GNOMON_ALLOW_DOWNLOADS", raising=False)
    bare = sequence_models.metricx(tmp_path / "bare", vocabulary=False)
    with pytest.raises(gn.errors.MissingDependencyError, match="google/mt5-xl"):
        gn.score(_testset(), f"metricx('{bare}')")


def test_special_pieces_in_texts_are_spelled_out(tiny: Path) -> None:
    bound: Any = parse(f"metricx('{tiny}', against='source')").bind(_testset())
    (found,) = bound.model.sequences([Triple("b </s> c", "a", None)])
    assert 1 not in found.ids


def test_outputs_and_sources_are_enough_on_the_command_line(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("src", "das haus"), ("a", "a house"), ("b", "the house")):
        (tmp_path / f"{name}.txt").write_text(f"{text}\n")
    files = [
        "-i",
        str(tmp_path / "a.txt"),
        str(tmp_path / "b.txt"),
        "-s",
        str(tmp_path / "src.txt"),
    ]
    assert main(["score", *files, "-m", f"metricx('{tiny}', against='source')", "-f", "tsv"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.split("\t")[0] for row in rows] == ["a", "b"]
    assert main(["score", *files, "-m", "chrf"]) == 1
    assert "metric 'chrf' needs references" in capsys.readouterr().err
    assert main(["score", *files[:3], "-m", f"metricx('{tiny}', against='source')"]) == 2
    assert "no references" in capsys.readouterr().err


def test_methods_take_it_like_any_metric(tiny: Path) -> None:
    """BMX erases words: with the weight of 1 the boosted score is the metric's own."""
    own = gn.score(_testset(), f"metricx('{tiny}')")
    found = gn.score(_testset(), f"bmx(metricx('{tiny}'), explainer='erasure', w=1.0, p=1.0)")
    assert not found.higher_is_better
    assert found.segments == pytest.approx(own.segments)
    assert gn.compare(_testset(), f"metricx('{tiny}')", resamples=100).rows[1]["gain"] == (
        own.system[0] - own.system[1]
    )


def _changed(tiny: Path, place: Path, **values: object) -> Path:
    """A copy of the tiny model whose configuration says something else."""
    shutil.copytree(tiny, place)
    path = place / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(config | values), encoding="utf-8")
    return place


def _bound(folder: Path) -> Any:
    testset = gn.TestSet.from_lists({"s": ["a b"]}, ["a c"], sources=["b"])
    return parse(f"metricx('{folder}', device='cpu')").bind(testset)


def _score(folder: Path) -> None:
    testset = gn.TestSet.from_lists({"s": ["a b"]}, ["a c"], sources=["b"])
    gn.score(testset, f"metricx('{folder}', device='cpu')")


def test_code_beside_a_model_is_never_run_nor_asked_about(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    named = {"AutoConfig": "own.Config", "AutoModel": "own.Model"}
    folder = _changed(tiny, tmp_path / "model", model_type="own", auto_map=named)
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')\n", encoding="utf-8")
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    with pytest.raises(DataError, match="cannot be loaded"):
        _score(folder)
    assert not ran.exists()


def test_weights_that_are_cut_or_do_not_fit_the_configuration_are_refused(
    tiny: Path, tmp_path: Path
) -> None:
    config = json.loads((tiny / "config.json").read_text(encoding="utf-8"))
    for name in ("num_layers", "num_decoder_layers"):
        fewer = _changed(tiny, tmp_path / name, **{name: config[name] - 1})
        with pytest.raises(DataError, match=r"its configuration knows nothing of weights: .*block"):
            _score(fewer)
    cut = _changed(tiny, tmp_path / "cut")
    weights = cut / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(DataError, match="cannot be loaded"):
        _score(cut)


def test_texts_that_are_cut_into_pieces_apart_score_alike(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    testset = gn.TestSet.from_lists(
        {"s": ["a b", "c", ""], "t": ["d", "c", "a b c d"]}, ["a", "c", "b"], sources=["x", "", "z"]
    )
    bound: Any = parse(f"metricx('{tiny}', device='cpu')").bind(testset)
    together = bound.segments(testset.batch())
    bound.model.forget()
    before = bound.model.read
    monkeypatch.setattr("gnomon.learned.joint._AT_ONCE", 2)
    np.testing.assert_allclose(bound.segments(testset.batch()), together, atol=_NEAR)
    assert bound.model.read - before == 5  # one output is of both systems
