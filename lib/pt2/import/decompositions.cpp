// SPDX-License-Identifier: Apache-2.0
// What PyTorch's decompositions make of a layer in several operators: the layer's call again, if
// the operators compute exactly this.
#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "pt2/fields.hpp"
#include "pt2/import/importer.hpp"

namespace mase::pt2 {
namespace {

/// An activation, its arguments besides the input, and the steps that decompositions write. In a
/// step, "x" is the input, "#2" the result of step 2, "$beta" an argument of the activation, and
/// "none" stands for None.
struct ActivationRow {
  std::string_view op, steps;
};
constexpr ActivationRow activation_rows[] = {
    {"aten::silu", "sigmoid x; mul.Tensor x #0"},
    {"aten::hardsigmoid", "add.Tensor x 3; clamp #0 0; clamp #1 none 6; div.Tensor #2 6"},
    {"aten::hardswish",
     "add.Tensor x 3; clamp #0 0; clamp #1 none 6; mul.Tensor x #2; div.Tensor #3 6"},
    {"aten::mish", "exp x; log1p #0; gt.Scalar x 20; where.self #2 x #1; tanh #3; mul.Tensor x #4"},
    {"aten::softplus",
     "mul.Tensor x $beta; exp #0; log1p #1; div.Tensor #2 $beta; gt.Scalar #0 $threshold; "
     "where.self #4 x #3"},
    {"aten::celu", "expm1 x; gt.Scalar x 0; where.self #1 x #0"},
    {"aten::celu",
     "div.Tensor x $alpha; expm1 #0; mul.Tensor #1 $alpha; gt.Scalar x 0; where.self #3 x #2"},
};

/// Compares nodes with the steps of a row, and remembers what stands for "x" and for arguments.
class StepMatch {
 public:
  explicit StepMatch(const std::vector<const Node*>& nodes) : nodes_(nodes) {}

  bool fits(std::string_view steps) {
    const std::vector<std::string> lines = split(std::string(steps), ';');
    if (lines.size() != nodes_.size()) return false;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (!fits_step(*nodes_[i], split(std::string(trim(lines[i])), ' '))) return false;
    return !input_.empty();
  }
  const std::string& input() const { return input_; }
  const std::map<std::string, ir::Value>& arguments() const { return arguments_; }

 private:
  bool fits_step(const Node& node, const std::vector<std::string>& words) {
    const ir::OpSchema* schema = ir::find_schema("aten::" + words[0]);
    if (!schema || operator_of(node.target) != "aten::" + words[0] ||
        node.inputs.size() != words.size() - 1)
      return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i].name != schema->arguments.at(i).name ||
          !fits_argument(node.inputs[i].value, words[i + 1]))
        return false;
    return true;
  }

  bool fits_argument(const Tree& value, const std::string& word) {
    const UnionValue one = union_of(value, "an argument");
    if (word == "none") return one.kind == "as_none";
    if (word == "x" || word[0] == '#') {
      const std::vector<std::string> names = names_in(value);
      if (names.size() != 1) return false;
      if (word[0] == '#') return names[0] == output_of(*nodes_.at(std::stoul(word.substr(1))));
      if (input_.empty()) input_ = names[0];
      return names[0] == input_;
    }
    if (!one.value.is_number()) return false;
    const double number = one.value.as_double();
    if (word[0] != '$') return number == std::stod(word);
    const ir::Value given = one.value.is_int() ? ir::Value(one.value.as_int()) : ir::Value(number);
    return arguments_.emplace(word.substr(1), given).first->second.as_double() == number;
  }

  const std::vector<const Node*>& nodes_;
  std::string input_;
  std::map<std::string, ir::Value> arguments_;
};

/// Whether the result has the elements of the input in their order.
bool is_view(const Node& node) {
  const std::string op = operator_of(node.target);
  return op == "aten::view" || op == "aten::_unsafe_view" || op == "aten::clone";
}
bool is_expand(const Node& node) { return operator_of(node.target) == "aten::expand"; }

