// SPDX-License-Identifier: Apache-2.0
// Predicted resources of a design: the sum of what the rows of the module table say.
#include "hardware/design/cost.hpp"

#include "hardware/design/module_table.hpp"

namespace mase::design {

Cost& Cost::operator+=(const Cost& other) {
  lut += other.lut;
  ff += other.ff;
  carry += other.carry;
  dsp += other.dsp;
  bram += other.bram;
  return *this;
}

Cost scaled(const Cost& cost, double count) {
  return {cost.lut * count, cost.ff * count, cost.carry * count, cost.dsp * count,
          cost.bram * count};
}

Cost instance_cost(const Design& design, const Instance& instance) {
  const ModuleRow& row = row_of(instance);
  return row.cost ? row.cost(design, instance) : Cost{};
}

std::map<std::string, Cost> cost_by_instance(const Design& design) {
  std::map<std::string, Cost> costs;
  for (const Instance& instance : design.instances)
    costs[instance.name] = instance_cost(design, instance);
  return costs;
}

Cost cost(const Design& design) {
  Cost total;
  for (const Instance& instance : design.instances) total += instance_cost(design, instance);
  return total;
}

}  // namespace mase::design
