"""torch extensions of submissions: headers, caching, and who is blamed for a failed build."""

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from known_extension import known_extension
from module_folders import ENVIRONMENT

from conftest import SECONDS_MAX, linear_row

HERE = Path(__file__).parent
EXTENSIONS = HERE / "extensions"

MANY = """
#include <torch/extension.h>
#include <vector>

torch::Tensor made(torch::Tensor x) {
    auto options = torch::TensorOptions().dtype(torch::kFloat64).device(x.device());
    auto a = torch::full({2}, 3, options) + torch::ones_like(x).to(torch::kDouble) * 2;
    a[0] = 7.5;
    return torch::cat({a, torch::zeros({1}, x.options()).to(options), torch::arange(3, torch::kInt64).sum().view({1})});
}
std::vector<torch::Tensor> several(torch::Tensor x) {
    torch::NoGradGuard guard;
    return {x.sum(), torch::softmax(x, 0), torch::empty(x.sizes(), x.options().dtype(torch::kInt32)).fill_(4)};
}
torch::Tensor dispatched(torch::Tensor x) {
    auto out = torch::empty_like(x);
    AT_DISPATCH_ALL_TYPES(x.scalar_type(), "dispatched", ([&] {
        auto from = x.accessor<scalar_t, 1>();
        auto to = out.packed_accessor64<scalar_t, 1, torch::DefaultPtrTraits>();
        for (int64_t i = 0; i < x.size(0); ++i) to[i] = from[i] + scalar_t(1);
    }));
    return out;
}
torch::Tensor indexed(torch::Tensor x, c10::optional<double> scale) {
    using namespace torch::indexing;
    TORCH_CHECK(x.numel() > 1, "expected more than ", x.numel(), " elements");
    return x.index({Slice(1, None)}) * scale.value_or(1.0) / 2.0;
}
at::Tensor raw(const at::Tensor& x) {
    auto out = at::zeros_like(x.contiguous());
    for (int i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
    return out;
}
"""
# Headers of torch take many times as long to compile.
WITHOUT_TORCH = """
#include <Python.h>

static PyObject* twice(PyObject*, PyObject* x) { return PyNumber_Multiply(x, PyLong_FromLong(2)); }
static PyMethodDef methods[] = {{"twice", twice, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef made = {PyModuleDef_HEAD_INIT, "NAME", nullptr, -1, methods};
PyMODINIT_FUNC PyInit_NAME() { return PyModule_Create(&made); }
"""
PLAIN = "int twice(int x) {\n    return x * not_there;\n}\n"  # compiles in part of a second, if it did
TWICE = "torch::Tensor twice(torch::Tensor x) { return x * 2; }"
KILLED = "#!/bin/sh\nkill -9 $$\n"
NO_MEMORY = "#!/bin/sh\necho 'cc1plus: out of memory allocating 65536 bytes'\nexit 1\n"


def inline(source, functions=("twice",), name="made_by_a_test", **more):
    return {"name": name, "cpp_sources": source, "functions": list(functions), **more}


def plain(source, **more):
    """A source that includes nothing of torch's."""
    return {"name": "made_by_a_test", "cpp_sources": [source], "no_implicit_headers": True, **more}


@pytest.fixture(scope="module")
def build(interpreter):
    def ask(rows):
        ran = interpreter.run(HERE / "compile_rows.py", given=json.dumps(rows), timeout=SECONDS_MAX)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    return ask


def libraries(answer):
    return sorted(name for name in answer.get("kept") or answer["compiled"] if name.endswith(".so"))


