// SPDX-License-Identifier: Apache-2.0
// A skid for each copy, all filled together.
#include "hardware/design/modules/stream_fork.hpp"

#include <algorithm>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

class ForkHandshake final : public HandshakeOf<ForkHandshake> {
 public:
  explicit ForkHandshake(std::int64_t outputs) : skids_(static_cast<std::size_t>(outputs)) {}
  bool ready(int) const override {
    return std::all_of(skids_.begin(), skids_.end(), [](const Skid& skid) { return skid.ready(); });
  }
  bool valid(int output) const override { return skids_[static_cast<std::size_t>(output)].valid(); }
  std::int64_t quiet() const override { return forever; }
  void clock(Moves taken, Moves given) override {
    for (std::size_t i = 0; i < skids_.size(); ++i) skids_[i].step(taken[0] != 0, given[i] != 0);
  }
  bool operator==(const ForkHandshake&) const = default;

 private:
  std::vector<Skid> skids_;
};

}  // namespace

std::unique_ptr<Handshake> ForkModule::handshake(Stages) const {
  return std::make_unique<ForkHandshake>(outputs);
}

Cost ForkModule::cost(const Design&) const {
  Cost cost = scaled(skid_cost(width), static_cast<double>(outputs));
  cost.lut += 2;
  return cost;
}

Paths ForkModule::paths(const Technology& technology) const {
  return {{.what = "room in all outputs",
           .luts = 1 + tree_luts(outputs + 1, technology),
           .readers = static_cast<double>(outputs)}};
}

ModuleRow ForkModule::row() {
  return row_of_module<ForkModule>({.folder = "plumbing",
                                    .doc = "copies of a stream",
                                    .uses = {"mase_skid"},
                                    .inputs = {"in"},
                                    .outputs = {"out"},
                                    .vector_output = true});
}

}  // namespace mase::design
