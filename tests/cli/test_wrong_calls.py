"""Wrong calls, as people make them: a line that says what, where, what is allowed; no Python."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import gnomon as gn
from gnomon.cli.entry import parser

#: words of Python that no message of the command line needs
PYTHON = re.compile(
    r"Traceback|Errno|\w+Error\b|\bNone\b|\b(int|str|float|dict|tuple)\b|\[['\"]|\bargument|TestSet"
    r"|gnomon\.\w+\.\w|\w=\.\.\.|\b[a-z]+_[a-z]+=|\bpickle|[Uu]sage:|invalid \w+ value"
)


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """All commands that are no groups of commands."""
    waiting: list[tuple[str, argparse.ArgumentParser]] = [("", parser())]
    while waiting:
        path, one = waiting.pop()
        groups = [a for a in one._actions if isinstance(a, argparse._SubParsersAction)]
        if not groups:
            yield path.strip(), one
        for group in groups:
            waiting += [(f"{path} {name}", sub) for name, sub in group.choices.items()]


COMMANDS = dict(commands())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_number_of_every_command_says_what_it_takes(command: str, capsys) -> None:
    known = COMMANDS[command]
    for option in known._actions:
        wrong = {int: ["x", "", "1.5", "nan", "9" * 30], float: ["x", "", "nan"]}.get(option.type)
        for given in wrong or []:
            if option.dest == "seed" and given.isdigit():
                continue
            with pytest.raises(SystemExit) as stop:
                known.parse_args([f"{option.option_strings[-1]}={given}"])
            assert stop.value.code == 2
            said = capsys.readouterr().err
            assert said.startswith(f"gnomon: error: {'/'.join(option.option_strings)}: ")
            assert said.endswith(f"; see: gnomon {command} --help\n")
            assert not PYTHON.search(said)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_names_the_option_that_was_meant(command: str, capsys) -> None:
    with pytest.raises(SystemExit):
        COMMANDS[command].parse_args(["--qiet"])
    said = capsys.readouterr().err
    assert "did you mean --quiet?" in said or said.startswith("gnomon: error: missing: ")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["-tok", "zh"], "unknown option -tok; did you mean --tokenizer?"),
        (["-fjson"], "unknown option -fjson; did you mean -f json?"),
        (["-tz"], "unknown option -tz; did you mean -t z?"),
        (["-qq"], "unknown option -qq;"),
    ],
)
def test_a_word_after_one_dash_is_no_option_of_one_letter(
    given: list[str], meant: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["paraphrase", "coverage", str(files / "ref.txt"), "-i", str(files / "a.txt"), *given]
    with pytest.raises(SystemExit):
        parser(argv).parse_args(argv)
    assert meant in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "given"),
    [("compare", ["-j4"]), ("compare", ["-f=json"]), ("score", ["-tok", "zh"]), ("score", ["-sl"])],
)
def test_numbers_may_follow_a_letter_and_declared_words_a_dash(
    command: str, given: list[str]
) -> None:
    COMMANDS[command].parse_args(["ref.txt", "-i", "sys.txt", *given])


@pytest.fixture
def here(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be wrong in: three files of texts, a test set with judgements, and oddities."""
    monkeypatch.chdir(files)
    texts = {
        f"sys{k}": ["the cat sat", "a dog", "it was " + "late " * i] for i, k in enumerate("ABC")
    }
    made = gn.TestSet.from_lists(texts, texts["sysA"], name="set", language_pair="de-en")
    made.write("set")
    rows = [f"{name}\t{i}\t{i + 10 * len(name)}" for name in texts for i in (1, 2, 3)]
    Path("set/human").mkdir()
    Path("set/human/esa.seg.tsv").write_text("\n".join(["system\tseg\tesa", *rows, ""]), "utf-8")
    Path("ref.beam.1.txt").write_text("a cat sat\na dog\nit was late\n", "utf-8")
    Path("table.tsv").write_text("reference\ta\nthe cat\ta cat\n", "utf-8")
    Path("commas.tsv").write_text("reference,a\nthe cat,a cat\n", "utf-8")
    Path("empty").touch()
    Path("folder").mkdir()
    Path("binary").write_bytes(bytes(range(256)))
    return files


