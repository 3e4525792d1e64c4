// SPDX-License-Identifier: Apache-2.0
// ONNX graphs as graphs of ATen operators: layers and their names, sizes, functions, errors.
#include <catch2/catch.hpp>

#include "onnx/models.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace mase::onnx {
namespace {

std::string refusal(const Model& model, Fault fault) {
  return test::message_of(fault, [&] { text_of(model); });
}

Node named(Node node, const std::string& name) {
  node.name = name;
  return node;
}

}  // namespace

TEST_CASE("products with a constant become the linear layers that the file names") {
  // As torch.onnx.export writes a Linear of rows of tokens: it turns the weight, which loses its
  // name, and keeps that of the bias.
  const Model tokens =
      model_of({0, 3, 8},
               {named(node_of("MatMul", {"x", "onnx::MatMul_7"}, {"p"}), "/block/block.0/MatMul"),
                named(node_of("Add", {"block.0.bias", "p"}, {"y"}), "/block/block.0/Add")},
               {ones("onnx::MatMul_7", {8, 4}), ones("block.0.bias", {4})});
  const ir::Graph graph = import_model(tokens, {.path = "model.onnx"}).graph;
  const ir::Node* node = graph.find_node("block_0");
  REQUIRE(node);
  CHECK(node->kind == ir::NodeKind::call_module);
  CHECK(graph.modules.at("block.0").class_name == "torch.nn.modules.linear.Linear");
  CHECK(graph.tensors.at("block.0.weight").value.shape() == Shape{4, 8});
  CHECK(graph.tensors.contains("block.0.bias"));
  CHECK(node->info.shape == Shape{2, 3, 4});

  // Gemm keeps the names of both.
  const Model rows = model_of(
      {0, 8},
      {node_of("Gemm", {"x", "fc.weight", "fc.bias"}, {"y"}, {{"transB", std::int64_t{1}, ""}})},
      {ones("fc.weight", {4, 8}), ones("fc.bias", {4})});
  CHECK(text_of(rows) ==
        "%x : float32[2, 8] = placeholder x\n"
        "%fc : float32[2, 4] = call_module fc aten::linear(input=%x)\n"
        "%output : float32[2, 4] = output output(value=%fc)\n");
}

TEST_CASE("tensors that an exporter stores once have the names that Identity gives them") {
  // As torch.onnx.export writes two norms that are not trained yet.
  const auto norm = [](const char* x, const std::string& path, const char* y) {
    return node_of("LayerNormalization", {x, path + ".weight", path + ".bias"}, {y},
                   {{"axis", std::int64_t{-1}, ""}});
  };
  const Model model = model_of(
      {0, 3},
      {node_of("Identity", {"b.weight"}, {"a.weight"}), node_of("Identity", {"b.bias"}, {"a.bias"}),
       norm("x", "a", "z"), norm("z", "b", "y")},
      {ones("b.weight", {3}), ones("b.bias", {3})});
  const ir::Graph graph = import_model(model, {.path = "model.onnx"}).graph;
  for (const std::string path : {"a", "b"}) {
    REQUIRE(graph.modules.contains(path));
    CHECK(*graph.modules.at(path).tensor("weight") == path + ".weight");
    CHECK(*graph.modules.at(path).tensor("bias") == path + ".bias");
  }
  CHECK(graph.tensors.size() == 4);
}

