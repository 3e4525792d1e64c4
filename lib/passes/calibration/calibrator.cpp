// SPDX-License-Identifier: Apache-2.0
// Runs over the data twice: first for magnitudes, then for all candidates at once.
#include "passes/calibration/calibrator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "base/text.hpp"
#include "formats/pieces.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"
#include "passes/calibration/candidates.hpp"
#include "passes/calibration/known_choices.hpp"
#include "passes/calibration/score.hpp"
#include "passes/calibration/shared_choices.hpp"

namespace mase::passes {
namespace {

const formats::Format& format_at(const ir::Graph& graph, const PortName& port) {
  return graph.find_node(port.node)->formats.at(port.port);
}

/// The format of one part.
formats::Format part_format(const formats::Format& format) {
  if (!format.per_channel()) return format;
  Tree fields = format.fields();
  fields[granularity_field] = "tensor";
  fields[formats::find_format(format.name())->calibrated_by_channel] = Tree::list();
  return formats::format_of(format.name(), fields);
}

double largest_of(const Array& values) {
  double largest = 0;
  const formats::Pieces pieces(values.shape(), formats::usual_piece);
  pieces.for_each(values, [&](const formats::Piece&, const Array& part) {
    for (const float value : part.span<float>())
      largest = std::max(largest, std::fabs(double(value)));
  });
  return largest;
}

/// The candidates of parts, each list once: channels by the thousand have the same few lists.
class CandidateLists {
 public:
  SharedCandidates shared(std::vector<Candidate> candidates) {
    std::string values;
    for (const Candidate& candidate : candidates) values += to_json(candidate.value, -1) + " ";
    SharedCandidates& list = lists_[values];
    if (!list) list = std::make_shared<const std::vector<Candidate>>(std::move(candidates));
    return list;
  }

 private:
  std::map<std::string, SharedCandidates> lists_;  ///< by the values of a format's field
};

/// Measurements at one port, by part: largest magnitudes in the first run, scores in the second.
struct PortParts {
  formats::Format format;
  std::vector<double> largest;
  std::vector<PortScores> scores;

