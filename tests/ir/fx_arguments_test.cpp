// SPDX-License-Identifier: Apache-2.0
// Arguments as torch.fx shows them, against lines of the fixtures' fx.txt and of torch.fx's traces.
#include <catch2/catch.hpp>

#include "ir/op_table.hpp"
#include "ir/text.hpp"

namespace mase::ir {
namespace {

// The arguments in the fixtures' notation: (x, 2) | {'stride': None}, values in our own notation.
std::string shown(const std::string& line) {
  const Graph graph = parse(R"(graph "g" {
    module m : torch.nn.modules.activation.ReLU = aten::relu()
    tensor w : float32[4] parameter
    %x = placeholder x
    %y = placeholder y
    %n : int = placeholder n
    )" + line + "\n}",
                            "line");
  const FxArguments fx = fx_arguments(graph, graph.node(graph.order().back()));
  std::string text = "(";
  for (const Value& value : fx.args) text += (text.size() > 1 ? ", " : "") + print(graph, value);
  text += ")";
  for (const auto& [name, value] : fx.kwargs) text += " " + name + "=" + print(graph, value);
  return text;
}

struct Case {
  std::string line, expected;
};

void check_all(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.line);
    CHECK(shown(c.line) == c.expected);
  }
}

}  // namespace

TEST_CASE("modules, inputs, attributes and outputs have positional arguments only") {
  check_all({{"%a = call_module m aten::relu(self=%x)", "(%x)"},
             {"%a = get_attr w", "()"},
             {"%a = placeholder a", "()"},
             {"%output = output output(value=(%x,))", "((%x,))"},
             {"%output = output output(value={\"logits\": %x})", "({\"logits\": %x})"}});
}

TEST_CASE("functions written in Python show optional arguments as keywords with defaults") {
  const std::string f = "%a = call_function torch.nn.functional.";
  check_all({
      {f + "relu aten::relu(self=%x)", "(%x) inplace=false"},
      {f + "softmax aten::softmax.int(self=%x, dim=-1)", "(%x) dim=-1 _stacklevel=3 dtype=none"},
      {f + "max_pool2d aten::max_pool2d(self=%x, kernel_size=[2, 2])",
       "(%x, 2) stride=none padding=0 dilation=1 ceil_mode=false return_indices=false"},
      {f + "max_pool2d aten::max_pool2d(self=%x, kernel_size=[2, 3], stride=[2, 2], "
           "ceil_mode=true)",
       "(%x, [2, 3]) stride=2 padding=0 dilation=1 ceil_mode=true return_indices=false"},
      {f + "hardtanh aten::hardtanh(self=%x)", "(%x) min_val=-1.0 max_val=1.0 inplace=false"},
      {f + "dropout aten::dropout(input=%x, p=0.3, train=false)",
       "(%x) p=0.3 training=false inplace=false"},
      {f + "adaptive_avg_pool2d aten::adaptive_avg_pool2d(self=%x, output_size=[1, 1])", "(%x, 1)"},
      {f + "layer_norm aten::layer_norm(input=%x, normalized_shape=[16], weight=%y)",
       "(%x, [16]) weight=%y bias=none eps=1e-05"},
      // ATen and Python order the statistics and the parameters differently.
      {f + "batch_norm aten::batch_norm(input=%x, weight=%x, bias=%x, running_mean=%y, "
           "running_var=%y, training=false, momentum=0.1, eps=1e-05)",
       "(%x, %y, %y) weight=%x bias=%x training=false momentum=0.1 eps=1e-05"},
      {f + "embedding aten::embedding(weight=%y, indices=%x)",
       "(%x, %y) padding_idx=none max_norm=none norm_type=2.0 scale_grad_by_freq=false "
       "sparse=false"},
  });
}

TEST_CASE("other functions show arguments in schema order, keyword-only ones by name") {
  const std::string f = "%a = call_function ";
  check_all({
      {f + "torch.flatten aten::flatten.using_ints(self=%x, start_dim=1)", "(%x, 1)"},
      {f + "_operator.add aten::add.Tensor(self=%x, other=%y)", "(%x, %y)"},
      {f + "torch.add aten::add.Tensor(self=%x, other=%y, alpha=2)", "(%x, %y) alpha=2"},
      {f + "_operator.mul aten::mul.Tensor(self=%x, other=0.25)", "(%x, 0.25)"},
      {f + "torch._C._nn.gelu aten::gelu(self=%x)", "(%x)"},
      {f + "torch._C._nn.gelu aten::gelu(self=%x, approximate=\"tanh\")",
       "(%x) approximate=\"tanh\""},
      {f + "torch.conv2d aten::conv2d(input=%x, weight=%y)", "(%x, %y)"},
      {f + "torch.conv2d aten::conv2d(input=%x, weight=%y, stride=[2, 2])", "(%x, %y) stride=2"},
      {f + "torch._C._nn.linear aten::linear(input=%x, weight=%y)", "(%x, %y)"},
      {f + "torch.cat aten::cat(tensors=[%x, %y], dim=1)", "([%x, %y], 1)"},
      {f + "torch.where aten::where.self(condition=%x, self=%x, other=%y)", "(%x, %x, %y)"},
      {f + "torch.arange aten::arange(end=5, dtype=6)", "(5) dtype=6"},
      {f + "my.function my::function(first=%x, second=3)", "(%x, 3)"},
  });
}

TEST_CASE("1 - x keeps Python's order of operands") {
  check_all(
      {{"%a = call_function _operator.sub aten::rsub.Scalar(self=%x, other=1.0)", "(1.0, %x)"},
       {"%a = call_function torch.rsub aten::rsub.Scalar(self=%x, other=1.0)", "(%x, 1.0)"}});
}

TEST_CASE("get-item nodes show the value and the index") {
  check_all({{"%a = call_function _operator.getitem mase::getitem(value=%x, index=0)", "(%x, 0)"},
             {"%a = call_function _operator.getitem mase::getitem(value=%x, "
              "index=(slice(none, none, none), 0))",
              "(%x, (slice(none, none, none), 0))"}});
}

TEST_CASE("methods show the receiver first and sizes one by one") {
  check_all(
      {{"%a = call_method size aten::size.int(self=%x, dim=0)", "(%x, 0)"},
       {"%a = call_method size aten::size(self=%x)", "(%x)"},
       {"%a = call_method view aten::view(self=%x, size=[%n, -1])", "(%x, %n, -1)"},
       {"%a = call_method view aten::view(self=%x, size=%y)", "(%x, %y)"},
       {"%a = call_method permute aten::permute(self=%x, dims=[2, 0, 3, 1, 4])",
        "(%x, 2, 0, 3, 1, 4)"},
       {"%a = call_method reshape aten::reshape(self=%x, shape=[%n, 3])", "(%x, %n, 3)"},
       {"%a = call_method expand aten::expand(self=%x, size=[%n, -1, -1])", "(%x, %n, -1, -1)"},
       {"%a = call_method transpose aten::transpose.int(self=%x, dim0=-2, dim1=-1)",
        "(%x, -2, -1)"},
       {"%a = call_method to aten::to.dtype(self=%x, dtype=6)", "(%x) dtype=6"},
       {"%a = call_method contiguous aten::contiguous(self=%x)", "(%x)"}});
}

}  // namespace mase::ir
