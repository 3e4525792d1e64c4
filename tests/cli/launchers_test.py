#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainings whose processes are started by srun, mpirun and torchrun, or stand in two network namespaces, which are
machines to each other. A launcher that is not installed is skipped by name.

usage: launchers_test.py --mase BINARY --source ROOT
"""

import argparse
import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from several_processes_test import weights

MASE = None
SOURCE = None
NETWORK = ["transformer-jets", "jsc", "--training-optimizer", "sgd", "--max-epochs", 2, "--batch-size", 64, "-q"]
SLURM = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES
"""


def needs(*programs):
    """Skips a test by the name of what is missing."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [program for program in programs if shutil.which(program, path=path) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} not installed")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Launchers(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)
        self.words = list(map(str, [MASE, "train", *NETWORK, "--project-dir", self.folder, "--timeout", 60]))
        self.run_all([*self.words, "--project", "here", "--nproc", "2"])

    def run_all(self, *commands, **more):
        """Runs commands at once, and returns what they print."""
        started = [
            subprocess.Popen(c, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more) for c in commands
        ]
        printed = [process.communicate(timeout=300)[0] for process in started]
        for process, text in zip(started, printed, strict=True):
            self.assertEqual(process.returncode, 0, text)
        return printed

    def check_same(self, project):
        self.assertEqual(weights(self.folder / project), weights(self.folder / "here"))

    def start_daemon(self, *command, **more):
        """Starts a daemon in the foreground, and ends it after the test."""
        with (self.folder / f"{Path(command[0]).name}.log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, **more)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    @needs("mpirun")
    def test_mpirun(self):
        place = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        self.run_all(["mpirun", "-n", "2", "--oversubscribe", *root, *self.words, "--project", "mpi"], env=place)
        self.check_same("mpi")

    def test_torchrun(self):
        torchrun = SOURCE / ".venv/bin/torchrun"
        if not torchrun.exists():
            self.skipTest("torchrun not installed")
        words = ["--nproc-per-node", "2", "--master-port", str(free_port()), "--no-python"]
        self.run_all([torchrun, *words, *self.words, "--project", "torch"])
        self.check_same("torch")

    def test_torchrun_shares_a_test(self):
        torchrun = SOURCE / ".venv/bin/torchrun"
        if not torchrun.exists():
            self.skipTest("torchrun not installed")
        words = [str(MASE), "test", str(self.folder / "here/software/training_ckpts/best.pt"), "jsc", "--json"]
        alone = self.run_all(words)[0]
        alone = alone[alone.index("{") :]  # without the log
        launch = [torchrun, "--nproc-per-node", "2", "--master-port", str(free_port()), "--no-python"]
        self.assertIn(alone.strip(), self.run_all([*launch, *words])[0])

    def start_slurm(self):
        """Returns the environment for the commands of a cluster of this machine alone."""
        (self.folder / "key").write_bytes(os.urandom(1024))
        (self.folder / "key").chmod(0o400)
        host = socket.gethostname().split(".")[0]
        text = SLURM.format(
            folder=self.folder, host=host, user=getpass.getuser(), controller=free_port(), daemon=free_port()
        )
        (self.folder / "slurm.conf").write_text(text)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        place = {**os.environ, "PATH": path, "SLURM_CONF": str(self.folder / "slurm.conf")}
        files = [f"--{n}={self.folder}/munge.{n}" for n in ("socket", "pid-file", "log-file", "seed-file")]
        self.start_daemon("/usr/sbin/munged", "--foreground", "--force", f"--key-file={self.folder}/key", *files)
        self.start_daemon("/usr/sbin/slurmctld", "-D", env=place)
        self.start_daemon("/usr/sbin/slurmd", "-D", "-N", host, env=place)
        return place

    @needs("srun", "slurmctld", "slurmd", "munged")
    def test_srun(self):
        place = self.start_slurm()
        place |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        end = time.monotonic() + 60
        while (
            "idle" not in subprocess.run(["sinfo", "-h", "-o", "%t"], env=place, text=True, capture_output=True).stdout
        ):
            self.assertLess(time.monotonic(), end, "the cluster does not start")
            time.sleep(0.2)
        self.run_all(["srun", "-n", "2", *self.words, "--project", "slurm"], env=place)
        self.check_same("slurm")

    @contextlib.contextmanager
    def two_machines(self):
        """Two network namespaces that reach each other over a cable alone."""
        names = [f"mase{os.getpid()}{letter}" for letter in "ab"]

        def ip(*words):
            subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

        try:
            for name in names:
                ip("netns", "add", name)
            ip("link", "add", "cable", "netns", names[0], "type", "veth", "peer", "name", "cable", "netns", names[1])
            for number, name in enumerate(names, 1):
                ip("-n", name, "addr", "add", f"10.9.8.{number}/24", "dev", "cable")
                ip("-n", name, "link", "set", "cable", "up")
                ip("-n", name, "link", "set", "lo", "up")
            yield [["ip", "netns", "exec", name] for name in names]
        except subprocess.CalledProcessError as error:
            self.skipTest("network namespaces: " + error.stderr.strip())
        finally:
            for name in names:
                subprocess.run(["ip", "netns", "delete", name], capture_output=True)

    @needs("ip")
    def test_two_machines(self):
        place = {"WORLD_SIZE": "2", "MASTER_ADDR": "10.9.8.1", "MASTER_PORT": "29500", "GLOO_SOCKET_IFNAME": "cable"}
        with self.two_machines() as machines:
            self.run_all(
                *[
                    [*machine, "env", f"RANK={rank}", *[f"{k}={v}" for k, v in place.items()], *self.words]
                    + ["--project", "apart"]
                    for rank, machine in enumerate(machines)
                ]
            )
        self.check_same("apart")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", required=True)
    parser.add_argument("--source", required=True, type=Path)
    arguments, rest = parser.parse_known_args()
    MASE = Path(arguments.mase).resolve()
    SOURCE = arguments.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