TEST_CASE("tensors tell the containers that an exporter leaves out of the names of nodes") {
  // As torch.onnx.export writes a ScriptModule whose forward walks through a ModuleList.
  const auto relu = [](const char* x, const std::string& name, const char* y) {
    return named(node_of("Relu", {x}, {y}), name);
  };
  const auto gemm = [](const char* x, const std::string& scope, const std::string& owner,
                       const char* y) {
    return named(node_of("Gemm", {x, owner + ".weight", owner + ".bias"}, {y}), scope + "Gemm");
  };
  const auto targets = [](std::vector<Node> nodes, const std::vector<std::string>& owners) {
    std::vector<Tensor> tensors;
    for (const std::string& owner : owners) {
      tensors.push_back(ones(owner + ".weight", {8, 8}));
      tensors.push_back(ones(owner + ".bias", {8}));
    }
    std::vector<std::string> paths;
    const ir::Graph graph =
        import_model(model_of({0, 8}, std::move(nodes), tensors), {.path = "model.onnx"}).graph;
    for (const ir::NodeId id : graph.order())
      if (graph.node(id).kind == ir::NodeKind::call_module) paths.push_back(graph.node(id).target);
    return paths;
  };
  using Paths = std::vector<std::string>;

  CHECK(targets({gemm("x", "/0/fc/", "blocks.0.fc", "a"), relu("a", "/0/act/Relu", "b"),
                 gemm("b", "/1/fc/", "blocks.1.fc", "c"), relu("c", "/1/act/Relu", "d"),
                 relu("d", "/2/Relu", "y")},
                {"blocks.0.fc", "blocks.1.fc"}) ==
        Paths{"blocks.0.fc", "blocks.0.act", "blocks.1.fc", "blocks.1.act", "blocks.2"});
  // A list inside of a module that is called, and a list of lists.
  CHECK(
      targets({gemm("x", "/encoder/0/", "encoder.layers.0", "a"), relu("a", "/encoder/1/Relu", "b"),
               gemm("b", "/3/", "rows.2.3", "c"), relu("c", "/4/Relu", "y")},
              {"encoder.layers.0", "rows.2.3"}) ==
      Paths{"encoder.layers.0", "encoder.layers.1", "rows.2.3", "rows.2.4"});
  // Two lists whose children have the same numbers: the file does not say whose the Relu is.
  CHECK(targets(
            {gemm("x", "/0/", "a.0", "p"), gemm("p", "/0/", "b.0", "q"), relu("q", "/1/Relu", "y")},
            {"a.0", "b.0"}) == Paths{"a.0", "b.0", "1"});
  // A list that comes after the first one, of which no tensor keeps its name.
  CHECK(targets(
            {gemm("x", "/0/", "a.0", "p"), gemm("p", "/2/", "a.2", "q"), relu("q", "/1/Relu", "y")},
            {"a.0", "a.2"}) == Paths{"a.0", "a.2", "1"});
  // Nothing but a number can follow what is left out.
  CHECK(targets({gemm("x", "/fc/", "blocks.0.fc", "p"), relu("p", "/act/Relu", "y")},
                {"blocks.0.fc"}) == Paths{"blocks.0.fc", "act"});
}

TEST_CASE("a weight without a name below a container that is left out leaves it unknown") {
  Model model = model_of(
      {0, 8},
      {named(node_of("Gemm", {"x", "onnx::Gemm_7"}, {"a"}, {{"transB", std::int64_t{1}, ""}}),
             "/0/conv/Gemm"),
       named(node_of("Relu", {"a"}, {"b"}), "/0/act/Relu"),
       named(node_of("Gemm", {"b", "heads.0.fc.weight"}, {"y"}), "/0/fc/Gemm")},
      {ones("onnx::Gemm_7", {8, 8}), ones("heads.0.fc.weight", {8, 8})});
  const ir::Graph graph = import_model(model, {.path = "model.onnx"}).graph;
  CHECK(graph.modules.contains("heads.0.fc"));
  CHECK(!graph.modules.contains("heads.0.act"));
}

TEST_CASE("a function in a module that has modules does not become a layer of its name") {
  // As torch.onnx.export writes relu(fc(x)) in the forward of "block".
  CHECK(text_of(model_of({0, 8},
                         {named(node_of("Gemm", {"x", "block.fc.weight"}, {"a"}), "/block/fc/Gemm"),
                          named(node_of("Relu", {"a"}, {"y"}), "/block/Relu")},
                         {ones("block.fc.weight", {8, 8})}))
            .find("call_module block aten::relu") == std::string::npos);
}

