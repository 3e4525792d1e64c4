// SPDX-License-Identifier: Apache-2.0
// Array: shapes, sharing, conversion to float32.
#include "base/array.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "base/parallel.hpp"

using namespace mase;

namespace {

Array of_bits(DType dtype, const std::vector<std::uint16_t>& bits) {
  Array array(dtype, {static_cast<std::int64_t>(bits.size())});
  std::memcpy(array.mutable_bytes(), bits.data(), 2 * bits.size());
  return array;
}

}  // namespace

TEST_CASE("element types have names and sizes") {
  REQUIRE(size_of(DType::bfloat16) == 2);
  REQUIRE(dtype_name(DType::boolean) == "bool");
  for (int i = 0; i <= static_cast<int>(DType::uint32); ++i)
    REQUIRE(parse_dtype(dtype_name(static_cast<DType>(i))) == static_cast<DType>(i));
  REQUIRE_THROWS_WITH(parse_dtype("complex64"), Catch::Contains("\"complex64\"; known: float32"));
}

TEST_CASE("numel refuses negative sizes and overflow") {
  REQUIRE(numel({}) == 1);
  REQUIRE(numel({3, 0, 5}) == 0);
  REQUIRE(numel({std::int64_t{1} << 62, 4, 0}) == 0);
  REQUIRE_THROWS_AS(numel({-1, 0}), Error);
  REQUIRE_THROWS_AS(numel({std::int64_t{1} << 32, std::int64_t{1} << 31}), Error);
  REQUIRE(shape_text({4, 16}) == "[4, 16]");
  REQUIRE(shape_text({}) == "[]");
}

TEST_CASE("an array too large for memory is an error, not a crash") {
  REQUIRE_THROWS_WITH(
      Array(DType::float64, {std::int64_t{1} << 61}),
      Catch::Contains("not enough memory") && Catch::Contains("[2305843009213693952]"));
  REQUIRE_THROWS_AS(Array(DType::uint8, {std::int64_t{1} << 62}), Error);
}

TEST_CASE("copies share their bytes until one is written") {
  Array a = Array::from(std::vector<float>{1, 2, 3, 4}, {2, 2});
  Array b = a;
  REQUIRE(a.bytes() == b.bytes());
  b.mutable_span<float>()[0] = 9;
  REQUIRE(a.span<float>()[0] == 1);
  REQUIRE(b.span<float>()[0] == 9);
  const auto view = a.share();
  a.mutable_span<float>()[1] = 7;
  REQUIRE(reinterpret_cast<const float*>(view.get())[1] == 2);
  const Array flat = a.reshaped({4});
  REQUIRE(flat.bytes() == a.bytes());
  REQUIRE_THROWS_AS(a.reshaped({5}), Error);
  REQUIRE_THROWS_AS(a.span<double>(), Error);
}

TEST_CASE("rows copies a slice of dimension 0") {
  const Array a = Array::from(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}, {3, 2});
  const Array b = a.rows(1, 2);
  REQUIRE(b.shape() == Shape{2, 2});
  REQUIRE(std::vector<std::int32_t>(b.span<std::int32_t>().begin(), b.span<std::int32_t>().end()) ==
          std::vector<std::int32_t>{2, 3, 4, 5});
  REQUIRE(a.rows(3, 0).size() == 0);
  REQUIRE_THROWS_AS(a.rows(2, 2), Error);
  REQUIRE_THROWS_AS(a.rows(-1, 1), Error);
  REQUIRE_THROWS_AS(a.rows(1, INT64_MAX), Error);
  REQUIRE_THROWS_AS(Array(DType::int8, {}).rows(0, 1), Error);
}

TEST_CASE("float16 widens by the definition of IEEE 754 binary16") {
  const Array half = of_bits(DType::float16, {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x03FF, 0x0400,
                                              0x8000, 0x7C00, 0xFC00, 0x7E00, 0x3555});
  const auto out = half.to_float32();
  const auto v = out.span<float>();
  REQUIRE(v[0] == 1.0F);
  REQUIRE(v[1] == -2.0F);
  REQUIRE(v[2] == 65504.0F);
  REQUIRE(v[3] == 0x1p-24F);
  REQUIRE(v[4] == 1023 * 0x1p-24F);
  REQUIRE(v[5] == 0x1p-14F);
  REQUIRE((v[6] == 0.0F && std::signbit(v[6])));
  REQUIRE(v[7] == std::numeric_limits<float>::infinity());
  REQUIRE(v[8] == -std::numeric_limits<float>::infinity());
  REQUIRE(std::isnan(v[9]));
  REQUIRE(v[10] == 0x1.554p-2F);  // the nearest binary16 to 1/3
}

