// SPDX-License-Identifier: Apache-2.0
// Counts and numbers the configurations of a conditional space, and finds its groups.
#include "search/samplers/space.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace mase::samplers {
namespace {

constexpr std::int64_t count_limit = std::int64_t{1} << 62;

/// A number of configurations; nothing if it is infinite or above the limit.
using Count = std::optional<std::int64_t>;

Count times(Count a, Count b) {
  std::int64_t product = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product) || product > count_limit)
    return std::nullopt;
  return product;
}

Count plus(Count a, Count b) {
  if (!a || !b || *a + *b > count_limit) return std::nullopt;  // both are at most 2^62
  return *a + *b;
}

/// The sizes of the trees of conditions. A tree is a dimension with all dimensions below it.
class Counter {
 public:
  explicit Counter(const Space& space) : space_(space), tree_(space.size()) {
    // Children come after their parents, so going backwards their counts are known.
    for (std::size_t i = space.size(); i-- > 0;) tree_[i] = count_tree(i);
  }

  /// The number of ways to continue after dimensions 0 .. next-1 are decided. A dimension with an
  /// undecided parent is counted in the parent's tree.
  Count completions(std::size_t next, const Params& params) const {
    Count count = 1;
    for (std::size_t i = next; i < space_.size(); ++i)
      if (is_decided(i, next) && is_active(space_[i], params)) count = times(count, tree_[i]);
    return count;
  }

  bool has_children(std::size_t index) const {
    return std::any_of(space_.begin(), space_.end(), [&](const Dimension& dimension) {
      return dimension.condition && dimension.condition->parent == space_[index].name;
    });
  }

 private:
  bool is_decided(std::size_t index, std::size_t next) const {
    if (!space_[index].condition) return true;
    return std::any_of(space_.begin(), space_.begin() + static_cast<std::ptrdiff_t>(next),
                       [&](const Dimension& dimension) {
                         return dimension.name == space_[index].condition->parent;
                       });
  }

  bool is_child(const Dimension& dimension, std::size_t parent) const {
    return dimension.condition && dimension.condition->parent == space_[parent].name;
  }

  /// The sum, over the values of `index`, of the product of the trees that the value activates.
  Count count_tree(std::size_t index) const {
    const Count values = cardinality(space_[index].distribution);
    if (!values || *values > count_limit) return std::nullopt;
    const std::set<double> special = deciding_values(index);
    Count count = *values - static_cast<std::int64_t>(special.size());
    for (double value : special) count = plus(count, below(index, value));
    return count;
  }

  /// The values of a dimension that activate another dimension.
  std::set<double> deciding_values(std::size_t index) const {
    std::set<double> values;
    for (const Dimension& dimension : space_)
      if (is_child(dimension, index))
        for (double value : dimension.condition->values)
          if (contains(space_[index].distribution, value)) values.insert(value);
    return values;
  }

  Count below(std::size_t index, double value) const {
    Count count = 1;
    for (std::size_t i = index + 1; i < space_.size(); ++i)
      if (is_child(space_[i], index) && space_[i].condition->values.contains(value))
        count = times(count, tree_[i]);
    return count;
  }

  const Space& space_;
  std::vector<Count> tree_;
};

/// Sets dimension i to its value in configuration `index`. Returns the index among the
/// configurations that start with these values.
std::int64_t decide(const Space& space, const Counter& counter, std::size_t i, std::int64_t index,
                    Params& params) {
  const Distribution& distribution = space[i].distribution;
  double& value = params[space[i].name];
  value = value_at(distribution, 0);
  if (!counter.has_children(i)) {
    const std::int64_t rest = *counter.completions(i + 1, params);
    value = value_at(distribution, index / rest);
    return index % rest;
  }
  for (std::int64_t k = 0;; ++k) {
    value = value_at(distribution, k);
    const std::int64_t rest = *counter.completions(i + 1, params);
    if (index < rest) return index;
    index -= rest;
  }
}

}  // namespace

bool is_active(const Dimension& dimension, const Params& params) {
  if (!dimension.condition) return true;
  const auto parent = params.find(dimension.condition->parent);
  return parent != params.end() && dimension.condition->values.contains(parent->second);
}

Params first_configuration(const Space& space) {
  Params params;
  for (const Dimension& dimension : space)
    if (is_active(dimension, params)) params[dimension.name] = value_at(dimension.distribution, 0);
  return params;
}

std::optional<std::int64_t> configurations(const Space& space) {
  return Counter(space).completions(0, {});
}

Params configuration_at(const Space& space, std::int64_t index) {
  const Counter counter(space);
  const Count total = counter.completions(0, {});
  MASE_CHECK(total && 0 <= index && index < *total, "a configuration outside of the space");
  Params params;
  for (std::size_t i = 0; i < space.size(); ++i)
    if (is_active(space[i], params)) index = decide(space, counter, i, index, params);
  return params;
}

std::vector<std::vector<std::size_t>> groups(const Space& space) {
  // Equal conditions name the same parent, so the rest of the chain is equal too; and in the order
  // of first members a parent's group comes before its children's.
  std::vector<std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const auto group = std::find_if(out.begin(), out.end(), [&](const auto& members) {
      return space[members.front()].condition == space[i].condition;
    });
    if (group == out.end())
      out.push_back({i});
    else
      group->push_back(i);
  }
  return out;
}

}  // namespace mase::samplers
