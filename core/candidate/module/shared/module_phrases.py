"""Reads foreign text: exceptions of torch and Triton, and output of the compilers of an extension.

No other file here decides by such text whether a submission or the machine failed. Golden cases:
tests/modules/test_phrases.py.
"""

import re

# Of torch and of a device's libraries, in an exception's type and message.
NO_MEMORY = ("can't allocate memory", "not enough memory", "OutOfMemoryError", "out of memory", "ALLOC_FAILED")
# Errors of a library that could not start. The usual cause is a lack of memory, but no verdict relies on that.
NOT_STARTED = "NOT_INITIALIZED"
# Of compilers, linkers and their drivers.
MACHINE = re.compile(
    r"(due to|by) signal|\bKilled\b|out of memory|annot allocate memory|virtual memory exhausted|No space left|"
    r"internal (compiler )?error|File size limit|Unsupported (hip )?gpu architecture|cannot execute|unable to execute|"
    r"Resource temporarily unavailable|cannot find -l(c10|torch|cu|nv|amd|hip|roc)|Memory allocation failure|"
    r"Disk quota|Failed to preprocess host compiler|Cannot find compiler|Could not open (in|out)put|died with status|"
    r"Path to libdevice|Unsupported \.version|unsupported GNU version|"
    r"invalid target ID|cannot find (ROCm|HIP)|frontend command failed|error in backend",
    re.IGNORECASE,
)


def place_and_reason(error: BaseException) -> str:
    """The first and the last line of an error of Triton's compiler. Between them it has source, with marks below it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")]
    return " ".join(lines[:1] + lines[1:][-1:])


def lacks_memory(words: str) -> bool:
    """Whether an exception, as "Type: message", says that no memory was found."""
    return any(phrase in words for phrase in NO_MEMORY)


def may_lack_memory(error: BaseException) -> bool:
    """Whether trusted code may have failed for lack of memory, which other processes may free later."""
    words = f"{type(error).__name__}: {error}"
    return lacks_memory(words) or NOT_STARTED in words


def is_of_machine(said: str) -> bool:
    """Whether a compiler's output, without quoted source lines, names a failure that the machine may have caused."""
    return MACHINE.search(said) is not None
