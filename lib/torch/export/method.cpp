// SPDX-License-Identifier: Apache-2.0
// MethodBuilder builds the inputs, attributes, operators and snippets of a method.
#include "torch/export/method.hpp"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/schema_matching.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "ir/masks.hpp"
#include "ir/op_table.hpp"
#include "torch/run/dtype_numbers.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {

namespace jit = torch::jit;

namespace {

const c10::FunctionSchema& find_schema(const std::string& op) {
  const std::string base(ir::base_op(op));
  const std::string overload = op.size() > base.size() ? op.substr(base.size() + 1) : "";
  for (const auto& candidate : jit::getAllOperatorsFor(c10::Symbol::fromQualString(base)))
    if (candidate->schema().overload_name() == overload) return candidate->schema();
  unsupported_error("this LibTorch has no operator '" + op +
                    "'; export with the version that imported the model");
}

/// The first operand name that the operator does not have; nullptr if it has all.
const std::string* stray_operand(const c10::FunctionSchema& schema,
                                 const MethodBuilder::Operands& operands) {
  for (const auto& operand : operands)
    if (!schema.argumentIndexWithName(operand.first)) return &operand.first;
  return nullptr;
}

bool is_one(const jit::Value* value) {
  const auto constant = jit::toIValue(value);
  return constant && constant->isScalar() && constant->toScalar().equal(1);
}

/// The body of the format's function as statements that leave the value in `q`, with `indent`
/// instead of its two spaces. The value is contiguous, as in the executor, because the layout
/// affects the order in which matrix products add up.
std::string statements(const formats::Format& format, int rank, const std::string& indent) {
  std::string out;
  for (const std::string& line :
       split(with_dtype_numbers(format.deterministic().torchscript(rank)), '\n')) {
    if (line.empty()) continue;
    const std::string text = line.substr(2);
    out += indent + (text.starts_with("return ") ? "q = " + text.substr(7) : text) + "\n";
  }
  return out + indent + "q = q.contiguous()\n";
}

/// The same for every tensor of a list.
std::string list_quantizer_source(const formats::Format& format, int rank) {
  return "(xs: List[Tensor], training: bool):\n"
         "  qs: List[Tensor] = []\n"
         "  for x in xs:\n" +
         statements(format, rank, "    ") +
         "    if training:\n"
         "      q = x + torch.detach(q - x)\n"
         "    qs.append(q)\n"
         "  return qs\n";
}

/// A Python name for a format's function, unique for each source: "mxint_8_0f1e2d3c".
std::string function_name(const formats::Format& format, const std::string& source) {
  std::string name;
  for (const char c : format.short_text() + "_")
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (!name.ends_with('_'))
      name += '_';
  return name + sha256(source).substr(0, 8);
}

constexpr const char* counter_source =
    "def count(n, training: bool):\n"
    "  if training:\n"
    "    n.add_(1)\n"
    "  return n\n";

constexpr const char* weight_source =
    "def weight(n, training: bool) -> float:\n"
    "  w = 0.0\n"
    "  if training:\n"
    "    w = 1.0 / float(n)\n"
    "  return w\n";

constexpr const char* hiding_source =
    "def hide(x, y):\n"
    "  return torch.masked_fill(y, torch.eq(x, float(\"-inf\")), 0.0)\n";

constexpr const char* softsign_source =
    "def softsign(x):\n"
    "  return x / (x.abs() + 1)\n";

constexpr const char* threshold_source =
    "def multi_threshold(x, thresholds, out_scale: float, out_bias: float):\n"
    "  reached = torch.ge(x.unsqueeze(-1), thresholds)\n"
    "  return torch.sum(reached, [-1]).to(x.dtype) * out_scale + out_bias\n";

}  // namespace

/// `q = x + (q - x).detach()` has the gradient 1 and, in
/// float32, almost always the value q; eval mode returns q itself.
std::string quantizer_source(const formats::Format& format, int rank, bool keeps_masks) {
  const std::string set_aside = "  masked = torch.le(x, " + double_text(ir::mask_bound) +
                                ")\n"
                                "  x = torch.masked_fill(x, masked, 0.0)\n";
  const std::string put_back = "  q = torch.masked_fill(q, masked, float(\"-inf\"))\n";
  return "(x, training: bool):\n" + (keeps_masks ? set_aside : "") +
         statements(format, rank, "  ") +
         "  if training:\n"
         "    q = x + torch.detach(q - x)\n" +
         (keeps_masks ? put_back : "") + "  return q\n";
}

