// SPDX-License-Identifier: Apache-2.0
// Numbers of the manufacturer's tables: Lattice FPGA-DS-02012 (ECP5), FPGA-DS-02029 (iCE40 LP/HX)
// and FPGA-DS-02008 (iCE40 UltraPlus). Of ECP5's three speed grades the slowest is taken.
#include "hardware/emit/families.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/emit/output_registers.hpp"
#include "hardware/emit/scripts.hpp"

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

}  // namespace mase::emit
