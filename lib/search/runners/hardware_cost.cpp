// SPDX-License-Identifier: Apache-2.0
// Takes the predictions of the pass. A float model has no datapath, so there is no baseline.
#include "search/runners/hardware_cost.hpp"

#include "hardware/design/add_hardware_metadata.hpp"

namespace mase::search {
namespace {

using design::AddHardwareMetadata;

class CostRunner : public PassRunner {
 public:
  CostRunner(const Bench& bench, const Tree& options)
      : PassRunner(bench, {std::string(AddHardwareMetadata::doc.name), options, {}}) {}

  Tree measure(ir::Graph& graph, const TrialInput& trial) const override {
    const Tree found = info(graph, trial.own);
    Tree values = Tree::dict();
    values["latency"] = found.at("last");
    values["initiation_interval"] = found.at("interval");
    for (const char* resource : {"lut", "ff", "dsp", "bram"})
      values[resource] = found.at("total").at(resource);
    for (const char* speed : {"fmax", "throughput"}) values[speed] = found.at(speed);
    return values;
  }
};

}  // namespace

std::vector<FieldInfo> HardwareCost::describe() {
  return describe_fields<AddHardwareMetadata::Options>();
}

HardwareCost HardwareCost::read(const Tree& table, Diagnostics& diagnostics) {
  AddHardwareMetadata::check(table, diagnostics);
  return {table};
}

integer::Contents HardwareCost::contents() const {
  AddHardwareMetadata::Options read;
  Diagnostics checked_before;
  read_fields(options, read, checked_before, {"layers"});
  return read.reloadable ? integer::Contents::reloadable : integer::Contents::fixed;
}

std::unique_ptr<Runner> HardwareCost::make(const Bench& bench) const {
  return std::make_unique<CostRunner>(bench, options);
}

}  // namespace mase::search
