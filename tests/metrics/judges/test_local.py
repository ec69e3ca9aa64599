"""Judges without a server: probabilities of answers, against those that torch gives directly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import DataError, MissingFileError, UsageError
from gnomon.judges.local import AnswerForm, LocalJudge, answer_form
from gnomon.judges.rubric_files import find_rubric
from gnomon.metrics import parse
from gnomon.models import load_causal

if TYPE_CHECKING:
    from gnomon.judges.metric import BoundChatJudge

_REASON = "needs torch and transformers: pip install 'gnomon[models]'"
torch = pytest.importorskip("torch", reason=_REASON)
transformers = pytest.importorskip("transformers", reason=_REASON)
tokenizers = pytest.importorskip("tokenizers", reason=_REASON)

_TEMPLATE = (
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
_NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    + _TEMPLATE
)


def _causal(
    folder: Path,
    *,
    merges: int = 0,
    template: str | None = None,
    positions: int = 4096,
    end: str | None = None,
) -> Path:
    """A Llama of two layers with random weights that reads bytes, and pairs of them."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pairs = [("1", "0"), ("10", "0"), ("Ġ", "1"), (":", "Ġ"), ("7", "5"), ('"', "f")][:merges]
    vocabulary = {piece: n for n, piece in enumerate(["<s>", *letters, *(a + b for a, b in pairs)])}
    tokenizer = Tokenizer(models.BPE(vocabulary, pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    fast.chat_template = template
    fast.eos_token = end
    fast.save_pretrained(folder)
    torch.manual_seed(merges)
    config = transformers.LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        initializer_range=0.1,
        bos_token_id=0,
        eos_token_id=0,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=[0, 2, 6])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _causal(tmp_path_factory.mktemp("causal") / "tiny", merges=request.param)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _causal(tmp_path_factory.mktemp("causal") / "tiny", merges=2)


def _directly(folder: Path, prompt: str, answers: list[str]) -> np.ndarray:
    """Log-probabilities of answers, each text read alone from its beginning to its end."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    texts = [tokenizer(prompt + answer)["input_ids"] for answer in answers]
    before = tokenizer(prompt)["input_ids"]
    shared = 0
    while all(len(ids) > shared + 1 and ids[: shared + 1] == before[: shared + 1] for ids in texts):
        shared += 1
        if shared == len(before):
            break
    sums = []
    for ids in texts:
        with torch.no_grad():
            steps = model(torch.tensor([ids])).logits[0].double().log_softmax(dim=-1)
        sums.append(sum(float(steps[n - 1, ids[n]]) for n in range(shared, len(ids))))
    return np.array(sums)


def test_probabilities_of_answers_are_those_of_the_whole_texts(folder: Path) -> None:
    answers = [f" {n}}}" for n in range(101)]
    model = load_causal(str(folder), device="cpu")
    lengths = {len(model.tokenizer(answer)["input_ids"]) for answer in answers}
    assert len(lengths) > 1  # 7, 10 and 100 have other numbers of pieces
    prompt = 'How good is it? {"score":'
    logs = model.answer_log_probabilities(prompt, answers)
    np.testing.assert_allclose(logs, _directly(folder, prompt, answers), atol=1e-4)


def test_answers_of_one_piece_and_answers_that_are_alike_to_the_end(tiny: Path) -> None:
    model = load_causal(str(tiny), device="cpu")
    for answers in (["a", "b"], ["first", "firth"], ["10", "100"]):
        logs = model.answer_log_probabilities("Which? ", answers)
        np.testing.assert_allclose(logs, _directly(tiny, "Which? ", answers), atol=1e-4)


def test_models_without_a_memory_of_the_prompt_give_the_same(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load_causal(str(tiny), device="cpu")
    answers = [f" {n}}}" for n in range(0, 101, 5)]
    logs = model.answer_log_probabilities("Well:", answers)
    from transformers import cache_utils

    monkeypatch.delattr(cache_utils.Cache, "batch_repeat_interleave")
    np.testing.assert_allclose(model.answer_log_probabilities("Well:", answers), logs, atol=1e-5)


def test_other_answers_change_no_probability(tiny: Path) -> None:
    model = load_causal(str(tiny), device="cpu")
    every = model.answer_log_probabilities("Well:", [f" {n}}}" for n in range(40)])
    few = model.answer_log_probabilities("Well:", [f" {n}}}" for n in (3, 17)])
    assert every is not None
    np.testing.assert_allclose(few, every[[3, 17]], atol=1e-6)


def test_a_score_is_the_expectation_and_a_choice_the_most_probable_answer() -> None:
    scale = AnswerForm("score", ("0", "50", "100"), (0.0, 50.0, 100.0))
    said = json.loads(scale.answer(np.log([0.1, 0.1, 0.2]).tolist()))
    assert said["score"] == pytest.approx((0.1 * 50 + 0.2 * 100) / 0.4)
    assert said["probability"] == pytest.approx(0.4)
    choice = answer_form(find_rubric("pairwise"))
    assert choice.begin + choice.ends()[0] == '{"better": "first"}'
    said = json.loads(choice.answer(np.log([0.1, 0.3, 0.1]).tolist()))
    assert said["better"] == "second"
    assert said["probabilities"] == pytest.approx({"first": 0.2, "second": 0.6, "tie": 0.2})
    assert json.loads(choice.answer(np.log([0.3, 0.3, 0.1]).tolist()))["better"] == "tie"


def test_the_answers_of_a_scale_are_its_whole_numbers_or_even_steps() -> None:
    form = answer_form(find_rubric("gemba-da"))
    assert (form.answers[0], form.answers[-1], len(form.answers)) == ("0", "100", 101)
    assert form.begin + form.ends()[10] == '{"score": 10}'
    form = answer_form(find_rubric("summary-fluency"))
    assert form.answers == ("1", "2", "3", "4", "5")


def test_plain_answers_are_asked_for_as_plain_text(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'answer = "score"\nreply = "plain"\nscale = [0, 4]\n'
        'question = "How good is {candidate}?"\n',
        encoding="utf-8",
    )
    form = answer_form(find_rubric(str(file)))
    assert (form.begin, form.ends()[-1]) == ("", "4\n")
    assert form.values == (0, 1, 2, 3, 4)
    bound: Any = parse(_spec(tiny, str(file))).bind(_testset())
    wanted = _expected(tiny, bound, {"candidate": "Das Haus."}, str(file))
    assert bound.segments(_testset().batch())[0, 0] == pytest.approx(wanted, abs=1e-4)
    assert 0 < wanted < 4
    assert not any(
        "cannot be read" in notice for notice in notes(bound.notices(_testset().batch()))
    )
    chat = _causal(tmp_path / "chat", template=_TEMPLATE, end="<s>")
    bound = parse(_spec(chat, str(file))).bind(_testset())  # its answers end as its turns do
    assert np.isfinite(bound.segments(_testset().batch())).all()


def test_a_scale_of_fractions_is_asked_in_even_steps(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'answer = "score"\nquestion = "How good is {candidate}?"\nscale = [0, 1000]\n',
        encoding="utf-8",
    )
    assert answer_form(find_rubric(str(file))).answers[:3] == ("0", "50", "100")
    file.write_text(
        'answer = "score"\nquestion = "How good is {candidate}?"\nscale = [0.5, 1.5]\n',
        encoding="utf-8",
    )
    assert answer_form(find_rubric(str(file))).answers[1] == "0.55"


def _testset() -> gn.TestSet:
    return gn.TestSet.from_lists(
        {"a": ["Das Haus.", "Der Hund."], "b": ["Das Haus.", "Die Katze."]},
        ["The house.", "The dog."],
        sources=["La casa.", "El perro."],
        language_pair="es-de",
    )


def _spec(folder: Path, rubric: str = "gemba-da", more: str = "") -> str:
    return f"judge('{rubric}', model='{folder}'{more})"


def _expected(folder: Path, judge: Any, texts: dict[str, str], rubric: str) -> float:
    """The expected score of a text, computed from whole texts."""
    form = answer_form(find_rubric(rubric))
    sample = judge.metric.question(judge.question_about(texts))
    prompt = f"{sample.system}\n\n{sample.user}\n\n{form.begin}"
    logs = _directly(folder, prompt, list(form.ends()))
    shares = np.exp(logs - logs.max())
    return float(shares @ np.array(form.values) / shares.sum())


def test_scores_are_expected_scores_and_are_kept(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    testset = _testset()
    bound: Any = parse(_spec(tiny, "summary-fluency")).bind(testset)
    scores = bound.segments(testset.batch())
    for k, texts in enumerate(testset.systems.values()):
        for i, text in enumerate(texts):
            every = {"candidate": text, "source": (testset.sources or ())[i] or ""}
            wanted = _expected(tiny, bound, every, "summary-fluency")
            assert scores[k, i] == pytest.approx(wanted, abs=1e-4)
    assert scores[0, 0] == scores[1, 0] != scores[1, 1]
    assert bound.client.counts == {"kept": 0, "asked": 3}
    assert bound.client.model.scored >= 3
    again: Any = parse(_spec(tiny, "summary-fluency")).bind(testset)
    monkeypatch.setattr("gnomon.models.load_causal", None)  # nothing is read again
    np.testing.assert_array_equal(again.segments(testset.batch()), scores)
    assert again.client.counts == {"kept": 3}
    assert str(again.signature) == str(bound.signature)


def test_a_changed_file_of_the_model_is_asked_anew(tmp_path: Path) -> None:
    folder, testset = _causal(tmp_path / "one"), _testset()

    def asked(place: Path) -> int:
        bound: Any = parse(_spec(place, "summary-fluency")).bind(testset)
        bound.segments(testset.batch())
        assert not any(
            "other systems" in notice for notice in notes(bound.notices(testset.batch()))
        )
        return int(bound.client.counts["asked"])

    assert asked(folder) == 3
    moved = folder.rename(tmp_path / "two")
    assert asked(moved) == 0  # the same files
    config = json.loads((moved / "config.json").read_text(encoding="utf-8"))
    (moved / "config.json").write_text(json.dumps(config | {"rms_norm_eps": 1e-4}), "utf-8")
    assert asked(moved) == 3
    (moved / "chat_template.jinja").write_text(_TEMPLATE, "utf-8")
    assert asked(moved) == 3


@pytest.mark.parametrize("template", [_TEMPLATE, _NO_SYSTEM])
def test_a_model_with_a_chat_template_reads_messages(tmp_path: Path, template: str) -> None:
    folder = _causal(tmp_path / "chat", template=template)
    bound: Any = parse(_spec(folder, "summary-fluency")).bind(_testset())
    question = bound.metric.question("Is it good?")
    prompt, special = bound.client._prompt(question)
    system = question.system
    wanted = f"<system>{system}<user>Is it good?" if template == _TEMPLATE else (
        f"<user>{system}\n\nIs it good?"
    )  # fmt: skip
    assert (prompt, special) == (f'{wanted}<assistant>{{"score":', False)
    assert np.isfinite(bound.segments(_testset().batch())).all()


def test_texts_beyond_the_model_have_no_score_and_are_counted(tmp_path: Path) -> None:
    folder = _causal(tmp_path / "short", positions=64)
    bound: Any = parse(_spec(folder)).bind(_testset())
    assert np.isnan(bound.segments(_testset().batch())).all()
    assert any(
        "could not be asked" in notice for notice in notes(bound.notices(_testset().batch()))
    )


def test_who_answers_stands_in_the_signature_and_what_else_it_would_say_is_told(
    tiny: Path,
) -> None:
    bound: BoundChatJudge = parse(_spec(tiny)).bind(_testset())  # type: ignore[assignment]  # of this spec
    fields = dict(bound.signature.fields)
    assert fields["answers"] == bound.client.identity().model
    assert fields["answers"].startswith("tiny#")
    assert fields["system"] == "probabilities of answers"
    assert str(tiny) not in str(bound.signature)  # anywhere the same
    (told,) = [one for one in notes(bound.notices(_testset().batch())) if "probability" in one]
    assert "it would mostly say something else" in told


def test_pairs_are_compared_by_the_probability_of_each_answer(tiny: Path) -> None:
    finding = gn.compare(_testset(), _spec(tiny, "pairwise"), examples=0, ngrams=0)
    assert [row["segments"] for row in finding.rows] == [2, 2]
    assert not any("cannot be read" in notice for notice in notes(finding.notices))
    assert finding.verdict


def test_methods_take_it_as_any_metric(tiny: Path, tmp_path: Path) -> None:
    spec = _spec(tiny, "summary-fluency")
    assert gn.compare(_testset(), spec, resamples=20).verdict
    assert gn.judges.reliability(_testset(), spec, injections=0).tables
    (tmp_path / "ref.txt").write_text("The house.\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("Das Haus.\n", encoding="utf-8")
    files = [str(tmp_path / "ref.txt"), "-i", str(tmp_path / "a.txt"), "-s"]
    assert main(["score", *files, str(tmp_path / "ref.txt"), "-m", spec]) == 0


def test_a_dry_run_says_how_many_answers_are_then_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = _causal(tmp_path / "tiny", merges=2)
    computed: list[str] = []
    answer = LocalJudge._answer

    def counted(self: LocalJudge, question: Any) -> Any:
        computed.append(question.user)
        return answer(self, question)

    monkeypatch.setattr(LocalJudge, "_answer", counted)
    monkeypatch.chdir(tmp_path)
    same, others = "Ein altes Haus steht am Rand der Stadt.", ("Der Hund schläft im Garten.", "Ja.")
    for name, other in zip("ab", others, strict=True):
        Path(f"{name}.txt").write_text(f"{same}\n{other}\n", encoding="utf-8")
    data = ["a.txt", "-i", "a.txt", "b.txt", "-s", "b.txt", "-l", "en-de", "-m"]
    fluency = _spec(model, "summary-fluency")
    relevance = _spec(model, "summary-relevance")
    every = [
        (["score", *data[:3], *data[4:], fluency], 2, 0),
        (["score", *data, fluency], 1, 2),
        (["compare", *data, fluency, "--resamples", "20"], 0, 3),
        (["stress", *data, fluency, "--perturb", "cut"], None, 2),
        (["judges", "reliability", *data, fluency, "--injections", "1"], None, 3),
        (["compare", *data, _spec(model, "pairwise")], 2, 0),
        (["judges", "reliability", *data, fluency, relevance, "--injections", "0"], 3, 3),
    ]
    for command, new, kept in every:
        capsys.readouterr()
        assert main([*command, "--dry-run", "-f", "json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        assert not computed, command
        assert main(command) == 0
        assert row["requests"] == len(computed), command
        assert new in (None, len(computed)), command
        assert row["kept"] == kept, command
        computed.clear()
    assert main([*every[0][0], "--dry-run"]) == 0
    said = "Nothing was asked. 0 answers would be computed here; 2 answers are on disk already"
    assert said in capsys.readouterr().out


def test_no_reasons_are_asked_for(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'answer = "score"\nquestion = "How good is {candidate}?"\nscale = [0, 3]\nreasons = true\n',
        encoding="utf-8",
    )
    judge: Any = parse(_spec(tiny, str(file)))
    assert "reasons" not in judge.question("").system
    assert "reasons" in find_rubric(str(file)).instructions()


def test_what_a_folder_cannot_do_is_refused(tiny: Path) -> None:
    with pytest.raises(
        UsageError, match="'gemba-mqm' asks for errors, or in two turns; a model in a folder"
    ):
        gn.score(_testset(), _spec(tiny, "gemba-mqm"))
    for option in ("repeats=2", "temperature=1.0", "max_tokens=5", "seed=3"):
        name = option.partition("=")[0]
        with pytest.raises(UsageError, match=f"leave out {name}="):
            gn.score(_testset(), _spec(tiny, more=f", {option}"))
    with pytest.raises(MissingFileError, match=r"there is no folder '\./nowhere'"):
        gn.score(_testset(), "judge('gemba-da', model='./nowhere')")


def test_a_folder_is_a_servers_model_where_an_endpoint_is_named(tiny: Path) -> None:
    judge: Any = parse(_spec(tiny, more=", endpoint='http://127.0.0.1:9/v1'"))
    assert judge.local is None
    assert parse(_spec(tiny)).local is not None  # type: ignore[attr-defined]  # a judge's


def test_pickles_code_and_other_networks_are_refused(
    tiny: Path, tiny_model: Path, tmp_path: Path
) -> None:
    import shutil

    pickled = shutil.copytree(tiny, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(DataError, match=r"holds no \*\.safetensors file"):
        gn.score(_testset(), _spec(pickled))
    coded = shutil.copytree(tiny, tmp_path / "coded")
    config = json.loads((coded / "config.json").read_text(encoding="utf-8"))
    mine = {"AutoModelForCausalLM": "code.Mine", "AutoConfig": "code.Config"}
    changed = config | {"auto_map": mine, "model_type": "mine"}
    (coded / "config.json").write_text(json.dumps(changed), encoding="utf-8")
    (coded / "code.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be loaded"):
        gn.score(_testset(), _spec(coded))
    assert not (tmp_path / "run").exists()
    with pytest.raises(DataError, match=r"weights that predict words|looks at later words"):
        gn.score(_testset(), _spec(tiny_model))


def test_a_network_that_looks_ahead_is_refused(tmp_path: Path, tiny_model: Path) -> None:
    import shutil

    folder = shutil.copytree(tiny_model, tmp_path / "masked")
    config = transformers.BertConfig.from_pretrained(folder)
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    with pytest.raises(DataError, match="looks at later words"):
        gn.score(_testset(), _spec(folder))
