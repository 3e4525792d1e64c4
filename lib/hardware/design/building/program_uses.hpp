// SPDX-License-Identifier: Apache-2.0
// Where the values of a program go, and where its paths meet again.
#pragma once

#include <cstddef>
#include <vector>

#include "hardware/integer/program.hpp"

namespace mase::design {

/// Where a value goes: an input port of a step, or (step = -1) an output of the program.
struct Use {
  int step = -1;
  std::size_t port = 0;
};

/// By value, in the order of the steps; outputs come last.
std::vector<std::vector<Use>> uses_of(const integer::Program& program);

/// Tells which uses of values lie on an undirected cycle of the program: only there can one path
/// wait for another, so only there are FIFOs of any use.
class Cycles {
 public:
  Cycles(const integer::Program& program, const std::vector<std::vector<Use>>& uses);

  bool contains(integer::ValueId value, const Use& use) const;

 private:
  struct Edge {
    int to;
    integer::ValueId value;
    int step;
    std::size_t port;
  };
  void add(integer::ValueId value, const Use& use);

  std::vector<int> producer_;
  std::vector<std::vector<Edge>> edges_;
};

}  // namespace mase::design
