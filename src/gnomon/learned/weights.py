"""Converted metrics: a folder with weights, their description, and the vocabulary.

``model.safetensors`` holds the weights under the names of the checkpoint, ``config.json`` the class
of the metric, its hyper-parameters, the configuration of its encoder, where it came from, the
licence and the checksum of the weights, ``tokenizer.json`` the vocabulary. Nothing else is read,
and nothing here runs code.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.cache import default_path
from gnomon.core.errors import (
    DataError,
    GnomonError,
    MissingDependencyError,
    MissingFileError,
    OutputError,
    UsageError,
)
from gnomon.core.signature import content_hash
from gnomon.data.formats import replace_folder
from gnomon.learned.architectures import check_settings
from gnomon.messages.audiences import flag
from gnomon.models import ModelFolder, check_content

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gnomon.core.testset import TestSet

__all__ = [
    "CHECKPOINT",
    "CONFIG",
    "FORMAT",
    "VOCABULARY",
    "WEIGHTS",
    "LearnedModel",
    "check_checksums",
    "check_target",
    "checksums",
    "conversion_of",
    "default_folder",
    "find_learned",
    "hash_of",
    "installed_learned",
    "is_converted",
    "new_folder",
    "text_mark",
    "unconverted",
    "write_learned",
]

#: names of the files of a converted metric
CONFIG, WEIGHTS, VOCABULARY = "config.json", "model.safetensors", "tokenizer.json"
#: place of the weights in a folder as COMET publishes it
CHECKPOINT = Path("checkpoints") / "model.ckpt"
#: description of a converted metric
FORMAT = "gnomon learned metric 1"
#: folder of converted metrics in gnomon's cache folder
FOLDER = "gnomon-metrics"
#: share of segments that two test sets may have in common by chance ("Yes.")
_FEW = 0.02
_SHORT = partial(hashlib.blake2b, digest_size=16)
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """A converted metric on this machine.

    Attributes:
        folder: where it lies.
        kind: its class, as COMET's checkpoints name it ("regression_metric").
        settings: its hyper-parameters.
        encoder: configuration of its encoder, as transformers writes it.
        origin: where it came from: "name", "revision", "checkpoint" (a hash), "encoder".
        licence: of the weights; "unknown" where nobody says.
        sha256: checksum of each file of weights, as it was written.
        learnt: kind of human scores -> what they were of, by :func:`text_mark`; empty where the
            files do not tell.
    """

    folder: ModelFolder
    kind: str
    settings: Mapping[str, Any]
    encoder: Mapping[str, Any]
    origin: Mapping[str, str]
    licence: str
    sha256: Mapping[str, str]
    learnt: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The folder, or the name under which it was converted."""
        return self.folder.name

    @property
    def signature_fields(self) -> dict[str, str]:
        """Fields of a signature: name and hash of the files, place of origin, licence."""
        name, revision = self.origin.get("name", ""), self.origin.get("revision", "")
        came = {"origin": f"{name}@{revision[:12]}"} if revision else {}
        return {"model": self.folder.identity, **came, "licence": self.licence}

    @property
    def bytes(self) -> int:
        """Size of the weights."""
        return (self.folder.path / WEIGHTS).stat().st_size

    def learnt_from(self, testset: TestSet) -> tuple[str, ...]:
        """Kinds of human scores of a test set that the weights were trained on, as far as is known.

        More than a few of its segments have the source or a reference of segments trained on.
        """
        if not self.learnt:
            return ()
        sides = [testset.sources or (), *testset.references.values()]
        marks = [{text_mark(side[n]) for side in sides if side} for n in range(testset.segments)]
        least = max(1.0, _FEW * testset.segments)
        return tuple(
            kind
            for kind, texts in self.learnt.items()
            if sum(not texts.isdisjoint(segment_marks) for segment_marks in marks) >= least
        )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of all weights by name, of the head of the file alone.

        Raises:
            DataError: the file cannot be read, or is not the one that was written.
        """
        try:
            with self._open() as file:
                return {n: tuple(file.get_slice(n).get_shape()) for n in file.keys()}  # noqa: SIM118  # it is no mapping
        except DataError:
            self.check_weights()  # what is wrong with it then is told first
            raise

    def weights(self, names: Iterable[str]) -> dict[str, Any]:
        """Some weights by name, torch tensors on the CPU.

        Raises:
            DataError: the file cannot be read, or is not the one that was written.
        """
        self.check_weights()
        with self._open() as file:
            return {name: file.get_tensor(name) for name in names}

    def check_weights(self) -> None:
        """Refuse files of weights that are not those that were written.

        Raises:
            DataError: they are not.
        """
        check_checksums(self.folder.path, self.sha256)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.folder.path / WEIGHTS, framework="pt") as file:
                yield file
        except (OSError, SafetensorError) as error:
            raise DataError(f"{self.folder.path / WEIGHTS} cannot be read: {error}") from error


def text_mark(text: str | None) -> str:
    """Mark of a text among those that a metric was trained on: eight digits of a hash."""
    return content_hash(text or "")[:8]


def default_folder(name: str) -> Path:
    """Where a metric of that name is kept that was not put anywhere else."""
    if not _HUB_NAME.fullmatch(name) or ".." in name:
        raise DataError(
            f"{name!r} is no name for a metric: letters, digits, '.', '_', '-', and one '/'"
        )
    return default_path() / FOLDER / name


def unconverted(folder: Path) -> bool:
    """True if a folder holds a checkpoint as COMET publishes them."""
    return (folder / "hparams.yaml").is_file() or (folder / "checkpoints").is_dir()


def installed_learned(folders: Sequence[str] = ()) -> tuple[LearnedModel, ...]:
    """Metrics that were converted into gnomon's own place, by name; damaged ones are left out.

    Args:
        folders: folders of one's own, each a converted metric or a folder of such. These come
            first.
    """
    home = default_path() / FOLDER
    models = []
    for folder in map(Path, folders):
        for config in sorted((*folder.glob(CONFIG), *folder.glob(f"*/{CONFIG}"))):
            with suppress(GnomonError):
                models.append(find_learned(str(config.parent)))
    for config in sorted(home.glob(f"**/{CONFIG}")):
        try:
            models.append(find_learned(config.parent.relative_to(home).as_posix()))
        except GnomonError:
            continue
    return tuple(models)


def find_learned(name: str) -> LearnedModel:
    """Find a converted metric by its folder, or by the name under which it was converted.

    Raises:
        MissingFileError: there is no such folder.
        MissingDependencyError: nothing of that name was converted here.
        DataError: the folder holds no converted metric.
    """
    path = Path(name).expanduser()
    if not (path / CONFIG).is_file() and _HUB_NAME.fullmatch(name) and ".." not in name:
        own_path = default_folder(
            name
        )  # a checkpoint of that name may lie in the working directory
        path = own_path if own_path.is_dir() or not path.is_dir() else path
    if not path.is_dir():
        if name.startswith((".", "/", "~")):
            raise MissingFileError(f"there is no folder {name!r} with a learned metric")
        raise MissingDependencyError(
            f"no learned metric {name!r} is on this machine: there is no such folder, and none"
            f" of that name was set up; convert one with: gnomon setup model {name}"
        )
    if unconverted(path) and not (path / CONFIG).is_file():
        converted = conversion_of(path, CONFIG, (path / CHECKPOINT,))
        if converted is None:
            raise DataError(
                f"{name!r} is a checkpoint as COMET writes them, which only a pickle reader could"
                f" open; convert it once with: gnomon setup model {name}"
            )
        path = converted
    stamps = tuple(
        (file.stat().st_size, file.stat().st_mtime_ns) if file.is_file() else (0, 0)
        for file in (path / CONFIG, path / WEIGHTS, path / VOCABULARY)
    )
    return _read(name, path, stamps)


def conversion_of(folder: Path, stating: str, checkpoint: Sequence[Path]) -> Path | None:
    """Folder set up from the files of a checkpoint, under the name of its folder; else None.

    ``stating``: the file of a conversion that states of what it was made.
    """
    try:
        target = default_folder(folder.expanduser().resolve().name)
    except DataError:  # it can have been set up with --into alone
        return None
    stated = stated_in(target / stating)
    origin = stated.get("origin", stated)
    made_of = origin.get("checkpoint") if isinstance(origin, dict) else None
    if not made_of or not all(file.is_file() for file in checkpoint):
        return None
    return target if made_of == "+".join(map(hash_of, checkpoint)) else None


def hash_of(path: Path) -> str:
    """A hash of a file, 32 hexadecimal digits; it is read again if it changed."""
    return _digest(path, _SHORT)


def _digest(path: Path, algorithm: Any) -> str:
    stat = path.stat()
    return _read_digest(path, algorithm, (stat.st_size, stat.st_mtime_ns, stat.st_ino))


@lru_cache(maxsize=256)
def _read_digest(path: Path, algorithm: Any, stamp: tuple[int, ...]) -> str:  # noqa: ARG001  # changed files are other ones
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


@lru_cache(maxsize=64)
def _read(name: str, path: Path, stamps: tuple[tuple[int, int], ...]) -> LearnedModel:
    """A converted metric; changed files are another one."""
    for file, (size, _) in zip((CONFIG, WEIGHTS, VOCABULARY), stamps, strict=True):
        if (path / file).is_file():
            check_content(path / file)
        elif not size:
            raise DataError(
                f"{name!r} ({path}) holds no {file}, so it is no learned metric that gnomon"
                " converted; convert a checkpoint with: gnomon setup model FOLDER"
            )
    try:
        config = json.loads((path / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path / CONFIG} cannot be read: {error}") from error
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        given = config.get("format") if isinstance(config, dict) else type(config).__name__
        raise DataError(
            f"{path / CONFIG} says format {given!r}; learned metrics that gnomon converted say"
            f" {FORMAT!r}: convert a checkpoint with: gnomon setup model FOLDER"
        )
    settings = _mapping(config, "hyper_parameters", path)
    try:
        check_settings(config.get("class"), settings)
    except DataError as error:
        raise DataError(f"{path / CONFIG}: {error}; convert the checkpoint again") from None
    checksums = config.get("sha256")
    if not isinstance(checksums, dict) or not isinstance(checksums.get(WEIGHTS), str):
        raise DataError(
            f"{path / CONFIG} states no checksum of {WEIGHTS} (sha256); convert the checkpoint"
            " again: gnomon setup model FOLDER"
        )
    return LearnedModel(
        folder=ModelFolder(name, path),
        kind=str(config.get("class")),
        settings=settings,
        encoder=_mapping(config, "encoder", path),
        origin={key: str(value) for key, value in _mapping(config, "origin", path).items()},
        licence=str(config.get("licence") or "unknown"),
        sha256={name: str(value) for name, value in checksums.items()},
        learnt=_trained_texts(config, path),
    )


def _trained_texts(config: dict[str, Any], path: Path) -> dict[str, frozenset[str]]:
    """Marks of texts that a metric was trained on, by kind of human scores."""
    learnt: dict[str, frozenset[str]] = {}
    try:
        for trained in config.get("trained_on", ()):
            kind = str(trained["human"])
            learnt[kind] = learnt.get(kind, frozenset()) | frozenset(map(str, trained["texts"]))
    except (TypeError, LookupError) as error:
        raise DataError(f"{path / CONFIG} says nothing plain of trained_on: {error!r}") from error
    return learnt


def _mapping(config: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    mapping = config.get(key)
    if not isinstance(mapping, dict):
        raise DataError(f"{path / CONFIG} says nothing of its {key}; convert the checkpoint again")
    return mapping


def checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file of weights in a folder, in hexadecimal digits."""
    return {file.name: _digest(file, "sha256") for file in sorted(folder.glob("*.safetensors"))}


