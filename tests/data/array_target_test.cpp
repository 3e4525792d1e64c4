// SPDX-License-Identifier: Apache-2.0
// Targets of the npy data set: their tasks, shapes and refusals.
#include "data/array_target.hpp"

#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::Folder;
using mase::test::message_of;

namespace {

Array float_target(std::vector<float> values, Shape shape) { return Array::from(values, shape); }
Array whole_target(std::vector<std::int64_t> values, Shape shape) {
  return Array::from(values, shape);
}

DataOptions options_for(const std::string& task) {
  DataOptions options;
  if (!task.empty()) options.task = TaskName{task};
  return options;
}

Target made(const std::string& name, const Array& array, const std::string& task = "") {
  return make_target(name, "f", array, options_for(task));
}

}  // namespace

TEST_CASE("whole numbers are classes, and numbers under an output's name are for regression") {
  CHECK(made("y", whole_target({0, 2}, {2})).task == "classification");
  CHECK(made("y_classes", whole_target({0, 2}, {2})).classes() == 3);
  CHECK(made("y_boxes", float_target({0.5f, 2}, {2})).task == "regression");
  CHECK(made("y", float_target({0.5f, 2}, {2}), "regression").values.dtype() == DType::float32);
  CHECK(made("y", whole_target({0, 2}, {2}), "regression").values.span<float>()[1] == 2.0f);
}

TEST_CASE("an output's own task wins over that of the model") {
  DataOptions options = options_for("regression");
  options.outputs["kind"].task = TaskName{"classification"};
  CHECK(make_target("y_kind", "f", float_target({1, 0}, {2}), options).task == "classification");
  CHECK(make_target("y_size", "f", float_target({1, 0}, {2}), options).task == "regression");
}

TEST_CASE("two dimensions are one-hot classes, or a class for each position") {
  CHECK(made("y", whole_target({0, 1, 1, 0}, {2, 2})).values.shape() == Shape{2});
  CHECK(made("y", whole_target({0, 2, 1, 0}, {2, 2})).values.shape() == Shape{2, 2});
  CHECK(made("y", whole_target({0, 1, 1, 0}, {2, 2}), "next_token").values.shape() == Shape{2, 2});
  CHECK(made("y", whole_target({0, 1, 1, 0}, {2, 1, 2}), "segmentation").classes() == 2);
}

TEST_CASE("values that a task cannot have are refused with the task that can") {
  const auto refusal = [](const Array& array, const std::string& task = "") {
    return message_of(Fault::file, [&] { made("y", array, task); });
  };
  CHECK_THAT(refusal(float_target({0, 0.5f}, {2})),
             Contains("row 1") && Contains("--task regression"));
  CHECK_THAT(refusal(float_target({1, 0, 1, 1}, {2, 2})),
             Contains("row 1 is not one-hot") && Contains("--task multi_label"));
  CHECK_THAT(refusal(float_target({0, 1, 1, 2}, {2, 2}), "multi_label"),
             Contains("row 1 has 2") && Contains("0 or 1"));
  CHECK_THAT(refusal(whole_target({0, 0, 0, -1}, {2, 1, 2}), "segmentation"),
             Contains("label -1 of row 1"));
  CHECK_THAT(refusal(float_target({}, {0})), Contains("[0]"));
}

TEST_CASE("a set has the targets of its files, and the options of their outputs") {
  const Folder folder;
  write_npy(folder / "x.npy", Array(DType::float32, {10, 2}));
  write_npy(folder / "y_boxes.npy", Array(DType::float32, {10, 4}));
  write_npy(folder / "y_kind.npy", Array(DType::int64, {10}));
  DataOptions options;
  options.data_dir = folder.text();
  options.outputs["boxes"].loss = LossName{"l1"};
  options.outputs["boxes"].weight = 0.5;
  const Dataset set = load_dataset("npy", options);
  REQUIRE(set.targets.size() == 2);
  CHECK(set.targets[0].name == "y_boxes");
  CHECK(set.targets[0].loss == "l1");
  CHECK(set.targets[0].weight == 0.5);
  CHECK(set.batch(set.test, 0, 2).targets[0].shape() == Shape{2, 4});
  options.outputs["box"] = {};
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("npy", options); }),
             Contains("no target y_box") && Contains("y_boxes, y_kind"));
  write_npy(folder / "y_kind.npy", Array(DType::int64, {9}));
  options.outputs.erase("box");
  CHECK_THAT(message_of(Fault::file, [&] { load_dataset("npy", options); }),
             Contains("y_boxes.npy has 10 rows, but") && Contains("has 9"));
}

TEST_CASE("a class that is ignored is none of the classes of a segmentation") {
  DataOptions options = options_for("segmentation");
  const Array labels = whole_target({0, 255, 2, 1}, {1, 2, 2});
  CHECK(make_target("y", "f", labels, options).classes() == 256);
  options.ignore_class = 255;
  const Target target = make_target("y", "f", labels, options);
  CHECK(target.classes() == 3);
  const auto values = target.values.span<std::int64_t>();
  CHECK(std::vector(values.begin(), values.end()) ==
        std::vector<std::int64_t>{0, ignored_label, 2, 1});
  CHECK_THAT(message_of(Fault::file,
                        [&] {
                          make_target("y", "f", whole_target({0, -1}, {1, 1, 2}), options);
                        }),
             Contains("label -1 of row 0 is out of range"));
  CHECK_THAT(message_of(Fault::file,
                        [&] {
                          make_target("y", "f", whole_target({255, 255}, {1, 1, 2}), options);
                        }),
             Contains("all labels are 255"));
  options.ignore_class = -1;
  CHECK(make_target("y", "f", whole_target({0, -1}, {1, 1, 2}), options).classes() == 1);
}

TEST_CASE("an ignored class needs a segmentation, and a set with one keeps its rows") {
  const Folder folder;
  write_npy(folder / "x.npy", Array(DType::float32, {10, 1, 1, 2}));
  std::vector<std::int64_t> labels(20, 1);
  labels[3] = 255;
  write_npy(folder / "y.npy", whole_target(labels, {10, 1, 2}));
  DataOptions options = options_for("segmentation");
  options.data_dir = folder.text();
  options.ignore_class = 255;
  const Dataset set = load_dataset("npy", options);
  CHECK(set.labels().classes() == 2);
  CHECK(set.row_count() == 10);
  options.task = {};
  CHECK_THAT(message_of(Fault::config, [&] { load_dataset("npy", options); }),
             Contains("ignore_class is for task segmentation") && Contains("y classification"));
}
