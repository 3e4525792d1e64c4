// SPDX-License-Identifier: Apache-2.0
// .npy files: those written by numpy, all orders and versions, and hostile ones.
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

#include "base/array.hpp"
#include "base/file.hpp"
#include "base/npy.hpp"
#include "base/random.hpp"
#include "support/temporary_folder.hpp"
#include "test_paths.hpp"

using namespace mase;
using mase::test::TemporaryFolder;

namespace {

const std::string models = MASE_TEST_FOLDER "/fixtures/models/";

std::string npy(const std::string& dict, const std::string& data, char major = 1) {
  std::string out = "\x93NUMPY";
  out += {major, 0, static_cast<char>(dict.size()), static_cast<char>(dict.size() >> 8)};
  if (major > 1) out += std::string(2, '\0');
  return out + dict + data;
}

std::string header(const std::string& descr, const std::string& shape,
                   const char* fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

/// Without write_file, whose flush to disk would take most of the time of these tests.
void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Array read_bytes(const std::string& bytes) {
  const TemporaryFolder folder;
  put(folder.file("x.npy"), bytes);
  return read_npy(folder.file("x.npy"));
}

std::string refusal(const std::string& bytes) {
  try {
    read_bytes(bytes);
  } catch (const Error& error) {
    REQUIRE(error.fault() == Fault::file);
    REQUIRE_THAT(error.what(), Catch::Contains("x.npy"));
    return error.what();
  }
  return "";
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<T> values_of(const Array& array) {
  return {array.span<T>().begin(), array.span<T>().end()};
}

}  // namespace

TEST_CASE("files written by numpy read with their type, shape and values") {
  // First, second and last value as printed by numpy 2 with float.hex().
  const Array floats = read_npy(models + "jsc_tiny/inputs.npy");
  REQUIRE(floats.dtype() == DType::float32);
  REQUIRE(floats.shape() == Shape{4, 16});
  REQUIRE(floats.span<float>()[0] == -0x1.92f6a4p-2F);
  REQUIRE(floats.span<float>()[1] == 0x1.b4982ap-2F);
  REQUIRE(floats.span<float>()[63] == -0x1.18a48ep-1F);
  const Array tokens = read_npy(models + "bert_tiny/input_0.npy");
  REQUIRE(tokens.shape() == Shape{4, 16});
  REQUIRE(tokens.span<std::int64_t>()[0] == 14);
  REQUIRE(tokens.span<std::int64_t>()[1] == 114);
  REQUIRE(tokens.span<std::int64_t>()[63] == 0);
}

TEST_CASE("writing gives the bytes that numpy writes") {
  const TemporaryFolder folder;
  for (const char* name : {"jsc_tiny/inputs.npy", "bert_tiny/input_0.npy", "lenet/inputs.npy"}) {
    write_npy(folder.file("out.npy"), read_npy(models + name));
    REQUIRE(read_file(folder.file("out.npy")) == read_file(models + name));
  }
}

TEST_CASE("every type and rank is written and read back bit for bit") {
  const TemporaryFolder folder;
  Random random(4);
  for (int i = 0; i <= static_cast<int>(DType::uint32); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::bfloat16) continue;
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{3, 0, 2}}) {
      Array array(dtype, shape);
      std::byte* bytes = array.mutable_bytes();
      for (std::size_t k = 0; k < array.byte_size(); ++k)
        bytes[k] = static_cast<std::byte>(random.below(dtype == DType::boolean ? 2 : 256));
      write_npy(folder.file("x.npy"), array);
      REQUIRE(read_npy(folder.file("x.npy")).same_bits(array));
      REQUIRE(read_file(folder.file("x.npy")).find('\n') % 64 == 63);
    }
  }
}

TEST_CASE("bfloat16 is written as float32") {
  const TemporaryFolder folder;
  Array array(DType::bfloat16, {1});
  const std::uint16_t one_and_a_half = 0x3FC0;
  std::memcpy(array.mutable_bytes(), &one_and_a_half, 2);
  write_npy(folder.file("x.npy"), array);
  REQUIRE(values_of<float>(read_npy(folder.file("x.npy"))) == std::vector<float>{1.5F});
}

TEST_CASE("bfloat16 of ml_dtypes, elements of two bytes without a type, is read") {
  const Array array = read_bytes(npy(header("<V2", "(2,)"), std::string("\xc0\x3f\0\xc0", 4)));
  REQUIRE(array.dtype() == DType::bfloat16);
  REQUIRE(values_of<float>(array.to_float32()) == std::vector<float>{1.5F, -2});
}

TEST_CASE("Fortran order is turned into row-major order") {
  // [[1, 2, 3], [4, 5, 6]] stored column by column.
  const Array matrix =
      read_bytes(npy(header("<i2", "(2, 3)", "True"), raw<std::int16_t>({1, 4, 2, 5, 3, 6})));
  REQUIRE(values_of<std::int16_t>(matrix) == std::vector<std::int16_t>{1, 2, 3, 4, 5, 6});
  // Element (i, j, k) of shape (2, 2, 2) is 100 i + 10 j + k; the first index runs fastest.
  const Array cube = read_bytes(npy(header("|u1", "(2, 2, 2)", "True"),
                                    raw<std::uint8_t>({0, 100, 10, 110, 1, 101, 11, 111})));
  REQUIRE(values_of<std::uint8_t>(cube) ==
          std::vector<std::uint8_t>{0, 1, 10, 11, 100, 101, 110, 111});
  REQUIRE(read_bytes(npy(header("<f4", "(0, 3)", "True"), "")).shape() == Shape{0, 3});
}