def check_checksums(folder: Path, stated: Mapping[str, str]) -> None:
    """Check that weights are the ones that were written; a file is read again if it changed."""
    files = {file.name for file in folder.glob("*.safetensors")}
    for name in sorted({*files, *stated}):
        if name in files:
            check_content(folder / name)
        try:
            checksum = _digest(folder / name, "sha256") if name in files else "no file"
        except OSError as error:
            raise DataError(f"{folder / name} cannot be read: {error}") from error
        if checksum != stated.get(name):
            raise DataError(
                f"{folder / name} is not the file that gnomon wrote there: its checksum (SHA-256)"
                f" is {checksum[:12]}, and {stated.get(name, 'none')[:12]} was noted; it was"
                " damaged or changed: convert the checkpoint again (gnomon setup model), or train"
                " the metric again (gnomon train metric --resume)"
            )


def write_learned(
    target: Path, about: Mapping[str, Any], weights: dict[str, Any], tokenizer: bytes
) -> None:
    """Write a metric beside its place, then put it there as a whole."""
    from safetensors.torch import save_file

    check_target(target, is_converted)
    with new_folder(target) as folder:
        # tensors may share values in a checkpoint, which safetensors refuses
        save_file({name: tensor.clone() for name, tensor in weights.items()}, folder / WEIGHTS)
        (folder / VOCABULARY).write_bytes(tokenizer)
        about = {**about, "sha256": checksums(folder)}
        text = json.dumps(about, indent=1, ensure_ascii=False, allow_nan=False)
        (folder / CONFIG).write_text(text + "\n", encoding="utf-8")


