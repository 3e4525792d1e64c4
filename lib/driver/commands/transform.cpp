// SPDX-License-Identifier: Apache-2.0
// `mase transform` loads a model, runs the passes, reports, and stores a checkpoint.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "backend/backend.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/run_folder.hpp"
#include "base/text.hpp"
#include "config/toml.hpp"
#include "data/metrics.hpp"
#include "data/task.hpp"
#include "driver/all_passes.hpp"
#include "driver/hardware.hpp"
#include "driver/level_distance.hpp"
#include "driver/linked_checkpoint.hpp"
#include "driver/make_evaluator.hpp"
#include "driver/model_files.hpp"
#include "driver/moved_project.hpp"
#include "driver/pages/pass_reports.hpp"
#include "driver/project.hpp"
#include "driver/quantized_folder.hpp"
#include "driver/ranks.hpp"
#include "driver/save_checkpoint.hpp"
#include "driver/session.hpp"
#include "driver/shared_passes.hpp"
#include "driver/training_rows.hpp"
#include "ir/metadata.hpp"
#include "sandbox/policy.hpp"
#include "search/runners/basic_evaluation.hpp"

namespace mase::driver {
namespace {

/// The function that writes checkpoints in the way that the settings ask for.
auto saver(const Session& session) {
  return session.settings().general.codes_only ? save_codes_alone : save_checkpoint;
}

passes::PassContext make_context(const Session& session, const LoadedModel& model,
                                 const std::string& folder, const Tree& info) {
  passes::PassContext context;
  context.evaluator = make_evaluator();
  context.probe = model.example;
  context.probe_is_data = model.measured;
  if (session.dataset && model.graph.placeholders().size() == session.dataset->inputs.size())
    context.training_rows = training_rows(*session.dataset, session.settings().train.batch_size);
  context.output_folder = folder;
  context.save_checkpoint = [info, save = saver(session)](const ir::Graph& graph,
                                                          const std::string& path) {
    save(graph, path, info);
  };
  context.load_checkpoint = [](const std::string& path) { return load_checkpoint(path).graph; };
  return context;
}

/// Adds the summary that `report` of quantize asks for, after the last quantize and after the
/// calibration of its formats, unless the file has the summary pass.
std::vector<passes::PassCall> with_summary(std::vector<passes::PassCall> calls) {
  const auto is = [](const char* name) {
    return [name](const passes::PassCall& call) { return call.name == name; };
  };
  const auto last = std::find_if(calls.rbegin(), calls.rend(), is("quantize"));
  if (last == calls.rend()) return calls;
  const Tree* report = last->options.find("report");
  const bool wanted = !report || report->as_bool();
  if (!wanted || std::any_of(calls.begin(), calls.end(), is("summarize_quantization")))
    return calls;
  // A calibration that follows would change the summary.
  const auto calibrated = std::find_if(calls.rbegin(), last, is("calibrate"));
  Tree options = Tree::dict();
  calls.insert(calibrated.base(), {"summarize_quantization", std::move(options), last->where});
  return calls;
}

passes::RunOptions run_options(const TransformRequest& request, const std::string& folder) {
  passes::RunOptions options;
  options.verify_each = request.verify_each;
  options.timing = request.timing;
  options.dump_after = request.dump_after;
  options.dump_folder = request.dump_folder.value_or(folder + "/dump");
  options.check_numerics = request.check_numerics;
  return options;
}

std::string pipeline_text(const std::vector<passes::PassCall>& calls) {
  std::string text = "pipeline:\n";
  for (const passes::PassCall& call : calls) text += "  " + call.name + "\n";
  return text;
}

/// Adds metadata to the result, even if the file does not name the metadata passes.
void complete_metadata(ir::Graph& graph) {
  for (ir::NodeId id : graph.order()) {
    ir::Node& node = graph.node(id);
    node.meta.common = ir::common_metadata(graph, node);
    if (node.meta.software.size() == 0) node.meta.software = ir::software_metadata(graph, node);
    if (node.meta.hardware.is_null()) node.meta.hardware = Tree::dict();
  }
}

constexpr const char* transform_again = "run the command again";

LoadedModel load_for_passes(Session& session, const TransformRequest& request) {
  LoadedModel model = load_session_model(session, request.input);
  if (!model.example.empty() && !model.has_shapes)
    backend::open().infer(model.graph, model.example);
  return model;
}

/// Runs the passes of rank 0 up to the last one that shares its work. What they write is removed.
int help_to_transform(const TransformRequest& request, Session& session,
                      std::vector<passes::PassCall> calls, const backend::Ranks& ranks) {
  log::set_level(log::Level::error);
  const RunFolder scratch;
  const std::string folder = scratch.make("results");
  sandbox::may_write(folder);
  LoadedModel model = load_for_passes(session, request);
  passes::PassContext context = make_context(session, model, folder, Tree::dict());
  context.hardware_folder = folder;
  const ir::Graph original = model.graph;
  context.original = &original;
  context.companions = meet_for_passes(session, model, calls, ranks);
  keep_shared_calls(calls, request.config_path);
  passes::run_passes(model.graph, calls, all_passes(), context, {});
  return 0;
}

/// Measures the result exactly as a search does, with the same rows in the same batches.
void show_scores(Session& session, const search::BasicEvaluation& rows, const ir::Graph& graph) {
  const data::Dataset& dataset = require_labels(session, "[search] in a transformation");
  const auto evaluator = make_evaluator()(graph, ir::Level::quantized);
  const data::Figures figures =
      search::score(*evaluator, search::batches_of(dataset, rows)).figures;
  std::vector<std::string> parts;
  for (const data::Figure& figure : figures.all)
    parts.push_back(figure.name + " " + double_text(figure.value));
  session.output.text(rows.data_loader + ", " + std::to_string(figures.rows) +
                      " rows: " + join(parts, ", "));
  Tree& tree = session.output.document()["scores"];
  tree = search::figures_tree(figures);
  tree["rows"] = figures.rows;
}

/// Whether the graph still takes the example. A pass that extracts a part changes the inputs.
bool takes_example(const LoadedModel& model) {
  const std::vector<ir::NodeId> inputs = model.graph.placeholders();
  return std::equal(inputs.begin(), inputs.end(), model.example.begin(), model.example.end(),
                    [&](ir::NodeId id, const Array& array) {
                      return model.graph.node(id).info.shape == array.shape();
                    });
}

/// Shows how far the integer level, which hardware computes, is from the quantized level on the
/// example. Shows nothing if the graph has no integer level, or has other inputs.
void show_levels(const LoadedModel& model, Output& output) {
  if (!model.measured || !takes_example(model)) return;
  std::unique_ptr<ir::Evaluator> integer;
  try {
    integer = make_evaluator()(model.graph, ir::Level::integer);
  } catch (const Error& error) {
    if (error.fault() == Fault::unsupported) return;
    throw;
  }
  const ir::Results exact = integer->run(model.example);
  const ir::Results rounded =
      make_evaluator()(model.graph, ir::Level::quantized)->run(model.example);
  LevelDistance distance;
  for (std::size_t i = 0; i < exact.size(); ++i) distance.add(rounded[i].second, exact[i].second);
  const bool is_warning =
      distance.is_beyond_float32() && !approximates(integer::lower(model.graph));
  if (is_warning)
    log::warning(distance.text() +
                 "; sums of float32 are not that far off. Formats of fewer bits differ less; "
                 "`mase test CHECKPOINT DATASET --level quantized,integer` shows what it costs");
  else
    output.text(distance.text());
  Tree& tree = output.document()["integer_level"];
  tree["differing"] = distance.share_beyond(0);
  tree["largest_difference"] = distance.largest();
  tree["largest_result"] = distance.scale();
}

/// Refuses to replace a result from other settings; the same settings would give the same result.
void refuse_overwriting(const std::string& folder, const std::string& resolved) {
  const std::string path = folder + "/transformed_ckpt/config.toml";
  if (file_exists(path) && !was_written_with(path, resolved))
    config_error(folder + "/transformed_ckpt holds a result from other settings (see " + path +
                 "): --overwrite replaces it, --project NAME keeps both");
}

/// The hashes of the weights, if the passes only found something out about a folder of transformers
/// and the checkpoint need not repeat them.
std::optional<WeightHashes> linked_hashes(const Session& session, const ir::Graph& graph) {
  const bool only_analyses =
      std::ranges::all_of(session.configuration.pipeline, [](const passes::PassCall& call) {
        return passes::find_pass(all_passes(), call.name)->doc.kind == passes::PassKind::analysis;
      });
  const auto& general = session.settings().general;
  const bool is_folder = general.model && std::filesystem::is_directory(*general.model);
  if (!only_analyses || !is_folder || general.codes_only) return std::nullopt;
  return hashes_of_source(graph);
}

/// Stores the result in the project, and returns the path of the checkpoint. An exported folder
/// takes its place. What an earlier run has left there goes when all is written.
std::string store(const Session& session, const ir::Graph& graph, const std::string& folder,
                  const Tree& info, const std::string& resolved, bool has_folder) {
  const std::string project = project_folder(session.settings()) + "/";
  const std::string file = project + std::string(transformed_checkpoint);
  const std::string linked = project + std::string(linked_checkpoint);
  make_folder(folder + "/transformed_ckpt");
  const auto hashes = has_folder ? std::nullopt : linked_hashes(session, graph);
  if (hashes)
    write_linked_checkpoint(graph, info, *hashes, linked);
  else if (!has_folder)
    saver(session)(graph, file, info);
  if (has_folder || hashes) remove_file(file);
  if (!hashes) remove_linked_checkpoint(linked);
  write_file(folder + "/transformed_ckpt/node_meta_param.toml",
             config::to_toml(ir::metadata_tree(graph)));
  write_file(folder + "/transformed_ckpt/config.toml", resolved);
  return hashes ? linked : file;
}

/// Writes the file or folder of --export.
void write_export(const ModelWriter& writer, const TransformRequest& request,
                  const ir::Graph& graph, const ir::Graph& before, const Tree& info,
                  Output& output) {
  Tree file = writer.write({graph, info, *request.export_path, request.onnx, &before});
  output.text(file_text(*request.export_path, file));
  file["file"] = *request.export_path;
  output.document()["export"] = std::move(file);
}

}  // namespace

int transform(const TransformRequest& request) {
  if (request.nproc > 1 && !request.dry_run && !launched_here())
    return launch_ranks(request.nproc, transform_again);
  backend::Ranks ranks = ranks_of_environment(request.timeout);
  ranks.after_loss = transform_again;
  if (request.config_path.empty())
    config_error("transform needs --config FILE.toml with the passes to run");
  const ModelWriter* writer =
      request.export_path ? &writer_of(*request.export_path, request.onnx, request.overwrite)
                          : nullptr;
  Session session = open_session(request);
  Output& output = session.output;
  if (session.configuration.pipeline.empty() && !session.configuration.evaluation)
    config_error(request.config_path +
                 " has no passes to run; add [passes.NAME] or [[pass]] (`mase list passes`)");
  const std::vector<passes::PassCall> calls = with_summary(session.configuration.pipeline);
  if (std::vector<passes::PassCall> shared = calls; request.nproc > 1 || ranks.several())
    keep_shared_calls(shared, request.config_path);
  if (request.dry_run) {
    output.text(pipeline_text(calls));
    for (const passes::PassCall& call : calls) output.document()["pipeline"].push_back(call.name);
    output.finish();
    return 0;
  }
  if (ranks.several()) sandbox::may_meet_processes();
  if (ranks.rank > 0) return help_to_transform(request, session, calls, ranks);
  const std::string folder = session.software_folder() + "/transform";
  const std::string resolved = resolved_toml(session.configuration);
  work_in_project(session.settings());
  if (request.dump_folder) sandbox::may_write(*request.dump_folder);
  if (writer) will_write(*writer, *request.export_path);
  backend::open();  // enters the sandbox before the lock starts a thread
  const FolderLock lock = lock_project(session, "mase transform");
  if (!request.overwrite) refuse_overwriting(folder, resolved);
  LoadedModel model = load_for_passes(session, request);
  const bool has_folder = writer && writer->is_folder();
  if (has_folder) require_source(model.graph, request.onnx.source);
  const Tree info = checkpoint_info(session, resolved);
  passes::PassContext context = make_context(session, model, folder, info);
  context.hardware_folder = hardware_folder(session.settings(), std::nullopt);
  const ir::Graph original = model.graph;
  context.original = &original;
  std::shared_ptr<PassCompanions> companions;
  if (ranks.several()) companions = meet_for_passes(session, model, calls, ranks);
  context.companions = companions;
  make_folder(folder);
  log::info("results go to " + folder);
  output.document()["passes"] = Tree::list();
  std::string details;
  passes::run_passes(
      model.graph, calls, all_passes(), context, run_options(request, folder),
      [&](passes::PassReport& report) {
        show_report(report, folder,
                    {.quiet = request.quiet, .verbose = request.verbose, .timing = request.timing},
                    output);
        details += report_text(report, request.timing);
        output.document()["passes"].push_back(report_tree(std::move(report), request.timing));
      });
  if (companions && !companions->has_shared())
    log::warning("no pass had anything to learn from data, so the processes shared no work");
  complete_metadata(model.graph);
  if (session.configuration.evaluation)
    show_scores(session, *session.configuration.evaluation, model.graph);
  show_levels(model, output);
  const std::string details_path = folder + "/report.txt";
  write_file(details_path, details);
  if (!request.quiet) output.text("details: " + details_path);
  if (has_folder) write_export(*writer, request, model.graph, original, info, output);
  const std::string checkpoint = store(session, model.graph, folder, info, resolved, has_folder);
  output.document()["checkpoint"] = has_folder ? *request.export_path : checkpoint;
  output.text(has_folder
                  ? "the folder takes the place of a checkpoint in the project; `mase convert " +
                        *request.export_path + " FILE.pt` writes one"
                  : "checkpoint: " + checkpoint);
  if (writer && !has_folder) write_export(*writer, request, model.graph, original, info, output);
  output.record(project_folder(session.settings()), "transform");
  output.finish();
  return 0;
}

}  // namespace mase::driver
