// SPDX-License-Identifier: Apache-2.0
// Programs on several devices: links where values leave a device, and cuts that balance.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
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

Cost cost_on(const Design& alone, const std::map<std::string, int>& devices, int device) {
  Cost sum;
  for (const Instance& instance : alone.instances)
    if (!instance.layer.empty() && devices.at(instance.layer) == device)
      sum += instance_cost(alone, instance);
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

/// The cycles of a frame on the slowest link of a design that was built with these devices.
std::int64_t cycles_of(const Design& design, std::int64_t least) {
  for (const Instance& instance : design.instances)
    if (instance.device == between_devices)
      least = std::max(
          least, design.stream(instance.inputs[0]).beats() * design.distribution.links.interval);
  return least;
}

/// `size` is the largest of all parts.
struct Cut {
  std::map<std::string, int> devices;
  double size = 0, bits = 0;
  std::int64_t cycles = 0;
};
using Size = std::function<double(int device, const Cost&)>;

double area_of(int, const Cost& cost) { return area(cost); }

/// So many per cent of an amount.
std::int64_t part_of(double amount, std::uint64_t per_cent) {
  return static_cast<std::int64_t>(amount * static_cast<double>(per_cent) / 100);
}

/// All ways to cut the steps, in their order, into so many parts.
std::vector<Cut> all_cuts(const Design& alone, int devices, const Size& size,
                          const LinkSettings& links = {}, std::int64_t interval = 1) {
  const auto& steps = alone.program->steps;
  std::vector<Cut> cuts;
  for (unsigned mask = 0; mask < 1U << (steps.size() - 1); ++mask) {
    Cut cut;
    int device = 0;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (s > 0 && (mask >> (s - 1) & 1) != 0) ++device;
      cut.devices[steps[s].layer] = device;
    }
    if (device != devices - 1) continue;
    for (int d = 0; d < devices; ++d)
      cut.size = std::max(cut.size, size(d, cost_on(alone, cut.devices, d)));
    const Design joined =
        assemble(alone.program, alone.folding, nullptr, Images::empty, {cut.devices, links});
    cut.bits = bits_of(joined);
    cut.cycles = cycles_of(joined, interval);
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

/// What is wanted of cuts, one thing after the other, by looking at all of them.
void check_best(const std::vector<Cut>& cuts, const std::map<std::string, int>& found,
                double limit = std::numeric_limits<double>::infinity()) {
  const auto least = [&](auto Cut::*what, auto&& wanted) {
    auto value = std::numeric_limits<double>::infinity();
    for (const Cut& cut : cuts)
      if (wanted(cut)) value = std::min(value, static_cast<double>(cut.*what));
    return value;
  };
  const double cycles = least(&Cut::cycles, [&](const Cut& cut) { return cut.size <= limit; });
  const auto quick = [&](const Cut& cut) {
    return static_cast<double>(cut.cycles) == cycles && cut.size <= limit;
  };
  const double size = std::min(limit, least(&Cut::size, quick) * (1 + balance_slack));
  const auto even = [&](const Cut& cut) { return quick(cut) && cut.size <= size; };
  const auto same = std::ranges::find(cuts, found, &Cut::devices);
  REQUIRE(same != cuts.end());
  CHECK(even(*same));
  CHECK(same->bits == least(&Cut::bits, even));
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
      INFO("program " << i << " on " << devices);
      check_best(all_cuts(alone, devices, area_of), balance_devices(alone, devices).devices);
      const CutDemands demands{{4, 8, 2}, 30, {}, {}};
      check_best(all_cuts(alone, devices, area_of, demands.links, demands.interval),
                 balance_devices(alone, devices, demands).devices);
    }
    CHECK_THROWS_WITH(balance_devices(alone, most + 1),
                      Catch::Contains("can be cut into " + std::to_string(most) + " parts"));
  }
}

