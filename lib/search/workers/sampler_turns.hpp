// SPDX-License-Identifier: Apache-2.0
// Sampler turns: which sampler chooses which trials of a study whose user went on with another one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/workers/plan.hpp"

namespace mase::search {

/// System attribute of a study: what its workers agree on.
constexpr const char* configuration_attribute = "mase:configuration";
/// System attribute of a study: its sampler turns.
constexpr const char* turns_attribute = "mase:samplers";

/// Trials from `first` on, up to the next turn's, are chosen by this sampler.
struct SamplerTurn {
  std::int64_t first = 0;
  std::string sampler;  ///< name of its row
  Tree options = Tree::dict();

  /// Error(Fault::config) when this version of the program has no such sampler.
  const samplers::SamplerRow& row() const;
  bool operator==(const SamplerTurn&) const = default;
};

/// The one turn of a study that the plan begins, as its attribute.
Tree first_turns(const Plan& plan);

/// The study's turns in ascending `first`, which is 0 for the first one. A study that says nothing
/// of them (begun by Optuna) is the plan's sampler's from the beginning. Error(Fault::file) when
/// what it says is damaged.
std::vector<SamplerTurn> sampler_turns(const storage::Study& study, const Plan& plan);

/// "tpe, random from trial 14 on".
std::string turns_text(const std::vector<SamplerTurn>& turns);

/// Makes the plan's sampler the one of all trials that are not begun yet, and says so where another
/// one chose those before. Returns the turn that is now the last.
SamplerTurn take_turn(storage::Storage& storage, const storage::Study& study, const Plan& plan);

}  // namespace mase::search
