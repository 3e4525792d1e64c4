// SPDX-License-Identifier: Apache-2.0
// The bench's view of a design: all inputs side by side in one vector, all outputs in another.
#include <algorithm>

#include "base/error.hpp"
#include "hardware/design/reload_map.hpp"
#include "hardware/emit/text/beats.hpp"
#include "hardware/emit/text/devices.hpp"
#include "hardware/emit/text/top.hpp"
#include "hardware/emit/text/verilog.hpp"

namespace mase::emit {
namespace {

using verilog::Direction;
using verilog::slice;

constexpr std::int64_t stream_count = 64;  // bits of valid and ready
constexpr std::int64_t least_width = 96;

std::string bit(const std::string& vector, std::size_t index) {
  return vector + "[" + std::to_string(index) + "]";
}

std::int64_t levels_width(const design::Design& design) {
  const auto fifos = static_cast<std::int64_t>(design.fifos().size());
  return std::max(fifos * beat_word_bits, least_width);
}

/// Parts of a data vector that no stream uses.
std::vector<std::string> gaps(const design::Design& design,
                              const std::vector<design::StreamId>& ids, const BenchLayout& layout,
                              const std::string& vector, std::vector<std::int64_t>& widths) {
  std::vector<std::string> out;
  std::int64_t end = 0;
  const auto add = [&](std::int64_t until) {
    if (until == end) return;
    out.push_back(slice(vector, end, until - end));
    widths.push_back(until - end);
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    add(layout.first_bit[i]);
    end = layout.first_bit[i] + design.stream(ids[i]).width();
  }
  add(layout.width);
  return out;
}

void connect(verilog::Instance& dut, const design::Design& design, const Names& names,
             const std::vector<design::StreamId>& ids, const BenchLayout& layout,
             const std::string& side) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string& name = names.streams[static_cast<std::size_t>(ids[i])];
    dut.connections.emplace_back(name + "_valid", bit(side + "_valid", i));
    dut.connections.emplace_back(name + "_ready", bit(side + "_ready", i));
    dut.connections.emplace_back(
        name + "_data", slice(side + "_data", layout.first_bit[i], design.stream(ids[i]).width()));
  }
}

/// Unused bits of inputs end in a signal that says so by its name; unused outputs are zero.
void close_unused(verilog::Module& module, const design::Design& design, const BenchLayout& in,
                  const BenchLayout& out) {
  std::vector<std::int64_t> in_widths, out_widths;
  std::vector<std::string> unused = gaps(design, design.inputs, in, "in_data", in_widths);
  std::vector<std::string> zero = gaps(design, design.outputs, out, "out_data", out_widths);
  const auto close = [&](std::size_t count, const std::string& driven, const std::string& read) {
    const auto first = static_cast<std::int64_t>(count);
    if (first == stream_count) return;
    zero.push_back(slice(driven, first, stream_count - first));
    out_widths.push_back(stream_count - first);
    unused.push_back(slice(read, first, stream_count - first));
  };
  close(design.inputs.size(), "in_ready", "in_valid");
  close(design.outputs.size(), "out_valid", "out_ready");
  for (std::size_t i = 0; i < zero.size(); ++i)
    module.items.emplace_back(verilog::Assign{zero[i], std::to_string(out_widths[i]) + "'d0"});
  if (unused.empty()) return;
  unused.insert(unused.begin(), "1'b0");
  module.items.emplace_back(verilog::Net{"unused_bits", 1, true});
  module.items.emplace_back(verilog::Assign{"unused_bits", "&" + verilog::concatenation(unused)});
}

/// The beats in the memory of every FIFO, a word each; the words behind them are zero.
void connect_levels(verilog::Module& module, const design::Design& design, const Names& names) {
  std::int64_t first = 0;
  for (const std::size_t i : design.fifos()) {
    module.items.emplace_back(verilog::Assign{
        slice("fifo_levels", first, beat_word_bits),
        std::to_string(beat_word_bits) + "'(dut." + instance_path(design, names, i) + ".count)"});
    first += beat_word_bits;
  }
  const std::int64_t width = levels_width(design);
  if (first < width)
    module.items.emplace_back(verilog::Assign{slice("fifo_levels", first, width - first),
                                              std::to_string(width - first) + "'d0"});
}

}  // namespace

BenchLayout bench_layout(const design::Design& design,
                         const std::vector<design::StreamId>& streams) {
  if (static_cast<std::int64_t>(streams.size()) > stream_count)
    unsupported_error("the bench drives at most " + std::to_string(stream_count) +
                      " streams a side; design " + design.name + " has " +
                      std::to_string(streams.size()));
  BenchLayout layout;
  for (const design::StreamId id : streams) {
    layout.first_bit.push_back(layout.width);
    layout.width +=
        (design.stream(id).width() + beat_word_bits - 1) / beat_word_bits * beat_word_bits;
  }
  layout.width = std::max(layout.width, least_width);
  return layout;
}

std::string bench_top_text(const design::Design& design, const Names& names) {
  const BenchLayout in = bench_layout(design, design.inputs);
  const BenchLayout out = bench_layout(design, design.outputs);
  verilog::Module module;
  module.name = "bench_top";
  module.comment = "What the bench sees of " + names.top +
                   ": bit i of valid and ready, and a place in data, per stream.\n"
                   "The places stand in streams.txt; a word of fifo_levels is a FIFO.";
  module.ports = {{Direction::input, "clk", 1, true},
                  {Direction::input, "rst", 1, true},
                  {Direction::input, "in_valid", stream_count, false},
                  {Direction::output, "in_ready", stream_count, false},
                  {Direction::input, "in_data", in.width, false},
                  {Direction::output, "out_valid", stream_count, false},
                  {Direction::input, "out_ready", stream_count, false},
                  {Direction::output, "out_data", out.width, false},
                  {Direction::output, "fifo_levels", levels_width(design), false}};
  verilog::Instance dut{names.top, "dut", {}, {{"clk", "clk"}, {"rst", "rst"}}};
  if (design.reloadable)
    dut.connections.emplace_back("reload", std::to_string(design::reload_bits) + "'d0");
  connect(dut, design, names, design.inputs, in, "in");
  connect(dut, design, names, design.outputs, out, "out");
  module.items.emplace_back(dut);
  close_unused(module, design, in, out);
  connect_levels(module, design, names);
  return verilog::print(module);
}

}  // namespace mase::emit
