"""Compiles an extension of torch's: C++ by the host's compiler and CUDA or HIP by its own, side by side, then linked.

Torch's own headers take most of a minute, nearly all of it for what no kernel uses. So a source is compiled with those
of trimmed/ in front of them, which bring tensors, their methods and the operators that the source names; and where that
fails once more with torch's own alone, and only what that says counts.
"""

import contextlib
import difflib
import hashlib
import json
import linecache
import os
import re
import shlex
import subprocess

import torch

from module_phrases import is_of_machine
from module_toolkits import Cuda, Hindered

TRIMMED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trimmed")
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
    """What the compilers, or the linker, have against the source; `words` for its author."""

    def __init__(self, name, words, of_linker=False):
        super().__init__(f"Error building extension '{name}': {words}")
        self.words = words
        self.of_linker = of_linker


class Plan:
    """What torch would have had ninja do. `written`: by the path of a source, that of which torch translated it."""

    def __init__(self, folder, given, toolkit=Cuda, written=None):
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

    def key(self):
        """The same for the same sources and flags, wherever they lie and whatever the device."""
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

    def headers(self, here):
        """Files in the submission's own folders of headers."""
        flags = " ".join(self.flags["cflags"] + self.flags["cuda_cflags"])
        folders = [os.path.abspath(folder) for folder in re.findall(r"-I\s*(\S+)", flags)]
        own = {folder for folder in folders if folder.startswith(here) and folder != here}
        found = [os.path.join(at, name) for top in sorted(own) for at, _, names in os.walk(top) for name in names]
        return sorted(found)[:HEADERS_MAX]


def own_headers(text, folder, toolkit):
    """Flags that put ours in front of torch's, for this source; None where it needs torch's own."""
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


def is_devices(flag):
    """Whether the architecture is to be the device's, also in compilers' words, which find none in a rehearsal."""
    return flag == ARCHITECTURE or re.fullmatch(r"(-arch|--gpu-architecture|--offload-arch)=native", flag) is not None


class Unit:
    """One source, its compiler, and what that said."""

    def __init__(self, plan, path, compiler, architecture):
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
        self.code, self.said = None, ""

    def start(self, trimmed):
        first = self.own if trimmed else []
        words = [*self.compiler, *first, *self.flags, "-c", self.path, "-o", self.object, *self.post]
        return Running(words, self.folder)

    def lines(self):
        """As its author wrote them: what was translated before it was, "" where that is not known."""
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
    """A compiler, and where its words go."""

    def __init__(self, words, folder):
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

    def end(self):
        said = self.process.communicate()[0].decode("utf-8", "replace")
        return self.process.returncode, said


def run_side_by_side(units, trimmed):
    """As many at once as there is memory for."""
    for at in range(0, len(units), AT_ONCE):
        running = []
        try:
            for unit in units[at : at + AT_ONCE]:
                running.append((unit, unit.start(trimmed)))
        finally:
            for unit, one in running:
                unit.code, unit.said = one.end()


def in_the_source(line, units):
    """The unit and the line's number that a compiler's line begins with, else None."""
    found = re.match(r"(?:\S*/)?([\w.]+)(?::(\d+)(?::\d+)?:|\((\d+)\):) (?:fatal |catastrophic )?error", line)
    unit = next((unit for unit in units if found and unit.name == found[1]), None)
    return (unit, int(found[2] or found[3])) if unit else None


def place_of(unit, number):
    """Where the submission has this line, if it has it once: files of torch's making begin with lines of torch's."""
    lines = unit.lines()
    wanted = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    source = linecache.cache.get("submission.py", (0, 0, [], ""))[2]
    places = [i for i, line in enumerate(source, 1) if wanted and line.strip() == wanted]
    return f" (submission.py:{places[0]})" if len(places) == 1 else ""


def errors_of(said, units):
    """The compilers' errors as an author can use them: each with its excerpt, without paths of this machine."""
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


def errors_of_headers(said, units):
    """Errors in headers that come of how the source uses them: those of a toolkit that does not fit name no source."""
    if not any(
        re.search(rf"of {name}\b|^{name}:\d+.*(required from|in instantiation)", said, re.M)
        for name in [re.escape(unit.name) for unit in units]
    ):
        return []
    lines = re.findall(r"^/\S*/([^/\s:(]+)[:(]\d+[:)][^\n]*?\berror\s*:\s*([^\n]*)", said, re.M)
    return [f"in <{header}>: error: {words}" for header, words in lines]


def blame(plan, units, said, code):
    """Whose fault it is that something did not compile: raises."""
    missing = [next(filter(None, found)) for found in NO_FILE.findall(said)]
    words = errors_of(said, units)
    lacks = any(TOOLKIT_HEADER.match(name) for name in missing)
    if code < 0 or lacks or is_of_machine(without_sources(said, units)) or not words:
        raise Hindered(f"Error building extension '{plan.name}': {last_words(said, code)}")
    raise Refused(plan.name, words)


def without_sources(said, units):
    """A compiler's words without those that it quotes."""
    lines = [line for line in EXCERPT.sub("", said).split("\n") if not in_the_source(line, units)]
    return "\n".join(lines)


def last_words(said, code):
    lines = [line for line in said.split("\n") if line.strip()]
    wrong = [line for line in lines if re.search(r"error|fatal|signal|Killed", line)]
    return without_folders((wrong or lines or [f"a compiler ended with code {code}"])[0])[:400]


def without_folders(line):
    return re.sub(r"(\s|^|['\"])/\S*/(?=\S)", r"\1", line)


def link(plan, units, compiler):
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
        words = "\n".join(f"link error: {one}" for one in dict.fromkeys(missing))[:WORDS_MAX]
        raise Refused(plan.name, words, of_linker=True)
    raise Hindered(f"Error building extension '{plan.name}': {last_words(said, code)}")


def undefined(name):
    """A symbol as its author wrote it."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        ran = subprocess.run(["c++filt", name], capture_output=True, text=True, timeout=10)
        return ran.stdout.strip() or name
    return name


def build(plan, compiler, architecture):
    """Leaves the library in the plan's folder. `architecture()`: flags for the device, asked where they are needed."""
    units = [Unit(plan, path, compiler, architecture) for path in plan.sources]
    run_side_by_side([unit for unit in units if unit.own is not None], trimmed=True)
    again = [unit for unit in units if unit.code != 0]
    run_side_by_side(again, trimmed=False)
    failed = [unit for unit in again if unit.code != 0]
    if failed:
        worst = min(failed, key=lambda unit: unit.code)
        blame(plan, units, "\n".join(unit.said for unit in failed), worst.code)
    link(plan, units, compiler)
    return {unit.name: unit not in again for unit in units}
