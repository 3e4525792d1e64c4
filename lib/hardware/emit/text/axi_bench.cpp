// SPDX-License-Identifier: Apache-2.0
// What the bench of the AXI wrapper sees of a design: the streams' signals side by side, and the
// registers.
#include "base/text.hpp"
#include "hardware/emit/text/axi.hpp"

namespace mase::emit {
namespace {

using verilog::Direction;
using verilog::slice;

/// One side's five vectors, a place in each for every stream.
struct Side {
  const design::Design& design;
  const Names& names;
  const EmitOptions& options;
  verilog::Module& module;
  verilog::Instance& wrapper;

  void add(const std::vector<design::StreamId>& ids, bool input) const {
    const std::string side = input ? "in" : "out";
    std::int64_t index = 0, bytes = 0;
    for (const design::StreamId id : ids) {
      const AxiLayout layout = axi_layout(design.stream(id), options);
      const std::string port = axi_prefix(names, id, input);
      for (const char* signal : {"_tvalid", "_tready", "_tlast"})
        wrapper.connections.emplace_back(port + signal,
                                         side + signal + "[" + std::to_string(index) + "]");
      wrapper.connections.emplace_back(port + "_tdata",
                                       slice(side + "_tdata", 8 * bytes, 8 * layout.bytes));
      wrapper.connections.emplace_back(port + "_tkeep",
                                       slice(side + "_tkeep", bytes, layout.bytes));
      ++index;
      bytes += layout.bytes;
    }
    const Direction forth = input ? Direction::input : Direction::output;
    const Direction back = input ? Direction::output : Direction::input;
    module.ports.push_back({forth, side + "_tvalid", index, false});
    module.ports.push_back({back, side + "_tready", index, false});
    module.ports.push_back({forth, side + "_tlast", index, false});
    module.ports.push_back({forth, side + "_tdata", 8 * bytes, false});
    module.ports.push_back({forth, side + "_tkeep", bytes, false});
  }
};

}  // namespace

std::string axi_bench_top_text(const design::Design& design, const Names& names,
                               const EmitOptions& options) {
  verilog::Module module;
  module.name = "axi_bench_top";
  module.comment =
      "What axi_bench.cpp sees of " + names.top + "_axi: the streams of a side next to each other.";
  verilog::Instance wrapper{names.top + "_axi", "dut", {}, {}};
  for (const auto& [direction, name] : {std::pair{Direction::input, "aclk"},
                                        {Direction::input, "aresetn"},
                                        {Direction::output, "error"}}) {
    module.ports.push_back({direction, name, 1, true});
    wrapper.connections.emplace_back(name, name);
  }
  for (const RegisterSignal& signal : register_signals) {
    const std::string name = std::string("s_axi_") + signal.name;
    module.ports.push_back({signal.input ? Direction::input : Direction::output, name,
                            std::max<std::int64_t>(signal.width, 1), signal.width == 0});
    wrapper.connections.emplace_back(std::string("s_axi_control_") + signal.name, name);
  }
  const Side side{design, names, options, module, wrapper};
  side.add(design.inputs, true);
  side.add(design.outputs, false);
  module.items.emplace_back(wrapper);
  return verilog::print(module);
}

}  // namespace mase::emit
