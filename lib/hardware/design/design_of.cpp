// SPDX-License-Identifier: Apache-2.0
// The metadata of nodes names folds and FIFOs, that of the output node what holds for the whole.
#include "hardware/design/design_of.hpp"

#include "hardware/design/building/node_metadata.hpp"
#include "hardware/design/distribution.hpp"
#include "hardware/design/folding/choose_folding.hpp"
#include "hardware/design/timing/predict.hpp"

namespace mase::design {
namespace {

using integer::Contents;
using integer::Program;

/// Only of designs whose weights may be replaced.
constexpr const char* reloadable_key = "reloadable";

std::optional<Timing> stored_timing(const ir::Graph& graph) {
  if (graph.output() == ir::no_node) return std::nullopt;
  const Tree* cycles = graph.node(graph.output()).meta.hardware.find("cycles");
  if (!cycles) return std::nullopt;
  const auto number = [&](const char* key) {
    const Tree* value = cycles->find(key);
    return value && value->is_int() ? value->as_int() : 0;
  };
  return Timing{number("first"), number("last"), number("interval"), number("frames")};
}

Contents contents_of(const ir::Graph& graph) {
  if (graph.output() == ir::no_node) return Contents::fixed;
  const Tree* stored = graph.node(graph.output()).meta.hardware.find(reloadable_key);
  return stored && stored->is_bool() && stored->as_bool() ? Contents::reloadable : Contents::fixed;
}

/// Without a timing, when the metadata has a folding.
Design structure_of(const ir::Graph& graph) {
  const auto program = std::make_shared<const Program>(integer::lower(graph, contents_of(graph)));
  const Folding folding = folding_of(graph);
  if (folding.empty()) return build_for(program, {});
  Distribution distribution = stored_distribution(graph);
  complete(*program, distribution);
  return rebuild(program, folding, stored_fifos(graph), distribution);
}

}  // namespace

void store_timing(ir::Graph& graph, const Timing& timing) {
  Tree& cycles = graph.node(graph.output()).meta.hardware["cycles"];
  cycles["first"] = timing.first;
  cycles["last"] = timing.last;
  cycles["interval"] = timing.interval;
  cycles["frames"] = timing.frames;
}

void store_contents(ir::Graph& graph, Contents contents) {
  if (contents == Contents::reloadable)
    graph.node(graph.output()).meta.hardware[reloadable_key] = true;
}

Folding folding_of(const ir::Graph& graph) {
  Folding folding;
  for (ir::NodeId id : graph.order()) {
    const Tree* folds = graph.node(id).meta.hardware.find("fold");
    if (!folds || !folds->is_dict()) continue;
    for (const auto& [step, fold] : folds->as_dict()) folding[step] = fold_of(fold);
  }
  return folding;
}

FifoDepths stored_fifos(const ir::Graph& graph) {
  FifoDepths depths;
  for (ir::NodeId id : graph.order()) {
    const Tree* fifos = graph.node(id).meta.hardware.find("fifos");
    if (!fifos || !fifos->is_dict()) continue;
    for (const auto& [name, depth] : fifos->as_dict())
      if (depth.is_int() && depth.as_int() > 0) depths[name] = depth.as_int();
  }
  return depths;
}

Design design_of(const ir::Graph& graph) {
  Design design = structure_of(graph);
  const auto stored = stored_timing(graph);
  if (stored && stored->interval > 0)
    design.timing = *stored;
  else if (design.timing.interval == 0)
    design.timing = predict(design);
  return design;
}

const Design& design_of(const ir::Graph& graph, passes::PassContext& context) {
  if (const auto* kept = context.derived.find<Design>()) return *kept;
  return context.derived.keep(design_of(graph));
}

}  // namespace mase::design
