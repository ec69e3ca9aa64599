"""Fetching one file over HTTP: whole or not at all."""

from __future__ import annotations

import http.client
import secrets
import urllib.error
import urllib.parse
import urllib.request
from typing import IO, TYPE_CHECKING

from gnomon.core.errors import DataError, MissingFileError, UsageError
from gnomon.core.signature import version
from gnomon.data.formats import explain_failure

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.client import HTTPMessage
    from pathlib import Path

    Progress = Callable[[str, int, int], None]

__all__ = ["download", "require_url"]


_CHUNK = 1 << 18
_MOST = 32 << 30  # bytes that a file may have


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
    url: str, target: Path, *, timeout: float = 30.0, progress: Progress | None = None
) -> None:
    """Fetch a file, which appears when it is whole.

    Proxies are those of the environment (``https_proxy``, ``no_proxy``, ...).

    Args:
        url: an address of HTTP or HTTPS.
        target: the file to make.
        timeout: seconds without an answer or a byte.
        progress: called with "fetch", bytes so far, and bytes in all.

    Raises:
        MissingFileError: it cannot be fetched; the message says why and what to do.
        DataError: it is larger than allowed.
        UsageError: the address is none.
    """
    require_url(url)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with explain_failure(target):
            with scratch.open("xb") as file:
                _transfer(url, file, timeout, progress)
            scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)


def _transfer(url: str, file: IO[bytes], timeout: float, progress: Progress | None) -> None:
    headers = {"Accept-Encoding": "identity", "User-Agent": f"gnomon/{version()}"}
    try:
        with _opener(headers).open(url, timeout=timeout) as response:
            _copy(response, file, url, progress)
    except MissingFileError:
        raise
    except urllib.error.HTTPError as error:
        with error:
            said = f"the server answered with the status {error.code} ({error.reason})"
        raise _failure(url, said) from error
    except (urllib.error.URLError, OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, TimeoutError):
            raise _failure(url, f"no answer for {timeout:g} seconds") from error
        if type(error) is OSError:
            raise  # of this machine's files: the disk is full
        said = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        raise _failure(url, f"the connection failed ({said}; offline?)") from error


def _copy(
    response: http.client.HTTPResponse, file: IO[bytes], url: str, progress: Progress | None
) -> None:
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isdigit() else None
    done = 0
    if (total or 0) > _MOST:
        raise DataError(f"the file has {total:,} bytes; at most {_MOST:,} are fetched")
    while chunk := response.read(_CHUNK):
        done += len(chunk)
        if done > _MOST:
            raise DataError(f"the file has more than the {_MOST:,} bytes that are fetched")
        file.write(chunk)
        if progress is not None:
            progress("fetch", done, total or done)
    if total is not None and done < total:
        raise _failure(url, f"the transfer broke off after {done:,} of {total:,} bytes")


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
