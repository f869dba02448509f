"""Limits of memory and cores: control groups as containers and batch systems make them, SLURM, ulimit."""

import re
import resource
import subprocess
import sys

import pytest

from seqkern.core import memory, threads

MB = 1 << 20
MOUNT = "31 23 0:29 {root} {folder} rw,nosuid,nodev,noexec,relatime shared:9 - {kind} {kind} rw{options}\n"
NOT_SLURM = ("SLURM_JOB_ID", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU", "SLURM_CPUS_ON_NODE", "SLURM_CPUS_PER_TASK")


def set_limits(monkeypatch, soft):
    """Set what ulimit says: a soft limit of each kind, of others none."""
    no = resource.RLIM_INFINITY
    monkeypatch.setattr(memory.limits_of_process, "getrlimit", lambda kind: (soft.get(kind, no), no))


@pytest.fixture(autouse=True)
def computer(tmp_path, monkeypatch):
    """A computer with 64 GB of free memory, 64 cores and no limits; this process takes nothing yet."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "meminfo").write_text("MemTotal: 131072000 kB\nMemAvailable:   65536000 kB\nHuge: 0\n")
    monkeypatch.setattr(memory, "PROCESS", tmp_path / "proc")
    monkeypatch.setattr(memory, "PROCESS", tmp_path / "proc")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    pages = {"SC_PHYS_PAGES": 32_768_000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(memory.os, "sysconf", pages.__getitem__)
    set_limits(monkeypatch, {})
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    for name in NOT_SLURM:
        monkeypatch.delenv(name, raising=False)
    caches = memory.control_groups, threads.quotas
    for one in caches:
        one.cache_clear()
    yield tmp_path
    for one in caches:
        one.cache_clear()


@pytest.fixture
def groups(computer):
    """Write a tree of control groups: what /proc/self/cgroup says, what is mounted where, and files of groups."""

    def write(own, mounts, files):
        (computer / "proc" / "cgroup").write_text(own)
        lines = [
            MOUNT.format(root=root, folder=computer / folder, kind=kind, options=options)
            for root, folder, kind, options in mounts
        ]
        (computer / "proc" / "mountinfo").write_text("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + "".join(lines))
        for name, text in files.items():
            file = computer / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{text}\n")

    return write


V2 = [("/", "cg", "cgroup2", "")]


def test_free_memory_of_the_computer():
    assert memory.available_memory() == 65_536_000 * 1024
    assert memory.memory_left().place == "on this computer"


def test_slurm_step_version_2(groups):
    """SLURM limits the step, two groups above that of the process, and the job above it."""
    job = "system.slice/slurmstepd.scope/job_7"
    files = {f"cg/{job}/step_0/user/task_0/memory.max": "max", f"cg/{job}/step_0/memory.max": 1000 * MB}
    files |= {f"cg/{job}/step_0/memory.current": 300 * MB, f"cg/{job}/memory.max": 4000 * MB}
    files[f"cg/{job}/step_0/memory.stat"] = f"anon 1\ninactive_file {150 * MB}\nactive_file {50 * MB}\nodd line here\n"
    groups(f"0::/{job}/step_0/user/task_0\n", V2, files)
    assert memory.memory_left()[:2] == (900 * MB, "to the SLURM job")


def test_slurm_version_1(groups):
    """The group of the task has no limit; that of the job has."""
    own = "9:cpuset:/slurm/uid_0/job_7/step_0\n4:memory:/slurm/uid_0/job_7/step_0/task_0\n1:name=systemd:/\n0::/\n"
    mounts = [
        ("/", "cg/memory", "cgroup", ",memory"),
        ("/", "cg/cpuset", "cgroup", ",cpuset"),
        ("/", "u", "cgroup2", ""),
    ]
    none = 9223372036854771712
    files = {
        "cg/memory/memory.limit_in_bytes": none,
        "cg/memory/slurm/uid_0/job_7/memory.limit_in_bytes": 1000 * MB,
        "cg/memory/slurm/uid_0/job_7/memory.usage_in_bytes": 100 * MB,
        "cg/memory/slurm/uid_0/job_7/memory.stat": f"inactive_file 5\ntotal_inactive_file {20 * MB}",
        "cg/memory/slurm/uid_0/job_7/step_0/memory.limit_in_bytes": none,
        "cg/memory/slurm/uid_0/job_7/step_0/task_0/memory.limit_in_bytes": none,
    }
    groups(own, mounts, files)
    assert memory.memory_left() == (920 * MB, "to the SLURM job", "ask SLURM for more memory (--mem)")


def test_docker_version_1_mounts_its_own_part(groups):
    """The path is the host's, the mounted folder that of the container."""
    own = "4:memory:/docker/ab12\n3:cpu,cpuacct:/docker/ab12\n"
    mounts = [("/docker/ab12", "cg/memory", "cgroup", ",memory"), ("/docker/ab12", "cg/cpu", "cgroup", ",cpu,cpuacct")]
    files = {"cg/memory/memory.limit_in_bytes": 512 * MB, "cg/memory/memory.usage_in_bytes": 12 * MB}
    files |= {"cg/cpu/cpu.cfs_quota_us": 150_000, "cg/cpu/cpu.cfs_period_us": 100_000}
    groups(own, mounts, files)
    assert memory.memory_left()[:2] == (500 * MB, "to control group /docker/ab12")
    assert threads.available_threads() == 2


def test_container_version_2_sees_itself_as_the_root(groups):
    files = {"cg/memory.max": 512 * MB, "cg/memory.current": 12 * MB, "cg/cpu.max": "300000 100000"}
    groups("0::/\n", V2, files)
    assert memory.memory_left() == (500 * MB, "to the container", "give the container more memory")
    assert threads.available_threads() == 3


def test_kubernetes_limits_of_pod_and_container(groups):
    pod = "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice"
    own = f"/{pod}/cri-containerd-0a.scope"
    files = {f"cg/{pod}/memory.max": 300 * MB, f"cg{own}/memory.max": 700 * MB, f"cg/{pod}/cpu.max": "50000 100000"}
    files[f"cg/{pod}/memory.current"] = 0
    groups(f"0::{own}\n", V2, files)
    assert memory.memory_left().size == 300 * MB
    assert memory.memory_left().place.startswith("to control group …")
    assert threads.available_threads() == 1


def test_memory_high_counts(groups):
    """Above it the system slows processes down until they stand still."""
    files = {"cg/user.slice/memory.max": 900 * MB, "cg/user.slice/memory.high": 400 * MB}
    groups("0::/user.slice\n", V2, files)
    assert memory.available_memory() == 400 * MB


def test_user_slice_without_limit(groups):
    own = "/user.slice/user-1000.slice/session-2.scope"
    groups(f"0::{own}\n", V2, {f"cg{own}/memory.max": "max", f"cg{own}/cpu.max": "max 100000"})
    assert memory.memory_left().place == "on this computer"
    assert threads.available_threads() == 64


@pytest.mark.parametrize("own", ["/../other/group", "/elsewhere"])
def test_groups_outside_of_what_is_mounted(groups, own):
    """Only the mounted group is known to be around the process; no path leads out of the folder."""
    files = {"cg/memory.max": 512 * MB, "other/group/memory.max": 1, "cg/other/group/memory.max": 1}
    groups(f"0::{own}\n", [("/mine", "cg", "cgroup2", "")], files)
    assert memory.available_memory() == 512 * MB


def test_mounts_with_blanks_and_a_full_group(groups, computer):
    files = {"my cg/memory.max": 512 * MB, "my cg/memory.current": 600 * MB}
    groups("0::/\n", [("/", r"my\040cg", "cgroup2", "")], files)
    assert memory.available_memory() == 0


@pytest.mark.parametrize("text", ["", "no group", "0:", "\x00\xff", "0::/\n:::\n"])
def test_odd_files(groups, computer, text):
    groups(text, V2, {"cg/memory.max": "1e9", "cg/memory.stat": "a b c\nx\n", "cg/cpu.max": "0 0", "meminfo": text})
    with (computer / "proc" / "mountinfo").open("a") as file:
        file.write("1 2\n - \n\n1 2 3 / /x rw - cgroup\n")
    (computer / "proc" / "status").write_text("VmSize: many kB\nVmData:\n")
    assert memory.available_memory() == 32_768_000 * 4096
    assert threads.available_threads() == 64


def test_systems_without_proc_sysconf_and_resource(computer, monkeypatch):
    """As on macOS and Windows."""
    (computer / "meminfo").unlink()
    assert memory.available_memory() == 32_768_000 * 4096
    monkeypatch.delattr(memory.os, "sysconf")
    monkeypatch.setattr(memory, "limits_of_process", None)
    assert memory.available_memory() == memory.ASSUMED
    monkeypatch.delattr(threads.os, "sched_getaffinity")
    assert threads.available_threads() >= 1


def set_all(monkeypatch, **variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_slurm_variables(computer, monkeypatch):
    set_all(monkeypatch, SLURM_MEM_PER_NODE="1000", SLURM_CPUS_PER_TASK="3")
    assert memory.memory_left().place == "on this computer", "outside of a job they are wishes for srun"
    assert threads.available_threads() == 64
    set_all(monkeypatch, SLURM_JOB_ID="7")
    (computer / "proc" / "status").write_text("VmSize:\t 900000 kB\nRssAnon:\t  102400 kB\n")
    assert memory.memory_left()[:2] == (900 * MB, "to the SLURM job")
    assert threads.available_threads() == 3
    set_all(monkeypatch, SLURM_MEM_PER_NODE="0", SLURM_MEM_PER_CPU="200", SLURM_CPUS_ON_NODE="4")
    assert memory.available_memory() == 700 * MB
    monkeypatch.delenv("SLURM_CPUS_PER_TASK")
    assert threads.available_threads() == 4


@pytest.mark.parametrize(
    ("text", "node", "cores"), [("4", "0", 4), ("2(x3),1", "2", 2), ("2(x3),1", "3", 1), ("x", "0", 0), ("4", "7", 0)]
)
def test_cores_of_each_node(monkeypatch, text, node, cores):
    set_all(monkeypatch, SLURM_JOB_ID="7", SLURM_JOB_CPUS_PER_NODE=text, SLURM_NODEID=node)
    assert memory.slurm_cores() == cores


@pytest.mark.parametrize(("kind", "option", "left"), [("RLIMIT_AS", "-v", 800), ("RLIMIT_DATA", "-d", 950)])
def test_ulimit(computer, monkeypatch, kind, option, left):
    (computer / "proc" / "status").write_text("VmSize:\t 204800 kB\nVmData:\t  51200 kB\n")
    set_limits(monkeypatch, {getattr(resource, kind): 1000 * MB})
    assert memory.memory_left()[:2] == (left * MB, f"by ulimit {option}")
    assert memory.free_addresses() == (left * MB if option == "-v" else None)


def limited(folder, megabytes, *command):
    """Run seqkern under ulimit -v, and return its exit code and its last line on standard error."""
    code = (
        f"import resource as r, sys; r.setrlimit(r.RLIMIT_AS, ({megabytes} << 20,) * 2); import seqkern.cli.main as m"
    )
    run = [sys.executable, "-c", f"{code}; sys.exit(m.main(sys.argv[1:]))", *command]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr.strip().splitlines()


def test_commands_under_ulimit(tmp_path):
    """10,000 sequences under 1 GB: train refuses before the work, and the remedy is followed."""
    for name, letters in (("pos", "ACGT"), ("neg", "TTCA")):
        text = "".join(f">{name}{i}\n{letters[i % 4]}{letters * 5}{letters[i % 3]}\n" for i in range(5000))
        (tmp_path / f"{name}.fa").write_text(text)
    train = ["train", "pos.fa", "neg.fa", "--kernel", "spectrum:k=3", "-o", "m.seqkern", "--threads", "1", "--solver"]
    code, lines = limited(tmp_path, 1000, *train, "csvc:C=1")
    assert (code, len(lines)) == (1, 1)
    assert re.search(r"needs 811 MB .* \(half of the memory left by ulimit -v\); raise .*--solver linear_svc", lines[0])
    code, lines = limited(tmp_path, 1000, *train, "csvc:C=1", "--memory", "900MB")
    assert (code, len(lines)) == (1, 1)
    assert re.search(
        # the matrix, or the solver's rows in single precision
        r"out of memory: another (800|210) MB needed, .* left by ulimit -v; raise the limit of the shell",
        lines[0],
    )
    gram = ["gram", "pos.fa", "neg.fa", "--kernel", "spectrum:k=3", "-o", "g.npy", "--threads", "1"]
    code, lines = limited(tmp_path, 900, *gram)
    assert (code, len(lines)) == (1, 1)
    assert lines[0].startswith("seqkern: g.npy: mapping a matrix of 800 MB takes")
    assert limited(tmp_path, 1000, *train, "linear_svc:tol=0.1")[0] == 0
    assert sorted(path.name for path in tmp_path.glob("[gm].*")) == ["m.seqkern"]
