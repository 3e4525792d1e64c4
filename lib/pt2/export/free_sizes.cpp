// SPDX-License-Identifier: Apache-2.0
// Tries dimensions of inputs one by one, and those of one size together where they depend on each
// other.
#include "pt2/export/free_sizes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/from_front.hpp"
#include "ir/guards.hpp"
#include "pt2/export/size_operators.hpp"

namespace mase::pt2 {
namespace {

/// How many sizes in a row show a function: first enough for small periods, then for strides of 32.
constexpr std::int64_t windows[] = {9, 200};
/// How much larger than the example a size is that stands for any: more than all tables of
/// positions and blocks of formats are large, and a prime.
constexpr std::int64_t large = 200'003;

}  // namespace

FreeSizes::FreeSizes(Measure& measure) : measure_(measure), own_(measure.measured()) {
  products_.resize(own_.sizes.size());
  const auto same = measure_.with({});
  if (!same || same->sizes != own_.sizes) return;
  const std::vector<Place> rows = candidates(true);
  if (!add(rows) && rows.size() > 1) add_all(rows);
  add_all(candidates(false));
}

/// First dimensions that have the size of the first input's, or all others.
std::vector<Place> FreeSizes::candidates(bool rows) const {
  std::vector<Place> places;
  std::optional<std::int64_t> batch;
  for (const ir::NodeId id : measure_.graph().placeholders()) {
    const Shape& shape = measure_.graph().node(id).info.shape;
    if (!batch && !shape.empty()) batch = shape[0];
    for (std::size_t dim = 0; dim < shape.size(); ++dim)
      if ((dim == 0 && shape[0] == *batch) == rows) places.push_back({id, dim});
  }
  return places;
}

/// Each alone; then those together that have the same size.
void FreeSizes::add_all(std::vector<Place> places) {
  std::map<std::int64_t, std::vector<Place>> rest;
  for (const Place& place : places)
    if (!add({place}))
      rest[measure_.graph().node(place.input).info.shape[place.dim]].push_back(place);
  for (const auto& [size, group] : rest)
    if (group.size() > 1) add(group);
}

std::optional<Measured> FreeSizes::at(const std::vector<Place>& places, std::int64_t size) {
  std::vector<std::pair<Place, std::int64_t>> sizes;
  for (const Place& place : places) sizes.emplace_back(place, size);
  return measure_.with(sizes);
}

bool FreeSizes::add(std::vector<Place> places) {
  if (places.empty()) return false;
  Axis axis;
  axis.symbol = "s" + std::to_string(axes_.size());
  axis.example = measure_.graph().node(places[0].input).info.shape[places[0].dim];
  axis.places = std::move(places);
  if (axis.example < 1) return false;
  const bool fitted = std::ranges::any_of(windows, [&](std::int64_t count) {
    return fit(axis, count) && can_be_written(axis) && guards_allow(axis);
  });
  if (!fitted) return false;
  axes_.push_back(std::move(axis));
  const std::vector<char> products = products_;
  if (hold_together()) return true;
  products_ = products;
  axes_.pop_back();
  return false;
}

/// Finds the functions of all sizes from `count` sizes of the axis, upwards from the example's or,
/// where the graph takes no larger ones, downwards.
bool FreeSizes::fit(Axis& axis, std::int64_t count) {
  std::int64_t first = axis.example;
  std::vector<Measured> runs{own_};
  while (std::ssize(runs) < count) {
    auto run = at(axis.places, first + std::ssize(runs));
    if (!run) break;
    runs.push_back(std::move(*run));
  }
  while (std::ssize(runs) < windows[0] && first > 1) {
    auto run = at(axis.places, first - 1);
    if (!run) break;
    runs.insert(runs.begin(), std::move(*run));
    --first;
  }
  if (runs.size() < 4) return false;
  axis.functions.clear();
  std::vector<std::int64_t> values(runs.size());
  for (std::size_t size = 0; size < own_.sizes.size(); ++size) {
    for (std::size_t i = 0; i < runs.size(); ++i) values[i] = runs[i].sizes[size];
    auto function = fit_sizes(values, first);
    if (!function) return false;
    axis.functions.push_back(std::move(*function));
  }
  find_limits(axis);
  const std::int64_t last = first + std::ssize(runs) - 1;
  if (axis.least > first || axis.most.value_or(last) < last) return false;
  axis.others = {first == axis.example ? first + 1 : first,
                 axis.most.value_or(axis.example + large), last == axis.example ? first + 1 : last};
  return true;
}

bool FreeSizes::matches(const Axis& axis, std::int64_t size) {
  const auto run = at(axis.places, size);
  if (!run) return false;
  for (std::size_t i = 0; i < run->sizes.size(); ++i)
    if (run->sizes[i] != axis.functions[i](size)) return false;
  return true;
}

/// The sizes that a graph takes are in a row.
void FreeSizes::find_limits(Axis& axis) {
  const auto limit = [&](std::int64_t good, std::int64_t bad) {
    while (std::abs(good - bad) > 1) {
      const std::int64_t middle = (good + bad) / 2;
      (matches(axis, middle) ? good : bad) = middle;
    }
    return good;
  };
  axis.least = limit(axis.example, 0);
  axis.most.reset();
  const std::int64_t most = axis.example + large;
  if (!matches(axis, most)) axis.most = limit(axis.example, most);
}

/// Whether every integer that depends on the axis is a size or arithmetic that programs have.
bool FreeSizes::can_be_written(const Axis& axis) const {
  return std::ranges::all_of(measure_.graph().order(), [&](ir::NodeId id) {
    const ir::Node& node = measure_.graph().node(id);
    return !measure_.integer(id) || !axis.functions[measure_.first_size(id)].varies() ||
           can_vary(node.op);
  });
}

/// Whether all guards read sizes that do not depend on the axis.
bool FreeSizes::guards_allow(const Axis& axis) const {
  const ir::Graph& graph = measure_.graph();
  return std::ranges::all_of(graph.guards, [&](const ir::Guard& guard) {
    const auto sizes = ir::sizes_in(guard.condition);
    return sizes && std::ranges::all_of(*sizes, [&](const ir::ReadSize& size) {
             const ir::Node* node = graph.find_node(size.name);
             if (!node) return false;
             const auto dim = from_front(size.dim, node->info.shape.size());
             return dim && !axis.functions[measure_.first_size(node->id) + *dim].varies();
           });
  });
}

std::vector<const Axis*> FreeSizes::axes_of(std::size_t size) const {
  std::vector<const Axis*> found;
  for (const Axis& axis : axes_)
    if (axis.functions[size].varies()) found.push_back(&axis);
  return found;
}

/// What a size is where the axes have the sizes of `point`; -1 if a product has no whole factors.
std::int64_t FreeSizes::predicted(std::size_t size, const std::vector<std::int64_t>& point,
                                  bool product) {
  std::int64_t sum = own_.sizes[size], factors = 1, own_factors = 1;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const SizeFunction& function = axes_[i].functions[size];
    if (!function.varies()) continue;
    const std::int64_t content = function.content();
    sum += function(point[i]) - own_.sizes[size];
    factors *= function(point[i]) / content;
    own_factors *= own_.sizes[size] / content;
  }
  if (!product) return sum;
  if (own_factors == 0 || own_.sizes[size] % own_factors != 0) return -1;
  return own_.sizes[size] / own_factors * factors;
}

