// SPDX-License-Identifier: Apache-2.0
// Names of tasks, and the figures of each.
#include "data/task.hpp"

#include <cmath>

#include "data/assemble.hpp"
#include "data/dataset.hpp"
#include "data/scorer.hpp"
#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::message_of;

TEST_CASE("a task is found by every name that the reference system has for it") {
  CHECK(find_task("classification").name == "classification");
  CHECK(find_task("cls").name == "classification");
  for (const char* name : {"next_token", "language_modeling", "lm"})
    CHECK(find_task(name).name == "next_token");
  CHECK_THAT(message_of(Fault::config, [] { find_task("next_tokens"); }),
             Contains("did you mean 'next_token'"));
}

TEST_CASE("next tokens are summed up by their perplexity") {
  // Four equal scores, so 4 tokens are equally likely; the first of the largest is predicted.
  Target target{"y", "next_token", {}, numbered_classes(4)};
  const auto text = [&target] {
    Scorers scorers({target});
    scorers.add(1, {Array(DType::float32, {1, 2, 4})},
                {Array::from(std::vector<std::int64_t>{0, 3}, {1, 2})});
    return figures_text(scorers.figures().all);
  };
  CHECK(text() == "loss 1.3863, perplexity 4.000, accuracy 50.00 %");
  target.task = "classification";
  CHECK(text() == "loss 1.3863, accuracy 50.00 %");
}

TEST_CASE("every data set is for a task of the table") {
  for (const DatasetRow& row : dataset_table()) CHECK(find_task(row.task).name == row.task);
  CHECK(load_dataset("text", {}).labels().task == "next_token");
  CHECK(load_dataset("jsc", {}).labels().task == "classification");
}
