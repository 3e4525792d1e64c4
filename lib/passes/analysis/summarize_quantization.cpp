// SPDX-License-Identifier: Apache-2.0
// Types come from the graph's formats; SQNR comes from observing a run of the graph on the probe.
#include "passes/analysis/summarize_quantization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "formats/pieces.hpp"
#include "ir/masks.hpp"
#include "ir/op_table.hpp"
#include "passes/quantization/finite_masks.hpp"
#include "passes/quantization/quantize_ports.hpp"

namespace mase::passes {
namespace {

/// The class of a layer, the name of a function or method, or else the node's name, as the
/// reference system prints it.
std::string original_type(const ir::Graph& graph, const ir::Node& node) {
  if (node.kind == ir::NodeKind::call_module)
    return std::string(graph.module_of(node).short_class());
  if (node.kind == ir::NodeKind::call_function || node.kind == ir::NodeKind::call_method)
    return split(node.target, '.').back();
  return node.name;
}

/// "Linear" with integer formats → "LinearInteger".
std::string quantized_type(const std::string& original, const ir::Node& node) {
  if (node.formats.empty()) return original;
  std::string suffix;
  for (const std::string& word : split(node.formats.begin()->second.name(), '_')) {
    suffix += static_cast<char>(std::toupper(word[0]));
    suffix += word.substr(1);
  }
  return original + suffix;
}

/// True for a mask, which may have been another number before the quantization.
bool is_kept_mask(float exact, float changed) {
  return exact <= weak_mask_bound && changed <= ir::mask_bound;
}

/// Energies of a signal and of its error.
struct Noise {
  double signal = 0, noise = 0;
  std::int64_t elements = 0;

  void add(double exact, double error) {
    signal += exact * exact;
    noise += error * error;
    ++elements;
  }
  void add(const Array& exact, const Array& changed) {
    const auto from = exact.span<float>(), to = changed.span<float>();
    for (std::size_t i = 0; i < from.size(); ++i)
      if (!is_kept_mask(from[i], to[i])) add(from[i], double(to[i]) - from[i]);
  }
  double mean_noise() const { return elements > 0 ? noise / double(elements) : 0; }
  double mean_signal() const { return elements > 0 ? signal / double(elements) : 0; }
  double decibel() const {
    if (noise == 0) return std::numeric_limits<double>::infinity();
    return signal > 0 ? 10 * std::log10(signal / noise) : 0.0;
  }
};

Noise noise_of(const Array& exact, const Array& changed) {
  Noise noise;
  noise.add(exact, changed);
  return noise;
}

/// The same for all tensors at a port, and how many of their values a format could not hold.
struct Energy : Noise {
  std::int64_t values = 0, saturated = 0;
  Noise worst;  ///< for the tensor at the port that the format distorts most

