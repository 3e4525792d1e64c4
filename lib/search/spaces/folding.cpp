// SPDX-License-Identifier: Apache-2.0
// Folding chooses the parallelism of layers and the kind of multipliers, as options of
// add_hardware_metadata, which the runner of hardware runs. The graph is not changed.
#include <algorithm>

#include "hardware/design/add_hardware_metadata.hpp"
#include "search/spaces/search_space.hpp"
#include "search/spaces/selector.hpp"

namespace mase::search {
namespace {

using design::AddHardwareMetadata;
using samplers::Params;

/// The options of the pass that a trial can choose. `keep` is not one: no model has folds to keep.
std::vector<std::string> design_keys() {
  std::vector<std::string> keys = field_names<AddHardwareMetadata::Options>();
  std::erase(keys, "keep");
  return keys;
}

/// Whether nodes of this kind compute. Which of them get hardware depends on the trial's formats.
bool computes(ir::NodeKind kind) {
  return kind != ir::NodeKind::placeholder && kind != ir::NodeKind::get_attr &&
         kind != ir::NodeKind::output;
}

/// The keys for the folding of a layer.
struct LayerKeys {
  std::string node;
  std::vector<Key> keys;
};

class FoldingReader {
 public:
  FoldingReader(const SpaceOptions& options, const ir::Graph& graph, Diagnostics& diagnostics)
      : diagnostics_(diagnostics), allowed_(design_keys()) {
    for (const ir::NodeId id : graph.order())
      if (computes(graph.node(id).kind)) allowed_.push_back(graph.node(id).name);
    for (const auto& [name, entry] : options.seed.as_dict()) add(options.seed, name, entry);
  }

  samplers::Space dimensions;
  std::vector<SearchSpace::Layer> layers;
  std::vector<Key> design;  ///< options for the whole design
  std::vector<LayerKeys> folds;

 private:
  void add(const Tree& seed, const std::string& name, const Tree& entry) {
    report_unknown_key(entry, name, allowed_, diagnostics_);
    if (std::find(allowed_.begin(), allowed_.end(), name) == allowed_.end()) return;
    if (entry.is_dict())
      add_layer(name, entry);
    else
      add_key(
          seed, name, name, [&](Tree& options) -> Tree& { return options; }, design);
  }

  void add_layer(const std::string& node, const Tree& table) {
    const Tree* config = table.find("config");
    if (!config || !config->is_dict()) {
      diagnostics_.error(table.where, "a seed needs a table 'config' with simd or pe = [numbers]");
      return;
    }
    const std::size_t first = dimensions.size();
    LayerKeys& layer = folds.emplace_back();
    layer.node = node;
    for (const auto& [key, choices] : config->as_dict()) {
      report_unknown_key(choices, key, field_names<AddHardwareMetadata::Layer>(), diagnostics_);
      add_key(
          *config, key, node + "/config/" + key,
          [&](Tree& options) -> Tree& { return options["layers"][node]; }, layer.keys);
    }
    SearchSpace::Layer own{node, {}};
    for (std::size_t i = first; i < dimensions.size(); ++i) own.dimensions.push_back(i);
    if (!own.dimensions.empty()) layers.push_back(std::move(own));
  }

  /// `place` returns the table of the options that has the key.
  template <class Place>
  void add_key(const Tree& table, const std::string& key, const std::string& name,
               const Place& place, std::vector<Key>& keys) {
    const Tree* choices = choices_of(table, key, diagnostics_);
    if (!choices) return;
    for (const Tree& choice : choices->as_list()) {
      Tree options = Tree::dict();
      place(options)[key] = choice;
      AddHardwareMetadata::check(options, diagnostics_);
    }
    Key entry{key, choices->as_list(), {}, ""};
    add_dimension(entry, name, std::nullopt, dimensions);
    keys.push_back(std::move(entry));
  }

  Diagnostics& diagnostics_;
  std::vector<std::string> allowed_;  ///< design keys and nodes
};

class Folding : public SearchSpace {
 public:
  explicit Folding(FoldingReader reader)
      : design_(std::move(reader.design)), folds_(std::move(reader.folds)) {
    dimensions_ = std::move(reader.dimensions);
    layers_ = std::move(reader.layers);
  }

  std::vector<passes::PassCall> calls(const Params&) const override { return {}; }

  Tree sampled_config(const Params& params) const override {
    Tree options = Tree::dict();
    for (const Key& key : design_)
      if (auto value = key.value_in(params)) options[key.key] = std::move(*value);
    for (const LayerKeys& layer : folds_)
      for (const Key& key : layer.keys)
        if (auto value = key.value_in(params))
          options["layers"][layer.node][key.key] = std::move(*value);
    return options;
  }

  Tree runner_options(const Params& params) const override {
    Tree options = Tree::dict();
    options[HardwareCost::doc.name] = sampled_config(params);
    return options;
  }

  std::string not_additive() const override {
    return "folding does not change the loss, and the slowest layer sets the design's interval";
  }

 private:
  std::vector<Key> design_;
  std::vector<LayerKeys> folds_;
};

std::unique_ptr<SearchSpace> make_folding(const SpaceOptions& options, const ir::Graph& graph,
                                          Diagnostics& diagnostics) {
  return std::make_unique<Folding>(FoldingReader(options, graph, diagnostics));
}

}  // namespace

SpaceRow folding_row() {
  return {"graph/hardware/folding",
          "hardware",
          "Parallelism of layers and targets of the design; options of the runner hardware.",
          "folding",
          {"name"},
          make_folding,
          HardwareCost::doc.name};
}

}  // namespace mase::search
