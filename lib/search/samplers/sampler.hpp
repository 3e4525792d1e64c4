// SPDX-License-Identifier: Apache-2.0
// A Sampler chooses the next parameters from the history. The table has a row per algorithm.
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

/// The problem that a search solves.
struct Problem {
  Space space;
  std::vector<Direction> directions;  ///< one per objective
  std::uint64_t seed = 0;
};

/// The parameters that a trial should try.
struct Suggestion {
  Params params;
  Tree attributes = Tree::dict();  ///< system attributes for the trial
};

/// The other trials in ascending number, in any state. The caller guarantees that the first
/// `settled` trials are the same in every call to a sampler, as finished trials of a study are, so
/// that they need not be processed again.
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
/// suggestion in any process. Randomness comes from Random(seed, number); caches have no effect.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Suggests the parameters of trial `number`. Running trials in the history may have parameters.
  /// Trials from elsewhere may lack parameters of the space, or have values outside it; they do not
  /// count for these dimensions.
  virtual Suggestion suggest(const History& history, std::int64_t number) = 0;
  /// The suggestion of a sampler with another seed, for the history and number of the last
  /// `suggest`. Nothing if this needs a separate sampler.
  virtual std::optional<Suggestion> suggest_again(std::uint64_t) { return std::nullopt; }
};

/// How the number of trials of a study is determined.
enum class StudyLength {
  as_asked,     ///< n_trials
  whole_space,  ///< one per configuration
  as_enqueued,  ///< one per parameter set enqueued before the first trial
};

/// A sampling algorithm: its names, its options and the function that makes its sampler.
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
/// The sampler with this name or alias; nullptr if there is none.
const SamplerRow* find_sampler(std::string_view name);
/// All names of all samplers, or only of those whose studies have this length.
std::vector<std::string_view> sampler_names(std::optional<StudyLength> length = std::nullopt);

}  // namespace mase::samplers
