// SPDX-License-Identifier: Apache-2.0
// Sampler turns: which sampler chooses which trials if the user continues a study with another one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/workers/plan.hpp"

namespace mase::search {

/// System attribute of a study: the configuration that its workers share.
constexpr const char* configuration_attribute = "mase:configuration";
/// System attribute of a study: its sampler turns.
constexpr const char* turns_attribute = "mase:samplers";

/// This sampler chooses the trials from `first` up to the first one of the next turn.
struct SamplerTurn {
  std::int64_t first = 0;
  std::string sampler;  ///< name of its row
  Tree options = Tree::dict();

  /// The sampler's row. Error(Fault::config) if this version of the program has no such sampler.
  const samplers::SamplerRow& row() const;
  bool operator==(const SamplerTurn&) const = default;
};

/// The attribute of a new study, which has one turn with the plan's sampler.
Tree first_turns(const Plan& plan);

/// The study's turns in ascending `first`, which is 0 for the first turn. If the study has no turns
/// (it was created by Optuna), the plan's sampler has all trials. Error(Fault::file) if the
/// attribute is damaged.
std::vector<SamplerTurn> sampler_turns(const storage::Study& study, const Plan& plan);

/// The turns as text: "tpe, random from trial 14 on".
std::string turns_text(const std::vector<SamplerTurn>& turns);

/// Lets the plan's sampler choose all trials that have not started yet, and logs this if another
/// sampler chose the trials before. Returns the turn that is now the last.
SamplerTurn take_turn(storage::Storage& storage, const storage::Study& study, const Plan& plan);

}  // namespace mase::search