def test_trimmed_headers_are_enough_for_kernels(build):
    calls = [
        ["made", [1.0, 2.0]],
        ["several", [0.0, 0.0]],
        ["dispatched", [1, 2]],
        ["indexed", [1.0, 2.0, 3.0], 4.0],
        ["indexed", [1.0, 2.0], None],
        ["raw", [1.0, 2.0]],
    ]
    given = inline(MANY, ["made", "several", "dispatched", "indexed", "raw"])
    (answer,) = build([{"given": given, "calls": calls}])
    assert answer["trimmed"] == [{"main.cpp": True}]
    made, several, dispatched, indexed, halved, raw = answer["gave"]
    assert made == {"dtype": "torch.float64", "values": [7.5, 5.0, 0.0, 3.0]}
    assert several[1] == {"dtype": "torch.float32", "values": [0.5, 0.5]}
    assert several[2] == {"dtype": "torch.int32", "values": [4, 4]}
    assert dispatched == {"dtype": "torch.int64", "values": [2, 3]}
    assert indexed["values"] == [4.0, 6.0]
    assert halved["values"] == [1.0]
    assert raw["values"] == [2.0, 4.0]


def test_sources_outside_the_trimmed_headers_take_the_full_ones(build):
    source = "torch::Tensor whole() { return torch::tensor({1, 2}) + torch::nn::functional::relu(torch::ones(2)); }"
    (answer,) = build([{"given": inline(source, ["whole"]), "calls": [["whole"]]}])
    assert answer["trimmed"] == [{"main.cpp": False}]
    assert answer["gave"] == [{"dtype": "torch.float32", "values": [2.0, 3.0]}]


def test_built_extension_is_found_in_any_folder(build):
    source = WITHOUT_TORCH.replace("NAME", "made_by_a_test")
    (first,) = build([{"given": plain(source), "calls": [["twice", [1.5]]]}])
    assert first["trimmed"] == [{"main.cpp": True}]
    again, other_flags, other_source = build(
        [
            {
                "given": plain(source),
                "calls": [["twice", [1.5]]],
                "kept": first["kept"],
                "environment": {"TORCH_EXTENSIONS_DIR": "/not/there", "TORCH_CUDA_ARCH_LIST": "native"},
            },
            {"given": plain(source, extra_cflags=["-DMORE"]), "kept": first["kept"]},
            {"given": plain(source.replace("(2)", "(3)")), "calls": [["twice", [1.5]]], "kept": first["kept"]},
        ]
    )
    assert again["trimmed"] == []
    assert again["kernels"] == {}  # it is in C++ alone
    assert again["gave"] == first["gave"] == [{"dtype": "torch.float32", "values": [3.0]}]
    assert again["hashes"] == first["hashes"]
    assert other_flags["trimmed"] == other_source["trimmed"] == [{"main.cpp": True}]
    assert other_source["gave"][0]["values"] == [4.5]
    assert len(libraries(first)) == 1
    assert len(libraries(other_flags)) == len(libraries(other_source)) == 2


def test_compiler_errors_have_the_line_of_the_source(build):
    refused, header, flag = build(
        [
            {"given": plain(PLAIN)},
            {"given": plain('#include "not_there.h"\n')},
            {"given": plain("int twice;\n", extra_cflags=["--not-there"])},
        ]
    )
    assert {answer["error"] for answer in (refused, header, flag)} == {"Refused"}
    first, excerpt, *_ = refused["words"].split("\n")
    assert first == "main.cpp:2: error: 'not_there' was not declared in this scope"
    assert "return x * not_there;" in excerpt
    assert header["words"].startswith("main.cpp:1: error: not_there.h: No such file")
    assert "unrecognized command-line option '--not-there'" in flag["words"]
    (again,) = build([{"given": plain("int twice;\n", extra_cflags=["--not-there"]), "kept": flag["kept"]}])
    assert (again["error"], again["words"], again["trimmed"]) == ("Refused", flag["words"], [])


@pytest.mark.parametrize(
    ("script", "error", "words"),
    [
        (KILLED, "Hindered", "ended with code -9"),
        (NO_MEMORY, "Hindered", "out of memory"),
        (None, "Hindered", "load_inline needs a C++ compiler"),
    ],
)
def test_machine_failure_is_not_the_sources_fault(build, tmp_path, script, error, words):
    compiler = tmp_path / "compiler"
    if script:
        compiler.write_text(script)
        compiler.chmod(0o755)
    (answer,) = build([{"given": inline(TWICE), "environment": {"CXX": str(compiler)}}])
    assert answer["error"] == error
    assert words in answer["words"]
    assert answer["kept"] == {}


