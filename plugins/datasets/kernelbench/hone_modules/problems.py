"""Reads problems, one PyTorch module each, from folders, JSON, JSON Lines and Parquet. Runs none of their code."""

import ast
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

BACKENDS = ("cpu", "cuda")  # backends that judge modules
PRECISION = {"conv_tf32": True, "matmul_tf32": False, "compute": "f32"}  # of float32; torch's defaults
NUMBER_MAX = 999_999_999
FILE_BYTES_MAX = 4 << 30
ENDINGS = (".jsonl", ".json", ".parquet")
# Keys of a module's source in rows of known data sets. The first key that a row has counts.
SOURCE_KEYS = ("pytorch_code", "python_code", "label", "code", "reference")
# Keys that rows of KernelBook and traces have, and rows of KernelBench do not.
KERNELBOOK_KEYS = ("python_code", "pytorch_code", "entry_point", "module_name", "sample_key", "uuid")
KEYS = ("sample_key", "uuid", "id")  # the first of these in a row is the problem's id
PROBLEM_FILE = re.compile(r"(\d+)_(.+)\.py")
LEVEL_FOLDER = re.compile(r"level(\d+)")


@dataclass(frozen=True)
class Problem:
    """One module, as in its data set."""

    id: str  # "level1/19", "632"
    title: str
    source: str
    tags: tuple[str, ...]
    entry: str = ""  # the module's class, if the data set names it
    order: tuple[int, int, str] = (0, 0, "")
    place: str = field(default="", compare=False)  # where it was read: "rows.jsonl:3"


class Mistake(ValueError):
    """A data set cannot be read, or a problem cannot become a task. The message is for users."""

    for_users = True


class UnfitTask(Mistake):
    """A problem cannot become a task."""

    cause = "unfit_task"


class Late(TimeoutError):
    """Something took too long: a fault that may pass, not a mistake in a problem. The message is for users."""

    for_users = True


class LateTask(Late):
    """A problem cannot become a task now, because its description took too long."""

    cause = "unfit_task"


def natural(text: Any) -> int | None:
    """A non-negative integer, or a text of digits, as an int."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text if 0 <= text <= NUMBER_MAX else None
    return int(text) if isinstance(text, str) and re.fullmatch(r"\d{1,9}", text) else None


def source_of(row: dict[str, Any], place: str) -> str:
    """The module's source."""
    for key in SOURCE_KEYS:
        if isinstance(row.get(key), str):
            return row[key].removeprefix("\ufeff")
    reward_model = row.get("reward_model")  # Dr. Kernel's rows, in verl's form
    if isinstance(reward_model, dict) and isinstance(reward_model.get("ground_truth"), str):
        return reward_model["ground_truth"].removeprefix("\ufeff")
    raise Mistake(f"{place}: found no source; expected one of {', '.join(SOURCE_KEYS)}, reward_model.ground_truth")


def parse_json_lines(text: str, path: str) -> Iterator[tuple[str, Any]]:
    """Each line's value with its place."""
    for number, line in enumerate(text.split("\n"), 1):  # splitlines() also splits at U+2028, which JSON text may hold
        if line.strip():
            try:
                yield f"{path}:{number}", json.loads(line)
            except ValueError as error:
                raise Mistake(f"{path}:{number}: no JSON: {error}") from None


def read_text(path: str) -> str:
    """A file's text, without a byte-order mark. Mistakes name the file."""
    try:
        if os.path.getsize(path) > FILE_BYTES_MAX:
            raise Mistake(f"{path}: larger than {FILE_BYTES_MAX >> 30} GB")
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        if error.object.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise Mistake(
                f"{path}: found UTF-16 text, expected UTF-8; convert it with: iconv -f UTF-16 -t UTF-8"
            ) from None
        raise Mistake(f"{path}: byte {error.start} is no UTF-8") from None


