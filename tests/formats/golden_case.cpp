// SPDX-License-Identifier: Apache-2.0
// Reading golden cases, naming their formats as we do, and counting mismatches.
#include "formats/golden_case.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/file.hpp"
#include "formats/format_support.hpp"
#include "test_paths.hpp"

namespace mase::formats {
namespace {

const std::string folder = std::string(MASE_TEST_FOLDER) + "/fixtures/golden/";

std::optional<Array> array_of(const Tree& golden, const char* key) {
  const Tree* file = golden.find(key);
  if (!file) return std::nullopt;
  return read_npy(folder + file->as_string());
}

GoldenCase read_case(const Tree& tree) {
  GoldenCase golden{
      tree.at("id").as_string(), tree.at("format").as_string(), tree.at("profile").as_string(),
      tree.at("params"),         *array_of(tree, "input"),      *array_of(tree, "output"),
      array_of(tree, "codes"),   array_of(tree, "shared"),      array_of(tree, "scales")};
  const std::string compare = tree.at("compare").as_string();
  if (compare.starts_with("ulp:")) golden.ulp = std::stoi(compare.substr(4));
  return golden;
}

bool cut(std::string& text, const std::string& end) {
  if (!text.ends_with(end)) return false;
  text.resize(text.size() - end.size());
  return true;
}

Tree without(const Tree& params, const std::vector<std::string>& dropped) {
  Tree kept = Tree::dict();
  for (const auto& [key, value] : params.as_dict())
    if (std::ranges::find(dropped, key) == dropped.end()) kept[key] = value;
  return kept;
}

/// MXINT elements are named by their width there: int8.
void name_mx_fields(const std::string& format, Tree& fields) {
  if (format == "mxint" && fields.find("element")) {
    fields["width"] = std::stoi(fields.at("element").as_string().substr(3));
    fields = without(fields, {"element"});
  }
  if (format == "nvfp4") {
    if (fields.at("tensor_scale_rule").as_string() == "none") fields["tensor_scale"] = "none";
    fields = without(fields, {"element", "tensor_scale_rule"});
  }
  fields = without(fields, {"scale"});
}

/// Bits of an element, as far as 32 of them go.
std::uint32_t bits_at(const Array& array, std::size_t i) {
  switch (array.dtype()) {
    case DType::uint8:
      return array.span<std::uint8_t>()[i];
    case DType::uint16:
      return array.span<std::uint16_t>()[i];
    case DType::int32:
      return static_cast<std::uint32_t>(array.span<std::int32_t>()[i]);
    case DType::float32:
      return bits_of(array.span<float>()[i]);
    default:
      return array.span<std::uint32_t>()[i];
  }
}

/// Both NaN, or equal bits, or numbers of one sign that are at most `ulp` steps apart.
bool agree(float a, float b, int ulp) {
  if (same_value(a, b)) return true;
  if (ulp == 0 || std::isnan(a) || std::isnan(b) || std::signbit(a) != std::signbit(b))
    return false;
  return std::abs(std::int64_t{bits_of(a)} - std::int64_t{bits_of(b)}) <= ulp;
}

std::size_t wrong_values(const GoldenCase& golden, const std::vector<float>& values) {
  if (static_cast<std::int64_t>(values.size()) != golden.output.size()) return values.size();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    wrong += !agree(values[i], golden.output.span<float>()[i], golden.ulp);
  return wrong;
}

std::size_t wrong_codes(const PackedCodes& codes, const Array& expected,
                        const std::vector<bool>& skipped) {
  const std::vector<std::uint32_t> ours = codes.unpack();
  if (static_cast<std::int64_t>(ours.size()) != expected.size()) return ours.size() + 1;
  const std::uint64_t mask = (std::uint64_t{1} << codes.bits()) - 1;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    wrong += !(i < skipped.size() && skipped[i]) && ours[i] != (bits_at(expected, i) & mask);
  return wrong;
}

struct Encoding {
  Encoded encoded;
  std::vector<bool> skipped;  ///< elements without a code
};

/// Where NaN has no code, it is encoded as 0, which changes no other element.
Encoding encode(const Format& format, const Array& input) {
  try {
    return {format.encode(input.span<float>(), input.shape()), {}};
  } catch (const Error&) {
    std::vector<float> values(input.span<float>().begin(), input.span<float>().end());
    std::vector<bool> skipped(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      skipped[i] = std::isnan(values[i]);
      if (skipped[i]) values[i] = 0;
    }
    return {format.encode(values, input.shape()), skipped};
  }
}

std::size_t wrong_scales(const std::vector<float>& scales, const Array& expected) {
  if (static_cast<std::int64_t>(scales.size()) != expected.size()) return scales.size() + 1;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < scales.size(); ++i)
    wrong += bits_of(scales[i]) != bits_at(expected, i);
  return wrong;
}

std::size_t wrong_encoding(const GoldenCase& golden, const Format& format, const Array& codes) {
  const auto [encoded, skipped] = encode(format, golden.input);
  std::size_t wrong = wrong_codes(encoded.codes, codes, skipped);
  if (golden.shared && golden.shared->dtype() == DType::float32)
    wrong += wrong_scales(encoded.scales, *golden.shared);
  else if (golden.shared)
    wrong += wrong_codes(encoded.shared, *golden.shared, {});
  if (golden.scales) wrong += wrong_codes(encoded.shared, *golden.scales, {});
  return wrong;
}

/// All codes in, values out.
std::size_t wrong_decoding(const GoldenCase& golden, const Format& format) {
  std::vector<std::uint32_t> codes;
  for (std::int64_t i = 0; i < golden.input.size(); ++i)
    codes.push_back(bits_at(golden.input, static_cast<std::size_t>(i)));
  std::vector<float> values(codes.size());
  const auto bits = static_cast<int>(format.bits_per_element(golden.input.shape()));
  format.decode({pack_codes(codes, bits), {}, {}}, values, golden.input.shape());
  return wrong_values(golden, values);
}

}  // namespace

