// SPDX-License-Identifier: Apache-2.0
// Options are compared one by one, so that an error names the one that differs.
#include "driver/shared_passes.hpp"

#include <algorithm>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "driver/all_passes.hpp"
#include "driver/shared_runs.hpp"

namespace mase::driver {
namespace {

void add_options(const std::string& name, const Tree& options, Tree& settings) {
  if (!options.is_dict()) {
    settings[name] = options;
    return;
  }
  for (const auto& [key, value] : options.as_dict()) add_options(name + "." + key, value, settings);
}

}  // namespace

void keep_shared_calls(std::vector<passes::PassCall>& calls, const std::string& config_path) {
  const auto last = std::find_if(calls.rbegin(), calls.rend(), [](const passes::PassCall& call) {
    return passes::find_pass(all_passes(), call.name)->shares_work;
  });
  calls.erase(last.base(), calls.end());
  if (!calls.empty()) return;
  std::vector<std::string> names;
  for (const passes::PassRow& pass : all_passes())
    if (pass.shares_work) names.emplace_back(pass.doc.name);
  config_error(config_path + " has no pass whose work several processes share (" +
               join(names, ", ") + "); leave --nproc or the launcher out");
}

std::shared_ptr<PassCompanions> meet_for_passes(const Session& session, const LoadedModel& model,
                                                const std::vector<passes::PassCall>& calls,
                                                const backend::Ranks& ranks) {
  Tree settings = Tree::dict();
  settings["batch_size"] = session.settings().train.batch_size;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string number = "pass " + std::to_string(i + 1);
    settings[number] = calls[i].name;
    add_options(number + ", " + calls[i].name, calls[i].options, settings);
  }
  std::string data = session.dataset ? session.dataset->sha256 : "";
  for (const Array& input : model.example)
    data += sha256({reinterpret_cast<const char*>(input.bytes()), input.byte_size()});
  std::unique_ptr<Companions> companions = backend::open().meet(ranks);
  check_agreement(*companions, settings, model.graph, sha256(data));
  return std::make_shared<PassCompanions>(std::move(companions));
}

}  // namespace mase::driver
