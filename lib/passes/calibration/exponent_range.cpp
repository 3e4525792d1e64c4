// SPDX-License-Identifier: Apache-2.0
// Runs over the data twice: first for the exponents of blocks, then for the errors of all lowest
// exponents at once.
#include "passes/calibration/exponent_range.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.hpp"
#include "formats/pieces.hpp"
#include "ir/metadata.hpp"
#include "passes/calibration/candidates.hpp"
#include "passes/calibration/known_choices.hpp"
#include "passes/calibration/shared_choices.hpp"

namespace mase::passes {
namespace {

constexpr int most_below = 24;  ///< lowest exponents that are tried, below the largest block's

formats::Format with_exponent(const formats::Format& format, std::string_view field,
                              const Tree& value) {
  const auto made = with_field(format, std::string(field), value);
  MASE_CHECK(made, "an exponent that the format does not have");
  return *made;
}

/// Adds the squared errors to `sum`, one after another.
void add_squared_errors(double& sum, const formats::Format& format, const Array& values) {
  const auto in = values.span<float>();
  std::vector<float> out(in.size());
  format.quantize(in, out, values.shape());
  for (std::size_t i = 0; i < in.size(); ++i) sum += std::pow(double(out[i]) - double(in[i]), 2);
}

/// What is measured at one port.
class PortExponents {
 public:
  PortExponents(formats::Format format, const std::vector<std::string>& fields)
      : format_(std::move(format)),
        chooses_min_(std::ranges::find(fields, exponent_min) != fields.end()),
        chooses_max_(std::ranges::find(fields, exponent_max) != fields.end()) {
    for (const std::string& field : fields) format_ = with_exponent(format_, field, Tree());
    highest_ = (1 << (format_.fields().at("scale_bits").as_int() - 1)) - 1;
  }

  /// Code 0 is that of blocks of zeros; those of the lowest exponent are as good as such.
  void look_at(const Array& values) {
    pieces_of(values).for_each(values, [&](const formats::Piece& piece, const Array& part) {
      const auto shared = format_.encode(part.span<float>(), piece.shape).shared.unpack();
      for (const std::uint32_t code : shared) {
        if (code == 0) continue;
        const int exponent = static_cast<int>(code) - highest_;
        least_ = std::min(least_.value_or(exponent), exponent);
        most_ = std::max(most_.value_or(exponent), exponent);
      }
    });
  }
  /// Chooses the highest exponent and sets up the lowest ones.
  void begin() {
    if (!most_) return;
    if (chooses_max_)
      format_ = with_exponent(format_, exponent_max, Tree(std::min(*most_ + 1, highest_)));
    if (!chooses_min_) return;
    for (int e = std::max(*least_, *most_ - most_below); e <= *most_; ++e)
      tried_.push_back(with_exponent(format_, exponent_min, Tree(e)));
    errors_.resize(tried_.size());
  }
  void score(const Array& values) {
    std::vector<double> sums(tried_.size());
    pieces_of(values).for_each(values, [&](const formats::Piece&, const Array& part) {
      for (std::size_t i = 0; i < tried_.size(); ++i) add_squared_errors(sums[i], tried_[i], part);
    });
    for (std::size_t i = 0; i < tried_.size(); ++i) errors_[i] += sums[i];
  }
  /// The format, and as its value the loss in dB.
  PortChoice choice() const {
    if (tried_.empty()) return {format_, Tree(0.0)};
    std::size_t best = tried_.size() - 1;
    while (errors_[best] > (1 + added_error) * errors_[0]) --best;
    const bool exact = errors_[0] == 0;
    return {tried_[best], Tree(exact ? 0.0 : 10 * std::log10(errors_[best] / errors_[0]))};
  }

 private:
  formats::Pieces pieces_of(const Array& values) const {
    const bool whole = format_.is_stochastic();  // chance follows the place in the tensor
    return {format_.deterministic(), values.shape(), whole ? values.size() : formats::usual_piece};
  }

