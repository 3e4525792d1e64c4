// SPDX-License-Identifier: Apache-2.0
// Ops of the user's own: a class or function that is kept as one node, with what the op table says
// of other ops, and with a hardware module that the user brings ([custom_ops.NAME] of a
// configuration).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/field.hpp"
#include "base/tree.hpp"
#include "ir/op_table.hpp"

namespace mase::ir {

/// A SystemVerilog module of the user's between one stream of codes and another, and what it
/// promises. Handshake and cycles: docs/adding/custom_op.md.
struct CustomHardware {
  std::string toolchain = "EXTERNAL";
  std::string module;                        ///< "gate_core"
  std::string input = "in", output = "out";  ///< what the names of its streams' ports begin with
  std::int64_t latency = 1;   ///< cycles from a beat that enters to the beat that it becomes
  std::int64_t interval = 1;  ///< cycles between two beats that enter
  std::int64_t lanes = 1;     ///< elements of a beat, at most
  double lut = 0, ff = 0, carry = 0, dsp = 0, bram = 0;  ///< of one lane on xc7
  std::map<std::string, std::string> files;              ///< name → SystemVerilog text
  /// Its parameters: a number, or what the design puts there (parameter_words()).
  std::vector<std::pair<std::string, std::variant<std::int64_t, std::string>>> parameters;
  /// What it computes of an element: the result's code for every code of the input, in the order
  /// of the input's bits.
  std::vector<std::int64_t> table;

  static constexpr auto fields() {
    using H = CustomHardware;
    return std::tuple{
        Field{"toolchain", &H::toolchain, "who makes the module"}.one_of("EXTERNAL"),
        Field{"module", &H::module, "name of the SystemVerilog module"},
        Field{"input", &H::input, "prefix of the input stream's ports"},
        Field{"output", &H::output, "prefix of the output stream's ports"},
        Field{"latency", &H::latency, "cycles from a beat to its result"}.between(1, 65),
        Field{"interval", &H::interval, "cycles between beats"}.between(1, 65536),
        Field{"lanes", &H::lanes, "elements of a beat, at most"}.between(1, 4096),
        Field{"lut", &H::lut, "LUTs of one lane"}.between(0, 1e9),
        Field{"ff", &H::ff, "flip-flops of one lane"}.between(0, 1e9),
        Field{"carry", &H::carry, "CARRY4 of one lane"}.between(0, 1e9),
        Field{"dsp", &H::dsp, "DSP blocks of one lane"}.between(0, 1e9),
        Field{"bram", &H::bram, "RAMB36 of one lane"}.between(0, 1e9)};
  }
  bool operator==(const CustomHardware&) const = default;
};

/// What a parameter of a module may stand for: "lanes", "in_width", ...
const std::vector<std::string>& parameter_words();

/// An op that a user has described.
struct CustomOp {
  std::string name;                 ///< "gate": what `by = "type"` calls it
  std::string class_name;           ///< whose modules it is, "nets.Gate"; else empty
  std::string function;             ///< or whose calls, "nets.gate"; else empty
  std::string macs;                 ///< multiply-accumulates of one sample; empty: not known
  std::vector<std::string> inputs;  ///< ports of its tensor arguments, in order; "": none
  std::map<std::string, std::string> tensors;      ///< ports of the layer's tensors ("proj.weight")
  std::shared_ptr<const CustomHardware> hardware;  ///< null: it has none
  OpRow row;                                       ///< the same for those who ask the op table
  SourceLocation where;                            ///< of its table

  static constexpr auto fields() {
    using C = CustomOp;
    return std::tuple{Field{"class", &C::class_name, "class whose modules are the op"},
                      Field{"function", &C::function, "function whose calls are the op"},
                      Field{"inputs", &C::inputs, "ports of the tensor arguments, in order"}};
  }
  CustomOp() = default;
  CustomOp(const CustomOp&) = delete;  // the row points into the op
  CustomOp& operator=(const CustomOp&) = delete;
};

/// The operator of an opaque leaf, and of one that is a custom op: "mase::leaf.gate".
inline constexpr std::string_view leaf_op = "mase::leaf";
bool is_leaf(std::string_view op);
std::string leaf_of(const std::string& name);

/// The custom op that a node is; nullptr when it is none.
const CustomOp* custom_op(const Graph& graph, const Node& node);

/// A node that a leaf is given, in the order of its body's placeholders.
struct LeafInput {
  std::string argument;
  NodeId node = no_node;
  std::string port;  ///< by the custom op; empty for none
};
std::vector<LeafInput> leaf_inputs(const Graph& graph, const Node& leaf);

/// What does not fit between a custom op and a leaf or its layer; empty when all does.
std::string input_fault(const Graph& graph, const Node& leaf);
std::string tensor_fault(const CustomOp& op, const Module& module);

/// The ports that a custom op may have, but data_out, which it always has.
const std::vector<std::string>& custom_ports();

/// Reads the table of the op `name`; null after diagnostics. `files` and `table` hold texts and
/// numbers, not names of files.
std::shared_ptr<const CustomOp> read_custom_op(const std::string& name, const Tree& table,
                                               Diagnostics& diagnostics);
/// Reads a dict of such tables.
CustomOps read_custom_ops(const Tree& tables, Diagnostics& diagnostics);
/// The table that reads as this op.
Tree write_custom_op(const CustomOp& op);

/// A sum of products of numbers and names: "outputs * 16", "rows * weight". Names: inputs and
/// outputs (elements of one sample), and the op's tensors (their elements). The tokens of every
/// product; nullopt when the text is something else.
std::optional<std::vector<std::vector<std::string>>> parse_macs(const std::string& text);

}  // namespace mase::ir
