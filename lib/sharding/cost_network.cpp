// SPDX-License-Identifier: Apache-2.0
// Eliminates variables while their tables stay small, and solves the rest as a 0/1 program.
#include "sharding/cost_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "sharding/cost_table.hpp"
#include "solver/binary_program.hpp"

namespace mase::sharding {
namespace {

/// The tables that are left, and what has been eliminated.
class Elimination {
 public:
  Elimination(const CostNetwork& network, const SolverOptions& options)
      : network_(network), options_(options) {
    for (std::size_t v = 0; v < network.variables.size(); ++v) {
      counts_.push_back(network.variables[v].costs.size());
      if (may_go(v)) open_.insert(v);
      add({{v}, network.variables[v].costs});
    }
    for (const CostNetwork::Pair& pair : network.pairs) add(table_of(pair));
  }

  void run() {
    while (const auto next = smallest()) take_out(*next);
  }

  /// The variables that are not eliminated.
  std::vector<std::size_t> rest() const {
    std::vector<std::size_t> left;
    for (std::size_t v = 0; v < counts_.size(); ++v)
      if (!done_.contains(v)) left.push_back(v);
    return left;
  }
  const std::list<CostTable>& tables() const { return tables_; }
  const ChoiceCounts& counts() const { return counts_; }

  /// Fills in the choices of eliminated variables, the last one first.
  void complete(std::vector<std::size_t>& choices) const {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
      choices[step->variable] = step->best[place_of(step->neighbours, counts_, choices)];
  }

 private:
  bool is_limited() const { return network_.most_weight >= 0; }

  bool may_go(std::size_t variable) const {
    return !is_limited() || network_.variables[variable].weight.empty();
  }

  CostTable table_of(const CostNetwork::Pair& pair) const {
    if (pair.first < pair.second) return {{pair.first, pair.second}, pair.costs};
    CostTable table{{pair.second, pair.first}, {}};
    const std::size_t rows = counts_[pair.first], columns = counts_[pair.second];
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < rows; ++r) table.costs.push_back(pair.costs[r * columns + c]);
    return table;
  }

  /// Adds a table, to one of the same variables if there is one.
  void add(CostTable table) {
    for (const std::size_t v : table.variables) {
      if (v >= having_.size()) having_.resize(counts_.size());
      for (const auto& known : having_[v])
        if (known->variables == table.variables) {
          for (std::size_t i = 0; i < table.costs.size(); ++i) known->costs[i] += table.costs[i];
          return;
        }
    }
    tables_.push_back(std::move(table));
    const auto place = std::prev(tables_.end());
    for (const std::size_t v : place->variables) {
      having_[v].push_back(place);
      sizes_.erase(v);
    }
  }

  /// The entries of the table over a variable and its neighbours.
  double entries(std::size_t variable) {
    const auto [place, is_new] = sizes_.try_emplace(variable, 0);
    if (!is_new) return place->second;
    std::set<std::size_t> around;
    for (const auto& table : having_[variable])
      around.insert(table->variables.begin(), table->variables.end());
    double product = 1;
    for (const std::size_t v : around) product *= static_cast<double>(counts_[v]);
    // The tables of a limited network go to the program, which takes them only if they are pairs.
    const bool too_wide = is_limited() && around.size() > 3;
    return place->second = too_wide ? std::numeric_limits<double>::infinity() : product;
  }

  std::optional<std::size_t> smallest() {
    std::optional<std::size_t> found;
    double least = options_.most_entries;
    for (const std::size_t v : open_) {
      const double size = entries(v);
      if (size > least || (found && size == least)) continue;
      least = size;
      found = v;
    }
    return found;
  }

  void take_out(std::size_t variable) {
    std::vector<const CostTable*> given;
    for (const auto& table : having_[variable]) given.push_back(&*table);
    Eliminated step;
    CostTable rest = eliminate(variable, given, counts_, step);
    const auto gone = having_[variable];
    for (const auto& table : gone) {
      for (const std::size_t v : table->variables) {
        std::erase(having_[v], table);
        sizes_.erase(v);
      }
      tables_.erase(table);
    }
    open_.erase(variable);
    done_.insert(variable);
    steps_.push_back(std::move(step));
    add(std::move(rest));
  }

  using Place = std::list<CostTable>::iterator;
  const CostNetwork& network_;
  const SolverOptions& options_;
  ChoiceCounts counts_;
  std::list<CostTable> tables_;
  std::vector<std::vector<Place>> having_;  ///< the tables of each variable
  std::set<std::size_t> open_, done_;
  std::map<std::size_t, double> sizes_;  ///< entries, where they are known
  std::vector<Eliminated> steps_;
};

/// The 0/1 program of what is left: a column per choice, and one per entry of a table, whose sums
/// over the entries with a choice equal the column of the choice.
class RestProgram {
 public:
  RestProgram(const CostNetwork& network, const Elimination& elimination,
              const SolverOptions& options)
      : network_(network), elimination_(elimination) {
    program_.limit_seconds = options.limit_seconds;
    first_.resize(network.variables.size(), 0);
    for (const std::size_t v : elimination.rest()) add_variable(v);
    for (const CostTable& table : elimination.tables()) add_table(table);
    if (network.most_weight >= 0) add_limit();
    scale();
  }