def check_target(target: Path, is_ours: Callable[[Path], bool], source: Path | None = None) -> None:
    """Refuse a folder that holds anything but an earlier conversion."""
    if not os.path.lexists(target):
        return
    if source is not None and os.path.realpath(target) == os.path.realpath(source):
        raise UsageError(
            f"{target} is the folder of the checkpoint itself, which stays as it is; name another"
            " one (",
            flag("into", "FOLDER"),
            "), or none: gnomon then keeps the metric in its cache",
        )
    if target.is_dir() and (not any(target.iterdir()) or is_ours(target)):
        return
    what = "holds files that gnomon did not write" if target.is_dir() else "is no folder"
    raise UsageError(
        f"{target} {what}, which stay; name another folder (", flag("into", "FOLDER"), ")"
    )


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder to fill, which takes the name of the target when it is filled."""
    from safetensors import SafetensorError

    target = target.resolve()
    folder = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        folder.mkdir(parents=True)
        yield folder
        replace_folder(folder, target)
    except (OSError, SafetensorError) as error:
        raise OutputError(f"{target} cannot be written: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_converted(folder: Path) -> bool:
    """True if a folder holds a metric that gnomon converted, and nothing else."""
    if not {file.name for file in folder.iterdir()} <= {CONFIG, WEIGHTS, VOCABULARY}:
        return False
    return stated_in(folder / CONFIG).get("format") == FORMAT


def stated_in(file: Path) -> dict[str, Any]:
    """Read what a file of JSON states; empty where it cannot be read, or states nothing by name."""
    try:
        stated = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return stated if isinstance(stated, dict) else {}
