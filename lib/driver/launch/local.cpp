// SPDX-License-Identifier: Apache-2.0
// Workers on this machine.
#include "base/error.hpp"
#include "base/text.hpp"
#include "driver/launch/kinds.hpp"
#include "driver/launch/worker_script.hpp"

namespace mase::driver {

std::vector<LaunchCommand> local_commands(const WorkerJob& job) {
  const auto count = parse_int(job.argument);
  if (!count || *count < 1 || *count > 1024)
    config_error("--launch local:N takes a whole number of workers from 1 to 1024, not '" +
                 job.argument + "'");
  std::vector<LaunchCommand> commands;
  for (int i = 0; i < *count; ++i)
    commands.push_back({"worker " + std::to_string(i + 1), worker_script(job, i, 1)});
  return commands;
}

}  // namespace mase::driver
