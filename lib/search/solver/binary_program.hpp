// SPDX-License-Identifier: Apache-2.0
// 0/1 programs and their solution.
//
// The solver itself, cbc/, is a library that is opened on first use with a scope of its own: CBC
// brings BLAS and LAPACK along, whose names would otherwise take the place of LibTorch's own, and
// with it its bits and its speed.
#pragma once

#include <string>
#include <vector>

namespace mase::solver {

/// Minimise the sum of loss[c] * x[c] over x[c] in {0, 1}, where rows hold.
struct BinaryProgram {
  /// A variable that is 0 or 1, and what it costs.
  struct Column {
    double loss = 0;
    double most = 1;  ///< 0 forbids the column
  };
  /// A linear constraint on the variables.
  struct Row {
    char sense = 'L';  ///< E equal, L less or equal
    double bound = 0;
    std::vector<int> columns;
    std::vector<double> values;  ///< one per entry of columns
  };
  std::vector<Column> columns;
  std::vector<Row> rows;
  int limit_seconds = 300;
};

/// What the solver found.
struct BinarySolution {
  enum class Status { optimal, infeasible, out_of_time, failed };
  Status status = Status::failed;
  std::vector<double> values;  ///< per column, when optimal
  std::string detail;          ///< what the solver said, when it failed
};

/// Solves to optimality. Error(Fault::file) when the solver's library cannot be opened. Not
/// reentrant: CBC's command interpreter keeps global state.
BinarySolution solve(const BinaryProgram& program);

/// What the library exports as `mase_solve_binary`, for solve() only.
using SolveBinary = void (*)(const BinaryProgram& program, BinarySolution& solution);

}  // namespace mase::solver
