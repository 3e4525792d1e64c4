// SPDX-License-Identifier: Apache-2.0
// The pass framework: one declaration per pass, and what a pass gets and gives back.
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

#include "base/field.hpp"
#include "ir/evaluator.hpp"
#include "ir/graph.hpp"
#include "passes/derived.hpp"

namespace mase::passes {

enum class PassKind { analysis, transform, interface };
std::string_view kind_name(PassKind kind);

/// What a pass is called, and what it does in a sentence.
struct PassDoc {
  std::string_view name;
  PassKind kind;
  std::string_view sentence;
  /// How far results may move: 0 exactly, infinity for passes that change numbers on purpose.
  double tolerance = 0.0;
};

/// Sees a batch of inputs in placeholder order.
using SeeBatch = std::function<void(const std::vector<Array>& inputs)>;

/// What a pass needs from outside. Passes never print and never write anywhere but through it.
struct PassContext {
  ir::MakeEvaluator evaluator;  ///< empty when no LibTorch is at hand
  std::vector<Array> probe;     ///< example inputs in placeholder order; may be empty
  bool probe_is_data = false;   ///< false: zeros that only give the shapes
  /// Shows `count` rows of the training data (all, where there are fewer), spread evenly over it,
  /// in batches; empty without a data set.
  std::function<void(std::int64_t count, const SeeBatch& see)> training_rows;
  const ir::Graph* original = nullptr;  ///< what quantization is compared with
  std::string output_folder;            ///< ".../software/transform"
  std::string hardware_folder;          ///< ".../hardware", for the passes that emit
  /// Stores a graph as a checkpoint, and loads one; empty when no LibTorch is at hand.
  std::function<void(const ir::Graph&, const std::string& path)> save_checkpoint;
  std::function<ir::Graph(const std::string& path)> load_checkpoint;
  Derived derived;  ///< what earlier passes have made from the graph

  /// Whether there is data to learn from and something to run it on.
  bool has_data() const;
  /// Shows up to `count` rows of data in batches: training rows, else the rows of the probe.
  void each_batch(std::int64_t count, const SeeBatch& see) const;

  /// For passes that make another float model of the graph (nodes now compute something else, or
  /// other inputs are read): later comparisons are with `graph`, run on `inputs`.
  void start_again(const ir::Graph& graph, std::vector<Array> inputs);

  /// A file name from the options inside `output_folder`; Error(Fault::config) when it would leave
  /// it.
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
  std::vector<std::string> text;     ///< printed as it is
  std::vector<std::string> notes;    ///< warnings: requested but not applied, ...
  std::vector<std::string> details;  ///< what only those who look for it want to read
};

/// One row of the pass table. Options are read and run through these, generated from the
/// declaration.
struct PassRow {
  PassDoc doc;
  std::vector<FieldInfo> fields;
  /// Checks options without running anything; `own` are the ops that the user has described.
  void check(const Tree& options, Diagnostics& diagnostics, const ir::CustomOps& own = {}) const {
    check_options(options, diagnostics, own);
  }
  void (*check_options)(const Tree& options, Diagnostics& diagnostics, const ir::CustomOps& own);
  /// Options with every default filled in.
  Tree (*resolve)(const Tree& options);
  Result (*run)(ir::Graph& graph, const Tree& options, PassContext& context);
};

/// Passes with free tables provide `static void check(const Tree&, Diagnostics&)` and take the
/// whole tree in `run(graph, tree, context)`.
template <class Pass>
concept ReadsTree = requires(const Tree& tree) {
  Pass::resolve(tree);
};
/// Those whose tables are named after ops check them against these, too.
template <class Pass>
concept ReadsOps = requires(const Tree& tree, Diagnostics& d, const ir::CustomOps& own) {
  Pass::check(tree, d, own);
};

template <class Pass>
PassRow describe() {
  PassRow row;
  row.doc = Pass::doc;
  row.fields = describe_fields<typename Pass::Options>();
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
