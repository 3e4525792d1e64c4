// SPDX-License-Identifier: Apache-2.0
// Parsing the text form of a graph: declarations, then nodes with their metadata.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "ir/custom_op.hpp"
#include "ir/lexer.hpp"
#include "ir/parse_value.hpp"
#include "ir/text.hpp"

namespace mase::ir {
namespace {

std::string size_text(std::size_t bytes) {
  const bool large = (bytes >> 30) > 0;
  return std::to_string(bytes >> (large ? 30 : 20)) + (large ? " GiB" : " MiB");
}

constexpr std::array kinds{NodeKind::placeholder, NodeKind::get_attr,    NodeKind::call_function,
                           NodeKind::call_method, NodeKind::call_module, NodeKind::output};

class Parser {
 public:
  Parser(std::string_view text, const std::string& origin, std::size_t most_bytes)
      : lexer_(text, origin), origin_(origin), most_bytes_(most_bytes) {}
  Graph run();

 private:
  void declaration();
  void container();
  void custom_op();
  void module();
  void module_tensors(Module& module);
  void tensor();
  Array zeros(const ValueInfo& info, std::size_t offset);
  void guard();
  void history();
  void source();
  void node();
  /// The nodes of an opaque leaf's own graph.
  std::shared_ptr<const Graph> body();
  NodeKind node_kind();
  void node_formats(Node& node);
  void metadata(Node& node);
  Tree json_line();

