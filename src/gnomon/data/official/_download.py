"""Fetching one file over HTTP: in parts if need be, checked, and named when it is whole."""

from __future__ import annotations

import http.client
import json
import logging
import os
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import nullcontext
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from gnomon.core.errors import DataError, MissingFileError, UsageError
from gnomon.core.signature import version
from gnomon.data.formats import atomic_write, explain_failure

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.client import HTTPMessage
    from pathlib import Path

    Progress = Callable[[str, int, int], None]


_log = logging.getLogger(__name__)

_CHUNK = 1 << 18
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_PARTIAL, _OK, _NOT_SATISFIABLE = 206, 200, 416
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


@dataclass(frozen=True)
class Patience:
    """How long to wait, and for how much.

    Attributes:
        timeout: seconds without an answer or a byte.
        tries: how often an interrupted transfer is taken up again.
        pause: seconds before the second try; each further pause is twice as long.
        most: bytes that a file may have.
    """

    timeout: float = 30.0
    tries: int = 4
    pause: float = 1.0
    most: int = 32 << 30


class _InterruptedError(Exception):
    """A transfer that may succeed if it is tried again."""


def require_url(url: str) -> str:
    """Check an address."""
    problem = f"{url!r} is no address of a file: http:// or https:// is expected"
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError as error:
        raise UsageError(f"{problem} ({error})") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(problem)
    if parts.username or parts.password:
        raise UsageError(
            f"the address on {parts.hostname} holds a user name or a password, which would be"
            " recorded; fetch the file by other means and name it with --from"
        )
    return url


def download(
    url: str,
    target: Path,
    *,
    patience: Patience | None = None,
    progress: Progress | None = None,
) -> None:
    """Fetch a file; an interrupted transfer goes on where it broke off, also in a later run.

    Proxies are those of the environment (``https_proxy``, ``no_proxy``, ...). What has come lies in
    ``.NAME.part`` beside the target. It is taken up again only if the server says that its file is
    still the same; else the transfer starts anew.

    Args:
        url: an address of HTTP or HTTPS.
        target: the file to make.
        patience: how long to wait and how often to try.
        progress: called with "fetch", bytes so far, and bytes in all.

    Raises:
        MissingFileError: it cannot be fetched; the message says why and what to do.
        DataError: it is larger than allowed.
        UsageError: the address is none.
    """
    require_url(url)
    waits = patience or Patience()
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = _PartialFile(target.with_name(f".{target.name}.part"), url)
    for attempt in range(waits.tries):
        if attempt:
            time.sleep(waits.pause * 2 ** (attempt - 1))
        try:
            _transfer(partial, waits, progress or _silent)
        except _InterruptedError as error:
            if attempt + 1 == waits.tries:
                raise _failure(url, f"{error}, {waits.tries} times") from error
            _log.info("%s: %s; trying again", url, error)
        else:
            partial.finish(target)
            return


