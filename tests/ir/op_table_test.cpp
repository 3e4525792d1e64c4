// SPDX-License-Identifier: Apache-2.0
// The op table: consistent rows, the quantizable list, classification and ports of nodes.
#include "ir/op_table.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "ir/text.hpp"

namespace mase::ir {
namespace {

const std::string declarations = R"(
  module bn : torch.nn.modules.batchnorm.BatchNorm1d = aten::batch_norm() [weight=@w, bias=@w, running_mean=@w, running_var=@w]
  module emb : torch.nn.modules.sparse.Embedding = aten::embedding() [weight=@w]
  module act : torch.nn.modules.activation.Softmax = aten::softmax(dim=1)
  module drop : torch.nn.modules.dropout.Dropout = aten::dropout(p=0.5, train=$training)
  module own : my.Layer = aten::relu()
  module odd : my.Odd = my::odd()
  tensor w : float32[4] parameter
  %x : float32[2, 4] = placeholder x
  %n : int = placeholder n
)";

Classified classify_line(const std::string& line) {
  const Graph graph = parse("graph \"g\" {" + declarations + line + "\n}", "line");
  return classify(graph, graph.node(graph.order().back()));
}

std::string ports_of(const std::string& line) {
  const Graph graph = parse("graph \"g\" {" + declarations + line + "\n}", "line");
  std::string text;
  for (const Port& port : ports(graph, graph.node(graph.order().back()))) {
    const std::string source = port.tensor.empty() ? print(graph, port.value) : "@" + port.tensor;
    text += port.name + ":" + port.argument + "=" + source + " ";
  }
  return text;
}

}  // namespace

TEST_CASE("names in the three tables are unique and refer to rows that exist") {
  std::set<std::string_view> ops, classes, operators;
  for (const OpRow& row : op_table()) {
    INFO(row.name);
    CHECK(ops.insert(row.name).second);
    CHECK(find_op(row.name) == &row);
    CHECK_FALSE(row.doc.empty());
    CHECK_FALSE(row.calls.empty());
    std::set<std::string_view> arguments;
    for (const ArgRow& argument : row.args) CHECK(arguments.insert(argument.name).second);
  }
  for (const LayerRow& row : layer_table()) {
    INFO(row.class_name);
    CHECK(classes.insert(row.class_name).second);
    CHECK(find_op(row.op) != nullptr);
    CHECK(find_module_class(row.class_name) == &row);
  }
  for (const CallRow& row : call_table()) {
    INFO(row.aten);
    CHECK(operators.insert(row.aten).second);
    CHECK(find_call(row.aten) == &row);
    REQUIRE(find_op(row.op) != nullptr);
  }
  CHECK(find_op("no such op") == nullptr);
  CHECK(find_call("aten::no_such") == nullptr);
  CHECK(find_module_class("Linear") == nullptr);
}

TEST_CASE("every op has a family, but those that no rule fits") {
  std::set<std::string_view> without;
  for (const OpRow& row : op_table()) {
    CHECK(family_of(row.name) == row.family);
    if (row.family == OpFamily::other) without.insert(row.name);
  }
  CHECK(without == std::set<std::string_view>{"crossentropyloss", "outer", "scatter"});
  CHECK(family_of("no such op") == OpFamily::other);
}

TEST_CASE("calls and classes name the row that they belong to") {
  std::size_t classes = 0, calls = 0;
  for (const OpRow& row : op_table()) {
    INFO(row.name);
    for (const LayerRow& module : row.modules) {
      CHECK(find_module_class(module.class_name)->op == row.name);
      CHECK(module.op == row.name);
    }
    for (const CallRow& call : row.calls) {
      CHECK(call.op == row.name);
      // A shared operator belongs to the row that is called as a function, if there is one: those
      // of recurrent layers are layers only.
      const CallRow* called = find_call(call.aten);
      CHECK((called && called->op == row.name) == !call.target.empty());
      calls += !call.target.empty();
    }
    classes += row.modules.size();
  }
  CHECK(classes == layer_table().size());
  CHECK(calls == call_table().size());
}

TEST_CASE("an op whose parameters are tensors of a layer names their ports") {
  for (const OpRow& row : op_table()) {
    INFO(row.name);
    const bool has_weight = std::ranges::count(port_names(row), "weight") == 1;
    switch (row.family) {
      using enum OpFamily;
      case linear:
      case convolution:
      case transposed_convolution:
      case matrix_product:
      case added_product:
      case batch_norm:
      case instance_norm:
      case group_norm:
      case layer_norm:
      case attention_layer:
      case recurrent:
      case embedding:
        CHECK(has_weight);
        break;
      case channel_activation:  // thresholds are compared as they are: no format rounds them
        CHECK((has_weight || row.modules.empty()));
        break;
      case other:
        break;
      default:
        CHECK_FALSE(has_weight);
    }
  }
}

