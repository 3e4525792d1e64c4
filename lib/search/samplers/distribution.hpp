// SPDX-License-Identifier: Apache-2.0
// Distributions: the values that a parameter of a search can take, in Optuna's three kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/tree.hpp"

namespace mase::samplers {

/// The range [low, high], rounded to low + k * step if there is a step. `log` means uniform in the
/// logarithm (then low > 0 and there is no step).
struct FloatDistribution {
  double low = 0, high = 1;
  std::optional<double> step;
  bool log = false;
  bool operator==(const FloatDistribution&) const = default;
};

/// low, low + step, ... up to high. `log` means uniform in the logarithm (then low >= 1, step 1).
struct IntDistribution {
  std::int64_t low = 0, high = 1, step = 1;
  bool log = false;
  bool operator==(const IntDistribution&) const = default;
};

/// A choice from a list of JSON scalars (null, bool, integer, float, string).
struct CategoricalDistribution {
  std::vector<Tree> choices;
  bool operator==(const CategoricalDistribution&) const = default;
};

using Distribution = std::variant<FloatDistribution, IntDistribution, CategoricalDistribution>;

/// The external value of a parameter. Internally every parameter is a double, as in Optuna's
/// database: the value itself for float and int (even with log), the index for categorical.
Tree external_value(const Distribution& distribution, double internal);
/// The internal value of an external one; nothing if the distribution does not have it.
std::optional<double> internal_value(const Distribution& distribution, const Tree& external);
bool contains(const Distribution& distribution, double internal);
/// The number of values; nothing for a float without step.
std::optional<std::int64_t> cardinality(const Distribution& distribution);
/// The value with this index, counted from the lowest, in a countable distribution.
double value_at(const Distribution& distribution, std::int64_t index);

/// Writes Optuna's JSON form: {"name": "IntDistribution", "attributes": {"log": false, "step": 1,
/// "low": 2, "high": 8}}.
Tree to_tree(const Distribution& distribution);
/// Reads that form, the short form ({"type": "int", ...}) and the deprecated names (Uniform,
/// LogUniform, DiscreteUniform, IntUniform, IntLogUniform). Error(Fault::file) that names `origin`.
Distribution distribution_from(const Tree& tree, const std::string& origin);
/// Whether a study may use both for one parameter: they have the same kind, log and choices, but
/// possibly different ranges (Optuna's rule).
bool compatible(const Distribution& a, const Distribution& b);

}  // namespace mase::samplers
