// SPDX-License-Identifier: Apache-2.0
// Turns are stored in the study, so that every worker asks the same sampler for a trial.
#include "search/workers/sampler_turns.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

namespace mase::search {
namespace {

/// Converts options to JSON and back, as stored options were, so that equal numbers compare equal.
Tree stored_form(const Tree& options) { return parse_json(to_json(options, -1), "sampler"); }

SamplerTurn own_turn(const Plan& plan, std::int64_t first) {
  return {first, plan.options.setup.sampler_row().name, stored_form(plan.options.sampler_options)};
}

Tree to_tree(const std::vector<SamplerTurn>& turns) {
  Tree list = Tree::list();
  for (const SamplerTurn& turn : turns) {
    Tree entry = Tree::dict();
    entry["first"] = turn.first;
    entry["sampler"] = turn.sampler;
    entry["options"] = turn.options;
    list.push_back(std::move(entry));
  }
  return list;
}

bool is_same(const SamplerTurn& a, const SamplerTurn& b) {
  return a.sampler == b.sampler && a.options == b.options;
}

std::string text_of(const SamplerTurn& turn) {
  return turn.sampler + (turn.options.size() == 0 ? "" : " " + to_json(turn.options, -1));
}

SamplerTurn turn_from(const Tree& entry, const storage::Study& study) {
  const Tree *first = entry.find("first"), *sampler = entry.find("sampler"),
             *options = entry.find("options");
  if (!first || !first->is_int() || !sampler || !sampler->is_string() || !options ||
      !options->is_dict())
    file_error("study '" + study.name + "': its attribute " + turns_attribute +
               " does not tell which sampler chose which trials; name another study");
  return {first->as_int(), sampler->as_string(), *options};
}

/// Reads the turn of a study from an earlier version, which has its sampler in the configuration.
std::optional<SamplerTurn> turn_in_configuration(const storage::Study& study) {
  const Tree* configuration = study.system.find(configuration_attribute);
  const Tree* sampler = configuration ? configuration->find("sampler") : nullptr;
  const samplers::SamplerRow* row =
      sampler && sampler->is_string() ? samplers::find_sampler(sampler->as_string()) : nullptr;
  if (!row) return std::nullopt;
  const Tree* options = configuration->find("sampler_options");
  return SamplerTurn{0, row->name, options ? *options : Tree::dict()};
}

std::int64_t next_number(storage::Storage& storage, const storage::Study& study) {
  const auto& records = storage.trials(study);
  return records.empty() ? 0 : records.back().trial.number + 1;
}

}  // namespace

const samplers::SamplerRow& SamplerTurn::row() const {
  const samplers::SamplerRow* found = samplers::find_sampler(sampler);
  if (!found)
    config_error("the study's trials from " + std::to_string(first) +
                 " on are chosen by the sampler '" + sampler +
                 "', which this version does not have; name another study");
  return *found;
}

Tree first_turns(const Plan& plan) { return to_tree({own_turn(plan, 0)}); }

std::vector<SamplerTurn> sampler_turns(const storage::Study& study, const Plan& plan) {
  const Tree* stored = study.system.find(turns_attribute);
  if (!stored) return {turn_in_configuration(study).value_or(own_turn(plan, 0))};
  std::vector<SamplerTurn> turns;
  if (stored->is_list())
    for (const Tree& entry : stored->as_list()) turns.push_back(turn_from(entry, study));
  if (turns.empty()) turns.push_back(turn_from(Tree(), study));
  return turns;
}

std::string turns_text(const std::vector<SamplerTurn>& turns) {
  std::string text;
  for (const SamplerTurn& turn : turns)
    text += turn.first == 0
                ? turn.sampler
                : ", " + turn.sampler + " from trial " + std::to_string(turn.first) + " on";
  return text;
}

SamplerTurn take_turn(storage::Storage& storage, const storage::Study& study, const Plan& plan) {
  std::vector<SamplerTurn> turns = sampler_turns(study, plan);
  const SamplerTurn own = own_turn(plan, next_number(storage, study));
  if (is_same(turns.back(), own)) return turns.back();
  if (own.first > 0)
    log::info("study '" + study.name + "' continues with the sampler " + text_of(own) +
              " from trial " + std::to_string(own.first) + " on; before that it used " +
              text_of(turns.back()));
  std::erase_if(turns, [&](const SamplerTurn& turn) { return turn.first >= own.first; });
  turns.push_back(own);
  storage.set_system_attribute(study, turns_attribute, to_tree(turns));
  return own;
}

}  // namespace mase::search
