// SPDX-License-Identifier: Apache-2.0
// Reads the types of qonnx.
#include "onnx/import/annotations.hpp"

#include "base/text.hpp"
#include "onnx/import/quantizer.hpp"

namespace mase::onnx {
namespace {

/// The number between two parts of a text; nullopt if the text is not of this form.
std::optional<int> number_in(const std::string& text, std::string_view before,
                             std::string_view after = "") {
  if (!text.starts_with(before) || !text.ends_with(after)) return std::nullopt;
  const std::size_t around = before.size() + after.size();
  if (text.size() <= around) return std::nullopt;
  constexpr int most_bits = 32;
  const auto number = parse_int(text.substr(before.size(), text.size() - around));
  const bool fits = number && *number >= 1 && *number <= most_bits;
  return fits ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::optional<formats::Format> integers(int bits, bool is_signed, int frac = 0) {
  Quantizer range;
  set_range(range, bits, is_signed, false);
  return integer_format(range.low, range.high, frac);
}

std::optional<formats::Format> format_of_type(const std::string& type) {
  constexpr int signs = 2;  // two bits hold -1, 0 and 1
  if (type == "BINARY") return integers(1, false);
  if (type == "BIPOLAR" || type == "TERNARY") return integers(signs, true);
  if (const auto bits = number_in(type, "INT")) return integers(*bits, true);
  if (const auto bits = number_in(type, "UINT")) return integers(*bits, false);
  const std::size_t comma = type.find(',');
  if (comma == std::string::npos) return std::nullopt;
  const auto bits = number_in(type.substr(0, comma), "FIXED<");
  const auto whole = number_in(type.substr(comma), ",", ">");
  return bits && whole ? integers(*bits, true, *bits - *whole) : std::nullopt;
}

}  // namespace

std::optional<formats::Format> annotated_format(const Graph& graph, const std::string& tensor) {
  const auto found = graph.annotations.find(tensor);
  if (found == graph.annotations.end()) return std::nullopt;
  const std::string* type = find_property(found->second, "finn_datatype");
  return type ? format_of_type(*type) : std::nullopt;
}

}  // namespace mase::onnx