  void add(const Noise& tensor) {
    signal += tensor.signal;
    noise += tensor.noise;
    elements += tensor.elements;
    if (tensor.decibel() < worst.decibel()) worst = tensor;
  }
  /// Counts values before the format (`exact`) and after it (`changed`).
  void count(const Array& exact, const Array& changed, const formats::Format& format) {
    std::vector<std::uint8_t> outside(static_cast<std::size_t>(exact.size()));
    format.saturates(exact.span<float>(), outside, exact.shape());
    values += exact.size();
    for (std::size_t i = 0; i < outside.size(); ++i)
      saturated += !is_kept_mask(exact.span<float>()[i], changed.span<float>()[i]) && outside[i];
  }
};

using Energies = std::map<std::string, std::map<std::string, Energy>>;  ///< by node, then port

void add_weight_energy(const Array& weight, const formats::Format& format, Energy& energy) {
  const formats::Pieces pieces(format, weight.shape(), formats::usual_piece);
  Noise noise;
  pieces.for_each(weight, [&](const formats::Piece& piece, const Array& exact) {
    const formats::Format own = pieces.format_of(format, piece);
    Array quantized = Array::uninitialized(DType::float32, piece.shape);
    own.quantize(exact.span<float>(), quantized.mutable_span<float>(), piece.shape);
    noise.add(exact, quantized);
    energy.count(exact, quantized, own);
  });
  energy.add(noise);
}

void add_weight_energies(const ir::Graph& graph, Energies& energies) {
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    for (const ir::Port& port : ir::ports(graph, node)) {
      const auto format = node.formats.find(port.name);
      if (port.tensor.empty() || format == node.formats.end()) continue;
      add_weight_energy(graph.tensors.at(port.tensor).value.as_stored(),
                        format->second.deterministic(),
                        energies[node.name][std::string(ir::general_port(port.name))]);
    }
  }
}

/// True for a softmax whose format takes finite numbers that hide elements for scores.
bool reads_finite_masks(const ir::Node& node, const Array& input) {
  if (ir::base_op(node.op) != "aten::softmax") return false;
  return std::ranges::any_of(input.span<float>(), [](float value) {
    return value <= finite_mask_bound && value > ir::mask_bound;
  });
}

/// The part of an input that can change a node's result: a ReLU turns every negative number into 0,
/// so it loses nothing to a format without a sign.
Array what_matters(const ir::Node& node, const Array& input) {
  const std::string_view op = ir::base_op(node.op);
  if (op != "aten::relu" && op != "aten::relu6") return input;
  std::vector<float> kept(input.span<float>().begin(), input.span<float>().end());
  for (float& value : kept) value = std::max(value, 0.0f);
  return Array::from(kept, input.shape());
}

/// What an observer's name for values in front of a format ends with.
constexpr const char* raw_ending = ".raw";

/// Runs both graphs on the probe and compares inputs before and after quantization, and outputs
/// with the original's. Adds nodes that read finite masks to `masked`.
void add_activation_energies(const ir::Graph& graph, const PassContext& context, Energies& energies,
                             std::set<std::string>& masked) {
  std::map<std::string, Array> reference;
  context.evaluator(*context.original, ir::Level::quantized)
      ->run(context.probe, [&](const ir::Node& node, const std::string& port, const Array& value) {
        if (port == "data_out" && value.dtype() == DType::float32) reference[node.name] = value;
      });
  Array raw;
  std::string raw_port;
  const auto observe = [&](const ir::Node& node, const std::string& port, const Array& value) {
    if (value.dtype() != DType::float32) return;
    if (port.ends_with(raw_ending)) {
      raw = value;
      raw_port = port;
    }
    if (port == "data_in.raw" && reads_finite_masks(node, value)) masked.insert(node.name);
    if (ir::general_port(port) == "data_in" && raw_port == port + raw_ending) {
      Energy& energy = energies[node.name]["data_in"];
      energy.count(raw, value, node.formats.at(port));
      const Array before = what_matters(node, raw), after = what_matters(node, value);
      energy.add(noise_of(before, after));
    }
    if (port != "data_out") return;
    const auto exact = reference.find(node.name);
    if (exact != reference.end() && exact->second.shape() == value.shape())
      energies[node.name][port].add(noise_of(exact->second, value));
  };
  context.evaluator(graph, ir::Level::quantized)->run(context.probe, observe);
}

ReportTable type_table(const ir::Graph& original, const ir::Graph& graph,
                       const std::string& folder) {
  ReportTable table{"Quantized nodes",
                    {"Ori name", "New name", "MASE_TYPE", "Mase_OP", "Original type",
                     "Quantized type", "Changed"},
                    {},
                    folder + "/quantize_table.csv"};
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const ir::Node* before = original.find_node(node.name);
    const ir::Classified type = ir::classify(graph, node);
    const std::string plain = before ? original_type(original, *before) : "NA";
    const bool changed = !before || before->formats != node.formats;
    table.rows.push_back({before ? before->name : "NA", node.name,
                          std::string(ir::mase_type_name(type.type)), type.op, plain,
                          quantized_type(original_type(graph, node), node),
                          changed ? "True" : "False"});
  }
  return table;
}

ReportTable histogram(const ReportTable& types, const std::string& folder) {
  struct Count {
    std::string op;
    int total = 0, changed = 0;
  };
  std::map<std::string, Count> counts;
  for (const auto& row : types.rows) {
    Count& count = counts.try_emplace(row[4], Count{row[3], 0, 0}).first->second;
    ++count.total;
    count.changed += row[6] == "True";
  }
  ReportTable table{"Quantized histogram",
                    {"Original type", "OP", "Total", "Changed", "Unchanged"},
                    {},
                    folder + "/quantize_histogram.csv"};
  for (const auto& [type, c] : counts)
    table.rows.push_back({type, c.op, std::to_string(c.total), std::to_string(c.changed),
                          std::to_string(c.total - c.changed)});
  return table;
}

std::string decibel_text(const std::map<std::string, Energy>& energies, const std::string& port) {
  const auto found = energies.find(port);
  if (found == energies.end()) return "NA";
  const double value = found->second.decibel();
  return std::isinf(value) ? "exact" : fixed_text(value, 2);
}