TEST_CASE("functions of torch.nn.functional have Python's signature, and no others") {
  for (const CallRow& call : call_table()) {
    INFO(call.target);
    const bool functional = call.target.starts_with("torch.nn.functional.");
    // softsign(input) has one argument, which is shown in the same way without a signature.
    CHECK(call.signature.empty() == (!functional || call.op == "softsign"));
    CHECK(python_signature(call.target) == (call.signature.empty() ? nullptr : &call.signature));
  }
  CHECK(python_signature("torch.nn.functional.no_such") == nullptr);
}

TEST_CASE("signatures name arguments of their operator, required ones first") {
  for (const CallRow& call : call_table()) {
    bool optional = false;
    for (const PythonParameter& parameter : call.signature) {
      INFO(call.target << " " << parameter.name);
      const auto& args = find_op(call.op)->args;
      CHECK((parameter.aten.empty() ||
             std::ranges::find(args, parameter.aten, &ArgRow::name) != args.end()));
      CHECK_FALSE((optional && parameter.required));
      optional = optional || !parameter.required;
    }
  }
}

TEST_CASE("the quantizable ops are the reference system's 21 and all other functions of floats") {
  const std::set<std::string_view> expected{
      "add", "bmm", "conv1d", "conv2d", "convtranspose2d", "matmul", "mul", "linear", "relu", "sub",
      "batch_norm2d", "layer_norm", "group_norm", "instance_norm2d", "rms_norm", "selu", "tanh",
      "gelu", "softsign", "softplus", "grouped_query_attention", "batch_norm1d",
      // What hardware makes of windows, clamps and tables.
      "avg_pool1d", "avg_pool2d", "max_pool1d", "max_pool2d", "adaptive_avg_pool1d",
      "adaptive_avg_pool2d", "relu6", "hardtanh", "hardswish", "hardsigmoid", "leaky_relu", "silu",
      "elu", "sigmoid", "div", "multi_threshold",
      // Quantized by port like the others.
      "convtranspose1d", "batch_norm", "upsample", "embedding", "prelu", "mish", "celu",
      "hardshrink", "softshrink", "logsigmoid", "softmax", "log_softmax", "mm", "addmm", "baddbmm",
      "pow", "mean", "sum", "sqrt", "rsqrt", "reciprocal", "square", "exp", "log", "erf", "sin",
      "cos", "tan", "sinh", "cosh", "neg", "abs", "maximum", "minimum",
      // Layers only: their state has a port, which the function has not.
      "lstm", "gru", "rnn", "lstm_cell", "gru_cell", "rnn_cell"};
  std::set<std::string_view> found;
  for (const OpRow& row : op_table())
    if (row.quantizable) found.insert(row.name);
  CHECK(found == expected);
}

TEST_CASE("every quantizable op has data_in and, for one tensor of results, data_out ports") {
  const std::set<std::string_view> tuples{"lstm", "gru", "rnn", "lstm_cell"};
  for (const OpRow& row : op_table()) {
    if (!row.quantizable) continue;
    INFO(row.name);
    CHECK(std::ranges::count(port_names(row), "data_in") == 1);
    CHECK((port_names(row).back() == "data_out") == !tuples.contains(row.name));
  }
  CHECK(port_names(*find_op("linear")) ==
        std::vector<std::string>{"data_in", "weight", "bias", "data_out"});
  CHECK(port_names(*find_op("matmul")) ==
        std::vector<std::string>{"data_in", "weight", "data_out"});
  CHECK(port_names(*find_op("lstm")) == std::vector<std::string>{"data_in", "state", "weight_ih",
                                                                 "weight_hh", "bias", "weight_hr"});
  for (const char* op : {"add", "sub", "mul", "div", "maximum", "minimum"})
    CHECK(port_names(*find_op(op)) == std::vector<std::string>{"data_in", "data_in_1", "data_out"});
}

TEST_CASE(
    "matrices of recurrent layers fall back to weight, their state and second operands to "
    "data_in") {
  CHECK(general_port("weight_ih") == "weight");
  CHECK(general_port("weight_hh") == "weight");
  CHECK(general_port("weight_hr") == "weight");
  CHECK(general_port("state") == "data_in");
  CHECK(general_port("data_in_1") == "data_in");
  CHECK(general_port("bias") == "bias");
  CHECK(general_port("no_such_port") == "no_such_port");
}

