// SPDX-License-Identifier: Apache-2.0
// The window family's cost formulas against resources measured with Yosys.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <vector>

#include "hardware/design/module_table.hpp"

namespace mase::design {
namespace {

struct MeasuredWindow {
  ModuleParameters parameters;
  double lut_and_carry, bram;
};

ModuleParameters window(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                        std::int64_t pad, std::int64_t lanes) {
  const std::int64_t out = (size + 2 * pad - kernel) / stride + 1, one = 1;
  return {{"H", size},    {"W", size}, {"KH", kernel}, {"KW", kernel},   {"SH", stride},
          {"SW", stride}, {"DY", one}, {"DX", one},    {"PH", pad},      {"PW", pad},
          {"OH", out},    {"OW", out}, {"CF", one},    {"LANES", lanes}, {"DW", std::int64_t{8}}};
}

ModuleParameters beats(ModuleParameters shape, std::int64_t per_pixel) {
  return shape.set("CF", per_pixel);
}

/// A dilation of 2 under a padding that keeps the size.
ModuleParameters dilated(ModuleParameters shape) {
  const std::int64_t two = 2;
  return shape.set("DY", two)
      .set("DX", two)
      .set("OH", shape.integer("H"))
      .set("OW", shape.integer("W"));
}

ModuleParameters folded(ModuleParameters shape, std::int64_t beats, std::int64_t blocks) {
  return shape.set("CF", beats).set("BLOCKS", blocks);
}

ModuleParameters pool(std::int64_t size, std::int64_t beats, std::int64_t kernel,
                      std::int64_t lanes, bool sum, std::int64_t accumulator) {
  return {{"H", size},
          {"W", size},
          {"CF", beats},
          {"KH", kernel},
          {"KW", kernel},
          {"LANES", lanes},
          {"IW", std::int64_t{8}},
          {"OW", std::int64_t{8}},
          {"OP", std::int64_t{sum}},
          {"ACCW", accumulator},
          {"SHIFT", std::int64_t{0}},
          {"DIVISOR", sum ? kernel * kernel : std::int64_t{1}},
          {"ROUND", std::int64_t{1}}};
}

ModuleParameters argmax(std::int64_t beats, std::int64_t lanes, std::int64_t width) {
  return {{"N", beats},
          {"LANES", lanes},
          {"IW", width},
          {"ISIGNED", std::int64_t{1}},
          {"OW", std::int64_t{4}}};
}

/// Within 10 % each and within 5 % together; block memory exactly.
void check_windows(const std::string& module, const std::vector<MeasuredWindow>& rows) {
  double measured = 0, predicted = 0;
  for (const MeasuredWindow& row : rows) {
    const Cost cost = module_row(module).cost({}, {module, module, "", row.parameters, {}, {}});
    INFO(module << ": " << row.lut_and_carry << " measured, " << cost.lut + cost.carry
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
  check_windows("mase_window", {{folded(window(28, 5, 1, 0, 1), 1, 1), 152 + 19, 0},
                                {folded(window(32, 3, 1, 1, 1), 3, 1), 91 + 18, 0.5},
                                {folded(window(12, 5, 1, 0, 1), 6, 1), 76 + 18, 0.5},
                                {folded(window(28, 3, 1, 1, 1), 1, 1), 116 + 14, 0},
                                {folded(window(14, 2, 2, 0, 2), 4, 4), 78 + 13, 0.5},
                                {folded(window(16, 1, 2, 0, 4), 4, 1), 54 + 4, 0},
                                {folded(window(32, 2, 1, 0, 16), 1, 1), 194 + 16, 2}});
  check_windows("mase_window_parallel", {{window(28, 3, 1, 1, 1), 133 + 12, 0},
                                         {window(28, 5, 1, 0, 1), 270 + 12, 0},
                                         {window(12, 5, 1, 0, 6), 1368 + 7, 0},
                                         {window(8, 2, 2, 0, 8), 337 + 6, 0},
                                         {beats(window(8, 3, 1, 1, 1), 48), 207 + 16, 0.5},
                                         {beats(window(8, 3, 1, 1, 2), 96), 222 + 16, 2.5},
                                         {beats(window(14, 5, 1, 2, 1), 32), 385 + 16, 0.5},
                                         {beats(dilated(window(16, 3, 1, 2, 4)), 4), 648 + 9, 0}});
  check_windows("mase_pool", {{pool(24, 6, 2, 1, false, 8), 92 + 6, 0},
                              {pool(28, 1, 2, 8, false, 8), 316 + 11, 0},
                              {pool(8, 16, 8, 1, true, 14), 77 + 11, 0},
                              {pool(9, 4, 3, 1, true, 12), 146 + 21, 0}});
  check_windows("mase_argmax", {{argmax(10, 1, 8), 22 + 2, 0},
                                {argmax(10, 1, 24), 32 + 3, 0},
                                {argmax(2, 5, 8), 86 + 7, 0},
                                {argmax(1, 16, 8), 230 + 15, 0}});
}

}  // namespace
}  // namespace mase::design
