// SPDX-License-Identifier: Apache-2.0
// What the nodes of a graph cost: the counts behind count_operations, flops and bitops.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/op_table.hpp"
#include "passes/analysis/rows.hpp"

namespace mase::passes {

/// Counts of one node, or of a graph, for one sample; count_operations.hpp has the rules.
struct OperationCounts {
  double parameters = 0, macs = 0, flops = 0, bitops = 0;
  double inputs = 0, outputs = 0;               ///< elements of activations read and written
  double weight_bits = 0, activation_bits = 0;  ///< of the operands of the MACs

  /// Adds the other counts to these, except the bits of operands, which have no sum.
  void add(const OperationCounts& other);
};

/// A count as a tree: an integer when the count is whole.
Tree count_tree(double count);

/// Counts the nodes of a graph one after another.
class OperationCounter {
 public:
  explicit OperationCounter(const ir::Graph& graph);

  OperationCounts count(const ir::Node& node);

  /// Elements of the parameters of the nodes counted so far; each parameter counts once.
  double total_parameters() const { return total_parameters_; }
  std::int64_t batch() const { return elements_.batch(); }
  /// The nodes without a rule, each as "'name' (op)".
  const std::vector<std::string>& uncounted() const { return uncounted_; }

 private:
  /// The tensor of one data or weight argument.
  struct Operand {
    std::string port;
    DType dtype;
    Shape shape;
    double elements;  ///< of one sample
  };

  double parameters(const ir::Node& node, std::set<std::string>* seen) const;
  double outputs(const ir::Node& node) const;  ///< of all results
  double inputs(const ir::Node& node) const;   ///< of the first operand
  double read(const ir::Node& node) const;
  std::vector<Operand> operands(const ir::Node& node) const;
  double macs(const ir::Node& node, ir::OpFamily family) const;
  double contraction_macs(const ir::Node& node, const std::vector<Operand>& given) const;
  double custom_macs(const ir::Node& node) const;
  double sequence_rows(const ir::Node& node, const Operand& input) const;
  double layer_macs(const ir::Node& node, const std::vector<Operand>& given, bool attends) const;
  void add_bits(const ir::Node& node, ir::OpFamily family, OperationCounts& counts) const;
  void add_custom_bits(const ir::Node& node, OperationCounts& counts) const;
  void add_recurrent_bits(const ir::Node& node, OperationCounts& counts) const;
  /// The FLOPs of a node besides those of its MACs; records a node whose family has no rule.
  double other_flops(const ir::Node& node, const ir::Classified& what);
  double scores(const ir::Node& node) const;
  double window(const ir::Node& node, const std::string& op) const;
  double tiles(const ir::Node& node) const;

  const ir::Graph& graph_;
  SampleElements elements_;
  std::set<std::string> seen_;
  double total_parameters_ = 0;
  std::vector<std::string> uncounted_;
};

}  // namespace mase::passes
