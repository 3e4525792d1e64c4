// SPDX-License-Identifier: Apache-2.0
// Searches the syntax trees of an archive's code for code that LibTorch evaluates on loading.
#include "torch/import/check_code.hpp"

#include <torch/csrc/jit/frontend/parser.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "checkpoint/inspect.hpp"

namespace mase::libtorch {
namespace {

namespace jit = torch::jit;

/// Whether it is a literal, a name or a type, whose evaluation is as cheap as parsing it.
bool is_literal(int kind) {
  constexpr int kinds[] = {jit::TK_PARAM,
                           jit::TK_ASSIGN,
                           jit::TK_CONST,
                           jit::TK_STRINGLITERAL,
                           jit::TK_STRING,
                           jit::TK_TRUE,
                           jit::TK_FALSE,
                           jit::TK_NONE,
                           jit::TK_LIST_LITERAL,
                           jit::TK_TUPLE_LITERAL,
                           jit::TK_DICT_LITERAL,
                           jit::TK_UNARY_MINUS,
                           jit::TK_VAR,
                           jit::TK_IDENT,
                           jit::TK_SUBSCRIPT,
                           jit::TK_LIST,
                           jit::TK_OPTION,
                           jit::TK_APPLY,
                           jit::TK_NONE_TYPE,
                           jit::TK_EXPR_STMT,
                           jit::TK_PASS,
                           jit::TK_DOTS,
                           '.'};
  return std::ranges::find(kinds, kind) != std::end(kinds);
}

/// Whether it is a call that TorchScript writes for a literal: annotate(List[int], []),
/// float("inf"), torch.device("cpu").
bool is_literal_call(const jit::Apply& call) {
  const jit::Expr callee = call.callee();
  if (callee.kind() == jit::TK_VAR) {
    const std::string name = jit::Var(callee).name().name();
    return name == "annotate" || name == "float";
  }
  if (callee.kind() != '.') return false;
  const jit::Select select(callee);
  return select.selector().name() == "device" && select.value().kind() == jit::TK_VAR &&
         jit::Var(select.value()).name().name() == "torch";
}

class CodeChecker {
 public:
  explicit CodeChecker(std::string origin) : origin_(std::move(origin)) {}

  /// Checks a class or function.
  void check(const jit::TreeRef& definition) {
    pending_ = {{definition, false}};
    while (!pending_.empty()) {  // trees may be deeper than the stack
      const auto [tree, is_constant] = pending_.back();
      pending_.pop_back();
      visit(tree, is_constant);
    }
  }

 private:
  struct Part {
    jit::TreeRef tree;
    bool is_constant;  ///< evaluated on loading
  };

  void visit(const jit::TreeRef& tree, bool is_constant) {
    const int kind = tree->kind();
    if (kind == jit::TK_DEF) refuse_hook(jit::Def(tree));
    if (is_constant && !is_literal(kind)) refuse(tree, "a default or constant that is computed");
    if (is_constant && kind == jit::TK_APPLY && !is_literal_call(jit::Apply(tree)))
      refuse(tree, "a default or constant that calls something");
    if (kind == jit::TK_CLASS_DEF) return visit_class(jit::ClassDef(tree));
    for (const jit::TreeRef& part : tree->trees())
      pending_.push_back({part, is_constant || part->kind() == jit::TK_PARAM});
  }

  /// Visits a class. Loading evaluates its statements that are not methods.
  void visit_class(const jit::ClassDef& definition) {
    for (const jit::Stmt& statement : definition.body())
      pending_.push_back({statement.tree(), statement.kind() != jit::TK_DEF});
    for (std::size_t i = 3; i < definition.tree()->trees().size(); ++i)  // none in archives
      pending_.push_back({definition.tree()->tree(i), true});
  }

  void refuse_hook(const jit::Def& method) {
    const std::string name = method.name().name();
    if (name == "__setstate__" || name == "__getstate__")
      refuse(method.tree(), "the method " + name);
  }

