// SPDX-License-Identifier: Apache-2.0
// Files of safetensors: what the format says of good ones, and each fault with file and key.
#include "safetensors/safetensors.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "base/error.hpp"
#include "base/file.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using mase::test::TemporaryFolder;

namespace {

/// A file by hand: eight bytes of length, the header, the data.
std::string file_of(const std::string& header, std::size_t data_bytes) {
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size() & 0xff);
  text[1] = static_cast<char>(header.size() >> 8);
  return text + header + std::string(data_bytes, '\x01');
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  int begin, int end) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

struct Refused {
  std::string file;
  std::vector<std::string> words;
  Fault fault = Fault::file;
};

}  // namespace

TEST_CASE("tensors come back from a file with their types, shapes and bits") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.safetensors");
  const std::map<std::string, Array> tensors{
      {"b.weight", Array::from(std::vector<float>{1, -2, 3, 0.5f, 5, 6}, {2, 3})},
      {"a.count", Array::from(std::vector<std::int64_t>{7}, {})},
      {"c.codes", Array::from(std::vector<std::int8_t>{1, 2, 3}, {3})},
      {"empty", Array(DType::float32, {0, 4})}};
  safetensors::write_tensors(path, tensors);
  const safetensors::Tensors found = safetensors::read_tensors(path);
  REQUIRE(found.size() == tensors.size());
  for (const auto& [name, tensor] : tensors) CHECK(found.at(name).value.same_bits(tensor));
  CHECK(found.at("b.weight").value.file() != nullptr);  // it is mapped
  CHECK(safetensors::is_safetensors(path));
}

TEST_CASE("a written file has the bytes that the format asks for") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.safetensors");
  safetensors::write_tensors(path, {{"x", Array::from(std::vector<std::uint8_t>{9, 8}, {2})},
                                    {"y", Array::from(std::vector<float>{1}, {1})}});
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"y":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("x":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}})";
  const std::string bytes = read_file(path);
  const std::size_t padded = (header.size() + 7) / 8 * 8;
  CHECK(static_cast<unsigned char>(bytes[0]) == padded);
  CHECK(bytes.substr(8, header.size()) == header);
  CHECK(bytes.substr(8 + padded) == std::string("\0\0\x80\x3f\x09\x08", 6));
}

TEST_CASE("elements that are not aligned are copied when they are read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("odd.safetensors");
  const std::string header =
      "{" + entry("a", "U8", "[1]", 0, 1) + "," + entry("b", "I32", "[1]", 1, 5) + "}";
  std::ofstream(path, std::ios::binary) << file_of(header, 5);
  CHECK(safetensors::read_tensors(path).at("b").value.span<std::int32_t>()[0] == 0x01010101);
}

TEST_CASE("faults of a file name the file and the key") {
  const TemporaryFolder folder;
  const std::string path = folder.file("bad.safetensors");
  const std::string good = entry("a", "F32", "[2]", 0, 8);
  std::string ones;
  for (int i = 0; i < 64; ++i) ones += ",1";
  const std::vector<Refused> rows{
      {"abc", {"3 bytes"}},
      {std::string("\xff\0\0\0\0\0\0\0{}", 10), {"255 bytes", "ends after 2"}},
      {std::string("\0\0\0\0\0\0\0\x01{}", 10), {"the most are"}},
      {file_of("[]", 0), {"not a table"}},
      {file_of("{\"a\":1}", 0), {"'a'", "not a table"}},
      {file_of("{" + good + "," + good + "}", 8), {"\"a\"", "twice"}},
      {file_of("{" + good + "}", 4), {"'a'", "0 to 8", "outside of the file"}},
      {file_of("{" + entry("a", "F32", "[3]", 0, 8) + "}", 8), {"'a'", "float32[3]", "0 to 8"}},
      {file_of("{" + entry("a", "F32", "[9223372036854775807,9]", 0, 8) + "}", 8), {"'a'"}},
      {file_of("{" + good + "," + entry("b", "F32", "[1]", 4, 8) + "}", 8), {"'b'", "inside"}},
      {file_of("{" + good + "," + entry("b", "F32", "[1]", 12, 16) + "}", 16), {"'b'", "8 to 12"}},
      {file_of("{" + entry("a", "F32", "[2" + ones + "]", 0, 8) + "}", 8), {"65 dimensions"}},
      {file_of("{" + good + "}", 12), {"the last 4 bytes"}},
      {file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8), {"'a'", "data_offsets"}},
      {file_of("{" + entry("a", "F8_E4M3", "[8]", 0, 8) + "}", 8),
       {"'a'", "F8_E4M3", "known are"},
       Fault::unsupported}};
  for (const Refused& row : rows) {
    std::ofstream(path, std::ios::binary) << row.file;
    const std::string said = test::message_of(row.fault, [&] { safetensors::read_tensors(path); });
    INFO(said);
    CHECK_THAT(said, Catch::Contains("bad.safetensors"));
    for (const std::string& word : row.words) CHECK_THAT(said, Catch::Contains(word));
  }
}

TEST_CASE("shards have the tensors that their index says") {
  const TemporaryFolder folder;
  const std::string index = folder.file("model.safetensors.index.json");
  const Array one = Array::from(std::vector<float>{1}, {1});
  safetensors::write_tensors(folder.file("1.safetensors"), {{"a", one}});
  safetensors::write_tensors(folder.file("2.safetensors"), {{"b", one}});
  const auto said = [&](const std::string& map) {
    write_file(index, R"({"weight_map":)" + map + "}");
    return test::message_of(Fault::file, [&] { safetensors::read_shards(index); });
  };
  CHECK_THAT(said(R"({"a":"1.safetensors","b":"3.safetensors"})"),
             Catch::Contains("3.safetensors: no such file") && Catch::Contains("'b'"));
  CHECK_THAT(said(R"({"a":"1.safetensors","c":"2.safetensors"})"),
             Catch::Contains("2.safetensors") && Catch::Contains("'c' is missing"));
  CHECK_THAT(said(R"({"a":"../1.safetensors"})"), Catch::Contains("'a'"));
  write_file(index, R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  CHECK(safetensors::read_shards(index).size() == 2);
}

TEST_CASE("a file is written tensor by tensor, in pieces, and only as a whole") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.safetensors");
  const std::vector<safetensors::TensorType> types{{"b", DType::bfloat16, {2, 2}},
                                                   {"a", DType::uint8, {3}}};
  const std::string bytes = "12345678abc";
  std::vector<std::string> asked;
  safetensors::write_stream(path, types, [&](const auto& tensor, const safetensors::Sink& sink) {
    asked.push_back(tensor.name);
    CHECK_FALSE(file_exists(path));
    const char* from = bytes.data() + (tensor.name == "b" ? 0 : 8);
    for (std::size_t i = 0; i < tensor.byte_size(); ++i)
      sink(reinterpret_cast<const std::byte*>(from + i), 1);
  });
  CHECK(asked == std::vector<std::string>{"b", "a"});
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}})";
  const std::string written = read_file(path);
  CHECK(written.substr(8, header.size()) == header);
  CHECK(written.ends_with(bytes));
  CHECK_THROWS(safetensors::write_stream(
      path, types, [](const auto&, const auto&) { file_error("the values cannot be read"); }));
  CHECK(read_file(path) == written);
}
