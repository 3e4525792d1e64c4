// SPDX-License-Identifier: Apache-2.0
// Workers of a search that this process starts and follows, but whose trials it only looks at.
#pragma once

#include <string>
#include <vector>

#include "driver/launch/launcher.hpp"
#include "search/workers/plan.hpp"

namespace mase::driver {

/// Where the workers meet and what they print.
struct WorkerPlaces {
  std::string url, study;
  std::string logs;
};

/// The commands that start workers with this process's command line. Error(Fault::config) if an
/// option is wrong, or if workers elsewhere could not reach the database. Sets PGPASSWORD to the
/// password of the database's URL, which no command has.
std::vector<LaunchCommand> worker_commands(const LaunchOptions& options, const search::Setup& setup,
                                           const WorkerPlaces& places, bool is_printed);

/// The commands as a script for a POSIX shell, which asks for PGPASSWORD if it is needed.
std::string script_of(const std::vector<LaunchCommand>& commands, bool needs_password);

/// Starts the workers unless the study is complete, and waits until they have ended. An interrupt
/// is passed on to them. Returns "" if the study is complete as far as the options ask for, or why
/// it is not: the first worker that failed, and how. Error(Fault::file) if it failed before any
/// trial was finished.
std::string follow_workers(Launcher& launcher, const search::Plan& plan,
                           const search::OnTrial& on_trial);

}  // namespace mase::driver
