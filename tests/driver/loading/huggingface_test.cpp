// SPDX-License-Identifier: Apache-2.0
// A folder of transformers gives the outputs that transformers computed, and faults in it are told.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "driver/loading/load_model.hpp"
#include "ir/evaluator.hpp"
#include "safetensors/safetensors.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::driver;
using mase::test::TemporaryFolder;

namespace {

const std::string bert_folder = std::string(MASE_TEST_FOLDER) + "/fixtures/huggingface/bert/";

ModelRequest folder_request(const std::string& folder) {
  ModelRequest request;
  request.model = folder;
  return request;
}

double largest_difference(const Array& one, const Array& other) {
  REQUIRE(one.shape() == other.shape());
  double most = 0;
  for (std::size_t i = 0; i < one.span<float>().size(); ++i)
    most = std::max<double>(most, std::abs(one.span<float>()[i] - other.span<float>()[i]));
  return most;
}

/// A copy of the folder whose settings have one text in place of another.
std::string changed(const TemporaryFolder& folder, const std::string& from, const std::string& to) {
  for (const char* name : {"model.safetensors", "config.json"})
    std::filesystem::copy_file(bert_folder + name, folder.file(name),
                               std::filesystem::copy_options::overwrite_existing);
  const std::string text = read_file(bert_folder + "config.json");
  REQUIRE(text.find(from) != std::string::npos);
  write_file(folder.file("config.json"), replace_all(text, from, to));
  return folder.path();
}

std::string refused(const std::string& folder, Fault fault) {
  return test::message_of(fault, [&] { load_model(folder_request(folder)); });
}

}  // namespace

TEST_CASE("a folder of BERT gives what transformers computed") {
  ModelRequest request = folder_request(bert_folder);
  request.input.inputs = {bert_folder + "input_ids.npy", bert_folder + "attention_mask.npy"};
  const LoadedModel model = load_model(request);
  const auto evaluator = backend::open().evaluator(model.graph, ir::Level::floating);
  const ir::Results results = evaluator->run(model.example);
  REQUIRE(results.size() == 2);
  constexpr double rounding = 1e-5;  // of sums in another order, for values of about 1
  CHECK(largest_difference(results[0].second, read_npy(bert_folder + "last_hidden_state.npy")) <
        rounding);
  CHECK(largest_difference(results[1].second, read_npy(bert_folder + "pooler_output.npy")) <
        rounding);
}

TEST_CASE("a graph of a folder runs other batches and lengths than it was made for") {
  const LoadedModel model = load_model(folder_request(bert_folder));
  CHECK(model.graph.node(model.graph.placeholders()[0]).info.shape == Shape{2, 16});
  const auto evaluator = backend::open().evaluator(model.graph, ir::Level::floating);
  const ir::Results results = evaluator->run(
      {read_npy(bert_folder + "input_ids.npy"), read_npy(bert_folder + "attention_mask.npy")});
  CHECK(largest_difference(results[0].second, read_npy(bert_folder + "last_hidden_state.npy")) <
        1e-5);
}

TEST_CASE("settings that change the computation are refused by name") {
  const TemporaryFolder folder;
  struct Row {
    std::string from, to, word;
    Fault fault;
  };
  const std::vector<Row> rows{
      {"\"gelu\"", "\"xielu\"", "'hidden_act' is \"xielu\"; known is gelu", Fault::unsupported},
      {"\"is_decoder\": false",
       R"("quantization_config": {"quant_method": "gptq"}, "is_decoder": false)",
       "quantized by gptq, which is not read. Give the folder", Fault::unsupported},
      {"\"is_decoder\": false",
       R"("quantization_config": {"quant_method": "bitsandbytes"}, "is_decoder": false)",
       "save model.dequantize() with save_pretrained", Fault::unsupported},
      {"\"is_decoder\": false", "\"is_decoder\": true", "'is_decoder'", Fault::unsupported},
      {"\"BertModel\"", "\"T5Model\"", "'T5Model' is not known; known are Bert",
       Fault::unsupported},
      {"\"num_attention_heads\": 2", "\"num_attention_heads\": 3", "'num_attention_heads'",
       Fault::file},
      {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 2147483648",
       "'num_hidden_layers' is 2147483648; the most are 10000", Fault::file},
      {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 9999", "missing: encoder.layer.2",
       Fault::file},
      {"\"max_position_embeddings\": 32", "\"max_position_embeddings\": 2147483648",
       "different: embeddings.position_embeddings.weight", Fault::file},
      {"\"hidden_size\": 16", "\"hidden_size\": \"x\"", "'hidden_size' is of kind", Fault::file},
      {"\"vocab_size\": 100", "\"vocab_size\": 99",
       "embeddings.word_embeddings.weight is float32[100, 16]", Fault::file},
      {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3",
       "missing: encoder.layer.2.attention.self.query.weight [16, 16]", Fault::file},
      {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1",
       "not in the model: encoder.layer.1.attention.output.LayerNorm.bias", Fault::file}};
  for (const Row& row : rows)
    CHECK_THAT(refused(changed(folder, row.from, row.to), row.fault), Catch::Contains(row.word));
}

