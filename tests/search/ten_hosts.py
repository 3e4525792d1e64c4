#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A search on ten hosts that are network namespaces of this machine: throughput, and what a restart and kills cost.

usage: ten_hosts.py --mase BINARY --source ROOT [--trials N] [--distance MS]

A trial sleeps for a second, so two cores are enough for all. Each host reaches the PostgreSQL server through a proxy
that holds its packets for 0 to 50 ms in all, because few kernels have netem.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/cli"), str(ROOT / "tests/search/storage")]
import launch_test  # noqa: E402
import with_postgres  # noqa: E402

HOSTS = 10
SUBNET = "10.77.0"
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, **more)


class Network:
    """Namespaces mase-1 to mase-10 at a bridge, which has the address .254."""

    def __enter__(self):
        try:
            return self.set_up()
        except BaseException:
            self.__exit__()
            raise

    def set_up(self):
        self.__exit__()
        run("ip", "link", "add", "mase-bridge", "type", "bridge")
        run("ip", "address", "add", f"{SUBNET}.254/24", "dev", "mase-bridge")
        run("ip", "link", "set", "mase-bridge", "up")
        for i in range(1, HOSTS + 1):
            host, ours, theirs = f"mase-{i}", f"mase-a{i}", f"mase-b{i}"
            run("ip", "netns", "add", host)
            run("ip", "link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", host)
            run("ip", "link", "set", ours, "master", "mase-bridge", "up")
            inside = ("ip", "-n", host)
            run(*inside, "address", "add", f"{SUBNET}.{i}/24", "dev", theirs)
            run(*inside, "link", "set", theirs, "up")
            run(*inside, "link", "set", "lo", "up")
        return self

    def __exit__(self, *_):
        quietly = {"stderr": subprocess.DEVNULL, "check": False}
        for i in range(1, HOSTS + 1):
            inside = subprocess.run(["ip", "netns", "pids", f"mase-{i}"], stdout=subprocess.PIPE, text=True, **quietly)
            for process in inside.stdout.split():
                subprocess.run(["kill", "-KILL", process], **quietly)
            subprocess.run(["ip", "netns", "delete", f"mase-{i}"], **quietly)
        subprocess.run(["ip", "link", "delete", "mase-bridge"], **quietly)


class Distance:
    """A proxy to the server on loopback. The last host is `seconds` away and back, the others evenly less."""

    def __init__(self, port, seconds):
        self.port, self.seconds = port, seconds
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self.accept, f"{SUBNET}.254", self.port))
        self.loop.run_forever()

    async def accept(self, reader, writer):
        host = int(writer.get_extra_info("peername")[0].rpartition(".")[2])
        delay = 0 if host > HOSTS else self.seconds / 2 * (host - 1) / (HOSTS - 1)
        try:
            ours, theirs = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self.pump(reader, theirs, delay), self.pump(ours, writer, delay))

    async def pump(self, source, target, delay):
        try:
            while data := await source.read(65536):
                self.loop.call_later(delay, self.pass_on, target, data)
        except OSError:
            pass
        self.loop.call_later(delay, target.close)

    @staticmethod
    def pass_on(target, data):
        if not target.is_closing():
            target.write(data)


class Server:
    """PostgreSQL on loopback, which can be restarted."""

    def __init__(self, folder):
        self.binaries, self.who, self.folder = with_postgres.programs(), with_postgres.identity(), folder
        with_postgres.create(self.binaries, folder, self.who)
        self.port, self.process = with_postgres.free_port(), None

    def start(self):
        self.process = with_postgres.start(self.binaries, self.folder, self.who, self.port)
        if not with_postgres.wait_until_ready(self.binaries, self.process, self.port):
            sys.exit(Path(self.folder, "log").read_text())

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()

    @property
    def url(self):
        return f"postgresql://mase:{with_postgres.PASSWORD}@{SUBNET}.254:{self.port}/postgres"


