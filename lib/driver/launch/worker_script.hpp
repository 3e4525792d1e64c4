// SPDX-License-Identifier: Apache-2.0
// Workers as text for a shell, which starts them on this machine or on another one.
#pragma once

#include <string>
#include <vector>

#include "driver/launch/launch.hpp"

namespace mase::driver {

/// A word as a shell reads it: unchanged if it has no special characters, otherwise in quotes.
std::string shell_word(const std::string& word);
std::string shell_words(const std::vector<std::string>& words);

/// A script that runs `start`, which starts jobs of the shell and adds their numbers to $running,
/// and waits for them. Its status is 0, or that of a job that failed. A line on its standard input
/// runs `stop`; the end of the input does not, so what runs outlives the launcher. A printed script
/// has no use for its input.
std::string stoppable_script(const WorkerJob& job, const std::string& start,
                             const std::string& stop);

/// A script that runs `count` workers in the job's folder. A request to stop has them finish their
/// trials. Each has GPUs of its own; `first` workers on the same machine have theirs before.
std::string worker_script(const WorkerJob& job, int first, int count);

}  // namespace mase::driver
