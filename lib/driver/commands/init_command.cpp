// SPDX-License-Identifier: Apache-2.0
// `mase init` writes a configuration that quantizes a model, with one table per type of layer.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "config/toml.hpp"
#include "driver/all_passes.hpp"
#include "driver/commands/commands.hpp"
#include "driver/config_file.hpp"
#include "driver/custom_ops.hpp"
#include "driver/folder_settings.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/loading/text_input.hpp"
#include "driver/make_evaluator.hpp"
#include "driver/output.hpp"
#include "driver/squares.hpp"
#include "driver/stored_data.hpp"
#include "hardware/integer/program.hpp"
#include "ir/op_table.hpp"
#include "passes/quantization/quantize_ports.hpp"
#include "passes/runner.hpp"
#include "sandbox/policy.hpp"

namespace mase::driver {
namespace {

constexpr std::size_t most_names = 6;

/// The nodes that have the same MASE op.
struct Kind {
  std::vector<std::string> nodes;
  std::vector<std::string> ports;  ///< ports that any of the nodes has, in the op's order
  std::set<std::string> computed;  ///< ports at which one of the nodes reads a result
  /// The nodes that read squares, by the port at which they read them.
  std::map<std::string, std::vector<std::string>> squares;
  bool quantizable = false;
  bool is_function = false;  ///< of each element, which hardware has tables of
};

/// Whether the op's results must be rounded: no code represents function values or quotients
/// exactly, and the user's own modules have a fixed width.
bool rounds_results(const ir::Classified& found) {
  using enum ir::OpFamily;
  constexpr std::array rounding{unary, softmax, layer_norm, group_norm, instance_norm, custom};
  return std::ranges::find(rounding, found.family()) != rounding.end() || found.op == "div";
}

/// All ops of the graph, ordered by their first nodes.
std::vector<std::pair<std::string, Kind>> kinds_of(const ir::Graph& graph) {
  const auto squares = ports_of_squares(graph);
  std::vector<std::pair<std::string, Kind>> kinds;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    if (node.kind != ir::NodeKind::call_module && node.kind != ir::NodeKind::call_function &&
        node.kind != ir::NodeKind::call_method)
      continue;
    const ir::Classified found = ir::classify(graph, node);
    auto kind = std::ranges::find(kinds, found.op, &std::pair<std::string, Kind>::first);
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {found.op, {}});
    kind->second.nodes.push_back(node.name);
    kind->second.quantizable = found.row && found.row->quantizable;
    kind->second.is_function = found.family() == ir::OpFamily::unary;
    const auto add_port = [&](const std::string& port) {
      std::vector<std::string>& ports = kind->second.ports;
      if (std::ranges::find(ports, port) == ports.end()) ports.push_back(port);
    };
    const std::set<std::string> formattable = passes::float_ports(graph, node);
    for (const ir::Port& port : ir::ports(graph, node)) {
      if (!formattable.contains(port.name)) continue;
      add_port(port.name);
      if (squares.contains({node.name, port.name}))
        kind->second.squares[port.name].push_back(node.name);
      port.value.for_each_node([&](ir::NodeId id) {
        if (graph.node(id).kind != ir::NodeKind::get_attr) kind->second.computed.insert(port.name);
      });
    }
    if (rounds_results(found)) add_port("data_out");
  }
  return kinds;
}

/// "3 nodes: conv1, conv2, conv3".
std::string nodes_text(const Kind& kind) {
  std::vector<std::string> names = kind.nodes;
  const std::size_t count = names.size();
  if (count > most_names) {
    names.resize(most_names);
    names.emplace_back("...");
  }
  return std::to_string(count) + (count == 1 ? " node: " : " nodes: ") + join(names, ", ");
}

