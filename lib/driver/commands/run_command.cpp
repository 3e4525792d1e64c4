// SPDX-License-Identifier: Apache-2.0
// `mase run` runs any model on .npy files or on sentences.
#include <filesystem>

#include "backend/backend.hpp"
#include "backend/device.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "driver/commands/commands.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/loading/model_input.hpp"
#include "driver/make_evaluator.hpp"
#include "driver/output.hpp"
#include "driver/project.hpp"
#include "driver/ranks.hpp"
#include "driver/run_on_mesh.hpp"
#include "driver/session.hpp"
#include "driver/stored_data.hpp"
#include "driver/text_classes.hpp"
#include "sandbox/policy.hpp"
#include "tokenizer/tokenizer.hpp"

namespace mase::driver {
namespace {

/// Seconds that a process waits for another one.
constexpr double run_timeout = 600;
constexpr const char* run_again = "run the command again";

/// The file name of an output: y.npy if it is the only one, else y_0.npy, y_1.npy, ... or
/// y_KEY.npy. Characters of a key that could lead out of the folder become '_'.
std::string output_name(const std::string& path, const std::string& key) {
  if (key.empty()) return path;
  std::string safe;
  for (char c : key)
    safe += (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') ? c : '_';
  const std::filesystem::path p(path);
  return (p.parent_path() / (p.stem().string() + "_" + safe + p.extension().string())).string();
}

/// The classes of the texts that a checkpoint was made with; nullopt if it does not name them.
std::optional<huggingface::TextClasses> remembered_classes(const StoredData& stored) {
  if (stored.options.classes.names.empty()) return std::nullopt;
  return huggingface::TextClasses{stored.options.classes.names, true};
}

/// A tokenizer that is gone cannot say which folder has the classes.
void require_tokenizer(const std::string& given, const std::string& model) {
  if (given.empty()) return;
  const std::string file = tokenizer::tokenizer_file(given);
  if (!file_exists(file))
    file_error(file + ": no such file; --tokenizer names the tokenizer.json of " + model +
               ", or the folder that has it");
}

/// The classes of the model, be it a folder or a checkpoint, or else those of the folder that gives
/// the tokenizer: an exported file does not know their names.
std::optional<huggingface::TextClasses> classes_for(const RunRequest& request) {
  if (request.input.texts.empty()) return std::nullopt;
  Settings settings;
  settings.general.model = model_file(request.model);
  const auto stored = stored_data(settings);
  if (const auto classes = stored ? remembered_classes(*stored) : std::nullopt) return classes;
  const auto own = stored ? stored->options.tokenizer : std::nullopt;
  const std::string tokenizer = request.input.tokenizer.value_or(own.value_or(""));
  require_tokenizer(tokenizer, request.model);
  for (const std::string& folder : {request.model, tokenizer})
    if (huggingface::is_model_folder(folder)) return huggingface::text_classes_of(folder);
  return std::nullopt;
}

/// Prints the class of each text; false if the results are not scores of classes.
bool show_classes(const RunRequest& request, const std::optional<huggingface::TextClasses>& classes,
                  const ir::Results& results, Output& output) {
  if (!classes || results.size() != 1) return false;
  const auto scores = class_scores(*classes, results.front().second);
  if (!scores) return false;
  output.document()["texts"] = Tree::list();
  for (std::size_t i = 0; i < scores->size(); ++i) {
    const ClassScore& one = scores->at(i);
    output.text(one.name + " " + fixed_text(one.score, 4) + ": " + request.input.texts[i]);
    Tree entry = Tree::dict();
    entry["text"] = request.input.texts[i];
    entry["class"] = one.name;
    entry["score"] = one.score;
    output.document()["texts"].push_back(std::move(entry));
  }
  return true;
}

void write_results(const RunRequest& request, const ir::Results& results, Output& output) {
  std::vector<std::string> paths;
  for (const auto& [key, array] : results) paths.push_back(output_name(*request.output, key));
  if (!request.overwrite) keep_inputs(paths, files_read(request.model, request.input));
  output.document()["outputs"] = Tree::list();
  for (const auto& [key, array] : results) {
    const std::string path = output_name(*request.output, key);
    write_npy(path, array);
    output.text(path + ": " + std::string(dtype_name(array.dtype())) + shape_text(array.shape()));
    Tree entry = Tree::dict();
    entry["file"] = path;
    entry["key"] = key;
    entry["dtype"] = dtype_name(array.dtype());
    entry["shape"] = Tree::list_of(array.shape());
    output.document()["outputs"].push_back(std::move(entry));
  }
}

/// The results of the model: of this process alone, or of several that run its parts.
ir::Results results_of(const LoadedModel& model, ir::Level level, const backend::Ranks& ranks) {
  if (!ranks.several()) return make_evaluator()(model.graph, level)->run(model.example);
  if (level != ir::Level::floating)
    config_error("several processes run a model in float only; add --level float");
  return run_on_mesh(model.graph, model.example, ranks);
}

void choose_device(const RunRequest& request, ir::Level level, const backend::Ranks& ranks) {
  const std::string device = backend::parse_device(request.device);
  if (device == "cpu") return;
  if (ranks.several())
    config_error("--device " + device + ": several processes run a model on the CPU only");
  if (level == ir::Level::integer) return log::warning(integer_on_cpu);
  backend::set_device(device, local_rank());
}

}  // namespace

int run(const RunRequest& request) {
  if (request.nproc > 1 && !launched_here()) return launch_ranks(request.nproc, run_again);
  const ModelInput& input = request.input;
  if (input.inputs.empty() && input.input_shapes.empty() && input.texts.empty())
    config_error("run needs at least one --input FILE.npy, --input-shape, or --text");
  const auto classes = classes_for(request);
  if (!request.output && !classes)
    config_error(
        "--output FILE.npy must say where the results go; only classes of texts are printed, for "
        "--text and a folder of transformers with a head for classes, or a checkpoint that was "
        "made with texts of classes");
  const ir::Level level = parse_level(request.level);
  if (level == ir::Level::rtl)
    config_error("run has no level rtl; use mase simulate, or mase test --level rtl");
  backend::set_threads(request.threads);
  backend::Ranks ranks = ranks_of_environment(run_timeout);
  ranks.after_loss = run_again;
  choose_device(request, level, ranks);
  if (ranks.several()) sandbox::may_meet_processes();
  if (request.output && ranks.rank == 0) sandbox::will_output(*request.output);
  ModelRequest wanted;
  wanted.model = request.model;
  wanted.input = request.input;
  const LoadedModel model = load_model(wanted);
  const ir::Results results = results_of(model, level, ranks);
  if (ranks.rank > 0) return 0;
  Output output(request.json);
  const bool shown = show_classes(request, classes, results, output);
  if (!request.output && !shown)
    config_error(
        "the results are not scores of the model's classes; --output FILE.npy says where "
        "they go");
  if (request.output) write_results(request, results, output);
  output.finish();
  return 0;
}

}  // namespace mase::driver
