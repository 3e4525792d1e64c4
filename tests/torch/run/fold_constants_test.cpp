// SPDX-License-Identifier: Apache-2.0
// fold_constants on BERT and on graphs of every rule: the same bits for every batch, from fewer
// nodes.
#include "torch/catch.hpp"

#include "base/random.hpp"
#include "driver/all_passes.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "passes/runner.hpp"
#include "support/message_of.hpp"
#include "torch/fixtures.hpp"

namespace mase::test {
namespace {

struct Folded {
  ir::Graph graph;
  passes::Result result;
};

passes::Result fold_constants(ir::Graph& graph, const Tree& options) {
  passes::PassContext context;
  context.evaluator = [](const ir::Graph& g, ir::Level level) { return evaluator_of(g, level); };
  auto reports = passes::run_passes(graph, {{"fold_constants", options, {}}}, driver::all_passes(),
                                    context, {});
  CHECK(ir::verify(graph).empty());
  return std::move(reports.front().result);
}

Folded folded(ir::Graph graph) {
  passes::Result result = fold_constants(graph, Tree::dict());
  return {std::move(graph), std::move(result)};
}

/// A graph of text, its float tensors filled with numbers.
ir::Graph filled_graph(const std::string& text) {
  ir::Graph graph = ir::parse(text, "graph");
  Random random(7);
  for (auto& [path, tensor] : graph.tensors)
    if (tensor.value.dtype() == DType::float32)
      for (float& value : tensor.value.mutable_span<float>()) value = float(random.normal());
  return graph;
}

/// `samples` of them in a batch, from the batch that there is.
Array with_batch(const Array& input, std::int64_t samples) {
  Shape shape = input.shape();
  shape.front() = samples;
  Array batch(input.dtype(), shape);
  const std::size_t bytes = input.byte_size() / std::size_t(input.shape().front());
  for (std::int64_t i = 0; i < samples; ++i)
    std::copy_n(input.bytes() + std::size_t(i % input.shape().front()) * bytes, bytes,
                batch.mutable_bytes() + std::size_t(i) * bytes);
  return batch;
}

std::vector<Array> inputs_for(const ir::Graph& graph) {
  std::vector<Array> inputs;
  Random random(3);
  for (const ir::NodeId id : graph.placeholders()) {
    Array input(DType::float32, graph.node(id).info.shape);
    for (float& value : input.mutable_span<float>()) value = float(random.normal());
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void check_same_bits(const ir::Graph& before, const ir::Graph& after,
                     const std::vector<Array>& inputs) {
  for (const std::int64_t samples : {1, 2, 3, 7}) {
    INFO(samples << " samples");
    std::vector<Array> batch;
    for (const Array& input : inputs) batch.push_back(with_batch(input, samples));
    const ir::Results expected = evaluator_of(before)->run(batch);
    const ir::Results found = evaluator_of(after)->run(batch);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      CHECK(found[i].second.same_bits(expected[i].second));
  }
}

std::vector<float> floats_of(const Array& array) {
  const Array values = array.to_float32();
  return {values.span<float>().begin(), values.span<float>().end()};
}

std::string line_of(const ir::Graph& graph, const std::string& node) {
  const std::string text = ir::print(graph), start = "  %" + node + " : ";
  const std::size_t at = text.find(start);
  return at == std::string::npos ? "" : text.substr(at + 2, text.find('\n', at) - at - 2);
}

}  // namespace

TEST_CASE("BERT's positions and token types become tensors, for every batch") {
  const Fixture& bert = fixture("bert_tiny", "trace");
  const ir::Graph before = import_fixture(bert);
  const auto [after, result] = folded(before);
  CHECK(result.info.at("folded").size() == 2);
  CHECK(result.info.at("parameters").size() == 2);
  CHECK(before.order().size() - after.order().size() == 7);
  const std::string types = "bert_embeddings_token_type_embeddings";
  CHECK(line_of(after, "bert_embeddings_position_embeddings") ==
        "%bert_embeddings_position_embeddings : float32[1, 16, 64] = get_attr "
        "folded_bert_embeddings_position_embeddings");
  CHECK(line_of(after, types) == "%" + types + " : float32[1, 16, 64] = get_attr folded_" + types);
  CHECK(line_of(after, types + "_expand") ==
        "%" + types + "_expand : float32[4, 16, 64] = call_method expand aten::expand(self=%" +
            types + ", size=[%size, -1, -1])");
  CHECK_FALSE(after.tensors.contains("bert.embeddings.position_ids"));
  CHECK_FALSE(after.modules.contains("bert.embeddings.position_embeddings"));
  CHECK_FALSE(after.tensors.at("folded_" + types).requires_grad);
  check_same_bits(before, after, bert.inputs);
}

TEST_CASE("a length that was taken as traced is guarded") {
  const ir::Graph graph = folded(import_fixture(fixture("bert_tiny", "trace"))).graph;
  const Array shorter(DType::int64, {4, 8});
  CHECK(message_of(Fault::file, [&] {
          evaluator_of(graph)->run({shorter, shorter});
        }).find("(size(input_ids, 1) is 16)") != std::string::npos);
}

TEST_CASE("lengths are followed through heads that are unbound") {
  const ir::Graph before = filled_graph(R"(graph "heads" {
  %x : float32[2, 5, 3, 4] = placeholder x
  %turned : float32[3, 2, 5, 4] = call_method permute aten::permute(self=%x, dims=[2, 0, 1, 3])
  %heads : list(float32[2, 5, 4], float32[2, 5, 4], float32[2, 5, 4]) = call_method unbind aten::unbind.int(self=%turned)
  %first : float32[2, 5, 4] = call_function _operator.getitem mase::getitem(value=%heads, index=0)
  %length : int = call_method size aten::size.int(self=%first, dim=1)
  %ones : float32[5, 5] = call_function torch.ones aten::ones(size=[%length, %length])
  %mask : float32[5, 5] = call_function torch.tril aten::tril(self=%ones)
  %y : float32[2, 5, 4] = call_function torch.matmul aten::matmul(self=%mask, other=%first)
  %output : float32[2, 5, 4] = output output(value=%y)
}
)");
  const ir::Graph after = folded(before).graph;
  CHECK(line_of(after, "mask") == "%mask : float32[5, 5] = get_attr folded_mask");
  check_same_bits(before, after, inputs_for(before));
}

TEST_CASE("parameters that are trained stay where that is asked for") {
  ir::Graph graph = import_fixture(fixture("bert_tiny", "trace"));
  const std::size_t nodes = graph.order().size();
  Tree options = Tree::dict();
  options["parameters"] = false;
  const passes::Result result = fold_constants(graph, options);
  CHECK(result.info.at("parameters").size() == 0);
  CHECK(to_json(result.info.at("folded"), -1) == R"(["getitem","getitem_1"])");
  CHECK(graph.order().size() < nodes);
}

TEST_CASE("rows of equal bits are stored once") {
  const ir::Graph before = filled_graph(R"(graph "rows" {
  module table : torch.nn.modules.sparse.Embedding = aten::embedding() [weight=@table.weight]
  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight]
  tensor table.weight : float32[9, 4] parameter grad
  tensor fc.weight : float32[4, 4] parameter grad
  tensor row : float32[1, 3, 4] buffer
  %x : float32[2, 3, 4] = placeholder x
  %size : list(int, int, int) = call_method size aten::size(self=%x)
  %batch : int = call_function _operator.getitem mase::getitem(value=%size, index=0)
  %length : int = call_function _operator.getitem mase::getitem(value=%size, index=1)
  %arange : int64[3] = call_function torch.arange aten::arange(end=%length)
  %expand : int64[2, 3] = call_method expand aten::expand(self=%arange, size=[%batch, %length])
  %table : float32[2, 3, 4] = call_module table aten::embedding(indices=%expand)
  %add : float32[2, 3, 4] = call_function _operator.add aten::add.Tensor(self=%x, other=%table)
  %row : float32[1, 3, 4] = get_attr row
  %exp : float32[1, 3, 4] = call_function torch.exp aten::exp(self=%row)
  %repeat : float32[2, 3, 4] = call_method repeat aten::repeat(self=%exp, repeats=[%batch, 1, 1])
  %half : float32[2, 3, 4] = call_function _operator.mul aten::mul.Scalar(self=%repeat, other=0.5)
  %fc : float32[2, 3, 4] = call_module fc aten::linear(input=%half)
  %ones : float32[2, 4] = call_function torch.ones aten::ones(size=[%batch, 4])
  %share : float32[2, 4] = call_function _operator.truediv aten::div.Scalar(self=%ones, other=%batch)
  %unsqueeze : float32[2, 1, 4] = call_method unsqueeze aten::unsqueeze(self=%share, dim=1)
  %add_1 : float32[2, 3, 4] = call_function _operator.add aten::add.Tensor(self=%add, other=%fc)
  %add_2 : float32[2, 3, 4] = call_function _operator.add aten::add.Tensor(self=%add_1, other=%unsqueeze)
  %output : float32[2, 3, 4] = output output(value=%add_2)
}
)");
  const auto [after, result] = folded(before);
  CHECK(to_json(result.info.at("folded"), -1) == R"(["table","half","ones"])");
  CHECK(line_of(after, "table_expand").find("aten::expand(self=%table, size=[%batch, -1, -1])") !=
        std::string::npos);
  // A linear layer may round otherwise where rows overlap in memory.
  CHECK(line_of(after, "half_repeat").find("aten::repeat(self=%half, repeats=[%batch, 1, 1])") !=
        std::string::npos);
  CHECK(line_of(after, "share") != "");
  REQUIRE(after.guards.size() == 1);
  CHECK(after.guards.front().condition == "size(x, 1) is 3");
  check_same_bits(before, after, inputs_for(before));
}

