"""Messages on files and folders that are missing or cannot be read or written."""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import stat
from typing import TYPE_CHECKING

from gnomon.core.errors import (
    GnomonError,
    MissingFileError,
    OutputError,
)

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

__all__ = [
    "explain",
    "explain_failure",
    "explain_unreadable",
    "kind_of_file",
    "require_directory",
]


_KINDS = {
    stat.S_IFREG: "a file",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


_REMEDIES = {
    errno.ENOSPC: "the disk is full: free some space or choose another disk",
    errno.EDQUOT: "the disk quota is used up: free some space or choose another disk",
    errno.EACCES: "permission is denied: choose another place or change its permissions",
    errno.EPERM: "permission is denied: choose another place or change its permissions",
    errno.EROFS: "the file system is read-only: choose another place",
    errno.ENOENT: "its folder does not exist: create the folder first",
    errno.ENOTDIR: "what should be its folder is a file: choose another place",
    errno.EISDIR: "it is a directory: name a file",
    errno.ENAMETOOLONG: "its name is too long for the file system: choose a shorter one",
}


def kind_of_file(mode: int) -> str:
    """Kind of an entry of a folder, by its mode."""
    return _KINDS.get(stat.S_IFMT(mode), "a device")


@contextlib.contextmanager
def explain_unreadable(file: Path) -> Generator[None]:
    """Say what is wrong with a file that cannot be read."""
    try:
        yield
    except GnomonError:
        raise
    except IsADirectoryError as error:
        raise MissingFileError(
            f"{file} is a directory; a file is expected here (the folder of a test set is given"
            " with -t, a folder of outputs with -i)",
            path=file,
        ) from error
    except PermissionError as error:
        raise MissingFileError(
            f"{file} cannot be read: permission is denied; change its permissions (chmod +r)",
            path=file,
        ) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        _refuse_lost_link(file)
        raise MissingFileError(f"there is no file {file}{_nearest(file)}", path=file) from error
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            raise MissingFileError(
                f"{file} cannot be read: symbolic links lead in a circle; name the file itself",
                path=file,
            ) from error
        raise MissingFileError(f"{str(file)!r} cannot be read: {error}", path=file) from error


def require_directory(path: Path) -> None:
    """Check that a directory is there."""
    if path.is_dir():
        return
    if path.exists():
        raise MissingFileError(
            f"{path} is {kind_of_file(path.stat().st_mode)}; the directory of a test set is"
            " expected here",
            path=path,
        )
    _refuse_lost_link(path)
    published = "" if path.parent.name else "; 'gnomon data list' shows the published sets"
    raise MissingFileError(
        f"there is no file or directory {path}{_nearest(path) or published}", path=path
    )


def _refuse_lost_link(path: Path) -> None:
    """Refuse a link that leads nowhere; it is not as if there were nothing."""
    if path.is_symlink() and not path.exists():
        raise MissingFileError(
            f"{path} is a link to {path.readlink()}, which is not there", path=path
        )


@contextlib.contextmanager
def explain_failure(path: Path, *others: type[Exception]) -> Generator[None]:
    """Turn a failure of the operating system into an error that says what to do.

    Args:
        path: what is written there; errors name it, not the files within.
        others: what libraries raise in place of an OSError.

    Raises:
        OutputError: in place of another OSError.
    """
    failures: tuple[type[Exception], ...] = (OSError, *others)
    try:
        yield
    except GnomonError as error:
        if isinstance(error, OutputError) and isinstance(error.__cause__, OSError):
            raise OutputError(explain(path, error.__cause__)) from error
        raise
    except failures as error:
        raise OutputError(explain(path, error)) from error


def explain(path: Path, error: Exception) -> str:
    """Explain why writing failed, and what to do."""
    # Arrow and DuckDB give the words of the system alone, without its number
    code = getattr(error, "errno", None) or next(
        (number for number in _REMEDIES if os.strerror(number) in str(error)), 0
    )
    remedy = _REMEDIES.get(code, getattr(error, "strerror", None) or str(error))
    return f"cannot write {path}: {remedy}"


def _nearest(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f" (nor a directory {folder})"
    names = [entry.name for entry in folder.iterdir()]
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.6)
    return f"; did you mean {folder / near[0]}?" if near else ""
