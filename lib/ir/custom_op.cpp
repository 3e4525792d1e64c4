// SPDX-License-Identifier: Apache-2.0
// Reading and writing the tables of custom ops. The tables come from users and from files, so every
// text, name and number is bounded.
#include "ir/custom_op.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::ir {
namespace {

constexpr std::size_t most_ops = 64, most_files = 16, most_file_bytes = std::size_t{1} << 20;
constexpr std::size_t most_entries = std::size_t{1} << 16, most_ports = 64, most_terms = 64;
/// Names that mean something else where a configuration names ops.
constexpr std::array<std::string_view, 4> other_words{"default", "placeholder", "output",
                                                      "constant"};

bool is_name(std::string_view text) {
  const auto inner = [](char c) { return is_identifier_char(c); };
  return !text.empty() && text.size() <= 64 && !(text[0] >= '0' && text[0] <= '9') &&
         std::ranges::all_of(text, inner);
}

/// Names of modules and files must not collide with the modules that come with the program.
bool is_module_name(std::string_view text) { return is_name(text) && !text.starts_with("mase_"); }

bool is_file_name(std::string_view text) {
  const std::size_t dot = text.rfind(".sv");
  return dot != std::string_view::npos && dot + 3 == text.size() &&
         is_module_name(text.substr(0, dot));
}

std::vector<std::string> ports_and_none() {
  std::vector<std::string> words = custom_ports();
  words.emplace_back("NA");
  return words;
}

/// Reads one op's table and reports its problems.
class Reader {
 public:
  Reader(const std::string& name, const Tree& table, Diagnostics& diagnostics)
      : name_(name), table_(table), diagnostics_(diagnostics) {}

  std::shared_ptr<const CustomOp> read() {
    if (!table_.is_dict()) {
      diagnostics_.error(table_.where, "'custom_ops." + name_ + "' must be a table");
      return nullptr;
    }
    auto op = std::make_shared<CustomOp>();
    op->name = name_;
    op->where = table_.key_where;
    read_fields(table_, *op, own_, {"macs", "tensors", "hardware"});
    check_name();
    check_source(*op);
    check_inputs(*op);
    read_macs(*op);
    read_tensors(*op);
    check_mac_names(*op);
    read_hardware(*op);
    for (const Diagnostic& problem : own_.all())
      diagnostics_.error(problem.where, "custom_ops." + name_ + ": " + problem.message);
    if (own_.has_errors()) return nullptr;
    set_row(*op);
    return op;
  }

 private:
  void wrong(const Tree& at, const std::string& message) { own_.error(at.where, message); }

  bool is_table(const Tree& tree, const std::string& what) {
    if (!tree.is_dict()) wrong(tree, "'" + what + "' must be a table");
    return tree.is_dict();
  }

  void check_name() {
    const bool other = std::ranges::find(other_words, name_) != other_words.end();
    if (!is_name(name_))
      own_.error(table_.key_where,
                 "a name has letters, digits and _, and does not begin with a digit");
    else if (other || find_op(name_))
      own_.error(table_.key_where, "'" + name_ + "' is a name of the program; choose another one");
  }

  void check_source(const CustomOp& op) {
    if (op.class_name.empty() == op.function.empty())
      wrong(table_, "give either class = \"FILE.CLASS\" or function = \"FILE.FUNCTION\"");
  }

  void check_port(const Tree& at, const std::string& port) {
    const std::vector<std::string> words = ports_and_none();
    if (std::ranges::find(words, port) != words.end()) return;
    wrong(at, "unknown port '" + port + "'" +
                  did_you_mean(port, words, "; ports: " + join(words, ", ")));
  }

  void check_inputs(CustomOp& op) {
    const Tree* given = table_.find("inputs");
    if (!given || !given->is_list()) {
      if (!given) wrong(table_, "give inputs = [...], a port or \"NA\" for each tensor argument");
      return;
    }
    if (given->size() > most_ports) wrong(*given, "more than 64 inputs");
    for (const Tree& port : given->as_list())
      if (port.is_string()) check_port(port, port.as_string());
    if (std::ranges::find(op.inputs, "data_in") == op.inputs.end())
      wrong(*given, "one of the inputs must be data_in");
    std::ranges::replace(op.inputs, std::string("NA"), std::string());
  }