ReportTable sqnr_table(const ir::Graph& graph, const Energies& energies, const std::string& folder,
                       Tree& info) {
  ReportTable table{"SQNR [dB]",
                    {"Node", "Weight", "Bias", "Data in", "Output"},
                    {},
                    folder + "/quantize_sqnr.csv"};
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const auto found = energies.find(node.name);
    if (node.formats.empty() || found == energies.end()) continue;
    std::vector<std::string> row{node.name};
    Tree& record = info[node.name];
    for (const char* port : {"weight", "bias", "data_in", "data_out"}) {
      row.push_back(decibel_text(found->second, port));
      const auto energy = found->second.find(port);
      // JSON has no infinity, so an exact port is written as a word.
      if (energy == found->second.end()) continue;
      const double value = energy->second.decibel();
      record[port] = std::isinf(value) ? Tree("exact") : Tree(value);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Bits per element at a port and at the ports that take its format when they have no format (for
/// "weight", the matrices of a recurrent layer), averaged over their elements.
std::optional<double> bits_at_port(const ir::Graph& graph, const ir::Node& node,
                                   std::string_view port) {
  double bits = 0, elements = 0;
  for (const auto& [name, format] : node.formats) {
    const std::vector<Shape> shapes = port_shapes(graph, node, name);
    if (shapes.empty() || (name != port && ir::general_port(name) != port)) continue;
    const auto count = double(numel(shapes.front()));
    bits += count * format.bits_per_element(shapes.front());
    elements += count;
  }
  return elements > 0 ? std::optional(bits / elements) : std::nullopt;
}

constexpr double least_decibel = 10;
constexpr std::size_t most_ports = 5;
/// Formats with fewer bits may be below 10 dB at their best.
constexpr double least_bits = 4;

/// True when the node adds the value at the port to something.
bool is_summand(const ir::Node& node, std::string_view port) {
  const std::string_view op = ir::base_op(node.op);
  return port == "bias" || op == "aten::add" || op == "aten::sub";
}

/// True when the error of a summand's format is at most a thousandth of the sum.
bool is_lost_in_sum(const Noise& summand, const std::map<std::string, Energy>& ports) {
  const auto sum = ports.find("data_out");
  return sum != ports.end() && summand.mean_noise() < 1e-3 * sum->second.mean_signal();
}

/// Notes ports whose format of 4 bits or more keeps next to nothing of a tensor: when one format
/// serves two factors, the small one may be lost.
void warn_of_noise(const ir::Graph& graph, const Energies& energies, Result& result) {
  std::vector<std::string> ports;
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const auto found = energies.find(node.name);
    if (node.formats.empty() || found == energies.end()) continue;
    for (const auto& [port, energy] : found->second) {
      const std::optional<double> bits = bits_at_port(graph, node, port);
      if (port == "data_out" || bits.value_or(0) < least_bits) continue;
      if (energy.worst.decibel() >= least_decibel) continue;
      if (is_summand(node, port) && is_lost_in_sum(energy.worst, found->second)) continue;
      ports.push_back("'" + node.name + "' " + port + " (" + fixed_text(energy.worst.decibel(), 2) +
                      ")");
    }
  }
  if (ports.empty()) return;
  const std::size_t more = ports.size() > most_ports ? ports.size() - most_ports : 0;
  ports.resize(ports.size() - more);
  result.notes.push_back("below 10 dB SQNR: " + join(ports, ", ") +
                         (more > 0 ? " and " + std::to_string(more) + " more" : "") +
                         "; give them more bits, let data place the binary point (frac_width = "
                         "\"auto\"), or use a block format");
}

/// The percentage of values on each port that lie beyond its format.
ReportTable saturation_table(const ir::Graph& graph, const Energies& energies,
                             const std::string& folder, Tree& info) {
  ReportTable table{"Saturated values [%]",
                    {"Node", "Weight", "Bias", "Data in"},
                    {},
                    folder + "/quantize_saturation.csv"};
  for (ir::NodeId id : graph.order()) {
    const auto found = energies.find(graph.node(id).name);
    if (graph.node(id).formats.empty() || found == energies.end()) continue;
    std::vector<std::string> row{found->first};
    for (const char* port : {"weight", "bias", "data_in"}) {
      const auto energy = found->second.find(port);
      const bool known = energy != found->second.end() && energy->second.values > 0;
      if (!known) {
        row.emplace_back("NA");
        continue;
      }
      const double share = double(energy->second.saturated) / double(energy->second.values);
      info[found->first][port] = share;
      row.push_back(fixed_text(100 * share, 3));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Bits per element on the ports of quantized nodes, including shared exponents and scales.
ReportTable bits_table(const ir::Graph& graph, const std::string& folder, Tree& info) {
  ReportTable table{"Bits per element",
                    {"Node", "Weight", "Bias", "Data in", "Output"},
                    {},
                    folder + "/quantize_bits.csv"};
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    if (node.formats.empty()) continue;
    std::vector<std::string> row{node.name};
    for (const char* port : {"weight", "bias", "data_in", "data_out"}) {
      const std::optional<double> bits = bits_at_port(graph, node, port);
      if (bits) info[node.name][port] = *bits;
      row.push_back(bits ? fixed_text(*bits, 3) : "NA");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// "weights 8 bits", "weights 4.25 to 8 bits": the least and the most at the ports of this name;
/// "" if no node has such a port.
std::string bits_text(const Tree& bits, const char* port, const std::string& name) {
  std::set<double> found;
  for (const auto& [node, ports] : bits.as_dict())
    if (const Tree* value = ports.find(port)) found.insert(value->as_double());
  if (found.empty()) return "";
  const auto number = [](double x) { return fixed_text(x, x == std::floor(x) ? 0 : 2); };
  const std::string least = number(*found.begin()), most = number(*found.rbegin());
  return "; " + name + " " + (least == most ? least : least + " to " + most) + " bits";
}

/// The node whose output is furthest from the original's; "" if none was measured or differs.
std::string worst_text(const Tree& sqnr) {
  std::optional<std::pair<double, std::string>> worst;
  for (const auto& [node, ports] : sqnr.as_dict()) {
    const Tree* value = ports.find("data_out");
    if (!value || value->is_string()) continue;
    const std::pair<double, std::string> here{value->as_double(), node};
    worst = worst ? std::min(*worst, here) : here;
  }
  if (!worst) return "";
  return "; lowest SQNR of an output " + fixed_text(worst->first, 2) + " dB, at " + worst->second;
}

/// What was quantized in one line.
std::string headline(const Tree& info) {
  std::size_t total = 0, changed = 0;
  std::vector<std::string> types;
  for (const auto& [type, counts] : info.at("histogram").as_dict()) {
    const auto here = static_cast<std::size_t>(counts.at("changed").as_int());
    total += static_cast<std::size_t>(counts.at("total").as_int());
    changed += here;
    if (here > 0) types.push_back(std::to_string(here) + " " + type);
  }
  const Tree* sqnr = info.find("sqnr_db");
  return std::to_string(changed) + " of " + counted(total, "node") + " changed" +
         (types.empty() ? "" : " (" + join(types, ", ") + ")") +
         bits_text(info.at("bits"), "weight", "weights") +
         bits_text(info.at("bits"), "data_in", "inputs") + (sqnr ? worst_text(*sqnr) : "");
}

Tree histogram_info(const ReportTable& table) {
  Tree info = Tree::dict();
  for (const auto& row : table.rows) {
    Tree& entry = info[row[0]];
    entry["op"] = row[1];
    entry["total"] = std::stoi(row[2]);
    entry["changed"] = std::stoi(row[3]);
    entry["unchanged"] = std::stoi(row[4]);
  }
  return info;
}

}  // namespace

Result SummarizeQuantization::run(ir::Graph& graph, const Options& options, PassContext& context) {
  Result result;
  MASE_CHECK(context.original, "summarize_quantization needs the graph before the pipeline");
  result.tables.push_back(type_table(*context.original, graph, options.save_dir));
  result.tables.push_back(histogram(result.tables.front(), options.save_dir));
  result.info["histogram"] = histogram_info(result.tables.back());
  Tree bits = Tree::dict();
  result.tables.push_back(bits_table(graph, options.save_dir, bits));
  result.info["bits"] = std::move(bits);
  result.headline = headline(result.info);
  if (!options.sqnr) return result;
  Energies energies;
  std::set<std::string> masked;
  add_weight_energies(graph, energies);
  if (context.evaluator && context.probe_is_data)
    add_activation_energies(graph, context, energies, masked);
  else
    result.notes.emplace_back(
        "SQNR of activations was not measured: give a data set, or example inputs with --input");
  Tree sqnr = Tree::dict();
  result.tables.push_back(sqnr_table(graph, energies, options.save_dir, sqnr));
  result.info["sqnr_db"] = std::move(sqnr);
  result.headline = headline(result.info);
  warn_of_noise(graph, energies, result);
  if (!masked.empty())
    result.notes.push_back(
        "numbers of -1000 and below, as in finite masks, take the bits of the "
        "scores beside them; use -inf in masks that are inputs, at: " +
        join({masked.begin(), masked.end()}, ", "));
  Tree saturation = Tree::dict();
  result.tables.push_back(saturation_table(graph, energies, options.save_dir, saturation));
  result.info["saturation"] = std::move(saturation);
  return result;
}

}  // namespace mase::passes
