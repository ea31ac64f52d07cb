"""Forges the answer of its dry run, twice, with invalid text and an invalid cache."""

import os
import socket
import struct
import sys

import torch

MAGIC = 0x656E6F68
if os.path.basename(sys.argv[0]) == "dry_run_module.py":
    host = socket.socket(fileno=os.dup(3))
    for words in (b"run \x1b[31m\xff\x00 forged\n" + b"[" * 1000000 + b"\n[", b"\n\n{}"):
        host.sendmsg([struct.pack("QII", len(words), 1, MAGIC)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b"\0" * 4)])
        host.sendall(words)
    os._exit(0)


class ModelNew(torch.nn.Module):
    pass
