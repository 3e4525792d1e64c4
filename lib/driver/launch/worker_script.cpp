// SPDX-License-Identifier: Apache-2.0
// The shell's own jobs do not get Ctrl-C of the terminal, so the script passes on a request to
// stop.
#include "driver/launch/worker_script.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace mase::driver {
namespace {

/// "CUDA_VISIBLE_DEVICES=2,3 " for the second worker of a machine that has two GPUs for each.
std::string gpus_of(const WorkerJob& job, int worker) {
  if (!job.options.worker_gpus) return "";
  const int each = *job.options.worker_gpus;
  std::vector<std::string> numbers;
  for (int i = worker * each; i < (worker + 1) * each; ++i) numbers.push_back(std::to_string(i));
  return "CUDA_VISIBLE_DEVICES=" + join(numbers, ",") + " ";
}

}  // namespace

std::string shell_word(const std::string& word) {
  const auto is_plain = [](char c) {
    return is_identifier_char(c) || std::string_view("-+=./:,@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  return "'" + replace_all(word, "'", "'\\''") + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(shell_word(word));
  return join(quoted, " ");
}

std::string stoppable_script(const WorkerJob& job, const std::string& start,
                             const std::string& stop) {
  const std::string wait = "status=0\nfor job in $running; do wait \"$job\" || status=$?; done\n";
  if (job.is_printed) return "running=\n" + start + wait + "exit \"$status\"\n";
  return "exec 3<&0\nrunning=\n" + start + "{ read -r line <&3 && {\n" + stop +
         "}; } >/dev/null 2>&1 &\nreader=$!\n" + wait +
         "kill \"$reader\" 2>/dev/null\nexit \"$status\"\n";
}

std::string worker_script(const WorkerJob& job, int first, int count) {
  // Workers that print to a connection that is gone go on.
  std::string start = "cd " + shell_word(job.folder) + " || exit\ntrap '' PIPE\n";
  for (int i = first; i < first + count; ++i)
    start += gpus_of(job, i) + shell_words(job.words) + " </dev/null &\nrunning=\"$running $!\"\n";
  return stoppable_script(job, start, "kill -s INT $running\n");
}

}  // namespace mase::driver
