// SPDX-License-Identifier: Apache-2.0
// Modules mase_link_output, mase_link and mase_link_input: a stream on its way from one device to
// another.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// Bits of the TDATA of an AXI4-Stream whose beats have `width` bits: whole bytes.
constexpr std::int64_t tdata_bits(std::int64_t width) { return (width + 7) / 8 * 8; }

/// How a link carries beats of so many bits: words of TDATA.
struct LinkWords {
  LinkWords(std::int64_t width, const LinkSettings& links);
  std::int64_t tdata, count;
};

/// A stream becomes an AXI4-Stream at the port of the device that gives it. Each of its beats is
/// `words` beats of the link, the low bits first. A beat behind it is TDATA with TLAST above.
struct LinkOutputModule {
  static constexpr std::string_view module_name = "mase_link_output";
  std::int64_t width = 8, tdata = 8, words = 1, beats = 1;

  static constexpr auto fields() {
    return std::tuple{Field{"W", &LinkOutputModule::width, "bits of a beat"}.at_least(1),
                      Field{"TW", &LinkOutputModule::tdata, "bits of TDATA"}.at_least(8),
                      Field{"WORDS", &LinkOutputModule::words, "of TDATA in a beat"}.at_least(1),
                      Field{"BEATS", &LinkOutputModule::beats, "of a frame"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
};

/// The same at the port of the device that takes it.
struct LinkInputModule {
  static constexpr std::string_view module_name = "mase_link_input";
  std::int64_t width = 8, tdata = 8, words = 1;

  static constexpr auto fields() {
    return std::tuple{Field{"W", &LinkInputModule::width, "bits of a beat"}.at_least(1),
                      Field{"TW", &LinkInputModule::tdata, "bits of TDATA"}.at_least(8),
                      Field{"WORDS", &LinkInputModule::words, "of TDATA in a beat"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
};

/// The fewest beats that what lies between two ports must hold so that it takes one in each
/// interval. The place of a beat is known to be free after the ways there and back, `2 * latency`
/// cycles, in which 2 * latency / interval beats set out, rounded up.
std::int64_t link_depth(std::int64_t latency, std::int64_t interval);

/// What lies between the ports. It takes no resources of a device.
struct LinkModule {
  static constexpr std::string_view module_name = "mase_link";
  std::int64_t width = 9, latency = 1, interval = 1, depth = 2;

  static constexpr auto fields() {
    return std::tuple{Field{"W", &LinkModule::width, "bits of TDATA and TLAST"}.at_least(9),
                      Field{"LATENCY", &LinkModule::latency, "cycles, at least"}.at_least(1),
                      Field{"INTERVAL", &LinkModule::interval, "cycles of a beat"}.at_least(1),
                      Field{"DEPTH", &LinkModule::depth, "beats that it holds"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
};

/// The cycles in which such a link would carry a frame of a stream.
std::int64_t link_cycles(const Stream& stream, const LinkSettings& links);
/// The cycles in which an instance that is a link carries a frame, and in which a beat passes it; 0
/// for any other instance.
std::int64_t link_cycles(const Design& design, const Instance& instance);
std::int64_t link_delay(const Instance& instance);

}  // namespace mase::design
