// SPDX-License-Identifier: Apache-2.0
// The table of the ways of starting workers.
#include "base/error.hpp"
#include "base/text.hpp"
#include "driver/launch/kinds.hpp"

namespace mase::driver {

const std::vector<LaunchRow>& launch_table() {
  static const std::vector<LaunchRow> table{
      {"local", ":N", "N processes on this machine", false, false, "", local_commands},
      {"ssh", ":HOSTFILE", "processes on the hosts of a file, through ssh", true, false, "",
       ssh_commands},
      {"slurm", "[:OPTIONS]", "an array of jobs, through sbatch", true, true, "", slurm_commands},
      {"ray", ":ADDRESS", "jobs of a Ray cluster, through ray job submit", true, true,
       "~/.pgpass of every node of the cluster", ray_commands},
      {"k8s", ":FILE", "a Job of Kubernetes, through kubectl; FILE is its manifest", true, true,
       "a Secret that the manifest names, as configs/launch/kubernetes.yaml does",
       kubernetes_commands},
  };
  return table;
}

ChosenLaunch choose_launch(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  for (const LaunchRow& row : launch_table())
    if (row.name == name)
      return {row, text.size() > name.size() ? text.substr(name.size() + 1) : ""};
  std::vector<std::string> names;
  for (const LaunchRow& row : launch_table()) names.emplace_back(row.name);
  config_error("--launch: there is no '" + name + "'; allowed: " + launch_forms() +
               did_you_mean(name, names));
}

std::string launch_forms() {
  std::vector<std::string> forms;
  for (const LaunchRow& row : launch_table())
    forms.push_back(std::string(row.name) + std::string(row.argument));
  return join(forms, " | ");
}

}  // namespace mase::driver
