// SPDX-License-Identifier: Apache-2.0
// Rows of tree ensembles of ai.onnx.ml. All rows go down all trees at once, one level per step: the
// place of a row in a tree is a number, by which tables say what is compared there and what
// follows.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "onnx/import/classes.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

/// How a node compares the value of a row (self) with its own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> comparisons{
    {{"BRANCH_LEQ", "aten::le.Tensor"},
     {"BRANCH_LT", "aten::lt.Tensor"},
     {"BRANCH_GTE", "aten::ge.Tensor"},
     {"BRANCH_GT", "aten::gt.Tensor"},
     {"BRANCH_EQ", "aten::eq.Tensor"},
     {"BRANCH_NEQ", "aten::ne.Tensor"}}};

class Trees {
 public:
  explicit Trees(Call& call)
      : call_(call),
        trees_(numbers("nodes_treeids")),
        ids_(numbers("nodes_nodeids")),
        features_(numbers("nodes_featureids")),
        next_{numbers("nodes_truenodeids"), numbers("nodes_falsenodeids")},
        missing_(numbers("nodes_missing_value_tracks_true")),
        values_(floats(call, "nodes_values")) {
    const std::size_t count = trees_.size();
    const auto* modes = call.node().find("nodes_modes");
    const auto* texts = modes ? std::get_if<Attribute::Strings>(&modes->value) : nullptr;
    if (call.has_attribute("nodes_values_as_tensor") || call.dtype(0) == DType::float64)
      call.refuse("it compares with float64; export the model for float32");
    if (!texts || count == 0 || texts->size() != count || ids_.size() != count ||
        features_.size() != count || values_.size() != count || next_[0].size() != count ||
        next_[1].size() != count || (!missing_.empty() && missing_.size() != count))
      call.wrong("its lists of nodes differ in length");
    for (std::size_t i = 0; i < count; ++i) places_[{trees_[i], ids_[i]}] = i;
    join(*texts);
    find_roots();
  }

  std::size_t count() const { return trees_.size(); }
  std::size_t place(std::int64_t tree, std::int64_t node) const {
    const auto found = places_.find({tree, node});
    if (found == places_.end()) call_.wrong("it names a node that none of its trees has");
    return found->second;
  }

  /// The places where rows end, [rows, trees].
  ir::NodeId leaves() {
    const ir::NodeId rows = rows_of(call_);
    const std::int64_t columns = fixed_size(call_, rows, 1);
    for (const std::int64_t feature : features_)
      if (feature < 0 || feature >= columns)
        call_.wrong("it reads column " + std::to_string(feature) + " of " +
                    std::to_string(columns));
    ir::NodeId places =
        constant_node(call_, Array::from(roots_, {static_cast<std::int64_t>(roots_.size())}));
    for (std::int64_t level = 0; level < std::max<std::int64_t>(depth_, 1); ++level)
      places = step(rows, places, level == 0);
    return places;
  }

 private:
  Integers numbers(std::string_view name) const {
    return call_.integers(name).value_or(Integers{});
  }

  /// A leaf is its own successor.
  void join(const Attribute::Strings& modes) {
    for (std::size_t i = 0; i < count(); ++i) {
      const bool leaf = modes[i] == "LEAF";
      for (Integers& next : next_)
        next[i] = static_cast<std::int64_t>(leaf ? i : place(trees_[i], next[i]));
      if (leaf) {
        features_[i] = 0;
        continue;
      }
      const auto* known =
          std::ranges::find(comparisons, modes[i], [](const auto& pair) { return pair.first; });
      if (known == comparisons.end()) call_.refuse("its mode " + modes[i] + " is not known");
      if (!comparison_.empty() && comparison_ != known->second)
        call_.refuse("its nodes compare in several ways");
      comparison_ = known->second;
    }
    if (comparison_.empty()) comparison_ = comparisons.front().second;
  }

