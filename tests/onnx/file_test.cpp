// SPDX-License-Identifier: Apache-2.0
// ONNX files, written and read: every kind of attribute and element, and damaged files.
#include <catch2/catch.hpp>

#include <string>

#include "base/file.hpp"
#include "onnx/model.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace mase::onnx {
namespace {

Tensor tensor(const std::string& name, ElementType type, Array value) {
  return {name, type, std::move(value), "", {}};
}

/// A model with one node that has every kind of attribute, and tensors of several types.
Model sample() {
  Model model;
  model.ir_version = 10;
  model.opsets = {{"", 20}, {"qonnx.custom_op.general", 1}};
  model.producer = "test";
  model.metadata = {{"author", "nobody"}};
  Node node{"node", "Op", "", "", {"x", "w", ""}, {"y"}, {}, "a node", {{"scope", "['']"}}};
  auto body = std::make_shared<Graph>();
  body->name = "body";
  body->outputs = {{.name = "z", .type = ElementType::float32, .shape = {}}};
  node.attributes = {
      {"f", 0.5, ""},
      {"i", std::int64_t{-3}, ""},
      {"s", std::string("text"), ""},
      {"t", tensor("t", ElementType::int64, Array::from<std::int64_t>({1, 2}, {2})), ""},
      {"g", std::shared_ptr<const Graph>(body), ""},
      {"fs", Attribute::Floats{1, 2.5}, ""},
      {"is", Attribute::Ints{4, 5, 6}, ""},
      {"ss", Attribute::Strings{"a", "b"}, ""}};
  model.graph.name = "graph";
  model.graph.nodes = {node};
  model.graph.inputs = {{.name = "x",
                         .type = ElementType::float32,
                         .shape = std::vector<Dimension>{{std::nullopt, "batch"}, {4, ""}}}};
  model.graph.outputs = {{.name = "y", .type = ElementType::float32}};
  // Large enough to stay in the file.
  Array large(DType::float32, {200, 200});
  large.mutable_span<float>()[39999] = 7;
  Array truth(DType::boolean, {2});
  truth.mutable_span<bool>()[0] = true;
  model.graph.initializers = {
      tensor("w", ElementType::float32, large),
      tensor("codes", ElementType::int4, Array::from<std::uint8_t>({1, 15, 7}, {3})),
      tensor("truth", ElementType::boolean, truth)};
  model.graph.annotations = {{"x", {{"finn_datatype", "INT4"}, {"scale", "s"}}}};
  return model;
}

void check_equal(const Tensor& a, const Tensor& b) {
  CHECK(a.name == b.name);
  CHECK(a.type == b.type);
  CHECK(a.value.same_bits(b.value));
}

std::string error_of(const std::string& path) {
  return test::message_of(Fault::file, [&] { read_model(path); });
}

}  // namespace

TEST_CASE("an ONNX model is written and read back") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("model.onnx");
  const Model model = sample();
  write_model(model, path);
  const Model again = read_model(path);
  CHECK(again.ir_version == 10);
  CHECK(again.opsets == model.opsets);
  CHECK(again.metadata == model.metadata);
  CHECK(again.graph.annotations == model.graph.annotations);
  REQUIRE(again.graph.nodes.size() == 1);
  const Node& node = again.graph.nodes[0];
  CHECK(node.inputs == model.graph.nodes[0].inputs);
  CHECK(node.doc == "a node");
  CHECK(*find_property(node.metadata, "scope") == "['']");
  CHECK(std::get<double>(node.find("f")->value) == 0.5);
  CHECK(std::get<std::int64_t>(node.find("i")->value) == -3);
  CHECK(std::get<std::string>(node.find("s")->value) == "text");
  CHECK(std::get<Attribute::Floats>(node.find("fs")->value) == Attribute::Floats{1, 2.5});
  CHECK(std::get<Attribute::Ints>(node.find("is")->value) == Attribute::Ints{4, 5, 6});
  CHECK(std::get<Attribute::Strings>(node.find("ss")->value) == Attribute::Strings{"a", "b"});
  CHECK(std::get<std::shared_ptr<const Graph>>(node.find("g")->value)->outputs[0].name == "z");
  check_equal(std::get<Tensor>(node.find("t")->value),
              std::get<Tensor>(model.graph.nodes[0].find("t")->value));
  REQUIRE(again.graph.initializers.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    check_equal(again.graph.initializers[i], model.graph.initializers[i]);
  CHECK((*again.graph.inputs[0].shape)[0].symbol == "batch");
  CHECK((*again.graph.inputs[0].shape)[1].size == 4);
}

TEST_CASE("an ONNX file is known by its name or its first bytes") {
  const test::TemporaryFolder folder;
  write_model(sample(), folder.file("model"));
  CHECK(is_onnx(folder.file("model")));
  CHECK(is_onnx("absent.onnx"));
  for (const std::string& other : {"PK\x03\x04 a zip file", "x,y\n1,2\n", "\x93NUMPY", ""}) {
    write_file(folder.file("other"), other);
    CHECK_FALSE(is_onnx(folder.file("other")));
  }
  CHECK_FALSE(is_onnx(folder.file("absent")));
}

TEST_CASE("a damaged ONNX file is refused with its name") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("model.onnx");
  write_model(sample(), path);
  const std::string bytes = read_file(path);
  write_file(path, bytes.substr(0, bytes.size() / 2));
  CHECK_THAT(error_of(path), Catch::Contains("model.onnx") && Catch::Contains("damaged"));
  write_file(path, "");
  CHECK_THAT(error_of(path), Catch::Contains("empty"));
  write_file(path, "not protobuf at all, but text");
  CHECK_THAT(error_of(path), Catch::Contains("cannot parse"));
}

TEST_CASE("many empty messages do not take the memory") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("bomb.onnx");
  // ModelProto.graph, field 7, of nodes, field 1, without content.
  constexpr std::size_t nodes = 8'000'000;
  std::string body;
  for (std::size_t i = 0; i < nodes; ++i) body += std::string("\x0A\x00", 2);
  std::string bytes = "\x3A";
  for (std::size_t size = body.size(); size > 0; size >>= 7)
    bytes += static_cast<char>((size & 127U) | (size > 127 ? 128U : 0U));
  write_file(path, bytes + body);
  CHECK_THAT(error_of(path), Catch::Contains("512 MiB of memory"));
}

}  // namespace mase::onnx
