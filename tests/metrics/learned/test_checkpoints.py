"""Conversion of checkpoints: what comes of good ones, and what is refused of others."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gnomon.cli import main
from gnomon.core.errors import DataError, FormatError, GnomonError, MissingFileError, UsageError
from gnomon.learned.checkpoints import read_weights
from gnomon.learned.torch_weights import is_plain
from gnomon.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Callable

torch = pytest.importorskip("torch", reason="needs pip install 'gnomon[models]'")


@pytest.fixture
def checkpoint(oracles: Path, tmp_path: Path) -> Path:
    """A folder with a checkpoint of its own, and its encoder beside it."""
    place = oracles / "regression"
    for name in ("sparsemax", "encoder"):
        shutil.copytree(place / name, tmp_path / name)
    for path in tmp_path.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return tmp_path / "sparsemax"


def _convert(folder: Path, **options: str) -> Any:
    from gnomon.learned import convert

    return convert(str(folder), into=str(folder.parent / "converted"), **options)


def _content(folder: Path) -> dict[str, Any]:
    return torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)


def _save(folder: Path, content: object, **options: Any) -> None:
    torch.save(content, folder / "checkpoints" / "model.ckpt", **options)


def _hyper_parameters(folder: Path, **values: object) -> None:
    """Change hyper-parameters in the file and in the checkpoint."""
    import yaml

    path = folder / "hparams.yaml"
    path.write_text(
        yaml.safe_dump(yaml.safe_load(path.read_text(encoding="utf-8")) | values), encoding="utf-8"
    )
    content = _content(folder)
    content["hyper_parameters"] |= values
    _save(folder, content)


class _Code:
    """What runs a command when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        import os

        return os.system, (f"touch '{self.mark}'",)


def _refused(folder: Path, match: str) -> None:
    with pytest.raises(DataError, match=match):
        _convert(folder)
    assert not (folder.parent / "converted").exists()
    assert not list(folder.parent.glob(".converted*"))


def test_a_checkpoint_becomes_weights_configuration_and_vocabulary(checkpoint: Path) -> None:
    from safetensors.torch import load_file

    made = _convert(checkpoint)
    folder = made.folder.path
    assert {path.name for path in folder.iterdir()} == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    }
    state = _content(checkpoint)["state_dict"]
    weights = load_file(folder / "model.safetensors")
    assert all(torch.equal(weights[name], state[name]) for name in weights)
    assert (
        not set(state)
        - set(weights)
        - {
            "layerwise_attention.dropout_mask",
            "layerwise_attention.dropout_fill",
        }
    )
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert config["class"] == "regression_metric"
    assert config["encoder"]["hidden_size"] == 32
    assert config["origin"]["name"] == "sparsemax"
    assert len(config["origin"]["checkpoint"]) == 32
    assert "train_data" not in config["hyper_parameters"]


def test_the_format_before_torch_1_6_is_read(checkpoint: Path) -> None:
    first = _convert(checkpoint).folder.identity
    _save(checkpoint, _content(checkpoint), _use_new_zipfile_serialization=False)
    made = _convert(checkpoint)
    assert made.origin["checkpoint"]
    assert made.folder.identity != first  # it says of which file it is made
    assert parse(f"comet('{made.folder.path}')").needs == {"references", "sources"}


@pytest.mark.parametrize("zipped", [True, False])
def test_code_in_the_pickle_is_refused_by_its_name_and_does_not_run(
    checkpoint: Path, tmp_path: Path, zipped: bool
) -> None:
    mark = tmp_path / "ran"
    _save(
        checkpoint,
        _content(checkpoint) | {"callbacks": _Code(mark)},
        _use_new_zipfile_serialization=zipped,
    )
    named = r"names (posix|nt)\.system" if zipped else "holds something"
    _refused(checkpoint, f"{named}, which weights .* do not need")
    assert not mark.exists()


@pytest.mark.parametrize("protocol", [0, 1, 2, 4])
def test_a_bare_pickle_is_refused_and_does_not_run(
    checkpoint: Path, tmp_path: Path, protocol: int
) -> None:
    mark = tmp_path / "ran"
    path = checkpoint / "checkpoints" / "model.ckpt"
    path.write_bytes(pickle.dumps({"state_dict": _Code(mark)}, protocol=protocol))
    _refused(checkpoint, r"which weights .* do not need")
    assert not mark.exists()