TEST_CASE("parts of equal rows are equal rows, however they are taken") {
  const ir::Graph before = filled_graph(R"(graph "parts" {
  %x : float32[2, 8] = placeholder x
  %batch : int = call_method size aten::size.int(self=%x, dim=0)
  %ones : float32[2, 8] = call_function torch.ones aten::ones(size=[%batch, 8])
  %middle : float32[2, 1, 8] = call_function _operator.getitem mase::getitem(value=%ones, index=(slice(none, none, none), none))
  %part : float32[2, 8] = call_function _operator.getitem mase::getitem(value=%middle, index=(slice(none, none, none), 0))
  %pair : float32[2, 2, 8] = call_function torch.stack aten::stack(tensors=[%ones, %part], dim=1)
  %add : float32[2, 8] = call_function _operator.add aten::add.Tensor(self=%x, other=%part)
  %output : tuple(float32[2, 8], float32[2, 2, 8]) = output output(value=(%add, %pair))
}
)");
  const auto [after, result] = folded(before);
  CHECK(line_of(after, "part") == "%part : float32[1, 8] = get_attr folded_part");
  for (const float value : after.tensors.at("folded_part").value.span<float>()) CHECK(value == 1);
  check_same_bits(before, after, inputs_for(before));
}

TEST_CASE("constants that take shape or type from what is computed become tensors") {
  const ir::Graph before = filled_graph(R"(graph "like" {
  %x : float32[2, 3, 4] = placeholder x
  %turned : float32[2, 4, 3] = call_method transpose aten::transpose.int(self=%x, dim0=1, dim1=2)
  %scores : float32[2, 3, 3] = call_function torch.matmul aten::matmul(self=%x, other=%turned)
  %length : int = call_method size aten::size.int(self=%scores, dim=2)
  %zeros : float32[3, 3] = call_method new_zeros aten::new_zeros(self=%scores, size=[%length, %length])
  %triu : float32[3, 3] = call_function torch.triu aten::triu(self=%zeros, diagonal=1)
  %add : float32[2, 3, 3] = call_function _operator.add aten::add.Tensor(self=%scores, other=%triu)
  %full : float32[2, 3, 3] = call_function torch.full_like aten::full_like(self=%scores, fill_value=-2.5)
  %half : float32[2, 3, 3] = call_function _operator.mul aten::mul.Scalar(self=%full, other=0.5)
  %add_1 : float32[2, 3, 3] = call_function _operator.add aten::add.Tensor(self=%add, other=%half)
  %item : float32[3, 3] = call_function _operator.getitem mase::getitem(value=%scores, index=0)
  %ones : float32[3, 3] = call_function torch.ones_like aten::ones_like(self=%item)
  %tril : float32[3, 3] = call_function torch.tril aten::tril(self=%ones)
  %mul : float32[2, 3, 3] = call_function _operator.mul aten::mul.Tensor(self=%add_1, other=%tril)
  %like_x : float32[2, 3, 4] = call_function torch.zeros_like aten::zeros_like(self=%x)
  %output : tuple(float32[2, 3, 3], float32[2, 3, 4]) = output output(value=(%mul, %like_x))
}
)");
  const auto [after, result] = folded(before);
  // An input's order in memory is not known, and that of what is like it is not either: read as a
  // second operand it does not matter.
  CHECK(to_json(result.info.at("folded"), -1) == R"(["triu","half","tril","like_x"])");
  CHECK(line_of(after, "half") == "%half : float32[1, 3, 3] = get_attr folded_half");
  CHECK(line_of(after, "half_expand") ==
        "%half_expand : float32[2, 3, 3] = call_method expand aten::expand(self=%half, "
        "size=[%half_batch, -1, -1])");
  CHECK(line_of(after, "half_batch") ==
        "%half_batch : int = call_method size aten::size.int(self=%scores, dim=0)");
  CHECK(after.guards.size() == 2);  // every size of x but the batch
  check_same_bits(before, after, inputs_for(before));
}

