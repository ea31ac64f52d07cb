"""Disassembles images of device code with nvdisasm, in a sandbox without a device.

    python -I -B disassemble_images.py PLACE hone-candidate.so {} FOLDER…

FOLDER…: the folders that the process may read.

The artifact is a line of JSON, then the images. The line has "sizes", the bytes of each image, and two limits:
"listing_bytes_max" of one listing and "bytes_max" of all. The answer is a line of JSON, then the listings. The line has
"problem": the reason why there are no listings, or "". "listings" has the "bytes" of each, and its "problem".

The images come from a submission's process. nvdisasm may crash, never end, or need any amount of memory. Each image
therefore gets a process with its own limits, so that a bad image does not affect others. The answer is not trusted.
"""

from __future__ import annotations

import glob
import importlib.util
import json
import os
import re
import resource
import subprocess
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # python -I leaves it out
from answer_host import answer_host

del sys.path[0]

TOOL = "nvdisasm"
SECONDS_MAX = 20  # processor time of one image; a listing of 16 MB takes 5 s
MEMORY_BYTES_MAX = 1 << 30
WORDS_MAX = 240


def numbers_in(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path)]


def places() -> list[str]:
    """Possible paths of nvdisasm: in Triton's package, in CUDA toolkits (newest first), and on the sandbox's PATH."""
    found = importlib.util.find_spec("triton")  # imports nothing
    folders = [
        os.path.join(folder, "backends/nvidia/bin") for folder in (found and found.submodule_search_locations) or []
    ]
    folders += ["/usr/local/cuda/bin", *sorted(glob.glob("/usr/local/cuda-*/bin"), key=numbers_in, reverse=True)]
    return [os.path.join(folder, TOOL) for folder in folders + os.get_exec_path()]


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))


def reason_of(status: int, errors: str) -> str:
    """Why nvdisasm failed. `errors`: its error output, which is untrusted text."""
    if status < 0:
        return (
            f"{TOOL} ended with signal {-status}; its limits for an image are {SECONDS_MAX} s of processor time "
            f"and {MEMORY_BYTES_MAX >> 20} MiB of memory"
        )
    lines = [line for line in errors.splitlines() if line.strip() and " warning " not in line]
    return lines[-1] if lines else f"{TOOL} ended with status {status}"


def disassemble(tool: str, image: bytes, bytes_max: int) -> tuple[str, bytes]:
    """Returns the problem, or "" and the listing."""
    with open("image", "wb") as file:
        file.write(image)
    with open("errors", "w+b") as errors:
        command = [tool, "--print-code", "--print-line-info", "image"]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, preexec_fn=limit
        )
        assert process.stdout is not None
        listing = process.stdout.read(bytes_max + 1)
        if len(listing) > bytes_max:
            process.kill()
            process.wait()
            return f"its listing has more than {bytes_max} bytes", b""
        status = process.wait()
        errors.seek(0)
        said = errors.read(1 << 16).decode("utf-8", "replace")
    return (reason_of(status, said), b"") if status else ("", listing)


def answer_to(artifact: bytes, _: dict[str, Any]) -> bytes:
    end = artifact.index(b"\n")
    head = json.loads(artifact[:end])
    tool = next((place for place in places() if os.access(place, os.X_OK)), "")
    if not tool:
        problem = (
            f"found no {TOOL} in Triton's package of {sys.executable}, in /usr/local/cuda*/bin, "
            "/usr/local/bin or /usr/bin; install triton for that interpreter, or a CUDA toolkit, or set another "
            "interpreter: cuda.python, or plugins.python if that is not set"
        )
        return json.dumps({"problem": problem, "listings": []}).encode() + b"\n"
    said, listings, at, left = [], [], end + 1, int(head["bytes_max"])
    for size in head["sizes"]:
        problem, listing = disassemble(tool, artifact[at : at + size], min(left, int(head["listing_bytes_max"])))
        at += size
        left -= len(listing)
        listings.append(listing)
        said.append({"bytes": len(listing), "problem": problem[:WORDS_MAX]})
    return json.dumps({"problem": "", "listings": said}).encode() + b"\n" + b"".join(listings)


def main() -> int:
    return answer_host("disassemble", answer_to)


if __name__ == "__main__":
    sys.exit(main())
