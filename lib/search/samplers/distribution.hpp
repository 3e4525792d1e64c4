// SPDX-License-Identifier: Apache-2.0
// Distributions: what values one parameter of a search can take, in Optuna's three kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/tree.hpp"

namespace mase::samplers {

/// [low, high], rounded to low + k * step when there is a step; `log`: uniform in the logarithm
/// (low > 0 and no step then).
struct FloatDistribution {
  double low = 0, high = 1;
  std::optional<double> step;
  bool log = false;
  bool operator==(const FloatDistribution&) const = default;
};

/// low, low + step, ... up to high; `log`: uniform in the logarithm (low >= 1 and step 1 then).
struct IntDistribution {
  std::int64_t low = 0, high = 1, step = 1;
  bool log = false;
  bool operator==(const IntDistribution&) const = default;
};

/// One of a list of JSON scalars (null, bool, integer, float, string).
struct CategoricalDistribution {
  std::vector<Tree> choices;
  bool operator==(const CategoricalDistribution&) const = default;
};

using Distribution = std::variant<FloatDistribution, IntDistribution, CategoricalDistribution>;

/// A parameter is carried as a double everywhere, as Optuna's database does: the value itself for
/// float and int (natural scale, also with log), the index of the choice for categorical.
Tree external_value(const Distribution& distribution, double internal);
/// The inverse; nothing when the value is not one of the distribution's.
std::optional<double> internal_value(const Distribution& distribution, const Tree& external);
bool contains(const Distribution& distribution, double internal);
/// How many values there are; nothing for a float without step.
std::optional<std::int64_t> cardinality(const Distribution& distribution);
/// The index-th value, counted from the lowest; for a countable distribution.
double value_at(const Distribution& distribution, std::int64_t index);

/// Optuna's JSON shape: {"name": "IntDistribution", "attributes": {"log": false, "step": 1,
/// "low": 2, "high": 8}}.
Tree to_tree(const Distribution& distribution);
/// Reads that shape, the short one ({"type": "int", ...}) and the deprecated names (Uniform,
/// LogUniform, DiscreteUniform, IntUniform, IntLogUniform). Error(Fault::file) naming `origin`.
Distribution distribution_from(const Tree& tree, const std::string& origin);
/// Whether values of one study may stand under both: same kind, same log, same choices; ranges may
/// differ. (Optuna's rule.)
bool compatible(const Distribution& a, const Distribution& b);

}  // namespace mase::samplers
