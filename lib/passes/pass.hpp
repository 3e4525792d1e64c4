// SPDX-License-Identifier: Apache-2.0
// The pass framework: one declaration per pass, what a pass is given and what it returns.
//
//   struct CountDropout {
//     static constexpr PassDoc doc{"count_dropout", PassKind::analysis, "Count the dropouts."};
//     struct Options {
//       static constexpr auto fields() { return std::tuple{}; }
//     };
//     static Result run(ir::Graph& graph, const Options& options, PassContext& context);
//   };
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/companions.hpp"
#include "base/field.hpp"
#include "ir/evaluator.hpp"
#include "ir/graph.hpp"
#include "passes/derived.hpp"

namespace mase::passes {

class KnownChoices;

enum class PassKind { analysis, transform, interface };
std::string_view kind_name(PassKind kind);

/// The name of a pass, and a sentence on what it does.
struct PassDoc {
  std::string_view name;
  PassKind kind;
  std::string_view sentence;
  /// How far results may move: 0 for no change, infinity for passes that change numbers on purpose.
  double tolerance = 0.0;
};

/// Sees a batch of inputs in placeholder order.
using SeeBatch = std::function<void(const std::vector<Array>& inputs)>;

/// What a pass needs from outside. Passes never print, and they write only through this.
struct PassContext {
  ir::MakeEvaluator evaluator;  ///< empty when there is no LibTorch
  std::vector<Array> probe;     ///< example inputs in placeholder order; may be empty
  bool probe_is_data = false;   ///< false: zeros that only give the shapes
  /// Shows `count` rows of the training data in batches (or all rows when there are fewer), spread
  /// evenly over the data; empty without a data set.
  std::function<void(std::int64_t count, const SeeBatch& see)> training_rows;
  const ir::Graph* original = nullptr;  ///< what quantization is compared with
  std::string output_folder;            ///< ".../software/transform"
  std::string hardware_folder;          ///< ".../hardware", for the passes that emit
  /// Stores a graph as a checkpoint, and loads one; empty when there is no LibTorch.
  std::function<void(const ir::Graph&, const std::string& path)> save_checkpoint;
  std::function<ir::Graph(const std::string& path)> load_checkpoint;
  Derived derived;  ///< what earlier passes have computed from the graph
  /// What calibration has chosen on these rows before; null for one run alone.
  std::shared_ptr<KnownChoices> known_choices;
  /// Processes that run the same passes, whose work is shared where PassRow::shares_work; or null.
  std::shared_ptr<Companions> companions;

  /// True when there is data to learn from and an evaluator to run it.
  bool has_data() const;
  /// Shows up to `count` rows of data in batches: training rows, or else the rows of the probe.
  void each_batch(std::int64_t count, const SeeBatch& see) const;

  /// For passes that make another float model of the graph (nodes compute something else, or the
  /// graph reads other inputs): later comparisons are with `graph`, run on `inputs`.
  void start_again(const ir::Graph& graph, std::vector<Array> inputs);

  /// The path inside `output_folder` of a file that the options name; Error(Fault::config) when it
  /// would leave that folder.
  std::string output_path(const std::string& file) const;

 private:
  std::shared_ptr<const ir::Graph> own_original_;
};

/// A table for people: printed to stdout and, when `file` is set, written as CSV.
struct ReportTable {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string file;
};

/// What a pass has done and found.
struct Result {
  bool changed = false;
  Tree info = Tree::dict();  ///< machine-readable findings
  std::vector<ReportTable> tables;
  std::vector<std::string> text;  ///< printed unchanged
  std::string headline;  ///< a line that says as much as most users need of text and tables
  std::vector<std::string> notes;    ///< warnings, as about settings that could not be applied
  std::vector<std::string> details;  ///< notes that most users need not read
};

/// One row of the pass table. Its functions, which read and check options and run the pass, are
/// generated from the declaration.
struct PassRow {
  PassDoc doc;
  std::vector<FieldInfo> fields;
  /// Checks options without running anything; `own` holds the user's custom ops.
  void check(const Tree& options, Diagnostics& diagnostics, const ir::CustomOps& own = {}) const {
    check_options(options, diagnostics, own);
  }
  void (*check_options)(const Tree& options, Diagnostics& diagnostics, const ir::CustomOps& own);
  /// Whether this graph should go through the pass before it is quantized; null for most passes.
  bool (*prepares)(const ir::Graph& graph) = nullptr;
  /// Whether several processes share its work; a pass then has `shares_work = true`.
  bool shares_work = false;
  /// The options with every default filled in.
  Tree (*resolve)(const Tree& options);
  Result (*run)(ir::Graph& graph, const Tree& options, PassContext& context);
};

/// A pass with free tables has `static void check(const Tree&, Diagnostics&)` and takes the whole
/// tree in `run(graph, tree, context)`.
template <class Pass>
concept ReadsTree = requires(const Tree& tree) {
  Pass::resolve(tree);
};
/// A pass whose tables are named after ops also checks them against the user's custom ops.
template <class Pass>
concept ReadsOps = requires(const Tree& tree, Diagnostics& d, const ir::CustomOps& own) {
  Pass::check(tree, d, own);
};

template <class Pass>
PassRow describe() {
  PassRow row;
  row.doc = Pass::doc;
  row.fields = describe_fields<typename Pass::Options>();
  if constexpr (requires { &Pass::prepares; }) row.prepares = Pass::prepares;
  if constexpr (requires { Pass::shares_work; }) row.shares_work = Pass::shares_work;
  row.check_options = [](const Tree& tree, Diagnostics& diagnostics,
                         [[maybe_unused]] const ir::CustomOps& own) {
    if constexpr (ReadsOps<Pass>) {
      Pass::check(tree, diagnostics, own);
    } else if constexpr (ReadsTree<Pass>) {
      Pass::check(tree, diagnostics);
    } else {
      typename Pass::Options options;
      read_fields(tree, options, diagnostics);
    }
  };
  row.resolve = [](const Tree& tree) {
    if constexpr (ReadsTree<Pass>) {
      return Pass::resolve(tree);
    } else {
      typename Pass::Options options;
      Diagnostics ignored;
      read_fields(tree, options, ignored);
      return write_fields(options);
    }
  };
  row.run = [](ir::Graph& graph, const Tree& tree, PassContext& context) {
    if constexpr (ReadsTree<Pass>) {
      return Pass::run(graph, tree, context);
    } else {
      Diagnostics diagnostics;
      typename Pass::Options options;
      read_fields(tree, options, diagnostics);
      diagnostics.throw_if_errors();
      return Pass::run(graph, options, context);
    }
  };
  return row;
}

using PassTable = std::vector<PassRow>;
const PassRow* find_pass(const PassTable& table, std::string_view name);  ///< nullptr when unknown

}  // namespace mase::passes
