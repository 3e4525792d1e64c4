#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`mase search --launch` on other hosts: ssh, Slurm and Ray as they are installed, with servers of their own on this machine.

usage: with_postgres.py launch_hosts_test.py --mase BINARY --source ROOT [unittest arguments]

Each class is skipped where its programs are missing.
"""

import argparse
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
from pathlib import Path

import launch_test
from launch_test import Launch

SSH_PROGRAMS = ("ssh", "ssh-keygen", "/usr/sbin/sshd")


def missing(*programs):
    return ", ".join(program for program in programs if not shutil.which(program))


def password():
    return urllib.parse.urlsplit(os.environ["MASE_TEST_POSTGRESQL"]).password


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipUnless("MASE_TEST_POSTGRESQL" in os.environ, "no PostgreSQL server")
class Hosts(Launch):
    """Workers share a study on the server."""

    def setUp(self):
        super().setUp()
        self.url = os.environ["MASE_TEST_POSTGRESQL"].rstrip("/") + "/postgres"
        self.study = f"{self.id()}.{os.getpid()}"
        self.write_search()

    def command(self, *words):
        return super().command("--storage", self.url, "--study", self.study, *words)

    def leave_out_password(self):
        """For launches that do not hand it on: those who need it have PGPASSWORD."""
        self.with_password = self.url
        self.url = self.url.replace(f":{password()}@", "@")

    def check_unseen(self, launcher):
        """No command of a process has the password, but the launcher's, which the user typed."""
        own = Path(f"/proc/{launcher.pid}/cmdline").read_bytes()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(self.out).encode() in words and words != own:
                self.assertNotIn(password().encode(), words)

    def measured(self):
        listed = subprocess.run(
            [launch_test.MASE, "study", "export", self.study, "--storage", getattr(self, "with_password", self.url)],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        return sum(line.split(",")[1] == "complete" for line in listed.splitlines())


@unittest.skipIf(missing(*SSH_PROGRAMS), f"without {missing(*SSH_PROGRAMS)}")
class Ssh(Hosts):
    """A server on loopback that goes by several names, with keys of its own."""

    def setUp(self):
        super().setUp()
        self.path = self.out / "bin"
        self.path.mkdir()
        for key in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.out / key], check=True)
        port, closed = free_port(), free_port()
        (self.out / "sshd_config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {self.out}/host_key\nPidFile none\nUsePAM no\n"
            f"StrictModes no\nAuthorizedKeysFile {self.out}/user_key.pub\nPasswordAuthentication no\n"
        )
        (self.out / "ssh_config").write_text(
            f"Host gone\n  Port {closed}\n"
            f"Host *\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n"
            f"  IdentityFile {self.out}/user_key\n  StrictHostKeyChecking no\n  UserKnownHostsFile {self.out}/known\n"
            "  LogLevel ERROR\n"
        )
        client = self.path / "ssh"
        client.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.out}/ssh_config "$@"\n')
        client.chmod(0o755)
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        server = subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", self.out / "sshd_config", "-E", self.out / "sshd_log"])
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.wait_until(lambda: self.answers(server, port))

    def answers(self, server, port):
        if server.poll() is not None:
            self.fail((self.out / "sshd_log").read_text())
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    def start(self, *words, **more):
        environment = {**os.environ, "PATH": f"{self.path}:{os.environ['PATH']}"}
        return super().start(*words, env=environment, **more)

    def hosts(self, text):
        path = self.out / "hosts"
        path.write_text(text)
        return ("--launch", f"ssh:{path}")

    def test_every_slot_of_every_host_has_a_worker(self):
        launcher = self.start(*self.hosts("# two hosts\na slots=2\n\nb  # one worker\n"), "--n-trials", 24)
        self.wait_until(lambda: len(self.workers()) == 3, launcher)
        self.check_unseen(launcher)
        self.assertIn("24 trials: 24 complete", self.finish(launcher))
        self.check_complete(24)
        for host in ("a", "b"):
            self.assertNotIn("error", self.log(f"host_{host}.log"))

    def test_workers_of_this_machine_have_the_password_unseen(self):
        launcher = self.start("--launch", "local:2", "--n-trials", 6)
        self.wait_until(lambda: len(self.workers()) == 2, launcher)
        self.check_unseen(launcher)
        self.assertIn("6 trials: 6 complete", self.finish(launcher))

    def test_a_printed_script_asks_for_the_password(self):
        script = self.out / "script"
        script.write_text(self.search(*self.hosts("a\n"), "--n-trials", 6, "--print"))
        self.assertNotIn(password(), script.read_text())
        environment = {key: value for key, value in os.environ.items() if key != "PGPASSWORD"}
        environment["PATH"] = f"{self.path}:{os.environ['PATH']}"
        told = subprocess.run(["sh", script], env=environment, capture_output=True, text=True, check=False)
        self.assertNotEqual(told.returncode, 0)
        self.assertIn("PGPASSWORD: set it to the password of the database", told.stderr)
        subprocess.run(["sh", script], env=environment | {"PGPASSWORD": password()}, check=True)
        self.assertEqual(self.measured(), 6)

    def test_a_host_that_cannot_be_reached_is_named_and_the_others_do_the_trials(self):
        launcher = self.start(*self.hosts("gone\na\n"), "--n-trials", 6)
        _, error = launcher.communicate(timeout=600)
        self.assertEqual(launcher.returncode, 0, error)
        self.assertRegex(error, r"warning: host gone ended with status 255: ssh: connect to host .* refused")
        self.check_complete(6)
        error = self.search(*self.hosts("gone\n"), "--n-trials", 8, code=3)
        self.assertIn("no worker finished a trial: host gone ended with status 255", error)

    def test_a_configuration_that_a_host_does_not_have_is_named(self):
        # A host is where its folder is: the shell of this one starts in another.
        client = self.path / "ssh"
        client.write_text(client.read_text().replace("exec ", f"mv {self.out}/search.toml {self.out}/away\nexec "))
        error = self.search(*self.hosts("a\n"), "--n-trials", 6, code=3)
        self.assertRegex(error, r"host a ended with status [23]: .*search\.toml")

    def test_ctrl_c_reaches_the_workers(self):
        launcher = self.start(*self.hosts("a slots=2\n"), "--n-trials", 500)
        self.wait_until(lambda: self.measured() >= 3, launcher)
        launcher.send_signal(signal.SIGINT)
        self.finish(launcher, 130)
        self.assertEqual(self.workers(), [])
        self.assertEqual({row["state"] for row in self.rows()}, {"COMPLETE"})

    def test_workers_outlive_the_launcher_and_its_connections(self):
        launcher = self.start(*self.hosts("a slots=2\n"), "--n-trials", 16)
        self.wait_until(lambda: self.measured() >= 2, launcher)
        launcher.kill()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if f"{self.out}/ssh_config".encode() in words:
                os.kill(int(entry.name), signal.SIGKILL)
        launcher.communicate()
        self.assertEqual(len(self.workers()), 2)
        self.wait_until(lambda: not self.workers())
        self.search(*self.hosts("a\n"), "--n-trials", 16)
        self.assertEqual({row["state"] for row in self.check_complete(16)}, {"COMPLETE"})

    def test_what_is_wrong_is_said_before_anything_starts(self):
        for text, message in (
            ("a\nb slots=0\n", "hosts:2: 'slots=0' is not understood; a line is HOST [slots=N]"),
            ("a b\n", "hosts:1: 'b' is not understood"),
            ("-oProxyCommand=x\n", "hosts:1: '-oProxyCommand=x' is not understood"),
            ("a\na\n", "hosts:2: the host a stands in an earlier line, too"),
            ("# none\n", "names no host"),
        ):
            self.assertIn(message, self.search(*self.hosts(text), code=2))
        self.assertIn("hosts", self.search("--launch", f"ssh:{self.out}/no_hosts", code=3))
        self.assertIn("takes no --workers", self.search(*self.hosts("a\n"), "--workers", "2", code=2))
        self.url = f"sqlite:///{self.out}/study.db"
        self.assertIn("give --storage postgresql://USER@HOST/NAME", self.search(*self.hosts("a\n"), code=2))