TEST_CASE("a bias names the linear layer whose weight has lost its name") {
  // The scope that both nodes state is that of the block, as for the second run of one function.
  const auto paths = [](const std::string& weight, const std::string& sum, bool shared) {
    std::vector<Node> nodes{
        named(node_of("MatMul", {"x", weight}, {"p"}), "/1/MatMul"),
        named(node_of("Add", {"blocks.1.fc.bias", "p"}, {shared ? "q" : "y"}), sum)};
    if (shared) nodes.push_back(node_of("Add", {"q", "blocks.1.fc.bias"}, {"y"}));
    const ir::Graph graph =
        import_model(
            model_of({0, 3, 8}, nodes, {ones(weight, {8, 8}), ones("blocks.1.fc.bias", {8})}),
            {.path = "model.onnx"})
            .graph;
    return graph.modules.contains("blocks.1.fc") && graph.tensors.contains("blocks.1.fc.weight");
  };
  CHECK(paths("onnx::MatMul_7", "/1/Add", false));
  CHECK(!paths("onnx::MatMul_7", "/2/Add", false));  // another module adds it
  CHECK(!paths("matrix", "/1/Add", false));          // a parameter of the block
  CHECK(!paths("onnx::MatMul_7", "/1/Add", true));   // equal biases are stored once

  // Two layers that are not trained yet: the second bias is the first one by another name.
  const ir::Graph graph =
      import_model(
          model_of({0, 3, 8},
                   {node_of("Identity", {"blocks.0.fc.bias"}, {"blocks.1.fc.bias"}),
                    named(node_of("MatMul", {"x", "onnx::MatMul_7"}, {"p"}), "/0/fc/MatMul"),
                    named(node_of("Add", {"blocks.0.fc.bias", "p"}, {"q"}), "/0/fc/Add"),
                    named(node_of("MatMul", {"q", "onnx::MatMul_8"}, {"r"}), "/1/fc/MatMul"),
                    named(node_of("Add", {"blocks.1.fc.bias", "r"}, {"y"}), "/1/fc/Add")},
                   {ones("blocks.0.fc.bias", {8}), ones("onnx::MatMul_7", {8, 8}),
                    ones("onnx::MatMul_8", {8, 8})}),
          {.path = "model.onnx"})
          .graph;
  CHECK(graph.modules.contains("blocks.0.fc"));
  CHECK(graph.modules.contains("blocks.1.fc"));
}

TEST_CASE("a convolution into which an exporter folded a batch norm keeps its name") {
  const Model model =
      model_of({0, 3, 4, 4}, {node_of("Conv", {"x", "c.weight", "c.weight_bias"}, {"y"})},
               {ones("c.weight", {2, 3, 3, 3}), ones("c.weight_bias", {2})});
  const ir::Graph graph = import_model(model, {.path = "model.onnx"}).graph;
  REQUIRE(graph.modules.contains("c"));
  CHECK(*graph.modules.at("c").tensor("bias") == "c.bias");
}

TEST_CASE("a bias of zeros that a file computes is left out of the layer") {
  const auto leaves_out = [](float number) {
    const Tensor fill{
        "", ElementType::float32, Array::from(std::vector<float>{number}, {1}), "", {}};
    const Model model = model_of({0, 3, 4, 4},
                                 {node_of("Constant", {}, {"fill"}, {{"value", fill, ""}}),
                                  node_of("Expand", {"fill", "size"}, {"b"}),
                                  node_of("Conv", {"x", "c.weight", "b"}, {"y"})},
                                 {integers("size", {2}), ones("c.weight", {2, 3, 3, 3})});
    const ir::Graph graph = import_model(model, {.path = "model.onnx"}).graph;
    return graph.modules.contains("c") && !graph.modules.at("c").tensor("bias");
  };
  CHECK(leaves_out(0));
  CHECK(!leaves_out(1));
}

TEST_CASE("constant rows of a table are an embedding if the file names the layer") {
  const auto text = [](const std::string& table) {
    return text_of(model_of(
        {0, 3},
        {node_of("Gather", {table, "places"}, {"rows"}), node_of("Add", {"x", "rows"}, {"y"})},
        {ones(table, {8, 3}),
         {"places",
          ElementType::int64,
          Array::from(std::vector<std::int64_t>{1, -1}, {1, 2}),
          "",
          {}}}));
  };
  CHECK(text("positions.weight").find("call_module positions aten::embedding") !=
        std::string::npos);
  CHECK(text("table").find("aten::embedding") == std::string::npos);
}

TEST_CASE("a parameter that is expanded keeps its name") {
  const Model model =
      model_of({2, 1, 3},
               {node_of("Expand", {"cls_token", "shape"}, {"token"}),
                node_of("Concat", {"token", "x"}, {"y"}, {{"axis", std::int64_t{1}, ""}})},
               {ones("cls_token", {1, 1, 3}), integers("shape", {2, 1, 3})});
  const ir::Graph graph = import_model(model, {.path = "model.onnx"}).graph;
  REQUIRE(graph.tensors.contains("cls_token"));
  CHECK(graph.tensors.at("cls_token").value.shape() == Shape{1, 1, 3});
}

TEST_CASE("a product whose sum is read twice keeps its bias apart") {
  const Model model =
      model_of({0, 8},
               {node_of("MatMul", {"x", "w"}, {"p"}), node_of("Add", {"p", "b"}, {"q"}),
                node_of("Mul", {"p", "q"}, {"y"})},
               {ones("w", {8, 4}), ones("b", {4})});
  CHECK(text_of(model).find("aten::add.Tensor") != std::string::npos);
}

