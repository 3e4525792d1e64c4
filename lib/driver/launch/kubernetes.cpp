// SPDX-License-Identifier: Apache-2.0
// Workers as a Job of Kubernetes. Its manifest is the user's own, so image, volumes and secrets
// need no options here.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "driver/launch/kinds.hpp"
#include "driver/launch/worker_script.hpp"

namespace mase::driver {
namespace {

/// What a manifest names as ${name}.
struct ManifestValue {
  std::string name;
  std::optional<std::string> text;
  std::string option;  ///< that sets it; "" if it is always there and needed
};

/// A name as Kubernetes allows it (RFC 1123): small letters, digits and dashes, at most 63.
std::string object_name(const std::string& text) {
  constexpr std::size_t longest = 63;
  std::string name = lower_case(text);
  std::ranges::replace_if(
      name, [](char c) { return !is_identifier_char(c) || c == '_'; }, '-');
  if (name.size() > longest) name = "mase-" + name.substr(name.size() - (longest - 5));
  while (name.ends_with('-')) name.pop_back();
  return name;
}

std::vector<ManifestValue> manifest_values(const WorkerJob& job) {
  const auto text = [](const std::optional<int>& value) {
    return value ? std::optional(std::to_string(*value)) : std::nullopt;
  };
  const auto rounded = [](const std::optional<double>& value, double unit, const char* suffix) {
    return value ? std::optional(std::to_string(std::llround(*value * unit)) + suffix)
                 : std::nullopt;
  };
  std::vector<std::string> words = job.words;
  words.front() = "mase";  // of the image
  const LaunchOptions& options = job.options;
  return {{"name", object_name(job.name), ""},
          {"workers", std::to_string(job.count), ""},
          {"command", to_json(Tree::list_of(words), -1), ""},
          {"cores", text(options.worker_cores), "--worker-cores"},
          {"memory", rounded(options.worker_memory, 1024, "Mi"), "--worker-memory"},
          {"gpus", text(options.worker_gpus), "--worker-gpus"},
          {"seconds", rounded(options.worker_time, 1, ""), "--worker-time"}};
}

/// Fills in a manifest.
class Manifest {
 public:
  Manifest(const std::string& path, const WorkerJob& job)
      : path_(path), values_(manifest_values(job)) {}

  std::string text() {
    std::string out;
    const std::vector<std::string> lines = split(read_file(path_), '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool is_comment = trim(lines[i]).starts_with('#');
      const auto line =
          is_comment ? lines[i] : filled(lines[i], path_ + ":" + std::to_string(i + 1));
      if (line) out += *line + "\n";
    }
    for (const ManifestValue& value : values_)
      if (value.text && !used_.contains(value.name))
        config_error(path_ + " has no ${" + value.name + "}" +
                     (value.option.empty() ? ", which every Job of workers needs"
                                           : ", which " + value.option + " sets") +
                     "; see configs/launch/kubernetes.yaml");
    return out;
  }

 private:
  /// The line with its values; nothing if one of them is not given.
  std::optional<std::string> filled(std::string line, const std::string& where) {
    for (std::size_t begin = 0; (begin = line.find("${", begin)) != line.npos;) {
      const std::size_t end = line.find('}', begin);
      const std::string name =
          end == line.npos ? line.substr(begin) : line.substr(begin + 2, end - begin - 2);
      const auto value = std::ranges::find(values_, name, &ManifestValue::name);
      if (value == values_.end()) refuse(name, where);
      used_.insert(name);
      if (!value->text) return std::nullopt;
      line.replace(begin, name.size() + 3, *value->text);
      begin += value->text->size();
    }
    return line;
  }

  [[noreturn]] void refuse(const std::string& name, const std::string& where) const {
    std::vector<std::string> names;
    for (const ManifestValue& value : values_) names.push_back(value.name);
    config_error(where + ": there is no value '" + name + "'; allowed: ${" + join(names, "}, ${") +
                 "}" + did_you_mean(name, names));
  }

  std::string path_;
  std::vector<ManifestValue> values_;
  std::set<std::string> used_;
};

/// Waits until the Job has ended. A few questions may remain without an answer.
constexpr const char* follow_job = R"(misses=0
while [ "$misses" -lt 5 ]; do
  sleep 2
  state=$(kubectl get -f "$manifest" -o 'jsonpath={.status.conditions[?(@.status=="True")].type}') || {
    misses=$((misses + 1))
    continue
  }
  misses=0
  case $state in
    *Complete*) exit 0 ;;
    *Failed*)
      echo "the Job has failed; kubectl describe -f $manifest says why"
      exit 1 ;;
  esac
done
exit 1
} </dev/null &
running=$!
)";

}  // namespace

std::vector<LaunchCommand> kubernetes_commands(const WorkerJob& job) {
  if (job.argument.empty())
    config_error(
        "--launch k8s:FILE needs the manifest of a Job; see configs/launch/kubernetes.yaml");
  const std::string document =
      "<<'END_OF_MANIFEST'\n" + Manifest(job.argument, job).text() + "END_OF_MANIFEST\n";
  if (job.is_printed) return {{"Kubernetes", "kubectl apply -f - " + document}};
  const std::string file = shell_word(job.logs + "/" + object_name(job.name) + ".yaml");
  const std::string start = "manifest=" + file + "\ncat >\"$manifest\" " + document +
                            "{\nkubectl apply -f \"$manifest\" || exit\n" + follow_job;
  // The Job stays until its workers have finished their trials.
  return {{"Kubernetes", stoppable_script(job, start,
                                          "kubectl delete --cascade=foreground "
                                          "--wait=false -f \"$manifest\"\n")}};
}

}  // namespace mase::driver
