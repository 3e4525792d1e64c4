// SPDX-License-Identifier: Apache-2.0
// Works with any format through its fields and its range, not by its name.
#include "passes/calibration/candidates.hpp"

#include <algorithm>
#include <cmath>

namespace mase::passes {
namespace {

constexpr double smallest_share = 1.0 / 1024, largest_share = 4.0;
constexpr int powers_below = 4;

double reach_of(const formats::Format& format) {
  const formats::Range range = format.range();
  return std::max(std::fabs(range.low), std::fabs(range.high));
}

const formats::FormatRow& row_of(const formats::Format& format) {
  const formats::FormatRow* row = formats::find_format(format.name());
  MASE_CHECK(row, "a format without a row");
  return *row;
}

/// The candidates for those of the field's values with which the format exists.
std::vector<Candidate> existing(const formats::Format& format, const std::string& field,
                                const std::vector<Tree>& values) {
  std::vector<Candidate> found;
  for (const Tree& value : values)
    if (const auto made = with_field(format, field, value))
      found.push_back({value, *made, reach_of(*made)});
  return found;
}

/// The integers of a field; the reach falls as they grow.
class Integers {
 public:
  Integers(const formats::Format& format, const FieldInfo& field, MadeCandidates& made)
      : format_(format),
        field_(field.name),
        anchor_(format.fields().at(field.name).as_int()),
        made_(made) {
    low = static_cast<std::int64_t>(field.low.value_or(double(anchor_ - default_span)));
    high = static_cast<std::int64_t>(field.high.value_or(double(anchor_ + default_span)));
  }

  std::int64_t low, high;

  const std::optional<Candidate>& at(std::int64_t value) const {
    const auto [place, is_new] = made_.try_emplace(value);
    if (!is_new || value < low || value > high) return place->second;
    if (const auto made = with_field(format_, field_, Tree(value)))
      place->second = Candidate{Tree(value), *made, reach_of(*made)};
    return place->second;
  }

  /// The first integer with a reach of at most `most`; high + 1 when every reach is larger.
  std::int64_t first_within(double most) const {
    std::int64_t from = low, to = high + 1;
    while (from < to) {
      const std::int64_t middle = from + (to - from) / 2;
      if (reach_at(middle) <= most)
        to = middle;
      else
        from = middle + 1;
    }
    return from;
  }

 private:
  static constexpr std::int64_t default_span = 4096;

  /// The reach with this value; a value without a format would reach too far or not far enough.
  double reach_at(std::int64_t value) const {
    const auto& candidate = at(value);
    if (candidate) return candidate->reach;
    return value < anchor_ ? INFINITY : 0.0;
  }

  const formats::Format& format_;
  std::string field_;
  std::int64_t anchor_;
  MadeCandidates& made_;
};

double distance(const Candidate& one, double largest) {
  return one.reach > 0 ? std::fabs(std::log2(one.reach / largest)) : INFINITY;
}

/// The integers with a useful reach; without any, the one nearest to the tensor's magnitude.
std::vector<Candidate> integers_near(const formats::Format& format, const FieldInfo& field,
                                     double largest, MadeCandidates& made) {
  const Integers integers(format, field, made);
  const std::int64_t first = integers.first_within(largest * largest_share);
  std::vector<Candidate> useful;
  for (std::int64_t value = first; value <= integers.high; ++value) {
    const auto& one = integers.at(value);
    if (!one || one->reach < largest * smallest_share) break;
    useful.push_back(*one);
  }
  if (!useful.empty()) return useful;
  for (const std::int64_t value : {first - 1, first}) {
    const auto& one = integers.at(value);
    if (one && (useful.empty() || distance(*one, largest) < distance(useful[0], largest)))
      useful.assign(1, *one);
  }
  return useful;
}

/// The powers of two of a scale, by which hardware shifts, from one that reaches the largest
/// magnitude down.
std::vector<Candidate> powers_of_two(const formats::Format& format, const std::string& field,
                                     double largest) {
  const auto unit = with_field(format, field, Tree(1.0));
  if (!unit || reach_of(*unit) <= 0 || largest <= 0) return {};
  const int top = static_cast<int>(std::ceil(std::log2(largest / reach_of(*unit))));
  std::vector<Tree> values;
  for (int exponent = top - powers_below; exponent <= top; ++exponent)
    values.emplace_back(std::ldexp(1.0, exponent));
  return existing(format, field, values);
}

}  // namespace

bool can_be_auto(const formats::FormatRow& row, std::string_view field) {
  return field == row.calibrated || field == exponent_min || field == exponent_max;
}

const FieldInfo* calibrated_field(const formats::FormatRow& row) {
  const auto found = std::find_if(row.fields.begin(), row.fields.end(),
                                  [&](const FieldInfo& f) { return f.name == row.calibrated; });
  return found == row.fields.end() ? nullptr : &*found;
}

std::optional<formats::Format> with_field(const formats::Format& format, const std::string& field,
                                          const Tree& value) {
  Tree fields = format.fields();
  fields[field] = value;
  Diagnostics refused;
  return row_of(format).make(fields, refused);
}

std::vector<Candidate> candidates(const formats::Format& format, double largest) {
  MadeCandidates made;
  return candidates(format, largest, made);
}

std::vector<Candidate> candidates(const formats::Format& format, double largest,
                                  MadeCandidates& made) {
  const FieldInfo* field = calibrated_field(row_of(format));
  MASE_CHECK(field, "a format without a field to calibrate");
  std::vector<Candidate> found;
  if (!field->choices.empty())
    found = existing(format, field->name, {field->choices.begin(), field->choices.end()});
  else if (field->type == "integer")
    found = integers_near(format, *field, largest, made);
  else if (field->type.starts_with("number"))
    found = powers_of_two(format, field->name, largest);
  if (found.empty()) found.push_back({format.fields().at(field->name), format, reach_of(format)});
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.reach < b.reach; });
  return found;
}

}  // namespace mase::passes
