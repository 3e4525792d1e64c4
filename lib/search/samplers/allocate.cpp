// SPDX-License-Identifier: Apache-2.0
// Exact allocation solves the multiple-choice knapsack as a 0/1 program with CBC and checks answers
// in doubles. An answer that breaks a budget by rounding is excluded, and the search continues.
#include "search/samplers/allocate.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"
#include "search/samplers/rows.hpp"
#include "solver/binary_program.hpp"

namespace mase::samplers {
namespace {

using Choices = std::vector<std::size_t>;
using Matrix = std::vector<std::vector<double>>;

std::string place_text(std::size_t layer, std::size_t choice) {
  return "choice " + std::to_string(choice) + " of layer " + std::to_string(layer);
}

/// Refuses NaN and -inf. +inf forbids a choice.
void check_numbers(const Matrix& matrix, const std::string& what) {
  for (std::size_t i = 0; i < matrix.size(); ++i)
    for (std::size_t j = 0; j < matrix[i].size(); ++j)
      if (std::isnan(matrix[i][j]) || (std::isinf(matrix[i][j]) && matrix[i][j] < 0))
        config_error("allocation: the " + what + " of " + place_text(i, j) + " is " +
                     double_text(matrix[i][j]) + "; it must be a number, or inf to forbid it");
}

void check(const Allocation& problem) {
  check_numbers(problem.loss, "loss");
  for (std::size_t i = 0; i < problem.loss.size(); ++i)
    if (problem.loss[i].empty())
      config_error("allocation: layer " + std::to_string(i) + " has no choices");
  for (std::size_t b = 0; b < problem.budgets.size(); ++b) {
    const Allocation::Budget& budget = problem.budgets[b];
    const std::string what = "cost " + std::to_string(b);
    MASE_CHECK(budget.cost.size() == problem.loss.size(), what + " covers other layers");
    for (std::size_t i = 0; i < budget.cost.size(); ++i)
      MASE_CHECK(budget.cost[i].size() == problem.loss[i].size(), what + " covers other choices");
    check_numbers(budget.cost, what);
    if (std::isnan(budget.bound))
      config_error("allocation: the bound of budget " + std::to_string(b) + " is not a number");
  }
}

/// The largest finite magnitude, at least 1e-300. Rows are divided by it, so that the tolerances of
/// the solver become relative.
double scale_of(const Matrix& matrix) {
  double scale = 1e-300;
  for (const auto& row : matrix)
    for (const double value : row)
      if (std::isfinite(value)) scale = std::max(scale, std::fabs(value));
  return scale;
}

/// Whether all values are integers or infinite, and small enough to be added exactly.
bool is_whole(const Matrix& matrix) {
  constexpr double largest = 1e6;
  const auto whole = [](double value) {
    return std::isinf(value) || (std::fabs(value) <= largest && std::nearbyint(value) == value);
  };
  return std::all_of(matrix.begin(), matrix.end(),
                     [&](const auto& row) { return std::all_of(row.begin(), row.end(), whole); });
}

/// The divisor of losses. Integer losses are not scaled, so that CBC can use integer bounds. Other
/// losses are scaled to at most 1e4, where CBC's tolerances on reduced costs are small.
double loss_scale(const Matrix& loss) { return is_whole(loss) ? 1 : scale_of(loss) * 1e-4; }

double sum_of(const Matrix& cost, const Choices& choices) {
  double sum = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) sum += cost[i][choices[i]];
  return sum;
}

/// One column per (layer, choice), one row per layer and finite budget, and rows for the cuts.
class Program {
 public:
  explicit Program(const Allocation& problem) : problem_(problem) {
    add_columns();
    for (std::size_t i = 0; i < problem.loss.size(); ++i)
      add_row('E', 1, [&](std::size_t layer, std::size_t) { return layer == i ? 1.0 : 0.0; });
    for (const auto& budget : problem.budgets)
      if (budget.bound < HUGE_VAL) add_budget(budget);
  }

  /// The optimal choices, or nothing if the program is infeasible.
  std::optional<Choices> solve() const {
    using Status = solver::BinarySolution::Status;
    const solver::BinarySolution solution = solver::solve(program_);
    if (solution.status == Status::infeasible) return std::nullopt;
    if (solution.status == Status::out_of_time)
      throw Error(Fault::goal, "allocation: not solved within " +
                                   std::to_string(program_.limit_seconds) +
                                   " s; give fewer choices or another budget");
    if (solution.status == Status::failed)
      throw Error(Fault::internal, "allocation: the solver CBC gave up (" + solution.detail +
                                       "); scale losses and costs to similar magnitudes");
    return read(solution.values.data());
  }