/// The passes that prepare a graph for quantization and would change this one, in their order.
std::vector<std::string> preparations(ir::Graph& graph) {
  std::vector<std::string> names;
  for (const passes::PassRow& pass : all_passes()) {
    if (!pass.prepares || !pass.prepares(graph)) continue;
    passes::PassContext context;
    context.evaluator = make_evaluator();
    const passes::PassCall call{std::string(pass.doc.name), Tree::dict(), {}};
    const auto reports = passes::run_passes(graph, {call}, all_passes(), context, {});
    if (reports.front().result.changed) names.emplace_back(pass.doc.name);
  }
  return names;
}

/// Twice the bits for squares, 16 at most, and for a function those of a whole table in hardware.
std::int64_t width_of_squares(const Kind& kind, std::int64_t width) {
  constexpr std::int64_t most = 16, most_of_table = 12;
  return std::max(width, std::min(2 * width, kind.is_function ? most_of_table : most));
}

/// The width for all nodes of the kind: twice the bits where every one of them reads squares.
std::int64_t width_at(const Kind& kind, const std::string& port, std::int64_t width) {
  const auto squares = kind.squares.find(port);
  const bool everywhere =
      squares != kind.squares.end() && squares->second.size() == kind.nodes.size();
  return everywhere ? width_of_squares(kind, width) : width;
}

std::string table_of(const std::string& op, const Kind& kind, std::int64_t width, bool calibrated) {
  std::string text = "\n# " + nodes_text(kind) + "\n[pass." + op + ".config]\nname = \"integer\"\n";
  for (const std::string& port : kind.ports) {
    const bool data = ir::general_port(port).starts_with("data_") || kind.computed.contains(port);
    const std::int64_t bits = width_at(kind, port, width);
    text += port + "_width = " + std::to_string(bits) + (bits > width ? "  # of squares" : "") +
            "\n" + port + "_frac_width = " +
            (calibrated || !data ? std::string("\"auto\"") : std::to_string(bits / 2)) + "\n";
  }
  return text;
}

/// The choices of a search: several for ops that multiply by weights, and one for the others, so
/// that every node has a format and the best points can become hardware.
std::string choices_of(const std::string& op, const Kind& kind, std::int64_t width) {
  std::string text = "\n# " + nodes_text(kind) + "\n[search.search_space.seed." + op +
                     ".config]\nname = [\"integer\"]\n";
  const bool multiplies = std::ranges::any_of(
      kind.ports, [](const std::string& port) { return ir::general_port(port) == "weight"; });
  for (const std::string& port : kind.ports) {
    const bool chosen = multiplies && ir::general_port(port) != "bias";
    const std::string all = std::to_string(width_at(kind, port, width));
    const std::string fewer =
        std::to_string((width + 1) / 2) + ", " + std::to_string((3 * width + 3) / 4) + ", ";
    text += port + "_width = [" + (chosen && width > 2 ? fewer : "") + all + "]\n" + port +
            "_frac_width = [\"auto\"]\n";
  }
  return text;
}

/// The nodes that read squares where others of their kind read none, by the port and the bits.
std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>> single_squares(
    const ir::Graph& graph, std::int64_t width) {
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>> found;
  for (const auto& [op, kind] : kinds_of(graph))
    for (const auto& [port, nodes] : kind.squares) {
      const std::int64_t bits = width_of_squares(kind, width);
      if (nodes.size() == kind.nodes.size() || bits == width) continue;
      std::vector<std::string>& names = found[{port, bits}];
      names.insert(names.end(), nodes.begin(), nodes.end());
    }
  return found;
}

/// A second pass for these.
std::string squares_text(const ir::Graph& graph, std::int64_t width, bool calibrated) {
  const auto squares = single_squares(graph, width);
  if (squares.empty()) return "";
  std::string text =
      "\n# Twice the bits where squares are read: of 8 bits a square has 16.\n"
      "[[pass]]\nrun = \"quantize\"\nby = \"regex_name\"\n";
  for (const auto& [where, nodes] : squares) {
    const auto& [port, bits] = where;
    text += "\n[pass.\"" + join(nodes, "|") + "\".config]\nname = \"integer\"\n" + port +
            "_width = " + std::to_string(bits) + "\n" + port +
            "_frac_width = " + (calibrated ? std::string("\"auto\"") : std::to_string(bits / 2)) +
            "\n";
  }
  return text;
}

