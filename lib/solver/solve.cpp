// SPDX-License-Identifier: Apache-2.0
// Opens the solver's library on first use.
#include "base/library.hpp"
#include "solver/binary_program.hpp"

namespace mase::solver {

BinarySolution solve(const BinaryProgram& program) {
  static const auto solve_binary = reinterpret_cast<SolveBinary>(
      open_library("libmase_cbc.so", "mase_solve_binary", LibraryScope::own,
                   "the solver for exact allocation", "coinor-libcbc-dev"));
  BinarySolution solution;
  solve_binary(program, solution);
  return solution;
}

}  // namespace mase::solver