  /// Roots are what follows no node. A level has what follows those of the level before.
  void find_roots() {
    std::vector<bool> follows(count(), false);
    for (const Integers& next : next_)
      for (std::size_t i = 0; i < count(); ++i)
        if (const auto to = static_cast<std::size_t>(next[i]); to != i) follows[to] = true;
    Integers level;
    for (std::size_t i = 0; i < count(); ++i)
      if (!follows[i]) level.push_back(static_cast<std::int64_t>(i));
    roots_ = level;
    for (std::size_t seen = 0;; ++depth_) {
      Integers below;
      for (const std::int64_t at : level)
        for (const Integers& next : next_)
          if (next[std::size_t(at)] != at) below.push_back(next[std::size_t(at)]);
      seen += level.size();
      if (seen > count()) call_.wrong("a node of its trees follows several nodes");
      if (below.empty()) break;
      level = std::move(below);
    }
  }

  template <class T>
  ir::NodeId table(const std::vector<T>& items) {
    return constant_node(call_, Array::from(items, {static_cast<std::int64_t>(items.size())}));
  }
  ir::NodeId looked_up(ir::NodeId table, ir::NodeId places) {
    return call_.emit("aten::index.Tensor",
                      {{"self", ref(table)}, {"indices", ir::Value::list({ref(places)})}});
  }

  ir::NodeId both(std::string_view aten, ir::NodeId a, ir::NodeId b) {
    return call_.emit(std::string(aten), {{"self", ref(a)}, {"other", ref(b)}});
  }

  /// One level down. At the first one all rows are at the roots, [trees].
  ir::NodeId step(ir::NodeId rows, ir::NodeId places, bool first) {
    if (first) tables_ = {table(features_), table(values_), table(next_[0]), table(next_[1])};
    const ir::NodeId columns = looked_up(tables_[0], places);
    const ir::NodeId values =
        call_.emit(first ? "aten::index_select" : "aten::gather",
                   {{"self", ref(rows)}, {"dim", 1}, {"index", ref(columns)}});
    ir::NodeId truth =
        call_.emit(std::string(comparison_),
                   {{"self", ref(values)}, {"other", ref(looked_up(tables_[1], places))}});
    if (std::ranges::find(missing_, 1) != missing_.end()) {
      const ir::NodeId tracks =
          converted(call_, looked_up(table(missing_), places), DType::boolean);
      const ir::NodeId missing =
          both("aten::logical_and", applied(call_, "aten::isnan", values), tracks);
      truth = both("aten::logical_or", truth, missing);
    }
    return call_.emit("aten::where.self", {{"condition", ref(truth)},
                                           {"self", ref(looked_up(tables_[2], places))},
                                           {"other", ref(looked_up(tables_[3], places))}});
  }

  Call& call_;
  Integers trees_, ids_, features_;
  std::array<Integers, 2> next_;  ///< places, after join
  Integers missing_;
  std::vector<float> values_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places_;
  Integers roots_;
  std::int64_t depth_ = 0;
  std::string_view comparison_;
  std::array<ir::NodeId, 4> tables_{};
};

/// What leaves say: the numbers of one result, or of several.
struct Leaves {
  Integers trees, nodes, results;
  std::vector<float> weights;

  Leaves(const Call& call, const std::string& prefix, const std::string& result)
      : trees(call.integers(prefix + "_treeids").value_or(Integers{})),
        nodes(call.integers(prefix + "_nodeids").value_or(Integers{})),
        results(call.integers(result).value_or(Integers{})),
        weights(floats(call, prefix + "_weights")) {
    if (trees.size() != weights.size() || nodes.size() != weights.size() ||
        results.size() != weights.size())
      call.wrong("its lists of leaves differ in length");
  }
};

