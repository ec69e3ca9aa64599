"""Says so before torch is installed, where that brings a build for GPUs and its libraries."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

WANTED = Path(__file__).resolve().parents[1] / "requirements" / "torch.txt"
WARNING = """\
torch comes as its build for GPUs here: about 3 GB to download, 5.3 GB on disk. Tests need only its
build for CPUs (200 MB). To take that, name an index or a folder that has it, as the installation
page of PyTorch says, and run again:
    PIP_EXTRA_INDEX_URL=ADDRESS make test     or     PIP_FIND_LINKS=FOLDER make test"""


def brings_gpu_libraries(report: str) -> bool:
    """Whether a report of pip names libraries for GPUs.

    >>> brings_gpu_libraries('{"install": [{"metadata": {"name": "nvidia-cublas"}}]}')
    True
    """
    names = [one["metadata"]["name"].lower() for one in json.loads(report)["install"]]
    return any(name.startswith(("nvidia", "triton", "cuda")) for name in names)


def main() -> int:
    """Ask pip what it would install."""
    if importlib.util.find_spec("torch") is not None:
        return 0
    pip = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--report", "-"]
    pip += ["-r", str(WANTED)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)  # noqa: S603  # pip
    if done.returncode == 0 and brings_gpu_libraries(done.stdout):
        print(WARNING)
    return 0  # what fails here fails again, and says why, when it is installed


if __name__ == "__main__":
    sys.exit(main())
