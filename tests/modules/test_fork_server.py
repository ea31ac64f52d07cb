"""The fork server: imports, input, variables and exit status of its programs."""

from conftest import SECONDS_MAX


def test_programs_begin_with_torch_imported(interpreter):
    ran = interpreter.run(
        "-c", "import sys; print('torch' in sys.modules, 'triton' in sys.modules)", timeout=SECONDS_MAX
    )
    assert ran.stdout == "True False\n", ran.stderr


def test_program_has_its_own_input_variables_folder_and_status(interpreter, tmp_path):
    code = "import os, sys; print(sys.stdin.read(), os.environ['ONE'], os.getcwd()); sys.exit(3)"
    ran = interpreter.run("-c", code, given="in", timeout=SECONDS_MAX, variables={"ONE": "1"}, folder=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, f"in 1 {tmp_path}\n", "")


def test_exception_and_signal_are_reported(interpreter):
    raised = interpreter.run("-c", "raise ValueError('no luck')", timeout=SECONDS_MAX)
    assert raised.returncode == 1
    assert raised.stderr.endswith("ValueError: no luck\n")
    killed = interpreter.run("-c", "import os; os.kill(os.getpid(), 9)", timeout=SECONDS_MAX)
    assert killed.returncode == -9
