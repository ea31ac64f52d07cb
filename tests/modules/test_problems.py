"""Reading problems: the repository's folders, TritonForge's JSON Lines, KernelBook's rows, and mistakes in each."""

import json
import sys

import pytest
from hone_modules.problems import Mistake, read_kernelbench, read_kernelbook

MODULE = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.rand(4, 4)]
def get_init_inputs():
    return []
"""


def write_repository(folder):
    for level, name in ((1, "19_ReLU"), (1, "2_Matmul"), (2, "1_Conv2D_ReLU")):
        place = folder / "KernelBench" / f"level{level}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.py").write_text(MODULE)
        (place / "README.md").write_text("no problem\n")
    (folder / "KernelBench/level2/10_a-model.v2.py").write_text(MODULE)
    (folder / "KernelBench" / "changelog").mkdir()


def mistake(read, path):
    with pytest.raises(Mistake) as raised:
        read(str(path))
    return str(raised.value)


def test_a_repository_is_read_from_its_root_its_folder_or_a_level(tmp_path):
    write_repository(tmp_path)
    found = read_kernelbench(str(tmp_path))
    assert [p.id for p in found] == ["level1/2", "level1/19", "level2/1", "level2/10"]
    assert [p.title for p in found] == ["2_Matmul", "19_ReLU", "1_Conv2D_ReLU", "10_a-model.v2"]
    assert found[1].tags == ("kernelbench", "level1")
    assert found[1].source == MODULE
    assert read_kernelbench(str(tmp_path / "KernelBench")) == found
    assert read_kernelbench(str(tmp_path / "KernelBench/level2")) == found[2:]


def test_tritonforges_lines_and_the_published_rows_are_the_same_problems(tmp_path):
    forge = {
        "prompt": [],
        "label": MODULE,
        "extra_info": {"level": 1, "problem_id": "19", "problem_name": "ReLU"},
        "instance_id": "kernel_bench_triton_lv1_19",
    }
    published = {"code": MODULE, "level": 1, "problem_id": 19, "name": "19_ReLU"}
    answers = []
    for i, row in enumerate((forge, published)):
        file = tmp_path / f"{i}.jsonl"
        file.write_text(json.dumps(row) + "\n\n")
        answers.append(read_kernelbench(str(file)))
    assert answers[0] == answers[1]
    assert (answers[0][0].id, answers[0][0].title) == ("level1/19", "19_ReLU")
    assert mistake(read_kernelbench, tmp_path) == (
        f"{tmp_path}: two problems are called level1/19, in {tmp_path}/0.jsonl:1 and {tmp_path}/1.jsonl:1;"
        " give one file as path"
    )


def test_kernelbook_is_called_by_uuid_and_traces_by_key(tmp_path):
    file = tmp_path / "book.json"
    rows = [
        {"python_code": MODULE.replace("Model", "Actor"), "entry_point": "Actor", "uuid": 632, "triton_code": "…"},
        {"pytorch_code": MODULE, "sample_key": "kernelbench_80", "source": "kernelbench", "name": "80_Gemm"},
        {"pytorch_code": MODULE.replace("Model", "Last")},
    ]
    file.write_text(json.dumps(rows))
    found = {p.id: p for p in read_kernelbook(str(file))}
    assert set(found) == {"632", "kernelbench_80", "2"}
    assert (found["632"].title, found["632"].entry) == ("Actor", "Actor")
    assert (found["kernelbench_80"].title, found["kernelbench_80"].tags) == ("80_Gemm", ("kernelbench",))
    assert (found["2"].title, found["2"].entry, found["2"].tags) == ("Last", "", ("kernelbook",))


MARK = "\ufeff"


def test_a_byte_order_mark_is_left_out_of_every_kind_of_file(tmp_path):
    row = {"code": MARK + MODULE, "level": 1, "problem_id": 19, "name": "19_ReLU"}
    book = {"uuid": 7, "python_code": MODULE, "entry_point": "Model"}
    for name, text in (("a.jsonl", json.dumps(row)), ("a.json", json.dumps([row], ensure_ascii=False))):
        (tmp_path / name).write_text(MARK + text, encoding="utf-8")
        assert [p.source for p in read_kernelbench(str(tmp_path / name))] == [MODULE]
    (tmp_path / "b.jsonl").write_text(MARK + json.dumps(book) + "\r\n", encoding="utf-8")
    assert [p.source for p in read_kernelbook(str(tmp_path / "b.jsonl"))] == [MODULE]
    write_repository(tmp_path)
    (tmp_path / "KernelBench/level1/19_ReLU.py").write_text(MARK + MODULE, encoding="utf-8")
    (tmp_path / "KernelBench/level1/2_Matmul.py").write_bytes((MARK + MODULE).replace("\n", "\r\n").encode())
    assert [p.source for p in read_kernelbench(str(tmp_path / "KernelBench/level1"))] == [MODULE, MODULE]


def test_utf16_is_named(tmp_path):
    write_repository(tmp_path)
    file = tmp_path / "KernelBench/level1/19_ReLU.py"
    file.write_text(MODULE, encoding="utf-16")
    said = mistake(read_kernelbench, tmp_path)
    assert said.startswith(f"{file}: found UTF-16 text, expected UTF-8")


def test_a_line_of_json_may_hold_other_ends_of_lines(tmp_path):
    source = MODULE + "# one\u2028two\x85three\n"
    row = {"code": source, "level": 1, "problem_id": 19, "name": "19_ReLU"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [p.source for p in read_kernelbench(str(tmp_path / "a.jsonl"))] == [source]


def test_mistakes_name_the_place(tmp_path):
    def lines(text):
        file = tmp_path / "data.jsonl"
        file.write_text(text)
        return file

    assert mistake(read_kernelbook, tmp_path / "nowhere").endswith("nowhere: no such file or folder")
    assert mistake(read_kernelbook, tmp_path).endswith(
        "found no problem, expected files that end in .jsonl, .json, .parquet"
    )
    assert "level1/19_ReLU.py" in mistake(read_kernelbench, tmp_path)
    assert "data.jsonl:2: no JSON" in mistake(read_kernelbook, lines('{"python_code": "x"}\n{'))
    assert "data.jsonl:1: expected a map, found a list" in mistake(read_kernelbook, lines("[1]"))
    assert "data.jsonl:1: found no source; expected one of pytorch_code" in mistake(read_kernelbook, lines('{"x": 1}'))
    assert "expected a name as the problem's key, found '../x'" in mistake(
        read_kernelbook, lines(json.dumps({"python_code": "x", "uuid": "../x"}))
    )
    assert "data.jsonl:1: found problem 35 of KernelBench's level 1" in mistake(
        read_kernelbook, lines(json.dumps({"label": MODULE, "extra_info": {"level": 1, "problem_id": "35"}}))
    )
    assert "expected level, problem_id and problem_name" in mistake(
        read_kernelbench, lines(json.dumps({"code": "x", "level": 1, "problem_id": "-1", "name": "x"}))
    )
    for row in (
        {"python_code": MODULE, "uuid": 3},
        {"pytorch_code": MODULE, "sample_key": "kernelbook_3", "name": "x"},
    ):
        assert mistake(read_kernelbench, lines(json.dumps(row))).endswith(
            f"data.jsonl:1: expected level, problem_id and problem_name, or name; found {next(iter(row))}, so this is"
            " a row of KernelBook or a trace: read it with plugin: kernelbook"
        )
        assert len(read_kernelbook(str(lines(json.dumps(row))))) == 1
    assert "plugin:" not in mistake(read_kernelbench, lines(json.dumps({"code": "x", "name": "x"})))
    (tmp_path / "data.jsonl").write_bytes(b'{"code": "\xff"}')
    assert "data.jsonl: byte 10 is no UTF-8" in mistake(read_kernelbook, tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    assert "expected a folder, or a file that ends in" in mistake(read_kernelbook, tmp_path / "notes.txt")


def test_parquet_without_pyarrow_names_the_package(tmp_path, monkeypatch):
    file = tmp_path / "book.parquet"
    file.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    said = mistake(read_kernelbook, file)
    assert said.endswith(f"{sys.executable} -m pip install pyarrow, or give the data as JSON Lines")


def test_parquet_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "book.parquet"
    rows = [{"python_code": MODULE, "entry_point": "Model", "uuid": i, "stars": 3} for i in (7, 5)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    assert [p.id for p in read_kernelbook(str(file))] == ["5", "7"]
    file.write_bytes(file.read_bytes()[:50])
    assert str(file) in mistake(read_kernelbook, file)


def test_the_real_data_is_read(kernelbench_data, traces_file):
    assert [p.id for p in read_kernelbench(str(kernelbench_data))] == [f"level1/{i}" for i in range(1, 101)]
    assert len(read_kernelbook(str(traces_file))) == 9
