// SPDX-License-Identifier: Apache-2.0
// The window family's cost formulas against resources measured with Yosys.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <vector>

#include "hardware/design/modules/argmax.hpp"
#include "hardware/design/modules/pool.hpp"
#include "hardware/design/modules/window.hpp"
#include "hardware/design/modules/window_parallel.hpp"

namespace mase::design {
namespace {

template <class T>
struct MeasuredWindow {
  T module;
  double lut_and_carry, bram;
};

WindowParallelModule window(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                            std::int64_t pad, std::int64_t lanes) {
  const std::int64_t out = (size + 2 * pad - kernel) / stride + 1;
  return {{size, size, 1, kernel, kernel, stride, stride, 1, 1, pad, pad, out, out}, lanes};
}

WindowParallelModule beats(WindowParallelModule window, std::int64_t per_pixel) {
  window.beats = per_pixel;
  return window;
}

/// A dilation of 2 under a padding that keeps the size.
WindowParallelModule dilated(WindowParallelModule window) {
  window.dilation_y = window.dilation_x = 2;
  window.out_y = window.height;
  window.out_x = window.width;
  return window;
}

WindowModule folded(const WindowParallelModule& window, std::int64_t per_pixel,
                    std::int64_t blocks) {
  return {beats(window, per_pixel), blocks, window.lanes};
}

PoolModule pool(std::int64_t size, std::int64_t beats, std::int64_t kernel, std::int64_t lanes,
                bool sum, std::int64_t accumulator) {
  const Requantisation rounding{.divisor = sum ? kernel * kernel : 1};
  return {{rounding, lanes, 8, true, sum, accumulator}, size, size, beats, kernel, kernel};
}

ArgmaxModule argmax(std::int64_t beats, std::int64_t lanes, int width) {
  return {.beats = beats, .lanes = lanes, .in_bits = width, .out_bits = 4};
}

/// Within 10 % each and within 5 % together; block memory exactly.
template <class T>
void check_windows(const std::vector<MeasuredWindow<T>>& rows) {
  double measured = 0, predicted = 0;
  for (const MeasuredWindow<T>& row : rows) {
    const Cost cost = row.module.cost({});
    INFO(T::module_name << ": " << row.lut_and_carry << " measured, " << cost.lut + cost.carry
                        << " predicted");
    CHECK(std::abs(cost.lut + cost.carry - row.lut_and_carry) < 0.1 * row.lut_and_carry);
    CHECK(cost.bram == row.bram);
    measured += row.lut_and_carry;
    predicted += cost.lut + cost.carry;
  }
  CHECK(std::abs(predicted - measured) < 0.05 * measured);
}

// Yosys 0.23, synth_xilinx -family xc7 -noiopad -noclkbuf -flatten; LUT RAM as its LUTs.
TEST_CASE("costs of the window family are those that Yosys finds, within a tenth") {
  check_windows<WindowModule>({{folded(window(28, 5, 1, 0, 1), 1, 1), 152 + 19, 0},
                               {folded(window(32, 3, 1, 1, 1), 3, 1), 91 + 18, 0.5},
                               {folded(window(12, 5, 1, 0, 1), 6, 1), 76 + 18, 0.5},
                               {folded(window(28, 3, 1, 1, 1), 1, 1), 116 + 14, 0},
                               {folded(window(14, 2, 2, 0, 2), 4, 4), 78 + 13, 0.5},
                               {folded(window(16, 1, 2, 0, 4), 4, 1), 54 + 4, 0},
                               {folded(window(32, 2, 1, 0, 16), 1, 1), 194 + 16, 2}});
  check_windows<WindowParallelModule>({{window(28, 3, 1, 1, 1), 133 + 12, 0},
                                       {window(28, 5, 1, 0, 1), 270 + 12, 0},
                                       {window(12, 5, 1, 0, 6), 1368 + 7, 0},
                                       {window(8, 2, 2, 0, 8), 337 + 6, 0},
                                       {beats(window(8, 3, 1, 1, 1), 48), 207 + 16, 0.5},
                                       {beats(window(8, 3, 1, 1, 2), 96), 222 + 16, 2.5},
                                       {beats(window(14, 5, 1, 2, 1), 32), 385 + 16, 0.5},
                                       {beats(dilated(window(16, 3, 1, 2, 4)), 4), 648 + 9, 0}});
  check_windows<PoolModule>({{pool(24, 6, 2, 1, false, 8), 92 + 6, 0},
                             {pool(28, 1, 2, 8, false, 8), 316 + 11, 0},
                             {pool(8, 16, 8, 1, true, 14), 77 + 11, 0},
                             {pool(9, 4, 3, 1, true, 12), 146 + 21, 0}});
  check_windows<ArgmaxModule>({{argmax(10, 1, 8), 22 + 2, 0},
                               {argmax(10, 1, 24), 32 + 3, 0},
                               {argmax(2, 5, 8), 86 + 7, 0},
                               {argmax(1, 16, 8), 230 + 15, 0}});
}

}  // namespace
}  // namespace mase::design
