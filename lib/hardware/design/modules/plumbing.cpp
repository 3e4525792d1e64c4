// The plumbing family of hardware modules: ports, parts, handshake models and costs.
#include "hardware/design/module_table.hpp"

#include "hardware/design/handshake/streams.hpp"
#include "hardware/design/modules/stream_cost.hpp"

namespace mase::design {
namespace {

using Made = std::unique_ptr<Handshake>;

Made make_skid(const ModuleParameters&, Stages) { return std::make_unique<SkidHandshake>(); }

Made make_fifo(const ModuleParameters& parameters, Stages) {
  return std::make_unique<FifoHandshake>(parameters.integer("DEPTH"));
}

Made make_fork(const ModuleParameters& parameters, Stages) {
  return std::make_unique<ForkHandshake>(parameters.integer("N"));
}

Made make_resize(const ModuleParameters& parameters, Stages) {
  const std::int64_t in = parameters.integer("IN_LANES"), out = parameters.integer("OUT_LANES");
  if (in == out) return std::make_unique<SkidHandshake>();
  if (in > out) return std::make_unique<NarrowHandshake>(in / out);
  return std::make_unique<WidenHandshake>(out / in);
}

Made make_concat(const ModuleParameters& parameters, Stages) {
  return std::make_unique<ConcatHandshake>(parameters.integer("A_BEATS"),
                                           parameters.integer("B_BEATS"));
}

Made make_slice(const ModuleParameters& parameters, Stages) {
  return std::make_unique<SliceHandshake>(parameters.integer("BEATS"), parameters.integer("FIRST"),
                                          parameters.integer("COUNT"));
}

}  // namespace

std::vector<ModuleRow> plumbing_modules() {
  using List = std::vector<std::string>;
  const List in{"in"}, out{"out"}, skid{"mase_skid"};
  return {
      {"mase_skid", "plumbing", "two-entry buffer", {}, in, out, false, make_skid, skid_cost},
      {"mase_fifo", "plumbing", "queue", {}, in, out, false, make_fifo, fifo_cost},
      {"mase_stream_fork", "plumbing", "copies of a stream", skid, in, out, true, make_fork,
       fork_cost},
      {"mase_stream_resize", "plumbing", "other number of lanes", skid, in, out, false, make_resize,
       resize_cost},
      {"mase_concat", "plumbing", "streams one after another", skid, List{"a", "b"}, out, false,
       make_concat, concat_cost},
      {"mase_slice", "plumbing", "some beats of a row", skid, in, out, false, make_slice,
       slice_cost},
      {"mase_axi_stream_input",
       "interface",
       "AXI4-Stream in",
       skid,
       {},
       {},
       false,
       nullptr,
       nullptr},
      {"mase_axi_stream_output",
       "interface",
       "AXI4-Stream out",
       skid,
       {},
       {},
       false,
       nullptr,
       nullptr},
  };
}

}  // namespace mase::design