  /// False if there is no assignment.
  bool solve(std::vector<std::size_t>& choices) const {
    using Status = solver::BinarySolution::Status;
    const solver::BinarySolution solution = solver::solve(program_);
    if (solution.status == Status::infeasible) return false;
    if (solution.status != Status::optimal)
      unsupported_error("the 0/1 program of " + std::to_string(program_.columns.size()) +
                        " variables was not solved within " +
                        std::to_string(program_.limit_seconds) +
                        " s; take a greater device_memory, or a smaller mesh");
    for (const std::size_t v : elimination_.rest())
      for (std::size_t choice = 0; choice < elimination_.counts()[v]; ++choice)
        if (solution.values[first_[v] + choice] > 0.5) choices[v] = choice;
    return true;
  }

 private:
  std::size_t add_column(double loss) {
    program_.columns.push_back({std::isfinite(loss) ? loss : 0.0, std::isfinite(loss) ? 1.0 : 0.0});
    return program_.columns.size() - 1;
  }

  void add_variable(std::size_t variable) {
    first_[variable] = program_.columns.size();
    solver::BinaryProgram::Row one{'E', 1, {}, {}};
    for (std::size_t choice = 0; choice < elimination_.counts()[variable]; ++choice) {
      one.columns.push_back(static_cast<int>(add_column(0)));
      one.values.push_back(1);
    }
    program_.rows.push_back(std::move(one));
  }

  void add_table(const CostTable& table) {
    if (table.variables.empty()) return;
    if (table.variables.size() == 1) return add_costs(table);
    const std::size_t first = program_.columns.size();
    for (const double cost : table.costs) add_column(cost);
    std::size_t stride = table.costs.size();
    for (const std::size_t v : table.variables) {
      const std::size_t count = elimination_.counts()[v];
      stride /= count;
      for (std::size_t choice = 0; choice < count; ++choice) {
        solver::BinaryProgram::Row row{'E', 0, {static_cast<int>(first_[v] + choice)}, {-1}};
        for (std::size_t entry = 0; entry < table.costs.size(); ++entry) {
          if (entry / stride % count != choice || std::isinf(table.costs[entry])) continue;
          row.columns.push_back(static_cast<int>(first + entry));
          row.values.push_back(1);
        }
        program_.rows.push_back(std::move(row));
      }
    }
  }

  void add_costs(const CostTable& table) {
    for (std::size_t choice = 0; choice < table.costs.size(); ++choice) {
      solver::BinaryProgram::Column& column =
          program_.columns[first_[table.variables.front()] + choice];
      if (std::isinf(table.costs[choice])) column.most = 0;
      if (std::isfinite(table.costs[choice])) column.loss += table.costs[choice];
    }
  }

  void add_limit() {
    solver::BinaryProgram::Row row{'L', 1, {}, {}};
    for (const std::size_t v : elimination_.rest()) {
      const std::vector<double>& weight = network_.variables[v].weight;
      for (std::size_t choice = 0; choice < weight.size(); ++choice) {
        if (weight[choice] == 0) continue;
        row.columns.push_back(static_cast<int>(first_[v] + choice));
        row.values.push_back(weight[choice] / std::max(network_.most_weight, 1e-300));
      }
    }
    if (!row.columns.empty()) program_.rows.push_back(std::move(row));
  }

  /// Losses of about 1, since the solver's tolerances are absolute.
  void scale() {
    double most = 0;
    for (const auto& column : program_.columns) most = std::max(most, std::fabs(column.loss));
    for (auto& column : program_.columns)
      if (most > 0) column.loss /= most;
  }

  const CostNetwork& network_;
  const Elimination& elimination_;
  solver::BinaryProgram program_;
  std::vector<std::size_t> first_;  ///< the first column of each variable
};

double cost_of(const CostNetwork& network, const std::vector<std::size_t>& choices) {
  double cost = 0;
  for (std::size_t v = 0; v < choices.size(); ++v) cost += network.variables[v].costs[choices[v]];
  for (const CostNetwork::Pair& pair : network.pairs)
    cost += pair.costs[choices[pair.first] * network.variables[pair.second].costs.size() +
                       choices[pair.second]];
  return cost;
}

}  // namespace

Assignment cheapest(const CostNetwork& network, const SolverOptions& options) {
  Elimination elimination(network, options);
  elimination.run();
  Assignment found;
  found.choices.assign(network.variables.size(), 0);
  const std::vector<std::size_t> rest = elimination.rest();
  found.in_program = rest.size();
  if (!rest.empty() && !RestProgram(network, elimination, options).solve(found.choices))
    return found;
  elimination.complete(found.choices);
  found.cost = cost_of(network, found.choices);
  found.exists = std::isfinite(found.cost);
  return found;
}

}  // namespace mase::sharding
