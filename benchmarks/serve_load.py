"""What a server does when twenty people use it at once, a large file comes, and it is killed.

``python benchmarks/serve_load.py`` prints a table and writes it to ``benchmarks/serve_load.md``.
Twenty people, each with a token of their own, send the bundled example (209 segments, two systems)
50 times to a server in a process of its own, and ask for its state four times a second until all
is decided. Then come 60 requests at once by one link for segments with a word, 200 requests at
once, 2,000 in a row, 20 deaths of jobs, two of each comparison, and 20 deaths of the server, each
just after somebody sent a comparison.
MATEO, the nearest peer, is no package that can be installed, and is not beside it.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from _measure import keep

from gnomon.data import example
from gnomon.serve import Access
from gnomon.serve.workspace import Workspace
from serve import Browser, megabytes, server

PEOPLE, COMPARISONS, AT_ONCE, IN_A_ROW, DEATHS = 20, 50, 200, 2000, 20
GUESTS = 60
_OPEN = ("queued", "running")
_EX = example.path()
FILES = {
    "reference": _EX / "ref.A.txt",
    "a": _EX / "systems" / "apertium-direct.txt",
    "b": _EX / "systems" / "apertium-catalan.txt",
}
_REQUEST = json.dumps({"language_pair": "es-en"})


def token(folder: Path, name: str) -> str:
    """A way in for somebody."""
    return Access(folder).add_token(name, "author")[1]


def person(address: str, secret: str) -> tuple[list[float], float, str]:
    """Compare, and ask until all is decided: seconds of each question, of the whole, its state."""
    headers = {"Authorization": f"Bearer {secret}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        begun = time.perf_counter()
        sent = send(client)
        at, state, polls = f"/api/v1/comparisons/{sent.json()['id']}", "queued", []
        while state in _OPEN:
            time.sleep(0.25)
            asked = time.perf_counter()
            state = client.get(at).raise_for_status().json()["state"]
            polls.append(time.perf_counter() - asked)
        return polls, time.perf_counter() - begun, state


def send(client: httpx.Client) -> httpx.Response:
    """Have the example compared."""
    parts = [
        ("reference" if name == "reference" else "output", (f"{name}.txt", path.read_bytes()))
        for name, path in FILES.items()
    ]
    sent = client.post("/api/v1/comparisons", files=parts, data={"request": _REQUEST})
    if sent.is_error:
        sys.exit(sent.text)
    return sent


def by_one_link(browser: Browser, folder: Path, study: str) -> tuple[float, float]:
    """Seconds until a link's requests for segments are answered, and of the slowest other page."""
    _, secret = Access(folder).add_link(study)
    page = f"{browser.address}/studies/{study}/segments?q=the"
    with httpx.Client(timeout=60, follow_redirects=True) as guest:
        guest.get(f"{browser.address}/s/{secret}").raise_for_status()
        while "class=exhibit" not in guest.get(page).text.replace('"', ""):
            time.sleep(0.2)
        with ThreadPoolExecutor(GUESTS) as pool:
            begun = time.perf_counter()
            asked = [pool.submit(guest.get, page) for _ in range(GUESTS)]
            others = []
            while not all(one.done() for one in asked):
                others.append(browser.get("/")[0])
            seconds = time.perf_counter() - begun
            if any(one.result().status_code != 200 for one in asked):
                sys.exit("a request of the link was not answered")
    return seconds, max(others)


