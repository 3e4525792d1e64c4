// SPDX-License-Identifier: Apache-2.0
// Programs on several devices: links where values leave a device, and cuts that balance.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "base/random.hpp"
#include "hardware/design/balance_devices.hpp"
#include "hardware/design/build.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/folding/fold_options.hpp"
#include "programs.hpp"

using namespace mase;
using namespace mase::design;
using mase::test::ProgramMaker;
using mase::test::structure;

namespace {

/// The names of all links.
std::vector<std::string> links(const Design& design) {
  std::vector<std::string> found;
  for (const Instance& instance : design.instances)
    if (instance.device == between_devices) found.push_back(instance.name);
  return found;
}

/// A chain of linears in which some values are read again later.
std::shared_ptr<const integer::Program> random_program(Random& random) {
  constexpr std::int64_t width = 6;
  ProgramMaker maker;
  std::vector<integer::ValueId> values = {maker.input("x", {width})};
  const int steps = 3 + static_cast<int>(random.below(5));
  for (int s = 0; s < steps; ++s) {
    const std::string name = "s" + std::to_string(s);
    const integer::ValueId other = values[random.below(values.size())];
    values.push_back(random.below(3) == 0 ? maker.add(name, values.back(), other)
                                          : maker.linear(name, values.back(), width, width));
  }
  maker.output(values.back());
  return maker.share();
}

double area_on(const Design& alone, const std::map<std::string, int>& devices, int device) {
  double sum = 0;
  for (const Instance& instance : alone.instances)
    if (!instance.layer.empty() && devices.at(instance.layer) == device)
      sum += area(instance_cost(alone, instance));
  return sum;
}

/// The bits of all links of a design that was built with these devices.
double bits_of(const Design& design) {
  double bits = 0;
  for (const Instance& instance : design.instances)
    if (instance.module.name() == "mase_link_output")
      bits += static_cast<double>(design.stream(instance.inputs[0]).width());
  return bits;
}

struct Cut {
  std::map<std::string, int> devices;
  double largest, bits;
};

/// All ways to cut the steps, in their order, into so many parts.
std::vector<Cut> all_cuts(const Design& alone, int devices) {
  const auto& steps = alone.program->steps;
  std::vector<Cut> cuts;
  for (unsigned mask = 0; mask < 1U << (steps.size() - 1); ++mask) {
    Cut cut{{}, 0, 0};
    int device = 0;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (s > 0 && (mask >> (s - 1) & 1) != 0) ++device;
      cut.devices[steps[s].layer] = device;
    }
    if (device != devices - 1) continue;
    for (int d = 0; d < devices; ++d)
      cut.largest = std::max(cut.largest, area_on(alone, cut.devices, d));
    cut.bits =
        bits_of(assemble(alone.program, alone.folding, nullptr, Images::empty, {cut.devices}));
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

}  // namespace

TEST_CASE("a value goes to another device by one link, however many read it there") {
  ProgramMaker maker;
  const auto x = maker.input("x", {6});
  const auto y = maker.linear("y", x, 6, 6);
  const auto a = maker.linear("a", y, 6, 6), b = maker.linear("b", y, 6, 6);
  maker.output(maker.add("sum", a, b));
  maker.output(maker.linear("c", y, 6, 6));
  const Design design =
      assemble(maker.share(), {}, nullptr, Images::complete, {{{"a", 1}, {"b", 1}, {"sum", 1}}});
  CHECK(links(design) == std::vector<std::string>{"link_y"});
  const std::vector<std::string> all = structure(design);
  const std::vector<std::string> wanted = {
      "fork_y:mase_stream_fork(y)->y_1,y_2", "send_y:mase_link_output(y_1)->y_to_1",
      "link_y:mase_link(y_to_1)->y_from_0", "receive_y:mase_link_input(y_from_0)->y_3",
      "fork_y_1:mase_stream_fork(y_3)->y_4,y_5"};
  for (const std::string& line : wanted) {
    INFO(line);
    CHECK(std::ranges::count(all, line) == 1);
  }
  CHECK(design.devices() == std::vector{0, 1});
}

TEST_CASE("a link adds its latency, a cycle at each port, and the cycles of its words") {
  ProgramMaker maker;
  const auto x = maker.input("x", {8});
  maker.output(maker.linear("second", maker.linear("first", x, 8, 8), 8, 8));
  const Folding folding{{"first", {8, 8}}, {"second", {8, 8}}};  // a beat of 64 bits is a frame
  const Design alone = build(maker.share(), folding);
  REQUIRE(alone.timing.interval == 1);
  for (const std::int64_t latency : {1, 9, 250, 5000})
    for (const std::int64_t width : {0, 8, 32, 64, 128})
      for (const std::int64_t interval : {1, 2, 5, 700}) {
        INFO("latency " << latency << ", width " << width << ", interval " << interval);
        const Design joined =
            build(maker.share(), folding, {{{"second", 1}}, {latency, width, interval}});
        const std::int64_t words = width == 0 || width >= 64 ? 1 : 64 / width;
        // The first of several words is a cycle longer on its way out of the beat.
        const std::int64_t more = (words > 1 ? 2 : 1) + words * interval - 1 + latency + 1;
        CHECK(joined.timing.first == alone.timing.first + more);
        CHECK(joined.timing.last == alone.timing.last + more);
        CHECK(joined.timing.interval == words * interval);
      }
}

TEST_CASE("balanced cuts are those that brute force finds") {
  Random random(4);
  for (int i = 0; i < 25; ++i) {
    const Design alone = assemble(random_program(random), {}, nullptr, Images::empty);
    const int most = static_cast<int>(alone.program->steps.size());
    for (int devices = 2; devices <= std::min(most, 4); ++devices) {
      const std::vector<Cut> cuts = all_cuts(alone, devices);
      const double least = std::ranges::min(cuts, {}, &Cut::largest).largest;
      double bits = std::numeric_limits<double>::infinity();
      for (const Cut& cut : cuts)
        if (cut.largest <= least * (1 + balance_slack)) bits = std::min(bits, cut.bits);
      const auto found = balance_devices(alone, devices).devices;
      const auto same = std::ranges::find(cuts, found, &Cut::devices);
      INFO("program " << i << " on " << devices);
      REQUIRE(same != cuts.end());
      CHECK(same->largest <= least * (1 + balance_slack));
      CHECK(same->bits == bits);
    }
    CHECK_THROWS_WITH(balance_devices(alone, most + 1),
                      Catch::Contains("can be cut into " + std::to_string(most) + " parts"));
  }
}
