// SPDX-License-Identifier: Apache-2.0
// Walks through the choices of neighbours with one place per table, all choices of one of them at a
// time.
#include "sharding/cost_table.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/error.hpp"

namespace mase::sharding {
namespace {

/// A table that is read or written while choices count up: how far each variable moves its place.
struct TableWalk {
  const double* costs = nullptr;
  std::vector<std::size_t> strides;  ///< one per neighbour
  std::size_t own = 0;               ///< of the variable to be eliminated
  std::size_t place = 0;
};

TableWalk walk_through(const std::vector<std::size_t>& variables, const double* costs,
                       const std::vector<std::size_t>& neighbours, std::size_t variable,
                       const ChoiceCounts& counts) {
  TableWalk walk{costs, std::vector<std::size_t>(neighbours.size(), 0)};
  std::size_t stride = 1;
  for (std::size_t i = variables.size(); i-- > 0;) {
    const std::size_t at = variables[i];
    const auto found = std::ranges::find(neighbours, at);
    if (at == variable) walk.own = stride;
    if (found != neighbours.end())
      walk.strides[static_cast<std::size_t>(found - neighbours.begin())] = stride;
    stride *= counts[at];
  }
  return walk;
}

/// The elimination of one variable.
class TableElimination {
 public:
  TableElimination(std::size_t variable, const std::vector<const CostTable*>& tables,
                   const std::vector<std::size_t>& neighbours, const ChoiceCounts& counts)
      : own_count_(counts[variable]), neighbours_(neighbours), counts_(counts) {
    for (const CostTable* table : tables)
      walks_.push_back(
          walk_through(table->variables, table->costs.data(), neighbours, variable, counts));
    walks_.push_back(walk_through(neighbours, nullptr, neighbours, variable, counts));
    choose_inner();
  }

  void run(std::vector<double>& least, std::vector<std::uint16_t>& best) {
    do take_row(least, best);
    while (step());
  }

 private:
  /// The neighbour that the fewest tables have, since the others are read once for all its choices.
  void choose_inner() {
    if (neighbours_.empty()) return;
    std::size_t fewest = walks_.size() + 1;
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      const auto having = static_cast<std::size_t>(std::ranges::count_if(
          walks_, [&](const TableWalk& walk) { return walk.strides[i] != 0; }));
      if (having >= fewest) continue;
      fewest = having;
      inner_ = i;
    }
    inner_count_ = counts_[neighbours_[inner_]];
    choices_.assign(neighbours_.size(), 0);
    row_.resize(inner_count_);
  }

  std::size_t inner_stride(const TableWalk& walk) const {
    return neighbours_.empty() ? 0 : walk.strides[inner_];
  }

  /// The best choice for each choice of the inner neighbour.
  void take_row(std::vector<double>& least, std::vector<std::uint16_t>& best) {
    const std::size_t place = walks_.back().place, stride = inner_stride(walks_.back());
    for (std::size_t choice = 0; choice < own_count_; ++choice) {
      add_up(choice);
      for (std::size_t j = 0; j < inner_count_; ++j) {
        const std::size_t at = place + j * stride;
        if (row_[j] >= least[at]) continue;
        least[at] = row_[j];
        best[at] = static_cast<std::uint16_t>(choice);
      }
    }
  }

  void add_up(std::size_t choice) {
    double same = 0;
    for (std::size_t i = 0; i + 1 < walks_.size(); ++i)
      if (const TableWalk& walk = walks_[i]; inner_stride(walk) == 0)
        same += walk.costs[walk.place + walk.own * choice];
    std::ranges::fill(row_, same);
    for (std::size_t i = 0; i + 1 < walks_.size(); ++i) {
      const std::size_t stride = inner_stride(walks_[i]);
      if (stride == 0) continue;
      const double* costs = walks_[i].costs + walks_[i].place + walks_[i].own * choice;
      for (std::size_t j = 0; j < inner_count_; ++j) row_[j] += costs[j * stride];
    }
  }

  /// The next choices of the other neighbours, with the places of all tables; false after the last.
  bool step() {
    for (std::size_t i = choices_.size(); i-- > 0;) {
      if (i == inner_) continue;
      for (TableWalk& walk : walks_) walk.place += walk.strides[i];
      if (++choices_[i] < counts_[neighbours_[i]]) return true;
      for (TableWalk& walk : walks_) walk.place -= walk.strides[i] * choices_[i];
      choices_[i] = 0;
    }
    return false;
  }

  std::size_t own_count_;
  const std::vector<std::size_t>& neighbours_;
  const ChoiceCounts& counts_;
  std::vector<TableWalk> walks_;  ///< those of the given tables, and last that of the result
  std::size_t inner_ = 0, inner_count_ = 1;
  std::vector<std::size_t> choices_;
  std::vector<double> row_ = std::vector<double>(1);
};

}  // namespace

CostTable eliminate(std::size_t variable, const std::vector<const CostTable*>& tables,
                    const ChoiceCounts& counts, Eliminated& result) {
  MASE_CHECK(counts[variable] <= std::numeric_limits<std::uint16_t>::max(), "too many choices");
  std::set<std::size_t> around;
  for (const CostTable* table : tables)
    around.insert(table->variables.begin(), table->variables.end());
  around.erase(variable);
  result.variable = variable;
  result.neighbours.assign(around.begin(), around.end());
  std::size_t size = 1;
  for (const std::size_t neighbour : around) size *= counts[neighbour];
  CostTable rest{result.neighbours,
                 std::vector<double>(size, std::numeric_limits<double>::infinity())};
  result.best.assign(size, 0);
  TableElimination(variable, tables, result.neighbours, counts).run(rest.costs, result.best);
  return rest;
}

std::size_t place_of(const std::vector<std::size_t>& variables, const ChoiceCounts& counts,
                     const std::vector<std::size_t>& choices) {
  std::size_t place = 0;
  for (const std::size_t variable : variables) place = place * counts[variable] + choices[variable];
  return place;
}

}  // namespace mase::sharding