def test_classes_of_other_packages_are_refused_by_name(checkpoint: Path) -> None:
    from argparse import Namespace

    content = _content(checkpoint)
    _save(checkpoint, content | {"hyper_parameters": Namespace(**content["hyper_parameters"])})
    _refused(checkpoint, r"names argparse\.Namespace")


def _forged(folder: Path, change: Callable[[bytes], bytes], name: str = "/data.pkl") -> None:
    """Write the archive again with one part changed."""
    path = folder / "checkpoints" / "model.ckpt"
    with zipfile.ZipFile(path) as archive:
        parts = [(one.filename, archive.read(one)) for one in archive.infolist()]
    with zipfile.ZipFile(path, "w") as archive:
        for own, data in parts:
            archive.writestr(own, change(data) if own.endswith(name) else data)


def test_values_that_are_claimed_and_not_there_are_refused(checkpoint: Path) -> None:
    content = {"state_dict": OrderedDict(weight=torch.zeros(977)), "hyper_parameters": {}}
    _save(checkpoint, content)
    huge = b"\x8a\x05" + (2_684_354_560).to_bytes(5, "little")  # ten gigabytes, as LONG1
    small = b"M" + (977).to_bytes(2, "little")

    def grown(data: bytes) -> bytes:
        assert data.count(small) == 2  # of the storage, and of the tensor
        return data.replace(small, huge)

    _forged(checkpoint, grown)
    _refused(checkpoint, "is no checkpoint of torch, or damaged")


def test_values_that_are_claimed_in_the_old_format_are_refused(checkpoint: Path) -> None:
    content = {"state_dict": OrderedDict(weight=torch.zeros(977)), "hyper_parameters": {}}
    _save(checkpoint, content, _use_new_zipfile_serialization=False)
    path = checkpoint / "checkpoints" / "model.ckpt"
    huge = b"\x8a\x05" + (2_684_354_560).to_bytes(5, "little")
    path.write_bytes(path.read_bytes().replace(b"M" + (977).to_bytes(2, "little"), huge))
    _refused(checkpoint, "is no checkpoint of torch, or damaged")


def test_a_tensor_that_repeats_few_values_many_times_is_refused(checkpoint: Path) -> None:
    content = _content(checkpoint)
    content["state_dict"]["estimator.ff.0.bias"] = torch.zeros(1).expand(10**12)
    _save(checkpoint, content)
    _refused(checkpoint, "claims more values than the 1 that it names")


