// SPDX-License-Identifier: Apache-2.0
// The output of the report passes; every figure comes from the graph.
#include "passes/analysis/report_graph.hpp"

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "base/text.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "report/table.hpp"

namespace mase::passes {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Writes to the file when one is named, otherwise to the result's text.
void deliver(std::string text, const std::optional<std::string>& file, const PassContext& context,
             Result& result) {
  if (!file) {
    result.text.push_back(std::move(text));
    return;
  }
  const std::string path = context.output_path(*file);
  write_file(path, text);
  result.info["file"] = path;
}

std::string banner(const std::string& title) {
  const std::string line(70, '=');
  return line + "\n" + title + "\n" + line + "\n";
}

std::string values_text(const ir::Graph& graph, const std::vector<ir::Value>& values) {
  std::vector<std::string> parts;
  for (const ir::Value& value : values) parts.push_back(ir::print(graph, value));
  return "(" + join(parts, ", ") + ")";
}

std::string keywords_text(const ir::Graph& graph, const ir::FxArguments& arguments) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : arguments.kwargs)
    parts.push_back(key + "=" + ir::print(graph, value));
  return "{" + join(parts, ", ") + "}";
}

std::string summary_table(const ir::Graph& graph) {
  Rows rows;
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const ir::FxArguments arguments = ir::fx_arguments(graph, node);
    rows.push_back({std::string(ir::kind_name(node.kind)), node.name, node.target,
                    values_text(graph, arguments.args), keywords_text(graph, arguments)});
  }
  return report::plain({"opcode", "name", "target", "args", "kwargs"}, rows);
}

constexpr std::array kinds{ir::NodeKind::placeholder,   ir::NodeKind::get_attr,
                           ir::NodeKind::call_function, ir::NodeKind::call_method,
                           ir::NodeKind::call_module,   ir::NodeKind::output};

Tree kind_counts(const ir::Graph& graph) {
  Tree counts = Tree::dict();
  for (ir::NodeKind kind : kinds)
    counts[ir::kind_name(kind)] =
        std::size_t(std::count_if(graph.order().begin(), graph.order().end(),
                                  [&](ir::NodeId id) { return graph.node(id).kind == kind; }));
  return counts;
}

std::string layer_lines(const ir::Graph& graph) {
  std::string out;
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    if (node.kind != ir::NodeKind::call_module) continue;
    const ir::Module& module = graph.module_of(node);
    std::vector<std::string> attributes;
    for (const ir::Argument& a : module.attributes)
      attributes.push_back(a.name + "=" + ir::print(graph, a.value));
    out += "  " + module.path + ": " + std::string(module.short_class()) + "(" +
           join(attributes, ", ") + ")\n";
  }
  return out;
}

bool wants(const std::vector<std::string>& which, const std::string& part) {
  return std::any_of(which.begin(), which.end(),
                     [&](const std::string& w) { return w == "all" || w == part; });
}

/// `data_in_0 = [4, 16]` for a record of a tensor, the whole record for any other.
std::string record_lines(const Tree* records) {
  std::string out;
  if (!records || !records->is_dict()) return out;
  for (const auto& [name, record] : records->as_dict()) {
    const Tree* shape = name.starts_with("data_") ? record.find("shape") : nullptr;
    out += "  " + name + " = " + to_json(shape ? *shape : record, -1) + "\n";
  }
  return out;
}

}  // namespace

Result ReportGraph::run(ir::Graph& graph, const Options& options, PassContext& context) {
  Result result;
  const Tree counts = kind_counts(graph);
  std::string text = "Graph report of " + graph.name + "\n\n" + banner("Graph Summary") +
                     summary_table(graph) + "\n" + banner("Graph Syntax") +
                     ir::print(graph, {.metadata = false}) + "\n" + banner("Graph Overview");
  for (const auto& [kind, count] : counts.as_dict())
    text += kind + ": " + std::to_string(count.as_int()) + "\n";
  text += "layers:\n" + layer_lines(graph);
  result.info["counts"] = counts;
  deliver(std::move(text), options.file_name, context, result);
  return result;
}

Result ReportNodeType::run(ir::Graph& graph, const Options&, PassContext&) {
  ReportTable table{
      "Node types", {"Node name", "Fx Node op", "Mase type", "Mase op", "Value type"}, {}, ""};
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const ir::Classified type = ir::classify(graph, node);
    const Tree common = ir::common_metadata(graph, node);
    const Tree* args = common.find("args");
    const Tree* input = args ? args->find("data_in_0") : nullptr;
    const Tree* value_type = input ? input->find("type") : nullptr;
    table.rows.push_back({node.name, std::string(ir::kind_name(node.kind)),
                          std::string(ir::mase_type_name(type.type)), type.op,
                          value_type && value_type->is_string() ? value_type->as_string() : "NA"});
  }
  Result result;
  result.tables.push_back(std::move(table));
  return result;
}

Result ReportNodeShape::run(ir::Graph& graph, const Options&, PassContext&) {
  Result result;
  std::string text;
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const Tree common = ir::common_metadata(graph, node);
    text += node.name + ":\nin:\n" + record_lines(common.find("args")) + "out:\n" +
            record_lines(common.find("results")) + "\n";
  }
  result.text.push_back(std::move(text));
  return result;
}

Result ReportNodeMetaParam::run(ir::Graph& graph, const Options& options, PassContext& context) {
  std::vector<std::string> header{"Node name", "Fx Node op", "Mase type", "Mase op"};
  std::vector<std::pair<std::string, const Tree ir::Metadata::*>> parts;
  if (wants(options.which, "common")) parts.emplace_back("Common Param", &ir::Metadata::common);
  if (wants(options.which, "hardware"))
    parts.emplace_back("Hardware Param", &ir::Metadata::hardware);
  if (wants(options.which, "software"))
    parts.emplace_back("Software Param", &ir::Metadata::software);
  for (const auto& part : parts) header.push_back(part.first);
  Rows rows;
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const ir::Classified type = ir::classify(graph, node);
    rows.push_back({node.name, std::string(ir::kind_name(node.kind)),
                    std::string(ir::mase_type_name(type.type)), type.op});
    for (const auto& part : parts) rows.back().push_back(to_json(node.meta.*part.second, 2));
  }
  Result result;
  deliver(report::boxed(header, rows), options.save_path, context, result);
  return result;
}

}  // namespace mase::passes