class _PartialFile:
    """The bytes that have come, and of which version of the file they are."""

    def __init__(self, path: Path, url: str) -> None:
        self.path = path
        self.url = url
        self._about = path.with_name(f"{path.name}.json")

    @property
    def validator(self) -> str | None:
        """By what the server tells whether its file is still the same."""
        try:
            about = json.loads(self._about.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(about, dict) or about.get("url") != self.url:
            return None
        validator = about.get("validator")
        return validator if isinstance(validator, str) and validator else None

    @property
    def size(self) -> int:
        """How many bytes can be kept."""
        there = self.path.is_file() and self.validator is not None
        return self.path.stat().st_size if there else 0

    def begin(self, headers: HTTPMessage) -> None:
        """Forget what has come and note the version of what is coming."""
        tag = headers.get("ETag", "")
        validator = tag if tag.startswith('"') else headers.get("Last-Modified", "")
        self.path.write_bytes(b"")
        with atomic_write(self._about) as file:
            file.write(json.dumps({"url": self.url, "validator": validator}) + "\n")

    def forget(self) -> None:
        """Delete what has come."""
        self.path.unlink(missing_ok=True)
        self._about.unlink(missing_ok=True)

    def finish(self, target: Path) -> None:
        """Give the file its name."""
        with self.path.open("rb") as file:
            os.fsync(file.fileno())
        self.path.replace(target)
        self._about.unlink(missing_ok=True)


def _transfer(partial: _PartialFile, patience: Patience, progress: Progress) -> None:
    kept = partial.size
    headers = {"Accept-Encoding": "identity", "User-Agent": f"gnomon/{version()}"}
    if kept and partial.validator:
        headers |= {"Range": f"bytes={kept}-", "If-Range": partial.validator}
    try:
        with _opener(headers).open(partial.url, timeout=patience.timeout) as response:
            start = _start(partial, kept, response)
            total = _total(start, response.headers)
            with partial.path.open("ab") as file:
                _copy(response, file, start, total, patience, progress)
    except MissingFileError:
        raise
    except urllib.error.HTTPError as error:
        _explain_status(partial, error)
    except (urllib.error.URLError, OSError, http.client.HTTPException) as error:
        _explain_failure(partial, error, patience)


def _start(partial: _PartialFile, kept: int, response: http.client.HTTPResponse) -> int:
    """The position at which the bytes of an answer belong."""
    if response.status == _PARTIAL:
        range_sent = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if kept and range_sent and int(range_sent[1]) == kept:
            _log.info("%s: %s bytes are here already; fetching the rest", partial.url, f"{kept:,}")
            return kept
        partial.forget()
        raise _InterruptedError("the server sent another part than was asked for")
    if response.status != _OK:
        raise _failure(partial.url, f"the server answered with the status {response.status}")
    partial.begin(response.headers)
    return 0


def _total(start: int, headers: HTTPMessage) -> int | None:
    length = headers.get("Content-Length", "")
    return start + int(length) if length.isdigit() else None


def _copy(
    response: http.client.HTTPResponse,
    file: IO[bytes],
    start: int,
    total: int | None,
    patience: Patience,
    progress: Progress,
) -> None:
    done = start
    if (total or 0) > patience.most:
        raise DataError(f"the file has {total:,} bytes; at most {patience.most:,} are fetched")
    while chunk := response.read(_CHUNK):
        done += len(chunk)
        if done > patience.most:
            raise DataError(f"the file has more than the {patience.most:,} bytes that are fetched")
        file.write(chunk)
        progress("fetch", done, total or done)
    if total is not None and done < total:
        raise _InterruptedError(f"the transfer broke off after {done:,} of {total:,} bytes")


def _explain_status(partial: _PartialFile, error: urllib.error.HTTPError) -> None:
    said = f"the server answered with the status {error.code} ({error.reason})"
    error.close()
    if error.code == _NOT_SATISFIABLE:
        partial.forget()
        raise _InterruptedError(said) from error
    if error.code in _AGAIN:
        raise _InterruptedError(said) from error
    raise _failure(partial.url, said) from error


def _explain_failure(partial: _PartialFile, error: Exception, patience: Patience) -> None:
    url = partial.url
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        raise _InterruptedError(f"no answer for {patience.timeout:g} seconds") from error
    if isinstance(reason, (ConnectionError, http.client.HTTPException)):
        said = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        raise _InterruptedError(f"the connection failed ({said})") from error
    if isinstance(reason, socket.gaierror):
        host = urllib.parse.urlsplit(url).hostname
        raise _failure(url, f"the host {host} is unknown here (offline?)") from error
    if isinstance(error, OSError) and not isinstance(error, urllib.error.URLError):
        with explain_failure(partial.path) if type(error) is OSError else nullcontext():
            raise error  # of this machine's files: the disk is full
    raise _failure(url, str(reason)) from error


def _failure(url: str, problem: str) -> MissingFileError:
    return MissingFileError(
        f"cannot fetch {url}: {problem}. Try again later, set a proxy (https_proxy=...), or fetch"
        " the file by other means and name it: --from FILE"
    )


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows to HTTP and HTTPS alone, and never from HTTPS back to HTTP."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        scheme = urllib.parse.urlsplit(newurl).scheme
        if scheme not in ("http", "https") or (req.type == "https" and scheme == "http"):
            raise _failure(req.full_url, f"the server leads to {newurl}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(headers: dict[str, str]) -> urllib.request.OpenerDirector:
    """HTTP and HTTPS and nothing else: no files, no FTP."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        _Redirects(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    opener.addheaders = list(headers.items())
    return opener


def _silent(stage: str, done: int, total: int) -> None:
    """Nobody looks on."""
