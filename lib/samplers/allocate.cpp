// Exact allocation: the multiple-choice knapsack as a 0/1 program for GLPK, whose answers are
// checked in doubles; an answer that breaks a budget by rounding is cut off and the search goes on.
#include "samplers/allocate.hpp"

#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::samplers {

namespace {

constexpr int limit_seconds = 300;

using Choices = std::vector<std::size_t>;
using Matrix = std::vector<std::vector<double>>;

std::string place_text(std::size_t layer, std::size_t choice) {
  return "choice " + std::to_string(choice) + " of layer " + std::to_string(layer);
}

/// +inf forbids a choice; NaN and -inf mean nothing.
void check_numbers(const Matrix& matrix, const std::string& what) {
  for (std::size_t i = 0; i < matrix.size(); ++i)
    for (std::size_t j = 0; j < matrix[i].size(); ++j)
      if (std::isnan(matrix[i][j]) || (std::isinf(matrix[i][j]) && matrix[i][j] < 0))
        config_error("allocation: the " + what + " of " + place_text(i, j) + " is " +
                     double_text(matrix[i][j]) + "; a number is wanted, or inf to forbid it");
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
      config_error("allocation: the bound of budget " + std::to_string(b) + " is no number");
  }
}

/// Largest finite magnitude, at least 1e-300: rows are divided by it, so that the solver's
/// tolerances are relative ones.
double scale_of(const Matrix& matrix) {
  double scale = 1e-300;
  for (const auto& row : matrix)
    for (const double value : row)
      if (std::isfinite(value)) scale = std::max(scale, std::fabs(value));
  return scale;
}

/// Whole losses stay as they are: GLPK then cuts its search at whole bounds.
double loss_scale(const Matrix& loss) {
  constexpr double largest = 1e6;
  const auto is_whole = [](double value) {
    return std::isinf(value) || (std::fabs(value) <= largest && std::nearbyint(value) == value);
  };
  const bool whole = std::all_of(loss.begin(), loss.end(), [&](const auto& row) {
    return std::all_of(row.begin(), row.end(), is_whole);
  });
  return whole ? 1 : scale_of(loss);
}

double sum_of(const Matrix& cost, const Choices& choices) {
  double sum = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) sum += cost[i][choices[i]];
  return sum;
}

/// One column per (layer, choice), one row per layer and finite budget, and rows for the cuts.
class Program {
 public:
  explicit Program(const Allocation& problem) : problem_(problem), program_(glp_create_prob()) {
    glp_set_obj_dir(program_.get(), GLP_MIN);
    add_columns();
    for (std::size_t i = 0; i < problem.loss.size(); ++i)
      add_row(GLP_FX, 1, [&](std::size_t layer, std::size_t) { return layer == i ? 1.0 : 0.0; });
    for (const auto& budget : problem.budgets)
      if (budget.bound < HUGE_VAL) add_budget(budget);
  }

  /// The optimum; nothing when there is none.
  std::optional<Choices> solve() {
    if (!solve_relaxation()) return std::nullopt;
    glp_iocp options;
    glp_init_iocp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.cov_cuts = GLP_ON;
    options.tm_lim = 1000 * limit_seconds;
    options.tol_int = 1e-9;
    options.tol_obj = 1e-12;
    const int code = glp_intopt(program_.get(), &options);
    const int status = glp_mip_status(program_.get());
    if (code == 0 && status == GLP_NOFEAS) return std::nullopt;
    if (code == GLP_ETMLIM)
      throw Error(Fault::goal, "allocation: not solved within " + std::to_string(limit_seconds) +
                                   " s; fewer choices or another budget would help");
    if (code != 0 || status != GLP_OPT) fail("glp_intopt", code, status);
    return read();
  }

  /// Excludes every allocation that costs nowhere less in this budget than `choices`, which break
  /// it. A sum of doubles in fixed order never falls when a term rises, so these break it too.
  void exclude(const Allocation::Budget& budget, const Choices& choices) {
    add_row(GLP_UP, static_cast<double>(choices.size()) - 1, [&](std::size_t i, std::size_t j) {
      return budget.cost[i][j] >= budget.cost[i][choices[i]] ? 1.0 : 0.0;
    });
  }

 private:
  struct Deleter {
    void operator()(glp_prob* program) const { glp_delete_prob(program); }
  };

  bool is_forbidden(std::size_t layer, std::size_t choice) const {
    return std::isinf(problem_.loss[layer][choice]) ||
           std::any_of(problem_.budgets.begin(), problem_.budgets.end(), [&](const auto& budget) {
             return std::isinf(budget.cost[layer][choice]) && budget.bound < HUGE_VAL;
           });
  }