TEST_CASE("cuts keep within the limits of every device, or the nearest one is named") {
  Random random(9);
  int kept = 0, refused = 0;
  for (int i = 0; i < 40; ++i) {
    const Design alone = assemble(random_program(random), {}, nullptr, Images::empty);
    const int devices = 2 + static_cast<int>(random.below(2));
    const Cost total = cost(alone);
    DeviceOptions options;
    for (int d = 0; d < devices; ++d)
      options.device_lut.push_back(part_of(total.lut, 10 + random.below(60)));
    options.device_dsp = {part_of(total.dsp, 80)};
    const auto size = [&](int device, const Cost& cost) {
      const auto share = [](double taken, std::int64_t limit) {
        return taken > 0 ? taken / static_cast<double>(limit) : 0;
      };
      return std::max(share(cost.lut, options.device_lut[static_cast<std::size_t>(device)]),
                      share(cost.dsp, options.device_dsp[0]));
    };
    const std::vector<Cut> cuts = all_cuts(alone, devices, size, {4, 8, 2}, 30);
    const CutDemands demands{{4, 8, 2}, 30, DeviceLimits(options), {}};
    INFO("program " << i << " on " << devices);
    if (std::ranges::min(cuts, {}, &Cut::size).size <= 1) {
      check_best(cuts, balance_devices(alone, devices, demands).devices, 1);
      ++kept;
    } else {
      CHECK_THROWS_WITH(
          balance_devices(alone, devices, demands),
          (Catch::Contains("keeps within their limits") || Catch::Contains("a layer is not cut")) &&
              Catch::Contains("more than device_"));
      ++refused;
    }
  }
  CHECK(kept > 5);
  CHECK(refused > 5);
}

TEST_CASE("a layer that is larger than every device is named, also where devices hold nothing") {
  ProgramMaker maker;
  const auto small = maker.linear("small", maker.input("x", {4}), 4, 4);
  maker.output(maker.linear("large", small, 4, 64));
  const Design alone = assemble(maker.share(), {{"large", {4, 64}}}, nullptr, Images::empty);
  const auto refused = [&](const std::vector<std::int64_t>& luts) {
    DeviceOptions options;
    options.device_lut = luts;
    try {
      balance_devices(alone, 2, {{}, 1, DeviceLimits(options), {}});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto lut = [&](const std::string& layer) {
    double sum = 0;
    for (const Instance& instance : alone.instances)
      if (instance.layer == layer) sum += instance_cost(alone, instance).lut;
    return static_cast<std::int64_t>(sum);
  };
  REQUIRE(lut("large") > 2 * lut("small"));
  CHECK_THAT(refused({lut("large") - 1, lut("large") / 2}),
             Catch::Contains("no device holds layer 'large'") && Catch::Contains("on device 0 it"));
  CHECK_THAT(refused({0}), Catch::Contains("no device holds layer 'small'"));
  CHECK_THAT(refused({lut("large") + 1, lut("small") + 1}),  // the order of layers does not fit
             Catch::Contains("device 1 (large) takes"));
  CHECK(refused({lut("small") + 1, lut("large") + 1}).empty());
}

TEST_CASE("a built design keeps within the limits with what lies between its layers") {
  Random random(21);
  int kept = 0;
  for (int i = 0; i < 12; ++i) {
    const Design alone = assemble(random_program(random), {}, nullptr, Images::complete);
    DeviceOptions options;
    const double lut = cost(alone).lut;
    options.device_lut = {part_of(lut, 50 + random.below(60)), part_of(lut, 50 + random.below(60))};
    INFO("program " << i);
    try {
      const Design built = build_balanced(alone, 2, {{}, 1, DeviceLimits(options), {}});
      for (const int device : {0, 1})
        CHECK(device_cost(built, device).lut <=
              static_cast<double>(options.device_lut[static_cast<std::size_t>(device)]));
      ++kept;
    } catch (const Error& error) {
      CHECK(error.fault() == Fault::config);
    }
  }
  CHECK(kept > 3);
}
