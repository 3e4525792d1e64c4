// SPDX-License-Identifier: Apache-2.0
// Reading values, argument lists and result information, with a bound on their nesting.
#include "ir/parse_value.hpp"

#include <map>

#include "base/text.hpp"

namespace mase::ir {
namespace {

constexpr int deepest = 100;

void check_depth(const Lexer& lexer, int depth) {
  if (depth > deepest) lexer.fail("nested too deeply");
}

Value::List parse_items(Lexer& lexer, const Graph& graph, char close, int depth) {
  Value::List items;
  while (!lexer.peek().is_sign(close)) {
    items.push_back(parse_value(lexer, graph, depth + 1));
    if (!lexer.accept(',')) break;
  }
  lexer.expect(close);
  return items;
}

Value parse_dict(Lexer& lexer, const Graph& graph, int depth) {
  Value::Dict entries;
  while (!lexer.peek().is_sign('}')) {
    std::string key = lexer.string("a key");
    lexer.expect(':');
    entries.emplace_back(std::move(key), parse_value(lexer, graph, depth + 1));
    if (!lexer.accept(',')) break;
  }
  lexer.expect('}');
  return Value::dict(std::move(entries));
}

Value parse_slice(Lexer& lexer, const Graph& graph, int depth) {
  const std::size_t place = lexer.peek().offset;
  lexer.next();
  lexer.expect('(');
  Value::List items = parse_items(lexer, graph, ')', depth);
  if (items.size() != 3) lexer.fail_at(place, "a slice has three values: start, stop, step");
  return Value::slice(items[0], items[1], items[2]);
}

Value parse_number(Lexer& lexer) {
  const Token token = lexer.next();
  if (const auto integer = parse_int(token.text)) return *integer;
  if (const auto number = parse_double(token.text)) return *number;
  lexer.fail_at(token.offset, "'" + token.text + "' is not a number");
}

Value parse_reference(Lexer& lexer, const Graph& graph) {
  const Token token = lexer.next();
  const Node* node = graph.find_node(token.text);
  if (!node) lexer.fail_at(token.offset, "no node '%" + token.text + "' above this line");
  return NodeRef{node->id};
}

Value parse_word(Lexer& lexer, const Graph& graph, int depth) {
  if (lexer.peek().is_word("slice")) return parse_slice(lexer, graph, depth);
  const Token token = lexer.next();
  if (token.text == "none") return Value();
  if (token.text == "true") return true;
  if (token.text == "false") return false;
  if (token.text == "inf" || token.text == "nan") return *parse_double(token.text);
  lexer.fail_at(token.offset, "'" + token.text + "' is not a value; put texts in quotes");
}

// Reads the `[4, 16]` after a dtype.
Shape parse_shape(Lexer& lexer) {
  Shape shape;
  lexer.expect('[');
  while (lexer.peek().kind == TokenKind::number) {
    const Token token = lexer.next();
    const auto size = parse_int(token.text);
    if (!size || *size < 0)
      lexer.fail_at(token.offset, "a dimension must be an integer of at least 0");
    shape.push_back(*size);
    if (!lexer.accept(',')) break;
  }
  lexer.expect(']');
  return shape;
}

ValueInfo parse_container(Lexer& lexer, ValueInfo::Kind kind, int depth) {
  ValueInfo info;
  info.kind = kind;
  lexer.expect('(');
  while (!lexer.peek().is_sign(')')) {
    if (kind == ValueInfo::Kind::dict) {
      info.keys.push_back(lexer.string("a key"));
      lexer.expect(':');
    }
    info.elements.push_back(parse_info(lexer, depth + 1));
    if (!lexer.accept(',')) break;
  }
  lexer.expect(')');
  return info;
}

const std::map<std::string_view, ValueInfo::Kind> info_words{
    {"unknown", ValueInfo::Kind::unknown}, {"int", ValueInfo::Kind::integer},
    {"float", ValueInfo::Kind::number},    {"bool", ValueInfo::Kind::boolean},
    {"string", ValueInfo::Kind::string},   {"none", ValueInfo::Kind::none},
    {"list", ValueInfo::Kind::list},       {"tuple", ValueInfo::Kind::tuple},
    {"dict", ValueInfo::Kind::dict}};

bool is_container(ValueInfo::Kind kind) {
  return kind == ValueInfo::Kind::list || kind == ValueInfo::Kind::tuple ||
         kind == ValueInfo::Kind::dict;
}

ValueInfo parse_tensor_info(Lexer& lexer, const Token& word) {
  try {
    const DType dtype = parse_dtype(word.text);
    return ValueInfo::tensor(dtype, parse_shape(lexer));
  } catch (const Error&) {
    if (lexer.peek().is_sign('[')) lexer.fail_at(word.offset, "unknown dtype '" + word.text + "'");
    throw;
  }
}

}  // namespace

Value parse_value(Lexer& lexer, const Graph& graph, int depth) {
  check_depth(lexer, depth);
  switch (lexer.peek().kind) {
    case TokenKind::number:
      return parse_number(lexer);
    case TokenKind::string:
      return lexer.next().text;
    case TokenKind::node:
      return parse_reference(lexer, graph);
    case TokenKind::word:
      return parse_word(lexer, graph, depth);
    case TokenKind::training:
      lexer.next();
      return TrainingFlag{};
    default:
      break;
  }
  if (lexer.accept('[')) return Value::list(parse_items(lexer, graph, ']', depth));
  if (lexer.accept('(')) return Value::tuple(parse_items(lexer, graph, ')', depth));
  if (lexer.accept('{')) return parse_dict(lexer, graph, depth);
  lexer.fail("expected a value");
}

std::vector<Argument> parse_arguments(Lexer& lexer, const Graph& graph) {
  std::vector<Argument> arguments;
  while (!lexer.peek().is_sign(')')) {
    std::string name = lexer.name("an argument name");
    lexer.expect('=');
    arguments.push_back({std::move(name), parse_value(lexer, graph)});
    if (!lexer.accept(',')) break;
  }
  lexer.expect(')');
  return arguments;
}

ValueInfo parse_info(Lexer& lexer, int depth) {
  check_depth(lexer, depth);
  if (lexer.peek().kind != TokenKind::word) lexer.fail("expected a type such as float32[4, 16]");
  const Token word = lexer.next();
  const auto known = info_words.find(word.text);
  if (lexer.peek().is_sign('[')) return parse_tensor_info(lexer, word);
  if (known == info_words.end()) lexer.fail_at(word.offset, "unknown type '" + word.text + "'");
  if (is_container(known->second)) return parse_container(lexer, known->second, depth);
  ValueInfo info;
  info.kind = known->second;
  return info;
}

}  // namespace mase::ir
