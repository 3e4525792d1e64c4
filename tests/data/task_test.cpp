// SPDX-License-Identifier: Apache-2.0
// Names of tasks, and the figures of each.
#include "data/task.hpp"

#include <cmath>

#include "data/dataset.hpp"
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
  const double loss = std::log(8.0);
  CHECK(figures_text(find_task("cls"), loss, 0.5) == "loss 2.0794, accuracy 50.00 %");
  CHECK(figures_text(find_task("lm"), loss, 0.5) ==
        "loss 2.0794, perplexity 8.000, accuracy 50.00 %");
}

TEST_CASE("every data set is for a task of the table") {
  for (const DatasetRow& row : dataset_table()) CHECK(find_task(row.task).name == row.task);
  CHECK(load_dataset("text", {}).labels().task == "next_token");
  CHECK(load_dataset("jsc", {}).labels().task == "classification");
}