TEST_CASE("masks that are written part by part become tensors") {
  const ir::Graph before = filled_graph(R"(graph "windows" {
  tensor two : float32[] buffer
  %x : float32[2, 3, 5] = placeholder x
  %two : float32[] = get_attr two
  %batch : int = call_method size aten::size.int(self=%x, dim=0)
  %width : int = call_method size aten::size.int(self=%x, dim=2)
  %rest : int = call_function _operator.mod aten::remainder.int(a=%width, b=4)
  %number : int64[] = call_function torch.scalar_tensor aten::scalar_tensor(s=%rest, dtype=4)
  %minus : int64[] = call_function _operator.sub aten::rsub.Scalar(self=%number, other=4)
  %after : int = call_function builtins.int aten::Int.Tensor(a=%minus)
  %pad : float32[2, 3, 8] = call_function torch.nn.functional.pad aten::pad(self=%x, pad=[0, %after, 0, 0])
  %length : int = call_method size aten::size.int(self=%pad, dim=2)
  %zeros : float32[8, 8] = call_method new_zeros aten::new_zeros(self=%pad, size=[%length, %length])
  %corner : float32[2, 6] = call_function _operator.getitem mase::getitem(value=%zeros, index=(slice(none, 2, none), slice(2, none, none)))
  %fill : float32[2, 6] = call_function torch.fill aten::fill.Scalar(self=%corner, value=1.5)
  %top : float32[2, 8] = call_method slice aten::slice.Tensor(self=%zeros, dim=0, start=0, end=2, step=1)
  %row : float32[2, 8] = call_function torch.slice_scatter aten::slice_scatter(self=%top, src=%fill, dim=1, start=2, end=8, step=1)
  %once : float32[8, 8] = call_function torch.slice_scatter aten::slice_scatter(self=%zeros, src=%row, dim=0, start=0, end=2, step=1)
  %line : float32[8] = call_method select aten::select.int(self=%once, dim=1, index=3)
  %copy : float32[8] = call_function torch.copy aten::copy(self=%line, src=%two)
  %twice : float32[8, 8] = call_function torch.select_scatter aten::select_scatter(self=%once, src=%copy, dim=1, index=3)
  %ne : bool[8, 8] = call_function _operator.ne aten::ne.Scalar(self=%twice, other=0)
  %mask : float32[8, 8] = call_method masked_fill aten::masked_fill.Scalar(self=%twice, mask=%ne, value=-100.0)
  %y : float32[2, 3, 8] = call_function torch.matmul aten::matmul(self=%pad, other=%mask)
  %output : float32[2, 3, 8] = output output(value=%y)
}
)");
  const auto [after, result] = folded(before);
  CHECK(to_json(result.info.at("folded"), -1) == R"(["minus","mask"])");
  CHECK(after.guards.size() == 2);  // every size of x but the batch
  check_same_bits(before, after, inputs_for(before));
}

