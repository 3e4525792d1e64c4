// SPDX-License-Identifier: Apache-2.0
// Choices whose costs depend on each other in pairs, and the cheapest choices of all.
#pragma once

#include <string>
#include <vector>

namespace mase::sharding {

/// Variables, each with some choices. The cost of an assignment is the sum of the costs of the
/// choices and of the pairs of choices; infinity forbids a choice or a pair.
struct CostNetwork {
  struct Variable {
    std::vector<double> costs;   ///< one per choice
    std::vector<double> weight;  ///< one per choice, or empty for a variable that weighs nothing
  };
  struct Pair {
    std::size_t first = 0, second = 0;
    std::vector<double> costs;  ///< [choices of first, choices of second], in row-major order
  };
  std::vector<Variable> variables;
  std::vector<Pair> pairs;
  /// The weights of all choices together may not be greater; negative for no limit.
  double most_weight = -1;
};

/// The cheapest assignment.
struct Assignment {
  bool exists = false;
  std::vector<std::size_t> choices;  ///< one per variable
  double cost = 0;
  std::size_t in_program = 0;  ///< variables that the 0/1 program had to decide
};

/// How far variables are eliminated before the 0/1 program takes the rest.
struct SolverOptions {
  double most_entries = 4e7;  ///< that an elimination reads: a variable with its neighbours
  int limit_seconds = 300;    ///< for the 0/1 program
};

/// Finds the cheapest assignment. Variables are eliminated one by one (Bertele and Brioschi 1972,
/// "Nonserial Dynamic Programming"): the best choice of one is tabulated for all choices of its
/// neighbours, which then share a table of costs. This is exact, and takes a transformer, whose
/// blocks are a chain, in time that grows with the number of blocks. Tensors that all blocks read
/// are neighbours of each and go last, for which tables may be large. Variables that weigh
/// something under a limit, and those with too many neighbours, go to a 0/1 program in the form of
/// Alpa (OSDI 2022, section 4.2), with a variable per choice and one per entry of a table.
/// Error(Fault::unsupported) if the program is not solved in time.
Assignment cheapest(const CostNetwork& network, const SolverOptions& options = {});

}  // namespace mase::sharding
