// SPDX-License-Identifier: Apache-2.0
// Uses are read off the steps. A use is on a cycle if its step is reached without it.
#include "hardware/design/building/program_uses.hpp"

namespace mase::design {
namespace {

std::size_t place(int i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<std::vector<Use>> uses_of(const integer::Program& program) {
  std::vector<std::vector<Use>> uses(program.values.size());
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    for (std::size_t p = 0; p < program.steps[s].inputs.size(); ++p)
      uses.at(static_cast<std::size_t>(program.steps[s].inputs[p]))
          .push_back({static_cast<int>(s), p});
  for (std::size_t o = 0; o < program.outputs.size(); ++o)
    uses.at(static_cast<std::size_t>(program.outputs[o])).push_back({-1, o});
  return uses;
}

Cycles::Cycles(const integer::Program& program, const std::vector<std::vector<Use>>& uses)
    : producer_(program.values.size(), -1) {
  const int steps = static_cast<int>(program.steps.size());
  for (int s = 0; s < steps; ++s) producer_[place(program.steps[place(s)].output)] = s;
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    producer_[place(program.inputs[i])] = steps + static_cast<int>(i);
  edges_.resize(program.steps.size() + program.inputs.size());
  for (std::size_t v = 0; v < uses.size(); ++v)
    for (const Use& use : uses[v]) add(static_cast<integer::ValueId>(v), use);
}

bool Cycles::contains(integer::ValueId value, const Use& use) const {
  std::vector<bool> seen(edges_.size());
  const int from = producer_[place(value)];
  std::vector<int> open{from};
  seen[place(from)] = true;
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    for (const Edge& edge : edges_[place(at)]) {
      if (edge.value == value && edge.step == use.step && edge.port == use.port) continue;
      if (edge.to == use.step) return true;
      if (!seen[place(edge.to)]) open.push_back(edge.to);
      seen[place(edge.to)] = true;
    }
  }
  return false;
}

void Cycles::add(integer::ValueId value, const Use& use) {
  if (use.step < 0) return;
  const int from = producer_[place(value)];
  edges_[place(from)].push_back({use.step, value, use.step, use.port});
  edges_[place(use.step)].push_back({from, value, use.step, use.port});
}

}  // namespace mase::design