TEST_CASE("masks of equal rows that are indexed by the rows' numbers become tensors") {
  // As transformers makes them: positions, where they begin again, and which come before which.
  const ir::Graph before = filled_graph(R"(graph "causal" {
  %x : float32[2, 3, 3] = placeholder x
  %batch : int = call_method size aten::size.int(self=%x, dim=0)
  %length : int = call_method size aten::size.int(self=%x, dim=1)
  %arange : int64[3] = call_function torch.arange aten::arange(end=%length)
  %positions : int64[2, 3] = call_method expand aten::expand(self=%arange, size=[%batch, -1])
  %first : int64[2, 1] = call_function _operator.getitem mase::getitem(value=%positions, index=(slice(none, none, none), slice(none, 1, none)))
  %sub : int64[2, 1] = call_function _operator.sub aten::sub.Scalar(self=%first, other=1)
  %diff : int64[2, 3] = call_function torch.diff aten::diff(self=%positions, prepend=%sub)
  %ne : bool[2, 3] = call_function _operator.ne aten::ne.Scalar(self=%diff, other=1)
  %parts : int64[2, 3] = call_method cumsum aten::cumsum(self=%ne, dim=-1)
  %rows : int64[2] = call_function torch.arange aten::arange(end=%batch)
  %row : int64[2, 1, 1] = call_function _operator.getitem mase::getitem(value=%rows, index=(slice(none, none, none), none, none))
  %query : int64[3, 1] = call_method unsqueeze aten::unsqueeze(self=%arange, dim=1)
  %from_1 : int64[2, 3, 1] = call_function _operator.getitem mase::getitem(value=%positions, index=(%row, %query))
  %to : int64[2, 1, 3] = call_function _operator.getitem mase::getitem(value=%positions, index=(%row, %arange))
  %le : bool[2, 3, 3] = call_function _operator.le aten::le.Tensor(self=%to, other=%from_1)
  %part : int64[2, 3, 1] = call_function _operator.getitem mase::getitem(value=%parts, index=(%row, %query))
  %part_1 : int64[2, 1, 3] = call_function _operator.getitem mase::getitem(value=%parts, index=(%row, %arange))
  %eq : bool[2, 3, 3] = call_function _operator.eq aten::eq.Tensor(self=%part, other=%part_1)
  %and_1 : bool[2, 3, 3] = call_function torch.__and__ aten::__and__.Tensor(self=%le, other=%eq)
  %hidden : bool[2, 3, 3] = call_function _operator.invert aten::bitwise_not(self=%and_1)
  %y : float32[2, 3, 3] = call_method masked_fill aten::masked_fill.Scalar(self=%x, mask=%hidden, value=-5.0)
  %column : float32[2, 3] = call_method select aten::select.int(self=%y, dim=2, index=0)
  %z : float32[2, 1, 3] = call_function _operator.getitem mase::getitem(value=%column, index=(%row, %arange))
  %w : float32[2, 3, 3] = call_function _operator.add aten::add.Tensor(self=%y, other=%z)
  %output : float32[2, 3, 3] = output output(value=%w)
}
)");
  const auto [after, result] = folded(before);
  // The numbers of the rows stay where they index what is computed.
  CHECK(to_json(result.info.at("folded"), -1) == R"(["arange","hidden"])");
  CHECK(line_of(after, "hidden") == "%hidden : bool[1, 3, 3] = get_attr folded_hidden");
  const std::vector<float> hidden = floats_of(after.tensors.at("folded_hidden").value);
  CHECK(hidden == std::vector<float>{0, 1, 1, 0, 0, 1, 0, 0, 0});
  CHECK(line_of(after, "row") != "");
  check_same_bits(before, after, inputs_for(before));
}