  void read_tensors(CustomOp& op) {
    const Tree* given = table_.find("tensors");
    if (!given || !is_table(*given, "tensors")) return;
    if (!op.function.empty())
      wrong(*given, "a function has no tensors of a layer; name its tensor arguments in 'inputs'");
    for (const auto& [path, port] : given->as_dict()) {
      if (!port.is_string()) {
        wrong(port, "'" + path + "' needs a port: " + join(ports_and_none(), ", "));
        continue;
      }
      check_port(port, port.as_string());
      op.tensors[path] = port.as_string() == "NA" ? "" : port.as_string();
    }
    if (op.tensors.size() > most_ports) wrong(*given, "more than 64 tensors");
  }

  void read_macs(CustomOp& op) {
    const Tree* given = table_.find("macs");
    if (!given) return;
    if (given->is_int() && given->as_int() >= 0)
      op.macs = std::to_string(given->as_int());
    else if (given->is_string())
      op.macs = given->as_string();
    if (op.macs.empty() || !parse_macs(op.macs))
      wrong(*given,
            "'macs' must be a number or a sum of products such as \"outputs * 16 + weight\"");
  }

  void check_mac_names(const CustomOp& op) {
    const auto terms = parse_macs(op.macs);
    if (!terms) return;
    std::vector<std::string> names{"inputs", "outputs"};
    for (const auto& [path, port] : op.tensors) names.push_back(path);
    for (const auto& factors : *terms)
      for (const std::string& factor : factors)
        if (!parse_int(factor) && std::ranges::find(names, factor) == names.end())
          wrong(table_.at("macs"),
                "unknown name '" + factor + "' in macs" +
                    did_you_mean(factor, names, "; names: " + join(names, ", ")));
  }

  // Hardware.

  void read_hardware(CustomOp& op) {
    const Tree* given = table_.find("hardware");
    if (!given || !is_table(*given, "hardware")) return;
    auto hardware = std::make_shared<CustomHardware>();
    read_fields(*given, *hardware, own_, {"files", "parameters", "table"});
    for (const auto* name : {&hardware->input, &hardware->output})
      if (!is_name(*name)) wrong(*given, "'" + *name + "' cannot begin the name of a port");
    if (!is_module_name(hardware->module))
      wrong(*given,
            "give module = \"NAME\", a name of a SystemVerilog module; names that begin with "
            "mase_ are reserved for the program");
    read_files(*given, *hardware);
    read_parameters(*given, *hardware);
    read_table(*given, *hardware);
    if (std::ranges::count(op.inputs, "data_in") != 1 || op.inputs.size() != 1)
      wrong(*given, "a module has one input stream: the op needs inputs = [\"data_in\"]");
    op.hardware = std::move(hardware);
  }

  void read_files(const Tree& given, CustomHardware& hardware) {
    const Tree* files = given.find("files");
    if (!files || !files->is_dict() || files->size() == 0) {
      wrong(files ? *files : given, "give files = [\"MODULE.sv\"], the sources of the module");
      return;
    }
    if (files->size() > most_files) wrong(*files, "more than 16 files");
    for (const auto& [name, text] : files->as_dict()) {
      if (!is_file_name(name))
        wrong(text, "'" + name +
                        "' is not a valid name of a file: use letters, digits and _, then .sv, "
                        "and do not begin with mase_");
      if (!text.is_string() || text.as_string().size() > most_file_bytes)
        wrong(text, "'" + name + "' must be text of at most 1 MiB");
      else
        hardware.files[name] = text.as_string();
    }
  }

