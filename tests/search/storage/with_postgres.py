#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command beside a PostgreSQL server of its own: with_postgres.py COMMAND ARGUMENT...

The server lives in a temporary folder, listens on loopback only and ends with the command, however
that ends. The command finds its URL (without a database's name) in MASE_TEST_POSTGRESQL. Exit
status: the command's, or 77 where PostgreSQL is not installed.
"""

import ctypes
import glob
import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
import time

PASSWORD = "tops3cret"


def programs():
    """The folder of initdb and postgres; Debian keeps them off the PATH, one folder per version."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    folders += os.environ.get("PATH", "").split(os.pathsep)
    needed = ("initdb", "postgres", "pg_isready")
    complete = (f for f in folders if all(os.path.exists(os.path.join(f, p)) for p in needed))
    return next(complete, None)


def identity():
    """PostgreSQL refuses to run as root: another user then."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def die_with_parent():
    """Asks Linux to end this process (SIGQUIT: at once) when the parent is gone, even killed."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGQUIT)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def create(binaries, folder, who):
    password_file = os.path.join(folder, "password")
    with open(password_file, "w", encoding="utf-8") as file:
        file.write(PASSWORD)
    if who:
        for path in (folder, password_file):
            os.chown(path, who["user"], who["group"])
    subprocess.run(
        [
            os.path.join(binaries, "initdb"),
            "--no-sync",
            "--username=mase",
            "--encoding=UTF8",
            "--locale=C",
            "--auth=scram-sha-256",
            "--pwfile=" + password_file,
            folder + "/data",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=folder,
        **who,
    )


def start(binaries, folder, who, port):
    settings = {
        "port": port,
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": "",
        "fsync": "off",
        "full_page_writes": "off",
        "synchronous_commit": "off",
        "max_connections": 60,
    }
    command = [os.path.join(binaries, "postgres"), "-D", folder + "/data"]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    with open(folder + "/log", "w", encoding="utf-8") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, cwd=folder, preexec_fn=die_with_parent, start_new_session=True, **who
        )


def wait_until_ready(binaries, server, port):
    check = [os.path.join(binaries, "pg_isready"), "--quiet", "-h", "127.0.0.1", "-p", str(port)]
    while server.poll() is None:
        if subprocess.run(check, check=False).returncode == 0:
            return True
        time.sleep(0.1)
    return False


def main():
    binaries = programs()
    if binaries is None:
        print("skipped: PostgreSQL is not installed (Debian: apt-get install postgresql)")
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    who = identity()
    with tempfile.TemporaryDirectory(prefix="mase-postgresql-") as folder:
        create(binaries, folder, who)
        port = free_port()
        server = start(binaries, folder, who, port)
        try:
            if not wait_until_ready(binaries, server, port):
                with open(folder + "/log", encoding="utf-8") as log:
                    print("the server did not start:\n" + log.read(), file=sys.stderr)
                return 1
            url = f"postgresql://mase:{PASSWORD}@127.0.0.1:{port}"
            environment = dict(os.environ, MASE_TEST_POSTGRESQL=url)
            return subprocess.run(sys.argv[1:], env=environment, check=False).returncode
        finally:
            server.send_signal(signal.SIGQUIT)
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
