// SPDX-License-Identifier: Apache-2.0
// The table of devices.
#include "hardware/emit/parts.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::emit {
namespace {

constexpr auto table = std::to_array<Device>({
    // Spartan-7.
    {"xc7s6", 3'750, 10, 5},
    {"xc7s15", 8'000, 20, 10},
    {"xc7s25", 14'600, 80, 45},
    {"xc7s50", 32'600, 120, 75},
    {"xc7s75", 48'000, 140, 90},
    {"xc7s100", 64'000, 160, 120},
    // Artix-7.
    {"xc7a12t", 8'000, 40, 20},
    {"xc7a15t", 10'400, 45, 25},
    {"xc7a25t", 14'600, 80, 45},
    {"xc7a35t", 20'800, 90, 50},
    {"xc7a50t", 32'600, 120, 75},
    {"xc7a75t", 47'200, 180, 105},
    {"xc7a100t", 63'400, 240, 135},
    {"xc7a200t", 134'600, 740, 365},
    // Kintex-7.
    {"xc7k70t", 41'000, 240, 135},
    {"xc7k160t", 101'400, 600, 325},
    {"xc7k325t", 203'800, 840, 445},
    {"xc7k355t", 222'600, 1'440, 715},
    {"xc7k410t", 254'200, 1'540, 795},
    {"xc7k420t", 260'600, 1'680, 835},
    {"xc7k480t", 298'600, 1'920, 955},
    // Virtex-7.
    {"xc7vx330t", 204'000, 1'120, 750},
    {"xc7vx485t", 303'600, 2'800, 1'030},
    {"xc7vx690t", 433'200, 3'600, 1'470},
    // Zynq-7000.
    {"xc7z007s", 14'400, 66, 50},
    {"xc7z010", 17'600, 80, 60},
    {"xc7z012s", 34'400, 120, 72},
    {"xc7z014s", 40'600, 170, 107},
    {"xc7z015", 46'200, 160, 95},
    {"xc7z020", 53'200, 220, 140},
    {"xc7z030", 78'600, 400, 265},
    {"xc7z035", 171'900, 900, 500},
    {"xc7z045", 218'600, 900, 545},
    {"xc7z100", 277'400, 2'020, 755},
    // Zynq UltraScale+.
    {"xczu2", 47'232, 240, 150},
    {"xczu3", 70'560, 360, 216},
    {"xczu4", 87'840, 728, 128},
    {"xczu5", 117'120, 1'248, 144},
    {"xczu6", 214'604, 1'973, 714},
    {"xczu7", 230'400, 1'728, 312},
    {"xczu9", 274'080, 2'520, 912},
    {"xczu11", 298'560, 2'928, 600},
    {"xczu15", 341'280, 3'528, 744},
    {"xczu17", 423'360, 1'590, 796},
    {"xczu19", 522'720, 1'968, 984},
    // Kintex UltraScale+.
    {"xcku3p", 162'720, 1'368, 360},
    {"xcku5p", 216'960, 1'824, 480},
    {"xcku9p", 274'080, 2'520, 912},
    {"xcku11p", 298'560, 2'928, 600},
    {"xcku13p", 341'280, 3'528, 744},
    {"xcku15p", 522'720, 1'968, 984},
    // Virtex UltraScale+.
    {"xcvu3p", 394'080, 2'280, 720},
    {"xcvu5p", 600'577, 3'474, 1'024},
    {"xcvu7p", 788'160, 4'560, 1'440},
    {"xcvu9p", 1'182'240, 6'840, 2'160},
    {"xcvu11p", 1'296'000, 9'216, 2'016},
    {"xcvu13p", 1'728'000, 12'288, 2'688},
    // Versal.
    {"xcvc1902", 899'840, 1'968, 967},
});

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What follows the device's name in a part's (package, variant) does not begin with a digit.
bool begins(std::string_view part, std::string_view device) {
  if (!part.starts_with(device)) return false;
  const std::string_view rest = part.substr(device.size());
  return rest.empty() || !is_digit(rest.front());
}

std::string share_text(const char* name, double needed, std::int64_t there) {
  return std::string(name) + " " + fixed_text(100 * needed / static_cast<double>(there), 0) + " %";
}

}  // namespace

std::span<const Device> devices() { return table; }

const Device& device_of(const std::string& part) {
  const std::string name = lower_case(part);
  const Device* found = nullptr;
  for (const Device& device : table)
    if (begins(name, device.name) && (!found || device.name.size() > found->name.size()))
      found = &device;
  if (found) return *found;
  std::vector<std::string> names;
  for (const Device& device : table) names.emplace_back(device.name);
  config_error("there is no part '" + part + "' among the devices that are known" +
               did_you_mean(name, names, ": " + join(names, ", ")));
}

std::string_view dsp_block_of(const std::string& part) {
  // By how the devices of a family begin: 7 series, UltraScale+, Versal.
  constexpr std::pair<std::string_view, std::string_view> families[] = {{"xc7", "dsp48e1"},
                                                                        {"xczu", "dsp48e2"},
                                                                        {"xcku", "dsp48e2"},
                                                                        {"xcvu", "dsp48e2"},
                                                                        {"xcvc", "dsp58"}};
  const std::string_view device = device_of(part).name;
  for (const auto& [begin, block] : families)
    if (device.starts_with(begin)) return block;
  MASE_CHECK(false, "a device without a DSP block");
  return "";
}

std::string_view technology_of_part(const std::string& part) {
  device_of(part);  // or its error
  return "xc7";
}

bool holds(const Device& device, const design::Cost& cost) {
  return cost.lut <= static_cast<double>(device.lut) &&
         cost.dsp <= static_cast<double>(device.dsp) &&
         cost.bram <= static_cast<double>(device.bram36);
}

std::string use_text(const Device& device, const design::Cost& cost) {
  return share_text("LUT", cost.lut, device.lut) + ", " + share_text("DSP", cost.dsp, device.dsp) +
         ", " + share_text("RAMB36", cost.bram, device.bram36) + " of " + std::string(device.name);
}

std::vector<std::string> devices_for(const design::Cost& cost, std::size_t most) {
  std::vector<const Device*> found;
  for (const Device& device : table)
    if (holds(device, cost)) found.push_back(&device);
  std::ranges::stable_sort(found, {}, &Device::lut);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) names.emplace_back(found[i]->name);
  return names;
}

}  // namespace mase::emit
