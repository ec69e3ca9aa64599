"""Test sets of sacreBLEU's registry: sacreBLEU downloads their archives, into its own folder."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import DataError, MissingFileError, UnknownNameError, UsageError
from gnomon.data.formats import explain_failure, read_sacrebleu_files
from gnomon.data.official._folder import describe_set, origin_of, write_set
from gnomon.data.official.obtaining import base_name, digest, find_given, verify
from gnomon.messages.audiences import parameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.data.official._folder import WrittenSet
    from gnomon.data.official.obtaining import Origin


def datasets() -> Mapping[str, Any]:
    """SacreBLEU's registry: name -> test set; nothing is fetched."""
    from sacrebleu.dataset import DATASETS

    return dict(DATASETS)


def fetch_sacrebleu(name: str, language_pairs: Sequence[str], origin: Origin) -> list[WrittenSet]:
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
    if missing and origin.sha256:
        raise UsageError(
            f"sacreBLEU knows the checksums of {name}; leave ", parameter("sha256"), " out"
        )
    archives = _download(dataset, origin.given) if missing else {}
    return [
        _write(dataset, pair, folder, archives) if pair in missing else describe_set(folder)
        for pair, folder in folders.items()
    ]


def _download(dataset: Any, given: str | None) -> dict[str, str]:
    """Let sacreBLEU download and unpack what is not in its folder yet: address -> SHA-256."""
    raw = _raw(dataset.name)
    archives = {url: raw / _archive_name(dataset.name, url) for url in dataset.data}
    remedy = f"delete {raw}, and fetch it again, or name files that you have with --from"
    with explain_failure(raw):
        if given is not None:
            _take(dataset, archives, Path(given))
    try:
        dataset.maybe_download()
    except SystemExit as error:  # sacreBLEU has said in its log what is wrong
        raise DataError(
            f"sacreBLEU refuses what it downloaded of {dataset.name}; {remedy}"
        ) from error
    except OSError as error:
        raise MissingFileError(
            f"sacreBLEU cannot download {dataset.name} ({error}); {remedy}"
        ) from error
    return {url: digest(archive) for url, archive in archives.items()}


def _take(dataset: Any, archives: Mapping[str, Path], given: Path) -> None:
    """Put a user's files where sacreBLEU has its archives, and let it unpack them."""
    from sacrebleu.utils import extract_tarball

    if len(archives) > 1 and not given.is_dir():
        names = ", ".join(map(base_name, archives))
        raise UsageError(f"{dataset.name} has several files ({names}); give their folder to --from")
    for (url, archive), md5 in zip(archives.items(), dataset.md5, strict=True):
        source = find_given(given, [archive.name, base_name(url)])
        verify(source, md5, "md5")
        archive.parent.mkdir(parents=True, exist_ok=True)
        if source.resolve() != archive.resolve():
            shutil.copyfile(source, archive)
        extract_tarball(str(archive), str(archive.parent))  # type: ignore[no-untyped-call]  # of sacreBLEU


def _archive_name(name: str, url: str) -> str:
    """Name of an archive of a test set, as sacreBLEU has it."""
    return f"{name.replace('/', '_')}.{url.rpartition('/')[2]}"


def _write(dataset: Any, pair: str, folder: Path, archives: Mapping[str, str]) -> WrittenSet:
    try:
        testset, usual = read_sacrebleu_files(dataset, pair)
    except (DataError, OSError) as error:
        raise DataError(f"{error}. The publisher's files are in {_raw(dataset.name)}") from error
    origin = {"set": dataset.name, "publisher": "sacrebleu", "archives": dict(archives)}
    return write_set(testset, folder, origin, usual=usual)


def _raw(name: str) -> Path:
    from sacrebleu import utils

    return Path(utils.SACREBLEU_DIR) / name / "raw"