def test_kernels_are_compiled_for_the_absent_device(build, tmp_path):
    if not shutil.which("nvcc") and not Path("/usr/local/cuda/bin/nvcc").exists():
        pytest.skip("no nvcc")
    kernel = "__global__ void fill(float* x) { x[threadIdx.x] = 1; }\nvoid start(float* x) { fill<<<1, 32>>>(x); }\n"
    host = "#include <torch/extension.h>\nvoid start(float*);\nint64_t where() { return (int64_t)&start != 0; }\n"
    given = inline(host, ["where"], cuda_sources="#include <cuda_runtime.h>\n" + kernel, no_implicit_headers=True)
    right, wrong, named = build(
        [
            {"given": given, "calls": [["where"]]},
            {"given": {**given, "cuda_sources": kernel.replace("float* x)", "flaot* x)", 1)}},
            {"given": {**given, "extra_cuda_cflags": ["-gencode=arch=compute_80,code=sm_80"]}},
        ]
    )
    assert right["gave"] == [True]
    assert right["kernels"] == {"where": 1}
    assert right["trimmed"] == [{"main.cpp": True, "cuda.cu": True}]
    images = [base64.b64decode(answer["kept"][libraries(answer)[0]]) for answer in (right, named)]
    assert b"sm_90a" in images[0] or b"compute_90a" in images[0]
    assert wrong["error"] == "Refused"
    assert wrong["words"].startswith("cuda.cu:1: error: ")
    assert "flaot* x" in wrong["words"]