def jobs_killed(address: str, secret: str, folder: Path) -> tuple[int, int]:
    """How many comparisons are done in the end, of those whose jobs died twice, and of how many."""
    workspace, taken = Workspace(folder), []
    headers = {"Authorization": f"Bearer {secret}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        for _ in range(DEATHS // 2):
            taken.append(send(client).json()["id"])
            ended: set[int] = set()
            while len(ended) < 2 and workspace.study(taken[-1]).job.active:
                pids = {step.pid for step in workspace.study(taken[-1]).job.steps if step.pid}
                for pid in pids - ended:
                    os.kill(pid, signal.SIGKILL)
                    ended.add(pid)
                time.sleep(0.02)
            if len(ended) < 2:
                sys.exit("a job ended before it was killed")
    while any(workspace.study(each).job.active for each in taken):
        time.sleep(0.2)
    return sum(workspace.study(each).job.state == "done" for each in taken), len(taken)


def killed(folder: Path, home: Path, secret: str) -> int:
    """How many comparisons are done in the end, of those that servers took before they died."""
    taken = []
    for number in range(DEATHS + 1):
        with server(folder, home) as (browser, process, _):
            if number < DEATHS:
                headers = {"Authorization": f"Bearer {secret}"}
                with httpx.Client(base_url=browser.address, headers=headers, timeout=60) as client:
                    taken.append(send(client).json()["id"])
                time.sleep(0.1 * (number % 8))
                os.kill(process, signal.SIGKILL)
                continue
            workspace = Workspace(folder)
            while any(workspace.study(each).job.active for each in taken):
                time.sleep(0.2)
            return sum(workspace.study(each).job.state == "done" for each in taken)
    return 0


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
            secrets = [token(folder, f"person {n}") for n in range(PEOPLE)]
            person(browser.address, secrets[0])
            with ThreadPoolExecutor(PEOPLE) as pool:
                asked = (secrets * (COMPARISONS // PEOPLE + 1))[:COMPARISONS]
                came = list(pool.map(lambda s: person(browser.address, s), asked))
            polls = [seconds for each, _, _ in came for seconds in each]
            late, ends = 1000 * statistics.quantiles(polls, n=20)[-1], [end for _, end, _ in came]
            study = next(each.id for each in Workspace(folder).studies())
            of_link, beside = by_one_link(browser, folder, study)
            died, of_jobs = jobs_killed(browser.address, secrets[0], folder)
            done = sum(state == "done" for *_, state in came)
            took, more = large_upload(browser.address, secrets[0], process)
            with ThreadPoolExecutor(AT_ONCE) as pool:
                got = list(pool.map(lambda _: browser.get("/"), range(AT_ONCE)))
            answered, slowest = sum(s == 200 for *_, s in got), max(s for s, *_ in got)
            before = megabytes(process)
            for _ in range(IN_A_ROW):
                browser.get("/")
            grown = megabytes(process) - before
            rows = [
                f"| first page of a fresh server | {first:.2f} s |",
                f"| the form | {1000 * statistics.median(pages):.0f} ms |",
                f"| memory of the server, idle | {idle:.0f} MB |",
                f"| {PEOPLE} at once: 95th percentile of {len(polls)} questions | {late:.0f} ms |",
                f"| the same: comparisons done | {done} of {len(came)} |",
                f"| the same: first and last answer after | {min(ends):.1f}, {max(ends):.1f} s |",
                f"| {GUESTS} requests of one link at once: answered after | {of_link:.1f} s |",
                f"| the same: slowest page of another person | {1000 * beside:.0f} ms |",
                f"| {DEATHS} deaths of jobs: comparisons done | {died} of {of_jobs} |",
                f"| 49 MB sent: taken | {took:.1f} s |",
                f"| the same: what the server takes more | {more:.0f} MB |",
                f"| {AT_ONCE} requests at once: answered | {answered} of {AT_ONCE} |",
                f"| the same: the last one after | {slowest:.1f} s |",
                f"| {IN_A_ROW:,} requests in a row: what the server takes more | {grown:.0f} MB |",
            ]
        done = killed(folder, Path(temporary) / "home", secrets[0])
        rows.append(f"| {DEATHS} deaths of the server: done in the end | {done} of {DEATHS} |")
    keep("serve_load", ["| | |", "|---|---|", *rows])


if __name__ == "__main__":
    main()
