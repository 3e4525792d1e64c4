// SPDX-License-Identifier: Apache-2.0
// 0/1 programs and their solutions.
//
// The solver, cbc/, is a library that is opened on first use with a local scope. CBC comes with
// BLAS and LAPACK, whose symbols would otherwise replace LibTorch's own, and so change its results
// and its speed.
#pragma once

#include <string>
#include <vector>

namespace mase::solver {

/// A program: minimise the sum of loss[c] * x[c] over x[c] in {0, 1} such that all rows hold.
struct BinaryProgram {
  /// A variable that is 0 or 1, and its loss.
  struct Column {
    double loss = 0;
    double most = 1;  ///< 0 forbids the column
  };
  /// A linear constraint on the variables.
  struct Row {
    char sense = 'L';  ///< E for equal, L for less or equal
    double bound = 0;
    std::vector<int> columns;
    std::vector<double> values;  ///< one per entry of columns
  };
  std::vector<Column> columns;
  std::vector<Row> rows;
  int limit_seconds = 300;
};

/// The result of the solver.
struct BinarySolution {
  enum class Status { optimal, infeasible, out_of_time, failed };
  Status status = Status::failed;
  std::vector<double> values;  ///< one per column, if optimal
  std::string detail;          ///< message of the solver, if it failed
};

/// Solves to optimality. Error(Fault::file) if the solver's library cannot be opened. Not
/// reentrant, because CBC's command interpreter has global state.
BinarySolution solve(const BinaryProgram& program);

/// The function that the library exports as `mase_solve_binary`, for use by solve() only.
using SolveBinary = void (*)(const BinaryProgram& program, BinarySolution& solution);

}  // namespace mase::solver
