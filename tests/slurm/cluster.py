#!/usr/bin/env python3
"""A Slurm cluster of this machine alone: one controller and a slurmd for each node, in a temporary folder.

All listen on loopback, at ports that nobody else uses, and run as whoever runs the test; or each node is one of the
hosts of tests/network, with a network of its own. Each node has a core of the machine; they share its files, as nodes
of a cluster share a file system. Nothing is left: the daemons are ended by their process ids, after the jobs.
`cluster.py --keep` holds one open, to try things.
"""

import argparse
import contextlib
import json
import os
import random
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "scontrol", "scancel", "sinfo", "squeue")
DAEMONS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
ENDED = {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT"}

# auth/none and cred/none: nobody else can reach the loopback ports of a test, so no munge is needed.
CONFIGURATION = """\
ClusterName=test
SlurmctldHost={control}
SlurmctldPort={control_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=60
MessageTimeout=100
InactiveLimit=0
MinJobAge=3600
JobRequeue=1
SchedulerParameters=sched_interval=1,bf_interval=1
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
TmpFS={folder}/tmp.%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """The programs of Slurm that this machine lacks."""
    return [name for name in PROGRAMS if shutil.which(name, path=DAEMONS) is None]


def free_ports(count):
    """Ports below the range from which the system gives some to other programs."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    ports = range(10000, max(first, 20000))
    found = []
    for port in random.SystemRandom().sample(ports, len(ports)):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError(f"fewer than {count} free ports")


# A rank's crash reporter: a copy of the rank by another name.
REPORTER = "flight-record"


class Cluster:
    """with Cluster(nodes=2) as cluster: cluster.submit(…)

    With `hosts` (tests/network/hosts.py, started) they are the nodes, and the first has the controller.
    """

    def __init__(self, nodes=2, hosts=None):
        self.hosts = hosts
        # Slurm's sockets have names in here, which may not be long.
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.names = list(hosts.names) if hosts else [f"node{i + 1}" for i in range(nodes)]
        link = hosts.link if hosts else "lo"
        self.daemons = []
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM_", "OMPI_", "PMIX_"))}
        self.environment |= {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": DAEMONS,
                             "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                             # Both nodes are this machine, whose cores the ranks of several jobs share.
                             "OMPI_MCA_btl": "self,vader,tcp", "OMPI_MCA_btl_tcp_if_include": link,
                             "OMPI_MCA_oob_tcp_if_include": link,
                             "OMPI_MCA_mpi_yield_when_idle": "1"}

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
        control, *ports = free_ports(1 + len(self.names))
        nodes = []
        for name, port in zip(self.names, ports):
            hostname, address = (name, self.hosts.address(name)) if self.hosts else ("localhost", "127.0.0.1")
            nodes.append((f"{hostname}({address})", f"NodeName={name} NodeHostname={hostname} NodeAddr={address} "
                          f"Port={port} CPUs=1 State=UNKNOWN"))
        user = subprocess.run(["id", "-un"], check=True, capture_output=True, text=True).stdout.strip()
        (self.folder / "state").mkdir()
        for name in self.names:
            (self.folder / f"spool.{name}").mkdir()
            (self.folder / f"tmp.{name}").mkdir()
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            control=nodes[0][0], control_port=control, user=user, folder=self.folder,
            nodes="\n".join(line for _, line in nodes)))
        self.daemon(self.on_first(), "slurmctld", "-D", "-i")
        cores = sorted(os.sched_getaffinity(0))
        for i, name in enumerate(self.names):
            # On one core, which its jobs inherit, so that ranks of two nodes do not choose the same.
            place = self.hosts.inside(name) if self.hosts else ["taskset", "--cpu-list", str(cores[i % len(cores)])]
            self.daemon(place, "slurmd", "-D", "-N", name)
        self.wait_until(lambda: self.idle_nodes() == len(self.names), 240, "all nodes are idle")

    def on_first(self):
        """The words that run a command where the controller is."""
        return self.hosts.inside(self.names[0]) if self.hosts else []

    def daemon(self, place, *command):
        path = shutil.which(command[0], path=DAEMONS)
        with open(self.folder / f"{'-'.join(command)}.out", "wb") as output:
            self.daemons.append(subprocess.Popen([*place, path, *command[1:]], stdin=subprocess.DEVNULL, stdout=output,
                                                 stderr=output, env=self.environment, start_new_session=True))

    def stop(self):
        if self.daemons:
            self.command("scancel", "--user", str(os.getuid()), check=False)
            try:
                self.wait_until(lambda: not self.processes(), 100, "the jobs have ended")
            except TimeoutError as error:
                print(error)
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in self.daemons:
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = []
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait_until(self, condition, seconds, what):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"not within {seconds} s: {what}\n{self.logs()}")
            time.sleep(0.2)

    def logs(self):
        return "\n".join(f"{path.name}: {line}" for path in sorted(self.folder.glob("*.log"))
                         for line in path.read_text(errors="replace").splitlines()[-15:])

    def command(self, *command, check=True, folder=None, variables=None):
        """Returns the output of a command of Slurm."""
        done = subprocess.run([*self.on_first(), *map(str, command)], capture_output=True, text=True, timeout=120, cwd=folder,
                              env={**self.environment, **(variables or {})}, stdin=subprocess.DEVNULL)
        if check and done.returncode != 0:
            raise RuntimeError(f"{command[0]} failed: {done.stderr}{self.logs()}")
        return done.stdout

    def idle_nodes(self):
        return len(self.command("sinfo", "--noheader", "--Node", "--states=idle", check=False).splitlines())

    def submit(self, *arguments, folder, variables=None):
        """The number of the job that `sbatch ARGUMENTS…`, called in `folder`, submits."""
        return int(self.command("sbatch", "--parsable", *arguments, folder=folder, variables=variables).split(";")[0])

    def job(self, number):
        """Returns the fields of a job in Slurm: JobState, ExitCode, Restarts …"""
        words = self.command("scontrol", "show", "job", "--oneliner", number, check=False).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def state(self, number):
        return self.job(number).get("JobState", "UNKNOWN")

    def wait(self, number, seconds=240):
        """The state in which the job ended, once none of its processes is left."""
        self.wait_until(lambda: self.state(number) in ENDED, seconds, f"job {number} has ended")
        self.wait_until(lambda: not self.processes(number), 240, f"no process of job {number} is left")
        return self.state(number)

    def processes(self, number=None, program=None):
        """The process ids of a job's programs (of all jobs; of one program: its ranks), by their environment."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                variables = (entry / "environ").read_bytes().split(b"\0")
                name = Path(os.fsdecode((entry / "cmdline").read_bytes().split(b"\0")[0])).name
                if (entry / "comm").read_text().strip() == REPORTER:
                    name = REPORTER
            except OSError:
                continue
            if f"SLURM_CONF={self.folder}/slurm.conf".encode() not in variables:
                continue
            jobs = [int(each.split(b"=")[1]) for each in variables if each.startswith(b"SLURM_JOB_ID=")]
            if jobs and number in (None, jobs[0]) and program in (None, name):
                found.append(int(entry.name))
        return sorted(found)


def read_json(path):
    return json.loads(Path(path).read_text())


def main():
    """Holds a cluster open until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="cluster.py", description="A private Slurm cluster of this machine, to try things. "
                                     "All of it listens on loopback, and nothing is left when it ends.")
    parser.add_argument("--keep", action="store_true", required=True, help="hold it open until Ctrl-C")
    parser.add_argument("--nodes", type=int, default=2, help="of a core each (default: 2)")
    args = parser.parse_args()
    if not 1 <= args.nodes <= 64:
        parser.error(f"--nodes {args.nodes}: 1 to 64 are possible")
    if lacking := missing():
        sys.exit(f"error: there is no Slurm: {', '.join(lacking)} (scripts/setup.sh --slurm installs it)")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))  # so that __exit__ ends the daemons
    with Cluster(args.nodes) as cluster:
        shell = cluster.folder / "cluster.env"
        names = sorted(name for name in cluster.environment if name.startswith(("SLURM_", "OMPI_", "PATH")))
        shell.write_text("".join(f"export {name}={shlex.quote(cluster.environment[name])}\n" for name in names))
        print(f"A Slurm of {args.nodes} nodes is ready. In another shell:\n  . {shell}\n  sinfo\nCtrl-C here ends it.", flush=True)
        while True:
            signal.pause()


if __name__ == "__main__":
    main()