std::string quantize_text(const ir::Graph& graph, std::int64_t width, bool calibrated) {
  std::string text =
      "\n# Formats per type of layer; see mase list formats and mase list passes quantize.\n";
  text += calibrated
              ? "# \"auto\" chooses the binary point to suit the data and the weights.\n"
              : "# \"auto\" chooses the binary point to suit the weights and, with --dataset or "
                "--input, the data.\n";
  text += "[[pass]]\nrun = \"quantize\"\nby = \"type\"\n";
  std::string left;
  for (const auto& [op, kind] : kinds_of(graph)) {
    if (integer::passes_values_on(op)) continue;
    if (kind.quantizable && !kind.ports.empty())
      text += table_of(op, kind, width, calibrated);
    else
      left += "#   " + op + ", " + nodes_text(kind) + "\n";
  }
  if (!left.empty()) text += "\n# Without formats:\n" + left;
  return text + squares_text(graph, width, calibrated);
}

/// A metric and whether more of it is better.
struct Aim {
  std::string metric;
  bool more_is_better;
};

/// What trials are judged by: without labels the distance from float; with one target the last
/// brief figure of its task, such as accuracy; with several targets their loss.
Aim aim_for(const data::Dataset* data) {
  if (data && !data->has_labels()) return {"sqnr_db", true};
  if (data && data->targets.size() > 1) return {"loss", false};
  Aim aim{"accuracy", true};
  if (!data) return aim;
  for (const data::FigureRow& figure : data::find_task(data->labels().task).figures)
    if (figure.is_brief) aim = {std::string(figure.name), figure.more_is_better};
  return aim;
}

/// A search over formats.
std::string search_text(const ir::Graph& graph, std::int64_t width, const data::Dataset* data) {
  const bool has_labels = !data || data->has_labels();
  const std::string runner = has_labels ? "basic_evaluation" : "output_distance";
  const Aim aim = aim_for(data);
  std::string text =
      "\n# The choices for each type of layer; a key with one choice is not searched.\n"
      "[search.search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n"
      "[search.search_space.setup]\nby = \"type\"\n";
  for (const auto& [op, kind] : kinds_of(graph))
    if (!integer::passes_values_on(op) && kind.quantizable && !kind.ports.empty())
      text += choices_of(op, kind, width);
  return text +
         "\n[search.strategy]\nname = \"optuna\"\n"
         "[search.strategy.sw_runner." +
         runner +
         "]\ndata_loader = \"val_dataloader\"\n"
         "[search.strategy.hw_runner.average_bitwidth]\nactivations = true\n"
         "[search.strategy.setup]\nn_trials = 20\nsampler = \"tpe\"\n"
         "[search.strategy.metrics]\n" +
         aim.metric + ".direction = \"" + (aim.more_is_better ? "maximize" : "minimize") +
         "\"\n"
         "average_bitwidth.direction = \"minimize\"\n";
}