std::vector<GoldenCase> golden_cases() {
  const std::string path = folder + "cases.json";
  const Tree document = parse_json(read_file(path), path);
  std::vector<GoldenCase> cases;
  for (const Tree& tree : document.at("cases").as_list()) cases.push_back(read_case(tree));
  return cases;
}

std::optional<Format> golden_format(const GoldenCase& golden) {
  std::string name = golden.format;
  Tree fields = golden.params;
  cut(name, "_hw_code");
  if (name == "unsigned_integer_floor") {
    name = "integer_floor";
    fields["is_signed"] = false;
  }
  if (name.starts_with("minifloat") && fields.find("element")) name = "minifloat_ieee";
  if (name == "binary_residual" && golden.output.shape() != golden.input.shape())
    return std::nullopt;
  name_mx_fields(name, fields);
  if (fields.find("skip_first_dim") && golden.input.shape().size() == 4) fields["max_rank"] = 3;
  fields["profile"] = golden.profile == "mase" ? "mase" : "exact";
  Diagnostics diagnostics;
  const FormatRow* row = find_format(name);
  if (!row) return std::nullopt;
  const auto format = row->make(fields, diagnostics);
  diagnostics.throw_if_errors();
  return format;
}

std::size_t mismatches(const GoldenCase& golden, const Format& format) {
  if (golden.format.ends_with("_decode")) return wrong_decoding(golden, format);
  if (golden.format.ends_with("_hw_code")) return wrong_encoding(golden, format, golden.output);
  std::vector<float> values(static_cast<std::size_t>(golden.input.size()));
  format.quantize(golden.input.span<float>(), values, golden.input.shape());
  std::size_t wrong = wrong_values(golden, values);
  if (golden.codes) wrong += wrong_encoding(golden, format, *golden.codes);
  return wrong;
}

}  // namespace mase::formats
