// SPDX-License-Identifier: Apache-2.0
// What PyTorch's decompositions make of a layer in several operators: the layer's call again, if
// the operators compute exactly this.
#include <algorithm>
#include <limits>
#include <map>

#include "base/text.hpp"
#include "pt2/fields.hpp"
#include "pt2/import/importer.hpp"

namespace mase::pt2 {
namespace {

/// An activation or a norm, and the steps that decompositions write. In a step, "x" is the input,
/// "#2" the result of step 2, "$beta" a number and "@weight" a tensor among the operator's
/// arguments. "none" and "true" stand for None and True, "[]" for an empty list, and "*" for what
/// is looked at later.
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
    {"aten::log_sigmoid",
     "full [] 0; minimum #0 x; abs x; neg #2; exp #3; log1p #4; sub.Tensor #1 #5"},
    {"aten::hardshrink", "abs x; le.Scalar #0 $lambd; scalar_tensor 0; where.self #1 #2 x"},
    {"aten::softshrink",
     "abs x; gt.Scalar #0 $lambd; sign x; mul.Tensor #2 $lambd; sub.Tensor x #3; mul.Tensor x 0; "
     "where.self #1 #4 #5"},
    {"aten::threshold", "le.Scalar x $threshold; scalar_tensor $value; where.self #0 #1 x"},
    {"aten::prelu", "gt.Scalar x 0; mul.Tensor @weight x; where.self #0 x #1"},
    {"aten::prelu", "view @weight *; gt.Scalar x 0; mul.Tensor #0 x; where.self #1 x #2"},
    {"aten::rms_norm",
     "pow.Tensor_Scalar x 2; mean.dim #0 * true; add.Scalar #1 $eps; rsqrt #2; mul.Tensor x #3"},
    {"aten::rms_norm",
     "pow.Tensor_Scalar x 2; mean.dim #0 * true; add.Scalar #1 $eps; rsqrt #2; mul.Tensor x #3; "
     "mul.Tensor #4 @weight"},
};

/// Arguments of a new tensor that follow from those that it is computed with.
constexpr std::string_view about_new_tensors[] = {"dtype", "layout", "device", "pin_memory"};

bool is_about_new_tensor(const NodeArgument& input) {
  return std::ranges::find(about_new_tensors, input.name) != std::end(about_new_tensors);
}

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
  const std::map<std::string, std::string>& tensors() const { return tensors_; }

 private:
  bool fits_step(const Node& node, const std::vector<std::string>& words) {
    const ir::OpSchema* schema = ir::find_schema("aten::" + words[0]);
    std::size_t count = node.inputs.size();
    while (count > 0 && is_about_new_tensor(node.inputs[count - 1])) --count;
    if (!schema || operator_of(node.target) != "aten::" + words[0] || count != words.size() - 1)
      return false;
    for (std::size_t i = 0; i < count; ++i)
      if (node.inputs[i].name != schema->arguments.at(i).name ||
          !fits_argument(node.inputs[i].value, words[i + 1]))
        return false;
    return true;
  }

  bool fits_argument(const Tree& value, const std::string& word) {
    const UnionValue one = union_of(value, "an argument");
    if (word == "*") return true;
    if (word == "none") return one.kind == "as_none";
    if (word == "true") return one.value == Tree(true);
    if (word == "[]") return one.value.is_list() && one.value.size() == 0;
    if (word == "x" || word[0] == '#' || word[0] == '@') {
      const std::vector<std::string> names = names_in(value);
      if (names.size() != 1) return false;
      if (word[0] == '@') return tensors_.emplace(word.substr(1), names[0]).second;
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
  std::map<std::string, std::string> tensors_;
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

namespace {

using Sizes = std::vector<SymInt>;

bool is_one(const SymInt& size) { return size.expression.empty() && size.value == 1; }

/// One weight for all elements, or one for each place of dimension 1, which `view` has in between
/// ones.
bool fits_channels(const Sizes& data, const Sizes& weight, const Sizes& view) {
  if (weight.size() != 1) return false;
  if (view.empty()) return is_one(weight[0]);
  if (view.size() != data.size()) return false;
  for (std::size_t d = 0; d < view.size(); ++d)
    if (!(d == 1 ? same(view[d], weight[0]) : is_one(view[d]))) return false;
  return view.size() > 1 && (is_one(view[1]) || same(view[1], data[1]));
}

/// The last sizes of the data, if the mean is over these dimensions; empty if it is not.
ir::Value::List last_sizes(const Node& mean, const Sizes& data) {
  const Tree* dims = mean.find("dim");
  const auto rank = std::ssize(data);
  if (!dims || !union_of(*dims, "dim").value.is_list()) return {};
  const Tree::List& list = union_of(*dims, "dim").value.as_list();
  ir::Value::List sizes;
  for (std::ptrdiff_t d = rank - std::ssize(list); d >= 0 && d < rank; ++d) {
    const auto is_it = [&](const Tree& one) {
      return one == Tree(std::int64_t{d}) || one == Tree(std::int64_t{d - rank});
    };
    const SymInt& size = data[static_cast<std::size_t>(d)];
    if (std::ranges::none_of(list, is_it) || !size.expression.empty()) return {};
    sizes.push_back(size.value.value_or(0));
  }
  return sizes;
}

bool equal_sizes(const Sizes& weight, const ir::Value::List& sizes) {
  return std::ranges::equal(weight, sizes, [](const SymInt& one, const ir::Value& other) {
    return one.expression.empty() && one.value == other.as_int();
  });
}

}  // namespace

std::optional<Call> Importer::activation_call(const std::vector<const Node*>& nodes) {
  for (const ActivationRow& row : activation_rows) {
    StepMatch match(nodes);
    if (!match.fits(row.steps) || is_read_elsewhere(nodes)) continue;
    const auto before = program_.tensors.find(match.input()),
               after = program_.tensors.find(output_of(*nodes.back()));
    if (before == program_.tensors.end() || after == program_.tensors.end() ||
        before->second.dtype != after->second.dtype || !is_floating(before->second.dtype))
      continue;
    const Sizes& data = before->second.sizes;
    const auto weight = match.tensors().find("weight");
    const Sizes weights = weight == match.tensors().end() ? Sizes() : sizes_of(weight->second);
    Call call{std::string(row.op), ir::find_schema(row.op), {}, nodes.back()};
    call.args = {{call.schema->arguments.at(0).name, value_of(match.input())}};
    for (const auto& [name, number] : match.arguments()) call.args.push_back({name, number});
    for (const auto& [name, tensor] : match.tensors())
      call.args.push_back({name, value_of(tensor)});
    if (call.op == "aten::prelu" &&
        !fits_channels(data, weights, nodes.size() == 4 ? sizes_of(output_of(*nodes[0])) : Sizes()))
      continue;
    if (call.op == "aten::rms_norm") {
      ir::Value::List sizes = last_sizes(*nodes[1], data);
      if (sizes.empty() || (!weights.empty() && !equal_sizes(weights, sizes))) continue;
      const auto eps = std::ranges::find(call.args, "eps", &ir::Argument::name);
      constexpr double left_out = std::numeric_limits<float>::epsilon();
      if (before->second.dtype == DType::float32 && eps->value.as_double() == left_out)
        call.args.erase(eps);
      call.args.push_back({"normalized_shape", ir::Value::list(std::move(sizes))});
    }
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
