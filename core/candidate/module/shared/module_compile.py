"""Compiles and links an extension: C++ with the host's compiler, CUDA or HIP with the vendor's.

Torch's own headers take most of a minute, mostly for declarations that no kernel uses. So a source is first compiled
with the headers of trimmed/ in front of them: tensors, their methods, and the operators that the source names. If that
fails, the source is compiled again with torch's headers alone. Only the errors of that second run count.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import linecache
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from typing import Any, NoReturn

import torch

from module_phrases import is_of_machine
from module_toolkits import Cuda, Hindered, Toolkit

TRIMMED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "trimmed")
TORCH = os.path.dirname(torch.__file__)
OPERATORS = os.path.join(TORCH, "include/ATen/ops")
ARCHITECTURE = "hone-architecture"  # in flags, for those of the device: they differ in nothing else between processes
WORDS_MAX = 2000
AT_ONCE = 2
HEADERS_MAX = 256
# What would mean something else with ours (types of literals, gradients), and whole libraries of torch's.
IN_FULL = re.compile(r"\btorch::(tensor|nn|optim|autograd|jit|data|serialize)\b|requires_grad_?\(\s*(?!false\b)[^)\s]")
# By what a source says, besides the operators.
FOR_WORDS = {
    r"\bTORCH_LIBRARY|\bTORCH_FN\b": "torch/library.h",
    r"\bindexing\b|\bSlice\b|\bindex_put_?\(|\.index\(": "ATen/TensorIndexing.h",
    r"\bat::cuda::|\bc10::cuda::": "ATen/cuda/CUDAContext.h",
    r"\bparallel_for\b": "ATen/Parallel.h",
}
# What each operator's header includes and few sources need.
FLAGS_FOR_WORDS = {
    r"PYBIND11|\bpybind11\b|\bpy::|PyObject|TORCH_EXTENSION_NAME": "-DHONE_BINDS",
    r"\bdevice_of\b": "-DHONE_DEVICE_OF",
    r"\bglobalContext\b": "-DHONE_CONTEXT",
    r"\bgetCurrentCUDA(Blas|BlasLt|Sparse|SolverDn)Handle\b": "-DHONE_LIBRARIES",
}
EXCERPT = re.compile(r"^(\s.*|\s*\d+ \|.*)$", re.MULTILINE)  # of a source: what it says is not the machine's word
TOOLKIT_HEADER = re.compile(
    r"(cuda|cublas|cusparse|cusolver|curand|cufft|cudnn|nvrtc|nvtx|nvml|cub/|thrust/|cooperative|mma\.h|Python\.h|"
    r"hip|roc|rccl|miopen|(ATen|c10)/hip/)"
)
OF_A_TOOL = re.compile(
    r"(ptxas|nvlink).*(error|fatal)|nvcc (error|fatal)|"
    r"(\S*/)?(c\+\+|g\+\+|cc1plus|gcc|clang[\d+-]*|(ld\.)?lld): (fatal )?error"
)
NO_FILE = re.compile(
    r"fatal error: ([^\s:]+): No such file|cannot open source file \"([^\"]+)\"|fatal error: '([^']+)' file not found"
)


class Refused(RuntimeError):
    """The compilers or the linker found errors in the source. `words`: the errors, for its author."""

    def __init__(self, name: str, words: str, of_linker: bool = False) -> None:
        super().__init__(f"Error building extension '{name}': {words}")
        self.words = words
        self.of_linker = of_linker


class Plan:
    """The commands that torch would have given to ninja. `written`: translated source → its original, by path."""

    def __init__(
        self,
        folder: str,
        given: dict[str, Any],
        toolkit: Toolkit = Cuda,
        written: dict[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.toolkit = toolkit
        self.written = dict(written or {})
        self.sources = sorted(os.path.abspath(path) for path in given["sources"])
        self.target = given["library_target"]
        self.name = os.path.splitext(self.target)[0]
        self.with_cuda = bool(given["with_cuda"])
        self.flags = {
            kind: [flag.strip() for flag in given.get(kind) or []]
            for kind in ("cflags", "post_cflags", "cuda_cflags", "cuda_post_cflags", "ldflags")
        }
        for flags in self.flags.values():  # in front of themselves C++'s own headers do not find them
            flags[:] = [flag for flag in flags if flag != "-isystem /usr/include"]

    def key(self) -> str:
        """A hash of sources and flags, the same in every folder and for every device."""
        hashed = hashlib.sha256()
        here = os.getcwd()
        flags = json.dumps([self.name, self.with_cuda, self.flags, torch.__version__]).replace(here, ".")
        hashed.update(flags.encode())
        for path in self.sources:
            with open(path, "rb") as file:
                content = hashlib.sha256(file.read()).hexdigest()
            hashed.update(f"\n{os.path.basename(path)} {content}".encode())
        for path in self.headers(here):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                content = hashlib.sha256(file.read()).hexdigest()
                hashed.update(f"\n{os.path.relpath(path, here)} {content}".encode())
        return hashed.hexdigest()

    def headers(self, here: str) -> list[str]:
        """Files in the submission's own folders of headers."""
        flags = " ".join(self.flags["cflags"] + self.flags["cuda_cflags"])
        folders = [os.path.abspath(folder) for folder in re.findall(r"-I\s*(\S+)", flags)]
        own = {folder for folder in folders if folder.startswith(here) and folder != here}
        found = [os.path.join(at, name) for top in sorted(own) for at, _, names in os.walk(top) for name in names]
        return sorted(found)[:HEADERS_MAX]


