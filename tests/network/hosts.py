"""Several hosts on this machine: network namespaces, each with a name and a network card of its own, on one wire.

The wire (wire.py) is a program that hands frames from card to card. It can delay and lose them, by a generator with a
seed: not every kernel has netem, and a wire that is the same everywhere is better than two. How fast a card may send is
the kernel's doing (tbf).

Everything lives in namespaces of this process and its children: whatever is started here ends with it, and nobody
outside can see it. call_inside() starts a test again in there. Any user may do that where the kernel lets users make
namespaces; root always can.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOLS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
PROGRAMS = ("ip", "tc", "unshare", "nsenter", "mount", "taskset")
INSIDE = "HIOS_TEST_HOSTS_INSIDE"
LINK = "wire0"
FIRST_RUN_LIMIT_S = 400


def missing():
    """The programs that this machine lacks."""
    return [name for name in PROGRAMS if shutil.which(name, path=TOOLS) is None]


def call_inside():
    """Starts this program again with networks, names and processes of its own, and ends as that ends. Returns there."""
    if os.environ.get(INSIDE):
        for command in (("mount", "-t", "tmpfs", "tmpfs", "/run"), ("ip", "link", "set", "lo", "up")):
            subprocess.run(command, check=True, env={**os.environ, "PATH": TOOLS})
        return
    lacking = missing()
    if lacking:
        sys.exit(f"this machine lacks {', '.join(lacking)} (scripts/setup.sh installs them)")
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    done = subprocess.run(["unshare", *user, "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child",
                           "--mount-proc", sys.executable, *sys.orig_argv[1:]],
                          env={**os.environ, INSIDE: "1", "PATH": TOOLS}, check=False)
    sys.exit(done.returncode)


class Hosts:
    """with Hosts(2, delay_ms=1, loss=0.01) as hosts: hosts.run("host1", …)"""

    def __init__(self, count, rate=None, delay_ms=0, loss=0, seed=1, mtu=9000):
        self.names = [f"host{i + 1}" for i in range(count)]
        self.cores = sorted(os.sched_getaffinity(0))
        # Open MPI's sockets have names in here, which may not be long.
        self.folder = Path(tempfile.mkdtemp(prefix="hosts-", dir="/tmp"))
        self.agent = self.folder / "agent"
        self.rate, self.mtu = rate, mtu
        self.wire_arguments = ["--delay-ms", str(delay_ms), "--loss", str(loss), "--seed", str(seed)]
        self.holders = {}
        self.wire = None
        self.first_run_s = None
        self.named = False  # /etc/hosts, as this process and its children see it, has the names

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        command = [sys.executable, "-B", str(HERE / "wire.py"), "--link", LINK, *self.wire_arguments]
        for number, name in enumerate(self.names):
            holder = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c",
                                       f"hostname {name} && echo ready && exec sleep infinity"],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
            self.holders[name] = holder
            if holder.stdout.readline() != "ready\n":
                raise RuntimeError(f"the kernel gives {name} no network of its own")
            command.append(f"/proc/{holder.pid}/ns/net")
        self.wire = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if self.wire.stdout.readline() != "ready\n":
            raise RuntimeError("the wire between the hosts could not be made (may this user open /dev/net/tun?)")
        for number, name in enumerate(self.names):
            self.ip(name, "link", "set", "lo", "up")
            self.ip(name, "link", "set", LINK, "mtu", str(self.mtu), "up")
            self.ip(name, "address", "add", f"{self.address(name)}/24", "dev", LINK)
            if self.rate:
                self.call(name, "tc", "qdisc", "add", "dev", LINK, "root", "tbf", "rate", self.rate, "burst", "32kb",
                          "latency", "50ms")
        names = self.folder / "names"
        names.write_text("127.0.0.1 localhost\n" + "".join(f"{self.address(name)} {name}\n" for name in self.names))
        subprocess.run(["mount", "--bind", names, "/etc/hosts"], check=True, env={**os.environ, "PATH": TOOLS})
        self.named = True
        self.agent.write_text(AGENT.format(tools=TOOLS, entries="\n".join(
            f"  {name}) exec {shlex.join(self.inside(name))} sh -c \"$*\" ;;" for name in self.names)))
        self.agent.chmod(0o755)

    def stop(self):
        for process in [*self.holders.values(), *([self.wire] if self.wire else [])]:
            process.kill()
            process.wait()
            process.stdout.close()
        self.holders, self.wire = {}, None
        if self.named:
            subprocess.run(["umount", "/etc/hosts"], check=False, env={**os.environ, "PATH": TOOLS})
            self.named = False
        shutil.rmtree(self.folder, ignore_errors=True)

    link = LINK

    def address(self, name):
        return f"10.77.0.{self.names.index(name) + 1}"

    def core(self, name):
        """Each host has a core of the machine, so that ranks of two hosts do not choose the same."""
        return self.cores[self.names.index(name) % len(self.cores)]

    def inside(self, name, *command):
        """The words that run a command on a host."""
        return ["nsenter", f"--target={self.holders[name].pid}", "--net", "--uts", "taskset", "--cpu-list",
                str(self.core(name)), *map(str, command)]

    def call(self, name, *command):
        subprocess.run(self.inside(name, *command), check=True, env={**os.environ, "PATH": TOOLS})

    def ip(self, name, *words):
        self.call(name, "ip", *words)

    def cut(self, name):
        """The host's link goes down."""
        self.ip(name, "link", "set", LINK, "down")

    def environment(self):
        """For mpirun: TCP between the hosts, by a launcher that needs no ssh."""
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith(("OMPI_", "PMIX_", "SLURM_"))}
        return {**clean, "PATH": TOOLS,
                "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_plm": "rsh", "OMPI_MCA_plm_rsh_agent": str(self.agent),
                "OMPI_MCA_btl": "self,vader,tcp", "OMPI_MCA_btl_tcp_if_include": LINK,
                "OMPI_MCA_oob_tcp_if_include": LINK, "OMPI_MCA_rmaps_base_oversubscribe": "1",
                "OMPI_MCA_orte_tmpdir_base": str(self.folder), "XDG_STATE_HOME": str(self.folder),
                # A daemon that cannot be reached is noticed after 7 s, by default after 8 minutes; a lossy link may lose a few probes.
                "OMPI_MCA_oob_tcp_keepalive_time": "1", "OMPI_MCA_oob_tcp_keepalive_intvl": "1",
                "OMPI_MCA_oob_tcp_keepalive_probes": "6"}

    def mpirun(self, ranks, *command):
        """The words that start a program on hosts: ranks={"host1": 2, "host2": 1}."""
        places = ",".join(f"{name}:{count}" for name, count in ranks.items())
        return self.inside(next(iter(ranks)), "mpirun", "--bind-to", "none", "--host", places, "-np",
                           sum(ranks.values()), *command)

    def limit_s(self, seconds):
        """The limit of a wait that ends far earlier if nothing else runs: a hang differs from a busy machine by the
        time that the first run took, which has a long limit of its own."""
        return max(seconds, FIRST_RUN_LIMIT_S if self.first_run_s is None else 10 * self.first_run_s)

    def run(self, ranks, *command, limit_s=120):
        started = time.monotonic()
        done = subprocess.run([*self.mpirun(ranks, *command)], env=self.environment(), cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=self.limit_s(limit_s),
                              check=False)
        if self.first_run_s is None:
            self.first_run_s = time.monotonic() - started
        return done

    def start_run(self, ranks, *command):
        return subprocess.Popen([*self.mpirun(ranks, *command)], env=self.environment(), cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


# The program that mpirun calls instead of ssh: agent HOST WORDS…; a shell on the host runs the words.
AGENT = """\
#!/bin/sh
PATH='{tools}'
host=$1
shift
case "$host" in
{entries}
esac
echo "agent: there is no $host" >&2
exit 1
"""


def processes(program):
    """The process ids that run a program, of all in here."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if Path(os.fsdecode(words[0])).name == program:
                found.append(int(entry.name))
    return found
