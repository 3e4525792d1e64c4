// SPDX-License-Identifier: Apache-2.0
// Sliding windows in front of convolutions and poolings.
#include "hardware/design/step_table.hpp"

namespace mase::design {
namespace {

ModuleParameters geometry(const integer::Window& window) {
  const integer::Axis &y = window.y, &x = window.x;
  return {{"KH", y.kernel},   {"KW", x.kernel},   {"SH", y.stride}, {"SW", x.stride},
          {"DY", y.dilation}, {"DX", x.dilation}, {"PH", y.pad},    {"PW", x.pad},
          {"OH", y.out},      {"OW", x.out}};
}

}  // namespace

bool window_needed(const integer::Window& window) {
  return !window.y.passes() || !window.x.passes();
}

StreamId add_window(StepBuilder& builder, StreamId in, const integer::Window& window,
                    std::int64_t blocks, Wide pad) {
  Stream out = builder.stream(in);
  out.name = builder.name() + "_window";
  out.value = -1;
  out.elements = window.places() * window.kernel() * window.channels;
  ModuleParameters parameters{{"H", window.y.size},
                              {"W", window.x.size},
                              {"CF", window.channels / out.lanes},
                              {"BLOCKS", blocks}};
  parameters.append(geometry(window));
  parameters.append({{"LANES", out.lanes},
                     {"DW", std::int64_t{out.type.width}},
                     {"PAD", plain_code(pad, out.type.width)}});
  return builder.add("mase_window", "_window", std::move(parameters), {in}, std::move(out));
}

StreamId add_parallel_window(StepBuilder& builder, StreamId in, const integer::Window& window,
                             Wide pad) {
  Stream out = builder.stream(in);
  out.name = builder.name() + "_window";
  out.value = -1;
  out.elements = window.places() * window.kernel() * window.channels;
  const std::int64_t lanes = out.lanes;
  out.lanes = window.kernel() * lanes;
  ModuleParameters parameters{{"H", window.y.size},
                              {"W", window.x.size},
                              {"CF", window.channels / lanes},
                              {"LANES", lanes}};
  parameters.append(geometry(window));
  parameters.append(
      {{"DW", std::int64_t{out.type.width}}, {"PAD", plain_code(pad, out.type.width)}});
  return builder.add("mase_window_parallel", "_window", std::move(parameters), {in},
                     std::move(out));
}

}  // namespace mase::design
