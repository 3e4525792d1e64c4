// SPDX-License-Identifier: Apache-2.0
// Sentences as example inputs: ids, masks and classes are those of the packages tokenizers and
// transformers (tests/fixtures/huggingface/make_folders.py).
#include "driver/loading/text_input.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/text_classes.hpp"
#include "ir/evaluator.hpp"
#include "support/message_of.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::driver;
using mase::test::message_of;

namespace {

const std::string folders = std::string(MASE_TEST_FOLDER) + "/fixtures/huggingface/";
const std::string classifier = folders + "bert_classifier";
const std::vector<std::string> sentences{
    "The plot is not good.", "I found the music lovely, and the zebra was never dull.", "Awful!"};

ModelRequest text_request(const std::string& model, const std::vector<std::string>& texts) {
  ModelRequest request;
  request.model = model;
  request.input.texts = texts;
  return request;
}

bool same_ids(const Array& one, const Array& other) {
  return one.shape() == other.shape() &&
         std::ranges::equal(one.span<std::int64_t>(), other.span<std::int64_t>());
}

std::string refused_text(const ModelRequest& request) {
  return message_of(Fault::config, [&] { load_model(request); });
}

}  // namespace

TEST_CASE("sentences are the inputs and have the classes of transformers") {
  const LoadedModel model = load_model(text_request(classifier, sentences));
  REQUIRE(model.measured);
  REQUIRE(model.example.size() == 2);
  CHECK(same_ids(model.example[0], read_npy(classifier + "/input_ids.npy")));
  CHECK(same_ids(model.example[1], read_npy(classifier + "/attention_mask.npy")));
  const auto evaluator = backend::open().evaluator(model.graph, ir::Level::floating);
  const Array logits = evaluator->run(model.example).front().second;
  const Array expected = read_npy(classifier + "/logits.npy");
  REQUIRE(logits.shape() == expected.shape());
  for (std::size_t i = 0; i < logits.span<float>().size(); ++i)
    CHECK(std::abs(logits.span<float>()[i] - expected.span<float>()[i]) < 1e-4);  // float32 sums
  const auto scores = class_scores(*huggingface::text_classes_of(classifier), logits);
  REQUIRE(scores);
  // Softmax of the logits that transformers computed: 1 / (1 + exp(-(a - b))).
  const std::vector<std::pair<std::string, double>> classes{
      {"negative", 0.99913}, {"positive", 0.99910}, {"negative", 0.93366}};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    CHECK((*scores)[i].name == classes[i].first);
    CHECK((*scores)[i].score == Approx(classes[i].second).margin(1e-5));
  }
}

TEST_CASE("sentences can have a given length") {
  ModelRequest request = text_request(classifier, {"The plot is not good."});
  request.input.max_token_len = 10;
  const LoadedModel model = load_model(request);
  const auto ids = model.example[0].span<std::int64_t>();
  CHECK(std::vector<std::int64_t>(ids.begin(), ids.end()) ==
        std::vector<std::int64_t>{2, 53, 68, 55, 56, 92, 6, 3, 0, 0});
  request.input.max_token_len = 33;
  CHECK(refused_text(request).find("has positions for 32 tokens") != std::string::npos);
}

TEST_CASE("a pass can fix the number of tokens") {
  ir::Graph graph = load_model(text_request(classifier, sentences)).graph;
  CHECK_FALSE(fixed_tokens(graph));
  graph.guards.push_back({"fold_constants", "size(input_ids, 0) is 3"});
  CHECK_FALSE(fixed_tokens(graph));
  graph.guards.push_back({"fold_constants", "size(input_ids, 1) is 15"});
  CHECK(fixed_tokens(graph) == 15);
}

TEST_CASE("a folder with a tokenizer has sentences as example, and others have numbers") {
  const LoadedModel with = load_model(text_request(classifier, {}));
  CHECK_FALSE(with.measured);
  const auto mask = with.example[1].span<std::int64_t>();
  CHECK(with.example[0].shape()[0] == 2);
  CHECK(std::ranges::count(mask, 0) > 0);  // the shorter sentence is padded
  CHECK(load_model(text_request(folders + "bert", {})).example[0].shape() == Shape{2, 16});
}

TEST_CASE("sentences that cannot be inputs are refused") {
  CHECK(refused_text(text_request(folders + "bert", sentences)).find("--tokenizer") !=
        std::string::npos);
  CHECK(refused_text(text_request(classifier, {" "})) == "--text: a text is empty");
  ModelRequest both = text_request(classifier, sentences);
  both.input.inputs = {classifier + "/input_ids.npy"};
  CHECK(refused_text(both).find("leave out --input") != std::string::npos);
  ModelRequest foreign = text_request(folders + "bert", {"The plot is not good."});
  foreign.input.tokenizer = classifier;
  ModelRequest numbers = text_request("jsc-s", {"The plot is not good."});
  numbers.input.tokenizer = classifier;
  CHECK(refused_text(numbers).starts_with("--text is for models of tokens, but the input 'x' of"));
  CHECK_NOTHROW(load_model(foreign));  // all 94 ids have rows among 100
}

TEST_CASE("classes that do not exclude each other have sigmoids") {
  const huggingface::TextClasses classes{{"short", "sad"}, false};
  Array logits(DType::float32, {1, 2});
  logits.mutable_span<float>()[0] = -2;
  const auto scores = class_scores(classes, logits);
  REQUIRE(scores);
  CHECK(scores->front().name == "sad");
  CHECK(scores->front().score == 0.5);
  CHECK_FALSE(class_scores(classes, Array(DType::float32, {1, 3})));
}
