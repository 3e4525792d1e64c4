// SPDX-License-Identifier: Apache-2.0
// Predicted resources of a design: the sum of what the rows of the module table say.
#include "hardware/design/cost.hpp"

#include "hardware/design/module_table.hpp"

namespace mase::design {

Cost& Cost::operator+=(const Cost& other) {
  for (const Resource& resource : resources) this->*resource.amount += other.*resource.amount;
  return *this;
}

Tree cost_tree(const Cost& cost, std::string_view Resource::*name) {
  Tree tree = Tree::dict();
  for (const Resource& resource : resources)
    tree[std::string(resource.*name)] = cost.*resource.amount;
  return tree;
}

Cost scaled(Cost cost, double count) {
  for (const Resource& resource : resources) cost.*resource.amount *= count;
  return cost;
}

Cost instance_cost(const Design& design, const Instance& instance) {
  return instance.module->cost(design);
}

std::map<std::string, Cost> cost_by_instance(const Design& design) {
  std::map<std::string, Cost> costs;
  for (const Instance& instance : design.instances)
    costs[instance.name] = instance_cost(design, instance);
  return costs;
}

Cost device_cost(const Design& design, int device) {
  Cost total;
  for (const Instance& instance : design.instances)
    if (instance.device == device) total += instance_cost(design, instance);
  return total;
}

Cost cost(const Design& design) {
  Cost total;
  for (const Instance& instance : design.instances) total += instance_cost(design, instance);
  return total;
}

}  // namespace mase::design
