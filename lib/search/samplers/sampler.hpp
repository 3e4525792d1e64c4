// SPDX-License-Identifier: Apache-2.0
// Sampler: chooses the next parameters from what is known. One row per algorithm.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/field.hpp"
#include "search/samplers/trial.hpp"

namespace mase::samplers {

/// What is searched.
struct Problem {
  Space space;
  std::vector<Direction> directions;  ///< one per objective
  std::uint64_t seed = 0;
};

/// What a trial is to try.
struct Suggestion {
  Params params;
  Tree attributes = Tree::dict();  ///< system attributes that the trial is to carry
};

/// A sampler is a pure function: the same problem, options, history and number give the same
/// suggestion, in any process. Randomness comes from Random(seed, number); caches must not show.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Parameters of trial `number`. `history`: other trials in ascending number, in any state;
  /// running ones may have parameters already. Trials begun elsewhere may lack parameters of the
  /// space or hold values outside of it: such trials do not count for these dimensions.
  virtual Suggestion suggest(std::span<const Trial> history, std::int64_t number) = 0;
};

/// How many trials a study has.
enum class StudyLength {
  as_asked,     ///< n_trials
  whole_space,  ///< one per configuration
  as_enqueued,  ///< one per parameter set that was enqueued before the first trial
};

/// One algorithm: its names, options and maker.
struct SamplerRow {
  std::string name;
  std::string doc;  ///< one sentence with the source of the algorithm
  std::vector<FieldInfo> fields;
  void (*check)(const Tree& options, Diagnostics& diagnostics);
  std::unique_ptr<Sampler> (*make)(const Problem& problem, const Tree& options);
  StudyLength length = StudyLength::as_asked;
  std::vector<std::string> other_names = {};
};

const std::vector<SamplerRow>& sampler_table();
/// By any of its names; nullptr for others.
const SamplerRow* find_sampler(std::string_view name);
/// All names of all samplers, or of those whose studies have this length.
std::vector<std::string_view> sampler_names(std::optional<StudyLength> length = std::nullopt);

}  // namespace mase::samplers
