// SPDX-License-Identifier: Apache-2.0
// A skid at each port, and as many between the devices as there are cycles of latency.
#include "hardware/design/modules/link.hpp"

#include <algorithm>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// Skids one behind the other.
class LinkHandshake final : public HandshakeOf<LinkHandshake> {
 public:
  explicit LinkHandshake(std::int64_t latency) : skids_(static_cast<std::size_t>(latency)) {}
  bool ready(int) const override { return skids_.front().ready(); }
  bool valid(int) const override { return skids_.back().valid(); }
  /// Unless a beat can move on by itself.
  std::int64_t quiet() const override {
    const auto moves = [](const Skid& a, const Skid& b) { return a.valid() && b.ready(); };
    return std::ranges::adjacent_find(skids_, moves) == skids_.end() ? forever : 0;
  }
  void clock(Moves taken, Moves given) override {
    bool out = given[0] != 0;
    for (std::size_t i = skids_.size(); i-- > 0;) {
      const bool in = i == 0 ? taken[0] != 0 : skids_[i - 1].valid() && skids_[i].ready();
      skids_[i].step(in, out);
      out = in;
    }
  }
  bool operator==(const LinkHandshake&) const = default;

 private:
  std::vector<Skid> skids_;
};

}  // namespace

std::unique_ptr<Handshake> LinkOutputModule::handshake(Stages) const {
  return std::make_unique<SkidHandshake>();
}

Cost LinkOutputModule::cost(const Design&) const {
  Cost cost = skid_cost(width);
  cost += counter_cost(beats);
  return cost;
}

Paths LinkOutputModule::paths(const Technology& technology) const {
  return {counter_path(beats, technology)};
}

ModuleRow LinkOutputModule::row() {
  return row_of_module<LinkOutputModule>({.folder = "interface",
                                          .doc = "end of a stream at the port of a device",
                                          .uses = {"mase_skid"},
                                          .inputs = {"in"},
                                          .outputs = {"out"}});
}

std::unique_ptr<Handshake> LinkInputModule::handshake(Stages) const {
  return std::make_unique<SkidHandshake>();
}

Cost LinkInputModule::cost(const Design&) const { return skid_cost(width); }

Paths LinkInputModule::paths(const Technology&) const { return {}; }

ModuleRow LinkInputModule::row() {
  return row_of_module<LinkInputModule>({.folder = "interface",
                                         .doc = "beginning of a stream at the port of a device",
                                         .uses = {"mase_skid"},
                                         .inputs = {"in"},
                                         .outputs = {"out"}});
}

std::unique_ptr<Handshake> LinkModule::handshake(Stages) const {
  return std::make_unique<LinkHandshake>(latency);
}

Cost LinkModule::cost(const Design&) const { return {}; }

Paths LinkModule::paths(const Technology&) const { return {}; }

ModuleRow LinkModule::row() {
  return row_of_module<LinkModule>({.folder = "interface",
                                    .doc = "what lies between two devices",
                                    .uses = {"mase_skid"},
                                    .inputs = {"in"},
                                    .outputs = {"out"}});
}

}  // namespace mase::design