  /// Excludes `choices`, which break this budget, and every allocation whose costs are nowhere
  /// smaller. A sum of doubles in fixed order never falls if a term rises, so they break it too.
  void exclude(const Allocation::Budget& budget, const Choices& choices) {
    add_row('L', static_cast<double>(choices.size()) - 1, [&](std::size_t i, std::size_t j) {
      return budget.cost[i][j] >= budget.cost[i][choices[i]] ? 1.0 : 0.0;
    });
  }

 private:
  bool is_forbidden(std::size_t layer, std::size_t choice) const {
    return std::isinf(problem_.loss[layer][choice]) ||
           std::any_of(problem_.budgets.begin(), problem_.budgets.end(), [&](const auto& budget) {
             return std::isinf(budget.cost[layer][choice]) && budget.bound < HUGE_VAL;
           });
  }

  void add_columns() {
    const double scale = loss_scale(problem_.loss);
    for (std::size_t i = 0; i < problem_.loss.size(); ++i) {
      first_.push_back(program_.columns.size());
      for (std::size_t j = 0; j < problem_.loss[i].size(); ++j)
        program_.columns.push_back(
            is_forbidden(i, j) ? solver::BinaryProgram::Column{0, 0}
                               : solver::BinaryProgram::Column{problem_.loss[i][j] / scale, 1});
    }
  }

  /// Bounds the sum, with a little slack: an answer that rounding admits is checked later, but one
  /// that rounding excludes would be lost. Integer costs add up exactly, so their bound is rounded
  /// down first: 230 is then not within the slack of a bound just below it.
  void add_budget(const Allocation::Budget& budget) {
    const double scale = std::max(scale_of(budget.cost), std::fabs(budget.bound) * 1e-3);
    const double slack = 1e-9 * static_cast<double>(budget.cost.size());
    const double bound = is_whole(budget.cost) ? std::floor(budget.bound) : budget.bound;
    add_row('L', bound / scale + slack, [&](std::size_t i, std::size_t j) {
      return std::isinf(budget.cost[i][j]) ? 0.0 : budget.cost[i][j] / scale;
    });
  }

  template <class Coefficient>
  void add_row(char sense, double bound, Coefficient&& coefficient) {
    solver::BinaryProgram::Row row{sense, bound, {}, {}};
    for (std::size_t i = 0; i < first_.size(); ++i)
      for (std::size_t j = 0; j < problem_.loss[i].size(); ++j)
        if (const double value = coefficient(i, j); value != 0) {
          row.columns.push_back(static_cast<int>(first_[i] + j));
          row.values.push_back(value);
        }
    program_.rows.push_back(std::move(row));
  }

  Choices read(const double* solution) const {
    Choices choices;
    for (std::size_t i = 0; i < first_.size(); ++i) {
      const double* first = solution + first_[i];
      const double* largest = std::max_element(first, first + problem_.loss[i].size());
      choices.push_back(static_cast<std::size_t>(largest - first));
    }
    return choices;
  }

  const Allocation& problem_;
  solver::BinaryProgram program_;
  std::vector<std::size_t> first_;  ///< the first column of each layer
};

}  // namespace

std::optional<std::vector<std::size_t>> allocate(const Allocation& problem) {
  check(problem);
  if (std::any_of(problem.budgets.begin(), problem.budgets.end(), [&](const auto& budget) {
        return budget.bound == -HUGE_VAL || (problem.loss.empty() && budget.bound < 0);
      }))
    return std::nullopt;
  if (problem.loss.empty()) return Choices{};
  static std::mutex solver;  // CBC's command interpreter keeps global state
  const std::lock_guard lock(solver);
  Program program(problem);
  while (auto choices = program.solve()) {
    const auto broken = std::find_if(
        problem.budgets.begin(), problem.budgets.end(),
        [&](const auto& budget) { return sum_of(budget.cost, *choices) > budget.bound; });
    if (broken == problem.budgets.end()) return choices;
    program.exclude(*broken, *choices);
  }
  return std::nullopt;
}

/// The answers are enqueued as trials. If one does not fit the space, a random trial replaces it.
SamplerRow allocate_row() {
  SamplerRow row = random_row();
  row.name = "allocate";
  row.doc =
      "Measures every layer's choices alone, then finds the exact best mix for several budgets.";
  row.length = StudyLength::as_enqueued;
  return row;
}

}  // namespace mase::samplers