class Hosts(launch_test.Launch):
    """The helpers of the launcher's tests, with a server of ssh in every namespace."""

    def prepare(self, server):
        self.setUp()
        self.server, self.study = server, ""
        path = self.out / "bin"
        path.mkdir()
        for key in ("host_key", "user_key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.out / key)
        Path("/run/sshd").mkdir(exist_ok=True)
        sshd = f"HostKey {self.out}/host_key\nPidFile none\nUsePAM no\nStrictModes no\n"
        (self.out / "sshd_config").write_text(sshd + f"AuthorizedKeysFile {self.out}/user_key.pub\n")
        for i in range(1, HOSTS + 1):
            words = ["ip", "netns", "exec", f"mase-{i}", "/usr/sbin/sshd", "-D", "-f", self.out / "sshd_config"]
            process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
            self.addCleanup(process.wait)
            self.addCleanup(process.terminate)
        options = f"-i {self.out}/user_key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
        (path / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -q {options} "$@"\n')
        (path / "ssh").chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}
        self.write_search(1)

    def command(self, *words):
        return super().command("--storage", self.server.url, "--study", self.study, "--heartbeat", "2", *words)

    def begin(self, study, hosts, trials):
        """Starts a search of so many trials on these hosts, which count from 1."""
        self.study = study
        file = self.out / "hosts"
        file.write_text("".join(f"{SUBNET}.{i}\n" for i in hosts))
        launcher = self.start("--launch", f"ssh:{file}", "--n-trials", trials, env=self.environment)
        self.addCleanup(launcher.kill)
        return launcher

    def seconds(self):
        """From the first start of a trial to the last end, by the clock of the server."""
        trials = json.loads((self.out / "p/software/search/log.json").read_text()).values()
        begin, end = (
            pick(t[key] for t in trials) for pick, key in ((min, "datetime_start"), (max, "datetime_complete"))
        )
        return (end - begin) / 1000


def measured(hosts, trials, distance):
    """The trials per second of the nearest host, of the last one and of all ten."""
    speeds = {}
    for name, which, number in (
        ("nearest", [1], min(trials // 10, 50)),
        ("last", [HOSTS], min(trials // 10, 50)),
        ("all", range(1, HOSTS + 1), trials),
    ):
        hosts.finish(hosts.begin(f"study {name}", which, number))
        hosts.check_complete(number)
        speeds[name] = number / hosts.seconds()
        print(f"{name} of the hosts: {number} trials, {speeds[name]:.2f} per second", flush=True)
    print(f"ten hosts are {speeds['all'] / speeds['nearest']:.1f} times as fast as one", flush=True)
    trips = (1 / speeds["last"] - 1 / speeds["nearest"]) / (distance / 1000)
    print(f"a trial of the last host waits for {trips:.1f} round trips", flush=True)


def disturbed(hosts, server, trials):
    """The server restarts twice, and three workers are killed."""
    draw = random.Random(1)
    launcher = hosts.begin("disturbed", range(1, HOSTS + 1), trials)
    hosts.wait_until(lambda: len(hosts.workers()) == HOSTS, launcher)
    for event in ("kill", "restart", "kill", "restart", "kill"):
        time.sleep(2 + 2 * draw.random())
        if event == "kill":
            os.kill(draw.choice(hosts.workers()), signal.SIGKILL)
        else:
            server.stop()
            time.sleep(2)
            server.start()
        print(event, flush=True)
    _, error = launcher.communicate(timeout=3600)
    if launcher.returncode != 0:
        sys.exit(error)
    rows = hosts.check_complete(trials)
    print(f"disturbed: {trials} trials complete, {len(rows) - trials} failed with their worker and were tried again")
    print(f"{error.count('ended with status')} workers were reported; {trials / hosts.seconds():.2f} trials per second")


def leave(number, _):
    """Ends the program after what it has started. Another signal does not disturb that."""
    for each in ENDS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def main(trials, distance):
    for number in ENDS:
        signal.signal(number, leave)
    with tempfile.TemporaryDirectory(prefix="mase-postgresql-") as folder, Network():
        server = Server(folder)
        Distance(server.port, distance / 1000)
        hosts = Hosts()
        try:
            server.start()
            hosts.prepare(server)
            measured(hosts, trials, distance)
            disturbed(hosts, server, trials)
        finally:
            hosts.doCleanups()
            server.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mase", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--distance", type=float, default=50, help="ms from the last host to the server and back")
    options = parser.parse_args()
    launch_test.MASE, launch_test.SOURCE = options.mase.resolve(), options.source.resolve()
    main(options.trials, options.distance)
