// SPDX-License-Identifier: Apache-2.0
// Finds classes by their names, and numbers them anew.
#include "data/class_order.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace mase::data {
namespace {

std::optional<std::int64_t> place_of(const std::string& name,
                                     const std::vector<std::string>& order) {
  for (const bool exact : {true, false}) {
    const auto is_same = [&](const std::string& other) {
      return exact ? other == name : lower_case(other) == lower_case(name);
    };
    const auto found = std::ranges::find_if(order, is_same);
    if (found == order.end()) continue;
    if (std::find_if(found + 1, order.end(), is_same) != order.end()) return std::nullopt;
    return found - order.begin();
  }
  return std::nullopt;
}

/// Returns whether a number has changed.
bool order_target(Target& target, const std::vector<std::string>& order,
                  const std::string& dataset) {
  const auto places = places_of(target.class_names, order);
  if (!places)
    config_error("classes (--classes) is " + join(order, ", ") + ", but data set " + dataset +
                 " has " + join(target.class_names, ", ") +
                 "; name all of its classes in the order of the model's outputs");
  target.class_names = order;
  std::vector<std::int64_t> same(places->size());
  std::iota(same.begin(), same.end(), 0);
  if (*places == same) return false;
  for (std::int64_t& label : target.values.mutable_span<std::int64_t>())
    if (label >= 0) label = (*places)[static_cast<std::size_t>(label)];
  return true;
}

}  // namespace

std::optional<std::vector<std::int64_t>> places_of(const std::vector<std::string>& classes,
                                                   const std::vector<std::string>& order) {
  std::vector<std::int64_t> places;
  for (const std::string& name : classes) {
    const auto place = place_of(name, order);
    if (!place || std::ranges::find(places, *place) != places.end()) return std::nullopt;
    places.push_back(*place);
  }
  return places;
}

void order_classes(Dataset& dataset, const std::vector<std::string>& order) {
  if (std::set<std::string>(order.begin(), order.end()).size() != order.size())
    config_error("classes (--classes) names a class twice: " + join(order, ", "));
  bool is_other = false;
  for (Target& target : dataset.targets)
    if (target.task == "classification" && target.values.dtype() == DType::int64)
      is_other = order_target(target, order, dataset.name) || is_other;
  if (!is_other) return;
  Sha256 hash;
  hash.add(dataset.sha256 + join(order, "\n"));
  dataset.sha256 = hash.finish();
}

}  // namespace mase::data
