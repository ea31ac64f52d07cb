"""Prints one line with the versions of an interpreter of modules, for `hone doctor`. Runs in the sandbox of modules.

python -I -B describe_interpreter.py processor|device
"""

import os
import platform
import sys
import sysconfig
import time

for name in ("HOME", "TRITON_HOME", "XDG_CACHE_HOME"):
    os.environ[name] = os.getcwd()
os.environ.update(OMP_NUM_THREADS="1", USER="hone")
begun = time.monotonic()
try:
    import torch
except ImportError as error:
    sys.exit(f"Python {platform.python_version()} without torch: {error}")
words = [f"Python {platform.python_version()}, torch {torch.__version__}"]
try:
    import triton

    words.append(f"triton {triton.__version__}")
except ImportError as error:
    words.append(f"no triton ({error})")
seconds = time.monotonic() - begun
if sys.argv[1] == "device":
    if not torch.cuda.is_available():
        sys.exit(f"{', '.join(words)}: torch finds no device")
    words.append(torch.cuda.get_device_name(0))
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I leaves it out
    from module_toolkits import toolkit_for

    toolkit = toolkit_for()
    home, compiler, code = toolkit.home(), toolkit.NAME, toolkit.CODE
    words.append(f"no {compiler} (load_inline of {code} needs it)" if home is None else f"{compiler} in {home}/bin")
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        words.append("no Python.h (load_inline needs it: install Python's development files)")
print(f"{', '.join(words)}; imports take {seconds:.1f} s")
