import json
import tomllib
from pathlib import Path

import pytest

from gnomon.cli import main
from gnomon.core import registry
from gnomon.paraphrase import codes

_OPTIONS = ["-f", "json", "-q"]
_SMALL = {
    "vocabulary": 44,
    "dimensions": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "heads": 2,
    "feed_forward": 32,
    "dev": 10,
    "bleu_pairs": 1,
}


def _recipe(folder: Path, **more: object) -> str:
    """A file with the settings of a small model, and more of them."""
    path = folder / "recipe.toml"
    settings = (_SMALL | more).items()
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings)
    path.write_text(lines, encoding="utf-8")
    return str(path)


@pytest.fixture
def file(tmp_path: Path, rows: list[tuple[str, str]], tiny: dict[str, object]) -> str:
    path = tmp_path / "pairs.tsv"
    lines = (f"{a}\t{b}\n" for a, b in rows)
    path.write_text("".join(lines) + "same\tsame\n", encoding="utf-8")
    return str(path)


def test_the_command_trains_and_goes_on(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def train(steps: int, *more: str) -> int:
        recipe = _recipe(tmp_path, max_steps=steps)
        command = ["paraphrase", "train", recipe, "--pairs", file, "--save", f"{tmp_path}/m"]
        return main([*command, *more, *_OPTIONS])

    assert train(2) == 0
    assert train(3) == 2
    assert "--resume" in capsys.readouterr().err
    assert train(3, "--resume") == 0
    found = json.loads(capsys.readouterr().out)
    row = found["rows"][0]
    assert (row["steps"], row["stopped"]) == (3, "steps")
    assert {"filter": "copies", "dropped": 1} in found["tables"]["filters"]
    about = json.loads((tmp_path / "m" / "gnomon-paraphraser.json").read_text(encoding="utf-8"))
    assert about["codes"] == {"kind": None, "count": 0, "identity": None}


def _codes(folder: Path, k: int) -> str:
    """A folder of random codes, and the identity that it states."""
    made = codes.fit(["x"], encoder="random", k=k)
    made.save(folder)
    return made.identity


def test_codes_are_those_of_the_folder_that_they_lie_in(
    tmp_path: Path, rows: list[tuple[str, str]], tiny: dict[str, object]
) -> None:
    pairs, folder, model = tmp_path / "pairs.tsv", tmp_path / "codes", tmp_path / "m"
    pairs.write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")
    identity = _codes(folder, 5)
    file = folder / "pairs.codes.txt"
    codes.write_codes(file, [-1, *(i % 3 for i in range(1, len(rows)))])
    recipe = _recipe(tmp_path, max_steps=1)
    command = ["paraphrase", "train", recipe, "--pairs", str(pairs), "--codes", str(file)]
    assert main([*command, "--save", str(model), *_OPTIONS]) == 0
    about = json.loads((model / "gnomon-paraphraser.json").read_text(encoding="utf-8"))
    assert about["codes"] == {"kind": "random", "count": 5, "identity": identity}
    assert about["data"]["pairs"] == len(rows) - 1


def test_a_file_of_codes_that_is_in_no_folder_of_codes_is_refused(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.codes.txt").write_text("0\n", encoding="utf-8")
    command = ["paraphrase", "train", _recipe(tmp_path), "--pairs", file, "--save", f"{tmp_path}/m"]
    assert main([*command, "--codes", f"{tmp_path}/x.codes.txt", *_OPTIONS]) == 1
    assert "holds no codes.json" in capsys.readouterr().err


def test_a_recipe_that_is_written_is_read_and_says_the_defaults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "recipe.toml"
    with pytest.raises(SystemExit) as stop:
        main(["paraphrase", "train", "--write-recipe", str(recipe)])
    assert not stop.value.code
    chosen = registry.find("paraphrase.train")
    given = tomllib.loads(recipe.read_text(encoding="utf-8"))
    defaults = {name: chosen.options[name].default for name in chosen.recipe}
    assert given == {name: value for name, value in defaults.items() if value is not None}
    command = ["paraphrase", "train", str(recipe), "--pairs", "missing.tsv", "--save"]
    assert main([*command, f"{tmp_path}/m"]) == 1
    assert "missing.tsv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dimension = 8", "dimension: unknown key 'dimension'; did you mean 'dimensions'?"),
        ("dimensions = 'many'", "dimensions: must be a whole number, 1 or more; got 'many'"),
        ("dimensions = 0", "dimensions must be a whole number, 1 or more; got 0"),
        ("first_only = 1\nseed = -1", "has 2 errors"),
        ("stop_on = 'bleu'\ndev =", "recipe.toml:2: is not TOML"),
    ],
)
def test_what_is_wrong_with_a_recipe_is_said_with_its_key_or_line(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(text + "\n", encoding="utf-8")
    command = ["paraphrase", "train", str(recipe), "--pairs", "missing.tsv"]
    assert main([*command, "--save", f"{tmp_path}/m"]) == 1
    told = capsys.readouterr().err
    assert "recipe.toml" in told
    assert said in told