  formats::Format format_;
  bool chooses_min_, chooses_max_;
  int highest_ = 0;  ///< the exponent of the highest code, which is also the bias of codes
  std::optional<int> least_, most_;
  std::vector<formats::Format> tried_;
  std::vector<double> errors_;
};

std::vector<PortChoice> own_ranges(const ir::Graph& graph, const std::vector<BoundedPort>& ports,
                                   const CalibrationOptions& options, const PassContext& context) {
  std::vector<Source> sources;
  std::vector<PortExponents> all;
  for (const auto& [name, fields] : ports) {
    sources.push_back(source_at(graph, name));
    all.emplace_back(graph.find_node(name.node)->formats.at(name.port), fields);
  }
  const auto run = [&](const SeeValues& see) {
    show_values(graph, sources, ir::Level::floating, options.num_samples, context, see);
  };
  run([&](std::size_t i, const Array& values) { all[i].look_at(values); });
  for (PortExponents& port : all) port.begin();
  run([&](std::size_t i, const Array& values) { all[i].score(values); });
  std::vector<PortChoice> choices;
  choices.reserve(all.size());
  for (const PortExponents& port : all) choices.push_back(port.choice());
  return choices;
}

/// Measures ports, which the processes that run the same passes share.
std::vector<PortChoice> measured_ranges(const ir::Graph& graph,
                                        const std::vector<BoundedPort>& ports,
                                        const CalibrationOptions& options,
                                        const PassContext& context) {
  std::vector<Source> sources;
  for (const BoundedPort& port : ports) sources.push_back(source_at(graph, port.name));
  const SharedSources shared(graph, sources, options.num_samples, context);
  return share_choices(shared, [&](const std::vector<std::size_t>& places) {
    std::vector<BoundedPort> own;
    for (const std::size_t place : places) own.push_back(ports[place]);
    return own_ranges(graph, own, options, context);
  });
}

/// The same from what has been chosen before.
std::vector<PortChoice> chosen_ranges(const ir::Graph& graph, const std::vector<BoundedPort>& ports,
                                      const CalibrationOptions& options,
                                      const PassContext& context) {
  if (!context.known_choices) return measured_ranges(graph, ports, options, context);
  const auto question = [&](const BoundedPort& port) {
    return "exponents of " + port.name.text() + ", " +
           graph.find_node(port.name.node)->formats.at(port.name.port).text() + ", " +
           join(port.fields, " ") + ", " + std::to_string(options.num_samples);
  };
  std::vector<BoundedPort> open;
  for (const BoundedPort& port : ports)
    if (!context.known_choices->find(graph, question(port))) open.push_back(port);
  if (!open.empty()) {
    const std::vector<PortChoice> found = measured_ranges(graph, open, options, context);
    for (std::size_t i = 0; i < open.size(); ++i)
      context.known_choices->add(graph, question(open[i]), found[i]);
  }
  std::vector<PortChoice> all;
  for (const BoundedPort& port : ports)
    all.push_back(*context.known_choices->find(graph, question(port)));
  return all;
}

}  // namespace

void bound_exponents(ir::Graph& graph, const std::vector<BoundedPort>& ports,
                     const CalibrationOptions& options, const PassContext& context,
                     Result& result) {
  if (ports.empty()) return;
  ReportTable table{"Ranges of shared exponents",
                    {"Node", "Port", "Format", "Lowest", "Highest", "SQNR lost [dB]"},
                    {},
                    "exponents.csv"};
  const std::vector<PortChoice> choices = chosen_ranges(graph, ports, options, context);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto& [name, port] = ports[i].name;
    const formats::Format& format = choices[i].format;
    ir::Node& node = graph.node(graph.find_node(name)->id);
    node.formats.insert_or_assign(port, format);
    if (node.meta.common.size() > 0) node.meta.common = ir::common_metadata(graph, node);
    const Tree fields = format.fields();
    const auto text = [&](std::string_view field) { return to_json(fields.at(field), -1); };
    table.rows.push_back({name, port, format.short_text(), text(exponent_min), text(exponent_max),
                          fixed_text(choices[i].value.as_double(), 3)});
    Tree entry = Tree::dict();
    entry["node"] = name;
    entry["port"] = port;
    entry["format"] = format.text();
    entry["sqnr_loss_db"] = choices[i].value;
    result.info["exponents"].push_back(std::move(entry));
  }
  result.headline += (result.headline.empty() ? "" : ", ") + counted(ports.size(), "range") +
                     " of exponents fitted to the data";
  result.tables.push_back(std::move(table));
}

}  // namespace mase::passes
