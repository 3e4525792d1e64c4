// SPDX-License-Identifier: Apache-2.0
// What quantizing twice does: nothing, but for the exceptions that docs/formats.md lists.
#include <algorithm>
#include <set>

#include "formats/scaled_support.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

struct Choice {
  std::string field;
  std::vector<std::string> values;  ///< "" leaves the field at its default
};

const std::vector<Choice>& choices() {
  static const std::vector<Choice> all{{"rounding", {"", "floor", "nearest_away"}},
                                       {"scale_rule", {"", "floor", "ceil", "even", "rceil"}},
                                       {"is_signed", {"", "false"}},
                                       {"bipolar", {"", "false"}},
                                       {"scaled", {"", "true", "false"}},
                                       {"tensor_scale", {"", "none", "0.001"}},
                                       {"width", {"", "4"}}};
  return all;
}

bool knows(const FormatRow& row, const std::string& name) {
  return std::any_of(row.fields.begin(), row.fields.end(),
                     [&](const FieldInfo& field) { return field.name == name; });
}

/// Four bits have no room for the default exponents of minifloats.
bool applies(const Choice& choice, const FormatRow& row) {
  return knows(row, choice.field) && (choice.field != "width" || !knows(row, "exponent_width"));
}

/// Every combination of `choices` that the format knows, as text.
std::vector<std::string> variants(const FormatRow& row) {
  std::vector<std::string> lists{""};
  for (const Choice& choice : choices()) {
    if (!applies(choice, row)) continue;
    std::vector<std::string> longer;
    for (const std::string& list : lists)
      for (const std::string& value : choice.values)
        longer.push_back(
            value.empty() ? list : list + (list.empty() ? "" : ", ") + choice.field + "=" + value);
    lists = std::move(longer);
  }
  for (std::string& list : lists) list = row.name + "(" + list + ")";
  return lists;
}

/// The sentence of docs/formats.md ("A second pass") that lets this format move, or "".
std::string exception_of(const std::string& text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  const auto is = [&](std::string_view name) { return text.starts_with(std::string(name) + "("); };
  if (is("scale_integer") && (has("is_signed=false") || has("rounding=floor")))
    return "scale_integer";
  if (is("binary") && has("bipolar=false") && !has("scaled=false")) return "binary";
  if (text.starts_with("mxfp") && has("rounding=floor") && has("scale_rule=even")) return "mxfp";
  if (is("nvfp4")) return "nvfp4";
  return "";
}

/// Ordinary rows, rows of many magnitudes, and rows of one sign.
Values numbers() {
  Random random(91);
  Values values;
  for (int row = 0; row < 192; ++row) {
    const int exponent = row < 64 ? 0 : static_cast<int>(random.below(40)) - 20;
    for (int column = 0; column < 64; ++column) {
      const double value = std::ldexp(random.normal(), exponent);
      values.push_back(static_cast<float>(row < 128 ? value : std::abs(value)));
    }
  }
  return values;
}

}  // namespace

TEST_CASE("quantizing twice changes nothing, but for the exceptions that are documented") {
  const Values in = numbers();
  const Shape shape{192, 64};
  std::set<std::string> moved;
  for (const FormatRow& row : format_table())
    for (const std::string& text : variants(row)) {
      INFO(text);
      const Format format = parse_format(text);
      const Values once = quantized(format, in, shape);
      const std::size_t changed = differences(once, quantized(format, once, shape));
      const std::string exception = exception_of(text);
      if (exception.empty()) CHECK(changed == 0);
      if (changed > 0) moved.insert(exception);
    }
  CHECK(moved == std::set<std::string>{"scale_integer", "binary", "mxfp", "nvfp4"});
}

TEST_CASE("codes quantize to themselves when the scales are kept") {
  const Values in = numbers();
  const Shape shape{192, 64};
  for (const FormatRow& row : format_table()) {
    INFO(row.name);
    const Format format = parse_format(row.name + "()");
    CHECK(differences(quantized(format, in, shape), [&] {
            Values out(in.size());
            format.decode(format.encode(in, shape), out, shape);
            return out;
          }()) == 0);
  }
}