bool same(const SymInt& one, const SymInt& other) {
  return one.expression == other.expression && one.value == other.value;
}
bool same_end(const std::vector<SymInt>& sizes, const SymInt& before, const SymInt& last) {
  return sizes.size() >= 2 && same(sizes[sizes.size() - 2], before) && same(sizes.back(), last);
}

}  // namespace

std::optional<Call> Importer::activation_call(const std::vector<const Node*>& nodes) {
  for (const ActivationRow& row : activation_rows) {
    StepMatch match(nodes);
    if (!match.fits(row.steps) || is_read_elsewhere(nodes)) continue;
    Call call{std::string(row.op), ir::find_schema(row.op), {}, nodes.back()};
    call.args = {{call.schema->arguments.at(0).name, value_of(match.input())}};
    for (const auto& [name, number] : match.arguments()) call.args.push_back({name, number});
    return call;
  }
  return std::nullopt;
}

/// bmm of the data, whose rows may be in several dimensions, and of copies of a weight's transpose.
/// Views that keep the order of elements and the last two sizes change nothing; neither do
/// expansions that repeat nothing of the data.
std::optional<Call> Importer::batched_linear_call(const std::vector<const Node*>& nodes) {
  std::map<std::string, const Node*> made_by;
  for (const Node* node : nodes)
    if (node->outputs.size() != 1 || names_in(node->outputs[0]).size() != 1)
      return std::nullopt;
    else
      made_by.emplace(output_of(*node), node);
  std::size_t seen = 0;
  const auto maker = [&](const std::string& name) -> const Node* {
    const auto found = made_by.find(name);
    return found == made_by.end() ? nullptr : found->second;
  };
  const auto sizes = [&](const std::string& name) { return sizes_of(name); };

  std::string result = output_of(*nodes.back()), bias;
  const Node* node = maker(result);
  if (operator_of(node->target) == "aten::add.Tensor" && node->inputs.size() == 2) {
    bias = input_of(*node, "other");
    result = input_of(*node, "self");
    node = maker(result);
    ++seen;
  }
  for (; node && is_view(*node); ++seen) node = maker(input_of(*node, "self"));
  if (!node || operator_of(node->target) != "aten::bmm" || node->inputs.size() != 2)
    return std::nullopt;
  ++seen;
  const auto matrices = sizes(input_of(*node, "self")), copies = sizes(input_of(*node, "mat2"));
  std::string data = input_of(*node, "self"), weight = input_of(*node, "mat2");
  for (const Node* one = maker(data); one && (is_view(*one) || is_expand(*one)); ++seen) {
    const std::string from = input_of(*one, "self");
    if (is_expand(*one) && !std::ranges::equal(sizes(from), sizes(data), same)) return std::nullopt;
    data = from;
    one = maker(data);
  }
  if (matrices.size() != 3 || copies.size() != 3) return std::nullopt;
  for (const Node* one = maker(weight); one && (is_view(*one) || is_expand(*one)); ++seen) {
    if (!same_end(sizes(weight), copies[1], copies[2])) return std::nullopt;
    weight = input_of(*one, "self");
    one = maker(weight);
  }
  const Node* transpose = maker(weight);
  if (!transpose || !is_transpose(*transpose) || ++seen != nodes.size()) return std::nullopt;
  weight = input_of(*transpose, "self");
  const auto given = sizes(data), got = sizes(result), shape = sizes(weight);
  const bool fits = shape.size() == 2 && same(shape[1], copies[1]) && same(shape[0], copies[2]) &&
                    same_end(given, matrices[1], matrices[2]) && got.size() == given.size() &&
                    same(got.back(), shape[0]) &&
                    std::equal(given.begin(), given.end() - 1, got.begin(), same);
  const bool biased = bias.empty() || (is_tensor_of_model(bias) && sizes(bias).size() == 1 &&
                                       same(sizes(bias)[0], shape[0]));
  if (!fits || !biased || is_read_elsewhere(nodes)) return std::nullopt;
  Call call{"aten::linear", ir::find_schema("aten::linear"), {}, nodes.back()};
  call.args = {{"input", value_of(data)}, {"weight", value_of(weight)}};
  if (!bias.empty()) call.args.push_back({"bias", value_of(bias)});
  return call;
}

}  // namespace mase::pt2
