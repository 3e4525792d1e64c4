// SPDX-License-Identifier: Apache-2.0
// Reading a configuration file: each table has one reader, and all problems are reported together.
#include "driver/config_file.hpp"

#include <algorithm>
#include <filesystem>

#include "base/log.hpp"
#include "config/toml.hpp"
#include "driver/all_passes.hpp"
#include "driver/moved_project.hpp"
#include "driver/project.hpp"
#include "driver/store/stored_points.hpp"

namespace mase::driver {
namespace {

struct TransformTable {
  std::string style = "graph";
  static constexpr auto fields() {
    return std::tuple{
        Field{"style", &TransformTable::style, "what passes work on"}.one_of("graph", "module")};
  }
};

std::vector<passes::PassCall> named_passes(const Tree& table, Diagnostics& diagnostics) {
  std::vector<passes::PassCall> calls;
  if (!table.is_dict()) {
    diagnostics.error(table.where, "'passes' must hold tables [passes.NAME]");
    return calls;
  }
  for (const auto& [name, options] : table.as_dict()) {
    if (options.is_dict())
      calls.push_back({name, options, options.key_where});
    else
      diagnostics.error(options.where, "'passes." + name + "' must be a table");
  }
  return calls;
}

std::vector<passes::PassCall> listed_passes(const Tree& list, Diagnostics& diagnostics) {
  std::vector<passes::PassCall> calls;
  if (!list.is_list()) {
    diagnostics.error(list.where,
                      "'pass' must be an array of tables, [[pass]] with run = \"NAME\"; did you "
                      "mean [passes.NAME]?");
    return calls;
  }
  for (const Tree& entry : list.as_list()) {
    const Tree* run = entry.find("run");
    if (!run || !run->is_string()) {
      diagnostics.error(entry.where, "each [[pass]] needs run = \"NAME\"");
      continue;
    }
    Tree options = Tree::dict();
    options.where = entry.where;
    for (const auto& [key, value] : entry.as_dict())
      if (key != "run") options[key] = value;
    calls.push_back({run->as_string(), std::move(options), run->where});
  }
  return calls;
}

/// Reads [transform.evaluate], and checks the rest of the table [transform].
std::optional<search::BasicEvaluation> read_evaluation(const Tree& file, Diagnostics& diagnostics) {
  const Tree* table = file.find("transform");
  if (!table) return std::nullopt;
  TransformTable transform;
  read_fields(*table, transform, diagnostics, {"evaluate"});
  if (transform.style == "module")
    log::warning(table->find("style")->where.text() +
                 ": style = \"module\" has no effect: passes always work on the graph, where both "
                 "layers and functions are nodes");
  const Tree* wanted = table->find("evaluate");
  if (!wanted) return std::nullopt;
  search::BasicEvaluation evaluation;
  read_fields(*wanted, evaluation, diagnostics);
  return evaluation;
}

}  // namespace

std::vector<passes::PassCall> read_pipeline(const Tree& file, const ir::CustomOps& own,
                                            Diagnostics& diagnostics) {
  const Tree* named = file.find("passes");
  const Tree* listed = file.find("pass");
  if (named && listed)
    diagnostics.error(listed->where,
                      "give passes either as [passes.NAME] or as [[pass]], not both");
  std::vector<passes::PassCall> calls;
  if (named) calls = named_passes(*named, diagnostics);
  if (listed && !named) calls = listed_passes(*listed, diagnostics);
  passes::check_calls(calls, all_passes(), diagnostics, own);
  return calls;
}

std::map<std::string, Tree> read_concrete_arguments(const Tree& file) {
  std::map<std::string, Tree> out;
  if (const Tree* table = file.find("cf_args"); table && table->is_dict())
    for (const auto& [name, value] : table->as_dict()) out[name] = value;
  return out;
}

namespace {

/// Uses a model file next to the configuration if there is one, otherwise the path as it is.
void find_model_beside(const std::string& path, Tree& file) {
  const Tree* model = file.find("model");
  if (!model || !model->is_string()) return;
  const auto beside = std::filesystem::path(path).parent_path() / model->as_string();
  std::error_code error;
  if (!std::filesystem::is_regular_file(beside, error)) return;
  Tree found = beside.string();
  found.where = model->where;
  found.key_where = model->key_where;
  file["model"] = std::move(found);
}

/// Folders of projects stand for the checkpoints in them.
void find_project_files(General& general) {
  if (general.model) general.model = model_file(*general.model);
  if (general.load_name) general.load_name = weights_file(*general.load_name);
  if (general.teacher) general.teacher = model_file(*general.teacher);
}

}  // namespace

void read_outputs(const Tree& tables, std::map<std::string, data::OutputOptions>& outputs,
                  Diagnostics& diagnostics) {
  if (!tables.is_dict()) {
    diagnostics.error(tables.where, "'outputs' must hold tables: [outputs.NAME]");
    return;
  }
  for (const auto& [name, table] : tables.as_dict()) read_fields(table, outputs[name], diagnostics);
}

namespace {

/// The key `text`: a sentence, or a list of them.
std::vector<std::string> read_sentences(const Tree& file, Diagnostics& diagnostics) {
  const Tree* found = file.find("text");
  if (!found) return {};
  std::vector<std::string> texts;
  const Tree::List one{*found};
  for (const Tree& text : found->is_list() ? found->as_list() : one) {
    if (text.is_string() && !trim(text.as_string()).empty())
      texts.push_back(text.as_string());
    else
      diagnostics.error(text.where, "'text' must be a sentence or a list of sentences");
  }
  if (found->is_list() && found->size() == 0)
    diagnostics.error(found->where, "'text' has no sentence; leave it out");
  return texts;
}

}  // namespace

Configuration load_configuration(const std::string& name, const Tree& command_line) {
  const std::string path = local_file(name, stored_configuration);
  if (path.empty()) return read_configuration(Tree::dict(), path, command_line);
  Tree file = config::read_toml(path);
  if (file.size() == 0)
    config_error(path + " has no keys; docs/configuration.md says what may stand in it");
  if (follow_project(path, file))
    log::info(path + " lies in the project " + file.at("project_dir").as_string() + "/" +
              file.at("project").as_string() + ", which was moved or copied there");
  // The folder of the host that wrote it may not exist on this one.
  if (names_store(name))
    std::erase_if(file.as_dict(), [](const auto& entry) { return entry.first == "project_dir"; });
  find_model_beside(path, file);
  return read_configuration(std::move(file), path, command_line);
}

Configuration read_configuration(Tree tree, const std::string& path, const Tree& command_line) {
  Configuration configuration;
  configuration.sources = {std::move(tree), command_line, path};
  const Tree& file = configuration.sources.file;
  Diagnostics diagnostics;
  configuration.settings = merge_settings(configuration.sources, diagnostics);
  find_project_files(configuration.settings.general);
  if (const Tree* outputs = file.find("outputs"))
    read_outputs(*outputs, configuration.settings.data.outputs, diagnostics);
  if (const Tree* own = file.find("custom_ops")) {
    configuration.custom_ops = read_custom_op_tables(*own, path, diagnostics);
    diagnostics.throw_if_errors();  // passes refer to these ops
  }
  configuration.pipeline = read_pipeline(file, configuration.custom_ops, diagnostics);
  configuration.evaluation = read_evaluation(file, diagnostics);
  if (const Tree* own = file.find("metrics"))
    configuration.metrics = search::read_own_metrics(*own, diagnostics);
  if (const Tree* search = file.find("search"))
    search::read_options(*search, diagnostics, configuration.metrics);
  if (const Tree* fixed = file.find("cf_args"); fixed && !fixed->is_dict())
    diagnostics.error(fixed->where, "'cf_args' must be a table: argument = constant");
  configuration.concrete = read_concrete_arguments(file);
  configuration.texts = read_sentences(file, diagnostics);
  diagnostics.throw_if_errors();
  return configuration;
}

Tree model_tree(const Configuration& configuration) {
  Tree out = settings_tree(configuration.settings);
  for (const auto& [name, output] : configuration.settings.data.outputs)
    out["outputs"][name] = write_fields(output);
  if (!configuration.texts.empty()) out["text"] = Tree::list_of(configuration.texts);
  for (const auto& [name, value] : configuration.concrete) out["cf_args"][name] = value;
  if (!configuration.custom_ops.empty())
    out["custom_ops"] = write_custom_op_tables(configuration.custom_ops);
  for (const search::OwnMetric& metric : configuration.metrics.rows)
    out["metrics"][metric.name] = metric.table();
  return out;
}

std::string resolved_toml(const Configuration& configuration) {
  Tree out = model_tree(configuration);
  Tree passes = Tree::list();
  for (const passes::PassCall& call : configuration.pipeline) {
    Tree entry = Tree::dict();
    entry["run"] = call.name;
    const Tree options = passes::find_pass(all_passes(), call.name)->resolve(call.options);
    for (const auto& [key, value] : options.as_dict()) entry[key] = value;
    passes.push_back(std::move(entry));
  }
  if (passes.size() > 0) out["pass"] = std::move(passes);
  if (configuration.evaluation)
    out["transform"]["evaluate"] = write_fields(*configuration.evaluation);
  if (const Tree* search = configuration.sources.file.find("search")) out["search"] = *search;
  return config::to_toml(out);
}

}  // namespace mase::driver
