// SPDX-License-Identifier: Apache-2.0
// Shifts by shared exponents in RTL against divisions by powers of two.
#include <catch2/catch.hpp>

#include "hardware/design/modules/block_shift.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::FixedType;
using integer::Requantise;
using integer::Wide;

constexpr std::int64_t shift_frames = 48;

Wide power(std::int64_t exponent) { return Wide{1} << exponent; }

/// Twice the floor of a quotient by a power of two, and one more where something is left over.
Wide floor_and_rest(Wide a, std::int64_t places) {
  if (places < 0) return 2 * a * power(-places);
  const Wide divisor = power(std::min<std::int64_t>(places, 100));
  const Wide rest = (a % divisor + divisor) % divisor;
  return 2 * ((a - rest) / divisor) + (rest != 0 ? 1 : 0);
}

Wide exact(const design::BlockShiftModule& module, Wide a, std::int64_t b) {
  if (!module.right) return a * power(b);
  return floor_and_rest(module.places < 0 ? a * power(-module.places) : a,
                        b + std::max(module.places, 0));
}

Case shift_case(Random& random, bool right, int places, int distance_bits) {
  const FixedType a{static_cast<int>(between(random, 1, 20)), 0, random.below(2) == 0};
  const FixedType b{distance_bits, 0, false}, to{12, 0, true};
  Port elements = random_port(random, between(random, 1, 3), a, shift_frames * 8);
  const Port distances = random_port(random, elements.lanes, b, shift_frames * 8);
  elements.codes[0] = static_cast<std::int64_t>(a.low());
  elements.codes[1] = static_cast<std::int64_t>(a.high());
  design::BlockShiftModule module{};
  module.right = right;
  module.places = places;
  const std::int64_t longest = right ? 0 : static_cast<std::int64_t>(b.high());
  const Wide low = exact(module, a.low(), longest), high = exact(module, a.high(), longest);
  const Requantise requantise =
      random_requantise(random, to, static_cast<int>(between(random, 0, 3)));
  static_cast<design::Requantisation&>(module) = design::requantisation(requantise, to);
  module.lanes = elements.lanes;
  module.a_bits = a.width;
  module.a_signed = a.is_signed;
  module.b_bits = b.width;
  module.result_bits = integer::signed_width(std::min<Wide>(low, -1), std::max<Wide>(high, 1));
  Port result{elements.lanes, to, {}};
  for (std::size_t i = 0; i < elements.codes.size(); ++i)
    result.codes.push_back(static_cast<std::int64_t>(
        requantise(exact(module, elements.codes[i], distances.codes[i]))));
  return case_of(module, {elements, distances}, {result});
}

}  // namespace

TEST_CASE("shifts by shared exponents in RTL keep what they lose for the rounding") {
  Random random(31);
  std::vector<Case> cases;
  for (const int distance_bits : {1, 2, 3, 5}) {
    cases.push_back(shift_case(random, false, 0, std::min(distance_bits, 3)));
    for (const int places : {-3, 0, 2, 30})
      cases.push_back(shift_case(random, true, places, distance_bits));
  }
  check_cases(cases, shift_frames);
}

}  // namespace mase::rtl_test
