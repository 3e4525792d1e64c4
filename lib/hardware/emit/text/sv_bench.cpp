// SPDX-License-Identifier: Apache-2.0
// Every stream gets its three signals and one side of the bench; a module of its own judges.
#include "hardware/emit/text/sv_bench.hpp"

#include <algorithm>
#include <limits>

#include "hardware/design/reload_map.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/emit/text/verilog.hpp"

namespace mase::emit {
namespace {

using Connections = std::vector<std::pair<std::string, std::string>>;

/// The share of stalls for which the watchdog waits: those that a user may ask for.
constexpr double most_stalls = 0.9;
/// An `int` of SystemVerilog holds no more.
constexpr std::int64_t most_cycles = std::numeric_limits<std::int32_t>::max();

std::string number(std::int64_t value) { return std::to_string(value); }

/// A source or a sink of one stream; `place` is unique among both.
verilog::Instance side_of(const std::string& module, const design::Stream& stream,
                          const std::string& name, std::size_t place) {
  verilog::Instance side{module,
                         module + "_" + name,
                         {{"W", number(stream.width())},
                          {"BEATS", number(stream.beats())},
                          {"SEED", std::to_string(place)},
                          {"NAME", verilog::literal(std::string_view(name))}},
                         {{"clk", "clk"}, {"rst", "rst"}}};
  for (const char* part : {"valid", "ready", "data"})
    side.connections.emplace_back(part, name + "_" + part);
  return side;
}

void add_signals(verilog::Module& bench, verilog::Instance& dut, const design::Stream& stream,
                 const std::string& name) {
  bench.items.emplace_back(verilog::Net{name + "_valid", 1, true});
  bench.items.emplace_back(verilog::Net{name + "_ready", 1, true});
  bench.items.emplace_back(verilog::Net{name + "_data", stream.width(), false});
  for (const char* part : {"_valid", "_ready", "_data"})
    dut.connections.emplace_back(name + part, name + part);
}

verilog::Instance control_of(const design::Design& design) {
  SimulateOptions stalls;
  stalls.stall_in = stalls.stall_out = most_stalls;
  return {
      "bench_control",
      "control",
      {{"SINKS", std::to_string(design.outputs.size())},
       {"WATCHDOG", number(std::min(watchdog_cycles(design, stalls), most_cycles))}},
      {{"clk", "clk"}, {"rst", "rst"}, {"moved", "moved"}, {"done", "done"}, {"wrong", "wrong"}}};
}

}  // namespace

std::string sv_bench_text(const design::Design& design, const Names& names) {
  constexpr std::int64_t count_bits = 32;
  const auto sinks = static_cast<std::int64_t>(design.outputs.size());
  verilog::Module bench;
  bench.name = "bench";
  bench.comment =
      "The frames of sim/vectors through " + names.top +
      ", compared with what the checkpoint gives.\nIts parts, and what can be asked of it, stand "
      "in bench_streams.sv.";
  verilog::Instance dut{names.top, "dut", {}, {{"clk", "clk"}, {"rst", "rst"}}};
  if (design.reloadable)
    dut.connections.emplace_back("reload", number(design::reload_bits) + "'d0");
  bench.items = {verilog::Net{"clk", 1, true}, verilog::Net{"rst", 1, true},
                 verilog::Net{"moved", sinks, false}, verilog::Net{"done", sinks, false},
                 verilog::Net{"wrong", sinks * count_bits, false}};
  std::vector<verilog::Instance> sides;
  const auto add = [&](const char* module, design::StreamId id) -> verilog::Instance& {
    const std::string& name = names.streams[static_cast<std::size_t>(id)];
    add_signals(bench, dut, design.stream(id), name);
    return sides.emplace_back(side_of(module, design.stream(id), name, sides.size()));
  };
  for (const design::StreamId id : design.inputs) add("bench_source", id);
  for (std::int64_t i = 0; i < sinks; ++i) {
    Connections& sink = add("bench_sink", design.outputs[static_cast<std::size_t>(i)]).connections;
    sink.emplace_back("moved", "moved[" + number(i) + "]");
    sink.emplace_back("done", "done[" + number(i) + "]");
    sink.emplace_back("wrong", verilog::slice("wrong", i * count_bits, count_bits));
  }
  bench.items.emplace_back(control_of(design));
  for (verilog::Instance& side : sides) bench.items.emplace_back(std::move(side));
  bench.items.emplace_back(std::move(dut));
  return verilog::print(bench);
}

}  // namespace mase::emit
