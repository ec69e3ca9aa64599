"""Test sets of sacreBLEU's registry: its archives, fetched safely, into its own folder."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import zipfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import (
    DataError,
    MissingFileError,
    OutputError,
    UnknownNameError,
    UsageError,
)
from gnomon.data.formats import explain_failure, read_sacrebleu_files
from gnomon.data.official._archives import sweep, unpack
from gnomon.data.official._folder import known_set, origin_of, write_set
from gnomon.data.official._obtain import digest, obtain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gnomon.data.official._archives import Progress
    from gnomon.data.official._folder import Written
    from gnomon.data.official._obtain import Origin


_log = logging.getLogger(__name__)

_UNPACKED = (".tar.gz", ".tgz", ".zip")  # what sacreBLEU takes for archives


def datasets() -> Mapping[str, Any]:
    """SacreBLEU's registry: name -> test set; nothing is fetched."""
    from sacrebleu.dataset import DATASETS

    return dict(DATASETS)


def fetch_sacrebleu(name: str, language_pairs: Sequence[str], origin: Origin) -> list[Written]:
    """Fetch a test set and write its language pairs as folders ``HOME/NAME/PAIR``.

    The archives and sacreBLEU's plain text come to lie where sacreBLEU has them, so that
    ``-t NAME`` and sacreBLEU itself find them from now on.
    """
    dataset = datasets()[name]
    for pair in language_pairs:
        if pair not in dataset.langpairs:
            raise UnknownNameError(f"language pair of {name}", pair, dataset.langpairs)
    pairs = list(language_pairs or dataset.langpairs)
    folders = {pair: origin.home / name / pair for pair in pairs}
    missing = [pair for pair in pairs if not origin_of(folders[pair])]
    sources = _place(dataset, missing, origin) if missing else {}
    return [
        _write(dataset, pair, folder, sources) if pair in missing else known_set(folder)
        for pair, folder in folders.items()
    ]


def _write(dataset: Any, pair: str, folder: Path, sources: Mapping[str, str]) -> Written:
    try:
        testset, usual = read_sacrebleu_files(dataset, pair)
    except DataError as error:
        files = (str(_raw(dataset.name) / file) for file in _files(dataset.langpairs[pair]))
        raise DataError(f"{error}. The publisher's files are {', '.join(files)}") from error
    origin = {"set": dataset.name, "publisher": "sacrebleu", "archives": dict(sources)}
    return write_set(testset, folder, origin, usual=usual)


def _place(dataset: Any, pairs: Iterable[str], origin: Origin) -> dict[str, str]:
    """See to it that the archives lie in sacreBLEU's folder, unpacked: address -> SHA-256."""
    raw = _raw(dataset.name)
    md5s = dataset.md5 or [None] * len(dataset.data)
    if len(dataset.data) > 1:
        _check_several(dataset, origin)
    files = [raw / file for pair in pairs for file in _files(dataset.langpairs[pair])]
    checksums = {}
    for url, md5 in zip(dataset.data, md5s, strict=True):
        archive = raw / f"{dataset.name.replace('/', '_')}.{os.path.basename(url)}"  # noqa: PTH119  # sacreBLEU's own way with an address
        whole = archive.is_file() and (md5 is None or digest(archive, "md5") == md5)
        if not whole or not all(file.exists() for file in files):
            fetched = obtain(url, origin, md5=md5, names=[archive.name])
            with nullcontext(archive) if whole else fetched as source:
                _install(source, archive, origin.progress)
        checksums[url] = digest(archive)
    absent = [file for file in files if not file.exists()]
    if absent:
        raise MissingFileError(
            f"the archives of {dataset.name} lack {absent[0].relative_to(raw)}, which sacreBLEU"
            " expects in them; another version of sacreBLEU may know better"
        )
    return checksums


def _raw(name: str) -> Path:
    from sacrebleu import utils

    return Path(utils.SACREBLEU_DIR) / name / "raw"


def _check_several(dataset: Any, origin: Origin) -> None:
    names = ", ".join(url.rpartition("/")[2] for url in dataset.data)
    if origin.sha256:
        raise UsageError(f"{dataset.name} has several files ({names}); leave --sha256 out")
    if origin.given and not Path(origin.given).is_dir():
        raise UsageError(f"{dataset.name} has several files ({names}); give their folder to --from")


def _files(dataset: Any) -> list[str]:
    """The files of a language pair, inside the archives."""
    if isinstance(dataset, dict):
        return [dataset["path"]]
    return [file.rpartition(":")[2] for file in dataset]


def _install(source: Path, archive: Path, progress: Progress | None) -> None:
    """Unpack an archive beside its place, and put it there last: its presence means all is done."""
    raw = archive.parent
    try:
        raw.mkdir(parents=True, exist_ok=True)
        if archive.name.endswith(_UNPACKED):
            sweep(raw)
            scratch = raw / f".{secrets.token_hex(8)}.new"
            try:
                if zipfile.is_zipfile(source):  # of which sacreBLEU knows the checksums
                    with zipfile.ZipFile(source) as packed:
                        packed.extractall(scratch)
                else:
                    unpack(source, scratch, progress=progress)
                _merge(scratch, raw)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        if source != archive:
            _copy(source, archive)
    except PermissionError as error:
        raise OutputError(
            f"cannot write {raw}, where sacreBLEU keeps its files; name another folder with the"
            " variable SACREBLEU"
        ) from error


def _merge(scratch: Path, folder: Path) -> None:
    for file in sorted(scratch.rglob("*")):
        if file.is_file():
            target = folder / file.relative_to(scratch)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)


def _copy(source: Path, target: Path) -> None:
    scratch = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        try:
            scratch.hardlink_to(source)
        except OSError:  # another disk, or a file system without such links
            with explain_failure(target):
                shutil.copyfile(source, scratch)
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)
