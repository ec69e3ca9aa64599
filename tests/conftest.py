"""Fixtures that all tests share."""

from __future__ import annotations

import gc
import itertools
import os
import random
import sys
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# a worker per core, and so one thread per worker: more wait for each other where cores are busy
os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile(
    "steady",
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# what `make verify` takes
settings.register_profile("long", parent=settings.get_profile("steady"), max_examples=500)
settings.load_profile("steady")

_ROOT = Path(__file__).resolve().parent.parent
_CACHES = itertools.count()
_LONGEST = {"test_pages_run.py", "test_reproduce.py", "test_snapshot.py"}
if str(_ROOT) not in sys.path:  # some tests run what stands in scripts/
    sys.path.append(str(_ROOT))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="draw an order: of the files, and of the tests of each file",
    )


def pytest_xdist_auto_num_workers() -> int:
    """Of ``-n auto``: some tests wait for servers and processes, and leave a core to others."""
    return (os.cpu_count() or 1) + 1


def pytest_configure() -> None:
    """Test no loops but those of the source."""
    changed = next(outdated_loops(), None)
    if changed is not None:
        raise pytest.UsageError(
            f"{changed} changed since the loops that tests would run were compiled: "
            "make build compiles them (or: python setup.py -q build_ext --inplace)"
        )


def outdated_loops() -> Iterator[Path]:
    """Sources of loops, as paths in the project, that are newer than what was compiled of them."""
    spec = find_spec("gnomon.native")
    assert spec is not None
    assert spec.origin is not None
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    sources = _ROOT / "src" / "gnomon" / "native"
    common = [_ROOT / "setup.py", *sources.glob("*.pxd"), *sources.glob("*.h")]
    for source in sorted(sources.glob("*.pyx")):
        compiled = Path(spec.origin).with_name(f"{source.stem}{suffix}")
        made = compiled.stat().st_mtime if compiled.is_file() else 0
        for path in (source, *common):
            if path.stat().st_mtime > made:
                yield path.relative_to(_ROOT)


def pytest_collection() -> None:
    """Collecting makes much that stays and nothing that goes: looking for cycles costs a third."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was collected stays to the end, and need not be looked through again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order tests as the seed says, in all workers alike; a file stays together (its fixtures).

    Without a seed, files whose tests take longest come first: no core waits for one in the end.
    """
    items.sort(key=lambda item: item.path.name not in _LONGEST)
    seed = config.getoption("shuffle")
    if seed is not None:
        draw = random.Random(seed)
        files = {path: draw.random() for path in sorted({item.path for item in items})}
        items.sort(key=lambda item: (files[item.path], draw.random()))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real test data that must not be redistributed."""
    path = Path(os.environ.get("GNOMON_SHARED", _ROOT.parent / "shared"))
    if not (path / "data").is_dir():
        pytest.skip(f"the research-only test data are not at {path} (set GNOMON_SHARED)")
    return path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    # mktemp() would look through the folders of all tests before
    path = tmp_path_factory.getbasetemp() / "caches" / str(next(_CACHES))
    path.mkdir(parents=True)
    monkeypatch.setenv("GNOMON_CACHE", str(path))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of 3 layers with random weights and a vocabulary of letters and a few words."""
    reason = "needs torch and transformers: pip install 'gnomon[models]'"
    torch = pytest.importorskip("torch", reason=reason)
    transformers = pytest.importorskip("transformers", reason=reason)
    folder = tmp_path_factory.mktemp("models") / "tiny"
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    marks = list(".,'!?-0123456789")
    words = ["the", "cat", "sat", "on", "mat", "un", "##believ", "##able", "a", "dog", "house"]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = [
        *dict.fromkeys([*special, *letters, *(f"##{c}" for c in letters), *marks, *words])
    ]
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        initializer_range=0.5,
    )
    with torch.random.fork_rng():
        torch.manual_seed(5)
        transformers.BertModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(
        vocab={word: number for number, word in enumerate(vocabulary)}, model_max_length=40
    )
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 of 2 layers with random weights; its tokeniser has learned a few words."""
    reason = "needs torch and transformers: pip install 'gnomon[models]'"
    torch = pytest.importorskip("torch", reason=reason)
    transformers = pytest.importorskip("transformers", reason=reason)
    tokenizers = pytest.importorskip("tokenizers", reason=reason)
    folder = tmp_path_factory.mktemp("models") / "gpt2"
    folder.mkdir()
    learned = tokenizers.ByteLevelBPETokenizer()
    texts = ["the cat sat on the mat", "a dog on a mat", "the house"]
    learned.train_from_iterator(
        texts, vocab_size=300, special_tokens=["<|endoftext|>"], show_progress=False
    )
    learned.save_model(str(folder))
    spelling = transformers.GPT2TokenizerFast.from_pretrained(folder, model_max_length=32)
    spelling.save_pretrained(folder)
    config = transformers.GPT2Config(
        vocab_size=learned.get_vocab_size(),
        n_positions=32,
        n_embd=16,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=0.5,
    )
    with torch.random.fork_rng():
        torch.manual_seed(7)
        transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder
