// SPDX-License-Identifier: Apache-2.0
// Command-line flags of the settings, declared by a loop over the settings themselves.
#include "base/limits.hpp"
#include "base/text.hpp"
#include "driver/settings.hpp"
#include "ir/allowed_operators.hpp"
#include "mase/cli.hpp"
#include "sandbox/policy.hpp"

namespace mase::cli {
namespace {

std::string help_text(const FieldInfo& info) {
  const std::string bounds = info.bounds_text();
  return info.doc + (bounds.empty() ? "" : " (" + bounds + ")") + " [" + info.default_value + "]";
}

bool is_list(const FieldInfo& info) { return info.type == "list of integer"; }

/// Whether a whole number is a value: "integer", or "integer or table".
bool takes_integer(const FieldInfo& info) {
  return !is_list(info) && info.type.find("integer") != std::string::npos;
}

/// Whether the value is one number or a list of numbers.
bool takes_numbers(const FieldInfo& info) {
  return info.type == data::ChannelNumbers::field_type() || is_list(info);
}

std::string value_name(const FieldInfo& info) {
  if (info.type == "integer" || is_list(info)) return "N";
  if (info.type == "number") return "X";
  if (info.type == data::ImageSize::field_type()) return "N|HxW";
  if (takes_numbers(info)) return "X[,X...]";
  if (info.type == data::ColumnNames::field_type()) return "NAME[,NAME...]";
  return "TEXT";
}

/// The numbers between commas, in brackets as in TOML or not. Any other part stays a text, which
/// the reader of the setting refuses.
Tree numbers_in(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  Tree list = Tree::list();
  for (const std::string& part : split(text, ',')) {
    const auto whole = parse_int(trim(part));
    const auto value = parse_double(trim(part));
    list.push_back(whole ? Tree(*whole) : value ? Tree(*value) : Tree(part));
  }
  return list;
}

/// Converts a setting's text to its type, so that one reader checks file and command line.
Tree typed(const FieldInfo& info, const std::string& text) {
  if (info.optional && text == "NA") return Tree("NA");
  if (takes_integer(info))
    if (const auto value = parse_int(text)) return Tree(*value);
  if (is_list(info)) return numbers_in(text);
  if (info.type == "number" || takes_numbers(info)) {
    if (const auto value = parse_int(text)) return Tree(*value);
    if (const auto value = parse_double(text)) return Tree(*value);
  }
  if (takes_numbers(info) && text.find_first_of(",[") != std::string::npos) return numbers_in(text);
  if (info.type == "bool" && (text == "true" || text == "false")) return Tree(text == "true");
  return Tree(text);
}

}  // namespace

void add_fields(CLI::App& command, const std::vector<FieldInfo>& infos,
                const std::shared_ptr<SettingTexts>& texts, const std::string& group) {
  for (const FieldInfo& info : infos) {
    const bool positional = info.name == "model" || info.name == "dataset";
    std::string flags = join(driver::setting_flags(info.name), ",");
    if (positional) flags += "," + info.name;
    const auto store = [texts, name = info.name](const std::string& text) {
      (*texts)[name] = text;
    };
    CLI::Option* option = nullptr;
    if (info.type == "bool") {
      // A setting that is on by default, or open, is switched off by "--no-...".
      if (info.default_value != "false")
        flags += ",!--no-" + driver::setting_flags(info.name).front().substr(2);
      option = command.add_flag_function(
          flags, [store](std::int64_t count) { store(count > 0 ? "true" : "false"); },
          help_text(info));
    } else {
      option = command.add_option_function<std::string>(flags, store, help_text(info))
                   ->type_name(value_name(info));
    }
    const bool aside = positional || info.rare;
    option->group(group == hidden ? group : (aside ? further : "") + group);
  }
}

void add_settings(CLI::App& command, driver::CommonRequest& request,
                  const std::shared_ptr<SettingTexts>& texts) {
  command.add_option("--config", request.config_path, "configuration file (TOML)")
      ->type_name("FILE");
  command.add_flag("--json", request.json, "print one JSON document to stdout");
  command.add_flag("-q,--quiet", request.quiet, "print results and warnings only");
  command
      .add_flag("-v,--verbose", request.verbose,
                "also print the settings, and all that the passes found")
      ->group(std::string(further) + "Options");
  command
      .add_flag("--settings", request.all_settings,
                "print every setting, not only those that differ from their defaults")
      ->group(std::string(further) + "Options");
  std::vector<FieldInfo> shown, others;
  for (FieldInfo& info : driver::describe_settings())
    (driver::setting_matters(info.name, command.get_name()) ? shown : others)
        .push_back(std::move(info));
  add_fields(command, shown, texts, "Settings (also keys of the configuration file)");
  add_fields(command, others, texts, hidden);
}

Tree fields_from(const std::vector<FieldInfo>& infos, const SettingTexts& texts) {
  Tree out = Tree::dict();
  for (const FieldInfo& info : infos) {
    const auto found = texts.find(info.name);
    if (found == texts.end()) continue;
    Tree value = typed(info, found->second);
    value.where.file = value.key_where.file = driver::setting_flags(info.name).front();
    if (value.is_list())
      for (Tree& item : value.as_list()) item.where.file = value.where.file;
    out[info.name] = std::move(value);
  }
  return out;
}

Tree settings_from(const SettingTexts& texts) {
  return fields_from(driver::describe_settings(), texts);
}

namespace {

/// --text, and what it is made with where this is not a setting of data sets.
void add_texts(CLI::App& command, driver::ModelInput& input) {
  const bool has_settings = command.get_option_no_throw("--tokenizer") != nullptr;
  const std::string texts = std::string(further) + "Texts";
  auto* option = command
                     .add_option("--text", input.texts,
                                 "sentence that the tokenizer of the model's folder turns into the "
                                 "example input")
                     ->type_name("TEXT")
                     ->allow_extra_args(false);
  if (command.get_option_no_throw("--config")) option->group(texts);  // its help is long enough
  if (has_settings) return;
  command
      .add_option("--tokenizer", input.tokenizer,
                  "tokenizer.json of Hugging Face for --text, or a folder that has it [MODEL]")
      ->type_name("FILE")
      ->group(texts);
  command
      .add_option("--max-token-len", input.max_token_len,
                  "tokens of each --text, which is padded or cut [those of the longest]")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group(texts);
}

}  // namespace

void add_model_input(CLI::App& command, driver::ModelInput& input) {
  command
      .add_option("--input", input.inputs,
                  "example input, one per argument of the model, either in order or all by name")
      ->type_name("[NAME=]FILE.npy")
      ->allow_extra_args(false);
  command
      .add_option("--input-shape", input.input_shapes,
                  "generate one: zeros, as in 4,3,32,32, or random, as in 2,12:int64:0..30522")
      ->type_name("[NAME=]SHAPE[:DTYPE[:LOW..HIGH]]")
      ->allow_extra_args(false);
  add_texts(command, input);
  const std::string leaves = std::string(further) + "Import";
  if (!command.get_option_no_throw("--submodule"))  // elsewhere it is a setting
    command.add_option("--submodule", input.submodule, "part of the model file to load")
        ->type_name("NAME")
        ->group(leaves);
  command
      .add_option("--fix", input.fixed,
                  "constant for an argument of the model, as JSON; overrides [cf_args]")
      ->type_name("NAME=VALUE")
      ->group(leaves)
      ->allow_extra_args(false);
  command
      .add_option("--leaf-module", input.leaf_modules, "class to keep as one node, as torch.nn's")
      ->type_name("CLASS")
      ->group(leaves)
      ->allow_extra_args(false);
  command.add_option("--leaf-function", input.leaf_functions, "function to keep as one node")
      ->type_name("NAME")
      ->group(leaves)
      ->allow_extra_args(false);
  command
      .add_option("--custom-ops", input.custom_ops,
                  "file with [custom_ops.NAME] tables, as in a configuration")
      ->type_name("FILE.toml")
      ->group(leaves)
      ->allow_extra_args(false);
  command
      .add_option("--max-operators", input.most_operators,
                  "maximum number of operators after loops are unrolled [200000]")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000'000}))
      ->group(leaves);
  add_limits(command);
}

namespace {

/// --sandbox; its mode takes effect once the command is parsed, whether or not it is given.
void add_sandbox(CLI::App& command, const std::string& group) {
  auto mode = std::make_shared<std::string>(sandbox::default_mode);
  command
      .add_option("--sandbox", *mode,
                  "before a model is read, drop the rights that the command does not need: auto, "
                  "as far as the kernel supports it; require, or else fail; off, never")
      ->type_name("MODE")
      ->check(CLI::IsMember({"auto", "require", "off"}))
      ->capture_default_str()
      ->group(group);
  command.parse_complete_callback([mode] { sandbox::choose(sandbox::parse_mode(*mode)); });
}

}  // namespace

void add_allow_external(CLI::App& command, driver::HardwareRequest& request) {
  command
      .add_flag("--allow-external", request.allow_external,
                "let tools read SystemVerilog that came with the checkpoint; such code can run any "
                "program")
      ->group(std::string(further) + "Options");
}

void add_processes(CLI::App& command, int& nproc, double& timeout, const std::string& help) {
  command.add_option("--nproc", nproc, help)->check(CLI::Range(1, 1024))->type_name("N");
  command
      .add_option("--timeout", timeout,
                  "seconds that a process waits for another one (1 .. 1000000) [600]")
      ->check(CLI::Range(1.0, 1e6).description(""))
      ->type_name("X");
}

void add_limits(CLI::App& command) {
  const std::string limits = std::string(further) + "Limits";
  command
      .add_option_function<double>("--max-seconds", limit_seconds,
                                   "stop after this time with exit code 3")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->group(limits);
  command
      .add_option_function<double>("--max-memory", limit_memory,
                                   "stop with exit code 3 if more memory than this is needed")
      ->type_name("GIB")
      ->check(CLI::PositiveNumber)
      ->group(limits);
  add_sandbox(command, limits);
  add_allowed_operators(command);
}

void add_allowed_operators(CLI::App& command) {
  command
      .add_option_function<std::vector<std::string>>(
          "--allow-op", ir::allow_operators,
          "further operator that the model may run; for models that you trust")
      ->type_name("NAME")
      ->group(std::string(further) + "Limits")
      ->allow_extra_args(false);
}

}  // namespace mase::cli