TEST_CASE("a transposed weight is read as it is stored") {
  const Model model = model_of(
      {0, 3, 8}, {node_of("Transpose", {"fc.weight"}, {"t"}), node_of("MatMul", {"x", "t"}, {"y"})},
      {ones("fc.weight", {4, 8})});
  const ir::Graph graph = import_model(model, {.path = "model.onnx"}).graph;
  CHECK(graph.tensors.size() == 1);
  CHECK(graph.tensors.at("fc.weight").value.bytes() == model.graph.initializers[0].value.bytes());
}

TEST_CASE("large tensors come from their file, turned where a layer has the transpose") {
  // Names of odd lengths put the values at places that are not aligned.
  const test::TemporaryFolder folder;
  const Shape shape{130, 300};
  Array values(DType::float32, shape);
  auto span = values.mutable_span<float>();
  for (std::size_t i = 0; i < span.size(); ++i) span[i] = static_cast<float>(i);
  for (const std::string name : {"w", "ww", "www", "wwww"}) {
    const Model made =
        model_of({0, 130},
                 {node_of("MatMul", {"x", name}, {"p"}), node_of("Mul", {"t", "t"}, {"u"}),
                  node_of("MatMul", {"p", "u"}, {"y"})},
                 {{name, ElementType::float32, values, "", {}},
                  {"t", ElementType::float32, values.reshaped({300, 130}), "", {}}});
    write_model(made, folder.file("model.onnx"));
    const ir::Graph graph =
        import_model(read_model(folder.file("model.onnx")), {.path = "model.onnx"}).graph;
    const auto turned = graph.tensors.at(name).value.span<float>();
    REQUIRE(graph.tensors.at(name).value.shape() == Shape{300, 130});
    for (std::size_t i = 0; i < 130; ++i)
      for (std::size_t j = 0; j < 300; ++j) REQUIRE(turned[j * 130 + i] == span[i * 300 + j]);
    CHECK(graph.tensors.at("t").value.same_bits(values.reshaped({300, 130})));
  }
}

TEST_CASE("transposes that cancel, and one in front of a classifier, leave no node") {
  const auto transpose = [](const char* from, const char* to, Attribute::Ints perm) {
    return node_of("Transpose", {from}, {to}, {{"perm", std::move(perm), ""}});
  };
  // As tf2onnx writes a convolution and the classifier behind it.
  Tensor weight = ones("w", {24, 1});
  for (std::size_t i = 0; i < 24; ++i)
    weight.value.mutable_span<float>()[i] = static_cast<float>(i);
  const Model model = model_of(
      {0, 3, 4, 2},
      {transpose("x", "first", {0, 3, 1, 2}), transpose("first", "same", {0, 2, 3, 1}),
       transpose("same", "t", {0, 3, 1, 2}), node_of("Relu", {"t"}, {"r"}),
       transpose("r", "back", {0, 2, 3, 1}), node_of("Reshape", {"back", "shape"}, {"flat"}),
       node_of("MatMul", {"flat", "w"}, {"y"})},
      {weight, integers("shape", {-1, 24})});
  CHECK(text_of(model) ==
        "%x : float32[2, 3, 4, 2] = placeholder x\n"
        "%permute_1 : float32[2, 2, 3, 4] = call_method permute aten::permute(self=%x, "
        "dims=[0, 3, 1, 2])\n"
        "%relu : float32[2, 2, 3, 4] = call_function torch.nn.functional.relu "
        "aten::relu(self=%permute_1)\n"
        "%flatten : float32[2, 24] = call_function torch.flatten "
        "aten::flatten.using_ints(self=%relu, "
        "start_dim=1)\n"
        "%w : float32[1, 24] = get_attr w\n"
        "%linear : float32[2, 1] = call_function torch._C._nn.linear aten::linear("
        "input=%flatten, weight=%w)\n"
        "%output : float32[2, 1] = output output(value=%linear)\n");
  const Imported imported = import_model(model, {.path = "model.onnx"});
  const auto columns = imported.graph.tensors.at("w").value.span<float>();
  for (std::size_t channel = 0; channel < 2; ++channel)
    for (std::size_t pixel = 0; pixel < 12; ++pixel)
      CHECK(columns[channel * 12 + pixel] == static_cast<float>(pixel * 2 + channel));
  REQUIRE(imported.notes.size() == 1);
  CHECK_THAT(imported.notes[0], Catch::Contains("'w' has its rows in the order"));
}