/// Quotes a word for a shell (POSIX.1-2017, 2.2.2 Single-Quotes).
std::string shell_word(const std::string& text) {
  constexpr std::string_view plain = "_./:=,+-";
  const auto needs_quotes = [&](unsigned char c) {
    return !std::isalnum(c) && plain.find(static_cast<char>(c)) == std::string_view::npos;
  };
  if (!text.empty() && std::ranges::none_of(text, needs_quotes)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The command to run with the file, including import options that a file cannot hold.
std::string command_text(const InitRequest& request) {
  const std::string command = request.search ? "search" : "transform";
  std::string text =
      "mase " + command + " --config " + shell_word(request.output.value_or("FILE.toml"));
  const auto add = [&](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values)
      text += std::string(" ") + option + " " + shell_word(value);
  };
  add("--input", request.input.inputs);
  add("--input-shape", request.input.input_shapes);
  add("--fix", request.input.fixed);
  add("--leaf-module", request.input.leaf_modules);
  add("--leaf-function", request.input.leaf_functions);
  return text;
}

/// The settings that were given, and the tables that belong to the model rather than to what is
/// done with it.
Tree kept_tables(const InitRequest& request, const Configuration& base, const ir::Graph& graph) {
  Tree kept = Tree::dict();
  const Tree settings = settings_tree(base.settings);
  for (const std::string& name : setting_names())
    if (base.sources.give(name)) kept[name] = settings.at(name);
  if (!request.input.submodule.empty()) kept["submodule"] = request.input.submodule;
  const Tree tables = model_tree(base);
  for (const char* table : {"outputs", "text", "cf_args", "metrics"})
    if (const Tree* found = tables.find(table)) kept[table] = *found;
  if (!graph.custom_ops.empty()) kept["custom_ops"] = write_custom_op_tables(graph.custom_ops);
  return kept;
}

std::string config_text(const InitRequest& request, const Configuration& base, ir::Graph& graph,
                        const data::Dataset* data) {
  std::string text =
      "# " + command_text(request) + "\n" + config::to_toml(kept_tables(request, base, graph));
  const std::vector<std::string> passes = preparations(graph);
  for (const std::string& pass : passes) text += "\n[[pass]]\nrun = \"" + pass + "\"\n";
  const bool has_data =
      base.settings.general.dataset || !request.input.inputs.empty() || !base.texts.empty();
  text += quantize_text(graph, request.width, has_data);
  if (!request.search) return text;
  text += "\n# What `mase search` does: the passes before, and the choices.\n";
  for (const std::string& pass : passes) text += "[search.prepare." + pass + "]\n";
  return text + search_text(graph, request.width, data);
}

}  // namespace

int init(const InitRequest& request) {
  if (request.output && file_exists(*request.output) && !request.overwrite)
    config_error(*request.output + " already exists; --overwrite replaces it");
  if (request.output) sandbox::will_output(*request.output);
  Configuration base = load_configuration(request.config_path, request.settings);
  if (!request.input.texts.empty()) base.texts = request.input.texts;
  if (const auto stored = stored_data(base.settings))
    follow_stored_data(*stored, base.sources, DataSource::named, base.settings);
  sandbox::may_read_named(base.sources.file);
  const General& general = base.settings.general;
  if (!general.model)
    config_error("no model given: name one (`mase list models`) or a model file as MODEL");
  if (request.search && !general.dataset)
    config_error("--search needs a data set: the trials are measured on its rows");
  if (!base.settings.data.data_dir.empty() && !general.dataset)
    config_error(
        "--data-dir needs the data set that reads it; name one after the model, such as npy or "
        "images (`mase list datasets`)");
  std::optional<data::Dataset> data;
  follow_folder(*general.model, base.sources, base.settings);
  if (general.dataset) data = load_session_data(*general.model, base.settings);
  ModelRequest wanted;
  wanted.model = *general.model;
  wanted.input = request.input;
  take_texts(base.texts, data.has_value(), wanted.input);
  take_text_options(base.settings.data, wanted.input);
  if (wanted.input.submodule.empty()) wanted.input.submodule = general.submodule.value_or("");
  wanted.concrete = base.concrete;
  wanted.custom_ops = base.custom_ops;
  wanted.dataset = data ? &*data : nullptr;
  wanted.example_rows = 2;
  wanted.load_name = general.load_name;
  wanted.load_type = general.load_type;
  ir::Graph graph = load_model(wanted).graph;
  write_or_print(request.output, config_text(request, base, graph, data ? &*data : nullptr));
  return 0;
}

}  // namespace mase::driver