MethodBuilder::MethodBuilder(const jit::Module& owner)
    : owner_(owner), graph_(std::make_shared<jit::Graph>()) {
  self_ = graph_->addInput("self")->setType(owner.type());
}

jit::Value* MethodBuilder::add_input(const std::string& name, const c10::TypePtr& type) {
  return graph_->addInput(name == "self" ? "input" : name)->setType(type);
}

jit::Value* MethodBuilder::attribute(const std::string& path) {
  const auto known = attributes_.find(path);
  if (known != attributes_.end()) return known->second;
  const std::size_t dot = path.rfind('.');
  jit::Value* owner = dot == std::string::npos ? self_ : attribute(path.substr(0, dot));
  const std::string name = dot == std::string::npos ? path : path.substr(dot + 1);
  return attributes_[path] = graph_->insertGetAttr(owner, name);
}

jit::Value* MethodBuilder::tensor(const std::string& path, const ir::Tensor& tensor,
                                  const std::string& stem) {
  if (!tensor.coded) return attribute(path);
  jit::Value*& known = decoded_[path];
  if (known == nullptr) known = decoded(tensor, stem);
  return known;
}

jit::Value* MethodBuilder::constant(const c10::IValue& value) {
  return graph_->insertConstant(value);
}

jit::Value* MethodBuilder::list(const c10::TypePtr& element,
                                const std::vector<jit::Value*>& items) {
  return graph_->insertNode(graph_->createList(element, items))->output();
}

jit::Value* MethodBuilder::run(const c10::FunctionSchema& schema,
                               const std::vector<jit::Value*>& values) {
  std::vector<jit::NamedValue> positional, named;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const c10::Argument& argument = schema.arguments().at(i);
    if (argument.kwarg_only())
      named.emplace_back(argument.name(), values[i]);
    else
      positional.emplace_back(values[i]);
  }
  const jit::MatchedSchema matched =
      jit::matchSchema(schema, jit::SourceRange(), *graph_, positional, named);
  jit::Node* node = graph_->create(c10::Symbol::fromQualString(schema.name()), matched.inputs, 0);
  graph_->insertNode(node);
  for (const c10::TypePtr& type : matched.return_types) node->addOutput()->setType(type);
  if (node->outputs().size() == 1) return node->output();
  return graph_->insertNode(graph_->createTuple(node->outputs()))->output();
}

jit::Value* MethodBuilder::call(const std::string& op, const Operands& operands) {
  const auto only = [&] { return operands.at(0).second(c10::TensorType::get()); };
  if (op == "mase::identity") return only();
  if (op == "mase::softsign") return inline_function(softsign_source, {only()}).at(0);
  if (op == "mase::multi_threshold")
    return inline_function(threshold_source, {only(), operands.at(1).second(c10::TensorType::get()),
                                              operands.at(2).second(c10::FloatType::get()),
                                              operands.at(3).second(c10::FloatType::get())})
        .at(0);
  const c10::FunctionSchema& schema = find_schema(op);
  if (const std::string* stray = stray_operand(schema, operands))
    unsupported_error("operator '" + op + "' has no argument '" + *stray + "' in this LibTorch");
  std::vector<jit::Value*> values;
  for (const c10::Argument& argument : schema.arguments()) {
    const auto given = std::find_if(operands.begin(), operands.end(), [&](const auto& operand) {
      return operand.first == argument.name();
    });
    if (given != operands.end())
      values.push_back(given->second(argument.type()));
    else if (argument.default_value())
      values.push_back(constant(*argument.default_value()));
    else if (argument.type()->kind() == c10::TypeKind::OptionalType)
      values.push_back(constant({}));
    else
      unsupported_error("operator '" + op + "' lacks its argument '" + argument.name() + "'");
  }
  if (op == "aten::addmm" && is_one(values.at(3)) && is_one(values.at(4)))
    return added_product(values.at(0), values.at(1), values.at(2));
  return run(schema, values);
}

/// Adds a product like the linear layer, which LibTorch computes with this addmm. TorchScript
/// splits an addmm without factors into mm and add, which round twice.
jit::Value* MethodBuilder::added_product(jit::Value* bias, jit::Value* x, jit::Value* weight) {
  return call_positional("aten::linear", {x, call_positional("aten::t", {weight}), bias});
}

jit::Value* MethodBuilder::call_positional(const std::string& op,
                                           const std::vector<jit::Value*>& values) {
  return run(find_schema(op), values);
}

std::vector<jit::Value*> MethodBuilder::inline_function(const std::string& source,
                                                        const std::vector<jit::Value*>& arguments) {
  jit::CompilationUnit unit;
  const auto functions = unit.define({}, source, jit::nativeResolver(), nullptr);
  functions.at(0)->ensure_defined();
  return jit::insertGraph(*graph_, *jit::toGraphFunction(*functions.at(0)).graph(), arguments);
}

