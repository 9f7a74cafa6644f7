"""A Slurm of our own, of one node: Debian's munged, slurmctld and slurmd in a scratch folder, without the system's
configuration and beside any Slurm that the machine may belong to. Needs root, as slurmd does."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
UP_WITHIN = 60  # seconds
LARGEST_ARRAY = 40  # elements; MaxArraySize is one more
CONFIGURATION = """\
ClusterName=campaign
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_interval=1,sched_min_interval=100000
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
ReturnToService=2
MinJobAge=300
KillWait=5
MaxArraySize={array}
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def daemon_path(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def missing():
    """Why there can be none here; None if there can."""
    absent = [name for name in DAEMONS + ("sbatch", "srun") if daemon_path(name) is None]
    if absent:
        return "no %s here (Debian: apt-get install slurm-wlm munge)" % absent[0]
    return None if os.geteuid() == 0 else "slurmd needs root"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class SlurmCluster:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.processes = []

    def __enter__(self):
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        host = socket.gethostname().split(".")[0]
        configuration = self.folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(
            host=host, controller=free_port(), node=free_port(), folder=self.folder,
            cores=len(os.sched_getaffinity(0)), array=LARGEST_ARRAY + 1), encoding="utf-8")
        os.environ["SLURM_CONF"] = str(configuration)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        try:
            self.start("munged", "--foreground", "--force", "--key-file=%s" % key,
                       *("--%s=%s/munge.%s" % (what, self.folder, end) for what, end in
                         (("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))))
            self.wait_until(lambda: (self.folder / "munge.socket").exists(), "munged")
            self.start("slurmctld", "-D", "-f", str(configuration))
            self.start("slurmd", "-D", "-f", str(configuration), "-N", host)
            self.wait_until(lambda: self.sinfo() in ("idle", "mix", "alloc"), "the node")
        except BaseException:  # an interruption too
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self, name, *words):
        with open(self.folder / (name + ".out"), "wb") as out:
            self.processes.append(subprocess.Popen([daemon_path(name), *words], stdout=out, stderr=out,
                                                   stdin=subprocess.DEVNULL, start_new_session=True))

    def sinfo(self):
        done = subprocess.run(["sinfo", "--noheader", "--format=%t"], text=True, capture_output=True, check=False)
        return done.stdout.strip()

    def wait_until(self, claim, what):
        end = time.monotonic() + UP_WITHIN
        while not claim():
            dead = [process.args[0] for process in self.processes if process.poll() is not None]
            if dead or time.monotonic() > end:
                raise RuntimeError("%s is not up%s:\n%s" % (
                    what, ", %s has ended" % dead[0] if dead else "", self.logs()))
            time.sleep(0.1)

    def logs(self):
        files = [*sorted(self.folder.glob("*.log")), *sorted(self.folder.glob("*.out"))]
        return "".join("--- %s\n%s" % (file.name, file.read_text(errors="replace")[-2000:]) for file in files)

    def stop(self):
        """Those that it started, the last one first."""
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()
