// SPDX-License-Identifier: Apache-2.0
// The shell's own jobs do not get Ctrl-C of the terminal, so the script passes on a request to
// stop.
#include "driver/launch/worker_script.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace mase::driver {

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

std::string worker_script(const WorkerJob& job, int count) {
  const std::string enter = "cd " + shell_word(job.folder) + " || exit\n";
  const std::string worker = shell_words(job.words);
  if (job.is_printed && count == 1) return enter + "exec " + worker + "\n";
  // Workers that print to a connection that is gone go on.
  std::string script = enter + "trap '' PIPE\nexec 3<&0\n";
  for (int i = 0; i < count; ++i) script += worker + " </dev/null &\nworkers=\"$workers $!\"\n";
  if (!job.is_printed)
    script +=
        "{ read -r line <&3 && kill -s INT $workers; } >/dev/null 2>&1 &\n"
        "reader=$!\n";
  script += "status=0\nfor worker in $workers; do wait \"$worker\" || status=$?; done\n";
  if (!job.is_printed) script += "kill \"$reader\" 2>/dev/null\n";
  return script + "exit \"$status\"\n";
}

}  // namespace mase::driver