def test_a_compressed_archive_is_refused(checkpoint: Path) -> None:
    path = checkpoint / "checkpoints" / "model.ckpt"
    with zipfile.ZipFile(path) as archive:
        parts = [(one.filename, archive.read(one)) for one in archive.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts:
            archive.writestr(name, data)
    _refused(checkpoint, "is compressed, which torch never writes")


def test_wrong_shapes_and_missing_weights_are_refused_by_name(checkpoint: Path) -> None:
    content = _content(checkpoint)
    state = content["state_dict"]
    whole = dict(state)
    state["estimator.ff.3.weight"] = torch.zeros(16, 41)
    _save(checkpoint, content)
    _refused(checkpoint, r"estimator\.ff\.3\.weight has the shape \(16, 41\).* ask for \(16, 40\)")
    del state["estimator.ff.3.weight"]
    _save(checkpoint, content)
    _refused(checkpoint, r"lacks 1 weights .* needs: estimator\.ff\.3\.weight")
    state["estimator.ff.3.weight"] = whole["estimator.ff.3.weight"]
    del state["encoder.model.encoder.layer.2.output.dense.weight"]
    _save(checkpoint, content)
    _refused(checkpoint, r"lacks 1 weights .*encoder\.layer\.2\.output\.dense\.weight")


def test_weights_that_the_class_does_not_have_are_refused(checkpoint: Path) -> None:
    content = _content(checkpoint)
    content["state_dict"]["estimator.ff.9.weight"] = torch.zeros(1, 1)
    _save(checkpoint, content)
    _refused(checkpoint, r"does not have: estimator\.ff\.9\.weight")


def test_hyper_parameters_without_an_end_are_refused(checkpoint: Path) -> None:
    own: list[Any] = []
    own.append(own)
    doubled: list[Any] = []
    for _ in range(40):
        doubled = [doubled, doubled]
    for value in (own, doubled):
        content = _content(checkpoint)
        content["hyper_parameters"]["seeds"] = value
        _save(checkpoint, content)
        _refused(checkpoint, "hyper-parameter 'seeds' holds lists more than 3 deep")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"encoder_model": ["XLM-RoBERTa"]}, "which gnomon does not compute"),
        ({"pretrained_model": "x" * 5000}, "name the encoder: encoder=FOLDER"),
        ({"pool": "mean"}, "pool is 'mean'; it is 'avg', 'max', 'cls' or 'default'"),
        ({"layer": 5}, "layer is 5; the encoder has layers 0 to 4"),
        ({"class_identifier": "ranking_metric"}, "'ranking_metric', which gnomon does not compute"),
        ({"encoder_model": "GPT"}, "encoder_model is 'GPT'"),
        ({"encoder_model": "RemBERT"}, "is of a model 'xlm-roberta'"),
        ({"layer": "all"}, "layer is 'all'"),
        ({"hidden_sizes": "many"}, "hidden_sizes is 'many'"),
        ({"pretrained_model": None}, "encoder=FOLDER"),
    ],
)
def test_hyper_parameters_that_cannot_be_are_refused_at_the_conversion(
    checkpoint: Path, values: dict[str, object], told: str
) -> None:
    _hyper_parameters(checkpoint, **values)
    _refused(checkpoint, told)


def test_hyper_parameters_may_hold_halves_of_characters(checkpoint: Path) -> None:
    content = _content(checkpoint)
    content["hyper_parameters"]["note"] = "a\ud800"
    _save(checkpoint, content)
    assert _convert(checkpoint).settings["note"] == "a?"


def test_a_vocabulary_that_is_none_is_refused_at_the_conversion(checkpoint: Path) -> None:
    (checkpoint.parent / "encoder" / "tokenizer.json").write_text("{}", encoding="utf-8")
    _refused(checkpoint, "the vocabulary cannot be read")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(checkpoint: Path, value: float) -> None:
    content = _content(checkpoint)
    content["state_dict"]["estimator.ff.3.bias"][2] = value
    _save(checkpoint, content)
    _refused(checkpoint, r"estimator\.ff\.3\.bias holds values that are not finite")


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "/home/someone/xlm-r", "../../encoder", "~/encoder", "C:\\models\\x"]
)
def test_an_encoder_by_a_path_of_somebodys_disk_is_not_followed(
    checkpoint: Path, name: str
) -> None:
    _hyper_parameters(checkpoint, pretrained_model=name)
    _refused(checkpoint, "by a path of somebody's disk .* encoder=FOLDER")
    assert _convert(checkpoint, encoder=str(checkpoint.parent / "encoder")).kind


def test_an_encoder_of_other_sizes_is_refused(checkpoint: Path) -> None:
    config = checkpoint.parent / "encoder" / "config.json"
    whole = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps(whole | {"num_hidden_layers": 10**9}), encoding="utf-8")
    _refused(checkpoint, "has 4 layers, and the configuration of its encoder 1000000000")
    config.write_text(json.dumps(whole | {"intermediate_size": 65}), encoding="utf-8")
    _refused(checkpoint, "ask for")
    config.write_text(json.dumps(whole | {"model_type": "gpt2"}), encoding="utf-8")
    _refused(checkpoint, "is of a model 'gpt2'")
    config.write_text("[" * 100_000, encoding="utf-8")
    _refused(checkpoint, "config.json")


def test_code_in_hyper_parameters_is_not_run(checkpoint: Path, tmp_path: Path) -> None:
    (checkpoint / "hparams.yaml").write_text(
        f"a: !!python/object/apply:os.system ['touch {tmp_path}/ran']\n", encoding="utf-8"
    )
    with pytest.raises(FormatError, match=r"hparams\.yaml: it cannot be read"):
        _convert(checkpoint)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"not a checkpoint", b"\x80\x02K\x01.", b"("])