def parquet_rows(path: str, more: Iterable[str] = ()) -> Iterator[tuple[str, Any]]:
    """Each row with its place. Reads only the columns that are used."""
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise Mistake(
            f"{path}: Parquet is read with pyarrow, which {sys.executable} lacks: {sys.executable} -m pip install"
            " pyarrow, or give the data as JSON Lines"
        ) from None
    known = {
        *SOURCE_KEYS,
        *KERNELBOOK_KEYS,
        *KEYS,
        *more,
        "level",
        "name",
        "problem_name",
        "problem_id",
        "extra_info",
        "reward_model",
    }
    try:
        file = parquet.ParquetFile(path)
        columns = [name for name in file.schema_arrow.names if name in known]
        for row, values in enumerate(file.read(columns=columns).to_pylist()):
            yield f"{path}: row {row}", values
    except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors
        raise Mistake(f"{path}: {error}") from None


def rows_of(path: str, more: Iterable[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of one file, with their places. `more`: further columns of Parquet to read."""
    if path.endswith(".parquet"):
        rows: Iterable[tuple[str, Any]] = parquet_rows(path, more)
    elif path.endswith(".jsonl"):
        rows = parse_json_lines(read_text(path), path)
    else:
        try:
            value = json.loads(read_text(path))
        except ValueError as error:
            if isinstance(error, Mistake):
                raise
            raise Mistake(f"{path}: no JSON: {error}") from None
        if not isinstance(value, list):
            raise Mistake(f"{path}: expected a list of problems, found a {type(value).__name__}")
        rows = ((f"{path}: item {i}", item) for i, item in enumerate(value))
    for place, row in rows:
        if not isinstance(row, dict):
            raise Mistake(f"{place}: expected a map, found a {type(row).__name__}")
        yield place, row


def data_files(path: str) -> list[str]:
    """The file itself, or the data files of a folder, in order."""
    if os.path.isfile(path):
        if not path.endswith(ENDINGS):
            raise Mistake(f"{path}: expected a folder, or a file that ends in {', '.join(ENDINGS)}")
        return [path]
    if not os.path.isdir(path):
        raise Mistake(f"{path}: no such file or folder")
    return [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(ENDINGS)]


def kernelbench_problem(level: int, number: int, name: str, source: str, place: str) -> Problem:
    """A problem of KernelBench by its numbers: level1/19, 19_ReLU."""
    title = name if name.startswith(f"{number}_") else f"{number}_{name}"
    tags = ("kernelbench", f"level{level}")
    return Problem(f"level{level}/{number}", title, source, tags, "Model", (level, number, ""), place)


def kernelbench_numbers(row: dict[str, Any]) -> tuple[dict[str, Any], int | None, int | None]:
    """The part of a row that describes its problem, and the level and number in it."""
    about = row.get("extra_info") if isinstance(row.get("extra_info"), dict) else row
    return about, natural(about.get("level")), natural(about.get("problem_id"))


def level_folders(path: str) -> list[tuple[int, str]]:
    """The folders level1, level2, … in the repository or in its folder KernelBench; or one such folder."""
    found = LEVEL_FOLDER.fullmatch(os.path.basename(os.path.normpath(path)))
    if found and os.path.isdir(path):
        return [(int(found[1]), path)]
    inner = os.path.join(path, "KernelBench")
    path = inner if os.path.isdir(inner) else path
    if not os.path.isdir(path):
        return []
    matches = [(LEVEL_FOLDER.fullmatch(name), name) for name in os.listdir(path)]
    folders = [(int(match[1]), os.path.join(path, name)) for match, name in matches if match]
    return sorted((level, folder) for level, folder in folders if os.path.isdir(folder))


def read_kernelbench(path: str) -> list[Problem]:
    """Reads the repository's folders, or rows of TritonForge's JSON Lines or of the published data set."""
    problems = []
    folders = level_folders(path)
    for level, folder in folders:
        for name in sorted(os.listdir(folder)):
            if match := PROBLEM_FILE.fullmatch(name):
                file = os.path.join(folder, name)
                problems.append(kernelbench_problem(level, int(match[1]), match[2], read_text(file), file))
    for file in [] if folders else data_files(path):
        for place, row in rows_of(file):
            about, level, number = kernelbench_numbers(row)
            name = about.get("problem_name", about.get("name"))
            if level is None or number is None or not isinstance(name, str):
                raise Mistake(f"{place}: expected level, problem_id and problem_name, or name{other_plugin(row)}")
            problems.append(kernelbench_problem(level, number, name, source_of(row, place), place))
    return in_order(problems, path, "level1/19_ReLU.py and the like, or files that end in " + ", ".join(ENDINGS))


def other_plugin(row: dict[str, Any]) -> str:
    """Advice for a row that another plugin reads; "" for other rows."""
    found = [key for key in KERNELBOOK_KEYS if key in row]
    return (
        f"; found {found[0]}, so this is a row of KernelBook or a trace: read it with plugin: kernelbook"
        if found
        else ""
    )


def read_kernelbook(path: str) -> list[Problem]:
    """Reads rows of KernelBook or of multi-turn traces: one module each, named by key, uuid or place."""
    problems = []
    for file in data_files(path):
        for place, row in rows_of(file):
            about, level, problem = kernelbench_numbers(row)
            key = next((row[name] for name in KEYS if row.get(name) is not None), None)
            if key is None and level is not None and problem is not None:
                raise Mistake(
                    f"{place}: found problem {problem} of KernelBench's level {level}, expected a module of"
                    " KernelBook or a trace; plugin: kernelbench reads it"
                )
            key = next((about[name] for name in KEYS if about.get(name) is not None), None) if key is None else key
            key = len(problems) if key is None else key
            if not isinstance(key, int | str) or not re.fullmatch(r"[\w.-]{1,100}", str(key)):
                raise Mistake(f"{place}: expected a name as the problem's key, found {key!r}")
            origin = row.get("source") if row.get("source") in ("kernelbench", "kernelbook") else "kernelbook"
            entry = row.get("entry_point") or row.get("module_name") or about.get("entry_point") or ""
            entry = entry if isinstance(entry, str) and entry.isidentifier() else ""
            source = source_of(row, place)
            number = natural(key)
            order = (0, len(problems), "") if number is None else (0, number, "")
            name = row.get("name")
            title = name if isinstance(name, str) and name else entry or last_class(source)
            problems.append(Problem(str(key), title, source, (str(origin),), entry, order, place))
    return in_order(problems, path, "files that end in " + ", ".join(ENDINGS))


def last_class(source: str) -> str:
    """The last class of a source, for titles: in KernelBook's files it is the module."""
    names = re.findall(r"^class (\w+)", source, re.MULTILINE)
    return names[-1] if names else "module"


def in_order(problems: list[Problem], path: str, expected: str) -> list[Problem]:
    """The problems in order. No problem, or two with one id, is a mistake."""
    if not problems:
        raise Mistake(f"{path}: found no problem, expected {expected}")
    seen: dict[str, str] = {}
    for problem in problems:
        if problem.id in seen:
            where = f", in {seen[problem.id]} and {problem.place}; give one file as path" if problem.place else ""
            raise Mistake(f"{path}: two problems are called {problem.id}{where}")
        seen[problem.id] = problem.place
    return sorted(problems, key=lambda problem: problem.order)


def unfit_at_sight(source: str) -> str:
    """The reason why this source cannot become a task, found without running it; "" if there is none."""
    if "def get_inputs" not in source:
        return "it has no get_inputs()"
    if "class " not in source:
        return "it defines no class"
    if "\0" in source:
        return "it holds a NUL"
    return ""


def syntax_error(source: str) -> str:
    """The error of Python's parser, or ""."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


Reader = Callable[[str], list[Problem]]
