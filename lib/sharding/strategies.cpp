// SPDX-License-Identifier: Apache-2.0
// Combines axes and loops, and keeps the combinations in which all parts are equal.
#include "sharding/strategies.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace mase::sharding {
namespace {

/// The loop that each axis shares.
using Shared = std::array<const Split*, axis_count>;

bool fits_all(const Mesh& mesh, const Layout& layout, const ir::ValueInfo& info) {
  if (info.is_tensor()) return fits(mesh, layout, info.shape);
  return std::ranges::all_of(info.elements, [&](const ir::ValueInfo& item) {
    return !item.is_tensor() || fits(mesh, layout, item.shape);
  });
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
    if (!fits_all(strategy)) return std::nullopt;
    strategy.seconds = flops_ / devices / mesh_.flops;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (operands_[i].is_stored()) strategy.bytes += bytes(operands_[i], strategy.operands[i]);
    return strategy;
  }

 private:
  bool fits_all(const Strategy& strategy) const {
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (!sharding::fits_all(mesh_, strategy.operands[i], operands_[i].info)) return false;
    return sharding::fits_all(mesh_, strategy.result, node_.info);
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
