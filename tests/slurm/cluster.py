"""A Slurm of our own on this machine: munged, slurmctld and one slurmd, on loopback, with all they keep in one folder."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = ("setpriv", "munged", "mungekey", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")
PATIENCE = 60  # seconds; a start takes two

# One node of as many cores as the tests like: nothing binds to them. A requeued job starts again
# after 5 s (cred_expire), and no control group is needed.
CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0,defer_batch
KillWait=20
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Unavailable(Exception):
    """Why there can be no Slurm here."""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    """Raises Unavailable with the reason where there is none to start. One that does not start is an error, with what it
    said last. `environment` is of those who use it: a variable is added that leads them here."""

    def __init__(self, cpus, environment):
        missing = [name for name in PROGRAMS if shutil.which(name) is None]
        if missing:
            raise Unavailable(f"no {', '.join(missing)} here; Debian's slurm-wlm and munge have them")
        if os.geteuid() != 0:
            raise Unavailable("slurmd has to be started by root")
        self.folder = Path(tempfile.mkdtemp(prefix="transformer_slurm_"))
        self.processes = {}  # the daemons, by name
        self.environment = environment
        try:
            self.start(cpus)
        except BaseException:
            self.stop()
            raise

    def start(self, cpus):
        os.chmod(self.folder, 0o755)  # munged looks at who may write above its socket
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        controller, daemon = free_ports(2)
        config = self.folder / "slurm.conf"
        self.host = socket.gethostname().split(".")[0]
        config.write_text(CONFIG.format(folder=self.folder, host=self.host, cpus=cpus, controller=controller,
                                        daemon=daemon))
        self.environment["SLURM_CONF"] = str(config)
        key = self.folder / "munge.key"
        subprocess.run(["mungekey", "--create", f"--keyfile={key}"], check=True, capture_output=True)
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                    f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                    f"--seed-file={self.folder}/munged.seed", "--num-threads=2")
        self.wait_for(lambda: (self.folder / "munge.socket").exists())
        self.daemon("slurmctld", "-D", "-c")
        self.daemon("slurmd", "-D", "-c")
        self.wait_for(self.is_up)

    def is_up(self):
        try:
            return self.ask("sinfo", "--noheader", "--format=%T", check=False, timeout=5).strip() == "idle"
        except subprocess.TimeoutExpired:  # it was not listening yet
            return False

    def daemon(self, *words):
        with open(self.folder / f"{words[0]}.out", "w") as out:
            self.processes[words[0]] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *words],  # or it would outlive a test that is killed
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self.environment)

    def wait_for(self, holds):
        deadline = time.monotonic() + PATIENCE
        while not holds():
            ended = [name for name, process in self.processes.items() if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f"{', '.join(ended) or 'a daemon'} did not start: {self.last_words()}")
            time.sleep(0.1)

    def last_words(self):
        lines = []
        for path in sorted(self.folder.glob("*.out")) + sorted(self.folder.glob("*.log")):
            text = path.read_text(errors="replace").strip()
            if text:
                lines.append(f"{path.name}: {text.splitlines()[-1]}")
        return "; ".join(lines)

    def ask(self, *words, check=True, timeout=PATIENCE):
        """What one of Slurm's commands prints."""
        return subprocess.run(words, check=check, text=True, capture_output=True, env=self.environment,
                              timeout=timeout).stdout

    def let_nothing_start(self):
        self.ask("scontrol", "update", f"NodeName={self.host}", "State=DRAIN", "Reason=test")

    def let_all_start(self):
        self.ask("scontrol", "update", f"NodeName={self.host}", "State=RESUME")

    def cancel_all(self):
        self.ask("scancel", "--user=root", check=False)
        deadline = time.monotonic() + PATIENCE
        while self.ask("squeue", "--noheader", check=False).strip() and time.monotonic() < deadline:
            self.ask("scancel", "--user=root", "--full", "--signal=KILL", check=False)
            time.sleep(0.2)

    def stop(self):
        processes = list(self.processes.values())
        if len(processes) == 3 and all(process.poll() is None for process in processes):
            self.cancel_all()  # or what looks after a job would outlive us
        for process in reversed(processes):
            process.terminate()
        for process in reversed(processes):
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
