"""What a server costs when twenty people use it at once, and when a large file comes.

``python benchmarks/serve_load.py`` prints a table and writes it to ``benchmarks/serve_load.md``.
Each of twenty people, with a token of their own, sends the bundled example (209 segments, two
systems) to a server in a process of its own, and asks for its state four times a second until all
is decided.
MATEO, the nearest peer, is no package that can be installed, and is not beside it.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from _measure import keep

from gnomon.data import example
from serve import cpu_seconds, megabytes, server

PEOPLE = 20
_OPEN = ("queued", "running", "interrupted")
_EX = example.path()
FILES = {
    "reference": _EX / "ref.A.txt",
    "a": _EX / "systems" / "apertium-direct.txt",
    "b": _EX / "systems" / "apertium-catalan.txt",
}
_REQUEST = json.dumps({"language_pair": "es-en", "methods": {}})


def token(folder: Path, name: str) -> str:
    """A way in for somebody."""
    command = [sys.executable, "-m", "gnomon", "serve", "tokens", str(folder), "--add", name]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.search(r"token=(\S+)", said)[1]  # type: ignore[index]  # it says one


def person(address: str, secret: str) -> tuple[list[float], float, str]:
    """Compare, and ask until all is decided: seconds of each question, of the whole, its state."""
    headers = {"Authorization": f"Bearer {secret}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        begun = time.perf_counter()
        opened = [(name, path.read_bytes()) for name, path in FILES.items()]
        parts = [
            ("reference" if name == "reference" else "output", (f"{name}.txt", data))
            for name, data in opened
        ]
        sent = client.post("/api/v1/comparisons", files=parts, data={"request": _REQUEST})
        if sent.is_error:
            sys.exit(sent.text)
        at, state, polls = f"/api/v1/comparisons/{sent.json()['id']}", "queued", []
        while state in _OPEN:
            time.sleep(0.25)
            asked = time.perf_counter()
            state = client.get(at).raise_for_status().json()["state"]
            polls.append(time.perf_counter() - asked)
        return polls, time.perf_counter() - begun, state


def large_upload(address: str, secret: str, process: int) -> tuple[float, float]:
    """Seconds to take a file of nearly 50 MB, and megabytes that the server took more meanwhile."""
    line = ("one two three four five six seven eight nine ten " * 4).encode() + b"\n"
    data = line * (49_000_000 // len(line))
    before, most, done = megabytes(process), 0.0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.02):
            most = max(most, megabytes(process))

    watcher = threading.Thread(target=watch)
    watcher.start()
    begun = time.perf_counter()
    parts = [("reference", ("r.txt", data)), ("output", ("a.txt", b"short\n"))]
    headers = {"Authorization": f"Bearer {secret}"}
    # refused in the end, as the files differ in length: what counts is that all of it was taken
    httpx.post(f"{address}/api/v1/comparisons", files=parts, headers=headers, timeout=120)
    seconds = time.perf_counter() - begun
    done.set()
    watcher.join()
    return seconds, most - before


def main() -> None:
    """Measure, and keep the table."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "comparisons"
        folder.mkdir(mode=0o700)
        with server(folder, Path(temporary) / "home") as (browser, process, first):
            idle = megabytes(process)
            pages = sorted(browser.get("/")[0] for _ in range(40))
            cpu = cpu_seconds(process)
            for _ in range(200):
                browser.get("/")
            cpu = (cpu_seconds(process) - cpu) / 200
            secrets = [token(folder, f"person {n}") for n in range(PEOPLE)]
            person(browser.address, secrets[0])
            with ThreadPoolExecutor(PEOPLE) as pool:
                came = list(pool.map(lambda s: person(browser.address, s), secrets))
            polls = [seconds for each, _, _ in came for seconds in each]
            late, ends = 1000 * statistics.quantiles(polls, n=20)[-1], [end for _, end, _ in came]
            took, more = large_upload(browser.address, secrets[0], process)
            rows = [
                f"| first page of a fresh server | {first:.2f} s |",
                f"| the form | {1000 * statistics.median(pages):.0f} ms |",
                f"| CPU of a page | {1000 * cpu:.1f} ms |",
                f"| memory of the server, idle | {idle:.0f} MB |",
                f"| {PEOPLE} at once: 95th percentile of {len(polls)} questions | {late:.0f} ms |",
                f"| the same: answered | {sum(s == 'done' for *_, s in came)} of {PEOPLE} |",
                f"| the same: first and last answer after | {min(ends):.1f}, {max(ends):.1f} s |",
                f"| 49 MB sent: taken | {took:.1f} s |",
                f"| the same: what the server takes more | {more:.0f} MB |",
            ]
    keep("serve_load", ["| | |", "|---|---|", *rows])


if __name__ == "__main__":
    main()
