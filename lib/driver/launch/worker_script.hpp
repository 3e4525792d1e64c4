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

/// A POSIX shell script that runs `count` workers in the job's folder and waits for them; its
/// status is 0, or that of one that failed. A line on its standard input asks the workers to finish
/// their trials and to end; its end does not, so workers outlive the launcher.
std::string worker_script(const WorkerJob& job, int count);

}  // namespace mase::driver
