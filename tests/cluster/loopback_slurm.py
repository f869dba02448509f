"""A SLURM of two nodes on this computer, to try the workflow on: munge, slurmctld and two slurmd on loopback.

    python tests/cluster/loopback_slurm.py bash              a shell with sbatch, squeue and the executor of Snakemake
    python tests/cluster/loopback_slurm.py snakemake --workflow-profile profiles/slurm

It needs root and, on Debian, ``apt-get install slurmctld slurmd slurm-client munge``; Snakemake's executor comes from
PyPI if it is not installed. All files are in one temporary folder, and whatever started here is stopped at the end.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "srun")
PACKAGES = "slurmctld slurmd slurm-client munge"
PLUGINS = ("snakemake-executor-plugin-slurm", "snakemake-executor-plugin-slurm-jobstep")
SBIN = "/usr/sbin:/sbin"
NODES = ("node1", "node2")
CONFIGURATION = """\
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=60
KillWait=2
JobRequeue=0
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 RealMemory=16000
NodeName=node2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 RealMemory=16000
PartitionName=main Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP
"""


def reason_to_skip() -> str | None:
    """Return why no SLURM can be started here; None if it can."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "starting a SLURM needs Linux and root"
    path = f"{os.environ.get('PATH', '')}:{SBIN}"
    missing = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    return f"no {', '.join(missing)} (apt-get install {PACKAGES})" if missing else None


class LoopbackSlurm:
    """A SLURM of two nodes; leaving the ``with`` block stops it, its jobs, and what was started in its environment."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.daemons: dict[str, subprocess.Popen] = {}
        # it reads until this process closes the pipe, or ends in whatever way
        watching = [sys.executable, __file__, "--clean-up", str(self.folder)]
        self.watcher = subprocess.Popen(watching, stdin=subprocess.PIPE, start_new_session=True)
        self.environment = {
            **os.environ,
            "PATH": f"{self.folder}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}:{SBIN}",
            "SLURM_CONF": f"{self.folder}/slurm.conf",
        }

    def __enter__(self) -> Self:
        try:
            self._configure()
            self._daemon("munged", "--foreground", "--force", *self._munge_options())
            self._wait_for("munge", (self.folder / "munge.socket").exists)
            self._daemon("slurmctld", "-D", "-i")
            for node in NODES:
                self.start_node(node)
            self._wait_for("two idle nodes", lambda: self.run("sinfo", "-h", "-o", "%D %T").split() == ["2", "idle"])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if "slurmctld" in self.daemons:
            subprocess.run(["scancel", "--user=root"], env=self.environment, check=False, capture_output=True)
            time.sleep(1)
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
        for daemon in self.daemons.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(timeout=5)
        self.watcher.communicate()
        for daemon in self.daemons.values():
            daemon.wait()

    def run(self, *command: str) -> str:
        """Return what a command prints in the environment of this SLURM."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout

    def jobs(self, *options: str) -> list[list[str]]:
        """Return id, state, node and comment of each job in the queue."""
        return [line.split("|") for line in self.run("squeue", "-h", "-o", "%i|%T|%N|%k", *options).splitlines()]

    def start_node(self, node: str) -> None:
        """Start the slurmd of a node."""
        self._daemon(node, "-D", "-N", node, program="slurmd")

    def crash(self, node: str) -> None:
        """Kill the slurmd of a node and all its processes at once, as a power failure would."""
        self.daemons[node].kill()
        _kill_all(f"SLURM_CONF={self.folder}/slurm.conf", f"SLURMD_NODENAME={node}")
        self.daemons[node].wait()

    def _configure(self) -> None:
        """Write the configuration and the key, and get the executor of Snakemake where it is missing."""
        for name in ("bin", "state", *(f"spool.{node}" for node in NODES)):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)
        text = CONFIGURATION.format(folder=self.folder, host=socket.gethostname().split(".")[0], ports=_free_ports(3))
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "munge.key").write_bytes(os.urandom(1024))
        (self.folder / "munge.key").chmod(0o600)
        # the executor starts srun without the variables of SLURM, so that srun would look for /etc/slurm/slurm.conf
        srun = self.folder / "bin" / "srun"
        real = shutil.which("srun", path=f"{os.environ['PATH']}:{SBIN}")
        srun.write_text(f'#!/bin/sh\nSLURM_CONF="{self.folder}/slurm.conf" exec {real} "$@"\n')
        srun.chmod(0o755)
        if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
            extra = self.folder / "plugins"
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(extra), *PLUGINS]
            subprocess.run(pip, check=True, stdout=sys.stderr)
            paths = [os.environ.get("PYTHONPATH", ""), str(extra)]
            self.environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))

    def _munge_options(self) -> list[str]:
        """Return the options that keep munge's files in the folder."""
        names = {"key-file": "key", "socket": "socket", "log-file": "log", "pid-file": "pid", "seed-file": "seed"}
        return [f"--{option}={self.folder}/munge.{name}" for option, name in names.items()]

    def _daemon(self, name: str, *options: str, program: str | None = None) -> None:
        """Start a daemon that stays in the foreground."""
        with (self.folder / f"{name}.out").open("ab") as out:
            self.daemons[name] = subprocess.Popen(
                [program or name, *options], env=self.environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL
            )

    def _wait_for(self, what: str, condition: Callable[[], bool], seconds: float = 60) -> None:
        """Wait until a condition holds; with the daemons' last lines in the message if it does not."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                lines = [line for path in self.folder.glob("*.out") for line in path.read_text().splitlines()[-3:]]
                raise RuntimeError(f"SLURM did not start, no {what}: {' / '.join(lines)}")
            time.sleep(0.2)


def _free_ports(n: int) -> list[int]:
    """Return ports of loopback on which nothing listens."""
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _kill_all(*variables: str) -> None:
    """Kill each process that has some variables in its environment, but not this one."""
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            own = (place / "environ").read_text(errors="replace").split("\0")
            if {*variables} <= {*own} and int(place.name) != os.getpid():
                os.kill(int(place.name), signal.SIGKILL)


def clean_up(folder: str) -> None:
    """Wait until the process that started a SLURM is done or dead; kill what is left of it, and remove its folder."""
    sys.stdin.read()
    _kill_all(f"SLURM_CONF={folder}/slurm.conf")
    shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Run a command in the environment of a SLURM."""
    reason = reason_to_skip()
    if reason or len(sys.argv) < 2:
        print(reason or __doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "--clean-up":
        clean_up(sys.argv[2])
        return 0
    with LoopbackSlurm() as slurm:
        return subprocess.run(sys.argv[1:], env=slurm.environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
