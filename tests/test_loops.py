"""Machine code of compiled loops: kept, found again, and refused where anything differs."""

from __future__ import annotations

import ast
import importlib.util
import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gnomon import loops
from gnomon.loops import _files
from gnomon.loops._from_numba import Kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

pytest.importorskip("numba", reason="numba is not installed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="code is kept in ELF files only")

_SOURCE = '''
import numpy as np
from gnomon.loops import njit

@njit(cache=True)
def _twice(value):
    return 2 * value

@njit(cache=True)
def several(numbers, factor, grid, wanted, counts):
    """All kinds of arguments and results; one array with room that nobody sets."""
    grown = np.empty(len(numbers) + 64, dtype=np.int64)
    for i in range(len(numbers)):
        grown[i] = _twice(numbers[i])
        counts[i % len(counts)] += 1
    sums = np.zeros((len(grid), 2), dtype=np.float64)
    for i in range(len(grid)):
        sums[i, 0] = grid[i].sum() * factor
        sums[i, 1] = -1.0 if wanted else 1.0
    return grown, counts, sums, len(numbers), numbers[1:3]

@njit(cache=True)
def filled(size):
    return np.full(size, 7, dtype=np.uint8)

@njit(cache=True)
def touched(numbers):
    numbers[0] = 5

@njit(cache=True)
def nested(numbers):
    return (numbers[0], (numbers[1], numbers[2]))

@njit(cache=True)
def first(words):
    """A number of 64 bits without a sign, of which small ones look like those with a sign."""
    return words[0]

@njit(cache=True)
def doubled(numbers, others):
    for i in range(len(numbers)):
        numbers[i] += 1
    for i in range(len(others)):
        others[i] *= 2

@njit(cache=True)
def quotient(number, other):
    return number // other
'''
_BUILD = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
import sample_loops as sample
numbers, counts = np.arange(5), np.zeros(2, dtype=np.int32)
grid = np.arange(6.0).reshape(3, 2)
sample.several(numbers, 1.5, grid, True, counts)
sample.filled(10)
sample.touched(numbers)
sample.nested(numbers)
sample.first(numbers.astype(np.uint64))
sample.doubled(numbers, numbers)
sample.quotient(6, 3)
assert "numba" in sys.modules
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a module of loops whose code two processes kept at the same time."""
    folder = tmp_path_factory.mktemp("loops")
    (folder / "sample_loops.py").write_text(_SOURCE)
    code = folder / "code"
    code.mkdir(mode=0o700)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _BUILD.format(folder=str(folder))],
            env={**environment, "NUMBA_CACHE_DIR": str(code)},
        )
        for _ in range(2)
    ]
    assert [process.wait() for process in processes] == [0, 0]
    return folder


@pytest.fixture
def sample(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], ModuleType]:
    """Imports the module anew, as in a process in which numba cannot be imported."""
    for name in [one for one in os.environ if one.startswith("NUMBA_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(kept / "code"))
    monkeypatch.setitem(sys.modules, "numba", None)

    def imported(source: Path = kept / "sample_loops.py") -> ModuleType:
        spec = importlib.util.spec_from_file_location("sample_loops", source)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "sample_loops", module)
        spec.loader.exec_module(module)
        return module

    return imported


def files(kept: Path) -> list[Path]:
    return sorted((kept / "code" / "gnomon").glob("sample_loops.*.loop"))


def file_of(kept: Path, loop: str) -> Path:
    (path,) = (path for path in files(kept) if path.name.startswith(f"sample_loops.{loop}-"))
    return path


def test_kept_code_serves_without_numba(sample: Callable[[], ModuleType]) -> None:
    module = sample()
    numbers, counts = np.arange(4), np.zeros(3, dtype=np.int32)
    grid = np.arange(4.0).reshape(2, 2)
    grown, same, sums, length, part = module.several(numbers, 2.0, grid, False, counts)
    assert grown[:4].tolist() == [0, 2, 4, 6]
    assert grown.shape == (68,)
    assert same is counts
    assert counts.tolist() == [2, 1, 1]
    assert sums.tolist() == [[2.0, 1.0], [10.0, 1.0]]
    assert length == 4
    assert part.tolist() == [1, 2]
    part[0] = 7  # memory of an argument
    assert numbers.tolist() == [0, 7, 2, 3]
    part[0] = 1
    assert module.filled(0).tolist() == []
    assert module.touched(numbers) is None
    assert numbers.tolist() == [5, 1, 2, 3]


def test_two_processes_at_once_leave_one_file_for_each_loop(kept: Path) -> None:
    names = [path.name.partition("-")[0] for path in files(kept)]
    whole = ("doubled", "filled", "quotient", "several", "touched")
    assert names == [f"sample_loops.{name}" for name in whole]
    # what cannot be kept was tried once, and helpers are part of what calls them
    left = sorted(path.name for path in (kept / "code" / "gnomon").glob(".*"))
    assert [name.partition("-")[0] for name in left] == [
        ".sample_loops.first",
        ".sample_loops.nested",
    ]


def test_arrays_without_cells_and_numbers_of_numpy_are_taken(
    sample: Callable[[], ModuleType],
) -> None:
    module = sample()
    counts = np.zeros(1, dtype=np.int32)
    for shape in ((0, 2), (3, 0)):
        grown, _, sums, length, part = module.several(
            np.arange(0), np.float64(2.0), np.zeros(shape), True, counts
        )
        assert grown.shape == (64,)
        assert sums.tolist() == [[0.0, -1.0]] * shape[0]
        assert length == 0
        assert part.shape == (0,)
    assert module.filled(np.int64(2)).tolist() == [7, 7]


def test_arrays_in_files_are_arrays_and_other_kinds_of_arrays_are_left_to_numba(
    sample: Callable[[], ModuleType], tmp_path: Path
) -> None:
    module = sample()
    np.arange(4).tofile(tmp_path / "numbers")
    stored = np.memmap(tmp_path / "numbers", dtype=np.int64, mode="r+")
    module.touched(stored)
    stored.flush()
    assert np.fromfile(tmp_path / "numbers", dtype=np.int64).tolist() == [5, 1, 2, 3]
    others = (
        np.memmap(tmp_path / "numbers", dtype=np.int64, mode="r"),
        np.ma.masked_array([1, 2], [True, False]),
        np.arange(2).view(np.recarray),
    )
    for numbers in others:
        with pytest.raises(ImportError):
            module.touched(numbers)


def test_what_numba_would_raise_is_raised(sample: Callable[[], ModuleType]) -> None:
    module = sample()
    with pytest.raises(ValueError, match="negative dimensions"):
        module.filled(-1)
    with pytest.raises(MemoryError, match="did not come to its end"):
        module.filled(1 << 62)
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        module.quotient(1, 0)
    assert module.quotient(7, -2) == -4


def test_threads_may_call_one_loop_at_once(sample: Callable[[], ModuleType]) -> None:
    several = sample().several

    def call(number: int) -> bool:
        numbers, counts = np.arange(number), np.zeros(1, dtype=np.int32)
        grid = np.full((2, 2), float(number))
        grown, _, sums, length, _ = several(numbers, 1.0, grid, False, counts)
        right = grown[:number].tolist() == list(range(0, 2 * number, 2)) and length == number
        return right and sums.tolist() == [[2.0 * number, 1.0]] * 2 and counts[0] == number

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(call, [*range(100)] * 5))


def test_a_process_that_forks_while_a_thread_compiles_goes_on(kept: Path) -> None:
    program = (
        f"import os, signal, sys, threading, time; sys.path.insert(0, {str(kept)!r})\n"
        "import sample_loops as sample\n"
        "from gnomon import loops\n"
        "begun = threading.Event()\n"
        "def compiling():\n"
        "    with loops._lock:\n"
        "        begun.set()\n"
        "        time.sleep(0.2)\n"
        "threading.Thread(target=compiling).start()\n"
        "begun.wait()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    signal.alarm(60)\n"
        "    os._exit(len(sample.filled(3)))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 'numba' in sys.modules)\n"
        "last = sample.filled(3)  # which is given back when all else has ended\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "NUMBA_CACHE_DIR": str(kept / "code")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.split() == ["3", "False"]


def test_memory_that_loops_take_is_given_back(sample: Callable[[], ModuleType]) -> None:
    filled = sample().filled
    last = filled(1 << 20)
    for _ in range(1000):
        again = filled(1 << 20)
        assert again[0] == again[-1] == 7
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1000):
        filled(1 << 20)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB of a million
    assert (last == 7).all()


def test_arguments_of_other_kinds_are_left_to_numba(sample: Callable[[], ModuleType]) -> None:
    module = sample()
    for numbers in (
        np.arange(3, dtype=np.int32),
        np.arange(6)[::2],
        np.arange(3, dtype=">i8"),
        [1, 2],
    ):
        with pytest.raises(ImportError):
            module.touched(numbers)
    fixed = np.arange(3)
    fixed.flags.writeable = False
    with pytest.raises(ImportError):
        module.touched(fixed)
    with pytest.raises(ImportError):
        module.filled(1 << 63)


@pytest.mark.parametrize("harm", ["a byte", "its end", "nothing left", "another loop"])
def test_a_damaged_file_counts_as_absent(
    kept: Path, sample: Callable[[], ModuleType], harm: str
) -> None:
    filled, touched = file_of(kept, "filled"), file_of(kept, "touched")
    whole = filled.read_bytes()
    at = len(whole) // 2
    damaged = {
        "a byte": whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :],
        "its end": whole[:-1],
        "nothing left": b"",
        "another loop": touched.read_bytes(),
    }[harm]
    try:
        filled.write_bytes(damaged)
        with pytest.raises(ImportError):
            sample().filled(3)
    finally:
        filled.write_bytes(whole)
    assert sample().filled(3).tolist() == [7, 7, 7]


def test_code_that_others_may_have_written_is_not_run(
    kept: Path, sample: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file_of(kept, "filled")
    for place, safe in ((path, 0o644), (path.parent, 0o700)):
        for mode in (0o666, 0o664, 0o777):
            place.chmod(mode | (0o111 if place.is_dir() else 0))
            try:
                with pytest.raises(ImportError):
                    sample().filled(3)
            finally:
                place.chmod(safe)
    assert sample().filled(3).tolist() == [7, 7, 7]
    if path.stat().st_uid:  # root's own files are everybody's
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
        with pytest.raises(ImportError):
            sample().filled(3)


def test_code_of_another_source_version_or_wish_is_not_run(
    kept: Path, sample: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = tmp_path / "sample_loops.py"
    changed.write_text(_SOURCE.replace("size, 7", "size, 8"))
    with pytest.raises(ImportError):
        sample(changed).filled(3)
    with monkeypatch.context() as other:
        other.setattr(_files, "version_of", lambda package: f"{package} of tomorrow")
        with pytest.raises(ImportError):
            sample().filled(3)
    with monkeypatch.context() as other:
        other.setenv("NUMBA_BOUNDSCHECK", "1")
        with pytest.raises(ImportError):
            sample().filled(3)
    with monkeypatch.context() as other:
        (tmp_path / ".numba_config.yaml").write_text("boundscheck: 1\n")
        other.chdir(tmp_path)
        with pytest.raises(ImportError):
            sample().filled(3)
    with monkeypatch.context() as other:
        other.setattr(sys, "platform", "darwin")
        with pytest.raises(ImportError):
            sample().filled(3)
    assert sample().filled(3).tolist() == [7, 7, 7]


def test_code_is_that_of_the_source_that_was_imported(sample: Callable, tmp_path: Path) -> None:
    path = tmp_path / "sample_loops.py"
    path.write_text(_SOURCE.replace("size, 7", "size, 8"))
    module = sample(path)
    path.write_text(_SOURCE)  # as if another version were installed meanwhile
    with pytest.raises(ImportError):
        module.filled(3)


@pytest.fixture
def is_kept(
    kept: Path, sample: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., bool]:
    """Whether a new process would take code to be kept for the module (one of this source)."""
    sample()

    def asked(folder: Path = kept) -> bool:
        loops.is_kept.cache_clear()
        with monkeypatch.context() as other:
            other.delitem(sys.modules, "sample_loops")
            other.syspath_prepend(folder)
            return loops.is_kept("sample_loops")

    return asked


def test_code_counts_as_kept_only_where_it_could_be_run(
    kept: Path, is_kept: Callable[..., bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_kept()
    (tmp_path / "sample_loops.py").write_text(_SOURCE + "# another\n")
    assert not is_kept(tmp_path)
    with monkeypatch.context() as other:
        other.setattr(_files, "version_of", lambda package: f"{package} of tomorrow")
        assert not is_kept()
    with monkeypatch.context() as other:
        other.setattr(np, "__version__", "4.0")
        assert not is_kept()
    with monkeypatch.context() as other:
        other.setenv("NUMBA_OPT", "0")
        assert not is_kept()
    code = kept / "code" / "gnomon"
    code.chmod(0o777)
    assert not is_kept()
    code.chmod(0o700)
    elsewhere = tmp_path / "gnomon"
    elsewhere.mkdir(mode=0o700)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    whole = files(kept)[0]
    for name, content in (
        (whole.name.replace(sys.implementation.cache_tag or "", "cpython-27"), whole.read_bytes()),
        (f"other.{whole.name}", whole.read_bytes()),
        (whole.name, whole.read_bytes()[:-1]),
        (whole.name, b""),
    ):
        (elsewhere / name).write_bytes(content)
        assert not is_kept()
    (elsewhere / whole.name).write_bytes(whole.read_bytes())
    assert is_kept()


def test_code_of_another_processor_is_refused_where_no_other_can_be_kept(
    kept: Path, is_kept: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "numba")
    monkeypatch.syspath_prepend(kept)
    monkeypatch.setattr(loops.Loop, "is_cached", False)  # as where numba finds no folder, either
    assert is_kept()
    assert loops.load("sample_loops").filled(2).tolist() == [7, 7]
    monkeypatch.setattr(loops, "processor", lambda: ("this platform", "another one", ""))
    assert is_kept()
    with pytest.raises(RuntimeError, match="no folder"):
        loops.load("sample_loops")


def test_a_trial_that_fails_leaves_a_mark_and_passing_trouble_none(tmp_path: Path) -> None:
    path, key = tmp_path / "some.loop", ["a source"]

    def failing(error: BaseException) -> Callable[[], Any]:
        def made() -> Any:
            raise error

        return made

    for error in (MemoryError(), OSError("disk is full"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            _files.keep(path, key, failing(error))
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="unknown"):
        _files.keep(path, key, failing(ValueError("unknown")))
    (mark,) = tmp_path.iterdir()
    assert mark.read_text() == "failed: unknown"
    os.utime(mark, (0, 0))
    with pytest.raises(FileExistsError):
        _files.keep(path, key, lambda: Kept({}, b"code"))
    _files.keep(path, ["another source"], lambda: Kept({}, b"code"))
    assert _files.read(path, ["another source"]) == Kept({}, b"code")
    assert _files.read(path, key) is None


def test_what_an_ended_process_left_behind_is_tried_once_more(tmp_path: Path) -> None:
    path, key = tmp_path / "some.loop", ["a source"]

    def end() -> None:
        program = (
            "import os, pathlib\nfrom gnomon.loops import _files\n"
            f"_files.keep(pathlib.Path({str(path)!r}), {key}, lambda: os._exit(7))"
        )
        subprocess.run([sys.executable, "-c", program], check=False)

    def tried() -> bool:
        try:
            _files.keep(path, key, lambda: Kept({}, b"code"))
        except FileExistsError:
            return False
        return True

    def grow_old() -> None:
        for one in tmp_path.iterdir():
            os.utime(one, (0, 0))

    end()
    assert not tried()  # it may still be at it
    grow_old()
    assert tried()
    path.unlink()
    for _ in range(2):  # the second process to end makes it look like the trial's doing
        end()
        grow_old()
    assert not tried()


def test_a_folder_that_is_made_can_be_read_by_all(tmp_path: Path) -> None:
    usual = os.umask(0)
    try:
        assert _files.writable(tmp_path / "__pycache__")
    finally:
        os.umask(usual)
    assert (tmp_path / "__pycache__").stat().st_mode & 0o777 == 0o755


def test_modules_of_loops_take_nothing_from_others() -> None:
    """Whose change would not make their code count as stale."""
    root = Path(loops.__file__).parents[1]
    sources = {path: path.read_text() for path in root.rglob("*.py") if path.parent.name != "loops"}
    found = 0
    for path, source in sources.items():
        if "\nfrom gnomon.loops import" in source:
            found += 1
            for node in ast.parse(source).body:
                assert not isinstance(node, ast.Import) or [one.name for one in node.names] == [
                    "numpy"
                ], path
                if isinstance(node, ast.ImportFrom):
                    assert node.module in {"__future__", "typing", "gnomon.loops"}, path
    assert found == 4


def test_threads_bar_each_other_neither_from_importing_nor_from_compiling(kept: Path) -> None:
    pytest.importorskip("scipy", reason="scipy is not installed")
    program = (
        f"import sys, threading, time; sys.path.insert(0, {str(kept)!r})\n"
        "import sample_loops as sample\n"
        "done, barred = threading.Event(), []\n"
        "def look():\n"
        "    while not done.wait(0.01):\n"
        "        barred.append(sys.modules.get('scipy.linalg', '') is None)\n"
        "threading.Thread(target=look).start()\n"
        "assert sample.filled.compiled and 'numba' in sys.modules\n"
        "done.set()\n"
        "print(any(barred))\n"
        # numba compiles in this thread, and asks for a loop that is called, while another thread
        # has begun to compile a loop
        "import signal\n"
        "from gnomon.loops import _lock\n"
        "from numba.core.compiler_lock import global_compiler_lock as compiling\n"
        "begun = threading.Event()\n"
        "def other():\n"
        "    with _lock:\n"
        "        begun.set()\n"
        "        with compiling: pass\n"
        "signal.alarm(60)\n"
        "with compiling:\n"
        "    threading.Thread(target=other).start()\n"
        "    begun.wait()\n"
        "    print(sample.touched.compiled is sample.touched.compiled)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["False", "True"]


def test_a_folder_that_cannot_be_written_is_no_harm(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "sample_loops.py").write_text(_SOURCE.replace("size, 7", "size, 9"))
    taken = tmp_path / "taken"
    taken.write_text("a file where the folder would be")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import sample_loops as sample\n"
        "sample.filled.options = {}\n"  # numba's own folder is the same
        "print(sample.filled(3).tolist())"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_CACHE_DIR": str(taken)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == "[9, 9, 9]"
