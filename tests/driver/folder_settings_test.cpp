// SPDX-License-Identifier: Apache-2.0
// Settings of data that come from the folder of a model.
#include "driver/folder_settings.hpp"

#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "driver/settings.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::driver;
using Catch::Contains;
using mase::test::message_of;
using mase::test::TemporaryFolder;

namespace {

void write(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  write_file(folder.file(name), text);
}

/// The settings of a run on images of a model whose folder has this preprocessor_config.json.
data::DataOptions options_of(const std::string& preprocessor, const SettingSources& sources = {}) {
  const TemporaryFolder folder;
  write(folder, "config.json", "{}");
  write(folder, "preprocessor_config.json", preprocessor);
  Settings settings;
  settings.general.dataset = "images";
  follow_folder(folder.path(), sources, settings);
  return settings.data;
}

}  // namespace

TEST_CASE("images are prepared as the folder of a model says") {
  // What ViTImageProcessor of transformers writes.
  const data::DataOptions vit = options_of(
      R"({"do_normalize": true, "do_rescale": true, "do_resize": true, "resample": 2,
          "image_mean": [0.5, 0.4, 0.3], "image_std": [0.1, 0.2, 0.3], "rescale_factor": 0.01,
          "image_processor_type": "ViTImageProcessorFast", "size": {"height": 32, "width": 48}})");
  CHECK(vit.image_size.write_field() == Tree("32x48"));
  CHECK(vit.image_filter == "bilinear");
  CHECK(vit.pixel_scale == 0.01);
  CHECK(vit.pixel_mean.numbers == std::vector{0.5, 0.4, 0.3});
  CHECK(vit.pixel_std.numbers == std::vector{0.1, 0.2, 0.3});
  const data::DataOptions deit = options_of(
      R"({"do_center_crop": true, "crop_size": 224, "size": 256, "resample": 3,
          "do_normalize": false, "image_processor_type": "DeiTImageProcessor"})");
  CHECK(deit.image_size.write_field() == Tree("256x256:224"));
  CHECK(deit.image_filter == "bicubic");
  CHECK(deit.pixel_scale == 1.0 / 255);
  CHECK(!deit.pixel_mean.is_set());
  // 224 / 0.875 = 256; from 384 on, nothing is cut.
  const std::string rest = R"(, "do_normalize": false, "crop_pct": 0.875,
                               "feature_extractor_type": "ConvNextFeatureExtractor"})";
  CHECK(options_of(R"({"size": {"shortest_edge": 224})" + rest).image_size.write_field() ==
        Tree("256:224"));
  CHECK(options_of(R"({"size": 384)" + rest).image_size.write_field() == Tree("384x384"));
  // CLIP's shorter side.
  CHECK(options_of(R"({"size": 224, "do_center_crop": true, "crop_size": {"height": 224, "width":
                       220}, "do_rescale": false, "do_normalize": false,
                       "image_processor_type": "CLIPImageProcessor"})")
            .image_size.write_field() == Tree("224:224x220"));
}

TEST_CASE("settings that the user gives win over those of a folder") {
  SettingSources sources;
  sources.command_line["pixel_mean"] = 0.5;
  const data::DataOptions options = options_of(
      R"({"size": 8, "image_mean": [0.1], "image_std": [0.2], "rescale_factor": 0.5})", sources);
  CHECK(options.image_size.write_field() == Tree("8x8"));
  CHECK(!options.pixel_scale);
  CHECK(!options.pixel_std.is_set());
  CHECK_THAT(message_of(Fault::file, [] { options_of(R"({"size": 8})"); }),
             Contains("preprocessor_config.json: 'image_mean' is not a list of numbers"));
  CHECK_THAT(message_of(Fault::file, [] { options_of(R"({"size": {"height": 8, "width": 0}})"); }),
             Contains("'size' has no size 'width'"));
}

TEST_CASE("classes get the order of the outputs of a model's folder") {
  const TemporaryFolder folder;
  write(folder, "config.json", R"({"id2label": {"0": "Pos", "1": "other", "2": "neg"}})");
  const auto ordered = [&](const std::string& first, const std::string& second) {
    write(folder, "rows.csv",
          "x,label\n1," + first + "\n2," + second + "\n3," + second + "\n4," + second + "\n5," +
              first + "\n");
    Settings settings;
    settings.general.dataset = "csv";
    settings.data.data_dir = folder.file("rows.csv");
    const data::Dataset dataset = load_session_data(folder.path(), settings);
    const auto labels = dataset.labels().values.span<std::int64_t>();
    return std::pair(std::vector(labels.begin(), labels.end()), settings.data.classes.names);
  };
  using Labels = std::vector<std::int64_t>;
  using Names = std::vector<std::string>;
  CHECK(ordered("neg", "pos") == std::pair(Labels{2, 0, 0, 0, 2}, Names{"Pos", "other", "neg"}));
  CHECK(ordered("0", "1") == std::pair(Labels{0, 1, 1, 1, 0}, Names{}));
  CHECK(ordered("cat", "neg") == std::pair(Labels{0, 1, 1, 1, 0}, Names{}));  // with a warning
  write(folder, "config.json", R"({"id2label": {"0": "LABEL_1", "1": "LABEL_0"}})");
  CHECK(ordered("LABEL_0", "LABEL_1") == std::pair(Labels{0, 1, 1, 1, 0}, Names{}));
}

TEST_CASE("labels are for the logits of a model's folder, or for the output that a table names") {
  const TemporaryFolder folder;
  write(folder, "rows.csv", "x,label\n1,a\n2,b\n3,a\n4,b\n5,a\n");
  const auto target = [&](const std::string& architecture, const std::string& output = "") {
    write(folder, "config.json", R"({"architectures": [")" + architecture + "\"]}");
    Settings settings;
    settings.general.dataset = "csv";
    settings.data.data_dir = folder.file("rows.csv");
    if (!output.empty()) settings.data.outputs[output];
    const data::Dataset dataset = load_session_data(folder.path(), settings);
    for (const auto& [name, own] : settings.data.outputs)  // so that a checkpoint remembers
      CHECK("y_" + name == dataset.targets.front().name);
    return dataset.targets.front().name;
  };
  CHECK(target("ViTForImageClassification") == "y");
  CHECK(target("DeiTForImageClassificationWithTeacher") == "y_0");
  CHECK(target("DeiTForImageClassificationWithTeacher", "2") == "y_2");
  CHECK(target("Unknown", "boxes") == "y_boxes");
}
