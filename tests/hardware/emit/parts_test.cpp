// SPDX-License-Identifier: Apache-2.0
// Devices of parts, and what fits them.
#include "hardware/emit/parts.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "support/message_of.hpp"

using namespace mase;
using namespace mase::emit;
using test::message_of;

namespace {

design::Cost cost(double lut, double dsp, double bram) {
  design::Cost made;
  made.lut = lut;
  made.dsp = dsp;
  made.bram = bram;
  return made;
}

}  // namespace

TEST_CASE("a part is found by the longest name of a device that begins it") {
  CHECK(device_of("xc7a100tcsg324-1").name == "xc7a100t");
  CHECK(device_of("XCZU19EG-ffvc1760-2-e").name == "xczu19");
  CHECK(device_of("xcku3p-ffva676-1-e").name == "xcku3p");
  CHECK(device_of("xc7s6ftgb196-1").name == "xc7s6");
  for (const char* part : {"xczu12eg", "virtex", "", "xc7a1000t"}) {
    INFO(part);
    CHECK(message_of(mase::Fault::config, [&] { device_of(part); }).find("known") !=
          std::string::npos);
  }
}

TEST_CASE("what holds a design is said, the smallest first") {
  const Device& device = device_of("xc7a100t");
  CHECK(holds(device, cost(63400, 240, 135)));
  CHECK_FALSE(holds(device, cost(100, 241, 1)));
  CHECK(use_text(device, cost(6340, 120, 13.5)) == "LUT 10 %, DSP 50 %, RAMB36 10 % of xc7a100t");
  CHECK(devices_for(cost(1000, 10, 2500), 3) == std::vector<std::string>{"xcvu13p"});
  CHECK(devices_for(cost(1000, 10, 5000), 3).empty());
  const std::vector<std::string> many = devices_for(cost(1000, 5, 1), 100);
  CHECK(many.size() == devices().size());
  CHECK(many.front() == "xc7s6");
}

TEST_CASE("the DSP block is that of the part's family") {
  CHECK(dsp_block_of("xc7a100tcsg324-1") == "dsp48e1");
  CHECK(dsp_block_of("xczu9eg-ffvb1156-2-e") == "dsp48e2");
  CHECK(dsp_block_of("xcku5p-ffvb676-2-e") == "dsp48e2");
  CHECK(dsp_block_of("xcvu9p") == "dsp48e2");
  CHECK(dsp_block_of("xcvc1902") == "dsp58");
  for (const Device& device : devices())
    CHECK_FALSE(dsp_block_of(std::string(device.name)).empty());
}

TEST_CASE("every device stands once and has something of everything") {
  for (const Device& device : devices()) {
    INFO(std::string(device.name));
    CHECK(std::ranges::count(devices(), device.name, &Device::name) == 1);
    CHECK(device.lut > 100 * device.dsp / 3);
    CHECK(device.dsp > 0);
    CHECK(device.bram36 > 0);
    CHECK(device_of(std::string(device.name)).name == device.name);
  }
}