  Lexer lexer_;
  std::string origin_;
  Graph graph_;
  bool in_body_ = false;
  std::size_t most_bytes_, bytes_ = 0;  ///< the limit for all tensors, and the bytes read so far
};

Graph Parser::run() {
  if (!lexer_.peek().is_word("graph"))
    lexer_.fail("expected 'graph': this is not the text of a graph");
  lexer_.next();
  graph_.name = lexer_.string("the graph's name");
  lexer_.expect('{');
  while (!lexer_.peek().is_sign('}')) {
    if (lexer_.peek().kind == TokenKind::node)
      node();
    else
      declaration();
  }
  lexer_.expect('}');
  if (lexer_.peek().kind != TokenKind::end) lexer_.fail("text after the end of the graph");
  return std::move(graph_);
}

void Parser::declaration() {
  const Token word = lexer_.peek();
  if (word.kind != TokenKind::word)
    lexer_.fail("expected a node (%name = ...), a declaration or '}'");
  lexer_.next();
  if (word.text == "container") return container();
  if (word.text == "custom_op") return custom_op();
  if (word.text == "module") return module();
  if (word.text == "tensor") return tensor();
  if (word.text == "guard") return guard();
  if (word.text == "history") return history();
  if (word.text == "source") return source();
  lexer_.fail_at(word.offset,
                 "unknown declaration '" + word.text +
                     "'; known: container, custom_op, module, tensor, guard, history, source");
}

void Parser::container() {
  const std::size_t place = lexer_.peek().offset;
  const std::string path = lexer_.name("a path");
  lexer_.expect(':');
  if (!graph_.containers.emplace(path, lexer_.name("a class")).second)
    lexer_.fail_at(place, "container '" + path + "' is declared twice");
}

void Parser::custom_op() {
  const std::size_t place = lexer_.peek().offset;
  const std::string name = lexer_.name("a name");
  Diagnostics problems;
  auto op = read_custom_op(name, json_line(), problems);
  if (!op) lexer_.fail_at(place, problems.all().front().message);
  if (!graph_.custom_ops.emplace(name, std::move(op)).second)
    lexer_.fail_at(place, "custom op '" + name + "' is declared twice");
}

void Parser::module() {
  const std::size_t place = lexer_.peek().offset;
  Module module;
  module.path = lexer_.name("a path");
  lexer_.expect(':');
  module.class_name = lexer_.name("a class");
  lexer_.expect('=');
  module.op = lexer_.name("an operator");
  lexer_.expect('(');
  module.attributes = parse_arguments(lexer_, graph_);
  if (lexer_.accept('[')) module_tensors(module);
  const std::string path = module.path;
  if (!graph_.modules.emplace(path, std::move(module)).second)
    lexer_.fail_at(place, "module '" + path + "' is declared twice");
}

void Parser::module_tensors(Module& module) {
  while (!lexer_.peek().is_sign(']')) {
    std::string argument = lexer_.name("an argument name");
    lexer_.expect('=');
    lexer_.expect('@');
    module.tensors.emplace_back(std::move(argument), lexer_.name("a tensor path"));
    if (!lexer_.accept(',')) break;
  }
  lexer_.expect(']');
}

void Parser::tensor() {
  const std::size_t place = lexer_.peek().offset;
  const std::string path = lexer_.name("a path");
  if (graph_.tensors.contains(path))
    lexer_.fail_at(place, "tensor '" + path + "' is declared twice");
  lexer_.expect(':');
  const std::size_t type_place = lexer_.peek().offset;
  const ValueInfo info = parse_info(lexer_);
  Tensor tensor{zeros(info, type_place), false, false};
  if (!lexer_.peek().is_word("parameter") && !lexer_.peek().is_word("buffer"))
    lexer_.fail("expected 'parameter' or 'buffer'");
  tensor.is_parameter = lexer_.next().text == "parameter";
  if (lexer_.peek().is_word("grad")) tensor.requires_grad = !lexer_.next().text.empty();
  if (lexer_.peek().is_word("begins")) {
    lexer_.next();
    tensor.begins = lexer_.name("the name of an input");
  }
  if (lexer_.peek().is_word("also")) do {
      lexer_.next();  // "also", then commas
      tensor.other_names.push_back(lexer_.name("another path of the tensor"));
    } while (lexer_.peek().is_sign(','));
  graph_.set_tensor(path, std::move(tensor));
}

Array Parser::zeros(const ValueInfo& info, std::size_t offset) {
  if (!info.is_tensor()) lexer_.fail_at(offset, "expected a tensor type such as float32[4, 16]");
  std::int64_t count = 0;
  try {
    count = numel(info.shape);
  } catch (const Error& error) {
    lexer_.fail_at(offset, error.what());
  }
  const std::size_t room = (most_bytes_ - bytes_) / size_of(info.dtype);
  if (static_cast<std::size_t>(count) > room)
    lexer_.fail_at(offset, "the tensors of this graph exceed " + size_text(most_bytes_));
  bytes_ += static_cast<std::size_t>(count) * size_of(info.dtype);
  return Array::deferred(info.dtype, info.shape, [dtype = info.dtype, shape = info.shape] {
    return Array(dtype, shape);  // most graphs get other values before anything reads these
  });
}

void Parser::guard() {
  std::string place = lexer_.string("a place");
  graph_.guards.push_back({std::move(place), lexer_.string("a condition")});
}

void Parser::history() {
  const std::size_t place = lexer_.peek().offset;
  graph_.history = json_line();
  if (!graph_.history.is_list()) lexer_.fail_at(place, "the history must be a JSON list");
}

void Parser::source() {
  const std::size_t place = lexer_.peek().offset;
  graph_.source = json_line();
  if (!graph_.source.is_dict()) lexer_.fail_at(place, "the source must be a JSON object");
}

Tree Parser::json_line() {
  const std::size_t place = lexer_.peek().offset;
  const std::string_view text = lexer_.rest_of_line();
  try {
    return parse_json(text, origin_);
  } catch (const Error& error) {
    lexer_.fail_at(place, error.what());
  }
}

void Parser::node() {
  const Token name = lexer_.next();
  Node node;
  node.name = name.text;
  if (lexer_.accept(':')) node.info = parse_info(lexer_);
  lexer_.expect('=');
  node.kind = node_kind();
  node.target = lexer_.name("a target");
  const bool has_op =
      lexer_.peek().kind == TokenKind::word && lexer_.peek().text.find("::") != std::string::npos;
  if (has_op || lexer_.peek().kind == TokenKind::string) node.op = lexer_.next().text;
  if (lexer_.accept('(')) node.args = parse_arguments(lexer_, graph_);
  if (lexer_.accept('{')) node_formats(node);
  if (lexer_.peek().is_word("body")) node.body = body();
  while (lexer_.accept('|')) metadata(node);
  if (graph_.find_node(name.text))
    lexer_.fail_at(name.offset, "node '%" + name.text + "' is defined twice");
  const NodeId id = graph_.add(std::move(node));
  const std::string& given = graph_.node(id).name;
  if (given != name.text)
    lexer_.fail_at(name.offset, "'" + name.text + "' is reserved by Python or not a valid name; '" +
                                    given + "' would work");
}

std::shared_ptr<const Graph> Parser::body() {
  if (in_body_) lexer_.fail("a leaf is inside another leaf");
  lexer_.next();
  lexer_.expect('{');
  Graph outer = std::exchange(graph_, Graph{});
  in_body_ = true;
  while (lexer_.peek().kind == TokenKind::node) node();
  lexer_.expect('}');
  in_body_ = false;
  return std::make_shared<const Graph>(std::exchange(graph_, std::move(outer)));
}

NodeKind Parser::node_kind() {
  const Token& word = lexer_.peek();
  const auto kind =
      std::ranges::find_if(kinds, [&](NodeKind known) { return word.is_word(kind_name(known)); });
  if (kind == kinds.end())
    lexer_.fail(
        "expected a node kind: placeholder, get_attr, call_function, call_method, "
        "call_module or output");
  lexer_.next();
  return *kind;
}

void Parser::node_formats(Node& node) {
  while (!lexer_.peek().is_sign('}')) {
    const std::size_t place = lexer_.peek().offset;
    const std::string port = lexer_.name("a port");
    lexer_.expect('=');
    const std::size_t format_place = lexer_.peek().offset;
    const std::string_view text = lexer_.call_text("a number format such as integer(8, 4)");
    try {
      if (!node.formats.emplace(port, formats::parse_format(text)).second)
        lexer_.fail_at(place, "port '" + port + "' has two formats");
    } catch (const Error& error) {
      if (error.fault() == Fault::file) throw;
      lexer_.fail_at(format_place, error.what());
    }
    if (!lexer_.accept(',')) break;
  }
  lexer_.expect('}');
}

void Parser::metadata(Node& node) {
  const std::size_t place = lexer_.peek().offset;
  const std::string part = lexer_.name("common, software, hardware or source");
  if (!lexer_.peek().is_sign('=')) lexer_.fail("expected '='");
  lexer_.next();
  Tree tree = json_line();
  if (part == "common")
    node.meta.common = std::move(tree);
  else if (part == "software")
    node.meta.software = std::move(tree);
  else if (part == "hardware")
    node.meta.hardware = std::move(tree);
  else if (part == "source")
    node.source = std::move(tree);
  else
    lexer_.fail_at(place, "unknown metadata part '" + part + "'");
}

}  // namespace

Graph parse(std::string_view text, const std::string& origin, std::size_t most_bytes) {
  return Parser(text, origin, most_bytes).run();
}

}  // namespace mase::ir