def test_a_file_that_is_no_checkpoint_is_refused(checkpoint: Path, data: bytes) -> None:
    (checkpoint / "checkpoints" / "model.ckpt").write_bytes(data)
    _refused(checkpoint, r"model\.ckpt")


@pytest.mark.parametrize("file", ["sparsemax/checkpoints/model.ckpt", "encoder/tokenizer.json"])
def test_a_pointer_of_git_lfs_is_refused_as_such(checkpoint: Path, file: str) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 2277430912\n"
    (checkpoint.parent / file).write_text(pointer, encoding="utf-8")
    _refused(checkpoint, r"is a pointer of git LFS, not the file .* git lfs pull")
    (checkpoint.parent / file).write_bytes(b"")
    _refused(checkpoint, "is empty; fetch it again")


@pytest.mark.parametrize(
    "file",
    [
        "sparsemax/checkpoints/model.ckpt",
        "sparsemax/hparams.yaml",
        "encoder/config.json",
        "encoder/tokenizer.json",
    ],
)
@pytest.mark.parametrize("head", ["<!DOCTYPE html>", "\n<HTML lang='en'>"])
def test_a_page_that_was_fetched_in_place_of_a_file_is_refused_as_such(
    checkpoint: Path, file: str, head: str
) -> None:
    page = f"{head}<title>Sign in</title>"
    (checkpoint.parent / file).write_text(page, encoding="utf-8")
    _refused(checkpoint, r"is a web page \(HTML\).* hf download NAME .*hf auth login")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a0: &a0 {x: 1}\n" + "".join(
            f"a{n + 1}: &a{n + 1}\n  <<: [{', '.join(9 * [f'*a{n}'])}]\n" for n in range(30)
        ), "holds a merge key"),
        (f"a: {'9' * 5000}\n", "it cannot be read"),
        (f"a: 0x{'9' * 5000}\nclass_identifier: regression_metric\n", "more than 64 bits"),
        ("a: 2020-99-99\n", "it cannot be read"),
        ("a: 1\n" * 100_000, "more than 65536 bytes"),
    ],
)  # fmt: skip
def test_hyper_parameters_that_grow_or_are_no_numbers_are_refused(
    checkpoint: Path, text: str, match: str
) -> None:
    content = _content(checkpoint)
    del content["hyper_parameters"]
    _save(checkpoint, content)
    (checkpoint / "hparams.yaml").write_text(text, encoding="utf-8")
    _refused(checkpoint, match)


def test_hyper_parameters_that_hold_each_other_many_times_are_refused(checkpoint: Path) -> None:
    shared = [[0] * 1000] * 1000
    _hyper_parameters(checkpoint, seeds=[1] * 1000)
    content = _content(checkpoint)
    content["hyper_parameters"]["seeds"] = shared
    _save(checkpoint, content)
    _refused(checkpoint, "hyper-parameter 'seeds' holds lists .* more than 65536 values")