  /// The parts of a tensor that each have a value of the calibrated field: the tensor itself, or
  /// its channels.
  template <class See>
  void for_each(const Array& values, const See& see) const {
    if (!format.per_channel()) return see(std::size_t{0}, values);
    for (std::int64_t i = 0; i < values.shape().front(); ++i)
      see(static_cast<std::size_t>(i), values.rows(i, 1));
  }
  void look_at(const Array& values) {
    for_each(values, [&](std::size_t i, const Array& part) {
      largest.resize(std::max(largest.size(), i + 1));
      largest[i] = std::max(largest[i], largest_of(part));
    });
  }
  /// Sets up the candidates of every part; a part of zeros only has its present format.
  void begin(const CalibrationOptions& options) {
    const formats::Format plain = part_format(format);
    const std::string& field = formats::find_format(format.name())->calibrated;
    if (largest.empty()) largest.push_back(0);
    CandidateLists lists;
    MadeCandidates made;
    scores.reserve(largest.size());
    for (const double most : largest)
      scores.emplace_back(
          lists.shared(most > 0 ? candidates(plain, most, made)
                                : std::vector<Candidate>{{plain.fields().at(field), plain, 0.0}}),
          options);
  }
  void score(const Array& values) {
    for_each(values, [&](std::size_t i, const Array& part) { scores[i].add(part); });
  }
};

void check_source(const Source& source, const formats::Format& format) {
  if (format.per_channel() && !source.nodes.empty())
    config_error(source.what + ": " + format.short_text() +
                 " has a value for each channel of a parameter, but this port carries data; "
                 "give it granularity = \"tensor\"");
}

/// The most bits by which a channel may be finer than the widest one. A channel close to zero, as a
/// batch norm leaves it when training has given it up, must not move every sum to its binary point.
constexpr std::int64_t finest_beyond_widest = 16;

/// Gives the format the values of its channels, which are all fraction bits. A channel of zeros,
/// which any value suits, gets the finest of the others; the whole tensor's field gets the least.
void give_channels(PortChoice& choice, const std::vector<const Candidate*>& chosen,
                   const std::vector<double>& largest) {
  std::optional<std::int64_t> least, most;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (largest[i] == 0) continue;
    const std::int64_t value = chosen[i]->value.as_int();
    least = std::min(least.value_or(value), value);
    most = std::max(most.value_or(value), value);
  }
  if (!least) return;
  const std::int64_t finest = std::min(*most, *least + finest_beyond_widest);
  const formats::FormatRow& row = *formats::find_format(choice.format.name());
  Tree::List values;
  values.reserve(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    values.emplace_back(largest[i] == 0 ? finest : std::min(finest, chosen[i]->value.as_int()));
  choice.value = Tree(std::move(values));
  Tree fields = choice.format.fields();
  fields[row.calibrated] = *least;
  fields[row.calibrated_by_channel] = choice.value;
  choice.format = formats::format_of(row.name, fields);
}

/// The binary point of sums of products at a node. Finer bits of a bias change no sum by half a
/// step, but would widen every weight and sum. Returns nullopt when a format has no binary point.
std::optional<std::int64_t> finest_bias(const ir::Node& node) {
  std::int64_t point = 0;
  for (const char* port : {"data_in", "weight"}) {
    const auto format = node.formats.find(port);
    if (format == node.formats.end()) return std::nullopt;
    const formats::FormatRow& row = *formats::find_format(format->second.name());
    if (row.calibrated != binary_point) return std::nullopt;
    const Tree fields = format->second.fields();
    std::int64_t finest = fields.at(row.calibrated).as_int();
    if (format->second.per_channel())
      for (const Tree& one : fields.at(row.calibrated_by_channel).as_list())
        finest = std::max(finest, one.as_int());
    point += finest;
  }
  return point;
}

/// True when a node adds up products of its data and its weight, and then adds its bias.
bool sums_products(const ir::Graph& graph, const ir::Node& node) {
  using enum ir::OpFamily;
  constexpr std::array families{linear, convolution, transposed_convolution, added_product};
  return std::ranges::find(families, ir::classify(graph, node).family()) != families.end();
}

/// Keeps a bias from being finer than the sums that it is added to.
void bound_bias(const ir::Graph& graph, const PortName& port, PortChoice& choice) {
  const ir::Node& node = *graph.find_node(port.node);
  const std::string& field = formats::find_format(choice.format.name())->calibrated;
  if (port.port != "bias" || field != binary_point || choice.format.per_channel()) return;
  const auto finest = sums_products(graph, node) ? finest_bias(node) : std::nullopt;
  if (!finest || choice.value.as_int() <= *finest) return;
  const auto bounded = with_field(choice.format, field, Tree(*finest));
  if (!bounded) return;
  choice.format = *bounded;
  choice.value = *finest;
}

PortChoice choice_of(const PortParts& port, const CalibrationOptions& options) {
  PortChoice choice{.format = port.format};
  std::vector<const Candidate*> chosen;
  for (const PortScores& scores : port.scores) {
    const std::vector<Score> measured = scores.scores();
    const std::size_t best = choose(scores.candidates(), measured, scores.count(), options);
    chosen.push_back(&scores.candidates()[best]);
    choice.values += scores.count();
    choice.saturated += measured[best].saturated;
  }
  choice.value = chosen.front()->value;
  if (port.format.per_channel())
    give_channels(choice, chosen, port.largest);
  else
    choice.format = chosen.front()->format;
  return choice;
}

/// Measures ports and chooses for them. The scores of a port that only carries parameters are gone
/// before those of the next one exist: a format by channel has scores for every channel.
class Measurement {
 public:
  Measurement(const ir::Graph& graph, const std::vector<PortName>& ports,
              const CalibrationOptions& options)
      : options_(options), choices_(ports.size()) {
    for (const PortName& port : ports) {
      sources_.push_back(source_at(graph, port));
      parts_.push_back({format_at(graph, port), {}, {}});
      check_source(sources_.back(), parts_.back().format);
    }
  }

  /// Runs over the data twice, and returns the choice for every port.
  std::vector<PortChoice> run(const ir::Graph& graph, const PassContext& context) {
    const auto show = [&](const SeeValues& see) {
      show_values(graph, sources_, ir::Level::floating, options_.num_samples, context, see);
    };
    show([&](std::size_t i, const Array& values) { parts_[i].look_at(values); });
    show([&](std::size_t i, const Array& values) {
      settle_parameters(i);
      if (parts_[i].scores.empty()) parts_[i].begin(options_);
      parts_[i].score(values);
    });
    std::vector<PortChoice> all;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      settle(i);
      all.push_back(*std::move(choices_[i]));
    }
    return all;
  }

 private:
  /// Chooses for the ports before `end` that only carry parameters, of which all have been seen:
  /// parameters are shown in the order of the ports, before any activation.
  void settle_parameters(std::size_t end) {
    for (; shown_ < end; ++shown_)
      if (sources_[shown_].nodes.empty() && sources_[shown_].recurrent.empty()) settle(shown_);
  }
  void settle(std::size_t i) {
    if (choices_[i]) return;
    if (parts_[i].scores.empty()) parts_[i].begin(options_);
    choices_[i] = choice_of(parts_[i], options_);
    parts_[i].scores = {};
    parts_[i].largest = {};
  }

