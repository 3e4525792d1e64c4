// SPDX-License-Identifier: Apache-2.0
// Solves 0/1 programs with COIN-OR CBC through its C interface, set to close the gap completely.
#include <coin/Cbc_C_Interface.h>
#include <coin/CoinFinite.hpp>

#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "solver/binary_program.hpp"

namespace mase::solver {
namespace {

/// CBC's settings, for a search without any gap. Its default tolerances, its scaling and its
/// preprocessing can each miss the optimum by up to 1e-7 of the loss. Printing is switched off.
constexpr std::array<std::pair<const char*, const char*>, 12> settings{{
    {"log", "0"},
    {"slog", "0"},
    {"messages", "off"},
    {"timeMode", "elapsed"},
    {"ratioGap", "0"},
    {"allowableGap", "0"},
    {"increment", "1e-12"},
    {"integerTolerance", "1e-9"},
    {"primalTolerance", "1e-9"},
    {"dualTolerance", "1e-9"},
    {"preprocess", "off"},
    {"scaling", "off"},
}};

struct Deleter {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};
using Model = std::unique_ptr<Cbc_Model, Deleter>;

/// The rows of a program by columns, as CBC keeps them. It takes rows one by one as well, but moves
/// the whole matrix for each.
struct Matrix {
  std::vector<CoinBigIndex> starts;  ///< one per column, and the end
  std::vector<int> rows;
  std::vector<double> values;
};

Matrix matrix_of(const BinaryProgram& program) {
  Matrix matrix;
  matrix.starts.assign(program.columns.size() + 1, 0);
  for (const BinaryProgram::Row& row : program.rows)
    for (const int column : row.columns) ++matrix.starts[static_cast<std::size_t>(column) + 1];
  std::partial_sum(matrix.starts.begin(), matrix.starts.end(), matrix.starts.begin());
  matrix.rows.resize(static_cast<std::size_t>(matrix.starts.back()));
  matrix.values.resize(matrix.rows.size());
  std::vector<CoinBigIndex> next = matrix.starts;
  for (std::size_t i = 0; i < program.rows.size(); ++i) {
    const BinaryProgram::Row& row = program.rows[i];
    for (std::size_t k = 0; k < row.columns.size(); ++k) {
      const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(row.columns[k])]++);
      matrix.rows[place] = static_cast<int>(i);
      matrix.values[place] = row.values[k];
    }
  }
  return matrix;
}

Model make_model(const BinaryProgram& program) {
  Model model(Cbc_newModel());
  const std::vector<double> least(program.columns.size(), 0);
  std::vector<double> most, loss, row_least, row_most;
  for (const BinaryProgram::Column& column : program.columns) {
    most.push_back(column.most);
    loss.push_back(column.loss);
  }
  for (const BinaryProgram::Row& row : program.rows) {
    row_least.push_back(row.sense == 'E' ? row.bound : -COIN_DBL_MAX);
    row_most.push_back(row.bound);
  }
  const Matrix matrix = matrix_of(program);
  Cbc_loadProblem(model.get(), static_cast<int>(most.size()), static_cast<int>(row_most.size()),
                  matrix.starts.data(), matrix.rows.data(), matrix.values.data(), least.data(),
                  most.data(), loss.data(), row_least.data(), row_most.data());
  for (std::size_t i = 0; i < most.size(); ++i) Cbc_setInteger(model.get(), static_cast<int>(i));
  for (const auto& [name, value] : settings) Cbc_setParameter(model.get(), name, value);
  Cbc_setParameter(model.get(), "seconds", std::to_string(program.limit_seconds).c_str());
  return model;
}

}  // namespace
}  // namespace mase::solver

extern "C" void mase_solve_binary(const mase::solver::BinaryProgram& program,
                                  mase::solver::BinarySolution& solution) {
  using Status = mase::solver::BinarySolution::Status;
  const auto model = mase::solver::make_model(program);
  Cbc_solve(model.get());
  const double* values = Cbc_bestSolution(model.get());
  if (Cbc_isProvenInfeasible(model.get())) {
    solution.status = Status::infeasible;
  } else if (Cbc_isSecondsLimitReached(model.get())) {
    solution.status = Status::out_of_time;
  } else if (Cbc_isProvenOptimal(model.get()) && values) {
    solution.status = Status::optimal;
    solution.values.assign(values, values + program.columns.size());
  } else {
    solution.detail = "status " + std::to_string(Cbc_status(model.get())) + ", " +
                      std::to_string(Cbc_secondaryStatus(model.get()));
  }
}
