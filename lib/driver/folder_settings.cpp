// SPDX-License-Identifier: Apache-2.0
// Takes settings of data from the folder of a model.
#include "driver/folder_settings.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"
#include "data/class_order.hpp"
#include "driver/text_settings.hpp"
#include "huggingface/import.hpp"
#include "huggingface/preprocessing.hpp"

namespace mase::driver {
namespace {

bool is_one_given(const SettingSources& sources, const std::vector<std::string>& settings) {
  return std::ranges::any_of(settings, [&](const auto& name) { return sources.give(name); });
}

data::ImageSize image_size(const huggingface::Preprocessing& asked) {
  data::ImageSize size;
  if (asked.size) {
    size.height = asked.size->height;
    size.width = asked.size->width;
  }
  if (asked.middle) {
    size.kept_height = asked.middle->height;
    size.kept_width = asked.middle->width;
  }
  return size;
}

/// "name = value" of the settings with these names.
std::string assignments(const data::DataOptions& options, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for_each_field<data::DataOptions>([&](const auto& field) {
    if (std::ranges::find(names, field.name) == names.end()) return;
    const Tree value = field_detail::write_value(options.*(field.member));
    if (value != Tree("NA")) parts.push_back(std::string(field.name) + " = " + to_json(value, -1));
  });
  return join(parts, ", ");
}

/// Whether the classes are the numbers of the outputs.
bool are_numbers(const std::vector<std::string>& classes) {
  return classes == data::numbered_classes(static_cast<std::int64_t>(classes.size()));
}

/// Size and pixels of images, unless a checkpoint has given them.
void follow_image_model(const std::string& model, const SettingSources& sources,
                        Settings& settings) {
  const data::DatasetRow* const row = data::find_dataset(*settings.general.dataset);
  if (!row || row->name != "images") return;
  const auto asked = huggingface::preprocessing_of(model);
  if (!asked) return;
  data::DataOptions& data = settings.data;
  std::vector<std::string> taken;
  const std::vector<std::string> size_settings{"image_size", "image_filter"};
  if (!is_one_given(sources, size_settings) && !data.image_size.is_set()) {
    data.image_size = image_size(*asked);
    data.image_filter = asked->bicubic ? "bicubic" : "bilinear";
    taken = size_settings;
  }
  if (!is_one_given(sources, data::pixel_options()) && given_pixel_options(data).empty()) {
    data.pixel_scale = asked->scale;
    data.pixel_mean.numbers = asked->mean;
    data.pixel_std.numbers = asked->deviation;
    std::ranges::copy(data::pixel_options(), std::back_inserter(taken));
  }
  if (!taken.empty()) log::info("taken from " + asked->path + ": " + assignments(data, taken));
  for (const std::string& note : asked->notes) log::warning(asked->path + ": " + note);
}

/// Warns if the outputs have no names that could tell which of them the data's classes are.
void check_unnamed_classes(const std::string& model, const std::string& dataset,
                           const std::vector<std::string>& classes) {
  const std::int64_t count = huggingface::class_count_of(model);
  if (are_numbers(classes) || count <= static_cast<std::int64_t>(classes.size())) return;
  log::warning(model + " has " + std::to_string(count) + " classes without names, and data set " +
               dataset + " has " + std::to_string(classes.size()) + ": " + join(classes, ", ") +
               "; output i is taken for class i of the data, and classes (--classes) with a name "
               "for each output, also for those that the data does not have, gives another order");
}

void follow_class_names(const std::string& model, Settings& settings, data::Dataset& dataset) {
  if (settings.data.classes.is_set() || !huggingface::is_model_folder(model)) return;
  const std::vector<std::string> names = huggingface::class_names_of(model);
  if (dataset.targets.size() != 1) return;
  const data::Target& target = dataset.targets.front();
  if (target.task != "classification" || target.class_names == names) return;
  if (names.empty()) {
    check_unnamed_classes(model, dataset.name, target.class_names);
  } else if (data::places_of(target.class_names, names)) {
    settings.data.classes.names = names;
    data::order_classes(dataset, names);
    log::info("classes are those of " + model + ", in this order: " + join(names, ", "));
  } else if (!are_numbers(target.class_names)) {
    log::warning("the classes of data set " + dataset.name + " are " +
                 join(target.class_names, ", ") + ", and those of " + model + " are " +
                 join(names, ", ") +
                 "; output i is taken for class i of the data, and classes (--classes) gives "
                 "another order");
  }
}

/// Labels are for the result that transformers compares with them.
void follow_logits(const std::string& model, Settings& settings, data::Dataset& dataset) {
  if (dataset.targets.size() != 1 || dataset.targets.front().name != "y") return;
  if (!huggingface::is_model_folder(model) || !huggingface::has_logits_first(model)) return;
  settings.data.outputs["0"];
  dataset.targets.front().name = "y_0";
  log::info("labels are compared with output 0 of " + model +
            ", its logits; [outputs.NAME] chooses another one");
}

/// A checkpoint has the names of the classes of its texts, unless these are the numbers of outputs.
void keep_class_names(const data::Dataset& dataset, Settings& settings) {
  const data::DatasetRow* const row = data::find_dataset(*settings.general.dataset);
  if (!row || row->name != "text" || settings.data.classes.is_set() || dataset.targets.size() != 1)
    return;
  const data::Target& target = dataset.targets.front();
  if (target.task == "classification" && !are_numbers(target.class_names))
    settings.data.classes.names = target.class_names;
}

}  // namespace

void follow_folder(const std::string& model, const SettingSources& sources, Settings& settings) {
  if (!settings.general.dataset || !huggingface::is_model_folder(model)) return;
  follow_text_model(model, sources, settings);
  follow_image_model(model, sources, settings);
}

data::Dataset load_session_data(const std::string& model, Settings& settings) {
  data::Dataset dataset = data::load_dataset(settings.general.dataset.value(), settings.data);
  keep_token_length(dataset, settings);
  follow_class_names(model, settings, dataset);
  keep_class_names(dataset, settings);
  follow_logits(model, settings, dataset);
  return dataset;
}

}  // namespace mase::driver
