"""Snakemake and ``seqkern`` as forks of one process that has imported what they need, which is most of their time.

``warm.py FOLDER`` is that process. ``snakemake`` asks it, and so do the scripts in ``programs()``, which are first on
the path of the jobs. It ends when its standard input does, that is, with the process that has started it.
"""

import atexit
import contextlib
import functools
import importlib
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

IMPORTED = [
    *("numpy", "pandas", "scipy.stats", "scipy.optimize", "sklearn.svm", "sklearn.linear_model", "psutil"),
    *("matplotlib.figure", "matplotlib.backends.backend_pdf", "snakemake.cli", "snakemake.workflow"),
    *("seqkern.cli.main", "seqkern.study.study", "seqkern.methods.crossval", "seqkern.report.page"),
]
CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"."], [0, 1, 2])
    request = dict(program={program!r}, line=sys.argv[1:], folder=os.getcwd(), environment=dict(os.environ))
    server.sendall(json.dumps(request).encode() + b"\\n")
    status = server.recv(1)
os._exit(status[0] if status else 137)
"""


def snakemake(line, folder):
    """Return what ``subprocess.run`` returns for ``snakemake LINE`` in a folder."""
    home = programs()
    environment = {**os.environ, "PATH": f"{home}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    if not (home / "socket").exists():
        command = [sys.executable, "-m", "snakemake", *line]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    request = {"program": "snakemake", "line": line, "folder": str(folder), "environment": environment}
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3)]
        server = stack.enter_context(socket.socket(socket.AF_UNIX))
        server.connect(str(home / "socket"))
        socket.send_fds(server, [b"."], [file.fileno() for file in files])
        server.sendall(json.dumps(request).encode() + b"\n")
        status = server.recv(1)
        for file in files:
            file.seek(0)
        return subprocess.CompletedProcess(line, status[0] if status else -9, files[1].read(), files[2].read())


@functools.cache
def programs():
    """Return a folder with the scripts ``seqkern`` and ``snakemake``; an empty one where forks are not safe."""
    folder = Path(tempfile.mkdtemp())
    if sys.platform == "linux":
        for name in ("seqkern", "snakemake"):
            script = folder / name
            script.write_text(CLIENT.format(python=sys.executable, address=str(folder / "socket"), program=name))
            script.chmod(0o755)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        programs.process = subprocess.Popen([sys.executable, __file__, folder], **pipes)
        assert programs.process.stdout.readline() == b"ready\n"
    return folder


def serve(folder):
    """Import, then fork for every request."""
    for name in IMPORTED:
        importlib.import_module(name)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/socket")
        listening.listen(16)
        print("ready", flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            asking, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                status = 1
                try:
                    status = _answer(asking)
                finally:
                    asking.sendall(bytes([status & 255]))
                    os._exit(0)
            asking.close()
    shutil.rmtree(folder)


def _answer(asking):
    """Run what is asked for; return its exit status."""
    _, standard, *_ = socket.recv_fds(asking, 1, 3)
    with asking.makefile("rb") as stream:
        request = json.loads(stream.readline())
    for number, file in enumerate(standard):
        os.dup2(file, number)
        os.close(file)
    # the text files of the process that has forked know whether its own descriptors can be sought
    modes = {"stdin": "r", "stdout": "w", "stderr": "w"}
    for number, (name, mode) in enumerate(modes.items()):
        setattr(sys, name, os.fdopen(number, mode, errors="backslashreplace", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    # a fork is silent, but this one is a program of its own
    sys.modules["seqkern.core.progress"]._forked = False
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [request["program"], *request["line"]]
    module = importlib.import_module(f"{request['program']}.cli{'.main' if request['program'] == 'seqkern' else ''}")
    try:
        sys.exit(module.main(request["line"]))
    except SystemExit as error:
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