TEST_CASE("a row's number is no constant, nor is what counts along the batch") {
  const ir::Graph before = filled_graph(R"(graph "numbers" {
  tensor table : int64[9] buffer
  %x : float32[2, 2] = placeholder x
  %table : int64[9] = get_attr table
  %batch : int = call_method size aten::size.int(self=%x, dim=0)
  %rows : int64[2] = call_function torch.arange aten::arange(end=%batch)
  %add : float32[2, 2] = call_function _operator.add aten::add.Tensor(self=%x, other=%rows)
  %twice : int64[2] = call_function _operator.mul aten::mul.Scalar(self=%rows, other=2)
  %chosen : int64[2] = call_function _operator.getitem mase::getitem(value=%table, index=(%rows))
  %ones : int64[2, 2] = call_function torch.ones aten::ones(size=[%batch, 2], dtype=4)
  %sums : int64[2, 2] = call_method cumsum aten::cumsum(self=%ones, dim=0)
  %steps : int64[1, 2] = call_function torch.diff aten::diff(self=%ones, dim=0)
  %later : int64[1, 2] = call_function _operator.getitem mase::getitem(value=%ones, index=(slice(1, none, none)))
  %output : tuple(float32[2, 2], int64[2], int64[2], int64[2, 2], int64[1, 2], int64[1, 2]) = output output(value=(%add, %twice, %chosen, %sums, %steps, %later))
}
)");
  const auto [after, result] = folded(before);
  CHECK(to_json(result.info.at("folded"), -1) == R"(["ones"])");
}