  void add_columns() {
    const double scale = loss_scale(problem_.loss);
    for (std::size_t i = 0; i < problem_.loss.size(); ++i) {
      first_.push_back(glp_add_cols(program_.get(), static_cast<int>(problem_.loss[i].size())));
      for (std::size_t j = 0; j < problem_.loss[i].size(); ++j) {
        const int column = column_of(i, j);
        glp_set_col_kind(program_.get(), column, GLP_BV);
        if (is_forbidden(i, j))
          glp_set_col_bnds(program_.get(), column, GLP_FX, 0, 0);
        else
          glp_set_obj_coef(program_.get(), column, problem_.loss[i][j] / scale);
      }
    }
  }

  /// The sum within the bound, and a little more: what rounding lets through is checked later, what
  /// it took away would be lost.
  void add_budget(const Allocation::Budget& budget) {
    const double scale = std::max(scale_of(budget.cost), std::fabs(budget.bound) * 1e-3);
    const double slack = 1e-9 * static_cast<double>(budget.cost.size());
    add_row(GLP_UP, budget.bound / scale + slack, [&](std::size_t i, std::size_t j) {
      return std::isinf(budget.cost[i][j]) ? 0.0 : budget.cost[i][j] / scale;
    });
  }

  template <class Coefficient>
  void add_row(int kind, double bound, Coefficient&& coefficient) {
    std::vector<int> columns{0};  // GLPK counts from 1
    std::vector<double> values{0};
    for (std::size_t i = 0; i < first_.size(); ++i)
      for (std::size_t j = 0; j < problem_.loss[i].size(); ++j)
        if (const double value = coefficient(i, j); value != 0) {
          columns.push_back(column_of(i, j));
          values.push_back(value);
        }
    const int row = glp_add_rows(program_.get(), 1);
    glp_set_row_bnds(program_.get(), row, kind, kind == GLP_UP ? 0 : bound, bound);
    glp_set_mat_row(program_.get(), row, static_cast<int>(columns.size()) - 1, columns.data(),
                    values.data());
  }

  bool solve_relaxation() {
    glp_std_basis(program_.get());
    glp_smcp options;
    glp_init_smcp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.tol_bnd = options.tol_dj = 1e-9;
    const int code = glp_simplex(program_.get(), &options);
    const int status = glp_get_status(program_.get());
    if (code == 0 && (status == GLP_NOFEAS || status == GLP_INFEAS)) return false;
    if (code != 0 || status != GLP_OPT) fail("glp_simplex", code, status);
    return true;
  }

  Choices read() const {
    Choices choices;
    for (std::size_t i = 0; i < first_.size(); ++i) {
      const auto value = [&](std::size_t j) {
        return glp_mip_col_val(program_.get(), column_of(i, j));
      };
      std::size_t best = 0;
      for (std::size_t j = 1; j < problem_.loss[i].size(); ++j)
        if (value(j) > value(best)) best = j;
      choices.push_back(best);
    }
    return choices;
  }

  int column_of(std::size_t layer, std::size_t choice) const {
    return first_[layer] + static_cast<int>(choice);
  }

  [[noreturn]] static void fail(const std::string& function, int code, int status) {
    throw Error(Fault::internal, "allocation: the solver GLPK gave up (" + function + " returned " +
                                     std::to_string(code) + ", status " + std::to_string(status) +
                                     "); scale losses and costs to similar magnitudes");
  }

  const Allocation& problem_;
  std::unique_ptr<glp_prob, Deleter> program_;
  std::vector<int> first_;  ///< the first column of each layer
};

}  // namespace

std::optional<std::vector<std::size_t>> allocate(const Allocation& problem) {
  check(problem);
  if (std::any_of(problem.budgets.begin(), problem.budgets.end(), [&](const auto& budget) {
        return budget.bound == -HUGE_VAL || (problem.loss.empty() && budget.bound < 0);
      }))
    return std::nullopt;
  if (problem.loss.empty())
    return Choices{};        // GLPK ends the process for a program without columns
  static std::mutex solver;  // GLPK keeps global state
  const std::lock_guard lock(solver);
  glp_term_out(GLP_OFF);
  Program program(problem);
  while (const auto choices = program.solve()) {
    const auto broken = std::find_if(
        problem.budgets.begin(), problem.budgets.end(),
        [&](const auto& budget) { return sum_of(budget.cost, *choices) > budget.bound; });
    if (broken == problem.budgets.end()) return choices;
    program.exclude(*broken, *choices);
  }
  return std::nullopt;
}

}  // namespace mase::samplers
