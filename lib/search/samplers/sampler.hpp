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

/// Other trials in ascending number, in any state. The caller vouches that the first `settled` are
/// the same in every call to one sampler, as finished trials of a study are: what they say need not
/// be found out again.
struct History {
  History() = default;
  History(std::span<const Trial> all, std::size_t fixed) : trials(all), settled(fixed) {}
  History(const std::vector<Trial>& all) : trials(all) {}
  History(std::span<const Trial> all) : trials(all) {}
  History(std::span<Trial> all) : trials(all) {}
  std::span<const Trial> trials;
  std::size_t settled = 0;
};

/// A sampler is a pure function: the same problem, options, history and number give the same
/// suggestion, in any process. Randomness comes from Random(seed, number); caches must not show.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Parameters of trial `number`. Running trials of the history may have parameters already.
  /// Trials begun elsewhere may lack parameters of the space or hold values outside of it: such
  /// trials do not count for these dimensions.
  virtual Suggestion suggest(const History& history, std::int64_t number) = 0;
  /// What a sampler of another seed says to the history and number of the last `suggest`; nothing
  /// where that needs a sampler of its own.
  virtual std::optional<Suggestion> suggest_again(std::uint64_t) { return std::nullopt; }
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