TEST_CASE("sizes that depend on a symbol are read when the graph runs") {
  const std::vector<Node> nodes{
      node_of("Shape", {"x"}, {"sizes"}),
      node_of("Gather", {"sizes", "first"}, {"batch"}),
      node_of("Gather", {"sizes", "second"}, {"width"}),
      node_of("Div", {"width", "two"}, {"half"}),
      node_of("Concat", {"batch", "two", "half"}, {"shape"}, {{"axis", std::int64_t{0}, ""}}),
      node_of("Reshape", {"x", "shape"}, {"y"})};
  const std::vector<Tensor> tensors{integers("first", {0}), integers("second", {1}),
                                    integers("two", {2})};
  CHECK(text_of(model_of({0, 8}, nodes, tensors)) ==
        "%x : float32[2, 8] = placeholder x\n"
        "%size : int = call_method size aten::size.int(self=%x, dim=0)\n"
        "%reshape : float32[2, 2, 4] = call_method reshape aten::reshape(self=%x, "
        "shape=[%size, 2, 4])\n"
        "%output : float32[2, 2, 4] = output output(value=%reshape)\n");
  // Both sizes are the file's.
  CHECK(text_of(model_of({6, 8}, nodes, tensors)).find("shape=[6, 2, 4]") != std::string::npos);
}

TEST_CASE("a graph that fits one batch only says so") {
  const Model model =
      model_of({0, 8}, {node_of("Reshape", {"x", "shape"}, {"y"})}, {integers("shape", {2, 2, 4})});
  const Imported imported = import_model(model, {.path = "model.onnx"});
  REQUIRE(imported.notes.size() == 1);
  CHECK_THAT(imported.notes[0], Catch::Contains("sizes of the example only"));
}

