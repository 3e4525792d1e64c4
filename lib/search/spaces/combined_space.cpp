// SPDX-License-Identifier: Apache-2.0
// Prefixes are added to names on the way out, and removed on the way in.
#include "search/spaces/combined_space.hpp"

#include "base/join_trees.hpp"

namespace mase::search {
namespace {

using samplers::Params;

class CombinedSpace : public SearchSpace {
 public:
  explicit CombinedSpace(std::vector<SpacePart> parts) : parts_(std::move(parts)) {
    for (const SpacePart& part : parts_) add(part);
  }

  std::vector<passes::PassCall> calls(const Params& params) const override {
    std::vector<passes::PassCall> all;
    for (const SpacePart& part : parts_)
      for (passes::PassCall& call : part.space->calls(own(part, params)))
        all.push_back(std::move(call));
    return all;
  }

  Tree sampled_config(const Params& params) const override {
    Tree tables = Tree::dict();
    for (const SpacePart& part : parts_)
      tables[part.name] = part.space->sampled_config(own(part, params));
    return tables;
  }

  Tree runner_options(const Params& params) const override {
    Tree all = Tree::dict();
    for (const SpacePart& part : parts_)
      all = join_trees(std::move(all), part.space->runner_options(own(part, params)));
    return all;
  }

  void check_hardware(const ir::Graph& graph, integer::Contents contents,
                      Diagnostics& diagnostics) const override {
    for (const SpacePart& part : parts_) part.space->check_hardware(graph, contents, diagnostics);
  }

  std::string not_additive() const override {
    for (const SpacePart& part : parts_)
      if (const std::string reason = part.space->not_additive(); !reason.empty()) return reason;
    return "the cost of a choice in one of several spaces depends on the choices in the others";
  }

 private:
  static std::string prefix(const SpacePart& part) { return part.name + "/"; }

  void add(const SpacePart& part) {
    const std::size_t first = dimensions_.size();
    for (samplers::Dimension dimension : part.space->dimensions()) {
      dimension.name = prefix(part) + dimension.name;
      if (dimension.condition)
        dimension.condition->parent = prefix(part) + dimension.condition->parent;
      dimensions_.push_back(std::move(dimension));
    }
    for (Layer layer : part.space->layers()) {
      layer.name = prefix(part) + layer.name;
      for (std::size_t& index : layer.dimensions) index += first;
      layers_.push_back(std::move(layer));
    }
  }

  /// The parameters of a part, without the prefix.
  static Params own(const SpacePart& part, const Params& params) {
    const std::string start = prefix(part);
    Params out;
    for (const auto& [name, value] : params)
      if (name.starts_with(start)) out[name.substr(start.size())] = value;
    return out;
  }

  std::vector<SpacePart> parts_;
};

}  // namespace

std::unique_ptr<SearchSpace> combine(std::vector<SpacePart> parts) {
  return std::make_unique<CombinedSpace>(std::move(parts));
}

}  // namespace mase::search