TEST_CASE("what rows' own numbers choose of each row is chosen by a slice") {
  const ir::Graph before = filled_graph(R"(graph "own" {
  %x : float32[2, 4] = placeholder x
  %batch : int = call_method size aten::size.int(self=%x, dim=0)
  %rows : int64[2] = call_function torch.arange aten::arange(end=%batch)
  %rows_1 : int64[2, 1, 1] = call_function _operator.getitem mase::getitem(value=%rows, index=(slice(none, none, none), none, none))
  %places : int64[3] = call_function torch.arange aten::arange(end=3)
  %places_1 : int64[1, 1, 3] = call_function _operator.getitem mase::getitem(value=%places, index=(none, none, slice(none, none, none)))
  %y : float32[2, 1, 3] = call_function _operator.getitem mase::getitem(value=%x, index=(%rows_1, %places_1))
  %z : float32[2, 1, 1] = call_function _operator.getitem mase::getitem(value=%x, index=(%rows_1, 2))
  %output : tuple(float32[2, 1, 3], float32[2, 1, 1]) = output output(value=(%y, %z))
}
)");
  const auto [after, result] = folded(before);
  CHECK(line_of(after, "y").find("index=(slice(none, none, none), %places_1_row)") !=
        std::string::npos);
  CHECK(line_of(after, "z").find("index=(slice(none, none, none), 2, none, none)") !=
        std::string::npos);
  CHECK(line_of(after, "rows") == "");
  check_same_bits(before, after, inputs_for(before));
}

TEST_CASE("the one row of a model that was traced with one sample is its batch's") {
  const ir::Graph before = filled_graph(R"(graph "one" {
  tensor row : float32[1, 4] buffer
  %x : float32[1, 2] = placeholder x
  %batch : int = call_method size aten::size.int(self=%x, dim=0)
  %numbers : int64[1] = call_function torch.arange aten::arange(end=%batch)
  %numbers_1 : int64[1, 1] = call_function _operator.getitem mase::getitem(value=%numbers, index=(slice(none, none, none), none))
  %places : int64[2] = call_function torch.arange aten::arange(end=2)
  %row : float32[1, 4] = get_attr row
  %y : float32[1, 2] = call_function _operator.getitem mase::getitem(value=%row, index=(%numbers_1, %places))
  %add : float32[1, 2] = call_function _operator.add aten::add.Tensor(self=%x, other=%y)
  %output : float32[1, 2] = output output(value=%add)
}
)");
  const auto [after, result] = folded(before);
  CHECK(to_json(result.info.at("folded"), -1) == R"(["y"])");
  const std::vector<Array> inputs = inputs_for(before);
  CHECK(evaluator_of(after)->run(inputs)[0].second.same_bits(
      evaluator_of(before)->run(inputs)[0].second));
}

TEST_CASE("what an input chooses among equal numbers is that number") {
  const ir::Graph before = filled_graph(R"(graph "equal" {
  module types : torch.nn.modules.sparse.Embedding = aten::embedding() [weight=@types.weight]
  tensor types.weight : float32[2, 4] parameter grad
  tensor zeros : int64[1, 9] buffer
  %x : float32[2, 3, 4] = placeholder x
  %batch : int = call_method size aten::size.int(self=%x, dim=0)
  %zeros : int64[1, 9] = get_attr zeros
  %expand : int64[2, 9] = call_method expand aten::expand(self=%zeros, size=[%batch, -1])
  %first : float32[2, 3] = call_function _operator.getitem mase::getitem(value=%x, index=(slice(none, none, none), slice(none, none, none), 0))
  %positive : bool[2, 3] = call_function _operator.gt aten::gt.Scalar(self=%first, other=0.0)
  %places : int64[2, 3] = call_method to aten::to.dtype(self=%positive, dtype=4)
  %gather : int64[2, 3] = call_method gather aten::gather(self=%expand, dim=1, index=%places)
  %types : float32[2, 3, 4] = call_module types aten::embedding(indices=%gather)
  %add : float32[2, 3, 4] = call_function _operator.add aten::add.Tensor(self=%x, other=%types)
  %output : float32[2, 3, 4] = output output(value=%add)
}
)");
  const auto [after, result] = folded(before);
  CHECK(to_json(result.info.at("folded"), -1) == R"(["types"])");
  check_same_bits(before, after, inputs_for(before));
}

