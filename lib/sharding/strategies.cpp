// SPDX-License-Identifier: Apache-2.0
// Combines axes and loops, and keeps the combinations in which all parts are equal.
#include "sharding/strategies.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "sharding/roofline.hpp"

namespace mase::sharding {
namespace {

/// The loop that each axis shares.
using Shared = std::array<const Split*, axis_count>;

/// Whether the devices that share a loop divide its units.
bool divides_units(const Mesh& mesh, const Shared& shared) {
  for (const Split* split : shared) {
    if (!split || split->units == 0) continue;
    std::int64_t devices = 1;
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      if (shared[axis] == split) devices *= mesh.sizes[axis];
    if (split->units % devices != 0) return false;
  }
  return true;
}

void share(Layout& layout, int place, std::size_t axis) {
  if (place == once_operand) layout.partial |= only_axis(axis);
  if (place >= 0) layout.split[static_cast<std::size_t>(place)] |= only_axis(axis);
}

class StrategyMaker {
 public:
  StrategyMaker(const Mesh& mesh, const ir::Node& node, const std::vector<Operand>& operands,
                const Demands& demands)
      : mesh_(mesh), node_(node), operands_(operands), flops_(demands.flops(node)) {}

  std::optional<Strategy> make(const Shared& shared) const {
    const Shape* shape = shape_of(node_.info);
    Strategy strategy;
    strategy.result = Layout::whole(shape ? shape->size() : 0);
    for (const Operand& operand : operands_)
      strategy.operands.push_back(Layout::whole(operand.shape().size()));
    double devices = 1;
    for (std::size_t axis = 0; axis < axis_count; ++axis) {
      if (!shared[axis]) continue;
      devices *= static_cast<double>(mesh_.sizes[axis]);
      for (std::size_t i = 0; i < operands_.size(); ++i)
        share(strategy.operands[i], shared[axis]->operands[i], axis);
      const auto& result = shared[axis]->result;
      share(strategy.result, result ? static_cast<int>(*result) : once_operand, axis);
    }
    if (!divides_units(mesh_, shared) || !fits_all(strategy)) return std::nullopt;
    strategy.seconds =
        compute_seconds(mesh_, flops_ / devices,
                        memory_bytes(mesh_, node_, operands_, strategy.operands, strategy.result));
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (operands_[i].is_stored()) strategy.bytes += bytes(operands_[i], strategy.operands[i]);
    return strategy;
  }

 private:
  bool fits_all(const Strategy& strategy) const {
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (!fits(mesh_, strategy.operands[i], operands_[i].shape())) return false;
    const Shape* shape = shape_of(node_.info);
    return !shape || fits(mesh_, strategy.result, *shape);
  }

  double bytes(const Operand& operand, const Layout& layout) const {
    const double whole = static_cast<double>(numel(operand.info.shape)) *
                         static_cast<double>(size_of(operand.info.dtype));
    return whole / static_cast<double>(parts(mesh_, layout));
  }

  const Mesh& mesh_;
  const ir::Node& node_;
  const std::vector<Operand>& operands_;
  double flops_;
};

}  // namespace

double whole_seconds(const Mesh& mesh, const ir::Node& node, const std::vector<Operand>& operands,
                     const Demands& demands) {
  return StrategyMaker(mesh, node, operands, demands).make({})->seconds;
}

std::vector<Strategy> strategies_of(const Mesh& mesh, const ir::Node& node,
                                    const std::vector<Operand>& operands,
                                    const std::vector<Split>& splits, const Demands& demands) {
  const StrategyMaker maker(mesh, node, operands, demands);
  std::vector<const Split*> loops{nullptr};
  for (const Split& split : splits)
    if (!split.result || !demands.keeps_whole || !demands.keeps_whole(node, *split.result))
      loops.push_back(&split);
  const std::vector<const Split*> none{nullptr};
  std::vector<Strategy> all;
  for (const Split* first : mesh.sizes[0] > 1 ? loops : none)
    for (const Split* second : mesh.sizes[1] > 1 ? loops : none)
      if (auto made = maker.make({first, second})) all.push_back(*std::move(made));
  return all;
}

}  // namespace mase::sharding