jit::Value* MethodBuilder::call_shared(const std::string& folder, const std::string& name,
                                       const std::string& source,
                                       const std::vector<jit::Value*>& arguments) {
  const c10::QualifiedName room("__torch__.mase." + folder), whole(room, name);
  const auto unit = owner_._ivalue()->compilation_unit();
  jit::Function* function = unit->find_function(whole);
  if (function == nullptr)
    function = unit->define(room, "def " + name + source, jit::nativeResolver(), nullptr).at(0);
  const std::vector<jit::NamedValue> given(arguments.begin(), arguments.end());
  return graph_->insertFunctionCall(
      function, jit::matchSchema(function->getSchema(), jit::SourceRange(), *graph_, given, {}));
}

jit::Value* MethodBuilder::hide_masked(jit::Value* input, jit::Value* result) {
  return inline_function(hiding_source, {input, result}).at(0);
}

jit::Value* MethodBuilder::quantize(jit::Value* value, const formats::Format& format, int rank,
                                    bool keeps_masks) {
  const bool many = value->type()->kind() == c10::TypeKind::ListType;
  const std::string source =
      many ? list_quantizer_source(format, rank) : quantizer_source(format, rank, keeps_masks);
  return call_shared("quantizers", function_name(format, source), source,
                     {value, attribute("training")});
}

jit::Value* MethodBuilder::decoded(const ir::Tensor& tensor, const std::string& stem) {
  const formats::Format& format = tensor.coded->format;
  const auto decoding = format.decoding(tensor.value.shape());
  MASE_CHECK(decoding, "a coded tensor without a decoding");
  const at::ScalarType real = decoding->fits_float() ? at::kFloat : at::kDouble;
  const auto table = [&](const std::vector<double>& values) {
    return constant(
        view_of(Array::from(values, {static_cast<std::int64_t>(values.size())})).to(real));
  };
  std::vector<jit::Value*> arguments{attribute(stem + "_codes")};
  if (!decoding->elements.empty()) arguments.push_back(table(decoding->elements));
  if (decoding->shared_bits > 0) {
    arguments.push_back(attribute(stem + "_shared"));
    arguments.push_back(table(decoding->factors));
  }
  if (decoding->scales != formats::Decoding::Scales::none)
    arguments.push_back(attribute(stem + "_scales"));
  const std::string source =
      with_dtype_numbers(formats::decoding_source(*decoding, tensor.value.shape()));
  return call_shared("decoders", function_name(format, source), source, arguments);
}

jit::Value* MethodBuilder::call_functions(const std::string& name, const std::string& source,
                                          const std::vector<jit::Value*>& arguments) {
  const c10::QualifiedName room("__torch__.mase." + name);
  const auto unit = owner_._ivalue()->compilation_unit();
  jit::Function* last = unit->find_function(c10::QualifiedName(room, "run"));
  if (!last) last = unit->define(room, source, jit::nativeResolver(), nullptr).back();
  const std::vector<jit::NamedValue> named(arguments.begin(), arguments.end());
  const jit::MatchedSchema matched =
      jit::matchSchema(last->getSchema(), jit::SourceRange(), *graph_, named, {});
  return graph_->insertFunctionCall(last, matched);
}

void MethodBuilder::count_while_training(jit::Value* counter) {
  inline_function(counter_source, {counter, attribute("training")});
}

jit::Value* MethodBuilder::weight_of_batch(jit::Value* counter) {
  return inline_function(weight_source, {counter, attribute("training")}).at(0);
}

jit::Value* MethodBuilder::call_method(jit::Value* module, const std::string& method,
                                       const std::vector<jit::Value*>& arguments,
                                       const c10::TypePtr& result) {
  std::vector<jit::Value*> inputs{module};
  inputs.insert(inputs.end(), arguments.begin(), arguments.end());
  jit::Node* node = graph_->insertNode(graph_->create(c10::prim::CallMethod, inputs));
  node->s_(c10::attr::name, method);
  return node->output()->setType(result);
}

c10::TypePtr MethodBuilder::finish(const std::string& method, jit::Value* result) {
  graph_->registerOutput(result);
  const c10::TypePtr type = result->type();
  const c10::QualifiedName name(*owner_.type()->name(), method);
  owner_.type()->addMethod(
      owner_._ivalue()->compilation_unit()->create_function(name, std::move(graph_)));
  return type;
}

}  // namespace mase::libtorch
