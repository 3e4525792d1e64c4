// SPDX-License-Identifier: Apache-2.0
// Finds the steps after a batch norm that can be computed with it.
#include <map>
#include <optional>

#include "torch/run/normalise.hpp"

namespace mase::libtorch {
namespace {

/// A step that reads a slot without rounding, and the position of the argument.
struct Reader {
  PlanStep* step = nullptr;
  std::size_t place = 0;
};

bool is_one(const Recipe& recipe) {
  return recipe.kind == Recipe::Kind::constant && recipe.constant.isInt() &&
         recipe.constant.toInt() == 1;
}

/// The activation of a step, if it is ReLU or a clamp with constant bounds.
std::optional<Clamp> activation_of(const PlanStep& step) {
  if (step.node->op == "aten::relu") return {{Clamp::Kind::lower, 0, 0}};
  if (step.node->op != "aten::hardtanh") return {};
  const auto bound = [&](std::size_t i) -> std::optional<float> {
    const Recipe& recipe = step.arguments[i];
    if (recipe.kind != Recipe::Kind::constant || !recipe.constant.isScalar()) return {};
    return recipe.constant.toScalar().to<float>();
  };
  const auto low = bound(1), high = bound(2);
  if (!low || !high) return {};
  return {{Clamp::Kind::both, *low, *high}};
}

class NormLinker {
 public:
  explicit NormLinker(std::vector<PlanStep>& steps) : steps_(steps) {
    for (PlanStep& step : steps_) {
      places_[step.node->id] = places_.size();
      for (const ir::Argument& argument : step.node->args)
        argument.value.for_each_node([&](ir::NodeId id) { ++references_[id]; });
      for (std::size_t i = 0; i < step.arguments.size(); ++i)
        if (step.arguments[i].kind == Recipe::Kind::slot)
          readers_[step.arguments[i].slot] = {&step, i};
    }
  }

  void link() {
    for (PlanStep& step : steps_)
      if (step.is_batch_norm) link(step);
  }

 private:
  void link(PlanStep& norm) {
    if (const auto sum = next(norm); sum && is_sum(*sum->step)) {
      const Recipe& other = sum->step->arguments[1 - sum->place];
      if (other.format || places_.at(other.slot) > places_.at(norm.node->id)) return;
      norm.sum = sum->step;
      norm.addend = other.slot;
      sum->step->done_place = sum->place;
    }
    const auto last = next(norm.sum ? *norm.sum : norm);
    const auto activation = last && last->place == 0 ? activation_of(*last->step) : std::nullopt;
    if (!activation) return;
    norm.activation = last->step;
    norm.clamp = *activation;
  }

  /// The only reader of a step's result, if both are operators and nothing is rounded between them.
  std::optional<Reader> next(const PlanStep& step) const {
    const auto reader = readers_.find(step.node->id);
    if (step.out.format || reader == readers_.end() || references_.at(step.node->id) != 1)
      return {};
    const PlanStep& by = *reader->second.step;
    if (by.kind != PlanStep::Kind::aten || by.arguments[reader->second.place].format) return {};
    return reader->second;
  }

  static bool is_sum(const PlanStep& step) {
    return step.node->op == "aten::add.Tensor" && is_one(step.arguments[2]) &&
           step.arguments[0].kind == Recipe::Kind::slot &&
           step.arguments[1].kind == Recipe::Kind::slot;
  }

  std::vector<PlanStep>& steps_;
  std::map<ir::NodeId, std::size_t> places_;  ///< indices of the steps
  std::map<ir::NodeId, int> references_;
  std::map<ir::NodeId, Reader> readers_;  ///< the last one
};

}  // namespace

void link_norms(std::vector<PlanStep>& steps) { NormLinker(steps).link(); }

}  // namespace mase::libtorch