def own_headers(text: str, folder: str, toolkit: Toolkit) -> list[str] | None:
    """The flags that put the trimmed headers in front of torch's. None if this source needs torch's own."""
    if IN_FULL.search(text):
        return None
    bare = re.search(r"using namespace (torch|at)\b", text)
    names = set(re.findall(r"\b(\w+)\s*\(" if bare else r"\b(?:torch|at)::(\w+)", text))
    headers = [f"ATen/ops/{name}.h" for name in sorted(names) if os.path.exists(os.path.join(OPERATORS, f"{name}.h"))]
    headers += [header for words, header in FOR_WORDS.items() if re.search(words, text)]
    if toolkit is not Cuda:  # what torch has in their place the source includes itself
        headers = [header for header in headers if "/cuda/" not in header]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "hone_names.h"), "w") as file:
        file.write("#pragma once\n" + "".join(f"#include <{header}>\n" for header in headers))
    more = [flag for words, flag in FLAGS_FOR_WORDS.items() if re.search(words, text)]
    return ["-isystem", TRIMMED, "-isystem", folder, "-DAT_PER_OPERATOR_HEADERS", *more]


def is_devices(flag: str) -> bool:
    """Whether this flag stands for the device's architecture. Compilers cannot find it in a dry run."""
    return flag == ARCHITECTURE or re.fullmatch(r"(-arch|--gpu-architecture|--offload-arch)=native", flag) is not None