TEST_CASE("nodes are classified by exact names") {
  struct Case {
    std::string line, type, op;
  };
  const std::vector<Case> cases{
      {"%a = call_module bn aten::batch_norm(input=%x)", "module", "batch_norm1d"},
      {"%a = call_module emb aten::embedding(indices=%x)", "implicit_func", "embedding"},
      {"%a = call_module act aten::softmax(self=%x)", "module_related_func", "softmax"},
      {"%a = call_module drop aten::dropout(input=%x)", "module_related_func", "dropout"},
      {"%a = call_module own aten::relu(self=%x)", "module_related_func", "relu"},
      {"%a = call_module odd my::odd(self=%x)", "builtin_func", "odd"},
      {"%a = call_function torch.nn.functional.softmax aten::softmax.int(self=%x, dim=1)",
       "builtin_func", "softmax"},
      {"%a = call_function f aten::batch_norm(input=%x)", "module_related_func", "batch_norm"},
      {"%a = call_function torch.cat aten::cat(tensors=[%x, %x], dim=1)", "builtin_func", "cat"},
      {"%a = call_function _operator.and_ aten::__and__.Tensor(self=%x, other=%x)", "builtin_func",
       "bitwise_and"},
      {"%a = call_method mT aten::mT(self=%x)", "implicit_func", "mT"},
      {"%a = call_function torch.bmm aten::bmm(self=%x, mat2=%x)", "builtin_func", "bmm"},
      {"%a = call_method matmul aten::matmul(self=%x, other=%x)", "builtin_func", "matmul"},
      {"%a = call_method mean aten::mean.dim(self=%x, dim=1)", "builtin_func", "mean"},
      {"%a = call_method view aten::view(self=%x, size=[2, -1])", "implicit_func", "view"},
      {"%a = call_function _operator.truediv aten::div.Tensor(self=%x, other=2)", "builtin_func",
       "div"},
      {"%a = call_function _operator.getitem mase::getitem(value=%x, index=0)", "builtin_func",
       "getitem"},
      {"%a = call_function g mase::identity(self=%x)", "module_related_func", "identity"},
      {"%a = call_function f aten::relu6(self=%x)", "module_related_func", "relu6"},
      {"%a = call_function f aten::adder_of_things(self=%x)", "builtin_func", "adder_of_things"},
      {"%a = get_attr w", "get_attr", "constant"},
      {"%a = placeholder p", "placeholder", "placeholder"},
      {"%output = output output(value=%x)", "output", "output"},
  };
  for (const Case& c : cases) {
    INFO(c.line);
    const Classified found = classify_line(c.line);
    CHECK(mase_type_name(found.type) == c.type);
    CHECK(found.op == c.op);
  }
  CHECK(classify_line("%a = call_function f aten::adder_of_things(self=%x)").row == nullptr);
}

TEST_CASE("ports are listed in argument order with the values that feed them") {
  CHECK(ports_of("%a = call_module bn aten::batch_norm(input=%x)") ==
        "data_in:input=%x weight:weight=@w bias:bias=@w running_mean:running_mean=@w "
        "running_var:running_var=@w ");
  CHECK(ports_of("%a = call_function f aten::linear(input=%x, weight=%x)") ==
        "data_in:input=%x weight:weight=%x ");
  CHECK(ports_of("%a = call_function f aten::matmul(self=%x, other=%x)") ==
        "data_in:self=%x weight:other=%x ");
  CHECK(ports_of("%a = call_function f aten::cat(tensors=[%x, %x], dim=1)") ==
        "data_in:tensors=[%x, %x] ");
  CHECK(ports_of("%a = call_function f aten::scaled_dot_product_attention(query=%x, key=%x, "
                 "value=%x)") == "data_in:query=%x data_in:key=%x data_in:value=%x ");
}

TEST_CASE("constants and host numbers sit on no port") {
  CHECK(ports_of("%a = call_function f aten::mul.Tensor(self=%x, other=0.25)") ==
        "data_in:self=%x ");
  CHECK(ports_of("%a = call_function f aten::add.Tensor(self=%x, other=%n)") == "data_in:self=%x ");
}

TEST_CASE("the overload is cut off an operator's name") {
  CHECK(base_op("aten::add.Tensor") == "aten::add");
  CHECK(base_op("aten::relu") == "aten::relu");
  CHECK(base_op("") == "");
}

TEST_CASE("an operator that works in place has a twin that does not") {
  CHECK(plain_op("aten::relu_") == "aten::relu");
  CHECK(plain_op("aten::add_.Tensor") == "aten::add");
  CHECK(plain_op("aten::add.Tensor") == "aten::add");
  CHECK(plain_op("aten::__and__.Tensor") == "aten::__and__");
  CHECK(plain_op("aten::__iand__.Tensor") == "aten::__and__");
  CHECK(plain_op("aten::__ior__") == "aten::__or__");
  CHECK(plain_op("aten::__is__") == "aten::__is__");
  CHECK(plain_op("") == "");
}

TEST_CASE("the reference's implicit nodes are implicit here, those that TorchScript has") {
  // `implicit_nodes` of its API, without cat (see the row) and without names that TorchScript
  // writes in another way: cast and long are `to`, shape is `size`, masked_fill_ is masked_fill in
  // place, getattr, finfo and _assert are constants and guards, and gemm is ONNX's addmm.
  for (const char* name :
       {"size",    "view",        "to",           "bool",    "flatten", "squeeze", "unsqueeze",
        "reshape", "contiguous",  "transpose",    "permute", "dropout", "eq",      "ne",
        "ge",      "where",       "type_as",      "clamp",   "abs",     "stack",   "gather",
        "slice",   "split",       "tile",         "expand",  "full",    "ones",    "dim",
        "detach",  "masked_fill", "index_select", "tensor"}) {
    INFO(name);
    const OpRow* row = find_op(name);
    REQUIRE(row);
    CHECK(row->type == MaseType::implicit_func);
  }
}

}  // namespace mase::ir