@pytest.mark.parametrize(("toolkit", "compiler"), [("Cuda", "nvcc"), ("Hip", "a compiler of HIP")])
def test_missing_device_compiler_is_named(python, tmp_path, toolkit, compiler):
    """It is looked for on PATH and in some folders, which a test cannot take away."""
    code = (
        f"from module_toolkits import {toolkit}, Hindered\n{toolkit}.HOMES = ()\n"
        f"try:\n    {toolkit}.needed()\nexcept Hindered as error:\n    print(error)\n"
    )
    ran = subprocess.run(
        [python, "-B", "-c", code],
        env={**ENVIRONMENT, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.stdout.startswith(f"load_inline needs {compiler}, found n"), ran.stderr


WORDS = """
import os, sys
import module_compile, module_extension, module_phrases, torch

class Unit:
    name = "cuda.cu"

def is_the_machines(said):
    return module_phrases.is_of_machine(module_compile.without_sources(said, [Unit]))

print(is_the_machines('cuda.cu:5:3: error: no match\\n    5 | f("out of memory");\\n      | ^~~~'))
print(is_the_machines('cuda.cu(5): error: identifier "killed" is undefined\\n    f("out of memory");'))
print(module_compile.is_devices("-arch=native"), module_compile.is_devices("-arch=sm_80"))
full = module_compile.IN_FULL.search
print(full("x.requires_grad(yes)") is not None, full("x.requires_grad()"))
print(module_extension.folder_of("a/b/") == os.path.abspath("a/b"))
other = ImportError("/x/flash.so: undefined symbol: _ZN3c104cudaE")
print(module_extension.Extensions().link_error(other))
"""


def test_compiler_output_is_attributed(run_beside_modules, tmp_path):
    expected = ["False", "False", "True False", "True None", "True", "None"]
    assert run_beside_modules(WORDS, folder=tmp_path).splitlines() == expected


HEAD = "import torch\nfrom torch.utils.cpp_extension import load_inline\n"
OWN = HEAD + "made = load_inline(name='made', cpp_sources=[{source!r}], no_implicit_headers=True)\n"
MODEL = """
class ModelNew(torch.nn.Module):
    def __init__(self, *settings):
        super().__init__()
        self.fc = torch.nn.Linear(16, 16)
        self.register_buffer("shift", torch.zeros(16))
        self.more = load_inline(name="more", cpp_sources=[SOURCE], no_implicit_headers=True)

    def forward(self, x):
        y = made.twice(x)
        import a_module_that_is_not_there
        return y
"""
CALLED = OWN.format(source=WITHOUT_TORCH.replace("NAME", "made"))
CALLED += MODEL.replace("SOURCE", repr(WITHOUT_TORCH.replace("NAME", "more")))
REFUSED = OWN.format(source=PLAIN)
UNDEFINED = "#include <Python.h>\nint twice(int);\nPyMODINIT_FUNC PyInit_made() { return PyLong_FromLong(twice(2)); }\n"
CAUGHT = REFUSED.replace("made =", "try:\n    made =", 1) + "except RuntimeError as error:\n    THEN\n"


def test_dry_run_builds_extensions_and_does_not_call_them(dry_run):
    (called,) = dry_run([linear_row(CALLED)])
    assert called["words"] == ""
    assert len(libraries(called)) == 2
    (again,) = dry_run([linear_row(CALLED, called["compiled"])])
    assert again == {"words": "", "work": None, "compiled": {}}


def test_dry_run_reports_refused_sources_only(dry_run):
    answers = dry_run(
        [
            linear_row(source)
            for source in (
                REFUSED,
                CAUGHT.replace("THEN", "raise RuntimeError('no luck') from error"),
                OWN.format(source=UNDEFINED),
                CAUGHT.replace("THEN", "made = None"),
                "import os\nos.environ['CXX'] = '/not/there'\n" + REFUSED,
            )
        ]
    )
    refused, raised, linked, caught, absent = [answer["words"] for answer in answers]
    wanted = "build host main.cpp:2: error: 'not_there' was not declared in this scope"
    assert refused.startswith(wanted)
    assert raised.startswith(wanted)
    assert linked == (
        "link host link error: undefined reference to `twice(int)': it is declared, and no source defines it so"
    )
    assert caught == ""
    assert absent == "hindered host load_inline needs a C++ compiler, found no /not/there: install g++"


@pytest.mark.parametrize("kind", ["host", "device"])
def test_the_known_extension_builds_here(dry_run, kind):
    if kind == "device" and not shutil.which("nvcc"):
        pytest.skip("no nvcc")
    (answer,) = dry_run([{"content": known_extension(kind)}])
    assert answer["words"] == ""
    assert len(libraries(answer)) == 1


def test_known_extension_reports_a_missing_tool(dry_run):
    content = known_extension("host")
    content["source"] = "import os\nos.environ['CXX'] = '/not/there'\n" + content["source"]
    (answer,) = dry_run([{"content": content}])
    assert answer["words"].startswith("hindered host load_inline needs a C++ compiler")


def test_other_versions_of_torch_are_left_alone(run_beside_modules):
    code = (
        "import module_extension\n"
        "extension = module_extension.imported()\nown = extension._run_ninja_build\n"
        "extension._write_ninja_file = lambda path, flags: None\nmodule_extension.Extensions().install('sm_90a')\n"
        "assert extension._run_ninja_build is own\nprint('left alone')\n"
    )
    assert run_beside_modules(code) == "left alone\n"


@pytest.mark.parametrize("file", sorted(EXTENSIONS.glob("*.py")), ids=lambda file: file.stem.split("_")[3])
def test_submissions_with_kernels_are_built(run_beside_modules, dry_run, describe, kernelbench_data, file):
    """Whole submissions for KernelBench's problems, where torch has the device's headers (HONE_MODULES_PYTHON)."""
    has = "import torch; print(torch.version.cuda is not None)"
    if run_beside_modules(has).strip() != "True" or not Path("/usr/local/cuda/bin/nvcc").exists():
        pytest.skip("needs a torch for CUDA and nvcc")
    from hone_modules.problems import read_kernelbench

    number = int(file.stem.split("_")[3])
    problems = {problem.id: problem for problem in read_kernelbench(str(kernelbench_data))}
    (task,) = describe([(number, problems[f"level1/{number}"].source)])
    support = {one["name"]: one["text"] for one in task["task"]["backends"]["cuda"]["support"]}
    content = {"name": "submission.py", "source": file.read_text(), "support": support}
    (answer,) = dry_run([{"content": content}])
    assert answer["words"] == ""
    assert libraries(answer)