/// Whether all sizes are sums or products of the functions where all axes vary at once.
bool FreeSizes::hold_together() {
  std::vector<std::vector<std::int64_t>> points;
  std::vector<Measured> runs;
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<std::pair<Place, std::int64_t>> sizes;
    std::vector<std::int64_t>& point = points.emplace_back();
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      // Only one axis is large at once, so that products stay within 64 bits.
      point.push_back(axes_[i].others[(k + i) % 3]);
      for (const Place& place : axes_[i].places) sizes.emplace_back(place, point.back());
    }
    auto run = measure_.with(sizes);
    if (!run) return false;
    runs.push_back(std::move(*run));
  }
  for (std::size_t size = 0; size < own_.sizes.size(); ++size) {
    const auto holds = [&](bool product) {
      for (std::size_t k = 0; k < runs.size(); ++k)
        if (runs[k].sizes[size] != predicted(size, points[k], product)) return false;
      return true;
    };
    products_[size] = holds(true);
    if (!products_[size] && !holds(false)) return false;
  }
  return true;
}

std::string FreeSizes::text(std::size_t size) const {
  const std::vector<const Axis*> axes = axes_of(size);
  if (axes.empty()) return "";
  const bool product = axes.size() > 1 && is_product(size);
  std::vector<std::string> parts;
  std::int64_t rest = own_.sizes[size];
  for (const Axis* axis : axes) {
    const std::string symbol = "Symbol('" + axis->symbol + "', positive=True, integer=True)";
    const SizeFunction& function = axis->functions[size];
    const std::int64_t content = function.content();
    parts.push_back(function.text(symbol, product ? content : 1));
    if (product) rest /= own_.sizes[size] / content;
  }
  if (product) {
    if (rest != 1) parts.insert(parts.begin(), integer_text(rest));
    return product_text(parts);
  }
  const std::int64_t twice = std::ssize(axes) - 1;
  if (twice * rest != 0) parts.push_back(integer_text(-twice * rest));
  return sum_text(parts);
}

}  // namespace mase::pt2