class Unit:
    """One source, its compiler, and the compiler's output."""

    def __init__(self, plan: Plan, path: str, compiler: str, architecture: Callable[[], list[str]]) -> None:
        self.name = os.path.basename(path)
        self.object = f"{self.name}.o"
        self.folder = plan.folder
        with open(path, encoding="utf-8", errors="replace") as file:
            self.text = file.read()
        self.written = plan.written.get(path)
        has_kernels = plan.with_cuda and os.path.splitext(path)[1] in plan.toolkit.SUFFIXES
        kinds = ("cuda_cflags", "cuda_post_cflags") if has_kernels else ("cflags", "post_cflags")
        flags, post = (shlex.split(" ".join(plan.flags[kind])) for kind in kinds)
        self.flags = [one for flag in flags for one in (architecture() if is_devices(flag) else [flag])]
        self.compiler = shlex.split(compiler)
        if has_kernels:
            self.compiler = plan.toolkit.compiler(plan.folder, self.text, self.flags)
        self.post = post + (plan.toolkit.headers() if plan.with_cuda else [])
        self.own = own_headers(self.text, os.path.join(plan.folder, f"{self.name}.names"), plan.toolkit)
        self.path = self.name if os.path.dirname(path) == plan.folder else path
        self.code: int | None = None
        self.said = ""

    def start(self, trimmed: bool) -> Running:
        first = (self.own or []) if trimmed else []
        words = [*self.compiler, *first, *self.flags, "-c", self.path, "-o", self.object, *self.post]
        return Running(words, self.folder)

    def lines(self) -> list[str]:
        """The source lines. If torch translated the source to HIP: the original line of each, "" if none matches."""
        lines = self.text.split("\n")
        if self.written is None:
            return lines
        with open(self.written, encoding="utf-8", errors="replace") as file:
            written = file.read().split("\n")
        found = [""] * len(lines)
        for what, i, j, at, end in difflib.SequenceMatcher(None, written, lines, autojunk=False).get_opcodes():
            if what == "equal" or j - i == end - at:
                found[at:end] = written[i:j]
        return found


class Running:
    """A running compiler."""

    def __init__(self, words: list[str], folder: str) -> None:
        try:
            self.process = subprocess.Popen(
                words,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "LC_ALL": "C", "TMPDIR": folder},
            )
        except FileNotFoundError:
            raise Hindered(f"load_inline needs a C++ compiler, found no {words[0]}: install g++") from None

    def end(self) -> tuple[int, str]:
        said = self.process.communicate()[0].decode("utf-8", "replace")
        return self.process.returncode, said


def run_side_by_side(units: list[Unit], trimmed: bool) -> None:
    """Compiles the units, AT_ONCE at a time: more of them would not fit in the memory limit."""
    for at in range(0, len(units), AT_ONCE):
        running = []
        try:
            for unit in units[at : at + AT_ONCE]:
                running.append((unit, unit.start(trimmed)))
        finally:
            for unit, one in running:
                unit.code, unit.said = one.end()


def in_the_source(line: str, units: list[Unit]) -> tuple[Unit, int] | None:
    """The unit and the line number that a line of a compiler's output names."""
    found = re.match(r"(?:\S*/)?([\w.]+)(?::(\d+)(?::\d+)?:|\((\d+)\):) (?:fatal |catastrophic )?error", line)
    if found is None:
        return None
    unit = next((unit for unit in units if unit.name == found[1]), None)
    return (unit, int(found[2] or found[3])) if unit else None


def place_of(unit: Unit, number: int) -> str:
    """Where the submission has this line, if it has it once. In the file, lines of torch's come first."""
    lines = unit.lines()
    wanted = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    source = linecache.getlines("submission.py")
    places = [i for i, line in enumerate(source, 1) if wanted and line.strip() == wanted]
    return f" (submission.py:{places[0]})" if len(places) == 1 else ""


def errors_of(said: str, units: list[Unit]) -> str:
    """The compilers' errors, each with its excerpt, without paths of this machine."""
    found, excerpt = [], 0
    for line in said.split("\n"):
        at = in_the_source(line, units)
        if at:
            unit, number = at
            words = re.sub(r"^.*?error\s*:\s*", "", line)
            found.append(f"{unit.name}:{number}: error: {words}{place_of(unit, number)}")
            excerpt = 3
        elif OF_A_TOOL.match(line):
            found.append(without_folders(line))
        elif excerpt and line.startswith(" ") and line.strip():
            found.append(line[:200])
            excerpt -= 1
        else:
            excerpt = 0
    return "\n".join(found or errors_of_headers(said, units))[:WORDS_MAX]