  [[noreturn]] void refuse(const jit::TreeRef& tree, const std::string& what) {
    const auto place = tree->isAtom() ? std::nullopt : tree->range().file_line_col();
    const std::string line = place ? ":" + std::to_string(std::get<1>(*place)) : "";
    unsupported_error(origin_ + line + " has " + what +
                      ", code that would run while the file is loaded; save the model with "
                      "torch.jit.save, without packed (torch.ao quantized) modules");
  }

  std::string origin_;
  std::vector<Part> pending_;
};

/// Bounds the depth that the syntax tree of a sequence of tokens can have, because parser and
/// compiler descend recursively and a file could exhaust the stack. Brackets and blocks are nested,
/// and operators, calls and subscripts of an expression may be.
class DepthMeter {
 public:
  /// Whether the program may continue with this token.
  bool accepts(int kind) {
    switch (kind) {
      case jit::TK_IDENT:
      case jit::TK_NUMBER:
      case jit::TK_STRINGLITERAL:
        return true;
      case jit::TK_INDENT:
      case jit::TK_ELIF:  // each is in the else branch of the one before
        ++blocks_;
        break;
      case jit::TK_DEDENT:
        --blocks_;
        break;
      case ')':
      case ']':
      case '}':
        close();
        break;
      case ',':
      case ':':
      case '=':
      case jit::TK_NEWLINE:
        begin_expression();
        break;
      default:
        ++expressions_.back();
        ++depth_;
        if (kind == '(' || kind == '[' || kind == '{') expressions_.push_back(0);
    }
    return depth_ + blocks_ <= most_depth;
  }

 private:
  static constexpr int most_depth = 256;

  void begin_expression() { depth_ -= std::exchange(expressions_.back(), 0); }
  void close() {
    begin_expression();
    if (expressions_.size() > 1) expressions_.pop_back();
  }

  int blocks_ = 0, depth_ = 0;
  std::vector<int> expressions_{0};  ///< possible depth of each open expression
};

void refuse_depth(const std::shared_ptr<jit::Source>& source, const std::string& place) {
  jit::Lexer lexer(source);
  DepthMeter meter;
  while (lexer.cur().kind != jit::TK_EOF)
    if (!meter.accepts(lexer.next().kind))
      unsupported_error(place +
                        " is nested more than 256 levels deep; use names for parts of its "
                        "expressions");
}

void skip_line(jit::Lexer& lexer) {
  while (lexer.cur().kind != jit::TK_EOF && lexer.next().kind != jit::TK_NEWLINE) {
  }
}

/// Skips lines between definitions: the version of old files, and imports.
void skip_lines_between(jit::Lexer& lexer) {
  if (lexer.cur().kind == jit::TK_IDENT && lexer.cur().text() == "op_version_set") skip_line(lexer);
  while (lexer.cur().kind == jit::TK_IMPORT) skip_line(lexer);
}

void check_file(std::string_view code, const std::string& name, const std::string& origin) {
  const auto source = std::make_shared<jit::Source>(code, name);
  refuse_depth(source, origin + ": " + name);
  jit::Parser parser(source);
  CodeChecker checker(origin + ": " + name);
  jit::Lexer& lexer = parser.lexer();
  while (lexer.cur().kind != jit::TK_EOF) {
    skip_lines_between(lexer);
    if (lexer.cur().kind == jit::TK_EOF) break;
    checker.check(lexer.cur().kind == jit::TK_CLASS_DEF ? parser.parseClass()
                                                        : parser.parseFunction(false));
  }
}

}  // namespace

void refuse_load_time_code(const ZipReader& archive) {
  const std::vector<std::string> names = checkpoint::names_below_root(archive);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].starts_with("code/") && names[i].ends_with(".py"))
      check_file(archive.read(i), names[i], archive.origin());
}

}  // namespace mase::libtorch
