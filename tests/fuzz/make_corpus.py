"""Writes the seeds of the fuzz targets: python3 tests/fuzz/make_corpus.py, which replaces what it wrote before.

Former findings are added to the corpus by hand, as finding_*; those files are left alone.
"""

import struct
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).resolve().parent / "corpus"
KEY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
OTHER = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"
EPISODE_TASK = {"id": "add_relu", "entry": "add_relu"}


def pack(value: object) -> bytes:
    """MessagePack of plain data."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return bytes([value]) if 0 <= value < 128 else b"\xd3" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogateescape")
        return (bytes([0xA0 | len(data)]) if len(data) < 32 else b"\xdb" + struct.pack(">I", len(data))) + data
    if isinstance(value, bytes):
        return b"\xc6" + struct.pack(">I", len(value)) + value
    if isinstance(value, list):
        return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(pack, value))
    assert isinstance(value, dict)
    return b"\xde" + struct.pack(">H", len(value)) + b"".join(pack(k) + pack(v) for k, v in value.items())


def frames(*parts: bytes, tight: bool = False) -> bytes:
    return bytes([tight]) + b"".join(struct.pack("<H", len(part)) + part for part in parts)


def request(verb: str, body: object, *buffers: bytes, **header: object) -> bytes:
    return frames(b"hone/1", verb.encode(), pack({"id": 7, **header}), pack(body), *buffers)


def wire() -> dict[str, bytes]:
    twice = b"\x82" + pack("k" * 9000) + pack(1) + pack("k" * 9000) + pack(2)
    return {
        "hello": request("hello", {"versions": ["hone/1", "hone/2"], "client": "trainer"}),
        "step": request("step", {"episode": "e", "turn": 1, "action": {"code": "int x;"}}, b"buffer", deadline_ms=9),
        "reply": frames(b"hone/1", b"result", pack({"id": 7, "verb": "ping"}), pack({"reward": 0.5})),
        "error": frames(b"hone/1", b"error", pack({"id": -1}), pack({"code": "not_found", "message": "no"})),
        "tight": frames(b"hone/1", b"ping", pack({"id": 1}), pack({"a": [1, 2], "b": {"c": b"d"}}), tight=True),
        "types": request("ping", {"a": [None, True, False, -1, 1 << 40, 0.5, "text", b"bytes"], "b": {"c": {"d": []}}}),
        "key_twice": frames(b"hone/1", b"ping", pack({"id": 1}), b"\x82\xa1k\x01\xa1k\x02"),
        "key_twice_long": frames(b"hone/1", b"ping", pack({"id": 1}), twice),
        "unknown_key": request("ping", {}, **{"no\udcffne": 1}),
        "cut_off": request("ping", {"a": "text"})[:-3],
        "other_protocol": frames(b"hone/9", b"ping", pack({"id": 1}), pack({})),
    }


def json() -> dict[str, bytes]:
    return {
        "log": b'\0{"log": {"level": 1, "message": "line"}}',
        "numbers": b"\0[0, -1, 1.5, 1e308, -9223372036854775808, 9223372036854775807, 5e-324]",
        "beyond_int64": b"\0[-9223372036854775809]",
        "far_beyond_int64": b"\0[18446744073709551616]",
        "texts": '\0{"a\\u00e9": "\\ud83d\\ude00 \\n \\" ü", "b": {}}'.encode(),
        "key_twice": b'\0{"a": 1, "a": 2}',
        "tight": b'\1{"a": [1, 2, 3, 4], "b": {"c": null}}',
        "deep": b"\0" + b"[" * 40,
        "list": b"\0[true, false, null]",
    }


def config() -> dict[str, bytes]:
    found = {path.stem: path.read_bytes() for path in sorted((ROOT / "configs").glob("*.yaml"))}
    bomb = "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n"
    nested = "? " + "k" * 1500 + "\n: [" + "1, " * 400 + "]\n"
    return {
        **found,
        "bomb": bomb.encode(),
        "deep": b"a: " + b"[" * 100,
        "deep_maps": b"".join(b" " * i + b"a:\n" for i in range(40)),
        "long_key": nested.encode(),
        "set": b"server: {lease_s: 5}\0server.lease_s=7",
        "set_inside": b"\0datasets.0.config.path=/tmp/tasks",
        "scalars": b"reward: {name: kevin, config: {a: 0x1f, b: .inf, c: -.5e3, d: ~, e: 'x', f: \"\\u00e9\\0\"}}",
        "block": b"reward:\n  config:\n    text: |\n      a\n      b\n    folded: >-\n      c\n      d\n",
        "merge": b"<<: {a: 1}\n",
        "tag": b"backend: !!str cpu\n",
        "second": b"a: 1\n---\nb: 2\n",
        "directive": b"%YAML 1.2\n%TAG ! tag:x,2000:\n---\nbackend: cpu\n",
        "tab": b"server:\n\tlease_s: 1\n",
    }


def tasks() -> dict[str, bytes]:
    def task(name: str) -> bytes:
        return (ROOT / "envs/kernel_refine/tasks" / name / "task.yaml").read_bytes()

    return {
        "add_relu": task("add_relu"),
        "softmax": task("softmax"),
        "histogram": task("histogram"),
        "dataset": task("saxpy") + b"\0order: [add_relu]\nsplits: {held_out: [add_relu]}\n",
        "path": task("add_relu").replace(b"reference.cpp", b"../reference.cpp"),
    }


def extract() -> dict[str, bytes]:
    code = "void add_relu(const float* x, float* y, long n) {}\n"
    return {
        "fence": f"Here:\n```cpp\n{code}```\n".encode(),
        "tildes": f"~~~~c\n{code}~~~~\n".encode(),
        "think": f"<think>```c\nint no;\n```</think>\n```c++\n{code}```\nor\n```python\nx = 1\n```".encode(),
        "tags": f"<answer>\n<code>{code}</code></answer><kernel>{code}".encode(),
        "cut_off": f"```cpp\r\n{code}".encode(),
        "nested": f"````cpp\n```\n{code}```\n````\n".encode(),
        "words": (
            "a.cpp:1:2: error: \u2018x\u2019 was not declared\n  1 | x\n    | ^\n"
            "a.cpp:2:1: warning: unused\nnote: \u00e9\n"
        ).encode(),
        "bad_bytes": b"```cpp\n\xff\xfe\xed\xa0\x80\xf0\x9f\n```",
    }


def edits(with_log: bool, *changes: tuple[int, int, int]) -> bytes:
    return bytes([with_log]) + b"".join(
        bytes([what]) + struct.pack("<I", where)[:3] + bytes([number]) for what, where, number in changes
    )


def journal() -> dict[str, bytes]:
    found = {
        "whole": edits(False),
        "whole_log": edits(True),
        "header": edits(False, (1, 16, 0), (1, 18, 1)),
        "version": edits(False, (1, 63, 9)),
        "cut_file": edits(False, (3, 5000, 0)),
        "cut_log": edits(True, (0x83, 9000, 0)),
        "log_frame": edits(True, (0x80, 40, 3)),
        "page": edits(False, (4, 8192, 3)),
        "zeros": edits(False, (5, 12288, 255)),
    }
    for page in range(2, 12):
        found[f"end_of_page_{page}"] = edits(False, (0, page * 4096 + 4000, 1))
    return found


def channel() -> dict[str, bytes]:
    speedup = {"value": 2.0, "low": 1.5, "high": 2.5, "rounds": 9, "calls": 3, "flags": ["noisy"]}
    mismatch = {"tensor": "y", "shape": "n=3", "index": [1], "got": 1.0, "expected": 2, "wrong": 1, "total": 3}
    verdict = {"outcome": "correct", "speedup": speedup, "mismatch": mismatch, "stage_ms": {"build": 1.5}}
    judged = pack(
        {
            "reply": "judged",
            "judgement": {
                "ending": "done",
                "culprit": "none",
                "place": "none",
                "shape": "",
                "hidden": False,
                "message": "",
                "verdict": verdict,
            },
            "kept": False,
            "uncontended": {"calls": 3, "seconds": 0.5, "floor_s": 0.25, "held": True},
        }
    )

    def stream(body: bytes, size: int | None = None, fds: int = 0, magic: int = 0x656E6F68) -> bytes:
        return b"\0" + struct.pack("<QII", len(body) if size is None else size, fds, magic) + body

    def numbers(*values: int) -> bytes:
        return struct.pack(f"<{len(values)}q", *values)

    def text(value: str) -> bytes:
        return numbers(len(value)) + value.encode()

    limits = numbers(1 << 20) + struct.pack("<d", 1.5) + numbers(1 << 20, 64)
    return {
        "stream": stream(judged),
        "stream_cut": stream(judged)[:-5],
        "stream_long": stream(b"", size=1 << 40),
        "stream_fds": stream(judged, fds=2),
        "stream_magic": stream(judged, magic=1),
        "judged": b"\1" + judged,
        "drop": b"\1" + pack({"request": "drop", "key": "k/baseline"}),
        "yield": b"\1" + pack({"call": "yield", "still": True}),
        "options": b"\2" + numbers(1, 3) + text("auto") + text("/tmp/w") + numbers(64, 61000),
        "ready": b"\3"
        + numbers(*[1] * 12, 3)
        + b"".join(map(text, ["/a", "/b", "/c", "6.1"]))
        + numbers(1)
        + text("note")
        + numbers(3)
        + text("cgroup")
        + numbers(0)
        + text(""),
        "request": b"\4"
        + numbers(2)
        + text("candidate 1")
        + text("/bin/c")
        + numbers(1)
        + text("-x")
        + numbers(2, 0, 1)
        + limits
        + numbers(1)
        + text("/usr")
        + numbers(1),
        "exit": b"\5" + numbers(0, 9, 1) + struct.pack("<d", 0.5) + numbers(4096) + text("out"),
    }


def plugin() -> dict[str, bytes]:
    speedup = {"value": 2.0, "low": 1.5, "high": 2.5}
    turns = [
        {"turn": 1, "scored": True, "verdict": {"outcome": "correct", "stage": "done", "speedup": speedup}},
        {"turn": 2, "scored": False, "verdict": None},
        {"turn": 3, "scored": True, "verdict": {"outcome": "wrong"}},
    ]
    episode = {"task": EPISODE_TASK, "ended": False, "max_turns": 4, "turns": turns}
    report = {"turns": [{"reward": 0.5, "components": {"a": 0.5}}, None], "return": 0.5, "returns": [0.5, None]}
    return {
        "value": b"\0" + pack({"value": pack({"summary": "s"})}),
        "log": b"\0" + pack({"log": {"level": 2, "message": "line"}}),
        "error": b"\0" + pack({"error": {"code": 1, "message": "no"}}),
        "python_value": b'\1{"value": {"turns": [1.5, null]}}',
        "python_error": b'\1{"error": {"code": 9, "message": "KeyError"}}',
        "decoders": b"\2" + pack({"a": [None, True, -1, 1 << 40, 0.5, "t", b"b"], "c": {"d": {}}}),
        "decoder_forms": b"\2\x96\xcc\xff\xd0\x80\xca\x3f\x80\x00\x00\xd9\x01a\xc4\x01b\xe0",
        "episode": b"\3" + pack(episode),
        "report": b"\4" + pack(report),
    }


def recorded_plan() -> dict[str, bytes]:
    kernel = {"image": 0, "name": "add", "shared_bytes_max": 0, "carveout": -1, "nonportable_clusters": False}
    memories = [
        {"kind": "task", "bytes": 4096, "argument": 0},
        {"kind": "private", "bytes": 1024, "first": 0, "last": 6},
        {"kind": "global", "bytes": 8, "image": 0, "name": "factor"},
    ]
    tensor_map = {"at": 64, "type": 7, "rank": 2, "place": [0, 0], "sizes": [16, 16], "strides": [64], "box": [16, 16]}
    tensor_map |= {"element_strides": [1, 1], "interleave": 0, "swizzle": 0, "promotion": 0, "fill": 0}
    launch = {"do": "launch", "stream": 1, "kernel": 0, "grid": [4, 2, 1], "block": [32, 1, 1], "cluster": [2, 1, 1]}
    launch |= {"shared_bytes": 64, "cooperative": False, "overlaps": True, "parameters": bytes(192)}
    launch |= {"addresses": [[0, 0, 0], [8, 1, 1024]], "tensor_maps": [tensor_map]}
    copy = {"do": "copy", "stream": 0, "to": [1, 0], "from": [0, 0], "bytes": 16, "rows": 4, "to_pitch": 16}
    tensor = {"place": [0, 0], "dtype": "float32", "sizes": [2, 3], "strides": [3, 1]}
    call = {
        "do": "operator",
        "stream": 0,
        "name": "aten.mul.out",
        "arguments": [{"tensor": 0}, 2.5, [{"dtype": "int8"}]],
    }
    call |= {"keywords": {"out": {"tensor": 0}}, "tensors": [tensor], "results": [0]}
    run = [
        launch,
        {"do": "record", "stream": 1, "event": 0},
        {"do": "wait", "stream": 0, "event": 0},
        copy | {"from_pitch": 64},
        {"do": "write", "stream": 0, "to": [1, 0], "bytes": bytes(16), "addresses": [[8, 0, 4096]]},
        {"do": "fill", "stream": 0, "to": [1, 8], "width": 4, "value": 7, "count": 2, "rows": 3, "pitch": 64},
        call,
    ]
    plan = {"version": 1, "architecture": "sm_90a", "images": [b"image"], "kernels": [kernel], "memories": memories}
    plan |= {"streams": 2, "events": 1, "setup": [], "run": run}
    setup = {"do": "fill", "stream": 0, "to": [2, 0], "width": 1, "value": 0, "count": 8, "rows": 1, "pitch": 0}
    return {
        "whole": pack(plan),
        "setup": pack(plan | {"setup": [setup]}),
        "empty": pack(plan | {"images": [], "kernels": [], "memories": [], "run": []}),
        "lifetime": pack(plan | {"memories": [memories[0], memories[1] | {"first": 1}, memories[2]]}),
        "cut_off": pack(plan)[:-9],
    }


def key_file() -> dict[str, bytes]:
    pair = f"public: {KEY}\nsecret: {OTHER}\n"
    return {
        "pair": f"# of a trainer\n{pair}server: {KEY}\n".encode(),
        "public": f"public: {KEY}\n".encode(),
        "short": f"public: {KEY[:-1]}\nsecret: {OTHER}\n".encode(),
        "twice": (pair + pair).encode(),
        "no_colon": f"public {KEY}\nsecret: {OTHER}".encode(),
        "alone": OTHER.encode(),
        "dos": pair.replace("\n", "\r\n").encode(),
    }


def allow_list() -> dict[str, bytes]:
    one = f'{{"name": "trainer", "public": "{KEY}", "role": "trainer", "held_out": true, "episodes": 4}}'
    two = f'{{name: eye, public: "{OTHER}", role: monitor, evaluations: 2, bytes: 1024, created: 2026-01-01T00:00:00Z}}'
    return {
        "none": b"clients: []\n",
        "two": f"clients:\n  - {one}\n  - {two}\n".encode(),
        "one_twice": f"clients: [{one}, {one}]\n".encode(),
        "unknown": f'clients:\n- name: a\n  public: "{KEY}"\n  rule: monitor\n'.encode(),
    }


def section(name: int, kind: int, at: int, size: int, link: int = 0) -> bytes:
    """A header of an ELF section."""
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at, size, link, 0, 1, 0)


def cubin() -> bytes:
    """Device code with one kernel of one pointer, and one variable."""
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0, 32) + struct.pack("<IBBHQQ", 3, 0x11, 0, 2, 0, 8)
    registers = b"\x04\x2f" + struct.pack("<HII", 8, 1, 32)
    info = b"\x04\x17" + struct.pack("<HIHHI", 12, 0, 0, 0, 8 << 18)
    info += b"\x04\x0a" + struct.pack("<HIHH", 8, 1, 0x210, 8) + b"\x03\x19\x08\x00"
    code = struct.pack("<QQQQ", 0xB82 | 0xFF << 24 | 0x84 << 40, 5 << 9, 0, 0)
    names = b"\0.text.k\0.nv.constant3\0.nv.info\0.nv.info.k\0.symtab\0.strtab\0.shstrtab\0"
    parts = [(1, 1, code), (9, 1, bytes(8)), (23, 1, registers), (32, 1, info)]
    parts += [(43, 2, symbols), (51, 3, b"\0k\0v\0"), (59, 3, names)]
    table, body = section(0, 0, 0, 0), b""
    for name, kind, content in parts:
        table += section(name, kind, 64 + len(body), len(content), 6 if kind == 2 else 0)
        body += content
    head = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, 8, 7)
    )
    return head + body + table


def fatbin(*entries: tuple[int, int, int, bytes, int]) -> bytes:
    """Kind, architecture, flags, content and uncompressed size of each image."""
    body = b""
    for kind, architecture, flags, content, size in entries:
        packed = len(content) if size else 0
        body += struct.pack("<HHIQIIIIQQQQ", kind, 0, 64, len(content), packed, 0, 0, architecture, 0, flags, 0, size)
        body += content
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def machine_code() -> dict[str, bytes]:
    head = b'\t.section\t.text.k,"ax",@progbits\nk:\n.text.k:\n'
    place = b'\t//## File "/folder/submission.py", line 7\n'
    code = b"        /*0000*/              @!P0 LDG.E R4, desc[UR4][R4.64] ;\n"
    branch = b".L_x_0:\n        /*0010*/                   BRA `(.L_x_0);\n        /*0020*/  NOP;\n.L_x_1:\n"
    end = b"//--------------------- SYMBOLS --------------------------\n"
    return {"kernel": head + place + code + branch + end, "two": (head + code) * 2, "open": head + place + code[:-3]}


def image() -> dict[str, bytes]:
    code = cubin()
    literals = b"\xf0" + b"\xff" * ((len(code) - 15) // 255) + bytes([(len(code) - 15) % 255]) + code
    return {
        "cubin": code,
        "cut_off": code[:-100],
        "fatbin": fatbin((1, 90, 0, b"text", 0), (2, 80, 0, code, 0), (2, 90, 0x100000, code, 0)),
        "lz4": fatbin((2, 90, 0x2000, literals, len(code))),
        "lz4_match": fatbin((2, 90, 0x2000, b"\x35abc\x03\x00\x10z", 13)),
        "zstd": fatbin((2, 90, 0x8000, b"\x28\xb5\x2f\xfd\x20\x01\x09\x00\x00A", 1)),
    }


def main() -> None:
    makers = (
        wire,
        json,
        config,
        tasks,
        extract,
        journal,
        channel,
        plugin,
        recorded_plan,
        key_file,
        allow_list,
        image,
        machine_code,
    )
    for make in makers:
        folder = CORPUS / make.__name__
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if not old.name.startswith("finding_"):
                old.unlink()
        for name, content in make().items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