  void read_parameters(const Tree& given, CustomHardware& hardware) {
    const Tree* parameters = given.find("parameters");
    if (!parameters || !is_table(*parameters, "parameters")) return;
    if (parameters->size() > most_ports) wrong(*parameters, "more than 64 parameters");
    for (const auto& [name, value] : parameters->as_dict()) {
      if (!is_name(name)) wrong(value, "'" + name + "' is not a valid name of a parameter");
      if (value.is_int())
        hardware.parameters.emplace_back(name, value.as_int());
      else
        add_word(name, value, hardware);
    }
  }

  void add_word(const std::string& name, const Tree& value, CustomHardware& hardware) {
    const auto& words = parameter_words();
    const std::string word = value.is_string() ? value.as_string() : "";
    if (std::ranges::find(words, word) == words.end())
      wrong(value, "'" + name + "' must be an integer or one of " + join(words, ", ") +
                       did_you_mean(word, words, ""));
    hardware.parameters.emplace_back(name, word);
  }

  void read_table(const Tree& given, CustomHardware& hardware) {
    const Tree* table = given.find("table");
    const bool good = table && table->is_list() && table->size() <= most_entries &&
                      table->size() >= 2 && std::has_single_bit(table->size());
    if (!good)
      return wrong(table ? *table : given,
                   "give table = \"FILE.npy\" or a list: the result's code for each of the 2^width "
                   "codes of data_in, at most 65536 (0 first, then 1, ...; -1 is last if "
                   "codes are signed)");
    for (const Tree& code : table->as_list()) {
      constexpr std::int64_t most = std::int64_t{1} << 32;
      const bool fits = code.is_int() && code.as_int() > -most && code.as_int() < most;
      if (!fits) return wrong(*table, "'table' must hold integers below 2^32");
      hardware.table.push_back(code.as_int());
    }
  }

  static void set_row(CustomOp& op) {
    op.row.name = op.name;
    op.row.family = OpFamily::custom;
    op.row.type = op.function.empty() ? MaseType::module_related_func : MaseType::builtin_func;
    op.row.quantizable = true;
    op.row.doc = "An op that the user has described.";
    for (const std::string& port : op.inputs)
      if (!port.empty()) op.row.args.push_back({"", port});
    for (const auto& [path, port] : op.tensors)
      if (!port.empty()) op.row.args.push_back({path, port});
  }

  const std::string& name_;
  const Tree& table_;
  Diagnostics& diagnostics_;
  Diagnostics own_;
};

Tree hardware_tree(const CustomHardware& hardware) {
  Tree tree = write_fields(hardware);
  Tree& files = tree["files"] = Tree::dict();
  for (const auto& [name, text] : hardware.files) files[name] = text;
  if (!hardware.parameters.empty()) {
    Tree& parameters = tree["parameters"] = Tree::dict();
    for (const auto& [name, value] : hardware.parameters)
      parameters[name] = std::visit([](const auto& given) { return Tree(given); }, value);
  }
  tree["table"] = Tree::list_of(hardware.table);
  return tree;
}

std::string port_or_none(const std::string& port) { return port.empty() ? "NA" : port; }

}  // namespace

bool is_leaf(std::string_view op) { return base_op(op) == leaf_op; }

std::string leaf_of(const std::string& name) { return std::string(leaf_op) + "." + name; }

const CustomOp* custom_op(const Graph& graph, const Node& node) {
  if (node.op.size() <= leaf_op.size() || !is_leaf(node.op)) return nullptr;
  const auto found = graph.custom_ops.find(node.op.substr(leaf_op.size() + 1));
  return found == graph.custom_ops.end() ? nullptr : found->second.get();
}

std::vector<LeafInput> leaf_inputs(const Graph& graph, const Node& leaf) {
  const CustomOp* op = custom_op(graph, leaf);
  std::vector<LeafInput> inputs;
  std::size_t tensors = 0;
  for (const Argument& argument : leaf.args)
    argument.value.for_each_node([&](NodeId id) {
      const bool is_data = op && graph.node(id).info.is_tensor();
      const std::size_t place = is_data ? tensors++ : 0;
      const bool has_port = is_data && place < op->inputs.size();
      inputs.push_back({argument.name, id, has_port ? op->inputs[place] : ""});
    });
  return inputs;
}