@pytest.mark.parametrize("file", ["encoder/config.json", "encoder/sentencepiece.bpe.model"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(checkpoint: Path, file: str) -> None:
    (checkpoint.parent / file).unlink()
    os.mkfifo(checkpoint.parent / file)
    with pytest.raises(DataError, match="is a pipe, a socket or a device"):
        _convert(checkpoint, encoder=str(checkpoint.parent / "encoder"))
    os.mkfifo(checkpoint / "config.json")
    with pytest.raises(DataError, match=r"config\.json is a pipe, a socket or a device"):
        is_plain(str(checkpoint), None)


def test_a_folder_that_needs_no_conversion_is_named(checkpoint: Path) -> None:
    made = _convert(checkpoint)
    with pytest.raises(DataError, match="is converted already: name the folder in the spec"):
        _convert(made.folder.path)
    weights = Path(made.folder.path) / "model.safetensors"
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    for content, told in (
        (b"", "is empty; fetch it"),
        (pointer.encode(), "is a pointer of git LFS"),
    ):
        weights.write_bytes(content)
        with pytest.raises(DataError, match=rf"model\.safetensors {told}"):
            _convert(made.folder.path)
    weights.unlink()
    with pytest.raises(DataError, match=r"holds no model\.safetensors"):
        _convert(made.folder.path)
    encoder = checkpoint.parent / "encoder"
    (encoder / "model.safetensors").write_bytes(b"weights")
    with pytest.raises(DataError, match=r"holds safetensors, .* there is nothing to convert"):
        _convert(encoder)


def test_a_damaged_file_is_refused_wherever_it_is_cut(checkpoint: Path) -> None:
    path = checkpoint / "checkpoints" / "model.ckpt"
    whole = path.read_bytes()
    for share in (0.1, 0.5, 0.9, 0.999):
        path.write_bytes(whole[: int(share * len(whole))])
        _refused(checkpoint, r"model\.ckpt")


def test_a_folder_of_other_things_is_not_written_over(checkpoint: Path) -> None:
    target = checkpoint.parent / "converted"
    target.mkdir()
    (target / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(UsageError, match="holds files that gnomon did not write"):
        _convert(checkpoint)
    assert (target / "thesis.txt").read_text(encoding="utf-8") == "years of work"
    (target / "thesis.txt").unlink()
    assert _convert(checkpoint).kind == _convert(checkpoint).kind == "regression_metric"


def _models_of_a_user(target: Path) -> dict[str, str]:
    """Files of the names that a conversion has, and a vocabulary, by somebody else."""
    mine = {"config.json": '{"model_type": "bert"}', "model.safetensors": "mine"}
    target.mkdir()
    for name, text in mine.items():
        (target / name).write_text(text, encoding="utf-8")
    return mine


def test_a_folder_of_another_model_is_not_replaced(checkpoint: Path) -> None:
    target = checkpoint.parent / "converted"
    mine = _models_of_a_user(target)
    with pytest.raises(UsageError, match="holds files that gnomon did not write, which stay"):
        _convert(checkpoint)
    (target / "config.json").unlink()  # weights alone
    with pytest.raises(UsageError, match="holds files that gnomon did not write, which stay"):
        _convert(checkpoint)
    assert (target / "model.safetensors").read_text(encoding="utf-8") == mine["model.safetensors"]


@pytest.mark.parametrize("step", ["write_text", "save_file", "replace_folder"])
def test_a_conversion_that_is_stopped_leaves_the_earlier_one(
    checkpoint: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import safetensors.torch

    from gnomon.learned import weights

    made = _convert(checkpoint).folder
    before, identity = made.path, made.identity

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    owner = {"write_text": Path, "save_file": safetensors.torch, "replace_folder": weights}[step]
    with monkeypatch.context() as patch:
        patch.setattr(owner, step, stopped)
        with pytest.raises(KeyboardInterrupt):
            _convert(checkpoint)
    assert sorted(one.name for one in checkpoint.parent.iterdir()) == [
        "converted",
        "encoder",
        "sparsemax",
    ]
    from gnomon.learned import find_learned

    assert find_learned(str(before)).folder.identity == identity


def test_the_folder_of_the_checkpoint_stays_as_it_is(
    checkpoint: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(checkpoint.rglob("*"))
    assert main(["setup", "model", str(checkpoint), "--into", str(checkpoint)]) == 2
    assert "is the folder of the checkpoint itself" in capsys.readouterr().err
    assert sorted(checkpoint.rglob("*")) == before
    # in the folder where the checkpoint lies, its name leads to what was converted
    monkeypatch.chdir(checkpoint.parent)
    assert main(["setup", "model", "sparsemax"]) == 0
    assert "comet('sparsemax')" in capsys.readouterr().out
    assert parse("comet('sparsemax')").needs == {"references", "sources"}


def test_every_way_to_name_the_folder_of_a_checkpoint_leads_to_what_was_converted(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkpoint.parent)
    names = ["sparsemax", "sparsemax/", "./sparsemax", str(checkpoint)]
    for name in names[1:]:
        with pytest.raises(DataError, match=f"convert it once with: gnomon setup model {name}"):
            parse(f"comet('{name}')").needs  # noqa: B018  # read from the folder
    assert main(["setup", "model", "sparsemax/"]) == 0
    for name in names:
        assert parse(f"comet('{name}')").needs == {"references", "sources"}
    monkeypatch.chdir(checkpoint)
    assert parse("comet('.')").needs == {"references", "sources"}
    # another checkpoint in a folder of the same name was not converted
    other = checkpoint.parent / "other" / "sparsemax"
    shutil.copytree(checkpoint, other)
    with (other / "checkpoints" / "model.ckpt").open("ab") as file:
        file.write(b"another")
    with pytest.raises(DataError, match="convert it once"):
        parse(f"comet('{other}')").needs  # noqa: B018  # likewise


def test_two_checkpoints_of_one_name_are_told_apart(
    checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from gnomon.learned import find_learned

    other = checkpoint.parent / "other" / "sparsemax"
    shutil.copytree(checkpoint, other)
    content = _content(other)
    name = next(iter(content["state_dict"]))
    content["state_dict"][name] = content["state_dict"][name] + 1
    _save(other, content)
    encoder = str(checkpoint.parent / "encoder")
    assert main(["setup", "model", str(checkpoint), "--encoder", encoder]) == 0
    first = find_learned("sparsemax").folder.identity
    assert main(["setup", "model", str(checkpoint), "--encoder", encoder]) == 0
    assert main(["setup", "model", str(other), "--encoder", encoder]) == 2
    said = capsys.readouterr().err
    assert "converted from another checkpoint of the same name, 'sparsemax'" in said
    assert "--into FOLDER" in said
    assert find_learned("sparsemax").folder.identity == first


def test_the_licence_is_the_one_that_the_folder_tells(checkpoint: Path) -> None:
    text = "---\nlicense: cc-by-nc-sa-4.0\nlanguage: [en]\n---\n# A metric\n"
    (checkpoint / "README.md").write_text(text, encoding="utf-8")
    made = _convert(checkpoint)
    assert made.licence == "cc-by-nc-sa-4.0"
    assert made.signature_fields["licence"] == "cc-by-nc-sa-4.0"


def test_the_command_converts_and_says_how_specs_name_the_metric(
    checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["setup", "model", str(checkpoint), "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["spec"] == "comet('sparsemax')"
    assert parse(row["spec"]).needs == {"references", "sources"}
    assert Path(row["folder"]).is_dir()
    assert main(["list", "models", "--format", "json"]) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)["rows"]}
    assert listed["sparsemax"]["kind"] == "learned metric"
    assert listed["sparsemax"]["used by"] == "comet('sparsemax')"
    assert listed["sparsemax"]["licence"] == "unknown"


def test_what_was_changed_after_the_conversion_is_another_model(checkpoint: Path) -> None:
    made = _convert(checkpoint)
    path = made.folder.path / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(config | {"format": "something else"}), encoding="utf-8")
    with pytest.raises(DataError, match="says format 'something else'"):
        parse(f"comet('{made.folder.path}')").needs  # noqa: B018  # read from the folder
    (made.folder.path / "tokenizer.json").unlink()
    with pytest.raises(DataError, match=r"holds no tokenizer\.json"):
        parse(f"comet('{made.folder.path}')").needs  # noqa: B018  # likewise


def test_a_folder_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    from gnomon.learned import convert

    with pytest.raises(MissingFileError):
        convert(str(tmp_path / "nothing"))
    with pytest.raises(DataError, match=r"holds no checkpoints/model\.ckpt"):
        convert(str(tmp_path))


@pytest.mark.parametrize("name", ["collections Counter", "torch._utils _rebuild_parameter"])
def test_a_pickle_changes_nothing_of_what_it_names(name: str, tmp_path: Path) -> None:
    # names a class or a function, and sets an attribute of it: state (None, {"update": 1})
    module, _, what = name.partition(" ")
    data = f"c{module}\n{what}\n".encode() + b"(N}(Vupdate\nI1\nutb."
    path = tmp_path / "pytorch_model.bin"
    path.write_bytes(b"\x80\x02" + data)
    with pytest.raises(GnomonError):
        read_weights(path)
    assert Counter("aab") == {"a": 2, "b": 1}
