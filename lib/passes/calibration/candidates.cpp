// Works through the fields and the range of a format; knows none by name.
#include "passes/calibration/candidates.hpp"

#include <algorithm>
#include <cmath>

namespace mase::passes {
namespace {

constexpr double smallest_share = 1.0 / 1024, largest_share = 4.0;
constexpr int grid_steps = 16;

double reach_of(const formats::Format& format) {
  const formats::Range range = format.range();
  return std::max(std::fabs(range.low), std::fabs(range.high));
}

const formats::FormatRow& row_of(const formats::Format& format) {
  const formats::FormatRow* row = formats::find_format(format.name());
  MASE_CHECK(row, "a format without a row");
  return *row;
}

/// The candidates that exist among some values of the field.
std::vector<Candidate> existing(const formats::Format& format, const std::string& field,
                                const std::vector<Tree>& values) {
  std::vector<Candidate> found;
  for (const Tree& value : values)
    if (const auto made = with_field(format, field, value))
      found.push_back({value, *made, reach_of(*made)});
  return found;
}

std::vector<Tree> integers_of(const FieldInfo& field) {
  std::vector<Tree> values;
  const auto low = static_cast<std::int64_t>(field.low.value_or(-256));
  const auto high = static_cast<std::int64_t>(field.high.value_or(256));
  for (std::int64_t value = std::max<std::int64_t>(low, -1024);
       value <= std::min<std::int64_t>(high, 1024); ++value)
    values.emplace_back(value);
  return values;
}

/// Those of a useful reach; where there is none, the one nearest to the tensor's magnitude.
std::vector<Candidate> within_reach(std::vector<Candidate> all, double largest) {
  std::vector<Candidate> useful;
  for (const Candidate& one : all)
    if (one.reach >= largest * smallest_share && one.reach <= largest * largest_share)
      useful.push_back(one);
  if (!useful.empty() || all.empty()) return useful;
  const auto distance = [&](const Candidate& one) {
    return one.reach > 0 ? std::fabs(std::log2(one.reach / largest)) : INFINITY;
  };
  return {*std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return distance(a) < distance(b);
  })};
}

std::vector<Candidate> clip_grid(const formats::Format& format, const std::string& field,
                                 double largest) {
  const auto unit = with_field(format, field, Tree(1.0));
  if (!unit || reach_of(*unit) <= 0) return {};
  std::vector<Tree> values;
  for (int j = 1; j <= grid_steps + 1; ++j)
    values.emplace_back(largest * j / grid_steps / reach_of(*unit));
  return existing(format, field, values);
}

}  // namespace

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
  const FieldInfo* field = calibrated_field(row_of(format));
  MASE_CHECK(field, "a format without a field to calibrate");
  std::vector<Candidate> found;
  if (!field->choices.empty())
    found = existing(format, field->name, {field->choices.begin(), field->choices.end()});
  else if (field->type == "integer")
    found = within_reach(existing(format, field->name, integers_of(*field)), largest);
  else if (field->type == "number")
    found = clip_grid(format, field->name, largest);
  if (found.empty()) found.push_back({format.fields().at(field->name), format, reach_of(format)});
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.reach < b.reach; });
  return found;
}

}  // namespace mase::passes
