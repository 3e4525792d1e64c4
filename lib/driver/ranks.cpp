// SPDX-License-Identifier: Apache-2.0
// The environments of the launchers.
#include "driver/ranks.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::driver {
namespace {

/// The variables in which a launcher numbers its processes.
struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;  ///< on the machine
};

/// srun sets the number of tasks of its step; that of the job is also set outside of srun.
constexpr Launcher launchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

int number(const char* name, std::int64_t least, std::int64_t most) {
  const std::string text = variable(name);
  const auto value = parse_int(text);
  if (!value || *value < least || *value > most)
    config_error("the environment has " + std::string(name) + " = '" + text +
                 "'; it must be a whole number from " + std::to_string(least) + " to " +
                 std::to_string(most));
  return static_cast<int>(*value);
}

void add_meeting_place(const Launcher& launcher, backend::Ranks& ranks) {
  ranks.host = variable("MASTER_ADDR");
  if (ranks.host.empty() || variable("MASTER_PORT").empty())
    config_error(std::string(launcher.name) + " starts " + std::to_string(ranks.size) +
                 " processes, but the environment does not say where they meet; set MASTER_ADDR "
                 "to the machine of rank 0 and MASTER_PORT to a free port there");
  ranks.port = number("MASTER_PORT", 1, 65535);
  ranks.served = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  ranks.attempt = variable("TORCHELASTIC_RESTART_COUNT");
  if (ranks.rank == 0 && launched_here()) ranks.listener = number(listener_variable, 0, 1 << 20);
  if (!variable(memory_variable).empty()) ranks.memory = number(memory_variable, 0, 1 << 20);
}

}  // namespace

int local_rank() {
  for (const Launcher& launcher : launchers)
    if (const auto rank = parse_int(variable(launcher.local_rank)); rank && *rank > 0)
      return static_cast<int>(*rank);
  return 0;
}

bool launched_here() { return !variable(listener_variable).empty(); }

void tell_launcher(const std::string& error) {
  if (!launched_here() || variable("RANK") != "0" || variable(told_variable).empty()) return;
  const std::string line = error + "\n";
  const int file = number(told_variable, 0, 1 << 20);
  if (::write(file, line.data(), line.size()) < 0) return;  // the launcher then repeats the error
}

backend::Ranks ranks_of_environment(double timeout) {
  backend::Ranks ranks;
  ranks.timeout = timeout;
  for (const Launcher& launcher : launchers) {
    if (variable(launcher.rank).empty() || variable(launcher.size).empty()) continue;
    ranks.size = number(launcher.size, 1, 1 << 20);
    ranks.rank = number(launcher.rank, 0, ranks.size - 1);
    if (ranks.several()) add_meeting_place(launcher, ranks);
    return ranks;
  }
  return ranks;
}

}  // namespace mase::driver