def errors_of_headers(said: str, units: list[Unit]) -> list[str]:
    """Errors in headers that the source causes. A toolkit that does not fit causes errors that name no source."""
    if not any(
        re.search(rf"of {name}\b|^{name}:\d+.*(required from|in instantiation)", said, re.M)
        for name in [re.escape(unit.name) for unit in units]
    ):
        return []
    lines = re.findall(r"^/\S*/([^/\s:(]+)[:(]\d+[:)][^\n]*?\berror\s*:\s*([^\n]*)", said, re.M)
    return [f"in <{header}>: error: {words}" for header, words in lines]


def blame(plan: Plan, units: list[Unit], said: str, code: int) -> NoReturn:
    """Raises Refused if the source is to blame for a failed compilation, Hindered if it may be the machine."""
    missing = [next(filter(None, found)) for found in NO_FILE.findall(said)]
    words = errors_of(said, units)
    lacks = any(TOOLKIT_HEADER.match(name) for name in missing)
    if code < 0 or lacks or is_of_machine(without_sources(said, units)) or not words:
        raise Hindered(f"Error building extension '{plan.name}': {last_words(said, code)}")
    raise Refused(plan.name, words)


def without_sources(said: str, units: list[Unit]) -> str:
    """A compiler's output without the lines that it quotes from the sources."""
    lines = [line for line in EXCERPT.sub("", said).split("\n") if not in_the_source(line, units)]
    return "\n".join(lines)


def last_words(said: str, code: int) -> str:
    lines = [line for line in said.split("\n") if line.strip()]
    wrong = [line for line in lines if re.search(r"error|fatal|signal|Killed", line)]
    return without_folders((wrong or lines or [f"a compiler ended with code {code}"])[0])[:400]


def without_folders(line: str) -> str:
    return re.sub(r"(\s|^|['\"])/\S*/(?=\S)", r"\1", line)


def link(plan: Plan, units: list[Unit], compiler: str) -> None:
    folder = os.path.join(TORCH, "lib")
    flags = [
        flag
        for flag in shlex.split(" ".join(plan.flags["ldflags"]))  # torch for processors has no such libraries
        if not re.fullmatch("-l(c10|torch)_(cuda|hip)", flag) or os.path.exists(f"{folder}/lib{flag[2:]}.so")
    ]
    words = [*shlex.split(compiler), *(unit.object for unit in units), *flags, "-s", "-o", plan.target]
    code, said = Running(words, plan.folder).end()
    if code == 0:
        return
    missing = re.findall(r"(multiple definition of [^;\n]+|cannot find -l\S+)", said)
    if code > 0 and missing and not is_of_machine(said):
        errors = "\n".join(f"link error: {one}" for one in dict.fromkeys(missing))[:WORDS_MAX]
        raise Refused(plan.name, errors, of_linker=True)
    raise Hindered(f"Error building extension '{plan.name}': {last_words(said, code)}")


def undefined(name: str) -> str:
    """A symbol as its author wrote it, demangled."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        ran = subprocess.run(["c++filt", name], capture_output=True, text=True, timeout=10)
        return ran.stdout.strip() or name
    return name


def build(plan: Plan, compiler: str, architecture: Callable[[], list[str]]) -> dict[str, bool]:
    """Leaves the library in the plan's folder. Returns, by source, whether the trimmed headers were enough.

    `architecture()` returns the flags for the device. It is called only for a source that needs them.
    """
    units = [Unit(plan, path, compiler, architecture) for path in plan.sources]
    run_side_by_side([unit for unit in units if unit.own is not None], trimmed=True)
    again = [unit for unit in units if unit.code != 0]
    run_side_by_side(again, trimmed=False)
    failed = [unit for unit in again if unit.code != 0]
    if failed:
        worst = min(unit.code or 0 for unit in failed)
        blame(plan, units, "\n".join(unit.said for unit in failed), worst)
    link(plan, units, compiler)
    return {unit.name: unit not in again for unit in units}
