// SPDX-License-Identifier: Apache-2.0
// Reads preprocessor_config.json by the rules of transformers' image processors.
#include "huggingface/preprocessing.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "huggingface/config.hpp"

namespace mase::huggingface {
namespace {

constexpr std::string_view file_name = "preprocessor_config.json";

/// The processor without its ending: "ViT" for ViTImageProcessor, ViTImageProcessorFast and
/// ViTFeatureExtractor.
std::string processor_of(const Config& file) {
  const std::string name =
      file.text("image_processor_type", file.text("feature_extractor_type", ""));
  return name.substr(0, std::min(name.find("ImageProcessor"), name.find("FeatureExtractor")));
}

std::int64_t side(const Config& file, const char* key, const Tree& table, const char* name) {
  const Tree* value = table.find(name);
  if (!value || !value->is_int() || value->as_int() < 1)
    file.wrong(key, std::string("has no size '") + name + "'");
  return value->as_int();
}

/// One number, a table of height and width, or the shorter side. nullopt for other tables.
std::optional<Sides> sides_of(const Config& file, const char* key, bool number_is_square) {
  const Tree* value = file.find(key);
  if (!value) return std::nullopt;
  if (!value->is_dict()) {
    const std::int64_t number = file.size(key);
    return Sides{number, number_is_square ? number : 0};
  }
  if (value->find("height") && value->find("width"))
    return Sides{side(file, key, *value, "height"), side(file, key, *value, "width")};
  if (value->find("shortest_edge") && value->size() == 1)
    return Sides{side(file, key, *value, "shortest_edge"), 0};
  return std::nullopt;
}

/// ConvNeXt's processor, which ResNet has as well: below 384 pixels, the middle is kept of an image
/// that is larger by 1 / crop_pct.
void read_cropped_size(const Config& file, Preprocessing& out) {
  constexpr std::int64_t least_whole = 384;
  const auto size = sides_of(file, "size", false);
  if (!size || size->width != 0) return;
  const double share = file.number("crop_pct", 224.0 / 256);
  if (!(share > 0 && share <= 1)) file.wrong("crop_pct", "is not a share above 0");
  if (size->height >= least_whole) {
    out.size = Sides{size->height, size->height};
    return;
  }
  out.size = Sides{static_cast<std::int64_t>(static_cast<double>(size->height) / share), 0};
  out.middle = Sides{size->height, size->height};
}

void read_size(const Config& file, Preprocessing& out) {
  const std::string processor = processor_of(file);
  if (!file.truth("do_resize", true)) {
    // as they are
  } else if (processor == "ConvNext") {
    read_cropped_size(file, out);
  } else {
    out.size = sides_of(file, "size", processor != "CLIP");
  }
  if (file.truth("do_resize", true) && !out.size)
    out.notes.push_back("'size' is not read; image_size (--image-size) gives the size");
  if (!file.truth("do_center_crop", false)) return;
  const auto middle = sides_of(file, "crop_size", true);
  if (out.size && middle && middle->width > 0)
    out.middle = middle;
  else
    out.notes.push_back("'crop_size' is not read; image_size = \"SIZE:MIDDLE\" gives it");
}

void read_filter(const Config& file, Preprocessing& out) {
  constexpr std::int64_t bilinear = 2, bicubic = 3;
  const std::int64_t usual = processor_of(file) == "DeiT" ? bicubic : bilinear;
  const std::int64_t filter = file.integer("resample", usual);
  out.bicubic = filter == bicubic;
  if (out.size && filter != bilinear && filter != bicubic)
    out.notes.push_back("'resample' is " + std::to_string(filter) +
                        ", and images are resized by the bilinear filter instead");
}

std::vector<double> channel_numbers(const Config& file, const char* key) {
  const Tree* value = file.find(key);
  std::vector<double> numbers;
  if (value && value->is_number()) return {value->as_double()};
  if (!value || !value->is_list() || value->size() == 0)
    file.wrong(key, "is not a list of numbers");
  for (const Tree& number : value->as_list()) {
    if (!number.is_number()) file.wrong(key, "is not a list of numbers");
    numbers.push_back(number.as_double());
  }
  return numbers;
}

void read_numbers(const Config& file, Preprocessing& out) {
  if (file.truth("do_rescale", true)) out.scale = file.number("rescale_factor", 1.0 / 255);
  if (!file.truth("do_normalize", true)) return;
  out.mean = channel_numbers(file, "image_mean");
  out.deviation = channel_numbers(file, "image_std");
}

Config config_of(const std::string& folder) {
  return Config((std::filesystem::path(folder) / "config.json").string());
}

/// Whether it is a name that transformers gives to a class without one.
bool is_numbered(const std::string& name) {
  return name.starts_with("LABEL_") && parse_int(name.substr(6));
}

}  // namespace

std::optional<Preprocessing> preprocessing_of(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / file_name).string();
  if (!std::filesystem::exists(path)) return std::nullopt;
  const Config file(path);
  Preprocessing out;
  out.path = path;
  read_size(file, out);
  read_filter(file, out);
  read_numbers(file, out);
  return out;
}

std::vector<std::string> class_names_of(const std::string& folder) {
  const Config config = config_of(folder);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < config.labels(); ++i) {
    auto name = config.label(i);
    if (!name) return {};
    names.push_back(std::move(*name));
  }
  return std::ranges::all_of(names, is_numbered) ? std::vector<std::string>{} : names;
}

std::int64_t class_count_of(const std::string& folder) { return config_of(folder).labels(); }

}  // namespace mase::huggingface
