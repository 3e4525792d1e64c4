// SPDX-License-Identifier: Apache-2.0
// Sliding windows in front of convolutions and poolings.
#include <algorithm>

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

namespace {

/// Positions that a `window_parallel` passes: the image, and what lies right of it and below until
/// the last window is complete.
struct Raster {
  std::int64_t width, height;
  explicit Raster(const integer::Window& window) {
    const integer::Axis &y = window.y, &x = window.x;
    width = std::max(x.size, x.last() + 1);
    const std::int64_t lag = (y.reach() - 1 - y.pad) * width + x.reach() - 1 - x.pad;
    height = std::max({y.size, y.last() + 1, lag / width + 1});
  }
};

}  // namespace

std::int64_t parallel_window_interval(const integer::Window& window, std::int64_t beats,
                                      std::int64_t columns, std::int64_t passes) {
  const integer::Axis &y = window.y, &x = window.x;
  const Raster raster(window);
  const std::int64_t line = raster.width * beats, frame = raster.height * line;
  const std::int64_t work = columns * passes;
  // Two windows wait in the skid, and one in the width converter while a row is read again.
  const std::int64_t ahead = 2 * work - 1 + (columns > 1 ? work - columns : 0);
  const auto idle = [&](std::int64_t steps) { return std::max<std::int64_t>(0, steps - ahead); };
  // From the last beat of a pixel, a row and a frame to the first of the next.
  const std::int64_t to_pixel = (x.stride - 1) * beats + 1,
                     to_row = y.stride * line - (x.last() + 1) * beats + 1,
                     to_frame = frame - y.last() * line - (x.last() + 1) * beats + 1;
  const std::int64_t pixel = std::max(x.stride * beats, beats * work + idle(to_pixel));
  const std::int64_t windows = (x.out - 1) * pixel + beats * work;
  const std::int64_t row = std::max(y.stride * line, windows + idle(to_row));
  return std::max(frame, (y.out - 1) * row + windows + idle(to_frame));
}

}  // namespace mase::design
