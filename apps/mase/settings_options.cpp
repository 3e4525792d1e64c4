// Command-line flags of the settings, declared by a loop over the settings themselves.
#include "base/text.hpp"
#include "driver/settings.hpp"
#include "mase/cli.hpp"

namespace mase::cli {
namespace {

std::string help_text(const FieldInfo& info) {
  const std::string bounds = info.bounds_text();
  return info.doc + (bounds.empty() ? "" : " (" + bounds + ")") + " [" + info.default_value + "]";
}

std::string value_name(const FieldInfo& info) {
  if (info.type == "integer") return "N";
  if (info.type == "number") return "X";
  return "TEXT";
}

/// A setting's text as the type it has: so the same reader checks file and command line.
Tree typed(const FieldInfo& info, const std::string& text) {
  if (info.optional && text == "NA") return Tree("NA");
  if (info.type == "integer")
    if (const auto value = parse_int(text)) return Tree(*value);
  if (info.type == "number") {
    if (const auto value = parse_int(text)) return Tree(*value);
    if (const auto value = parse_double(text)) return Tree(*value);
  }
  if (info.type == "bool" && (text == "true" || text == "false")) return Tree(text == "true");
  return Tree(text);
}

}  // namespace

void add_settings(CLI::App& command, driver::CommonRequest& request,
                  std::shared_ptr<SettingTexts> texts) {
  command.add_option("--config", request.config_path, "configuration file (TOML)")
      ->type_name("FILE");
  command.add_flag("--json", request.json, "print one JSON document to stdout");
  command.add_flag("-q,--quiet", request.quiet, "no settings table and no progress");
  for (const FieldInfo& info : driver::describe_settings()) {
    std::string flags = join(driver::setting_flags(info.name), ",");
    const bool positional = info.name == "model" || info.name == "dataset";
    if (positional) flags += "," + info.name;
    const auto store = [texts, name = info.name](const std::string& text) {
      (*texts)[name] = text;
    };
    CLI::Option* option = nullptr;
    if (info.type == "bool")
      option = command.add_flag_callback(
          flags, [texts, name = info.name] { (*texts)[name] = "true"; }, help_text(info));
    else
      option = command.add_option_function<std::string>(flags, store, help_text(info))
                   ->type_name(value_name(info));
    option->group(positional ? "Model and data" : "Settings (also keys of the configuration file)");
  }
}

Tree settings_from(const SettingTexts& texts) {
  Tree out = Tree::dict();
  for (const FieldInfo& info : driver::describe_settings()) {
    const auto found = texts.find(info.name);
    if (found == texts.end()) continue;
    Tree value = typed(info, found->second);
    value.where.file = value.key_where.file = driver::setting_flags(info.name).front();
    out[info.name] = std::move(value);
  }
  return out;
}

void add_model_input(CLI::App& command, driver::ModelInput& input) {
  command.add_option("--input", input.inputs, "example input, once per argument of the model")
      ->type_name("FILE.npy")
      ->allow_extra_args(false);
  command
      .add_option("--input-shape", input.input_shapes,
                  "use zeros of this shape instead, for example 4,3,32,32")
      ->type_name("SHAPE")
      ->allow_extra_args(false);
  command
      .add_option("--leaf-module", input.leaf_modules, "class kept as one node beside torch.nn's")
      ->type_name("CLASS")
      ->allow_extra_args(false);
  command.add_option("--leaf-function", input.leaf_functions, "function kept as one node")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

}  // namespace mase::cli
