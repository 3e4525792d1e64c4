// SPDX-License-Identifier: Apache-2.0
// The data sets' parts, hashes, batches and options.
#include <algorithm>
#include <set>

#include "base/array.hpp"
#include "base/file.hpp"
#include "base/tree.hpp"
#include "data/dataset.hpp"
#include "files.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::message_of;

namespace {

void check_disjoint(const Dataset& set) {
  std::set<std::int64_t> seen;
  for (Part part : {Part::train, Part::validation, Part::test})
    for (std::int64_t row : set.rows(part)) REQUIRE(seen.insert(row).second);
  CHECK(static_cast<std::int64_t>(seen.size()) == set.labels().values.size());
}

}  // namespace

TEST_CASE("shipped jsc rows are split as the fixtures' splits.json says") {
  const Dataset set = load_dataset("jsc", {});
  CHECK(set.features().shape() == Shape{1000, 16});
  CHECK(set.labels().class_names == std::vector<std::string>{"g", "q", "t", "w", "z"});
  const std::string path = MASE_TEST_FOLDER "/fixtures/models/splits.json";
  const Tree split = parse_json(read_file(path), path).at("jsc_hlf");
  for (const char* name : {"train", "validation", "test"}) {
    std::vector<std::int64_t> rows;
    for (const Tree& row : split.at(name).as_list()) rows.push_back(row.as_int());
    CHECK(set.rows(parse_part(name)) == rows);
  }
  check_disjoint(set);
  // The fixtures' inputs are the first 4 rows of the test part.
  const Array fixture = read_npy(MASE_TEST_FOLDER "/fixtures/models/jsc_s/inputs.npy");
  CHECK(set.batch(set.test, 0, 4).inputs.front().same_bits(fixture));
  // Class counts as stated beside the files.
  const auto labels = set.labels().values.span<std::int64_t>();
  const std::int64_t counts[] = {219, 216, 191, 182, 192};
  for (int c = 0; c < 5; ++c) CHECK(std::count(labels.begin(), labels.end(), c) == counts[c]);
}

TEST_CASE("shipped mnist has the fixtures' split and pixels") {
  const Dataset set = load_dataset("mnist", {});
  CHECK(set.features().shape() == Shape{70000, 1, 28, 28});
  CHECK(set.train.size() == 55000);
  CHECK(set.train.back() == 54999);
  CHECK(set.validation.size() == 5000);
  CHECK(set.validation.front() == 55000);
  CHECK(set.test.size() == 10000);
  check_disjoint(set);
  CHECK(set.batch(set.test, 0, 4)
            .inputs.front()
            .same_bits(read_npy(MASE_TEST_FOLDER "/fixtures/models/lenet/inputs.npy")));
  // The first labels of the original files.
  const Batch batch = set.batch(set.train, 0, 5);
  const auto first = batch.targets.front().span<std::int64_t>();
  CHECK(std::vector<std::int64_t>(first.begin(), first.end()) ==
        std::vector<std::int64_t>{5, 0, 4, 1, 9});
}

TEST_CASE("toy-tokens counts two kinds of tokens") {
  const Dataset set = load_dataset("toy-tokens", {});
  CHECK(set.features().shape() == Shape{10240, 32});
  CHECK(set.features().dtype() == DType::int64);
  CHECK(set.train.size() == 8192);
  CHECK(set.validation.size() == 1024);
  CHECK(set.sha256 == load_dataset("toy_tokens", {}).sha256);
  check_disjoint(set);
  const auto values = set.features().span<std::int64_t>();
  const auto labels = set.labels().values.span<std::int64_t>();
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto ids = values.subspan(row * 32, 32);
    const auto first = std::ranges::count_if(ids, [](auto id) { return 0 <= id && id < 8; });
    const auto second = std::ranges::count_if(ids, [](auto id) { return 8 <= id && id < 16; });
    REQUIRE(first != second);
    REQUIRE(labels[row] == (first > second));
  }
  const auto ones = std::ranges::count(labels, 1);
  CHECK(std::abs(ones - 5120) < 5 * 51);  // five standard errors of a fair coin
  CHECK(values.subspan(0, 32)[0] != values.subspan(8192 * 32, 32)[0]);
}

TEST_CASE("toy-tiny is balanced, reproducible and has different parts") {
  const Dataset set = load_dataset("toy_tiny", {});
  CHECK(set.name == "toy-tiny");
  CHECK(set.features().shape() == Shape{30720, 1, 2, 2});
  CHECK(set.train.size() == 10240);
  CHECK(set.sha256 == load_dataset("toy-tiny", {}).sha256);
  check_disjoint(set);
  const auto values = set.features().span<float>();
  const auto labels = set.labels().values.span<std::int64_t>();
  std::set<float> firsts;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<double>(values[row * 4 + i]);
    REQUIRE(labels[row] == (sum > 0));
    firsts.insert(values[row * 4]);
  }
  CHECK(*firsts.begin() > -1.0f);
  CHECK(*firsts.rbegin() < 1.0f);
  CHECK(firsts.size() > 30600);  // nearly all rows differ: the streams do not repeat each other
  // Half of the rows within 5 standard errors of a fair coin.
  const auto ones = std::count(labels.begin(), labels.end(), 1);
  CHECK(std::abs(ones - 15360) < 5 * 88);
}

TEST_CASE("a batch gathers rows in the part's order") {
  const Dataset set = load_dataset("jsc", {});
  const Batch batch = set.batch(set.validation, 147, 3);
  CHECK(batch.inputs.front().shape() == Shape{3, 16});
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t row = set.validation[147 + i];
    CHECK(batch.inputs.front()
              .rows(static_cast<std::int64_t>(i), 1)
              .same_bits(set.features().rows(row, 1)));
    CHECK(batch.targets.front().span<std::int64_t>()[i] ==
          set.labels().values.span<std::int64_t>()[static_cast<std::size_t>(row)]);
  }
  CHECK(set.batch(set.test, 150, 0).targets.front().size() == 0);
}

TEST_CASE("an unknown data set is named with its neighbour") {
  const auto message = message_of(Fault::config, [] { load_dataset("mnits", {}); });
  CHECK_THAT(message, Contains("mnits") && Contains("did you mean 'mnist'"));
}

TEST_CASE("an option without use is an error that names those that work") {
  DataOptions options;
  options.test_share = 0.5;
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("jsc", options); }),
             Contains("test_share") && Contains("data_dir"));
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("mnist", options); }),
             Contains("test_share") && Contains("data_dir"));
  DataOptions seeded;
  seeded.seed = 3;
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("toy-tiny", seeded); }),
             Contains("split_seed") && Contains("no options"));
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("csv", {}); }), Contains("data_dir"));
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("npy", {}); }), Contains("x.npy"));
}

TEST_CASE("parts have names") {
  CHECK(parse_part("val") == Part::validation);
  CHECK_THAT(message_of(Fault::config, [] { parse_part("dev"); }),
             Contains("dev") && Contains("validation"));
}
