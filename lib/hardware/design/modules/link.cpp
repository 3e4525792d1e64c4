// SPDX-License-Identifier: Apache-2.0
// A converter of widths at each port, a skid where a beat is one word, and as many skids between
// the devices as there are cycles of latency.
#include "hardware/design/modules/link.hpp"

#include <algorithm>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/stream_resize.hpp"
#include "hardware/design/numbers.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// The sender of a beat that is on its way into the link for several cycles: it holds one.
class Sender {
 public:
  explicit Sender(std::int64_t interval) : interval_(interval) {}
  bool ready() const { return !full_; }
  bool sent() const { return full_ && left_ == 0; }
  /// Edges until the beat is sent; `forever` without one, and when it is.
  std::int64_t quiet() const { return full_ && left_ > 0 ? left_ : forever; }
  void skip(std::int64_t edges) { left_ -= edges; }
  void step(bool in, bool out) {
    if (in) left_ = interval_ - 2;
    if (!in && left_ > 0) --left_;
    full_ = in || (full_ && !out);
  }
  bool operator==(const Sender&) const = default;

 private:
  std::int64_t interval_, left_ = 0;
  bool full_ = false;
};

/// Skids one behind the other, and a sender in front where a beat takes several cycles.
class LinkHandshake final : public HandshakeOf<LinkHandshake> {
 public:
  LinkHandshake(std::int64_t latency, std::int64_t interval)
      : paced_(interval > 1), sender_(interval), skids_(static_cast<std::size_t>(latency)) {}
  bool ready(int) const override { return paced_ ? sender_.ready() : skids_.front().ready(); }
  bool valid(int) const override { return skids_.back().valid(); }
  /// Unless a beat can move on by itself.
  std::int64_t quiet() const override {
    const auto moves = [](const Skid& a, const Skid& b) { return a.valid() && b.ready(); };
    if (sender_.sent() && skids_.front().ready()) return 0;
    return std::ranges::adjacent_find(skids_, moves) == skids_.end() ? sender_.quiet() : 0;
  }
  void skip(std::int64_t edges) override { sender_.skip(edges); }
  void clock(Moves taken, Moves given) override {
    const bool enters = paced_ ? sender_.sent() && skids_.front().ready() : taken[0] != 0;
    bool out = given[0] != 0;
    for (std::size_t i = skids_.size(); i-- > 0;) {
      const bool in = i == 0 ? enters : skids_[i - 1].valid() && skids_[i].ready();
      skids_[i].step(in, out);
      out = in;
    }
    if (paced_) sender_.step(taken[0] != 0, enters);
  }
  bool operator==(const LinkHandshake&) const = default;

 private:
  bool paced_;
  Sender sender_;
  std::vector<Skid> skids_;
};

ResizeModule narrowing(const LinkOutputModule& link) {
  return {.width = link.tdata, .in_lanes = link.words, .out_lanes = 1};
}

ResizeModule widening(const LinkInputModule& link) {
  return {.width = link.tdata, .in_lanes = 1, .out_lanes = link.words};
}

}  // namespace

std::unique_ptr<Handshake> LinkOutputModule::handshake(Stages kept) const {
  return narrowing(*this).handshake(kept);
}

/// The bits above a beat are constants, which a skid does not keep.
Cost LinkOutputModule::cost(const Design& design) const {
  Cost cost = words > 1 ? narrowing(*this).cost(design) : skid_cost(width);
  cost += counter_cost(beats);
  return cost;
}

Paths LinkOutputModule::paths(const Technology& technology) const {
  Paths paths = narrowing(*this).paths(technology);
  paths.push_back(counter_path(beats, technology));
  return paths;
}

ModuleRow LinkOutputModule::row() {
  return row_of_module<LinkOutputModule>({.folder = "interface",
                                          .doc = "end of a stream at the port of a device",
                                          .uses = {"mase_stream_resize"},
                                          .inputs = {"in"},
                                          .outputs = {"out"}});
}

std::unique_ptr<Handshake> LinkInputModule::handshake(Stages kept) const {
  return widening(*this).handshake(kept);
}

Cost LinkInputModule::cost(const Design& design) const {
  return words > 1 ? widening(*this).cost(design) : skid_cost(width);
}

Paths LinkInputModule::paths(const Technology& technology) const {
  return widening(*this).paths(technology);
}

ModuleRow LinkInputModule::row() {
  return row_of_module<LinkInputModule>({.folder = "interface",
                                         .doc = "beginning of a stream at the port of a device",
                                         .uses = {"mase_stream_resize"},
                                         .inputs = {"in"},
                                         .outputs = {"out"}});
}

std::unique_ptr<Handshake> LinkModule::handshake(Stages) const {
  return std::make_unique<LinkHandshake>(latency, interval);
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

LinkWords::LinkWords(std::int64_t width, const LinkSettings& links)
    : tdata(links.width > 0 ? links.width : tdata_bits(width)), count(ceiling(width, tdata)) {}

std::int64_t link_cycles(const Stream& stream, const LinkSettings& links) {
  return stream.beats() * LinkWords(stream.width(), links).count * links.interval;
}

std::int64_t link_cycles(const Design& design, const Instance& instance) {
  if (!is_a<LinkModule>(instance)) return 0;
  return design.stream(instance.inputs[0]).beats() * module_of<LinkModule>(instance).interval;
}

std::int64_t link_delay(const Instance& instance) {
  if (!is_a<LinkModule>(instance)) return 0;
  const auto& link = module_of<LinkModule>(instance);
  return link.latency + link.interval - 1;
}

}  // namespace mase::design
