// SPDX-License-Identifier: Apache-2.0
// Reads the training settings of a trial in a loop over the fields of the training options.
#include "search/runners/basic_train.hpp"

#include <algorithm>

namespace mase::search {
namespace {

using backend::TrainOptions;

/// The key of a setting in the table of this runner. Two settings have the reference's names.
std::string_view key_of(std::string_view setting) {
  if (setting == "training_optimizer") return "optimizer";
  return setting == "schedule" ? "lr_scheduler" : setting;
}

/// The data set is grouped once, before the first trial.
bool is_of_trials(std::string_view setting) { return setting != "group_by_length"; }

/// Calls visit(key, field) for the training settings that are not fields of the runner itself.
template <class Visitor>
void for_each_setting(Visitor&& visit) {
  const std::vector<std::string> own = field_names<BasicTrain>();
  for_each_field<TrainOptions>([&](const auto& field) {
    if (is_of_trials(field.name) && std::find(own.begin(), own.end(), field.name) == own.end())
      visit(key_of(field.name), field);
  });
}

class TrainRunner : public ScoreRunner {
 public:
  TrainRunner(const Bench& bench, const BasicTrain& given)
      : ScoreRunner(bench, {given.data_loader, {}}), options_(given.options(bench.training)) {}

  void prepare(ir::Graph& graph, const TellEpoch& tell) const override {
    bench().train(graph, options_, tell);
  }

 private:
  TrainOptions options_;
};

}  // namespace

std::vector<FieldInfo> BasicTrain::describe() {
  std::vector<FieldInfo> infos = describe_fields<BasicTrain>();
  for (FieldInfo info : describe_fields<TrainOptions>()) {
    if (!is_of_trials(info.name)) continue;
    info.name = key_of(info.name);
    info.optional = true;
    info.default_value = "NA";
    const auto same = [&](const FieldInfo& own) { return own.name == info.name; };
    if (std::none_of(infos.begin(), infos.end(), same)) infos.push_back(std::move(info));
  }
  return infos;
}

BasicTrain BasicTrain::read(const Tree& table, Diagnostics& diagnostics) {
  BasicTrain out;
  const Tree given = with_data_loader(table);
  std::vector<std::string> keys;
  for_each_setting([&](std::string_view key, const auto&) { keys.emplace_back(key); });
  read_fields(given, out, diagnostics, keys);
  TrainOptions checked;
  for_each_setting([&](std::string_view key, const auto& field) {
    const Tree* entry = given.find(key);
    if (!entry || field_detail::is_none(*entry)) return;
    if (field_detail::read_value(*entry, key, field.rules, checked.*(field.member), diagnostics))
      out.others[field.name] = *entry;
  });
  return out;
}

TrainOptions BasicTrain::options(const TrainOptions& settings) const {
  TrainOptions options = settings;
  Diagnostics checked_before;
  read_fields(others, options, checked_before);
  if (max_steps) options.max_steps = *max_steps;
  if (!num_samples) return options;
  const int steps = (*num_samples + options.batch_size - 1) / options.batch_size;
  const bool limited = options.max_steps && *options.max_steps > 0;
  options.max_steps = limited ? std::min(*options.max_steps, steps) : steps;
  return options;
}

std::unique_ptr<Runner> BasicTrain::make(const Bench& bench) const {
  return std::make_unique<TrainRunner>(bench, *this);
}

}  // namespace mase::search
