// SPDX-License-Identifier: Apache-2.0
// Training on several processes: who this process is among them, and starting them.
#pragma once

#include "backend/ranks.hpp"

namespace mase::driver {

/// What a launcher (torchrun, srun, mpirun, launch_ranks) says in the environment; a single process
/// without one. Error(Fault::config) names a variable that is missing or wrong.
backend::Ranks ranks_of_environment(double timeout);

/// Starts this program's own command line `count` times as the processes of one training on this
/// machine, without the option for their number, and waits for them. Signals are passed on. When
/// one fails, the others are ended. Returns the exit code of rank 0. Error with the rank of another
/// one that failed first.
int launch_ranks(int count);

}  // namespace mase::driver
