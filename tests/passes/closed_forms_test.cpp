// SPDX-License-Identifier: Apache-2.0
// What one call of an op costs, against its formula written out: sizes are those of the shapes, two
// rows of a batch are counted as one.
#include <catch2/catch.hpp>

#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "passes/analysis/operations.hpp"

namespace mase {
namespace {

struct Form {
  std::string what;
  std::string inputs;  ///< nodes in front of the call, in the graph's text
  std::string call;    ///< "result shape = call"
  double macs, flops;  ///< flops beside the two of each MAC
};

const std::string in_formats = " {data_in=integer(8, 4), weight=integer(4, 2)}";

std::string float32(const std::string& name, const std::string& shape) {
  return "  %" + name + " : float32[" + shape + "] = placeholder " + name + "\n";
}

/// A constant, as torch.fx shows the weight of a function.
std::string constant(const std::string& name, const std::string& shape) {
  return "  %" + name + " : float32[" + shape + "] = get_attr " + name + "\n";
}

ir::Graph graph_of(const Form& form) {
  std::string tensors;
  for (std::size_t at = 0; (at = form.inputs.find("get_attr ", at)) != std::string::npos; ++at) {
    const std::size_t name = at + 9, line = form.inputs.rfind("float32[", at);
    tensors += "  tensor " + form.inputs.substr(name, form.inputs.find('\n', at) - name) + " : " +
               form.inputs.substr(line, form.inputs.find(']', line) + 1 - line) + " parameter\n";
  }
  const std::string shape = form.call.substr(0, form.call.find(" = "));
  const std::string text = "graph \"g\" {\n" + tensors + form.inputs + "  %y : " + form.call +
                           "\n  %output : " + shape + " = output output(value=%y)\n}\n";
  return ir::parse(text, "graph");
}

void check(const Form& form) {
  INFO(form.what);
  const ir::Graph graph = graph_of(form);
  passes::OperationCounter counter(graph);
  const passes::OperationCounts counts = counter.count(*graph.find_node("y"));
  CHECK(counts.macs == form.macs);
  CHECK(counts.flops == 2 * form.macs + form.flops);
  CHECK(counter.uncounted().empty());
  // Formats are at most those of the two operands: 8 and 4 bits, or 8 and 8 of two data ports.
  const bool has_formats = form.call.find('{') != std::string::npos;
  const bool attends = form.call.find("attention") != std::string::npos;
  if (has_formats) CHECK(counts.bitops == form.macs * 8 * (attends ? 8 : 4));
}

const std::string x4 = float32("x", "2, 6, 5, 7");

}  // namespace

TEST_CASE("products cost what their formula says") {
  const Form forms[] = {
      {"rows of a linear layer of 7 inputs and 9 outputs", x4 + constant("w", "9, 7"),
       "float32[2, 6, 5, 9] = call_function torch._C._nn.linear aten::linear(input=%x, weight=%w)" +
           in_formats,
       6 * 5 * 7 * 9, 0},
      {"batched products", x4 + float32("z", "2, 6, 7, 3"),
       "float32[2, 6, 5, 3] = call_function torch.matmul aten::matmul(self=%x, other=%z)" +
           in_formats,
       6 * 5 * 7 * 3, 0},
      {"one matrix for the whole batch", x4 + constant("w", "7, 3"),
       "float32[2, 6, 5, 3] = call_function torch.matmul aten::matmul(self=%x, other=%w)" +
           in_formats,
       6 * 5 * 7 * 3, 0},
      {"a row times a matrix", float32("x", "2, 7") + constant("w", "7, 3"),
       "float32[2, 3] = call_function torch.mm aten::mm(self=%x, mat2=%w)" + in_formats, 7 * 3, 0},
      {"bmm", float32("x", "2, 5, 7") + float32("z", "2, 7, 3"),
       "float32[2, 5, 3] = call_function torch.bmm aten::bmm(self=%x, mat2=%z)" + in_formats,
       5 * 7 * 3, 0},
      {"addmm", float32("b", "2, 3") + float32("x", "2, 7") + constant("w", "7, 3"),
       "float32[2, 3] = call_function torch.addmm aten::addmm(self=%b, mat1=%x, mat2=%w)" +
           in_formats,
       7 * 3, 0},
      {"baddbmm", float32("b", "2, 5, 3") + float32("x", "2, 5, 7") + float32("z", "2, 7, 3"),
       "float32[2, 5, 3] = call_function torch.baddbmm aten::baddbmm(self=%b, batch1=%x, "
       "batch2=%z)" +
           in_formats,
       5 * 7 * 3, 0},
      {"attention of 4 queries and 9 keys by 3 heads",
       float32("q", "2, 3, 4, 5") + float32("k", "2, 3, 9, 5") + float32("v", "2, 3, 9, 6"),
       "float32[2, 3, 4, 6] = call_function torch._C._nn.scaled_dot_product_attention "
       "aten::scaled_dot_product_attention(query=%q, key=%k, value=%v)" +
           in_formats,
       3 * 4 * 9 * (5 + 6), 3 * 3 * 4 * 9},
      {"attention whose 4 heads share the keys of 2",
       float32("q", "2, 4, 4, 5") + float32("k", "2, 2, 9, 5") + float32("v", "2, 2, 9, 5"),
       "float32[2, 4, 4, 5] = call_function torch._C._nn.scaled_dot_product_attention "
       "aten::scaled_dot_product_attention(query=%q, key=%k, value=%v, enable_gqa=true)" +
           in_formats,
       4 * 4 * 9 * (5 + 5), 3 * 4 * 4 * 9},
      {"an einsum of two", float32("x", "2, 5, 7") + float32("z", "2, 3, 7"),
       "float32[2, 5, 3] = call_function torch.functional.einsum "
       "aten::einsum(equation=\"bij,bkj->bik\", tensors=[%x, %z])",
       5 * 7 * 3, 0},
      {"an einsum of three: (2 x 5 x 7) x (7 x 3), then by (3 x 4)",
       float32("x", "2, 5, 7") + constant("w", "7, 3") + constant("v", "3, 4"),
       "float32[2, 5, 4] = call_function torch.functional.einsum "
       "aten::einsum(equation=\"...j,jk,kl->...l\", tensors=[%x, %w, %v])",
       5 * 7 * 3 + 5 * 3 * 4, 0},
      {"an einsum that only reorders", float32("x", "2, 5, 7"),
       "float32[2, 7, 5] = call_function torch.functional.einsum "
       "aten::einsum(equation=\"bij->bji\", tensors=[%x])",
       0, 0},
  };
  for (const Form& form : forms) check(form);
}

TEST_CASE("convolutions cost what their formula says") {
  const std::string plain = "stride=[1, 1], padding=[1, 1], dilation=[1, 1]";
  const Form forms[] = {
      {"3x3 over 6 channels in 3 groups to 9: 2 channels for each output",
       x4 + constant("w", "9, 2, 3, 3"),
       "float32[2, 9, 5, 7] = call_function torch.conv2d aten::conv2d(input=%x, weight=%w, " +
           plain + ", groups=3)" + in_formats,
       9 * 5 * 7 * (2 * 3 * 3), 0},
      {"depthwise", x4 + constant("w", "6, 1, 3, 3"),
       "float32[2, 6, 5, 7] = call_function torch.conv2d aten::conv2d(input=%x, weight=%w, " +
           plain + ", groups=6)" + in_formats,
       6 * 5 * 7 * 3 * 3, 0},
      {"1d", float32("x", "2, 6, 8") + constant("w", "4, 6, 3"),
       "float32[2, 4, 6] = call_function torch.conv1d aten::conv1d(input=%x, weight=%w)" +
           in_formats,
       4 * 6 * (6 * 3), 0},
      {"transposed: each of 6 * 5 * 7 elements meets 4 outputs * 3 * 3, whatever stride, "
       "dilation and output padding are",
       x4 + constant("w", "6, 4, 3, 3"),
       "float32[2, 4, 14, 18] = call_function torch.conv_transpose2d aten::conv_transpose2d("
       "input=%x, weight=%w, stride=[2, 2], padding=[0, 0], output_padding=[1, 1], groups=1, "
       "dilation=[2, 2])" +
           in_formats,
       6 * 5 * 7 * (4 * 3 * 3), 0},
      {"transposed in 3 groups: each element meets 2 outputs", x4 + constant("w", "6, 2, 2, 2"),
       "float32[2, 6, 10, 14] = call_function torch.conv_transpose2d aten::conv_transpose2d("
       "input=%x, weight=%w, stride=[2, 2], groups=3)" +
           in_formats,
       6 * 5 * 7 * (2 * 2 * 2), 0},
  };
  for (const Form& form : forms) check(form);
}

TEST_CASE("norms, functions and reductions cost what their formula says") {
  const std::string same = "float32[2, 6, 5, 7] = call_function ";
  const double elements = 6 * 5 * 7;
  const Form forms[] = {
      {"softmax", x4, same + "torch.nn.functional.softmax aten::softmax.int(self=%x, dim=-1)", 0,
       3 * elements},
      {"log_softmax", x4,
       same + "torch.nn.functional.log_softmax aten::log_softmax.int(self=%x, dim=-1)", 0,
       3 * elements},
      {"layer norm", x4,
       same + "torch.nn.functional.layer_norm aten::layer_norm(input=%x, normalized_shape=[7])", 0,
       5 * elements},
      {"rms norm: square, sum and quotient", x4,
       same + "torch.nn.functional.rms_norm aten::rms_norm(input=%x, normalized_shape=[7])", 0,
       3 * elements},
      {"group norm", x4,
       same + "torch.nn.functional.group_norm aten::group_norm(input=%x, num_groups=3)", 0,
       5 * elements},
      {"instance norm", x4,
       same + "torch.nn.functional.instance_norm aten::instance_norm(input=%x)", 0, 5 * elements},
      {"a quotient", x4 + float32("z", "2, 1, 1, 7"),
       same + "_operator.truediv aten::div.Tensor(self=%x, other=%z)", 0, elements},
      {"a product that stretches both", float32("x", "2, 6, 1, 7") + float32("z", "2, 1, 5, 1"),
       same + "_operator.mul aten::mul.Tensor(self=%x, other=%z)", 0, elements},
      {"a choice", x4 + float32("z", "2, 6, 5, 7"),
       same + "torch.where aten::where.self(condition=%z, self=%x, other=%z)", 0, elements},
      {"masked_fill", x4 + float32("z", "2, 6, 5, 7"),
       "float32[2, 6, 5, 7] = call_method masked_fill aten::masked_fill.Scalar(self=%x, mask=%z, "
       "value=0.0)",
       0, elements},
      {"a mean over two dimensions", x4,
       "float32[2, 6] = call_method mean aten::mean.dim(self=%x, dim=[2, 3])", 0, elements},
      {"pooling by 3x2", x4,
       "float32[2, 6, 3, 6] = call_function torch._C._nn.avg_pool2d aten::avg_pool2d(self=%x, "
       "kernel_size=[3, 2], stride=1)",
       0, 6 * 3 * 6 * (3 * 2)},
      {"adaptive pooling of 5 x 7 to 2 x 3: windows of 3 and 3 by 3, 3 and 3", x4,
       "float32[2, 6, 2, 3] = call_function torch.nn.functional.adaptive_avg_pool2d "
       "aten::adaptive_avg_pool2d(self=%x, output_size=[2, 3])",
       0, 6 * (3 + 3) * (3 + 3 + 3)},
      {"bilinear upsampling: 4 products and 3 sums", x4,
       "float32[2, 6, 10, 14] = call_function torch._C._nn.upsample_bilinear2d "
       "aten::upsample_bilinear2d(input=%x, output_size=[10, 14], align_corners=false)",
       0, 7 * 6 * 10 * 14},
  };
  for (const Form& form : forms) check(form);
}

TEST_CASE("ops that only move elements cost nothing and are not reported as uncounted") {
  const Form forms[] = {
      {"nearest upsampling", x4,
       "float32[2, 6, 10, 14] = call_function torch.nn.functional.interpolate "
       "aten::upsample_nearest2d(input=%x, output_size=[10, 14])",
       0, 0},
      {"expand", float32("x", "2, 1, 5"),
       "float32[2, 6, 5] = call_method expand aten::expand(self=%x, size=[2, 6, 5])", 0, 0},
      {"pad", x4,
       "float32[2, 6, 5, 9] = call_function torch.nn.functional.pad aten::pad(self=%x, pad=[1, 1])",
       0, 0},
      {"rows of a table", float32("x", "2, 5") + constant("w", "30, 8"),
       "float32[2, 5, 8] = call_function torch.nn.functional.embedding aten::embedding(weight=%w, "
       "indices=%x)",
       0, 0},
  };
  for (const Form& form : forms) check(form);
}

TEST_CASE("every quantizable op has a rule for what it costs") {
  for (const ir::OpRow& row : ir::op_table()) {
    INFO(row.name);
    if (row.quantizable) CHECK(row.family != ir::OpFamily::other);
  }
}

TEST_CASE("a sample's share is found in whichever dimension the batch is") {
  // Rows of a sequence first, as MultiheadAttention has them: 3 rows of 5 do not divide by 2.
  const ir::Graph graph = ir::parse(R"(graph "g" {
  tensor w : float32[9, 7] parameter
  tensor p : float32[4, 7] parameter
  %x : float32[2, 3, 7] = placeholder x
  %t : float32[3, 2, 7] = call_method transpose aten::transpose.int(self=%x, dim0=0, dim1=1)
  %w : float32[9, 7] = get_attr w
  %y : float32[3, 2, 9] = call_function torch._C._nn.linear aten::linear(input=%t, weight=%w)
  %p : float32[4, 7] = get_attr p
  %e : float32[4, 7] = call_function torch.exp aten::exp(self=%p)
  %output : float32[3, 2, 9] = output output(value=%y)
})",
                                    "graph");
  passes::OperationCounter counter(graph);
  CHECK(counter.count(*graph.find_node("y")).macs == 3 * 7 * 9);
  // A table whose rows happen to be a multiple of the batch is computed once.
  CHECK(counter.count(*graph.find_node("e")).flops == 4 * 7);
}

TEST_CASE("a part of a weight leaves the batch where it is") {
  // As MultiheadAttention projects keys that are no queries.
  const ir::Graph graph = ir::parse(R"(graph "g" {
  tensor w : float32[21, 7] parameter
  %x : float32[2, 3, 7] = placeholder x
  %t : float32[3, 2, 7] = call_method transpose aten::transpose.int(self=%x, dim0=0, dim1=1)
  %w : float32[21, 7] = get_attr w
  %size : int = call_method size aten::size.int(self=%t, dim=-1)
  %twice : int = call_function _operator.mul aten::mul.int(a=%size, b=2)
  %s : list(float32[7, 7], float32[14, 7]) = call_function torch.split_with_sizes aten::split_with_sizes(self=%w, split_sizes=[%size, %twice])
  %p : float32[14, 7] = call_function _operator.getitem mase::getitem(value=%s, index=1)
  %y : float32[3, 2, 14] = call_function torch._C._nn.linear aten::linear(input=%t, weight=%p)
  %output : float32[3, 2, 14] = output output(value=%y)
})",
                                    "graph");
  passes::OperationCounter counter(graph);
  CHECK(counter.count(*graph.find_node("y")).macs == 3 * 7 * 14);
}

}  // namespace mase
