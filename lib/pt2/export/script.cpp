// SPDX-License-Identifier: Apache-2.0
// Parses straight-line TorchScript and finds the overloads of ATen that it calls.
#include "pt2/export/script.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/op_schemas.hpp"
#include "pt2/dtypes.hpp"

namespace mase::pt2 {
namespace {

using Kind = ir::Value::Kind;
using Named = std::pair<std::string, ir::Value>;

/// "torch.float64" in the script.
constexpr std::pair<std::string_view, DType> dtype_names[] = {
    {"float32", DType::float32}, {"float64", DType::float64}, {"int32", DType::int32},
    {"int64", DType::int64},     {"bool", DType::boolean},
};

/// Operators on sizes and on tensors.
struct OperatorRow {
  std::string_view sign, on_sizes, on_tensors;
};
constexpr OperatorRow script_operators[] = {
    {"+", "aten::add.int", "add"},       {"-", "aten::sub.int", "sub"},
    {"*", "aten::mul.int", "mul"},       {"//", "aten::floordiv.int", ""},
    {"%", "aten::remainder.int", ""},    {"/", "", "div"},
    {"max", "prim::max.int", "maximum"}, {"min", "prim::min.int", "minimum"},
};

class ScriptWriter {
 public:
  ScriptWriter(Steps& steps, ir::NodeId x) : steps_(steps) { names_["x"] = ir::NodeRef{x}; }

  ir::NodeId write(const std::string& text) {
    const std::vector<std::string> lines = split(text, '\n');
    for (const std::string& line : lines) {
      if (trim(line).empty()) continue;
      rest_ = trim(line);
      if (take("return ")) return expression().node();
      statement();
    }
    unsupported_error("a script without a result");
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    unsupported_error("its script has " + what + ": " + std::string(rest_));
  }