WRONG = """
2 | scor | did you mean 'score'? | there are: score, compare
2 | score | no references | -t DIR
2 | score -t set --formt json | unknown option --formt; did you mean --format?
2 | score -t set -f xml | -f/--format: unknown value 'xml' | text, json, tsv
2 | score -t set -b=3 | -b/--score-only: it takes no value
2 | score -t set -i | -i/--input: it takes one value or more
2 | list metrics more | 'more' is one value too many
2 | bmx | missing: COMMAND
2 | muler | or a test set with -t DIR
2 | score -t set -m bluo | unknown metric 'bluo'; did you mean 'bleu'?
2 | score -t set -m bleu( | cannot be read: at character 6
2 | score -t set -m bleu(x=1) | metric 'bleu' has no option 'x'; it takes: lowercase
2 | score -t set -m python('os:system') | allow it (--allow-code)
2 | score -t set -l english | de-en | got 'english'
2 | score -t set --systems sysc | did you mean 'sysC'? | sysA, sysB, sysC
2 | score -t set --references B | unknown reference 'B' | there are: A
2 | score -t set --first 9 | from 1 to 3
2 | score -t set --methods beam | --paraphrases FILE
2 | score -t set --paraphrases ref.beam.1.txt --methods bem | did you mean 'beam'?
1 | score -t missing | there is no file or directory missing
1 | score -t folder | folder holds no test set
1 | score -t empty | is of no known format of a test set
1 | score ref.txt -i folder | folder
1 | score set -i a.txt | is a directory | the folder of a test set is given with -t
2 | score ref.txt -i a.txt -m bleu,chrf | several metrics are separated by blanks
1 | score --table commas.tsv --reference-columns reference | look separated by ','
1 | score ref.txt -i binary | binary
1 | score ref.txt -i empty | ref.txt has 3 lines | empty has 0
1 | score -t set -o folder | cannot write folder | directory
1 | score -t set -o missing/x | cannot write missing/x | folder
1 | score --table table.tsv --system-columns b | unknown column or key 'b' | reference, a
1 | score --table table.tsv --reference-columns gold | or name it (--reference-columns reference)
2 | compare -t set --baseline sysD | unknown system (baseline) 'sysD'
2 | compare -t set --confidence 95 | --confidence: it must be a number, strictly between 0 and 1
2 | compare -t set --confidence 1e-320 | --confidence: it must be a number, strictly between 0 and 1
2 | compare -t set --by gender | length, score, check
2 | compare -t set --seed=-1 | 0 or more; got -1
2 | metaeval -t set --human da | unknown kind of human scores 'da'; there are: esa
2 | metaeval -t set --statistics kendall | did you mean 'kendall_
2 | metaeval -t set --top 1 | a number of systems from 2 on, or a share
1 | metaeval ref.txt -i a.txt b.txt | there are no human scores | add it (--human scores.tsv)
1 | metaeval -t set --human empty | (--human-format of gnomon metaeval
2 | muler -t set --features noun | did you mean 'pos:NOUN'?
2 | muler -t set --features lex:x | (--lexicon NAME=FILE)
2 | muler -t set --features re:x --pattern x=( | is not a regular expression
2 | bmx explain -t set --explainers limo | did you mean 'lime'?
2 | bmx explain -t set --segments 99 | segment 99 is not there; the test set has 1 to 3
2 | bmx tune -t set --test-on sets | unknown test set 'sets'
2 | difficulty score -t set -m difficulty(bleu,pool=['sysD']) | unknown system of the pool 'sysD'
2 | difficulty score -t set -m difficulty(difficulty(bleu)) | which is weighed already
2 | metaeval -t set --paraphrases ref.beam.1.txt --n 2 0 | 1 or more; got 0
2 | paraphrase generate -t set --method beam --save x.jsonl | --model FOLDER
2 | paraphrase codes --texts ref.txt --kind syntactic --save x | (-l en) | (--trees FILE.ptb)
1 | run missing.toml | there is no file missing.toml
2 | data list nosuch | unknown test set 'nosuch'
2 | data list -l xx-yy | unknown language pair of the published sets 'xx-yy'
2 | data convert set -o x --systems sysD | unknown system 'sysD'
2 | setup klingon | unknown language
"""


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_a_wrong_call_is_answered_in_words(gnomon: Callable, here: Path, line: str) -> None:
    code, command, *said = (part.strip() for part in line.split(" | "))
    before = sorted(path for path in here.rglob("*"))
    answer = gnomon(*command.split())
    assert (answer.code, answer.out) == (int(code), "")
    assert answer.err.startswith("gnomon: error: ")
    for words in said:
        assert words in answer.err
    assert not PYTHON.search(answer.err.replace("'os:system'", ""))
    assert sorted(path for path in here.rglob("*")) == before


