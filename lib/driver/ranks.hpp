// SPDX-License-Identifier: Apache-2.0
// Several processes that work together: who this process is among them, and starting them.
#pragma once

#include "backend/ranks.hpp"

namespace mase::driver {

/// What a launcher (torchrun, srun, mpirun, launch_ranks) says in the environment; a single process
/// without one. Error(Fault::config) names a variable that is missing or wrong.
backend::Ranks ranks_of_environment(double timeout);
/// The number of this process on its machine, as the launcher says it; 0 without one.
int local_rank();

/// The variables in which launch_ranks hands down the socket where rank 0 listens, and memory that
/// all processes share.
inline constexpr const char* listener_variable = "MASE_LISTENER";
inline constexpr const char* memory_variable = "MASE_MEMORY";
/// The variable with a file in memory for the error of rank 0, which its user sees.
inline constexpr const char* told_variable = "MASE_TOLD";
/// Says in rank 0 of launch_ranks which error it ends with, and does nothing elsewhere.
void tell_launcher(const std::string& error);
/// Whether launch_ranks has started this process, whose command line then still has --nproc.
bool launched_here();

/// Starts this program's own command line `count` times on this machine, and waits for them.
/// Signals are passed on. When one fails, the others are ended. Returns the exit code of rank 0.
/// Error with the rank of another one that failed first, unless rank 0 has told the same.
/// `after_loss` says what to do when a process was killed. Error(Fault::config) in a process that
/// another launcher has started.
int launch_ranks(int count, const std::string& after_loss);

}  // namespace mase::driver
