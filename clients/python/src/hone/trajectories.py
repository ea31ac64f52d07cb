"""The rows of `hone export`, in Python and as Parquet files.

A journal becomes a file in one line of a shell, given `pip install 'hone-rl[parquet]'`:

    python -m hone.trajectories --journal run.db --as sft sft.parquet

or in three of Python::

    from hone import trajectories

    rows = trajectories.from_journal("run.db", form="sft")
    trajectories.to_parquet(rows, "sft.parquet", form="sft")

The forms are those of `hone export --as`:

- ``trajectories``: an episode with all that is known of it.
- ``rl``: a turn, with the messages before it, the completion, reward and return.
- ``sft``: a conversation that ends with the best correct submission of an episode.
- ``pairs``: the best and the worst first answer to one prompt.

``schema(form)`` says which columns a file has. Rewards and returns are float64, null where there is
none; times are seconds since 1970 (float64), durations milliseconds. What plugins are free to shape
(actions, options of a reward, a mismatch) is a string of JSON.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORMS", "Form", "from_journal", "read", "schema", "to_parquet"]

Form = Literal["trajectories", "rl", "sft", "pairs"]
Json = Any
Row = dict[str, Json]

#: The forms of `hone export --as`.
FORMS: tuple[Form, ...] = ("trajectories", "rl", "sft", "pairs")

_BATCH = 1000
"""Rows of a row group."""


def read(source: str | os.PathLike[str] | Iterable[str]) -> Iterator[Row]:
    """Reads an export, a row a line.

    Args:
        source: The path of a file that `hone export` wrote, or lines of one.

    Yields:
        Rows as `hone export` writes them (see `docs/exports.md`).

    Raises:
        ValueError: A line is no JSON object; the message names it.
    """
    if isinstance(source, str | os.PathLike):
        with open(source, encoding="utf-8-sig") as lines:
            yield from read(lines)
        return
    for number, line in enumerate(source, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number}: {error}") from error
        if not isinstance(row, dict):
            raise ValueError(f"line {number}: found {type(row).__name__}, expected an object")
        yield row


def from_journal(
    journal: str | os.PathLike[str],
    *,
    form: Form = "trajectories",
    options: Sequence[str] = (),
    binary: str | None = None,
) -> Iterator[Row]:
    """Reads a journal through `hone export`, while a server may be writing it.

    Args:
        journal: The journal's file.
        form: What a row is.
        options: More of `hone export`: ``["--task", "tasks/softmax"]``, ``["--config", "c.yaml"]``.
        binary: The program; else ``$HONE_BINARY``, else `hone` on the path.

    Yields:
        Rows of that form, as they come.

    Raises:
        FileNotFoundError: There is no `hone`.
        RuntimeError: It failed; the message is what it said.
    """
    program = binary or os.environ.get("HONE_BINARY") or shutil.which("hone")
    if not program:
        raise FileNotFoundError("found no hone: put it on the path, or name it in HONE_BINARY")
    command = [program, "export", "--journal", os.fspath(journal), "--as", form, *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            yield from read(process.stdout)
            said = process.stderr.read().strip()
            if process.wait() != 0:
                raise RuntimeError(said)
        finally:
            process.kill()  # the caller may have stopped early


def schema(form: Form) -> pa.Schema:
    """The columns of a Parquet file, typed.

    Args:
        form: What a row is.

    Returns:
        The schema that `to_parquet` writes.
    """
    import pyarrow as pa

    text, number, truth, count = pa.string(), pa.float64(), pa.bool_(), pa.int64()
    function = pa.struct([("name", text), ("arguments", text)])
    tool_call = pa.struct([("id", text), ("type", text), ("function", function)])
    of_tools = [("tool_calls", pa.list_(tool_call)), ("tool_call_id", text), ("name", text)]
    messages = pa.list_(pa.struct([("role", text), ("content", text), *of_tools]))
    whose = [("episode", text), ("task", text), ("group", text)]
    if form == "rl":
        ends = [("terminated", truth), ("truncated", truth)]
        said = [("messages", messages), ("completion", text)]
        got = [("reward", number), ("return", number), ("outcome", text), ("speedup", number)]
        return pa.schema([*whose, ("turn", count), *said, *got, *ends])
    if form == "sft":
        got = [("reward", number), ("speedup", number)]
        return pa.schema([*whose, ("turn", count), ("messages", messages), *got])
    if form == "pairs":
        sides = [("prompt", messages), ("chosen", messages), ("rejected", messages)]
        rewards = [("chosen_reward", number), ("rejected_reward", number)]
        episodes = [("chosen_episode", text), ("rejected_episode", text)]
        return pa.schema([("task", text), *sides, *rewards, *episodes])
    if form != "trajectories":
        raise ValueError(f"found form {form!r}, expected one of {', '.join(FORMS)}")
    measured = [("value", number), ("low", number), ("high", number)]
    times = [("time_us", number), ("baseline_us", number)]
    speedup = pa.struct([*measured, *times, ("flags", pa.list_(text))])
    words = [("outcome", text), ("reason", text), ("stage", text), ("diagnostics", text)]
    facts = [("signal", text), ("mismatch", text), ("speedup", speedup)]
    marks = [("fingerprint", text), ("source_hash", text)]
    verdict = pa.struct([*words, *facts, ("stage_ms", pa.map_(text, number)), *marks])
    turn = pa.struct(
        [
            *[("turn", count), ("message", count), ("action", text), ("verdict", verdict)],
            *[("reward", number), ("reward_valid", truth), ("return_to_date", number)],
            *[("components", pa.map_(text, number)), ("feedback", text)],
            *[("terminated", truth), ("truncated", truth), ("at", number)],
        ]
    )
    place = [("turn", count), ("call", count), ("message", count)]
    answer = [("facts", text), ("verdict", verdict), ("feedback", text), ("at", number)]
    call = pa.struct([*place, ("tool", text), ("action", text), *answer, ("turn_reward", number)])
    reward = pa.struct([("name", text), ("version", text), ("config", text), ("config_hash", text)])
    return pa.schema(
        [
            *[("episode", text), ("environment", text), ("task", text), ("backend", text)],
            *[("client", text), ("group", text), ("seed", count), ("state", text)],
            *[("opened_at", number), ("reward", reward), ("parent", text), ("parent_turn", count)],
            *[("prompt_lost", truth), ("messages", messages), ("turns", pa.list_(turn))],
            *[("calls", pa.list_(call)), ("returns", pa.list_(number))],
        ]
    )


def _fit(value: Json, to: pa.DataType) -> Json:
    """The value in the shape of a column: what is open becomes JSON, what is unknown stays out."""
    import pyarrow as pa

    if value is None:
        return None
    if pa.types.is_string(to):
        return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    if pa.types.is_map(to):
        return [(str(key), _fit(one, to.item_type)) for key, one in value.items()]
    if pa.types.is_list(to):
        return [_fit(one, to.value_type) for one in value]
    if pa.types.is_struct(to):
        return {field.name: _fit(value.get(field.name), field.type) for field in to}
    if pa.types.is_floating(to):
        return float(value)
    return value


def to_parquet(
    rows: Iterable[Mapping[str, Any]] | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    form: Form = "trajectories",
) -> int:
    """Writes rows as a Parquet file, a thousand at a time, so that a journal of any size fits.

    The file appears once it is whole.

    Args:
        rows: What `read` or `from_journal` gives, or the path of an export.
        path: The new file.
        form: What a row is; has to be the one that the rows were exported in.

    Returns:
        How many rows it has.

    Raises:
        ValueError: A row is of another form; the message names the column that it lacks.
        ImportError: Without pyarrow; `pip install 'hone-rl[parquet]'` brings it.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError("to_parquet needs pyarrow: pip install 'hone-rl[parquet]'") from error
    columns = schema(form)
    whole = read(rows) if isinstance(rows, str | os.PathLike) else iter(rows)
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    count = 0
    try:
        with pq.ParquetWriter(partial, columns, compression="zstd") as writer:
            while batch := list(itertools.islice(whole, _BATCH)):
                for row in batch:
                    for column in columns:
                        if column.name not in row:
                            raise ValueError(f"a row without {column.name!r} is none of {form}")
                fitted = [{c.name: _fit(row[c.name], c.type) for c in columns} for row in batch]
                writer.write_table(pa.Table.from_pylist(fitted, schema=columns))
                count += len(batch)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return count


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m hone.trajectories`: an export or a journal as a Parquet file."""
    parser = argparse.ArgumentParser(prog="python -m hone.trajectories", description=main.__doc__)
    parser.add_argument("target", help="the Parquet file to write")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--journal", metavar="FILE", help="a server's journal")
    source.add_argument("--export", metavar="FILE", help="what `hone export` wrote; -: stdin")
    parser.add_argument("--as", dest="form", choices=FORMS, default="trajectories")
    given = parser.parse_args(arguments)
    if given.journal is not None:
        rows = from_journal(given.journal, form=given.form)
    else:
        rows = read(sys.stdin if given.export == "-" else given.export)
    try:
        count = to_parquet(rows, given.target, form=given.form)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    print(f"{count} rows in {given.target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