TEST_CASE("other types become float32 by rounding to nearest") {
  REQUIRE(of_bits(DType::bfloat16, {0x3FC0}).to_float32().span<float>()[0] == 1.5F);
  const auto first = [](const Array& array) { return array.to_float32().span<float>()[0]; };
  REQUIRE(first(Array::from(std::vector<std::int64_t>{16777217}, {1})) == 16777216.0F);
  REQUIRE(first(Array::from(std::vector<double>{0.1}, {1})) == 0.1F);
  REQUIRE(first(Array::from(std::vector<std::int8_t>{-128}, {1})) == -128.0F);
  REQUIRE(first(Array::from(std::vector<std::uint32_t>{4294967295U}, {1})) == 4294967296.0F);
  const bool flag[] = {true};
  REQUIRE(first(Array::from(std::span<const bool>(flag), {1})) == 1.0F);
  const Array same = Array::from(std::vector<float>{1}, {1});
  REQUIRE(same.to_float32().bytes() == same.bytes());
}

TEST_CASE("same_bits tells zeros by sign and shapes apart") {
  const Array a = Array::from(std::vector<float>{0.0F}, {1});
  REQUIRE(a.same_bits(Array(DType::float32, {1})));
  REQUIRE_FALSE(a.same_bits(Array::from(std::vector<float>{-0.0F}, {1})));
  REQUIRE_FALSE(a.same_bits(Array(DType::float32, {1, 1})));
  REQUIRE_FALSE(a.same_bits(Array(DType::int32, {1})));
}

TEST_CASE("exactly the four types with exponents are floating") {
  for (int i = 0; i <= static_cast<int>(DType::uint32); ++i) {
    const auto dtype = static_cast<DType>(i);
    CHECK(is_floating(dtype) == (dtype_name(dtype).find("float") != std::string_view::npos));
  }
}

TEST_CASE("a deferred array is made once, for all of its copies, and only if somebody reads it") {
  int made = 0;
  const auto make = [&made] {
    ++made;
    return Array::from(std::vector<float>{1, 2, 3, 4}, {2, 2});
  };
  const Array first = Array::deferred(DType::float32, {2, 2}, make);
  const Array other = first.reshaped({4});
  Array third = first;
  CHECK(first.byte_size() == 16);
  CHECK(first.aligned().is_aligned());
  CHECK(made == 0);
  CHECK(other.span<float>()[3] == 4);
  CHECK(other.bytes() == first.bytes());
  third.mutable_span<float>()[0] = 7;  // does not change the copies
  CHECK(third.shape() == Shape{2, 2});
  CHECK(first.span<float>()[0] == 1);
  CHECK(first.share().get() == other.bytes());
  CHECK(first.rows(1, 1).span<float>()[0] == 3);
  CHECK(made == 1);
}

TEST_CASE("what makes a deferred array may fail, and is tried again by the next reader") {
  int tries = 0;
  const Array array = Array::deferred(DType::int8, {1}, [&tries] {
    if (++tries == 1) throw Error(Fault::file, "too early");
    return Array::from(std::vector<std::int8_t>{5}, {1});
  });
  CHECK_THROWS_AS(array.bytes(), Error);
  CHECK(array.span<std::int8_t>()[0] == 5);
}

TEST_CASE("widened numbers are those of the stored array, which stays at hand") {
  // 1, -2 and 0.5 in bfloat16 and in float32.
  Array stored(DType::bfloat16, {3});
  const std::uint16_t bits[] = {0x3f80, 0xc000, 0x3f00};
  std::memcpy(stored.mutable_bytes(), bits, sizeof bits);
  const Array wide = Array::widened(stored);
  CHECK(wide.dtype() == DType::float32);
  CHECK(wide.as_stored().same_bits(stored));
  CHECK(wide.same_bits(Array::from(std::vector<float>{1, -2, 0.5F}, {3})));
  CHECK(wide.reshaped({3, 1}).as_stored().same_bits(stored.reshaped({3, 1})));
  Array changed = wide;
  changed.mutable_span<float>()[0] = 3;
  CHECK(changed.as_stored().same_bits(Array::from(std::vector<float>{3, -2, 0.5F}, {3})));
  CHECK(wide.as_stored().same_bits(stored));
  CHECK(Array::widened(changed).same_bits(changed));
}

TEST_CASE("many threads that read a deferred array see the same bytes") {
  std::atomic<int> made = 0;
  const Array array = Array::deferred(DType::int32, {1000}, [&made] {
    ++made;
    return Array(DType::int32, {1000});
  });
  std::vector<const std::byte*> seen(8);
  for_each_index(seen.size(), 8, [&] { return [&](std::size_t i) { seen[i] = array.bytes(); }; });
  CHECK(made == 1);
  CHECK(std::ranges::count(seen, seen[0]) == 8);
}
