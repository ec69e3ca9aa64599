"""``gnomon serve``: comparisons and studies in a browser."""

from __future__ import annotations

import importlib.util
import logging
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command
from gnomon.cli.parser import rare
from gnomon.core.errors import OutputError, UsageError, not_installed

if TYPE_CHECKING:
    import argparse
    import socket

    from gnomon.cli._options import Subparsers
    from gnomon.serve import Access, Settings

__all__ = ["add"]

_log = logging.getLogger(__name__)
_PACKAGES = ("starlette", "uvicorn", "python_multipart", "duckdb", "pyarrow")
_EXAMPLES = """\
examples:
  gnomon serve                        (in your browser)
  gnomon serve comparisons
  gnomon serve wmt.store
  gnomon serve /srv/gnomon --behind-proxy https://compare.example.org
"""
_LAST_PORT = 65535
_KEPT = "comparisons are kept; those that ran go on at the next start"


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "serve",
        purpose="compare translations in a browser",
        more=_EXAMPLES,
    )
    parser.add_argument(
        "places",
        nargs="*",
        metavar="FOLDER|STORE",
        help="the folder of comparisons (default: one of your own), and stores of studies to show",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the link, and open no browser"
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="a TOML file of workers, limits and further metrics, under [serve]",
    )
    where = parser.add_argument_group("where it listens")
    where.add_argument(
        "--port", type=int, metavar="N", help="the port (default: 8765, or the next free one)"
    )
    where.add_argument(
        "--behind-proxy",
        metavar="URL",
        help="the encrypted address at which a proxy on this machine offers it",
    )
    where.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to listen on (default: 127.0.0.1, which nobody else can reach); others"
        " need a certificate or a proxy",
    )
    where.add_argument(
        "--certificate",
        metavar="FILE",
        help="the certificate for connections from other machines, PEM",
    )
    where.add_argument("--key", metavar="FILE", help="the key of the certificate, PEM")
    rare(
        where.add_argument(
            "--name", metavar="NAME", help="the host name in the link, with a certificate"
        )
    )
    parser.set_defaults(run=_run, kept=_KEPT, computes=False)  # other processes do


def _run(args: argparse.Namespace) -> int:
    """Start, say where, answer until ended."""
    lacking = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if lacking:
        raise not_installed("gnomon serve", lacking, "serve")
    from gnomon.serve import make_app, run_server

    _check(args)
    listening, settings = _listening(args, _settings(args))
    with listening:
        app = make_app(settings)
        if app.state.workspace is not None:
            app.state.workspace.hold()  # a second server says so at once

        def ready() -> None:
            _say(args, settings, app.state.access)

        run_server(app, listening, certificate=_certificate(args), ready=ready)
    return 0


def _check(args: argparse.Namespace) -> None:
    from gnomon.serve import LOOPBACK, address_of

    if bool(args.certificate) != bool(args.key):
        raise UsageError("--certificate and --key go together: name both files")
    clear = False
    if args.behind_proxy:
        clear = address_of(args.behind_proxy)[0].startswith("http://")
    if args.certificate and args.behind_proxy:
        raise UsageError("--behind-proxy and --certificate exclude each other: the proxy has one")
    encrypted = args.certificate or (args.behind_proxy and not clear)
    if args.host not in LOOPBACK and not encrypted:
        raise UsageError(
            f"--host {args.host} would send texts and tokens over the network in the clear; add"
            " --certificate FILE --key FILE, or put a proxy in front and add --behind-proxy URL"
        )
    if args.port is not None and not 0 <= args.port <= _LAST_PORT:
        raise UsageError(
            f"--port is {args.port}; it must be from 1 to {_LAST_PORT}, or 0 for any that is free"
        )


def _settings(args: argparse.Namespace) -> Settings:
    from gnomon.serve import Settings, read_config
    from gnomon.studies import reading

    places = [Path(place) for place in args.places]
    stores = tuple(place for place in places if reading.is_store(place))
    folders = [place for place in places if place not in stores]
    if len(folders) > 1:
        raise UsageError(
            f"comparisons are kept in one folder, and {len(folders)} are named:"
            f" {', '.join(map(str, folders))}"
        )
    folder = folders[0] if folders else None if stores else _default_folder()
    if folder is not None:
        _make(folder)
    settings = Settings(folder=folder, stores=stores)
    return read_config(Path(args.config), settings) if args.config else settings


def _default_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("gnomon", appauthor=False)) / "serve"


def _make(folder: Path) -> None:
    """Make the folder, for this person alone; refuse one that cannot be used."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(
            f"comparisons cannot be kept in {folder}: {error.strerror}; name a folder that you may"
            " write to: gnomon serve FOLDER"
        ) from error


def _listening(args: argparse.Namespace, settings: Settings) -> tuple[socket.socket, Settings]:
    """The socket, and the settings with the address that browsers know."""
    from gnomon.serve import LOOPBACK, PORT, address_of, listen

    wanted = PORT if args.port is None else args.port
    listening = listen(args.host, wanted, exactly=args.port is not None)
    port = listening.getsockname()[1]
    if args.behind_proxy:
        address, host = address_of(args.behind_proxy)
        hosts = {host}
    elif args.host in LOOPBACK:
        host = f"[{args.host}]:{port}" if ":" in args.host else f"{args.host}:{port}"
        address, hosts = (
            f"http://{host}",
            {f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"},
        )
    else:
        host = f"{args.name or args.host}" + ("" if port == 443 else f":{port}")
        address, hosts = f"https://{host}", {host}
    if args.certificate:
        address = address.replace("http://", "https://")
    return listening, replace(settings, address=address, hosts=frozenset(hosts))


def _certificate(args: argparse.Namespace) -> tuple[Path, Path] | None:
    return (Path(args.certificate), Path(args.key)) if args.certificate else None


def _say(args: argparse.Namespace, settings: Settings, access: Access) -> None:
    """Where it is, and how one gets in."""
    from gnomon.serve import open_browser

    way_in = f"{settings.address}/enter?token="
    opened = not args.no_browser and open_browser(way_in + access.create_code())
    said = ["gnomon is open in your browser."] * opened
    said += [f"Open (private link): {way_in}{access.launch_token()}"]
    if settings.folder is not None:
        said += [f"Comparisons are kept in {settings.folder}"]
    said += ["Ctrl-C ends it."]
    sys.stdout.write("\n".join(said) + "\n")
    sys.stdout.flush()