  // Text.
  void skip() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool take(std::string_view text) {
    skip();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) refuse("no '" + std::string(text) + "'");
  }
  std::string word() {
    skip();
    std::size_t size = 0;
    while (size < rest_.size() && is_identifier_char(rest_[size])) ++size;
    const std::string found(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return found;
  }

  // a = EXPRESSION, or a, b = EXPRESSION
  void statement() {
    std::vector<std::string> targets;
    do targets.push_back(word());
    while (take(","));
    expect("=");
    const ir::Value value = expression();
    if (targets.size() == 1) {
      names_[targets[0]] = value;
      return;
    }
    for (std::size_t i = 0; i < targets.size(); ++i)
      names_[targets[i]] = ir::NodeRef{
          steps_.add("mase::getitem", {{"value", value}, {"index", static_cast<std::int64_t>(i)}})};
  }

  ir::Value expression() {
    const ir::Value left = sum();
    constexpr std::pair<std::string_view, const char*> comparisons[] = {
        {">=", "ge"}, {"<=", "le"}, {">", "gt"}, {"<", "lt"}};
    for (const auto& [sign, name] : comparisons)
      if (take(sign)) return call(name, {{"", left}, {"", sum()}});
    return left;
  }

  ir::Value sum() {
    ir::Value left = product();
    for (;;) {
      if (take("+"))
        left = binary("+", left, product());
      else if (take("-"))
        left = binary("-", left, product());
      else
        return left;
    }
  }

  ir::Value product() {
    ir::Value left = unary();
    for (;;) {
      if (take("*"))
        left = binary("*", left, unary());
      else if (take("//"))
        left = binary("//", left, unary());
      else if (take("/"))
        left = binary("/", left, unary());
      else if (take("%"))
        left = binary("%", left, unary());
      else
        return left;
    }
  }

  ir::Value unary() {
    if (take("-")) {
      const ir::Value value = unary();
      if (value.kind() == Kind::integer) return -value.as_int();
      if (value.kind() == Kind::number) return -value.as_double();
      return call("neg", {{"", value}});
    }
    return postfix(primary());
  }

  ir::Value primary() {
    skip();
    if (take("(")) {
      const ir::Value value = expression();
      expect(")");
      return value;
    }
    if (take("[")) return ir::Value::list(items("]"));
    if (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0]))) return number();
    const std::string name = word();
    if (name.empty()) refuse("no value");
    if (name == "True") return true;
    if (name == "False") return false;
    if (name == "float") return infinity();
    if (name == "torch") return torch_call();
    if (name == "max" || name == "min") {
      expect("(");
      const ir::Value::List two = items(")");
      return binary(name, two.at(0), two.at(1));
    }
    const auto found = names_.find(name);
    if (found == names_.end()) refuse("the unknown name '" + name + "'");
    return found->second;
  }

  ir::Value number() {
    std::size_t size = 0;
    while (size < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[size])) || rest_[size] == '.' ||
            ((rest_[size] == '-' || rest_[size] == '+') && rest_[size - 1] == 'e')))
      ++size;
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    if (const auto integer = parse_int(text)) return *integer;
    const auto value = parse_double(text);
    if (!value) refuse("the number '" + std::string(text) + "'");
    return *value;
  }

  /// float("-inf")
  ir::Value infinity() {
    expect("(\"");
    const std::size_t end = rest_.find('"');
    const auto value = parse_double(rest_.substr(0, end));
    if (!value && rest_.substr(0, end) != "nan") refuse("a text that is not a number");
    const double result = value.value_or(std::numeric_limits<double>::quiet_NaN());
    rest_.remove_prefix(end);
    expect("\")");
    return result;
  }

  ir::Value::List items(std::string_view end) {
    ir::Value::List list;
    while (!take(end)) {
      list.push_back(expression());
      take(",");
    }
    return list;
  }

  std::vector<Named> arguments() {
    std::vector<Named> list;
    while (!take(")")) {
      const std::string_view before = rest_;
      std::string name = word();
      if (name.empty() || !rest_.starts_with("=")) {
        rest_ = before;
        name = "";
      } else {
        expect("=");
      }
      list.emplace_back(name, expression());
      take(",");
    }
    std::erase_if(list, [](const Named& one) { return one.first == "device"; });
    return list;
  }

  /// torch.NAME(...), or a dtype.
  ir::Value torch_call() {
    expect(".");
    const std::string name = word();
    const auto* dtype =
        std::ranges::find(dtype_names, name, &std::pair<std::string_view, DType>::first);
    if (dtype != std::end(dtype_names)) return row_of(dtype->second).in_torch;
    expect("(");
    const std::vector<Named> given = arguments();
    return name == "tensor" ? constant(given) : call(name, given);
  }

  /// A list of numbers is a tensor of float32, which `dtype` then converts.
  ir::Value constant(const std::vector<Named>& given) {
    std::vector<float> values;
    for (const ir::Value& one : given.at(0).second.items())
      values.push_back(static_cast<float>(one.as_double()));
    const auto size = static_cast<std::int64_t>(values.size());
    const std::int64_t dtype = given.at(1).second.as_int();
    Array array = Array::from(std::span<const float>(values), {size});
    if (dtype == row_of(DType::float64).in_torch) {
      const std::vector<double> wide(values.begin(), values.end());
      array = Array::from(std::span<const double>(wide), {size});
    } else if (dtype != row_of(DType::float32).in_torch) {
      refuse("a constant of another type");
    }
    return ir::NodeRef{steps_.constant("quantizer_constant", std::move(array))};
  }

  /// Methods, attributes and subscripts behind a value.
  ir::Value postfix(ir::Value value) {
    for (;;) {
      if (take("[")) {
        value = ir::NodeRef{steps_.subscript(value.node(), subscripts())};
      } else if (take(".")) {
        const std::string name = word();
        if (name == "device") continue;
        if (name == "dtype") {
          const ir::ValueInfo& info = steps_.info(value.node());
          value = row_of(info.is_tensor() ? info.dtype : DType::float32).in_torch;
          continue;
        }
        expect("(");
        std::vector<Named> given = arguments();
        value = name == "size" ? size(value, given) : method(name, value, std::move(given));
      } else {
        return value;
      }
    }
  }

  std::vector<ir::Value> subscripts() {
    std::vector<ir::Value> list;
    while (!take("]")) {
      ir::Value start, stop;
      if (!take(":")) {
        start = expression();
        if (!take(":")) {
          list.push_back(start);
          take(",");
          continue;
        }
      }
      skip();
      if (!rest_.starts_with(",") && !rest_.starts_with("]")) stop = expression();
      list.push_back(ir::Value::slice(start, stop, {}));
      take(",");
    }
    return list;
  }

  ir::Value size(const ir::Value& tensor, const std::vector<Named>& given) {
    const auto of = [&](const ir::Value& dim) {
      return ir::Value(ir::NodeRef{steps_.add("aten::size.int", {{"self", tensor}, {"dim", dim}})});
    };
    if (!given.empty()) return of(given[0].second);
    ir::Value::List all;
    const std::size_t rank = steps_.info(tensor.node()).shape.size();
    for (std::size_t dim = 0; dim < rank; ++dim) all.push_back(of(static_cast<std::int64_t>(dim)));
    return ir::Value::list(std::move(all));
  }

  ir::Value method(const std::string& name, const ir::Value& self, std::vector<Named> given) {
    if (name == "numel") return ir::NodeRef{steps_.add("aten::numel", {{"self", self}})};
    if (name == "reshape_as") {
      return call("reshape", {{"", self}, {"", size(given.at(0).second, {})}});
    }
    given.insert(given.begin(), {"", self});
    if (name == "to") given.at(1).first = "dtype";
    return call(name, given);
  }

  bool is_number(const ir::Value& value) const {
    return value.is_number() || (value.is_node() && steps_.info(value.node()).is_number());
  }

  ir::Value binary(std::string_view sign, const ir::Value& a, const ir::Value& b) {
    const auto& row = *std::ranges::find(script_operators, sign, &OperatorRow::sign);
    if (!is_number(a) || !is_number(b)) {
      if (row.on_tensors.empty()) refuse("an operator that tensors do not have");
      return call(std::string(row.on_tensors), {{"", a}, {"", b}});
    }
    if (row.on_sizes.empty()) refuse("a quotient of sizes");
    return ir::NodeRef{steps_.add(std::string(row.on_sizes), {{"a", a}, {"b", b}})};
  }

  /// How well a value fits an argument: 2 for its own kind, 1 for one that it becomes, 0 if not.
  int fit(const ir::Value& value, const ir::SchemaArgument& formal) const {
    const bool list = value.kind() == Kind::list;
    if (formal.is_list() != list) return 0;
    if (list) {
      const bool numbers = std::ranges::all_of(
          value.items(), [&](const ir::Value& item) { return is_number(item); });
      return numbers != formal.is_tensor() ? 2 : 0;
    }
    const bool tensor = value.is_node() && !is_number(value);
    if (tensor || formal.is_tensor()) return tensor && formal.is_tensor() ? 2 : 0;
    const std::string type = formal.type.substr(0, formal.type.find('?'));
    if (value.kind() == Kind::boolean) return type == "bool" ? 2 : 0;
    if (type == "Scalar") return 2;
    if (type == "ScalarType") return value.kind() == Kind::integer ? 1 : 0;
    if (type == "float") return value.kind() == Kind::number ? 2 : 1;
    return (type == "int" || type == "SymInt") && value.kind() != Kind::number ? 2 : 0;
  }

  /// The arguments of the call with the overload's names; nullopt if they do not fit it.
  std::optional<std::pair<int, std::vector<ir::Argument>>> matched(
      const ir::OpSchema& schema, const std::vector<Named>& given) const {
    std::vector<ir::Argument> args;
    int score = 0;
    std::size_t used = 0;
    for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
      const ir::SchemaArgument& formal = schema.arguments[i];
      const auto named = std::ranges::find(given, formal.name, &Named::first);
      const Named* one = named != given.end()                         ? &*named
                         : i < given.size() && given[i].first.empty() ? &given[i]
                                                                      : nullptr;
      if (!one && !formal.has_default && !formal.type.ends_with('?')) return std::nullopt;
      if (!one) continue;
      if (one->first.empty() && formal.keyword_only) return std::nullopt;
      const int how = fit(one->second, formal);
      if (how == 0) return std::nullopt;
      score += how;
      ++used;
      args.push_back({formal.name, one->second});
    }
    if (used != given.size()) return std::nullopt;
    return std::pair(score, std::move(args));
  }

  ir::Value call(const std::string& name, const std::vector<Named>& given) {
    std::optional<std::pair<int, std::vector<ir::Argument>>> best;
    std::string op;
    for (const std::string_view line : ir::schema_lines()) {
      const std::string_view full = line.substr(0, line.find('('));
      if (full.substr(0, full.find('.')) != name) continue;
      if (full.find(".prim_") != std::string_view::npos) continue;  // of TorchScript alone
      const ir::OpSchema* schema = ir::find_schema("aten::" + std::string(full));
      auto one = schema ? matched(*schema, given) : std::nullopt;
      if (!one || (best && best->first >= one->first)) continue;
      best = std::move(one);
      op = schema->op;
    }
    if (!best) refuse("a call of '" + name + "' that no operator of ATen is");
    return ir::NodeRef{steps_.add(op, std::move(best->second))};
  }

  Steps& steps_;
  std::string_view rest_;
  std::map<std::string, ir::Value> names_;
};

}  // namespace

ir::NodeId write_script(Steps& steps, const std::string& text, ir::NodeId x) {
  return ScriptWriter(steps, x).write(text);
}

}  // namespace mase::pt2