std::string input_fault(const Graph& graph, const Node& leaf) {
  const CustomOp* op = custom_op(graph, leaf);
  if (!op) return "";
  const auto tensors = std::ranges::count_if(leaf_inputs(graph, leaf), [&](const LeafInput& input) {
    return graph.node(input.node).info.is_tensor();
  });
  if (static_cast<std::size_t>(tensors) == op->inputs.size()) return "";
  return "custom_ops." + op->name + " gives ports to " + std::to_string(op->inputs.size()) +
         " inputs, but '" + (leaf.name.empty() ? leaf.target : leaf.name) + "' has " +
         std::to_string(tensors) + " tensors";
}

std::string tensor_fault(const CustomOp& op, const Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, path] : module.tensors) names.push_back(name);
  for (const auto& [name, port] : op.tensors)
    if (std::ranges::find(names, name) == names.end())
      return "custom_ops." + op.name + ": '" + module.path + "' has no tensor '" + name + "'" +
             did_you_mean(name, names, names.empty() ? "" : "; it has " + join(names, ", "));
  return "";
}

const std::vector<std::string>& parameter_words() {
  static const std::vector<std::string> words{"lanes",     "in_width",   "in_signed",
                                              "out_width", "out_signed", "channels"};
  return words;
}

const std::vector<std::string>& custom_ports() {
  static const std::vector<std::string> ports{"data_in", "weight", "bias"};
  return ports;
}

std::shared_ptr<const CustomOp> read_custom_op(const std::string& name, const Tree& table,
                                               Diagnostics& diagnostics) {
  return Reader(name, table, diagnostics).read();
}

CustomOps read_custom_ops(const Tree& tables, Diagnostics& diagnostics) {
  CustomOps ops;
  if (!tables.is_dict() || tables.size() > most_ops) {
    diagnostics.error(tables.where, tables.is_dict()
                                        ? "more than 64 custom ops"
                                        : "'custom_ops' must hold tables [custom_ops.NAME]");
    return ops;
  }
  std::set<std::string> sources;
  for (const auto& [name, table] : tables.as_dict()) {
    auto op = read_custom_op(name, table, diagnostics);
    if (!op) continue;
    if (!sources.insert(op->class_name + op->function).second)
      diagnostics.error(table.key_where, "custom_ops." + name + ": another op is '" +
                                             op->class_name + op->function + "' already");
    ops.emplace(name, std::move(op));
  }
  return ops;
}

Tree write_custom_op(const CustomOp& op) {
  Tree tree = Tree::dict();
  tree[op.function.empty() ? "class" : "function"] =
      op.function.empty() ? op.class_name : op.function;
  Tree inputs = Tree::list();
  for (const std::string& port : op.inputs) inputs.push_back(port_or_none(port));
  tree["inputs"] = std::move(inputs);
  if (!op.macs.empty()) tree["macs"] = op.macs;
  if (!op.tensors.empty()) {
    Tree& tensors = tree["tensors"] = Tree::dict();
    for (const auto& [path, port] : op.tensors) tensors[path] = port_or_none(port);
  }
  if (op.hardware) tree["hardware"] = hardware_tree(*op.hardware);
  return tree;
}

std::optional<std::vector<std::vector<std::string>>> parse_macs(const std::string& text) {
  std::vector<std::vector<std::string>> terms;
  const auto is_factor = [](const std::string& word) {
    const auto known = [](char c) { return is_identifier_char(c) || c == '.'; };
    return !word.empty() && word.size() <= 256 && std::ranges::all_of(word, known);
  };
  for (const std::string& term : split(text, '+')) {
    std::vector<std::string> factors;
    for (const std::string& factor : split(term, '*')) factors.emplace_back(trim(factor));
    if (!std::ranges::all_of(factors, is_factor)) return std::nullopt;
    terms.push_back(std::move(factors));
  }
  if (terms.empty() || terms.size() > most_terms) return std::nullopt;
  return terms;
}

}  // namespace mase::ir