TEST_CASE("big-endian elements are read as those of this machine") {
  REQUIRE(values_of<float>(
              read_bytes(npy(header(">f4", "(2,)"), std::string("\x3f\x80\0\0\xc0\0\0\0", 8)))) ==
          std::vector<float>{1, -2});
  REQUIRE(values_of<std::int16_t>(
              read_bytes(npy(header(">i2", "(2, 1)", "True"), std::string("\1\2\xff\xff", 4)))) ==
          std::vector<std::int16_t>{258, -1});
}

TEST_CASE("versions 2 and 3, other key orders and Python 2 sizes are understood") {
  const std::string data = raw<float>({1, 2});
  for (const char major : {1, 2, 3})
    REQUIRE(read_bytes(npy(header("<f4", "(2,)"), data, major)).shape() == Shape{2});
  REQUIRE(
      read_bytes(npy("{\"shape\": (2L,), 'fortran_order': False, 'descr': '<f4'}", data)).size() ==
      2);
  REQUIRE(values_of<bool>(read_bytes(npy(header("|b1", "(3,)"), std::string("\0\1\2", 3)))) ==
          std::vector<bool>{false, true, true});
}

TEST_CASE("an unreadable array is refused with the reason and a remedy") {
  REQUIRE_THAT(refusal(npy(header("|O", "(1,)"), "x")), Catch::Contains("Python objects"));
  REQUIRE_THAT(refusal(npy(header("<c8", "(1,)"), "12345678")), Catch::Contains("\"<c8\""));
  REQUIRE_THAT(refusal(npy(header("<u8", "(1,)"), "12345678")), Catch::Contains("\"<u8\""));
  REQUIRE_THAT(
      refusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "")),
      Catch::Contains("structured"));
  REQUIRE_THAT(refusal("PK\3\4"), Catch::Contains("not an .npy file"));
  REQUIRE_THAT(refusal(""), Catch::Contains("not an .npy file"));
  REQUIRE_THAT(refusal(npy(header("<f4", "(1,)"), "abcd", 4)), Catch::Contains("version 4"));
}

TEST_CASE("shapes that do not fit the data, or any machine, are refused before memory is taken") {
  REQUIRE_THAT(refusal(npy(header("<f4", "(2,)"), "abcd")), Catch::Contains("truncated"));
  REQUIRE_THAT(refusal(npy(header("<f4", "(1,)"), "abcdefgh")), Catch::Contains("too long"));
  REQUIRE_THAT(refusal(npy(header("<f4", "(4611686018427387904,)"), "abcd")),
               Catch::Contains("truncated"));
  REQUIRE_THAT(refusal(npy(header("<f8", "(9223372036854775807,)"), "")),
               Catch::Contains("truncated"));
  REQUIRE_THAT(refusal(npy(header("<f4", "(4294967296, 4294967296)"), "")),
               Catch::Contains("more elements"));
  for (const char* shape :
       {"(-1,)", "(99999999999999999999,)", "(1.0,)", "[1]", "(1", "(,)", "((1,),)"})
    REQUIRE_FALSE(refusal(npy(header("<f4", shape), "abcd")).empty());
}

TEST_CASE("damaged headers are refused") {
  for (const char* dict :
       {"", "{", "}", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'descr': '<f4'}", "{'x': 1}",
        "{'descr: }", "{'descr': '', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x"})
    REQUIRE_FALSE(refusal(npy(dict, "abcd")).empty());
}

TEST_CASE("every truncation and random bit flips of a real file end in an array or an error") {
  const std::string good = read_file(models + "jsc_tiny/inputs.npy");
  const TemporaryFolder folder;
  const auto outcome = [&](const std::string& bytes) {  // true: read, false: refused
    put(folder.file("x.npy"), bytes);
    try {
      read_npy(folder.file("x.npy"));
      return true;
    } catch (const Error& error) {
      REQUIRE(error.fault() == Fault::file);
      return false;
    }
  };
  for (std::size_t size = 0; size < good.size(); ++size)
    REQUIRE_FALSE(outcome(good.substr(0, size)));
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    std::string bytes = good;
    for (std::uint64_t flips = 1 + random.below(4); flips > 0; --flips)
      bytes[random.below(128)] ^= static_cast<char>(1 << random.below(8));  // within the header
    outcome(bytes);
  }
}

TEST_CASE("an .npz archive has its arrays by name, and equal bytes each time") {
  const TemporaryFolder folder;
  const Array one = Array::from(std::vector<float>{1, -2.5, 3}, {3});
  const Array two = Array::from(std::vector<std::int64_t>{7, 8}, {1, 2});
  write_npz(folder.file("a.npz"), {{"boxes", one}, {"0", two}});
  const auto arrays = read_npz(folder.file("a.npz"));
  REQUIRE(arrays.size() == 2);
  CHECK(arrays.at("boxes").same_bits(one));
  CHECK(arrays.at("0").same_bits(two));
  write_npz(folder.file("b.npz"), {{"boxes", one}, {"0", two}});
  CHECK(read_file(folder.file("a.npz")) == read_file(folder.file("b.npz")));
}
