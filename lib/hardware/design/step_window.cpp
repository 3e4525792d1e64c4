// SPDX-License-Identifier: Apache-2.0
// Sliding windows in front of convolutions and poolings.
#include "hardware/design/step_table.hpp"

namespace mase::design {
namespace {

ModuleParameters geometry(const integer::Window& window) {
  return {{"KH", window.kernel_height}, {"KW", window.kernel_width},  {"SH", window.stride_height},
          {"SW", window.stride_width},  {"DY", std::int64_t{1}},      {"DX", std::int64_t{1}},
          {"PH", window.pad_height},    {"PW", window.pad_width},     {"OH", window.out_height()},
          {"OW", window.out_width()}};
}

/// The bits of a code, as the modules' plain vectors take them.
Sized pad_code(const StepBuilder& builder, Wide pad) {
  const int width = builder.input().type.width;
  return {pad & ((Wide{1} << width) - 1), width, false};
}

}  // namespace

bool window_needed(const integer::Window& window) {
  return window.kernel() > 1 || window.stride_height > 1 || window.stride_width > 1 ||
         window.pad_height > 0 || window.pad_width > 0;
}

StreamId add_window(StepBuilder& builder, StreamId in, const integer::Window& window,
                    std::int64_t blocks, Wide pad) {
  Stream out = builder.stream(in);
  out.name = builder.name() + "_window";
  out.value = -1;
  out.elements = window.out_height() * window.out_width() * window.kernel() * window.channels;
  ModuleParameters parameters{{"H", window.height},
                              {"W", window.width},
                              {"CF", window.channels / out.lanes},
                              {"BLOCKS", blocks}};
  parameters.append(geometry(window));
  parameters.append({{"LANES", out.lanes},
                     {"DW", std::int64_t{out.type.width}},
                     {"PAD", pad_code(builder, pad)}});
  return builder.add("mase_window", "_window", std::move(parameters), {in}, std::move(out));
}

StreamId add_parallel_window(StepBuilder& builder, StreamId in, const integer::Window& window,
                             Wide pad) {
  Stream out = builder.stream(in);
  out.name = builder.name() + "_window";
  out.value = -1;
  out.lanes = window.kernel() * window.channels;
  out.elements = window.out_height() * window.out_width() * out.lanes;
  ModuleParameters parameters{
      {"H", window.height}, {"W", window.width}, {"LANES", window.channels}};
  parameters.append(geometry(window));
  parameters.append({{"DW", std::int64_t{out.type.width}}, {"PAD", pad_code(builder, pad)}});
  return builder.add("mase_window_parallel", "_window", std::move(parameters), {in},
                     std::move(out));
}

}  // namespace mase::design
