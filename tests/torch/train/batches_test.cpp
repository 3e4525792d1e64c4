// SPDX-License-Identifier: Apache-2.0
// Training rows in batches: changed alike in batches of any size, and not for validation.
#include "torch/train/batches.hpp"

#include "torch/train/train_support.hpp"

using namespace mase;
using namespace mase::train;
using namespace train_support;
using Catch::Contains;

namespace {

/// 20 images of uint8[2, 4, 4], the last 3 for validation.
data::Dataset twenty_images() {
  data::Dataset set;
  set.name = "twenty";
  set.inputs = {{"x", Array(DType::uint8, {20, 2, 4, 4})}};
  set.targets = {{"y", "classification", Array(DType::int64, {20}), {"a", "b"}}};
  auto bytes = set.inputs.front().values.mutable_span<std::uint8_t>();
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i % 251);
  for (std::int64_t row = 0; row < 20; ++row)
    (row < 17 ? set.train : set.validation).push_back(row);
  return set;
}

data::AugmentOptions changes() {
  data::AugmentOptions options;
  options.flip = 0.5;
  options.crop = 1;
  options.contrast = 0.5;
  options.cutout = 2;
  return options;
}

/// Makes the rows of an array when they are asked for, as decoded files are.
class RowsOf final : public data::RowSource {
 public:
  explicit RowsOf(Array values) : values_(std::move(values)) {}
  std::int64_t count() const override { return values_.shape().front(); }
  std::string sha256() const override { return ""; }
  void read(std::span<const std::int64_t> rows, const Use& use) const override {
    for (std::size_t i = rows.size(); i-- > 0;) {  // any order is allowed
      Array row = values_.rows(rows[i], 1);
      use(i, row.mutable_span<std::uint8_t>());
    }
  }

 private:
  Array values_;
};

/// The same images, none of which is in memory.
data::Dataset twenty_made_images() {
  data::Dataset set = twenty_images();
  data::InputColumn& input = set.inputs.front();
  input.source = std::make_shared<RowsOf>(input.values);
  input.values = Array(DType::uint8, {0, 2, 4, 4});
  return set;
}

std::vector<float> inputs_of(const Batches& batches) {
  const at::Tensor rows = batches.inputs().front().toTensor().contiguous();
  return {rows.data_ptr<float>(), rows.data_ptr<float>() + rows.numel()};
}

std::vector<float> epoch_of(const data::Dataset& set, std::int64_t batch_size, std::int64_t epoch,
                            const data::AugmentOptions& options) {
  Batches batches(set, batch_size, 7, options);
  batches.shuffle(epoch);
  std::vector<float> all;
  for (std::int64_t index = 0; index * batch_size < 17; ++index) {
    batches.load(index);
    const std::vector<float> some = inputs_of(batches);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace

TEST_CASE("an epoch's rows are changed alike in batches of any size") {
  const data::Dataset set = twenty_images();
  const std::vector<float> whole = epoch_of(set, 17, 2, changes());
  CHECK(epoch_of(set, 1, 2, changes()) == whole);
  CHECK(epoch_of(set, 5, 2, changes()) == whole);
  CHECK(epoch_of(set, 17, 2, {}) != whole);
}

TEST_CASE("the processes of a training share the rows of every batch") {
  const data::Dataset set = twenty_images();
  Batches whole(set, 12, 7, changes());
  whole.shuffle(2);
  for (std::int64_t index = 0; index < 2; ++index) {  // of 12 rows, and of 5: 1, 2 and 2
    whole.load(index);
    std::vector<float> parts;
    for (int rank = 0; rank < 3; ++rank) {
      backend::Ranks ranks;
      ranks.rank = rank;
      ranks.size = 3;
      Batches batches(set, 4, 7, changes(), ranks);
      batches.shuffle(2);
      CHECK(batches.load(index) == (index == 0 ? 12 : 5));
      CHECK(batches.share().rows == (index == 0 ? 4 : rank == 0 ? 1 : 2));
      const std::vector<float> part = inputs_of(batches);
      parts.insert(parts.end(), part.begin(), part.end());
    }
    CHECK(parts == inputs_of(whole));
  }
}

TEST_CASE("validation rows are not changed") {
  const data::Dataset set = twenty_images();
  Batches batches(set, 4, 7, changes());
  batches.shuffle(0);
  CHECK(batches.load(set.validation, {0, 0}, {1, 0}) == 3);
  const Array plain = set.batch(set.validation, 0, 3).inputs.front();
  const auto values = plain.span<float>();
  CHECK(inputs_of(batches) == std::vector<float>(values.begin(), values.end()));
}

TEST_CASE("changes of images are refused for rows that are none") {
  backend::TrainOptions options = stock_options("adam");
  options.flip = 0.5;
  ir::Graph graph = two_layers();
  CHECK_THAT(
      message_of(Fault::config, [&] { run_training(graph, twelve_rows(), options, {}, ""); }),
      Contains("twelve: augment_flip") && Contains("x is float32[12, 4]"));
}

TEST_CASE("rows that are gathered ahead are those that a batch asks for") {
  const data::Dataset set = twenty_images(), made = twenty_made_images();
  for (const std::int64_t batch_size : {1, 5, 17})
    CHECK(epoch_of(made, batch_size, 2, changes()) == epoch_of(set, batch_size, 2, changes()));
  Batches here(set, 4, 7, changes()), ahead(made, 4, 7, changes());
  const auto check_same = [&](auto load) {
    load(here);
    load(ahead);
    CHECK(inputs_of(ahead) == inputs_of(here));
    CHECK(ahead.targets().front().equal(here.targets().front()));
  };
  for (const std::int64_t epoch : {0, 1}) {
    check_same([&](Batches& batches) {
      batches.shuffle(epoch);
      batches.load(0);
    });
    check_same([](Batches& batches) { batches.load(1); });
    check_same([](Batches& batches) { batches.load(3); });  // not the one that is gathered ahead
    check_same([&](Batches& batches) { batches.load(set.validation, {0, 0}, {1, 0}); });
    check_same([](Batches& batches) { batches.load(4); });  // the last, of one row
  }
}
