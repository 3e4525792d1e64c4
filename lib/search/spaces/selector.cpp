// SPDX-License-Identifier: Apache-2.0
// Turns parameters into a config table.
#include "search/spaces/selector.hpp"

#include <algorithm>

#include "formats/format.hpp"
#include "passes/quantization/quantize_config.hpp"

namespace mase::search {
namespace {

/// A JSON scalar unchanged, or a list (block sizes) as text, because databases need scalars.
Tree scalar(const Tree& choice) { return choice.is_list() ? Tree(to_json(choice, -1)) : choice; }

/// The range of choices that are evenly spaced integers, so that a sampler knows that 5 is between
/// 4 and 6. Other choices are only names to it.
std::optional<samplers::IntDistribution> range_of(const std::vector<Tree>& choices) {
  constexpr std::int64_t largest = std::int64_t{1} << 53;  // parameters are doubles
  std::vector<std::int64_t> values;
  for (const Tree& choice : choices) {
    if (!choice.is_int() || choice.as_int() > largest || choice.as_int() < -largest)
      return std::nullopt;
    values.push_back(choice.as_int());
  }
  std::sort(values.begin(), values.end());
  const std::int64_t step = values[1] - values[0];
  for (std::size_t i = 1; i < values.size(); ++i)
    if (step <= 0 || values[i] - values[i - 1] != step) return std::nullopt;
  return samplers::IntDistribution{values.front(), values.back(), step, false};
}

samplers::Distribution distribution_of(const std::vector<Tree>& choices) {
  if (const auto range = range_of(choices)) return *range;
  samplers::CategoricalDistribution distribution;
  for (const Tree& choice : choices) distribution.choices.push_back(scalar(choice));
  return distribution;
}

}  // namespace

void add_dimension(Key& key, const std::string& name, std::optional<samplers::Condition> condition,
                   samplers::Space& dimensions) {
  if (key.choices.size() < 2) return;
  dimensions.push_back({name, distribution_of(key.choices), std::move(condition)});
  key.dimension = name;
  key.numeric = range_of(key.choices).has_value();
}

bool leaves_alone(const Tree& format) { return format == Tree("NA"); }

void add_name(const Tree& format, Tree& config) {
  if (format != no_name) config["name"] = format;
}

std::optional<Tree> Key::value_in(const samplers::Params& params) const {
  if (dimension.empty()) return choices.front();
  const auto found = params.find(dimension);
  if (found == params.end()) return std::nullopt;
  return numeric ? Tree(static_cast<std::int64_t>(found->second))
                 : choices[static_cast<std::size_t>(found->second)];
}

std::optional<std::string> Selector::port_of(const std::string& key) const {
  for (const std::string& port : ports)
    if (key == port || key.starts_with(port + "_")) return port;
  return std::nullopt;
}

std::set<double> Selector::formats_with(const std::string& key) const {
  std::set<double> out;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    static const formats::FormatRow none{};
    const formats::FormatRow* row =
        formats[i] == no_name ? &none : formats::find_format(formats[i].as_string());
    if (!row) continue;
    const auto joined = passes::joined_keys(ports, *row);
    if (key == "bypass" || std::find(ports.begin(), ports.end(), key) != ports.end() ||
        std::any_of(joined.begin(), joined.end(), [&](const auto& j) { return j.key == key; }) ||
        std::any_of(row->fields.begin(), row->fields.end(),
                    [&](const FieldInfo& field) { return field.name == key; }))
      out.insert(static_cast<double>(i));
  }
  return out;
}

bool Selector::is_chosen(const samplers::Params& params) const {
  if (!dimension.empty()) return params.contains(dimension);
  const auto pinned = [](const Key& key) { return key.dimension.empty(); };
  const auto given = [&](const Key& key) { return params.contains(key.dimension); };
  return std::all_of(keys.begin(), keys.end(), pinned) ||
         std::any_of(keys.begin(), keys.end(), given);
}

Tree Selector::config(const samplers::Params& params) const {
  Tree config = Tree::dict();
  const double format = dimension.empty() ? 0 : params.at(dimension);
  add_name(formats[static_cast<std::size_t>(format)], config);
  for (const Key& key : keys)
    if (key.formats.contains(format))
      if (auto value = key.value_in(params)) config[key.key] = std::move(*value);
  return config;
}

}  // namespace mase::search
