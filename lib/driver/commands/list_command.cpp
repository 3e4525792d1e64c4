// SPDX-License-Identifier: Apache-2.0
// `mase list` prints the program's tables (passes, formats, samplers, ...), which are made from
// the declarations.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "data/dataset.hpp"
#include "driver/all_passes.hpp"
#include "driver/commands/commands.hpp"
#include "driver/output.hpp"
#include "driver/pages/field_tree.hpp"
#include "driver/pages/list_markdown.hpp"
#include "driver/pages/list_text.hpp"
#include "driver/pages/module_list.hpp"
#include "driver/settings.hpp"
#include "formats/format.hpp"
#include "hardware/integer/datapath.hpp"
#include "hardware/integer/program.hpp"
#include "ir/op_table.hpp"
#include "models/registry.hpp"
#include "onnx/operators.hpp"
#include "passes/analysis/profile_statistics.hpp"
#include "passes/calibration/candidates.hpp"
#include "passes/quantization/quantize_config.hpp"
#include "passes/statistics/statistic.hpp"
#include "passes/transform/quantize.hpp"
#include "search/runners/runners.hpp"
#include "search/samplers/sampler.hpp"
#include "search/spaces/search_space.hpp"

namespace mase::driver {
namespace {

/// The keys of quantize's config tables for every op and format, joined from the two tables.
Tree joined_tree() {
  Tree out = Tree::dict();
  for (const ir::OpRow& op : ir::op_table()) {
    if (!op.quantizable) continue;
    for (const formats::FormatRow& format : formats::format_table())
      for (const passes::JoinedKey& key : passes::joined_keys(ir::port_names(op), format)) {
        FieldInfo field = key.field;
        field.name = key.key;
        Tree entry = field_tree(field);
        if (passes::can_be_auto(format, key.field.name))
          entry["type"] = field.type + " or \"auto\"";
        out[op.name][format.name].push_back(std::move(entry));
      }
  }
  return out;
}

/// The arguments of every statistic of profile_statistics.
Tree statistics_tree() {
  Tree out = Tree::dict();
  for (const passes::StatisticRow& row : passes::statistic_table())
    out["statistics"][row.doc.name] = fields_tree(row.fields);
  return out;
}

/// The keys of the tables that only this pass has; null if there are none.
Tree table_keys(const passes::PassRow& row) {
  if (row.doc.name == passes::Quantize::doc.name) return joined_tree();
  if (row.doc.name == passes::ProfileStatistics::doc.name) return statistics_tree();
  return {};
}

Tree pass_entries() {
  Tree out = Tree::list();
  for (const passes::PassRow& row : all_passes()) {
    Tree entry = Tree::dict();
    entry["name"] = row.doc.name;
    entry["kind"] = passes::kind_name(row.doc.kind);
    entry["doc"] = row.doc.sentence;
    entry["options"] = fields_tree(row.fields);
    if (Tree keys = table_keys(row); !keys.is_null()) entry["config_keys"] = std::move(keys);
    out.push_back(std::move(entry));
  }
  return out;
}

/// Entries for a table whose rows have a name, a sentence and options.
template <class Rows>
Tree option_entries(const Rows& rows) {
  Tree out = Tree::list();
  for (const auto& row : rows) {
    Tree entry = Tree::dict();
    entry["name"] = row.name;
    entry["doc"] = row.doc;
    if constexpr (requires { row.other_names; })
      entry["other_names"] = Tree::list_of(row.other_names);
    entry["options"] = fields_tree(row.fields);
    out.push_back(std::move(entry));
  }
  return out;
}

/// What the format with its default options stores per value of a large matrix, shared exponents
/// and scales included, to a hundredth.
double bits_by_default(const std::string& name) {
  const double bits = formats::parse_format(name).bits_per_element({1024, 1024});
  return std::round(100 * bits) / 100;
}

Tree format_entries() {
  Tree out = option_entries(formats::format_table());
  for (Tree& entry : out.as_list()) {
    const std::string name = entry.at("name").as_string();
    entry["bits"] = bits_by_default(name);
    entry["hardware"] = std::ranges::any_of(integer::datapath_table(),
                                            [&](const auto& row) { return row.format == name; });
  }
  return out;
}

Tree sampler_entries() { return option_entries(samplers::sampler_table()); }

Tree op_entries() {
  Tree out = Tree::list();
  for (const ir::OpRow& row : ir::op_table()) {
    Tree entry = Tree::dict();
    entry["name"] = row.name;
    entry["type"] = ir::mase_type_name(row.type);
    entry["quantizable"] = row.quantizable;
    entry["hardware"] = integer::has_datapath(row.name);
    entry["aten"] = Tree::list();
    for (const ir::CallRow& call : row.calls) entry["aten"].push_back(call.aten);
    entry["ports"] = row.quantizable ? Tree::list_of(ir::port_names(row)) : Tree::list();
    entry["doc"] = row.doc;
    out.push_back(std::move(entry));
  }
  return out;
}

Tree model_entries() {
  Tree out = Tree::list();
  for (const models::ModelRow& row : models::model_table()) {
    Tree entry = Tree::dict();
    entry["name"] = row.name;
    entry["doc"] = row.doc;
    entry["sample_shape"] = Tree::list_of(row.sample_shape);
    entry["classes"] = row.classes;
    entry["dataset"] = row.dataset;
    out.push_back(std::move(entry));
  }
  return out;
}

Tree dataset_entries() {
  Tree out = Tree::list();
  for (const data::DatasetRow& row : data::dataset_table()) {
    Tree entry = Tree::dict();
    entry["name"] = row.name;
    entry["doc"] = row.doc;
    entry["shape"] = row.shape;
    entry["classes"] = row.classes;
    out.push_back(std::move(entry));
  }
  return out;
}

Tree setting_entries() {
  Tree out = Tree::list();
  for (const FieldInfo& info : describe_settings()) out.push_back(field_tree(info));
  return out;
}

Tree runner_entries() {
  Tree out = Tree::list();
  for (const search::RunnerRow& row : search::runner_table()) {
    Tree entry = Tree::dict();
    entry["name"] = row.name;
    entry["table"] = row.table();
    for (const search::MetricDoc& metric : row.metrics) entry["metrics"].push_back(metric.name);
    entry["doc"] = row.doc;
    entry["options"] = fields_tree(row.fields);
    out.push_back(std::move(entry));
  }
  return out;
}

Tree space_entries() {
  Tree out = Tree::list();
  for (const search::SpaceRow& row : search::space_table()) {
    Tree entry = Tree::dict();
    entry["name"] = row.name;
    entry["part"] = row.part;
    entry["by"] = Tree::list_of(row.by);
    entry["doc"] = row.doc;
    out.push_back(std::move(entry));
  }
  return out;
}

Tree metric_entries() {
  Tree out = Tree::list();
  for (const search::MetricRow& row : search::metric_table()) {
    Tree entry = Tree::dict();
    entry["name"] = row.name;
    entry["runners"] = Tree::list_of(row.runners);
    entry["better"] = row.better == samplers::Direction::minimize ? "less" : "more";
    entry["doc"] = row.doc;
    out.push_back(std::move(entry));
  }
  return out;
}

Tree task_entries() {
  Tree out = Tree::list();
  for (const data::TaskRow& row : data::task_table()) {
    Tree entry = Tree::dict();
    entry["name"] = row.name;
    entry["also"] = Tree::list_of(row.others);
    entry["losses"] = Tree::list_of(row.losses);
    entry["figures"] = Tree::list();
    for (const data::FigureRow& figure : row.figures) entry["figures"].push_back(Tree(figure.name));
    entry["doc"] = row.doc;
    out.push_back(std::move(entry));
  }
  return out;
}

Tree onnx_entries() {
  Tree out = Tree::list();
  for (const onnx::Operator& row : onnx::operators()) {
    Tree entry = Tree::dict();
    entry["name"] = row.name;
    entry["domain"] = row.domain.empty() ? std::string_view("ai.onnx") : row.domain;
    std::vector<std::string> since;
    for (const std::int64_t opset : row.opsets) since.push_back(std::to_string(opset));
    entry["since"] = join(since, ", ");
    entry["imported"] = row.refusal.empty();
    entry["doc"] = row.refusal;
    out.push_back(std::move(entry));
  }
  return out;
}

/// A list: its entries, and the introduction of its page.
struct Listing {
  const char* what;
  Tree (*entries)();
  const char* intro;
};
constexpr Listing listings[] = {
    {"passes", pass_entries,
     "A `[passes.NAME]` table of a configuration runs a pass with these options; passes run in the "
     "order of the file."},
    {"formats", format_entries,
     "A format has the same name in TOML, on the command line and in search spaces. A "
     "[specification](../formats.md) says what each computes. `bits` is what a value of a large "
     "matrix takes with the default options, including its share of common exponents and scales; "
     "the [benchmarks](../benchmarks.md) say how fast each is. `emit` can turn the formats marked "
     "*hardware* into SystemVerilog; `mase emit` then prints the LUTs of a design."},
    {"ops", op_entries,
     "An op is what a node computes. A quantizable op has a format at each of its ports. `emit` "
     "can turn the ops marked *hardware* into SystemVerilog. Your own ops, with modules of your "
     "own, are [tables of a configuration](../adding/custom_op.md)."},
    {"onnx", onnx_entries,
     "These operators of ONNX files become nodes of the graph, or are refused for a reason. "
     "`since` "
     "has the opset from which on an operator is read, and those in which its meaning changed. "
     "[Cases](../onnx_operators.md) of the package `onnx` say how much of each passes."},
    {"models", model_entries,
     "The program builds these networks itself, with seeded initial weights."},
    {"datasets", dataset_entries,
     "Each data set has disjoint train, validation and test parts drawn with `split_seed`."},
    {"tasks", task_entries,
     "A [task](../tasks.md) says what targets a row has, and how they are trained and measured."},
    {"settings", setting_entries,
     "Settings are keys at the top of a configuration file and flags of the commands "
     "(`--max-epochs` for `max_epochs`). A flag overrides the file, which overrides the default."},
    {"samplers", sampler_entries,
     "A sampler chooses the next trial of a [search](../search.md). Set `sampler` in "
     "`[search.strategy.setup]`, with these keys beside it."},
    {"metrics", metric_entries,
     "A [search](../search.md) measures these metrics. Each is delivered by a runner, which the "
     "configuration names."},
    {"runners", runner_entries,
     "A runner measures the trials of a [search](../search.md). A table "
     "`[search.strategy.KIND.NAME]` with these keys adds a runner and its metrics."},
    {"spaces", space_entries,
     "A [search](../search.md) chooses from a space: `name` in `[search.search_space]` is one, or "
     "a list of parts to search together, and `by` is in its setup."},
    {"modules", module_entries,
     "These are the SystemVerilog modules in `hw_templates`, with what the head of each file says. "
     "`hw_templates/README.md` has the rules that all of them keep and the words of their "
     "parameters, and [timing](../hardware/timing.md) their cycles. A design gives a module all of "
     "its parameters; the defaults are those of the file. Modules without a table are parts of "
     "others."}};

const Listing& find_listing(const std::string& what) {
  for (const Listing& listing : listings)
    if (what == listing.what) return listing;
  config_error("unknown list '" + what + "'; allowed: " + join(list_names(), " | "));
}

passes::ReportTable options_table(const std::string& title, const Tree& options,
                                  const std::string& what = "Option") {
  passes::ReportTable table{title, {what, "Type", "Default", "Allowed", "Meaning"}, {}, ""};
  for (const Tree& field : options.as_list())
    table.rows.push_back({field.at("name").as_string(), field.at("type").as_string(),
                          field.at("default").as_string(), bounds_of(field),
                          field.at("doc").as_string()});
  return table;
}

/// Prints a row per entry with its scalar members. Options are shown only for a single entry.
void print_overview(const std::string& what, const Tree& entries, Output& output) {
  passes::ReportTable table{what, {}, {}, ""};
  for (const Tree& entry : entries.as_list()) {
    std::vector<std::string> row;
    const bool first = table.header.empty();
    for (const auto& [key, value] : entry.as_dict()) {
      if (is_nested(key)) continue;
      if (first) table.header.push_back(key);
      row.push_back(text_of(value));
    }
    row.resize(table.header.size());
    table.rows.push_back(std::move(row));
  }
  output.table(table);
}

/// Prints the rule for the keys of quantize's tables, the ports that it applies to and the formats.
void print_quantize_rule(Output& output) {
  output.text(
      "\n[passes.quantize.SELECTOR.config]: SELECTOR is an op, a node or a pattern (see by), or "
      "default.\n"
      "  name        a format, or \"NA\" to leave the nodes alone\n"
      "  bypass      true also leaves the nodes alone\n"
      "  PORT_FIELD  a field of the format for a port: data_in_width, weight_frac_width\n"
      "  FIELD       the same for every port: rounding\n"
      "              (an input, by its name or as placeholder, has the port data_out)\n"
      "  PORT        a whole format for a port: weight = \"mxint(width=4)\"; a name beside such "
      "keys\n"
      "              is for the other ports, but data_out, and may be left out\n"
      "A field that can be calibrated from data may be \"auto\".");
  std::map<std::string, std::vector<std::string>> ops_by_ports;
  for (const ir::OpRow& op : ir::op_table())
    if (op.quantizable) ops_by_ports[join(ir::port_names(op), ", ")].emplace_back(op.name);
  passes::ReportTable table{"Ports", {"Ports", "Ops"}, {}, ""};
  for (const auto& [ports, ops] : ops_by_ports) {
    constexpr std::size_t most = 8;
    std::vector<std::string> shown(ops.begin(),
                                   ops.begin() + std::ptrdiff_t(std::min(ops.size(), most)));
    if (ops.size() > most) shown.push_back("... (" + std::to_string(ops.size()) + ")");
    table.rows.push_back({ports, join(shown, ", ")});
  }
  output.table(table);
  std::vector<std::string> formats;
  for (const formats::FormatRow& format : formats::format_table())
    formats.emplace_back(format.name);
  output.text(
      "Formats: " + join(formats, ", ") +
      "\nFields of a format: mase list formats NAME; ports of an op: mase list ops OP; all keys "
      "of all ops and formats: --all");
}

void print_entry(const Tree& entry, bool all, Output& output) {
  for (const auto& [key, value] : entry.as_dict())
    if (!is_nested(key)) output.text(key + ": " + text_of(value));
  if (const Tree* options = entry.find("options"); options && options->size() > 0)
    output.table(options_table("Options", *options));
  if (const Tree* description = entry.find("description"))
    output.text("\n" + description->as_string());
  if (const Tree* parameters = entry.find("parameters"); parameters && parameters->size() > 0)
    output.table(options_table("Parameters", *parameters, "Parameter"));
  const Tree* joined = entry.find("config_keys");
  if (!joined) return;
  const bool is_quantize = entry.at("name").as_string() == passes::Quantize::doc.name;
  if (is_quantize && !all) return print_quantize_rule(output);
  for (const auto& [group, tables] : joined->as_dict())
    for (const auto& [name, keys] : tables.as_dict())
      output.table(options_table(
          is_quantize ? "[passes.quantize." + group + ".config] with name = \"" + name + "\""
                      : "weight_statistics." + name + ", activation_statistics." + name,
          keys));
}

const Tree& find_entry(const Tree& entries, const std::string& what, const std::string& name) {
  std::vector<std::string> names;
  for (const Tree& entry : entries.as_list()) {
    if (entry.at("name").as_string() == name) return entry;
    names.push_back(entry.at("name").as_string());
  }
  config_error("no '" + name + "' among the " + what +
               did_you_mean(name, names, ": " + join(names, ", ")));
}

}  // namespace

std::vector<std::string> list_names() {
  std::vector<std::string> names;
  for (const Listing& listing : listings) names.emplace_back(listing.what);
  return names;
}

std::vector<std::string> listed(const std::string& what) {
  std::vector<std::string> names;
  const Tree entries = find_listing(what).entries();
  for (const Tree& entry : entries.as_list()) names.push_back(entry.at("name").as_string());
  return names;
}

int list(const ListRequest& request) {
  const Listing& listing = find_listing(request.what);
  const Tree entries = listing.entries();
  Output output(request.json);
  if (request.markdown) {
    output.text(markdown_page(listing.what, listing.intro, entries));
    return 0;
  }
  if (request.name) {
    const Tree& entry = find_entry(entries, request.what, *request.name);
    output.document() = entry;
    print_entry(entry, request.all, output);
  } else {
    output.document() = entries;
    print_overview(request.what, entries, output);
  }
  output.finish();
  return 0;
}

}  // namespace mase::driver
