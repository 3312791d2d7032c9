"""What a warm Python runs is what a new one runs: the same output, exit codes, streams, signals and files."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm_python

COMMANDS = [
    "printf 'the cows eat grass\\nthe cows eat hay\\n%.0s' 1 2 3 4 5 6 7 8 > cows.txt",
    "chainrule train ngram --data cows.txt --out counts model.order=2 > /dev/null",
    "chainrule evaluate counts --data cows.txt --json",
    "chainrule train transformer --data cows.txt --out runs/t tokenizer=bytes 'model.pattern=(sf)*1' model.width=8 "
    "model.context=16 training.budget.steps=2 training.batch=2 2> log.txt | grep -E 'parameters|training loss'",
    "cat runs/t/model.safetensors counts/model.safetensors runs/t/recipe.yaml | cksum",
    "chainrule generate runs/t --prompt 'the ' --max-tokens 5 --seed 3; echo $?",
    "chainrule generate nothing",
    "chainrule parts attention | head -n 2",
    "chainrule recipes | (exec 0<&-; true)",
    "python -m chainrule verify counts | cut -d '(' -f1 && echo Käse | "
    "python -c 'import sys; print(sys.argv, input())' a 'b c'",
    "python -c 'import os, sys; print(os.getcwd(), sys.stdout.line_buffering, sys.stderr.errors, sys.stdin.encoding)'",
    "python -c 'import sys; sys.exit(\"no\")'; python -c 'import os; os.kill(os.getpid(), 9)'; echo $?",
    "python -c 'print(1); 1 / 0' 2>&1 | tail -n 1; echo 'import sys; print(sys.argv, __name__)' > a.py; python a.py x",
    "python -c 'import atexit; atexit.register(print, \"at the end\"); print(\"first\")'; umask 077; "
    "python -c 'open(\"shut\", \"w\")'; ls -l shut | cut -c1-10",
]


def in_a_shell(command, folder, programs):
    env = warm_python.environment(COLUMNS="80", PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def test_every_command_gives_what_a_new_process_gives(tmp_path):
    folder = tmp_path / "here"
    seen = []
    for programs in (Path(sys.executable).parent, warm_python.programs()):
        folder.mkdir()
        seen.append([(command, *in_a_shell(command, folder, programs)) for command in COMMANDS])
        folder.rename(tmp_path / programs.name)
    assert seen[0] == seen[1]
    assert {code for _, code, _, _ in seen[0]} == {0, 1}


def test_it_is_a_copy_of_the_server_that_runs():
    code, out, _ = in_a_shell("python -c 'import os, sys; print(os.getppid(), \"torch\" in sys.modules)'", "/",
                              warm_python.programs())
    parent, torch_is_there = out.split()
    assert code == 0 and torch_is_there == "True"
    assert b"warm_server.py" in Path(f"/proc/{parent}/cmdline").read_bytes()


@pytest.mark.parametrize("before", ["OMP_NUM_THREADS=3", "PYTHONHASHSEED=5", "PYTHONPATH=/elsewhere", "LC_ALL=C"])
def test_what_must_be_known_when_python_starts_gets_a_new_process(before):
    assert in_a_shell(f"{before} python -c 'import sys; print(\"torch\" in sys.modules)'", "/",
                      warm_python.programs()) == (0, "False\n", "")


def test_options_of_python_itself_get_a_new_process():
    assert in_a_shell("python -E -c 'import sys; print(sys.flags.ignore_environment)'", "/",
                      warm_python.programs()) == (0, "1\n", "")


WAITS = "import time; print('here', flush=True); time.sleep(600)"
TELLS = f"""
import os, signal, sys
def told(number, frame):
    print(number, flush=True)
    sys.exit(3)
signal.signal(signal.SIGTERM, told)
{WAITS}
"""


def test_signals_are_passed_on():
    process = subprocess.Popen([warm_python.python(), "-c", TELLS], stdout=subprocess.PIPE, text=True,
                               env=warm_python.environment())
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=600)[0] == "15\n" and process.returncode == 3


def test_a_killed_client_takes_its_program_with_it():
    process = subprocess.Popen([warm_python.python(), "-c", f"import os; print(os.getpid()); {WAITS}"],
                               stdout=subprocess.PIPE, text=True, env=warm_python.environment())
    program = int(process.stdout.readline())
    process.kill()
    end = time.monotonic() + 60
    while Path(f"/proc/{program}").exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert not Path(f"/proc/{program}").exists()
    process.communicate(timeout=600)
