// SPDX-License-Identifier: Apache-2.0
// Workers as an array of jobs of Slurm. sbatch waits until all of them have ended.
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "driver/launch/kinds.hpp"
#include "driver/launch/worker_script.hpp"

namespace mase::driver {
namespace {

/// The options behind the colon: a comma before a dash parts them.
std::vector<std::string> own_sbatch_options(const std::string& argument) {
  std::vector<std::string> options;
  for (const std::string& part : split(argument, ',')) {
    if (part.starts_with('-'))
      options.push_back(part);
    else if (!options.empty())
      options.back() += "," + part;
    else if (!part.empty())
      config_error(
          "--launch slurm:OPTIONS takes options of sbatch, such as "
          "slurm:--partition=cpu,--nodelist=a,b; '" +
          part + "' is none");
  }
  return options;
}

/// The seconds before the end of a job at which its worker is asked to finish its trial.
constexpr int notice = 60;

std::vector<std::string> resource_options(const LaunchOptions& options) {
  std::vector<std::string> out;
  if (options.worker_cores)
    out.push_back("--cpus-per-task=" + std::to_string(*options.worker_cores));
  if (options.worker_memory)
    out.push_back("--mem=" + std::to_string(std::llround(*options.worker_memory * 1024)) + "M");
  if (options.worker_gpus) out.push_back("--gres=gpu:" + std::to_string(*options.worker_gpus));
  if (options.worker_time) {
    const double minutes = std::ceil((*options.worker_time + notice) / 60);
    out.push_back("--time=" + std::to_string(std::llround(minutes)));
    out.push_back("--signal=B:INT@" + std::to_string(notice));
  }
  return out;
}

}  // namespace

std::vector<LaunchCommand> slurm_commands(const WorkerJob& job) {
  const std::string logs = job.logs + "/" + job.name;
  std::vector<std::string> words{"sbatch", "--array=1-" + std::to_string(job.count),
                                 "--job-name=" + job.name, "--output=" + logs + "_%a.log"};
  if (!job.is_printed) words.insert(words.begin() + 1, {"--wait", "--parsable"});
  for (std::string& option : resource_options(job.options)) words.push_back(std::move(option));
  for (std::string& option : own_sbatch_options(job.argument)) words.push_back(std::move(option));
  const std::string submit = shell_words(words) + " <<'END_OF_JOB'\n#!/bin/sh\ncd " +
                             shell_word(job.folder) + " && exec " + shell_words(job.words) +
                             "\nEND_OF_JOB\n";
  if (job.is_printed)
    return {{"jobs of Slurm", "mkdir -p " + shell_word(job.logs) + "\n" + submit}};
  const std::string name = shell_word("--name=" + job.name);
  const std::string start = "{\n" + submit + "status=$?\n[ \"$status\" -eq 0 ] || tail -q -n 1 " +
                            shell_word(logs) +
                            "_*.log 2>/dev/null\nexit \"$status\"\n} &\nrunning=$!\n";
  const std::string stop =
      "scancel --state=PENDING " + name + "\nscancel --batch --signal=INT " + name + "\n";
  return {{"jobs of Slurm", stoppable_script(job, start, stop)}};
}

}  // namespace mase::driver