TEST_CASE("a file of safetensors replaces weights and keeps tables that it has not") {
  const TemporaryFolder folder;
  const std::string path = folder.file("weights.safetensors");
  std::map<std::string, Array> tensors;
  for (const auto& [name, tensor] : safetensors::read_tensors(bert_folder + "model.safetensors"))
    tensors[name] = tensor.value;
  const std::string bias = "pooler.dense.bias";
  tensors[bias] = Array::from(std::vector<float>(16, 0.25f), {16});
  safetensors::write_tensors(path, tensors);
  ModelRequest request = folder_request(bert_folder);
  request.load_name = path;
  const LoadedModel model = load_model(request);
  CHECK(model.graph.tensors.at(bias).value.span<float>()[3] == 0.25f);
  CHECK(model.graph.tensors.at("embeddings.position_ids").value.span<std::int64_t>()[3] == 3);

  tensors.erase(bias);
  tensors["pooler.dense.weight"] = Array(DType::float32, {16, 15});
  tensors["more"] = Array(DType::float32, {1});
  safetensors::write_tensors(path, tensors);
  const std::string said = test::message_of(Fault::file, [&] { load_model(request); });
  CHECK_THAT(said, Catch::Contains("weights.safetensors") &&
                       Catch::Contains("missing in the file: pooler.dense.bias float32[16]") &&
                       Catch::Contains("different: pooler.dense.weight is float32[16, 15]") &&
                       Catch::Contains("not in the model: more float32[1]"));
}

TEST_CASE("a graph without attention_mask sees all tokens, and nothing else can be fixed") {
  ModelRequest request = folder_request(bert_folder);
  request.input.fixed = {"attention_mask=none"};
  const LoadedModel model = load_model(request);
  REQUIRE(model.graph.placeholders().size() == 1);
  const Array ids = read_npy(bert_folder + "input_ids.npy");
  const auto evaluator = backend::open().evaluator(model.graph, ir::Level::floating);
  const ir::Results results = evaluator->run({ids});
  // The third row has no padding in the fixture either.
  const Array expected = read_npy(bert_folder + "last_hidden_state.npy").rows(2, 1);
  CHECK(largest_difference(results[0].second.rows(2, 1), expected) < 1e-5);

  request.input.fixed = {"input_ids=1"};
  CHECK_THAT(test::message_of(Fault::config, [&] { load_model(request); }),
             Catch::Contains("'input_ids'") && Catch::Contains("--fix attention_mask=none"));
}

TEST_CASE("without safetensors, pickled weights are looked for") {
  const TemporaryFolder folder;
  changed(folder, "BertModel", "BertModel");
  std::filesystem::remove(folder.file("model.safetensors"));
  CHECK_THAT(refused(folder.path(), Fault::file),
             Catch::Contains("neither model.safetensors nor pytorch_model.bin"));
  write_file(folder.file("pytorch_model.bin.index.json"),
             R"({"weight_map": {"pooler.dense.bias": "../pytorch_model.bin"}})");
  CHECK_THAT(refused(folder.path(), Fault::file),
             Catch::Contains("pytorch_model.bin.index.json: tensor 'pooler.dense.bias': its file is"
                             " not the name of one in this folder"));
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n";
  for (const char* name : {"pytorch_model.bin", "model.safetensors"}) {
    write_file(folder.file(name), pointer);
    CHECK_THAT(refused(folder.path(), Fault::file),
               Catch::Contains(std::string(name) + " is a pointer of Git LFS"));
  }
  std::filesystem::remove(folder.file("model.safetensors"));
  std::filesystem::create_symlink("../blobs/gone", folder.file("model.safetensors"));
  CHECK_THAT(refused(folder.path(), Fault::file),
             Catch::Contains("model.safetensors is a link to ../blobs/gone"));
  std::filesystem::remove(folder.file("model.safetensors"));
  write_file(folder.file("pytorch_model.bin"), "no zip");
  CHECK_THAT(refused(folder.path(), Fault::file), Catch::Contains("pytorch_model.bin"));
}

TEST_CASE("an example of other dimensions than token numbers have is refused") {
  const TemporaryFolder folder;
  write_npy(folder.file("ids.npy"), Array(DType::int64, {7}));
  ModelRequest request = folder_request(bert_folder);
  request.input.inputs = {"input_ids=" + folder.file("ids.npy")};
  CHECK_THAT(test::message_of(Fault::config, [&] { load_model(request); }),
             Catch::Contains("'input_ids'") && Catch::Contains("it takes 2 dimensions"));
}
