// SPDX-License-Identifier: Apache-2.0
// Which weights share a multiplier: against every code of small operands, and known widths of real
// blocks.
#include "hardware/design/folding/packing.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <optional>

using namespace mase;
using namespace mase::design;
using integer::FixedType;
using integer::Wide;

namespace {

FixedType codes(int width, bool is_signed) { return {width, 0, is_signed}; }

/// The widest packing of a block; that of one output if it holds no more.
Packing most(const SharedProducts& shared, const char* block) {
  const std::vector<Packing> all = packings(shared, dsp_block(block));
  return all.empty() ? Packing{} : all.back();
}

Wide low_bits(Wide value, int bits) { return value & ((Wide{1} << bits) - 1); }

Wide as_signed(Wide value, int bits) {
  const Wide low = low_bits(value, bits);
  return low >> (bits - 1) != 0 ? low - (Wide{1} << bits) : low;
}

/// The sums as a field at a time tells them from the one that the block adds up.
std::vector<Wide> unpacked(const std::vector<Wide>& sums, const Packing& packing, int known) {
  const int pitch = static_cast<int>(packing.pitch);
  Wide total = 0, over = 0;
  for (std::size_t f = sums.size(); f-- > 0;) total = total * (Wide{1} << pitch) + sums[f];
  std::vector<Wide> found;
  for (std::size_t f = 0; f + 1 < sums.size(); ++f) {
    Wide carried = as_signed(total, pitch) < 0 ? -1 : 0;
    if (known > 0) carried = as_signed((total >> pitch) - low_bits(sums[f + 1], known), known);
    const Wide field =
        known > 0 ? carried * (Wide{1} << pitch) + low_bits(total, pitch) : as_signed(total, pitch);
    found.push_back(field - over);
    over = carried;
    total >>= pitch;
  }
  found.push_back(total - over);
  return found;
}

/// Calls `check` with every choice of `count` codes.
void for_all_codes(const FixedType& type, std::size_t count,
                   const std::function<void(const std::vector<Wide>&)>& check) {
  std::vector<Wide> chosen(count, type.low());
  for (;;) {
    check(chosen);
    std::size_t i = 0;
    while (i < count && chosen[i] == type.high()) chosen[i++] = type.low();
    if (i == count) return;
    ++chosen[i];
  }
}

/// Whether every choice of codes is unpacked as it was and fits an operand of `wide` bits.
bool exact(const SharedProducts& shared, const Packing& packing, int known, int wide) {
  const auto lanes = static_cast<std::size_t>(shared.lanes),
             outputs = static_cast<std::size_t>(packing.outputs);
  bool good = true;
  for_all_codes(shared.activation, lanes, [&](const std::vector<Wide>& x) {
    for_all_codes(shared.weight, lanes * outputs, [&](const std::vector<Wide>& w) {
      std::vector<Wide> sums(outputs, 0);
      for (std::size_t i = 0; i < lanes; ++i) {
        Wide operand = 0;
        for (std::size_t f = outputs; f-- > 0;) {
          sums[f] += x[i] * w[i * outputs + f];
          operand = operand * (Wide{1} << packing.pitch) + w[i * outputs + f];
        }
        good = good && integer::signed_width(operand, operand) <= wide;
      }
      good = good && unpacked(sums, packing, known) == sums;
    });
  });
  return good;
}

}  // namespace

TEST_CASE("every packing is exact for all codes, and a bit less is not") {
  int checked = 0, recovered = 0;
  for (int wide = 5; wide <= 12; ++wide)
    for (int a = 1; a <= 3; ++a)
      for (int w = 2; w <= 3; ++w)
        for (bool is_signed : {false, true})
          for (std::int64_t lanes = 1; lanes <= 2; ++lanes) {
            const SharedProducts shared{codes(a, is_signed), codes(w, true), lanes, 3};
            for (const Packing& packing : packings(shared, {"own", wide, 4, 40, 3})) {
              if (packing.outputs * lanes * w > 12) continue;  // too many codes
              const int known = known_bits(shared, packing);
              INFO(wide << " bits, " << a << " x " << w << ", lanes " << lanes << ", outputs "
                        << packing.outputs << ", pitch " << packing.pitch << ", known " << known);
              CHECK(exact(shared, packing, known, wide));
              // Between two fields a bound of what is taken over need not be met.
              if (known > 0 && packing.outputs == 2)
                CHECK_FALSE(exact(shared, packing, known - 1, wide));
              ++checked;
              recovered += known > 0;
            }
          }
  CHECK(checked > 100);
  CHECK(recovered > 30);
}

// AMD's white paper WP486 adds seven products of signed bytes in fields of 18 bits of a DSP48E2;
// eight least codes make 2^17, which does not fit.
TEST_CASE("two bytes share a multiplier, of 27 bits without help for seven lanes") {
  const auto bytes = [](std::int64_t lanes) {
    return SharedProducts{codes(8, true), codes(8, true), lanes, 8};
  };
  CHECK((most(bytes(7), "dsp48e2") == Packing{2, 18}));
  CHECK(known_bits(bytes(7), {2, 18}) == 0);
  CHECK(known_bits(bytes(8), {2, 18}) == 1);
  CHECK((most(bytes(1), "dsp48e1") == Packing{2, 16}));
  CHECK(known_bits(bytes(1), {2, 16}) == 0);
  CHECK(known_bits(bytes(2), {2, 16}) == 1);
  CHECK(most(bytes(1), "mult18x18d").outputs == 1);
  CHECK(packings({codes(8, true), codes(8, true), 1, 1}, dsp_block("dsp48e2")).empty());
}

// Of 25 bits 4 are a weight, one its sign, and 20 the distance of the highest field: three fields
// of 10 bits hold sums of seven products of 8 bits, four fields of 6 need four bits made beside
// them.
TEST_CASE(
    "three weights of four bits share a multiplier of 25 bits, four with help, two one of 18") {
  const SharedProducts nibbles{codes(4, true), codes(4, true), 7, 8};
  const std::vector<Packing> all{{2, 10}, {3, 10}, {4, 6}};
  CHECK(packings(nibbles, dsp_block("dsp48e1")) == all);
  CHECK(known_bits(nibbles, {3, 10}) == 0);
  CHECK(known_bits(nibbles, {4, 6}) == 4);
  CHECK((most(nibbles, "mult18x18d") == Packing{2, 10}));
  // Binary activations and weights of two bits: products of [-2, 1], fields of two bits.
  CHECK(most({codes(1, false), codes(2, true), 1, 8}, "dsp48e1").outputs > 4);
}

TEST_CASE("what a block does not hold is not packed") {
  CHECK(most({codes(18, true), codes(8, true), 1, 2}, "dsp48e1").outputs == 1);  // ten bits known
  CHECK(most({codes(19, true), codes(2, true), 1, 2}, "dsp48e2").outputs == 1);  // activations
  CHECK(most({codes(19, true), codes(2, true), 1, 2}, "dsp58").outputs == 2);
  CHECK(most({codes(8, true), codes(8, true), 64, 2}, "dsp48e1").outputs == 1);  // six bits known
  CHECK(most({codes(8, true), codes(8, true), 64, 2}, "dsp48e2").outputs == 2);
}
