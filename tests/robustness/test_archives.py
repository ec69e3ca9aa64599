"""Archives of strangers, damaged and hostile.

The law: an archive is refused and nothing of it is kept, or the files that come out are those that
went in, or a notice says that they could not be verified (a plain tar holds no sums of its
contents). Nothing is ever written outside the folder.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.data.official.test_archives import FILES, special, tar, tree, written
from tests.robustness import damage
from tests.robustness.examples import judged
from tests.robustness.law import Example, ask, shape

import gnomon as gn
from gnomon.core.errors import FormatError, OutputError
from gnomon.data.formats import write_test_set
from gnomon.data.official import unpack


def _pax(headers: dict[str, str]) -> bytes:
    info = tarfile.TarInfo("x")
    info.pax_headers = headers
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as packed:
        packed.addfile(info)
    return stream.getvalue()


def _sized(size: int) -> bytes:
    """A tar whose member says to be of another size than it is."""
    info = tarfile.TarInfo("x")
    info.size = size
    return info.tobuf() + b"short" + bytes(1024 - 5)


def _late_tar() -> bytes:
    """A second archive behind the end of the first."""
    return tar(FILES) + tar({"../late.txt": b"x"})


def hostile() -> Iterator[tuple[str, bytes]]:
    """Archives that no honest program makes."""
    for name in ("../x", "a/../../x", "x" * 300, "CON/../../x", "./../x", "a//../..//x"):
        yield f"tar {name[:20]!r}", tar({**FILES, name: b"x"})
    for name in ("/etc/x", "..\\x", "C:\\x", "C:/x", "\\\\host\\x", "a\nb", "a\x1b[2Jb"):
        yield f"odd {name!r}", tar({name: b"x"})  # which can be a file inside the folder
    for kind in (tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE):
        yield f"tar {kind!r}", tar(FILES, special("set/odd", kind))
    yield "bomb tar.gz", gzip.compress(tar({"z": bytes(24 << 20)}), 9)
    yield "bomb tar.xz", lzma.compress(tar({"z": bytes(24 << 20)}))
    yield "nested gzip", gzip.compress(gzip.compress(tar(FILES)))
    yield "pax path", _pax({"path": "../../x"})
    yield "pax link", tar(FILES, special("../l", tarfile.SYMTYPE, "/etc"))
    yield "tar size", _sized(10**6)
    yield "tar huge size", _sized(8**11 - 1)
    yield "cut tar.bz2", bz2.compress(tar(FILES))[:-20]
    yield "cut tar.xz", lzma.compress(tar(FILES))[:-20]
    yield "second tar", _late_tar()
    yield "empty", b""
    yield "text", b"no archive\n" * 100


def _outside(folder: Path) -> set[str]:
    inside = folder / "in" / "out"
    return {str(file) for file in folder.rglob("*") if inside not in (file, *file.parents)}


def test_hostile_archives_are_refused_whole(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    accepted, count = [], 0
    for name, data in hostile():
        archive, count = written(tmp_path, data), count + 1
        before = _outside(tmp_path)
        try:
            unpack(archive, tmp_path / "in" / "out", most=16 << 20)
        except (FormatError, OutputError):
            assert not (tmp_path / "in" / "out").exists(), name
        else:
            accepted.append(name)
            inside = tree(tmp_path / "in" / "out")
            assert list(inside.values()) == [b"x"] if "odd" in name else inside == FILES, name
            shutil.rmtree(tmp_path / "in" / "out")
        assert _outside(tmp_path) == before, name
    assert count >= 28
    assert not [name for name in accepted if "odd" not in name and name != "pax link"]


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": lambda data: gzip.compress(data, mtime=0),
    "tar.bz2": bz2.compress,
    "tar.xz": lzma.compress,
}


@pytest.mark.parametrize("flips", [8, pytest.param(120, marks=pytest.mark.verify)])
@pytest.mark.parametrize("kind", PACKED)
def test_a_flipped_bit_is_refused_or_changes_nothing_or_is_said_to_be_possible(
    tmp_path: Path, kind: str, flips: int
) -> None:
    write_test_set(judged(), tmp_path / "set")
    files = {f"set/{name}": data for name, data in tree(tmp_path / "set").items()}
    data = PACKED[kind](tar(files))
    (tmp_path / "in").mkdir()
    archive = written(tmp_path / "in", data, f"set.{kind}")
    command = ("data", "convert", str(archive), "-o", "OUT", "-f", "json")
    example = Example(kind, (), tmp_path / "in", command, gn.TestSet.read)
    whole = ask(example, tmp_path / "out")
    draw, problems = random.Random(kind), []
    for _ in range(flips):
        archive.write_bytes(damage.flip(data, draw))
        found = ask(example, tmp_path / "out")
        if found.code == 0 and not found.said and repr(found.content) != repr(whole.content):
            problems.append(str(shape(whole.content) - shape(found.content)))
    assert not problems, f"{len(problems)} of {flips}: {problems}"
