// SPDX-License-Identifier: Apache-2.0
// Workers as jobs of a Ray cluster, through Ray's own command. Each waits for its job.
#include <cmath>

#include "base/error.hpp"
#include "driver/launch/kinds.hpp"
#include "driver/launch/worker_script.hpp"

namespace mase::driver {
namespace {

/// Ray ends a job that is stopped with SIGTERM, and after some seconds with SIGKILL. A
/// worker may finish its trial in that time, which is an hour here.
constexpr const char* patient = R"({"env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": "3600"}})";

/// Ray signals the shell of a job and everything below it, also the programs that measure a trial.
/// So the worker does not run below that shell, which passes on a request to stop, and waits.
std::string detached(const WorkerJob& job) {
  return "cd " + shell_word(job.folder) +
         " && place=$(mktemp -d) || exit\n"
         "trap 'stop=1' TERM INT\nstop=\n"
         "( ( sh -c 'echo $$ >\"$0\"; exec \"$@\"' \"$place/pid\" " +
         shell_words(job.words) +
         " </dev/null\n    echo $? >\"$place/status\" ) & )\n"
         "until [ -s \"$place/status\" ]; do\n"
         "  sleep 0.2\n"
         "  [ -z \"$stop\" ] || [ ! -s \"$place/pid\" ] || {\n"
         "    kill -s INT \"$(cat \"$place/pid\")\"\n    stop=\n  }\n"
         "done\n"
         "read -r status <\"$place/status\"\nrm -r \"$place\"\nexit \"$status\"\n";
}

std::vector<std::string> ray_resources(const LaunchOptions& options) {
  std::vector<std::string> out{"--entrypoint-num-cpus",
                               std::to_string(options.worker_cores.value_or(1))};
  if (options.worker_gpus) {
    out.emplace_back("--entrypoint-num-gpus");
    out.push_back(std::to_string(*options.worker_gpus));
  }
  if (options.worker_memory) {
    out.emplace_back("--entrypoint-memory");
    out.push_back(std::to_string(std::llround(std::ldexp(*options.worker_memory, 30))));
  }
  return out;
}

}  // namespace

std::vector<LaunchCommand> ray_commands(const WorkerJob& job) {
  if (job.argument.empty())
    config_error(
        "--launch ray:ADDRESS needs the address of the cluster's dashboard, such as "
        "ray:http://127.0.0.1:8265");
  const std::string entry = detached(job);
  std::vector<LaunchCommand> commands;
  for (int i = 1; i <= job.count; ++i) {
    const std::string id = job.name + "-" + std::to_string(i);
    const std::string where = " --address " + shell_word(job.argument) + " ";
    std::vector<std::string> words{"--submission-id", id, "--runtime-env-json", patient};
    for (std::string& word : ray_resources(job.options)) words.push_back(std::move(word));
    for (const char* word : {"--", "sh", "-c"}) words.emplace_back(word);
    words.push_back(entry);
    const std::string submit = "ray job submit" + where + shell_words(words);
    const std::string name = "worker " + std::to_string(i);
    if (job.is_printed) {
      commands.push_back({name, submit + "\n"});
      continue;
    }
    // The last line that the worker itself printed stands between those of Ray.
    const std::string start = "{\n" + submit +
                              "\nstatus=$?\n[ \"$status\" -eq 0 ] || ray job logs" + where +
                              shell_word(id) +
                              " 2>/dev/null | grep -v -e ' INFO ' -e '^Running entrypoint' | "
                              "grep . | tail -n 1\nexit \"$status\"\n} </dev/null &\nrunning=$!\n";
    commands.push_back(
        {name,
         stoppable_script(job, start, "ray job stop --no-wait" + where + shell_word(id) + "\n")});
  }
  return commands;
}

}  // namespace mase::driver
