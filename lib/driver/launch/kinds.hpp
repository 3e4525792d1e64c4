// SPDX-License-Identifier: Apache-2.0
// The commands of each way of starting workers, one function for each row of the table.
#pragma once

#include "driver/launch/launch.hpp"

namespace mase::driver {

/// `argument` workers as processes of this machine.
std::vector<LaunchCommand> local_commands(const WorkerJob& job);

/// Workers on the hosts of the file `argument`, which has lines "HOST [slots=N]" as Open MPI's host
/// files. One command for each host.
std::vector<LaunchCommand> ssh_commands(const WorkerJob& job);

/// An array of `count` jobs of Slurm. `argument` has options of sbatch; a comma before a dash parts
/// them: "--partition=cpu,--nodelist=a,b".
std::vector<LaunchCommand> slurm_commands(const WorkerJob& job);

/// `count` jobs of the Ray cluster whose dashboard has the address `argument`.
std::vector<LaunchCommand> ray_commands(const WorkerJob& job);

/// A Job of Kubernetes with the manifest `argument`, whose ${name}, ${workers}, ${command},
/// ${cores}, ${memory}, ${gpus} and ${seconds} are replaced.
std::vector<LaunchCommand> kubernetes_commands(const WorkerJob& job);

}  // namespace mase::driver
