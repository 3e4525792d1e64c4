// The stored outputs of the reference system and of an independent model, bit for bit.
#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "formats/format.hpp"
#include "formats/integer_support.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

const std::string folder = std::string(MASE_TEST_FOLDER) + "/golden/";

// `*_hw_code` are the codes of a format in profile mase.
Format golden_format(const Tree& golden) {
  std::string name = golden.at("format").as_string();
  Tree fields = golden.at("params");
  fields["profile"] = golden.at("profile");
  if (name.ends_with("_hw_code")) name.resize(name.size() - std::string("_hw_code").size());
  if (name == "unsigned_integer_floor") {
    name = "integer_floor";
    fields["is_signed"] = false;
  }
  Diagnostics diagnostics;
  const auto format = find_format(name)->make(fields, diagnostics);
  diagnostics.throw_if_errors();
  return format.value();
}

// Elements that are not NaN: a code exists for these only.
std::vector<std::size_t> numbers(std::span<const float> values) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i])) indices.push_back(i);
  return indices;
}

std::uint32_t code_at(const Array& codes, std::size_t i) {
  switch (codes.dtype()) {
    case DType::uint8:
      return codes.span<std::uint8_t>()[i];
    case DType::uint16:
      return codes.span<std::uint16_t>()[i];
    case DType::int32:
      return static_cast<std::uint32_t>(codes.span<std::int32_t>()[i]);
    default:
      return codes.span<std::uint32_t>()[i];
  }
}

void check_codes(const Format& format, const Array& input, const Array& expected) {
  const auto values = input.span<float>();
  std::vector<float> kept;
  for (const std::size_t i : numbers(values)) kept.push_back(values[i]);
  const std::vector<std::uint32_t> encoded =
      format.encode(kept, {static_cast<std::int64_t>(kept.size())}).codes.unpack();
  std::size_t next = 0, wrong = 0;
  for (const std::size_t i : numbers(values)) wrong += encoded[next++] != code_at(expected, i);
  CHECK(wrong == 0);
}

void check_values(const Format& format, const Array& input, const Array& expected) {
  REQUIRE(input.shape() == expected.shape());
  Array output(DType::float32, input.shape());
  format.quantize(input.span<float>(), output.mutable_span<float>(), input.shape());
  std::size_t wrong = 0;
  for (std::int64_t i = 0; i < input.size(); ++i)
    wrong += !same_value(output.span<float>()[i], expected.span<float>()[i]);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("integer formats reproduce the golden vectors") {
  const std::string path = folder + "cases.json";
  const Tree document = parse_json(read_file(path), path);
  std::size_t cases = 0;
  for (const Tree& golden : document.at("cases").as_list()) {
    INFO(golden.at("id").as_string());
    const Format format = golden_format(golden);
    const Array input = read_npy(folder + golden.at("input").as_string());
    const Array output = read_npy(folder + golden.at("output").as_string());
    if (golden.at("format").as_string().ends_with("_hw_code"))
      check_codes(format, input, output);
    else
      check_values(format, input, output);
    if (const Tree* codes = golden.find("codes"))
      check_codes(format, input, read_npy(folder + codes->as_string()));
    ++cases;
  }
  CHECK(cases == 86);  // 28 + 16 + 3 * 4 of mase, 20 + 10 of exact
}