  const CalibrationOptions& options_;
  std::vector<Source> sources_;
  std::vector<PortParts> parts_;
  std::vector<std::optional<PortChoice>> choices_;
  std::size_t shown_ = 0;  ///< ports before this one have seen all their parameters
};

std::string percent(double share) { return fixed_text(100 * share, 3); }

std::string value_text(const Tree& value) {
  if (value.is_string()) return value.as_string();
  if (!value.is_list()) return to_json(value, -1);
  const auto [least, most] = std::ranges::minmax_element(
      value.as_list(), {}, [](const Tree& item) { return item.as_int(); });
  return std::to_string(least->as_int()) + " to " + std::to_string(most->as_int());
}

void report(const PortName& port, PortChoice& choice, const CalibrationOptions& options,
            ReportTable& table, Result& result) {
  const std::string field = formats::find_format(choice.format.name())->calibrated;
  const std::string format = choice.format.short_text();
  table.rows.push_back({port.node, port.port, format, field, value_text(choice.value),
                        std::to_string(choice.values), percent(choice.share())});
  Tree entry = Tree::dict();
  entry["node"] = port.node;
  entry["port"] = port.port;
  entry["format"] = choice.format.text();
  entry["field"] = field;
  entry["value"] = std::move(choice.value);  // a long list, by channel
  entry["values"] = choice.values;
  entry["saturated"] = choice.share();
  result.info["calibrated"].push_back(std::move(entry));
  if (choice.share() > options.saturation_warning)
    result.notes.push_back(port.text() + ": " + percent(choice.share()) +
                           " % of the calibration values saturate in " + format);
}

/// The indices of ports in the order in which their formats are chosen: biases come last.
std::vector<std::size_t> biases_last(const std::vector<PortName>& ports) {
  std::vector<std::size_t> places(ports.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_partition(places, [&](std::size_t i) { return ports[i].port != "bias"; });
  return places;
}

/// What the choice for a port follows from, beside the float model and the data.
std::string question_of(const ir::Graph& graph, const PortName& port,
                        const CalibrationOptions& options) {
  return port.text() + ", " + format_at(graph, port).text() + ", " + options.method + ", " +
         double_text(options.percentile) + ", " + std::to_string(options.num_samples);
}

/// Measures ports, which the processes that run the same passes share.
std::vector<PortChoice> measured_formats(const ir::Graph& graph, const std::vector<PortName>& ports,
                                         const CalibrationOptions& options,
                                         const PassContext& context) {
  std::vector<Source> sources;
  for (const PortName& port : ports) sources.push_back(source_at(graph, port));
  const SharedSources shared(graph, sources, options.num_samples, context);
  return share_choices(shared, [&](const std::vector<std::size_t>& places) {
    std::vector<PortName> own;
    for (const std::size_t place : places) own.push_back(ports[place]);
    return Measurement(graph, own, options).run(graph, context);
  });
}

/// The choices for all ports, without those of other ports in mind.
std::vector<PortChoice> chosen_formats(const ir::Graph& graph, const std::vector<PortName>& ports,
                                       const CalibrationOptions& options,
                                       const PassContext& context) {
  std::vector<std::optional<PortChoice>> chosen(ports.size());
  std::vector<PortName> open;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (context.known_choices)
      chosen[i] = context.known_choices->find(graph, question_of(graph, ports[i], options));
    if (!chosen[i]) open.push_back(ports[i]);
  }
  std::vector<PortChoice> measured;
  if (!open.empty()) measured = measured_formats(graph, open, options, context);
  std::vector<PortChoice> all;
  auto next = measured.begin();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!chosen[i]) {
      chosen[i] = std::move(*next++);
      if (context.known_choices)
        context.known_choices->add(graph, question_of(graph, ports[i], options), *chosen[i]);
    }
    all.push_back(*std::move(chosen[i]));
  }
  return all;
}

}  // namespace

Source source_at(const ir::Graph& graph, const PortName& name) {
  Source all{name.text(), {}, {}};
  const ir::Node& node = *graph.find_node(name.node);
  if (name.port == "data_out") all.nodes.push_back(name.node);
  for (const ir::Port& port : ir::ports(graph, node)) {
    if (port.name != name.port) continue;
    if (port.inner) all.recurrent.push_back(name.node);
    if (port.inner) continue;
    const Source one = source_of(graph, "", port.value, port.tensor);
    all.tensors.insert(all.tensors.end(), one.tensors.begin(), one.tensors.end());
    all.nodes.insert(all.nodes.end(), one.nodes.begin(), one.nodes.end());
  }
  return all;
}

void calibrate_ports(ir::Graph& graph, const std::vector<PortName>& ports,
                     const CalibrationOptions& options, const PassContext& context,
                     Result& result) {
  if (ports.empty()) return;
  ReportTable table{"Calibration (" + options.method + ")",
                    {"Node", "Port", "Format", "Field", "Value", "Values", "Saturated [%]"},
                    {},
                    "calibration.csv"};
  std::vector<PortChoice> chosen = chosen_formats(graph, ports, options, context);
  for (const std::size_t i : biases_last(ports)) {
    PortChoice& choice = chosen[i];
    bound_bias(graph, ports[i], choice);
    ir::Node& node = graph.node(graph.find_node(ports[i].node)->id);
    node.formats.insert_or_assign(ports[i].port, choice.format);
    if (node.meta.common.size() > 0) node.meta.common = ir::common_metadata(graph, node);
  }
  for (std::size_t i = 0; i < ports.size(); ++i)
    report(ports[i], chosen[i], options, table, result);
  result.headline =
      counted(chosen.size(), "format") + " fitted to the data (" + options.method + ")";
  result.tables.push_back(std::move(table));
}

}  // namespace mase::passes