namespace {

/// What an import for 5 rows says of a file for one row.
std::string refusal_of_rows(const Shape& row, std::vector<Node> nodes,
                            std::vector<Tensor> tensors) {
  Shape single = row, several = row;
  single.insert(single.begin(), 1);
  several.insert(several.begin(), 5);
  const Model model = model_of(single, std::move(nodes), std::move(tensors));
  try {
    import_model(model, {.path = "model.onnx", .inputs = {{"x", Array(DType::float32, several)}}});
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::unsupported);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a file for one batch takes others if its nodes keep the rows apart") {
  const std::vector<Tensor> tensors{integers("flat", {1, -1}), ones("rows", {3, 1, 4})};
  const std::vector<Node> nodes{node_of("Reshape", {"x", "flat"}, {"y"})};
  const ImportOptions five{.path = "model.onnx",
                           .inputs = {{"x", Array(DType::float32, {5, 2, 4})}}};
  CHECK(text_of(model_of({1, 2, 4}, nodes, tensors), five) ==
        "%x : float32[5, 2, 4] = placeholder x\n"
        "%reshape : float32[5, 8] = call_method reshape aten::reshape(self=%x, shape=[-1, 8])\n"
        "%output : float32[5, 8] = output output(value=%reshape)\n");
  CHECK_THAT(import_model(model_of({1, 2, 4}, nodes, tensors), five).notes.at(0),
             Catch::Contains("the file is for the batch 1; the graph takes any"));
}

TEST_CASE("a file for one batch whose nodes mix rows names such a node") {
  const auto ints = [](std::vector<std::int64_t> values) { return Attribute::Ints(values); };
  const std::vector<Tensor> tensors{integers("zero", {0}), integers("flat", {1, 8}),
                                    ones("w", {8, 3}), ones("images", {2, 2, 4})};
  CHECK_THAT(refusal_of_rows({8}, {node_of("ReduceMean", {"x", "zero"}, {"y"})}, tensors),
             Catch::Contains("the file is for the batch 1") &&
                 Catch::Contains("node 'y_node' (ReduceMean): it computes with several rows"));
  CHECK_THAT(refusal_of_rows(
                 {8}, {node_of("Softmax", {"x"}, {"y"}, {{"axis", std::int64_t{0}, ""}})}, tensors),
             Catch::Contains("'y_node' (Softmax): it computes with several rows"));
  CHECK_THAT(
      refusal_of_rows({8},
                      {node_of("Transpose", {"x"}, {"t"}), node_of("MatMul", {"x", "t"}, {"s"}),
                       node_of("Mul", {"s", "x"}, {"y"})},
                      tensors),
      Catch::Contains("'s_node' (MatMul)"));
  // The elements of a row are not next to each other.
  CHECK_THAT(refusal_of_rows(
                 {2, 4},
                 {node_of("Transpose", {"x"}, {"t"}, {{"perm", ints({1, 0, 2}), ""}}),
                  node_of("Reshape", {"t", "flat"}, {"f"}), node_of("MatMul", {"f", "w"}, {"y"})},
                 tensors),
             Catch::Contains("'y_node' (MatMul): it computes with several rows"));
  CHECK_THAT(refusal_of_rows({2, 4}, {node_of("Add", {"x", "images"}, {"y"})}, tensors),
             Catch::Contains("'y_node' (Add): it combines the rows with a constant"));
  CHECK_THAT(refusal_of_rows({8}, {node_of("Squeeze", {"x", "zero"}, {"y"})}, tensors),
             Catch::Contains("'y_node' (Squeeze): it takes the dimension of the batch away"));
  CHECK_THAT(
      refusal_of_rows({8}, {node_of("Concat", {"x", "x"}, {"y"}, {{"axis", std::int64_t{0}, ""}})},
                      tensors),
      Catch::Contains("'y_node' (Concat): it computes with several rows"));
}

TEST_CASE("pads that an exporter computes from constants are known") {
  // As torch.onnx.export writes F.pad: pads of the last dimension first, then turned around.
  const Model model =
      model_of({0, 8},
               {node_of("Reshape", {"pads", "pairs"}, {"a"}),
                node_of("Slice", {"a", "last", "begin", "zero", "last"}, {"b"}),
                node_of("Transpose", {"b"}, {"c"}, {{"perm", Attribute::Ints{1, 0}, ""}}),
                node_of("Reshape", {"c", "flat"}, {"d"}),
                node_of("Pad", {"x", "d"}, {"y"}, {{"mode", std::string("reflect"), ""}})},
               {integers("pads", {3, 2, 0, 0}), integers("pairs", {-1, 2}), integers("last", {-1}),
                integers("begin", {-9}), integers("zero", {0}), integers("flat", {-1})});
  CHECK_THAT(text_of(model),
             Catch::Contains("pad=[3, 2], mode=\"reflect\"") && Catch::Contains("float32[2, 13]"));
}

TEST_CASE("constants that CastLike converts are known") {
  // As torch.onnx.export(optimize=False) writes torch.arange(3).
  const auto number = [](const char* name, float value) {
    return Tensor{name, ElementType::float32, Array::from(std::vector<float>{value}, {}), "", {}};
  };
  const Tensor end{
      "end", ElementType::int64, Array::from(std::vector<std::int64_t>{3}, {}), "", {}};
  const Model model = model_of(
      {0, 3},
      {node_of("CastLike", {"zero", "end"}, {"start"}),
       node_of("CastLike", {"one", "end"}, {"step"}),
       node_of("Range", {"start", "end", "step"}, {"places"}),
       node_of("CastLike", {"places", "x"}, {"floats"}), node_of("Add", {"x", "floats"}, {"y"})},
      {number("zero", 0), number("one", 1), end});
  CHECK(text_of(model).find("aten::add.Tensor") != std::string::npos);
}

TEST_CASE("a branch that depends on a size is that of the example, which the graph notes") {
  const auto body = [](const std::string& op, const std::string& result) {
    auto graph = std::make_shared<Graph>();
    graph->nodes = {node_of(op, {"x"}, {result})};
    graph->outputs = {{.name = result, .type = ElementType::float32}};
    return std::shared_ptr<const Graph>(graph);
  };
  Model model = model_of(
      {0, 8},
      {node_of("Shape", {"x"}, {"sizes"}), node_of("Gather", {"sizes", "first"}, {"batch"}),
       node_of("Equal", {"batch", "four"}, {"is_four"}),
       node_of("If", {"is_four"}, {"y"},
               {{"then_branch", body("Relu", "t"), ""}, {"else_branch", body("Neg", "e"), ""}})},
      {integers("first", {0}), integers("four", {4})});
  const auto import = [&](const Shape& shape) {
    return import_model(model,
                        {.path = "model.onnx", .inputs = {{"x", Array(DType::float32, shape)}}});
  };
  const Imported four = import({4, 8}), three = import({3, 8});
  CHECK(four.graph.find_node("relu"));
  REQUIRE(four.notes.size() == 1);
  CHECK_THAT(four.notes[0], Catch::Contains("is true at node 'is_four_node' (Equal)"));
  CHECK(four.graph.guards.size() == 1);
  // The other sizes of this example, twice as many rows, give the same answer.
  CHECK(three.graph.find_node("neg"));
  CHECK(three.notes.empty());
}

TEST_CASE("activations and norms that a file writes out are one layer") {
  const auto number = [](const std::string& name, float value) {
    return Tensor{name, ElementType::float32, Array::from<float>({value}, {}), "", {}};
  };
  // As torch.onnx.export writes them for opset 14.
  const std::vector<Node> gelu{named(node_of("Div", {"x", "root"}, {"a"}), "/act/Div"),
                               named(node_of("Erf", {"a"}, {"b"}), "/act/Erf"),
                               named(node_of("Add", {"b", "one"}, {"c"}), "/act/Add"),
                               named(node_of("Mul", {"x", "c"}, {"d"}), "/act/Mul"),
                               named(node_of("Mul", {"d", "half"}, {"y"}), "/act/Mul_1")};
  const std::vector<Tensor> numbers{number("root", 1.4142135F), number("one", 1),
                                    number("half", 0.5F)};
  CHECK_THAT(text_of(model_of({0, 8}, gelu, numbers)),
             Catch::Contains("%act : float32[2, 8] = call_module act aten::gelu(self=%x)"));
  // Another number is another function.
  std::vector<Tensor> others = numbers;
  others[1] = number("one", 2);
  CHECK_THAT(text_of(model_of({0, 8}, gelu, others)), !Catch::Contains("gelu"));

  std::vector<Node> norm{
      node_of("ReduceMean", {"x", "last"}, {"m"}), node_of("Sub", {"x", "m"}, {"c"}),
      node_of("Pow", {"c", "two"}, {"s"}),         node_of("ReduceMean", {"s", "last"}, {"v"}),
      node_of("Add", {"v", "eps"}, {"e"}),         node_of("Sqrt", {"e"}, {"r"}),
      node_of("Div", {"c", "r"}, {"n"}),           node_of("Mul", {"n", "norm.weight"}, {"w"}),
      node_of("Add", {"w", "norm.bias"}, {"y"})};
  const std::vector<Tensor> tensors{number("two", 2), number("eps", 1e-5F), integers("last", {-1}),
                                    ones("norm.weight", {8}), ones("norm.bias", {8})};
  const std::string text = text_of(model_of({0, 3, 8}, norm, tensors));
  CHECK_THAT(text, Catch::Contains("%norm : float32[2, 3, 8] = call_module norm "
                                   "aten::layer_norm(input=%x)") &&
                       !Catch::Contains("aten::mean"));
  norm[2].inputs[0] = "x";  // the mean of squares of something else than the difference
  CHECK_THAT(text_of(model_of({0, 3, 8}, norm, tensors)), !Catch::Contains("layer_norm"));

  CHECK_THAT(text_of(model_of(
                 {0, 8}, {node_of("Sigmoid", {"x"}, {"s"}), node_of("Mul", {"x", "s"}, {"y"})})),
             Catch::Contains("aten::silu(self=%x)") && !Catch::Contains("sigmoid"));
}

TEST_CASE("weights that a file stores in parts are put together") {
  // 200 x 64, above what is taken apart into numbers: rows 100 to 199, then 0 to 99, as LSTM gates
  // are.
  Array weight(DType::float32, {200, 64});
  auto span = weight.mutable_span<float>();
  for (std::size_t i = 0; i < span.size(); ++i) span[i] = static_cast<float>(i);
  const Model model =
      model_of({0, 64},
               {node_of("Slice", {"w", "zero", "middle", "zero"}, {"upper"}),
                node_of("Slice", {"w", "middle", "end", "zero"}, {"lower"}),
                node_of("Concat", {"lower", "upper"}, {"turned"}, {{"axis", std::int64_t{0}, ""}}),
                node_of("Unsqueeze", {"turned", "zero"}, {"more"}),
                node_of("Squeeze", {"more", "zero"}, {"fc"}),
                node_of("Gemm", {"x", "fc"}, {"y"}, {{"transB", std::int64_t{1}, ""}})},
               {{"w", ElementType::float32, weight, "", {}},
                integers("zero", {0}),
                integers("middle", {100}),
                integers("end", {-1})});
  Model whole = model;
  whole.graph.initializers[3] = integers("end", {200});
  const ir::Graph graph = import_model(whole, {.path = "model.onnx"}).graph;
  REQUIRE(graph.tensors.size() == 1);
  const Array& stored = graph.tensors.begin()->second.value;
  REQUIRE(stored.shape() == Shape{200, 64});
  CHECK(stored.span<float>()[0] == 6400);
  CHECK(stored.span<float>()[100 * 64] == 0);
  // An end of -1 leaves the last row out.
  const ir::Graph shorter = import_model(model, {.path = "model.onnx"}).graph;
  CHECK(shorter.tensors.begin()->second.value.shape() == Shape{199, 64});
}

TEST_CASE("functions of the model are written out where they are called") {
  Model model = model_of({0, 8}, {}, {});
  model.opsets["own"] = 1;
  Function function;
  function.domain = "own";
  function.name = "Twice";
  function.inputs = {"a"};
  function.outputs = {"b"};
  function.attributes = {"slope"};
  function.opsets = {{"", 20}};
  Attribute slope{"alpha", {}, "slope"};
  Node inner = node_of("LeakyRelu", {"a"}, {"c"});
  inner.attributes = {slope};
  function.nodes = {inner, node_of("Add", {"c", "c"}, {"b"})};
  model.functions = {function};
  for (const auto& [from, to] : {std::pair("x", "m"), std::pair("m", "y")}) {
    Node call = node_of("Twice", {from}, {to}, {{"slope", 0.25, ""}});
    call.domain = "own";
    model.graph.nodes.push_back(call);
  }
  const std::string text = text_of(model);
  CHECK_THAT(text, Catch::Contains("%leaky_relu : ") && Catch::Contains("%leaky_relu_1 : ") &&
                       Catch::Contains("negative_slope=0.25") && Catch::Contains("%add_1 : "));
}

TEST_CASE("an input can be fixed to a constant") {
  Model model = model_of({0, 8}, {node_of("Mul", {"x", "factor"}, {"y"})});
  model.graph.inputs.push_back(value("factor", {}));
  const std::string text = text_of(model, {.path = "model.onnx", .fixed = {{"factor", Tree(0.5)}}});
  CHECK_THAT(text, Catch::Contains("aten::mul.Scalar(self=%x, other=0.5)"));
  CHECK_THAT(test::message_of(Fault::config,
                              [&] {
                                text_of(model, {.path = "model.onnx", .fixed = {{"k", Tree(1)}}});
                              }),
             Catch::Contains("no input 'k'"));
}

TEST_CASE("graphs that are not sound are refused with the place") {
  CHECK_THAT(refusal(model_of({0, 8}, {node_of("Relu", {"z"}, {"y"})}), Fault::file),
             Catch::Contains("model.onnx: node 'y_node' (Relu) reads 'z', which nothing gives"));
  CHECK_THAT(
      refusal(model_of({0, 8}, {node_of("Relu", {"z"}, {"y"}), node_of("Relu", {"x"}, {"z"})}),
              Fault::file),
      Catch::Contains("computed by a later one, node 'z_node' (Relu)"));
  CHECK_THAT(
      refusal(model_of({0, 8}, {node_of("Relu", {"x"}, {"y"}), node_of("Relu", {"x"}, {"y"})}),
              Fault::file),
      Catch::Contains("the name 'y' is given to two values"));
  CHECK_THAT(refusal(model_of({0, 8}, {node_of("MatMul", {"x", "w"}, {"y"})}, {ones("w", {7, 4})}),
                     Fault::file),
             Catch::Contains("node 'y_node' (MatMul)"));
  CHECK_THAT(refusal(model_of({0, 8, 4}, {node_of("Conv", {"x", "w"}, {"y"})}, {ones("w", {7})}),
                     Fault::file),
             Catch::Contains("its weight is [7], but its input [2, 8, 4]"));
  CHECK_THAT(refusal(model_of({0, 3, 4, 4}, {node_of("Resize", {"x", "", "scales"}, {"y"})},
                              {{"scales",
                                ElementType::float32,
                                Array::from(std::vector<float>{1, 1, -1, -1}, {4}),
                                "",
                                {}}}),
                     Fault::file),
             Catch::Contains("its scale along axis 2 is -1.0"));
  Model newer = model_of({0, 8}, {node_of("Relu", {"x"}, {"y"})});
  newer.opsets[""] = 99;
  CHECK_THAT(refusal(newer, Fault::unsupported), Catch::Contains("its opset is 99"));
  CHECK_THAT(refusal(model_of({0, 8}, {node_of("Nonsense", {"x"}, {"y"})}), Fault::unsupported),
             Catch::Contains("node 'y_node' (Nonsense)"));
  Model sparse = model_of({0, 8}, {node_of("Relu", {"x"}, {"y"})});
  sparse.graph.sparse_initializers = {"w"};
  CHECK_THAT(refusal(sparse, Fault::unsupported), Catch::Contains("sparse"));
}

}  // namespace mase::onnx
