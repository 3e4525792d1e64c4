// SPDX-License-Identifier: Apache-2.0
// Custom ops: a class or function of the user's that stays one node. The table [custom_ops.NAME]
// of a configuration gives it what the op table gives other ops, and the hardware module that
// the user brings.
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

/// A SystemVerilog module of the user's that turns one stream of codes into another, and what it
/// promises. docs/adding/custom_op.md describes its handshake and its cycles.
struct CustomHardware {
  std::string toolchain = "EXTERNAL";
  std::string module;                        ///< "gate_core"
  std::string input = "in", output = "out";  ///< prefixes of the port names of its two streams
  std::int64_t latency = 1;   ///< cycles from a beat that enters to the beat that it becomes
  std::int64_t interval = 1;  ///< cycles between two beats that enter
  std::int64_t lanes = 1;     ///< elements of a beat, at most
  double lut = 0, ff = 0, carry = 0, dsp = 0, bram = 0;  ///< of one lane on xc7
  std::map<std::string, std::string> files;              ///< name → SystemVerilog text
  /// Its parameters: each is a number, or a word that the design replaces (parameter_words()).
  std::vector<std::pair<std::string, std::variant<std::int64_t, std::string>>> parameters;
  /// Its function of one element: the result's code for every code of the input, in the order of
  /// the input's bits.
  std::vector<std::int64_t> table;

  static constexpr auto fields() {
    using H = CustomHardware;
    return std::tuple{
        Field{"toolchain", &H::toolchain, "who provides the module"}.one_of("EXTERNAL"),
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
  std::string class_name;           ///< the class whose modules it is, "nets.Gate"; or empty
  std::string function;             ///< the function whose calls it is, "nets.gate"; or empty
  std::string macs;                 ///< multiply-accumulates of one sample; empty: unknown
  std::vector<std::string> inputs;  ///< ports of its tensor arguments, in order; "": no port
  std::map<std::string, std::string> tensors;      ///< ports of the layer's tensors ("proj.weight")
  std::shared_ptr<const CustomHardware> hardware;  ///< null when it has no hardware
  OpRow row;                                       ///< the op as a row of the op table
  SourceLocation where;                            ///< place of its table in the configuration

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

/// The custom op that a node calls; nullptr for other nodes.
const CustomOp* custom_op(const Graph& graph, const Node& node);

/// A node that a leaf takes as input. Inputs are in the order of the placeholders of its body.
struct LeafInput {
  std::string argument;
  NodeId node = no_node;
  std::string port;  ///< the port that the custom op gives it; empty without one
};
std::vector<LeafInput> leaf_inputs(const Graph& graph, const Node& leaf);

/// What does not fit between a custom op and a leaf or its layer; empty when everything fits.
std::string input_fault(const Graph& graph, const Node& leaf);
std::string tensor_fault(const CustomOp& op, const Module& module);

/// The ports that a custom op may have besides data_out, which it always has.
const std::vector<std::string>& custom_ports();

/// Reads the table of the op `name`; null when it has added diagnostics. `files` and `table` must
/// hold the contents of files, texts and numbers, not their names.
std::shared_ptr<const CustomOp> read_custom_op(const std::string& name, const Tree& table,
                                               Diagnostics& diagnostics);
/// Reads a dict of such tables.
CustomOps read_custom_ops(const Tree& tables, Diagnostics& diagnostics);
/// The table from which read_custom_op() reads this op again.
Tree write_custom_op(const CustomOp& op);

/// Parses a sum of products of numbers and names, such as "outputs * 16" or "rows * weight". Names
/// are inputs and outputs (elements of one sample) and the op's tensors (their elements). Returns
/// the tokens of every product; nullopt when the text is not such a sum.
std::optional<std::vector<std::vector<std::string>>> parse_macs(const std::string& text);

}  // namespace mase::ir