TEST_CASE("a reshape that must copy puts what was permuted in order") {
  const ir::Graph before = filled_graph(R"(graph "copied" {
  tensor w : float32[3, 2, 4] parameter grad
  %x : float32[2, 5, 6] = placeholder x
  %w : float32[3, 2, 4] = get_attr w
  %permute : float32[2, 3, 4] = call_method permute aten::permute(self=%w, dims=[1, 0, 2])
  %copied : float32[6, 4] = call_method reshape aten::reshape(self=%permute, shape=[6, 4])
  %y : float32[2, 5, 4] = call_function torch.matmul aten::matmul(self=%x, other=%copied)
  %transpose : float32[3, 4, 2] = call_method transpose aten::transpose.int(self=%w, dim0=1, dim1=2)
  %seen : float32[3, 2, 2, 2] = call_method reshape aten::reshape(self=%transpose, shape=[3, 2, 2, 2])
  %item : float32[2, 2, 2] = call_function _operator.getitem mase::getitem(value=%seen, index=0)
  %output : tuple(float32[2, 5, 4], float32[2, 2, 2]) = output output(value=(%y, %item))
}
)");
  const auto [after, result] = folded(before);
  CHECK(to_json(result.info.at("folded"), -1) == R"(["copied","item"])");
  check_same_bits(before, after, inputs_for(before));
}

TEST_CASE("constants are folded whichever operators compute them") {
  const ir::Graph before = filled_graph(R"(graph "weights" {
  tensor v : float32[4, 6] parameter grad
  tensor g : float32[4, 1] parameter grad
  tensor w : float32[8, 6] parameter grad
  tensor table : float32[5, 6] parameter grad
  tensor index : int64[3, 2] buffer
  %x : float32[2, 3, 6] = placeholder x
  %v : float32[4, 6] = get_attr v
  %g : float32[4, 1] = get_attr g
  %norm : float32[4, 6] = call_function torch._weight_norm aten::_weight_norm(v=%v, g=%g)
  %a : float32[2, 3, 4] = call_function torch.nn.functional.linear aten::linear(input=%x, weight=%norm)
  %w : float32[8, 6] = get_attr w
  %chunk : list(float32[4, 6], float32[4, 6]) = call_function torch.chunk aten::chunk(self=%w, chunks=2)
  %second : float32[4, 6] = call_function _operator.getitem mase::getitem(value=%chunk, index=1)
  %b : float32[2, 3, 4] = call_function torch.nn.functional.linear aten::linear(input=%x, weight=%second)
  %table : float32[5, 6] = get_attr table
  %index : int64[3, 2] = get_attr index
  %places : int64[3, 2] = call_function torch.cumsum aten::cumsum(self=%index, dim=0)
  %rows : float32[3, 2, 6] = call_function _operator.getitem mase::getitem(value=%table, index=%places)
  %bias : float32[3, 6] = call_function torch.amax aten::amax(self=%rows, dim=[1])
  %c : float32[2, 3, 6] = call_function _operator.add aten::add.Tensor(self=%x, other=%bias)
  %output : tuple(float32[2, 3, 4], float32[2, 3, 4], float32[2, 3, 6]) = output output(value=(%a, %b, %c))
}
)");
  const auto [after, result] = folded(before);
  CHECK(to_json(result.info.at("folded"), -1) == R"(["norm","second","bias"])");
  CHECK(to_json(result.info.at("parameters"), -1) == R"(["v","g","w","table"])");
  check_same_bits(before, after, inputs_for(before));
}

TEST_CASE("views of a transposed constant are stored as they lie in memory") {
  const ir::Graph before = filled_graph(R"(graph "turned" {
  tensor w : float32[3, 5, 4] parameter grad
  %x : float32[2, 4, 6, 5] = placeholder x
  %w : float32[3, 5, 4] = get_attr w
  %turned : float32[4, 5, 3] = call_method transpose aten::transpose.int(self=%w, dim0=0, dim1=2)
  %row : float32[1, 4, 5, 3] = call_method unsqueeze aten::unsqueeze(self=%turned, dim=0)
  %y : float32[2, 4, 6, 3] = call_function torch.matmul aten::matmul(self=%x, other=%row)
  %output : float32[2, 4, 6, 3] = output output(value=%y)
}
)");
  const auto [after, result] = folded(before);
  CHECK(to_json(result.info.at("folded"), -1) == R"(["row"])");
  // Strides [1, 4, 20], and 4 for the new dimension of 1.
  CHECK(line_of(after, "row") == "%row : float32[3, 1, 5, 4] = get_attr folded_row");
  CHECK(line_of(after, "row_permute") ==
        "%row_permute : float32[1, 4, 5, 3] = call_method permute aten::permute(self=%row, "
        "dims=[1, 3, 2, 0])");
  check_same_bits(before, after, inputs_for(before));
  const auto [again, nothing] = folded(after);
  CHECK(to_json(nothing.info.at("folded"), -1) == "[]");
}

