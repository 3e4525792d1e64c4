// SPDX-License-Identifier: Apache-2.0
// Workers on other hosts, through ssh. The program and the folder have the paths that they have
// here.
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "driver/launch/kinds.hpp"
#include "driver/launch/worker_script.hpp"

namespace mase::driver {
namespace {

struct HostLine {
  std::string name;
  int slots = 1;
};

/// The host of a line, or nothing if it has only blanks and a comment.
std::optional<HostLine> read_host(const std::string& line, const std::string& where) {
  HostLine host;
  constexpr std::string_view slots = "slots=";
  for (const std::string& word :
       split(replace_all(line.substr(0, line.find('#')), "\t", " "), ' ')) {
    if (trim(word).empty()) continue;
    const std::string text(trim(word));
    const auto count =
        text.starts_with(slots) ? parse_int(text.substr(slots.size())) : std::nullopt;
    const bool is_name =
        host.name.empty() && text.find_first_of("-=") != 0 && text.find("=") == text.npos;
    if (is_name)
      host.name = text;
    else if (!host.name.empty() && count && *count >= 1 && *count <= 1024)
      host.slots = static_cast<int>(*count);
    else
      config_error(where + ": '" + text + "' is not understood; a line is HOST [slots=N]");
  }
  return host.name.empty() ? std::nullopt : std::optional(host);
}

std::vector<HostLine> read_hosts(const std::string& path) {
  std::vector<HostLine> hosts;
  std::set<std::string> names;
  const std::vector<std::string> lines = split(read_file(path), '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string where = path + ":" + std::to_string(i + 1);
    const auto host = read_host(lines[i], where);
    if (!host) continue;
    if (!names.insert(host->name).second)
      config_error(where + ": the host " + host->name +
                   " stands in an earlier line, too; give it slots=N");
    hosts.push_back(*host);
  }
  if (hosts.empty()) config_error(path + " names no host; a line is HOST [slots=N]");
  return hosts;
}

}  // namespace

std::vector<LaunchCommand> ssh_commands(const WorkerJob& job) {
  if (job.argument.empty())
    config_error("--launch ssh:HOSTFILE needs a file with a line HOST [slots=N] for each host");
  std::vector<LaunchCommand> commands;
  for (const HostLine& host : read_hosts(job.argument)) {
    // No question can be answered, and a connection that breaks is noticed within a minute.
    // The password goes through the connection, because other users see commands.
    const bool reads = !job.password.empty();
    const std::string script = (reads ? "IFS= read -r PGPASSWORD\nexport PGPASSWORD\n" : "") +
                               worker_script(job, 0, host.slots);
    const std::string ssh = shell_words({"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20",
                                         "-o", "ServerAliveInterval=15", "--", host.name,
                                         "exec sh -c " + shell_word(script)});
    const std::string name = "host " + host.name;
    if (job.is_printed && reads)
      commands.push_back({name, "printf '%s\\n' \"$PGPASSWORD\" | " + ssh + "\n"});
    else if (job.is_printed)
      commands.push_back({name, "exec " + ssh + " </dev/null\n"});
    else
      commands.push_back({name, "exec " + ssh + "\n", reads ? job.password + "\n" : ""});
  }
  return commands;
}

}  // namespace mase::driver