SLURM = """
ClusterName=test
SlurmctldHost=localhost
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=localhost CPUs=3 RealMemory=16000 State=UNKNOWN
PartitionName=cpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
SLURM_PROGRAMS = ("slurmctld", "slurmd", "sbatch", "munged")


@unittest.skipIf(missing(*SLURM_PROGRAMS), f"without {missing(*SLURM_PROGRAMS)}")
@unittest.skipUnless(os.geteuid() == 0, "slurmd runs as root")
class Slurm(Hosts):
    """A cluster of one node with room for three workers."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="mase-slurm-")
        cls.addClassCleanup(folder.cleanup)
        cls.place = Path(folder.name)
        cls.place.chmod(0o755)
        for name in ("state", "spool"):
            (cls.place / name).mkdir()
        key = cls.place / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        conf = cls.place / "slurm.conf"
        user = getpass.getuser()
        conf.write_text(SLURM.format(folder=cls.place, user=user, ports=(free_port(), free_port())))
        cls.environment = {**os.environ, "SLURM_CONF": str(conf)}
        files = [f"--{name}={cls.place}/munge.{name}" for name in ("socket", "pid-file", "log-file", "seed-file")]
        cls.serve("munged", "--force", "--foreground", f"--key-file={key}", *files)
        while not (cls.place / "munge.socket").exists():
            time.sleep(0.02)
        cls.serve("slurmctld", "-D", "-f", conf)
        cls.serve("slurmd", "-D", "-f", conf, "-N", "localhost")
        while "idle" not in cls.slurm("sinfo", "--noheader", "--format=%t"):
            time.sleep(0.1)

    @classmethod
    def serve(cls, *words):
        server = subprocess.Popen(words, env=cls.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(server.wait)
        cls.addClassCleanup(server.terminate)

    @classmethod
    def slurm(cls, *words):
        done = subprocess.run(words, env=cls.environment, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout

    def start(self, *words, **more):
        return super().start(*words, env=self.environment, **more)

    def test_jobs_of_an_array_share_the_trials(self):
        launcher = self.start("--launch", "slurm", "--workers", 3, "--n-trials", 30, "--worker-memory", 2)
        self.wait_until(lambda: len(self.workers()) == 3, launcher)
        self.check_unseen(launcher)
        self.assertIn("30 trials: 30 complete", self.finish(launcher))
        self.check_complete(30)

    def test_a_job_has_what_is_asked_for(self):
        words = ["--launch", "slurm:--partition=cpu,--comment=a,b", "--workers", 1, "--n-trials", 500]
        limits = ["--worker-cores", 2, "--worker-memory", 1.5, "--worker-time", 300]
        launcher = self.start(*words, *limits)
        self.wait_until(lambda: self.workers(), launcher)
        asked = self.slurm("squeue", "--noheader", "--format=%P|%C|%m|%l|%k")
        self.assertEqual(asked.split(), ["cpu|2|1.50G|6:00|a,b"])
        launcher.send_signal(signal.SIGINT)
        self.finish(launcher, 130)

    def test_ctrl_c_ends_jobs_that_run_and_those_that_wait(self):
        launcher = self.start("--launch", "slurm", "--workers", 5, "--n-trials", 500)
        self.wait_until(lambda: self.measured() >= 3, launcher)
        launcher.send_signal(signal.SIGINT)
        self.finish(launcher, 130)
        self.assertEqual(self.slurm("squeue", "--noheader"), "")
        self.assertEqual({row["state"] for row in self.rows()}, {"COMPLETE"})

    def test_jobs_of_a_killed_launcher_finish_the_study(self):
        launcher = self.start("--launch", "slurm", "--workers", 2, "--n-trials", 16)
        self.wait_until(lambda: self.measured() >= 2, launcher)
        launcher.kill()
        launcher.communicate()
        self.wait_until(lambda: not self.slurm("squeue", "--noheader"))
        self.search("--launch", "slurm", "--workers", 2, "--n-trials", 16)
        self.assertEqual({row["state"] for row in self.check_complete(16)}, {"COMPLETE"})

    def test_what_sbatch_or_a_worker_says_is_shown(self):
        error = self.search("--launch", "slurm:--partition=moon", "--workers", 1, code=3)
        self.assertRegex(error, "jobs of Slurm ended with status 1: .*Invalid partition")
        error = self.search("--launch", "slurm", "--workers", 1, "--worker-memory", "0.1", code=3)
        self.assertRegex(error, "jobs of Slurm ended with status 3: .*--max-memory")
        error = self.search("--launch", "slurm", code=2)
        self.assertIn("--launch slurm needs the number of workers: --workers N", error)


def ray_program():
    """Ray's command: that of MASE_RAY, or the one in PATH."""
    return os.environ.get("MASE_RAY") or shutil.which("ray")


@unittest.skipUnless(ray_program(), "without ray; MASE_RAY may name its command")
class Ray(Hosts):
    """A cluster of one node with room for two workers."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="ray-")
        cls.addClassCleanup(folder.cleanup)
        path = f"{Path(ray_program()).parent}:{os.environ['PATH']}"
        cls.environment = {**os.environ, "PATH": path, "PGPASSWORD": password()}
        dashboard = free_port()
        cls.address = f"http://127.0.0.1:{dashboard}"
        words = ["start", "--block", "--head", "--num-cpus=2", f"--port={free_port()}", "--disable-usage-stats"]
        words += [f"--dashboard-port={dashboard}", "--include-dashboard=true", f"--temp-dir={folder.name}"]
        server = subprocess.Popen(
            [ray_program(), *words], env=cls.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        cls.addClassCleanup(server.wait)
        cls.addClassCleanup(server.terminate)
        while cls.ray("job", "list").returncode != 0:
            time.sleep(0.5)

    @classmethod
    def ray(cls, *words):
        command = [ray_program(), *words, "--address", cls.address]
        return subprocess.run(command, env=cls.environment, capture_output=True, text=True, check=False)

    def setUp(self):
        super().setUp()
        self.leave_out_password()

    def test_a_password_that_the_cluster_would_show_is_refused(self):
        self.url = self.with_password
        error = self.search("--workers", 1, code=2)
        self.assertIn("--launch ray cannot hand on the password of --storage unseen", error)
        self.assertNotIn(password(), error)

    def start(self, *words, **more):
        return super().start("--launch", f"ray:{self.address}", *words, env=self.environment, **more)

    def test_jobs_share_the_trials(self):
        launcher = self.start("--workers", 2, "--n-trials", 60)
        self.wait_until(lambda: len(self.workers()) == 2, launcher)
        self.assertIn("60 trials: 60 complete", self.finish(launcher))
        self.check_complete(60)

    def test_jobs_of_a_killed_launcher_finish_the_study(self):
        launcher = self.start("--workers", 1, "--n-trials", 16)
        self.wait_until(lambda: self.measured() >= 2, launcher)
        launcher.kill()
        launcher.communicate()
        self.wait_until(lambda: not self.workers())
        self.search("--workers", 1, "--n-trials", 16)
        self.assertEqual({row["state"] for row in self.check_complete(16)}, {"COMPLETE"})

    def test_ctrl_c_ends_the_jobs(self):
        launcher = self.start("--workers", 3, "--n-trials", 5000)
        self.wait_until(lambda: self.measured() >= 3, launcher)
        launcher.send_signal(signal.SIGINT)
        self.finish(launcher, 130)
        self.assertEqual(self.workers(), [])
        self.assertEqual({row["state"] for row in self.rows()}, {"COMPLETE"})

    def test_what_a_worker_says_is_shown(self):
        error = self.search("--workers", 1, "--worker-memory", "0.1", code=3)
        self.assertRegex(error, "worker 1 ended with status 1: .*--max-memory")


# In place of kubectl: a Job's workers are processes of this machine. Kubernetes itself needs a cluster.
KUBECTL = """#!{python}
import json, os, pathlib, re, signal, subprocess, sys
folder = pathlib.Path("{folder}")
running = folder / "job"
if sys.argv[1] == "apply":
    manifest = pathlib.Path(sys.argv[sys.argv.index("-f") + 1]).read_text()
    command = json.loads(re.search(r"command: (.*)", manifest)[1])
    count = int(re.search(r"parallelism: (.*)", manifest)[1])
    program = [{mase!r}, *command[1:]]
    script = '"$@" & echo $! >>{folder}/pids; wait $!; echo $? >>{folder}/ended'
    for i in range(count):
        words = ["sh", "-c", script, "job", *program]
        subprocess.Popen(words, stdin=-3, stdout=-3, stderr=-3, start_new_session=True)
    running.write_text(str(count))
elif sys.argv[1] == "get":
    ended = (folder / "ended").read_text().split() if (folder / "ended").exists() else []
    if len(ended) == int(running.read_text()):
        print("Complete" if set(ended) == {{"0"}} else "FailureTarget Failed")
elif sys.argv[1] == "delete":
    for pid in (folder / "pids").read_text().split():
        os.kill(int(pid), signal.SIGTERM)
"""


class Kubernetes(Hosts):
    """The shipped manifest, whose Job a stand-in for kubectl runs."""

    def setUp(self):
        super().setUp()
        path = self.out / "bin"
        path.mkdir()
        kubectl = path / "kubectl"
        kubectl.write_text(KUBECTL.format(python=sys.executable, folder=self.out, mase=str(launch_test.MASE)))
        kubectl.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "PGPASSWORD": password()}
        self.leave_out_password()

    def test_a_password_that_the_job_would_show_is_refused(self):
        self.url = self.with_password
        error = self.search("--workers", 1, code=2)
        self.assertIn("put the password into a Secret that the manifest names", error)
        self.assertNotIn(password(), error)

    def start(self, *words, **more):
        manifest = "configs/launch/kubernetes.yaml"
        return super().start("--launch", f"k8s:{manifest}", *words, env=self.environment)

    def test_a_job_does_the_trials(self):
        self.assertIn("12 trials: 12 complete", self.search("--workers", 2, "--n-trials", 12))
        self.check_complete(12)

    def test_ctrl_c_deletes_the_job(self):
        launcher = self.start("--workers", 2, "--n-trials", 5000)
        self.wait_until(lambda: self.measured() >= 3, launcher)
        launcher.send_signal(signal.SIGINT)
        self.finish(launcher, 130)
        self.assertEqual(self.workers(), [])
        self.assertEqual({row["state"] for row in self.rows()}, {"COMPLETE"})

    def test_a_job_that_fails_is_told(self):
        error = self.search("--workers", 2, "--worker-memory", "0.1", code=3)
        self.assertRegex(error, "Kubernetes ended with status 1: the Job has failed; kubectl describe -f .*yaml")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    options, rest = parser.parse_known_args()
    launch_test.MASE, launch_test.SOURCE = options.mase.resolve(), options.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
