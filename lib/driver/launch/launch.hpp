// SPDX-License-Identifier: Apache-2.0
// The ways in which `mase search --launch` starts workers. A new one needs a file of its own, and a
// declaration and a row in launch_table.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/field.hpp"

namespace mase::driver {

/// The options of a launch. What is not given is left to the place where the workers run.
struct LaunchOptions {
  std::optional<std::string> launch;
  std::optional<int> workers, worker_cores, worker_gpus;
  std::optional<double> worker_memory, worker_time;
  static auto fields();
};

/// What every way of starting workers needs to know.
struct WorkerJob {
  std::string argument;            ///< what stands behind the colon of KIND:ARGUMENT
  std::vector<std::string> words;  ///< the command of a worker
  std::string folder;              ///< the folder that it runs in
  std::string logs;                ///< the folder for what workers print
  LaunchOptions options;
  int count = 1;            ///< of workers, where the row takes it
  std::string name;         ///< differs from launch to launch, for schedulers
  bool is_printed = false;  ///< the commands are shown, and run without this program
  /// The password of the database, "" without one. It stands in PGPASSWORD, and in no command.
  std::string password;
};

/// A command that starts workers, and ends when they have ended.
struct LaunchCommand {
  std::string name;        ///< of the workers, for messages and for the file of what they print
  std::string script;      ///< for a POSIX shell; a line on its input asks the workers to stop
  std::string input = "";  ///< what the script reads before that
};

/// A way of starting workers.
struct LaunchRow {
  std::string_view name, argument, doc;  ///< the argument with its colon
  bool is_elsewhere;                     ///< workers run on machines that may not share files
  bool takes_count;                      ///< --workers says how many there are
  /// Where workers find the password of the database if the launch cannot hand it on unseen; ""
  /// where it does.
  std::string_view password_place;
  /// Error(Fault::config) if the argument or an option is wrong.
  std::vector<LaunchCommand> (*commands)(const WorkerJob& job);
};

const std::vector<LaunchRow>& launch_table();

/// The row and the argument of KIND:ARGUMENT. Error(Fault::config) lists the rows.
struct ChosenLaunch {
  const LaunchRow& row;
  std::string argument;
};
ChosenLaunch choose_launch(const std::string& text);

/// "local:N | ssh:HOSTFILE" and so on: the arguments of --launch.
std::string launch_forms();

inline auto LaunchOptions::fields() {
  using L = LaunchOptions;
  return std::tuple{
      Field{"launch", &L::launch, "start workers, and follow them: KIND:ARGUMENT"}.rare(),
      Field{"workers", &L::workers, "workers that slurm, ray and k8s start"}
          .between(1, 100000)
          .rare(),
      Field{"worker_cores", &L::worker_cores, "cores of a worker, shared by its trials"}
          .between(1, 4096)
          .rare(),
      Field{"worker_memory", &L::worker_memory, "GiB of memory of a worker"}.at_least(0.1).rare(),
      Field{"worker_gpus", &L::worker_gpus, "GPUs of a worker"}.between(0, 64).rare(),
      Field{"worker_time", &L::worker_time, "seconds after which a worker starts no trial"}
          .at_least(1)
          .rare()};
}

}  // namespace mase::driver
