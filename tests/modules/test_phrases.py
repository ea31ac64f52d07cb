"""Recorded texts of torch, device libraries and compilers, and the cause that hone reads from each."""

import module_phrases as phrases
import pytest

NO_MEMORY = [
    "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory",
    "RuntimeError: not enough memory: you tried to allocate 8589934592 bytes.",
    "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
]
OTHERS = ["ValueError: a memory of another kind", "RuntimeError: CUDA error: an illegal memory access was encountered"]

NOT_STARTED = "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"

OF_MACHINE = [
    "g++: fatal error: Killed signal terminated program cc1plus",
    "cc1plus: out of memory allocating 65536 bytes after a total of 1048576 bytes",
    "ptxas fatal   : Memory allocation failure",
    "nvcc fatal   : Cannot find compiler 'g++' in PATH",
    "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
    "clang++-19: error: unable to execute command: Killed",
    "clang++-19: error: cannot find ROCm device library for gfx942; provide its path",
    "/usr/bin/ld: cannot find -lcudart: No such file or directory",
    "fatal error: error writing to /tmp/x.s: No space left on device",
]
OF_SOURCE = [
    "lld: error: undefined hidden symbol: helper(float)",
    'cuda.cu(5): error: identifier "flaot" is undefined',
    "/usr/bin/ld: cannot find -lmine: No such file or directory",
    "main.cpp:3:1: error: expected ';' before '}' token",
]


@pytest.mark.parametrize("words", NO_MEMORY)
def test_exception_without_memory_is_recognised(words):
    assert phrases.lacks_memory(words)


@pytest.mark.parametrize("words", OTHERS)
def test_other_exception_is_not(words):
    assert not phrases.lacks_memory(words)


class OutOfMemoryError(RuntimeError):
    """As torch's, whose type decides if its message has no known phrase."""


@pytest.mark.parametrize(
    "error",
    [
        OutOfMemoryError("Tried to allocate 2.00 GiB."),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError(NOT_STARTED),
    ],
)
def test_error_of_trusted_code_may_lack_memory(error):
    assert phrases.may_lack_memory(error)


def test_other_error_of_trusted_code_is_final():
    assert not phrases.may_lack_memory(RuntimeError("CUDA error: an illegal memory access was encountered"))
    assert not phrases.may_lack_memory(ValueError("a memory of another kind"))


def test_library_that_did_not_start_is_not_a_submissions_lack_of_memory():
    assert not phrases.lacks_memory(f"RuntimeError: {NOT_STARTED}")


@pytest.mark.parametrize("said", OF_MACHINE)
def test_failure_of_the_machine_is_recognised(said):
    assert phrases.is_of_machine(said)


@pytest.mark.parametrize("said", OF_SOURCE)
def test_failure_of_the_source_is_not_the_machines(said):
    assert not phrases.is_of_machine(said)