/// The sums of all trees, [rows, results], with the base values.
ir::NodeId summed(Call& call, const Leaves& leaves, std::int64_t results) {
  Trees trees(call);
  std::vector<float> table(trees.count() * static_cast<std::size_t>(results), 0.0F);
  for (std::size_t i = 0; i < leaves.weights.size(); ++i) {
    if (leaves.results[i] < 0 || leaves.results[i] >= results)
      call.wrong("a leaf is for a result that it does not have");
    table[trees.place(leaves.trees[i], leaves.nodes[i]) * static_cast<std::size_t>(results) +
          static_cast<std::size_t>(leaves.results[i])] += leaves.weights[i];
  }
  const ir::NodeId weights = parameter(
      call, "weights", Array::from(table, {static_cast<std::int64_t>(trees.count()), results}));
  const ir::NodeId found =
      call.emit("aten::index.Tensor",
                {{"self", ref(weights)}, {"indices", ir::Value::list({ref(trees.leaves())})}});
  const bool mean = call.text("aggregate_function", "SUM") == "AVERAGE";
  ir::NodeId sums = call.emit(mean ? "aten::mean.dim" : "aten::sum.dim_IntList",
                              {{"self", ref(found)}, {"dim", list_of({1})}, {"keepdim", false}});
  const std::vector<float> base = floats(call, "base_values");
  if (base.empty()) return sums;
  if (static_cast<std::int64_t>(base.size()) != results)
    call.refuse("it has " + std::to_string(base.size()) + " base values for " +
                std::to_string(results) + " results");
  return combined(call, "aten::add", sums,
                  ref(parameter(call, "base", Array::from(base, {results}))));
}

void regressor(Call& call) {
  const std::string function = call.text("aggregate_function", "SUM");
  if (function != "SUM" && function != "AVERAGE")
    call.refuse("its aggregate_function is " + function + "; SUM and AVERAGE have a counterpart");
  const Leaves leaves(call, "target", "target_ids");
  call.result(post_transformed(call, summed(call, leaves, call.integer("n_targets", 1))));
}

/// One score for two classes. Where no weight is negative it is the second one's probability;
/// otherwise its sign decides, and that of the first one is its opposite. Engines do not agree on
/// other functions.
void binary_trees(Call& call, Leaves leaves) {
  std::ranges::fill(leaves.results, 0);
  const bool shares = std::ranges::all_of(leaves.weights, [](float one) { return one >= 0; });
  const std::string only = shares ? "NONE" : "LOGISTIC";
  if (call.text("post_transform", "NONE") != only)
    call.refuse("it has one score for two classes, and " +
                std::string(shares ? "no weight" : "a weight") +
                " is negative, so its post_transform must be " + only);
  const ir::NodeId score = summed(call, leaves, 1);
  const ir::NodeId second =
      call.emit("aten::gt.Scalar", {{"self", ref(score)}, {"other", shares ? 0.5 : 0.0}});
  const ir::NodeId first =
      shares ? call.emit("aten::rsub.Scalar", {{"self", ref(score)}, {"other", 1.0}})
             : applied(call, "aten::neg", score);
  const ir::NodeId scores =
      call.emit("aten::cat", {{"tensors", ir::Value::list({ref(first), ref(score)})}, {"dim", 1}});
  give_classes(call, reshaped(call, converted(call, second, DType::int64), {ir::Value(-1)}),
               post_transformed(call, scores));
}

void classifier(Call& call) {
  Leaves leaves(call, "class", "class_ids");
  const auto classes = static_cast<std::int64_t>(class_count(call));
  const bool one_score = std::ranges::all_of(
      leaves.results, [&](std::int64_t one) { return one == leaves.results.front(); });
  if (classes == 2 && one_score) return binary_trees(call, std::move(leaves));
  const ir::NodeId scores = summed(call, leaves, classes);
  give_classes(call, best_class(call, scores), post_transformed(call, scores));
}

}  // namespace

std::vector<Row> tree_rows() {
  return {
      {"TreeEnsembleRegressor", 1, regressor, {}, classical_models},
      {"TreeEnsembleClassifier", 1, classifier, {}, classical_models},
  };
}

}  // namespace mase::onnx
