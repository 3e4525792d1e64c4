// SPDX-License-Identifier: Apache-2.0
// Numbers of the manufacturer's tables: Lattice FPGA-DS-02012 (ECP5), FPGA-DS-02029 (iCE40 LP/HX)
// and FPGA-DS-02008 (iCE40 UltraPlus). Of ECP5's three speed grades the slowest is taken.
#include "hardware/emit/families.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/emit/package/scripts.hpp"
#include "hardware/emit/tools/output_registers.hpp"

namespace mase::emit {
namespace {

design::Cost room(double lut, double dsp, double bram) {
  return {.lut = lut, .ff = lut, .dsp = dsp, .bram = bram};
}

const std::vector<Family>& families() {
  static const std::vector<Family> rows = {
      {"xc7", synthesise_xc7, "", "t:LUT* t:CARRY4 t:MUXF7 t:MUXF8 t:INV", "dsp48e1",
       "+/xilinx/cells_sim.v"},
      // Its memories are blocks or registers: what a module asks of them is for other families.
      {"ice40",
       "setattr -unset ram_style -unset rom_style */m:*; synth_ice40 -dsp",
       "",
       "t:SB_LUT4 t:SB_CARRY",
       "none",
       "-D ICE40_U +/ice40/cells_sim.v",
       {{"iCE40UP5K-SG48", {"--up5k", "--package", "sg48"}, room(5280, 8, 30)},
        {"iCE40HX8K-CT256", {"--hx8k", "--package", "ct256"}, room(7680, 0, 32)}},
       {"--pcf-allow-unconstrained"}},
      {"ecp5",
       "synth_ecp5",
       "+/ecp5/cells_bb.v",
       "t:LUT4 t:CCU2C t:L6MUX21 t:PFUMX",
       "mult18x18d",
       "",
       {{"LFE5U-25F-6CABGA381", {"--25k", "--package", "CABGA381"}, room(24288, 28, 56)},
        {"LFE5U-45F-6CABGA381", {"--45k", "--package", "CABGA381"}, room(43848, 72, 108)},
        {"LFE5U-85F-6CABGA381", {"--85k", "--package", "CABGA381"}, room(83640, 156, 208)}},
       {"--speed", "6", "--lpf-allow-unconstrained"},
       with_output_registers}};
  return rows;
}

/// Placers cannot fill the last tenth of a device's logic.
constexpr double full = 0.9;

/// What a device holds of a resource, and the option of emit that bounds it.
struct Room {
  const char* what;
  double design::Cost::*count;
  double share;  ///< that can be used
  const char* option;
};
constexpr Room rooms[] = {{"LUTs", &design::Cost::lut, full, "lut"},
                          {"flip-flops", &design::Cost::ff, full, ""},
                          {"DSP blocks", &design::Cost::dsp, 1, "dsp"},
                          {"block memories", &design::Cost::bram, 1, "bram"}};

bool holds(const PlacedDevice& device, const design::Cost& counted) {
  return std::ranges::all_of(rooms, [&](const Room& room) {
    return counted.*room.count <= room.share * (device.holds.*room.count);
  });
}

/// Predictions are in another family's cells: the limit is as much less as there is too much.
std::string limit_of(const Room& room, double allowed, double counted, double predicted) {
  return "--" + std::string(room.option) + " " +
         fixed_text(std::floor(predicted * allowed / counted), 0);
}

[[noreturn]] void refuse(const Family& family, const design::Cost& counted,
                         const design::Cost& predicted) {
  const PlacedDevice& largest = family.devices.back();
  std::vector<std::string> beyond, limits;
  for (const Room& room : rooms) {
    const double found = counted.*room.count, allowed = room.share * (largest.holds.*room.count);
    if (found > allowed)
      beyond.push_back(fixed_text(found, 0) + " " + room.what + " where " + fixed_text(allowed, 0) +
                       " can be used");
    // What is spared of one resource must not go to another one instead.
    if (*room.option && found > 0)
      limits.push_back(limit_of(room, allowed, found, predicted.*room.count));
  }
  config_error("no device of " + std::string(family.name) + " holds the design: it takes " +
               join(beyond, ", ") + " of " + std::string(largest.name) +
               ", the largest that mase places for; fold it with a larger --ii, or take the "
               "fastest design that fits: " +
               join(limits, " "));
}

}  // namespace

const Family& family_of(const std::string& name) {
  std::vector<std::string> names;
  for (const Family& row : families()) {
    if (row.name == name) return row;
    names.emplace_back(row.name);
  }
  config_error("there is no FPGA family '" + name + "'; known are " + join(names, ", "));
}

const Family& placed_family(const std::string& name) {
  const Family& family = family_of(name);
  if (!family.devices.empty()) return family;
  std::vector<std::string> names;
  for (const Family& row : families())
    if (!row.devices.empty()) names.emplace_back(row.name);
  config_error("nextpnr does not place for '" + name + "'; it does for " + join(names, ", "));
}

const PlacedDevice& device_for(const Family& family, const design::Cost& counted,
                               const design::Cost& predicted) {
  for (const PlacedDevice& device : family.devices)
    if (holds(device, counted)) return device;
  refuse(family, counted, predicted);
}

}  // namespace mase::emit