TEST_CASE("what would make a model many times as large stays a computation") {
  const auto graph = [](const std::string& size) {
    return filled_graph(R"(graph "large" {
  tensor one : float32[] buffer
  %x : float32[2, 8] = placeholder x
  %one : float32[] = get_attr one
  %same : float32[)" + size +
                        R"(, 8] = call_method repeat aten::repeat(self=%one, repeats=[)" + size +
                        R"(, 8])
  %more : float32[)" + size +
                        R"(, 8] = call_function torch.exp aten::exp(self=%same)
  %output : tuple(float32[2, 8], float32[)" +
                        size + R"(, 8], float32[)" + size +
                        R"(, 8]) = output output(value=(%x, %same, %more))
}
)");
  };
  Tree options = Tree::dict();
  options["most_elements"] = 100;
  ir::Graph together = graph("10");  // 80 elements each: with both, 160 are more than 100 + 1
  const passes::Result result = fold_constants(together, options);
  CHECK(to_json(result.info.at("folded"), -1) == R"(["more"])");
  REQUIRE(result.notes.size() == 1);
  CHECK(result.notes.front() ==
        "node 'same' stays a computation: its 80 elements are more than most_elements (100), "
        "together with those stored before");
  ir::Graph huge = graph("4000000000");  // 128 GB are never made
  CHECK(fold_constants(huge, options).changed == false);
}

TEST_CASE("sizes of computed tensors count where they are independent of the batch") {
  const ir::Graph before = filled_graph(R"(graph "sizes" {
  module patch : torch.nn.modules.conv.Conv2d = aten::conv2d(stride=[2, 2], padding=[0, 0], dilation=[1, 1], groups=1) [weight=@patch.weight]
  module table : torch.nn.modules.sparse.Embedding = aten::embedding() [weight=@table.weight]
  tensor patch.weight : float32[4, 3, 2, 2] parameter grad
  tensor table.weight : float32[9, 4] parameter grad
  tensor cls : float32[1, 1, 4] parameter grad
  %x : float32[2, 3, 4, 4] = placeholder x
  %batch : int = call_method size aten::size.int(self=%x, dim=0)
  %patch : float32[2, 4, 2, 2] = call_module patch aten::conv2d(input=%x)
  %flatten : float32[2, 4, 4] = call_function torch.flatten aten::flatten.using_ints(self=%patch, start_dim=2)
  %transpose : float32[2, 4, 4] = call_method transpose aten::transpose.int(self=%flatten, dim0=1, dim1=2)
  %cls : float32[1, 1, 4] = get_attr cls
  %expand : float32[2, 1, 4] = call_method expand aten::expand(self=%cls, size=[%batch, -1, -1])
  %cat : float32[2, 5, 4] = call_function torch.cat aten::cat(tensors=[%expand, %transpose], dim=1)
  %length : int = call_method size aten::size.int(self=%cat, dim=-2)
  %arange : int64[5] = call_function torch.arange aten::arange(end=%length)
  %table : float32[5, 4] = call_module table aten::embedding(indices=%arange)
  %add : float32[2, 5, 4] = call_function _operator.add aten::add.Tensor(self=%cat, other=%table)
  %view : float32[2, 20] = call_method view aten::view(self=%add, size=[%batch, -1])
  %width : int = call_method size aten::size.int(self=%view, dim=1)
  %ones : float32[20, 20] = call_function torch.ones aten::ones(size=[%width, %width])
  %triu : float32[20, 20] = call_function torch.triu aten::triu(self=%ones, diagonal=1)
  %matmul : float32[2, 20] = call_function torch.matmul aten::matmul(self=%view, other=%triu)
  %rows : int = call_method size aten::size.int(self=%transpose, dim=0)
  %steps : int64[2] = call_function torch.arange aten::arange(end=%rows)
  %unsqueeze : int64[2, 1] = call_method unsqueeze aten::unsqueeze(self=%steps, dim=1)
  %add_1 : float32[2, 20] = call_function _operator.add aten::add.Tensor(self=%matmul, other=%unsqueeze)
  %output : float32[2, 20] = output output(value=%add_1)
}
)");
  const auto [after, result] = folded(before);
  CHECK(to_json(result.info.at("folded"), -1) == R"(["table","triu"])");
  CHECK(after.guards.size() == 3);  // every size of x but the batch
  CHECK(line_of(after, "cls") != "");
  check_same_bits(before, after, inputs_for(before));
}

}  // namespace mase::test