def test_what_needs_more_memory_than_there_is_says_what_to_take_less_of(
    gnomon: Callable, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class EndlessArrayError(MemoryError):
        """As numpy raises it."""

        shape, dtype = (12, 125_000_000), np.dtype(float)

    def endless(*_: object, **__: object) -> object:
        raise EndlessArrayError

    monkeypatch.setattr("gnomon.comparison.system_comparison.figures", endless)
    answer = gnomon("compare", "-t", here / "set")
    assert answer.code == 1
    assert "not enough memory for this (11.2 GiB at once)" in answer.err
    assert "--resamples" in answer.err


REFUSED = [
    (["score", "ref.txt", "-i", "sys.txt", "--qiet"], 2, "error.usage", {}, {}),
    (["score", "ref.txt", "-i", "lost.txt"], 1, "error.missing_file", {}, {"files": ["lost.txt"]}),
    (["score", "--table", "t.jsonl"], 1, "error.format", {"line": 2}, {"files": ["t.jsonl"]}),
    (
        ["score", "ref.txt", "-i", "short.txt"], 1, "error.length_mismatch",
        {"counts": {"ref.txt": 2, "short.txt": 1}}, {},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("command", "status", "code", "params", "subjects"), REFUSED)
def test_programs_that_ask_for_json_get_what_is_refused_as_a_message(
    gnomon: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str],
    status: int, code: str, params: dict, subjects: dict,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for name, text in {"ref.txt": "a\nb\n", "sys.txt": "a\nb\n", "short.txt": "a\n"}.items():
        Path(name).write_text(text)
    Path("t.jsonl").write_text('{"reference": "a", "sys": "b"}\nnothing\n')
    answer = gnomon(*command, "-f", "json")
    (said,) = answer.json()["messages"]
    assert answer.code == status
    assert answer.json()["command"] == "score"
    assert answer.json()["rows"] == []
    assert answer.err == f"gnomon: error: {said['text']}\n"
    assert (said["code"], said["level"]) == (code, "error")
    assert (said["params"], said["subjects"]) == (params, subjects)
    assert gnomon(*command).out == ""


def test_what_may_mend_a_call_is_told_to_programs(gnomon: Callable, here: Path) -> None:
    (named,) = gnomon("score", "-t", here / "set", "-m", "blue", "-f", "json").json()["messages"]
    assert named["params"]["nearest"] == "bleu"
    assert "chrf" in named["params"]["known"]
    (said,) = gnomon(
        "muler", here / "ref.txt", "-i", here / "ref.txt", "--features", "pos:*", "-f", "json"
    ).json()["messages"]
    assert {"action": "add_option", "option": "labels", "value": "FILE"} in said["remedies"]
    assert said["params"] == {"kinds": "pos"}
