// SPDX-License-Identifier: Apache-2.0
// A converter of widths at each port, a skid where a beat is one word, and between the devices a
// way there, places for beats at its end, and a way back for those that are free again.
#include "hardware/design/modules/link.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/stream_resize.hpp"
#include "hardware/design/numbers.hpp"

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
  void skip(std::int64_t edges) { left_ -= std::min(left_, edges); }
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

/// What arrives so many edges after it was sent, in order.
class Way {
 public:
  explicit Way(std::int64_t edges) : edges_(edges) {}
  /// One rising edge: whether something arrives.
  bool step(bool sent) {
    if (edges_ == 0) return sent;
    if (!gaps_.empty()) skip(1);
    const bool arrives = !gaps_.empty() && gaps_.front() == 0;
    if (arrives) gaps_.pop_front();
    if (sent) gaps_.push_back(edges_ - std::exchange(last_, edges_));
    return arrives;
  }
  /// Edges before the one at which something arrives.
  std::int64_t quiet() const { return gaps_.empty() ? forever : gaps_.front() - 1; }
  void skip(std::int64_t edges) {
    if (gaps_.empty()) return;
    gaps_.front() -= edges;
    last_ -= edges;
  }
  bool operator==(const Way&) const = default;

 private:
  std::int64_t edges_, last_ = 0;  ///< edges until the last one arrives
  std::deque<std::int64_t> gaps_;  ///< edges until the first arrives, and from each to the next
};

/// Beats go in while there are places for them at the other end. A place that becomes free is known
/// to the sender a latency later.
class LinkHandshake final : public HandshakeOf<LinkHandshake> {
 public:
  explicit LinkHandshake(const LinkModule& link)
      : paced_(link.interval > 1),
        sender_(link.interval),
        places_(link.depth),
        forth_(link.latency - 1),
        back_(link.latency - 1) {}
  bool ready(int) const override { return paced_ ? sender_.ready() : places_ > 0; }
  bool valid(int) const override { return there_ > 0; }
  std::int64_t quiet() const override {
    if (sends()) return 0;
    return std::min({sender_.quiet(), forth_.quiet(), back_.quiet()});
  }
  void skip(std::int64_t edges) override {
    sender_.skip(edges);
    forth_.skip(edges);
    back_.skip(edges);
  }
  void clock(Moves taken, Moves given) override {
    const bool in = taken[0] != 0, out = given[0] != 0;
    const bool enters = paced_ ? sends() : in;
    places_ += static_cast<int>(back_.step(out)) - static_cast<int>(enters);
    there_ += static_cast<int>(forth_.step(enters)) - static_cast<int>(out);
    if (paced_) sender_.step(in, enters);
  }
  bool operator==(const LinkHandshake&) const = default;

 private:
  bool sends() const { return sender_.sent() && places_ > 0; }

  bool paced_;
  Sender sender_;
  std::int64_t places_, there_ = 0;  ///< free at the other end, as the sender knows; beats there
  Way forth_, back_;
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

std::int64_t link_depth(std::int64_t latency, std::int64_t interval) {
  return ceiling(2 * latency, interval);
}

std::unique_ptr<Handshake> LinkModule::handshake(Stages) const {
  return std::make_unique<LinkHandshake>(*this);
}

Cost LinkModule::cost(const Design&) const { return {}; }

Paths LinkModule::paths(const Technology&) const { return {}; }

ModuleRow LinkModule::row() {
  return row_of_module<LinkModule>({.folder = "interface",
                                    .doc = "what lies between two devices",
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
