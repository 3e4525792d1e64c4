#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The install tree works from another folder: installs, moves the tree, and runs the program there.

usage: install_test.py --build BUILD_FOLDER
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        first, moved, work = (Path(folder) / name for name in ("first", "moved", "work"))
        subprocess.run(["cmake", "--install", build, "--prefix", first], check=True, stdout=subprocess.DEVNULL)
        first.rename(moved)
        work.mkdir()
        program = moved / "bin/mase"
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        run = lambda *words: (
            subprocess.run(
                [program, *words],
                cwd=work,
                env=environment,
                check=True,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            ).stdout
        )
        assert str(moved / "share/mase") in run("doctor"), "the shipped files are not taken from the install tree"
        for file in ("man/man1/mase.1", "bash-completion/completions/mase", "fish/vendor_completions.d/mase.fish"):
            assert "transform" in (moved / "share" / file).read_text(encoding="utf-8"), (
                f"{file} does not know the commands"
            )
        config = moved / "share/mase/configs/examples/jsc_toy_by_type.toml"
        run("transform", "--config", config)
        assert (work / "mase_output/jsc-tiny/software/transform/transformed_ckpt/graph_module.pt").exists()
    return 0


if __name__ == "__main__":
    sys.exit(main())
