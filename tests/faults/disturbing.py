"""One round: a command in a fork, a fault at one of its calls, and what its folder looks like then."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import importlib
import json
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from kinds import CHANGES, COSTS, FAULTS, READ, STOPPED, UNCLEAN
from trees import Tree, state_of, tree
from verbs import COMMANDS, FILES, INPUTS, Command

from seqkern.cli.output import MARK

Arm = tuple[int, int, int, int, int]


def _used(folder: Path) -> int:
    """Return the bytes in use on a file system."""
    found = os.statvfs(folder)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


class Bench:
    """The inputs, and what undisturbed commands make of them."""

    def __init__(self, home: Path) -> None:
        self.home, self.shim = home, ctypes.CDLL(os.environ["SEQKERN_SHIM"])
        self.shim.turn_clock.argtypes = [ctypes.c_double]
        self.base = home / "inputs"
        self.base.mkdir()
        for name, text in FILES.items():
            (self.base / name).write_text(text)
        self.inputs: set[str] = set()
        self.start: dict[str, Path] = {}
        self.made: dict[str, Tree] = {}
        self.varying: dict[str, set[str]] = {}
        self.calls: dict[tuple[str, str], int] = {}
        self.seconds: dict[str, float] = {}
        self.repeated: dict[tuple[str, int], tuple[int, str, Tree]] = {}

    def _provide(self, line: str) -> None:
        """Make the inputs that a command line names, if they are not there yet."""
        words = shlex.split(line)
        for made in INPUTS:
            output = made.split()[-1]
            if made in self.inputs or made == line:
                continue
            named = (
                word.startswith(output) or output.startswith(f"{word}/") or f'"{output}/' in word for word in words
            )
            if any(named):
                self.inputs.add(made)
                self._provide(made)
                self._must(self.base, made)

    def _must(self, folder: Path, line: str) -> None:
        code, said, _ = self.run(folder, shlex.split(line))
        if code:
            raise RuntimeError(f"seqkern {line}: exit {code}: {said}")

    def _undisturbed(self, name: str, command: Command) -> None:
        """Run a command several times: to learn what to import, what varies, and which calls it makes."""
        for line in (*command.prepare, command.line):
            self._provide(line)
        start = self.start[name] = self.home / f"start-{name}"
        shutil.copytree(self.base, start)
        for line in command.prepare:
            self._must(start, line)
        for modules in (True, False):  # the second time, everything is imported
            folder = self.fresh(name)
            code, said, _ = self.run(folder, command.words(), modules=modules)
            if code:
                raise RuntimeError(f"seqkern {command.line}: exit {code}: {said}")
            found = tree(folder)
            before = self.made.setdefault(name, found)
            self.varying[name] = {path for path in found if found[path] != before.get(path) or path.endswith(COSTS)}
        folder = self.fresh(name)
        started = time.monotonic()
        counts = self.run(folder, command.words(), arm=(CHANGES | READ, 1 << 40, 0, 0, 0))[2]
        self.seconds[name] = time.monotonic() - started
        for fault, (kinds, *_) in FAULTS.items():
            self.calls[name, fault] = sum(count for i, count in enumerate(counts) if kinds >> i & 1)

    def fresh(self, name: str) -> Path:
        """Return a new folder for a command."""
        folder = self.home / "round"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.start[name], folder)
        return folder

    def run(
        self,
        folder: Path,
        words: list[str],
        *,
        arm: Arm | None = None,
        limit: Callable[[], object] | None = None,
        later: tuple[float, int] | None = None,
        modules: bool = False,
    ) -> tuple[int, str, list[int]]:
        """Return the exit code (or minus the signal), the text on standard error, and the calls of each kind."""
        outside = self.home / "outside"
        code, text = self._wait(*self._start(folder, words, arm=arm, limit=limit, modules=modules), later)
        if modules and code == 0:
            self._warm((outside / "modules").read_text().split())
        counts = list(map(int, (outside / "count").read_text().split())) if arm and code == 0 else []
        return code, text, counts

    def _warm(self, modules: list[str]) -> None:
        """Do once, in this process, what each fork of it would do again."""
        for module in modules:
            with contextlib.suppress(Exception):
                importlib.import_module(module)
        from seqkern.core.package_files import build_digest

        build_digest()
        gc.collect()
        gc.freeze()  # memory that no fork's collection writes to is not copied

    def two_writers(self, folder: Path, words: list[str]) -> tuple[int, str]:
        """Return the worse exit code of two commands at the same time, and what that one said."""
        return max([self._wait(*one) for one in [self._start(folder, words) for _ in range(2)]])

    def _start(self, folder: Path, words: list[str], arm=None, limit=None, modules=False) -> tuple[int, int]:
        """Start a command; return its process, and a pipe with what it says, after a byte as it begins."""
        outside = self.home / "outside"
        outside.mkdir(exist_ok=True)
        spoken, said = os.pipe()  # a limit of files' sizes does not count for pipes
        fcntl.fcntl(said, fcntl.F_SETPIPE_SZ, 1 << 20)
        os.set_blocking(said, False)
        child = os.fork()
        if child == 0:
            try:
                self._child(folder, words, arm, limit, outside, said, modules)
            finally:
                os._exit(98)
        os.close(said)
        return child, spoken

    def _wait(self, child: int, spoken: int, later: tuple[float, int] | None = None) -> tuple[int, str]:
        """Return the exit code of a command, and what it said; `later`, send it a signal."""
        os.read(spoken, 1)
        if later is not None:
            time.sleep(later[0])
            os.kill(child, later[1])  # it has not been waited for: the number is still its own
        _, status = os.waitpid(child, 0)
        with open(spoken, encoding="utf-8", errors="replace") as file:
            return os.waitstatus_to_exitcode(status), file.read()

    def _child(self, folder, words, arm, limit, outside, said, modules) -> None:
        """Run the command, and end this process."""
        code = 99
        try:
            os.chdir(folder)
            for number, file in ((1, os.open(os.devnull, os.O_WRONLY)), (2, said)):
                os.dup2(file, number)
            sys.stdout, sys.stderr = (open(n, "w", closefd=False) for n in (1, 2))  # noqa: SIM115
            signal.signal(signal.SIGINT, signal.default_int_handler)
            from seqkern.cli import main

            stops = {signal.SIGINT, signal.SIGTERM}
            signal.pthread_sigmask(signal.SIG_BLOCK, stops)  # while this class runs, not the command

            @contextlib.contextmanager
            def stoppable(whole=main.stoppable):
                with whole():
                    signal.pthread_sigmask(signal.SIG_UNBLOCK, stops)
                    yield
                    signal.pthread_sigmask(signal.SIG_BLOCK, stops)

            main.stoppable = stoppable
            counted = os.open(outside / "count", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            if limit is not None:
                limit()
            if arm is not None:
                self.shim.arm(os.fsencode(folder), *[ctypes.c_long(a) if i == 1 else a for i, a in enumerate(arm)])
            os.write(said, b"\n")
            code = main.main(words)
            sys.stdout.flush()
            if arm is not None:
                os.write(counted, " ".join(str(self.shim.disarm(1 << i)) for i in range(8)).encode())
            if modules:
                found = [one for one in list(sys.modules) if getattr(sys.modules[one], "__spec__", None)]
                (outside / "modules").write_text("\n".join(found))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def round(self, name: str, fault: str, draw: random.Random, keep: str | None = None) -> set[str]:
        """Return the columns of the table that a round counts for."""
        if name not in self.start:
            self._undisturbed(name, COMMANDS[name])
        if fault == "full-disk":
            return self._on_full_disk(name, draw, keep)
        folder, words = self.fresh(name), COMMANDS[name].words()
        arm, limit, later, at = None, None, None, 0.0
        kinds, number, error, lasting = FAULTS[fault]
        if fault in STOPPED and draw.random() < 0.5:  # not at a call, but at some time
            at = draw.uniform(0.001, self.seconds[name])
            later = (at, int(number))
        elif kinds:
            at = draw.randint(1, max(1, self.calls[name, fault]))
            arm = (kinds, int(at), int(number), error, lasting)
        elif fault != "two-writers":
            limit, at = self._limit(fault, draw)
        if fault == "two-writers":
            code, said = self.two_writers(folder, words)
        else:
            code, said, _ = self.run(folder, words, arm=arm, limit=limit, later=later)
        return self._repeated(name, fault, at, code, said, keep)

    def _repeated(
        self, name: str, fault: str, at: float, code: int, said: str, keep: str | None, free=None
    ) -> set[str]:
        """Judge a round, repeat its command without the fault, and return the columns that it counts for."""
        folder, words = self.home / "round", COMMANDS[name].words()
        counts = {"tried"} | self._judge(name, fault, code, said, tree(folder))
        if free is not None:
            free()
        again, told, left = self._run_again(name, folder, words)
        made = self.made[name]
        different = [path for path in made if not self._is_right(name, path, left)]
        if different or (again and not self._is_refused(again, told)):
            counts.add("lost")
        more = sorted(set(left) - set(made))
        if [path for path in more if fault not in UNCLEAN or not path.endswith(".tmp")]:
            counts.add("litter")
        if counts - {"tried", "hit"}:
            print(f"# {name} {fault} at {at}: {sorted(counts)} exit {code} said {said[-900:]!r}", file=sys.stderr)
            print(f"#    again {again} {told[-200:]!r} different {different} more {more}", file=sys.stderr, flush=True)
            if keep:
                shutil.copytree(folder, Path(keep) / f"{name}-{fault}-{at}", dirs_exist_ok=True)
        return counts

    def _run_again(self, name: str, folder: Path, words: list[str]) -> tuple[int, str, Tree]:
        """Repeat a command without a fault; return what comes of it, from memory if another round left the same."""
        key = name, state_of(folder)
        if key not in self.repeated:
            # verbs that refuse an existing output are not repeated where everything is there
            again, told, _ = (0, "", []) if self._is_complete(name, tree(folder)) else self.run(folder, words)
            self.repeated[key] = again, told, tree(folder)
        return self.repeated[key]

    def _is_refused(self, code: int, said: str) -> bool:
        """Return whether a command says, in one line, that its output is there already."""
        return code == 1 and "already" in said and said.strip().count("\n") == 0

    def _on_full_disk(self, name: str, draw: random.Random, keep: str | None) -> set[str]:
        """Run a command on a file system with too little room; nothing without the right to mount one."""
        folder, page = self.home / "round", resource.getpagesize()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)]
        if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
            return set()
        try:
            shutil.copytree(self.start[name], folder, dirs_exist_ok=True)
            used = _used(folder)
            needed = sum(-(-len(data) // page) for data in self.made[name].values()) - used // page
            pages = draw.randint(0, max(2, needed + 1))
            self._resize(folder, used + pages * page)
            code, said, _ = self.run(folder, COMMANDS[name].words())
            free = partial(self._resize, folder, 64 << 20)
            return self._repeated(name, "full-disk", pages, code, said, keep, free)
        finally:
            subprocess.run(["umount", str(folder)], check=True)

    def _resize(self, folder: Path, size: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)

    def _is_right(self, name: str, path: str, left: Tree) -> bool:
        """Return whether a file is there, with the bytes of an undisturbed run."""
        if path not in left or path not in self.varying[name]:
            return left.get(path) == self.made[name][path]
        try:
            return bool(json.loads(left[path]) if path.endswith(".json") else left[path])
        except ValueError:
            return False

    def _is_complete(self, name: str, left: Tree) -> bool:
        """Return whether nothing is missing, wrong or too much."""
        return left.keys() == self.made[name].keys() and all(self._is_right(name, path, left) for path in left)

    def _limit(self, fault: str, draw: random.Random) -> tuple[Callable[[], object], int]:
        """Return what limits the command, and the limit."""
        if fault == "files":
            number = draw.randint(5, 16)
            return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number)), number
        if fault == "file-size":
            number = draw.choice([0, 100, 1000, 4096, 20000])
            return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (number, number)), number
        if fault == "memory":
            now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            number = now + draw.randint(0, 40 << 20)
            return lambda: resource.setrlimit(resource.RLIMIT_AS, (number, number)), number
        return lambda: self.shim.turn_clock(-1.0), 0

    def _judge(self, name: str, fault: str, code: int, said: str, left: Tree) -> set[str]:
        """Return what is wrong right after the fault."""
        counts, made, before = set(), self.made[name], tree(self.start[name])
        if code:
            counts.add("hit")
        for path, data in left.items():
            if path.endswith(MARK):  # says which files are there so far
                continue
            if path in made and data not in (made[path], before.get(path)) and path not in self.varying[name]:
                counts.add("lost")
        if "Traceback" in said or "Exception ignored" in said:
            counts.add("traceback")
        last = said.strip().splitlines()[-1:] or [""]
        if code == 0 and not self._is_complete(name, left):
            counts.add("silent")
        if code and fault != "SIGKILL" and not last[0].startswith(("seqkern", "OpenBLAS error: Memory")):
            counts.add("silent")
        if code and fault in STOPPED and code not in STOPPED[fault]:
            counts.add("silent")
        if fault not in UNCLEAN and [path for path in left if path.endswith(".tmp")]:
            counts.add("litter")
        return counts
