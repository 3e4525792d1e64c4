// SPDX-License-Identifier: Apache-2.0
// An operand is a term: a node with a letter for each dimension. Every step gives a new term.
#include "passes/transform/expand_einsum.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "ir/einsum_equation.hpp"
#include "ir/op_table.hpp"
#include "passes/rewriting/node_writer.hpp"

namespace mase::passes {
namespace {

constexpr std::string_view einsum_op = "aten::einsum";

bool has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

/// The letters for which a condition holds, in order.
template <class F>
std::string chosen(const std::string& letters, F&& wanted) {
  std::string found;
  std::ranges::copy_if(letters, std::back_inserter(found), wanted);
  return found;
}

std::string without(const std::string& letters, const std::string& others) {
  return chosen(letters, [&](char c) { return !has(others, c); });
}

std::string common(const std::string& letters, const std::string& others) {
  return chosen(letters, [&](char c) { return has(others, c); });
}

std::int64_t count(const std::string& letters) { return static_cast<std::int64_t>(letters.size()); }

/// A tensor whose dimensions have these letters.
struct Term {
  ir::NodeId node;
  std::string letters;
};

/// Writes the nodes that replace one einsum.
class EinsumExpansion : NodeWriter {
 public:
  EinsumExpansion(ir::Graph& graph, ir::NodeId einsum)
      : NodeWriter(graph, einsum, graph.node(einsum).info.dtype),
        graph_(graph),
        name_(graph.node(einsum).name) {
    begin(name_);
    read(graph.node(einsum));
  }

  ir::NodeId result() {
    while (terms_.size() > 2) join_first();
    if (terms_.size() == 2) return product(terms_[0], terms_[1], result_);
    return ordered(summed(terms_[0], without(terms_[0].letters, result_)), result_).node;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    unsupported_error("node '" + name_ + "' is the einsum '" + equation_ + "', " + what);
  }

  void read(const ir::Node& einsum) {
    const ir::Value *equation = einsum.find("equation"), *tensors = einsum.find("tensors");
    if (!equation || equation->kind() != ir::Value::Kind::string)
      refuse("whose equation is computed; write it as text");
    equation_ = equation->as_string();
    if (!tensors || tensors->kind() != ir::Value::Kind::list || tensors->items().empty())
      refuse("whose list of tensors is computed; name the tensors one by one");
    std::vector<std::size_t> ranks;
    for (const ir::Value& tensor : tensors->items()) ranks.push_back(shape(tensor.node()).size());
    ir::EinsumEquation letters = equation_for(ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i)
      add(tensors->items()[i].node(), std::move(letters.operands[i]));
    result_ = std::move(letters.result);
  }

  ir::EinsumEquation equation_for(const std::vector<std::size_t>& ranks) const {
    try {
      return ir::einsum_equation(equation_, ranks);
    } catch (const Error& error) {
      throw Error(error.fault(), "node '" + name_ + "': " + error.what());
    }
  }

  const Shape& shape(ir::NodeId id) const {
    const ir::ValueInfo& info = graph_.node(id).info;
    if (!info.is_tensor()) refuse("which has tensors with unknown shapes");
    return info.shape;
  }

  void add(ir::NodeId node, std::string letters) {
    for (std::size_t d = 0; d < letters.size(); ++d) {
      if (letters.find(letters[d], d + 1) != std::string::npos)
        refuse(
            "which takes a diagonal; expand_einsum cannot take it apart, so write it as "
            "torch.diagonal");
      const auto [size, fresh] = sizes_.emplace(letters[d], shape(node)[d]);
      if (!fresh && size->second != shape(node)[d])
        refuse("whose dimensions broadcast; expand_einsum cannot take it apart, so expand them");
    }
    terms_.push_back({node, std::move(letters)});
  }

  Shape shape_of(const std::string& letters) const {
    Shape found;
    for (const char c : letters) found.push_back(sizes_.at(c));
    return found;
  }

  /// Joins the first two terms into one, with the letters that other terms or the result have.
  void join_first() {
    std::string later = result_;
    for (std::size_t i = 2; i < terms_.size(); ++i) later += terms_[i].letters;
    const Term &a = terms_[0], &b = terms_[1];
    const std::string kept = common(a.letters + without(b.letters, a.letters), later);
    terms_[1] = {product(a, b, kept), kept};
    terms_.erase(terms_.begin());
  }

  ir::NodeId product(Term a, Term b, const std::string& result) {
    a = summed(a, without(a.letters, result + b.letters));
    b = summed(b, without(b.letters, result + a.letters));
    if (!result.empty() && !has(a.letters, result.front())) std::swap(a, b);
    const std::string inner = without(common(a.letters, b.letters), result);
    if (inner.empty()) return scaled(a, b, result);
    return matrix_product(a, b, inner, result);
  }

  /// An elementwise product; operands get dimensions of 1 for letters of the result that they lack.
  ir::NodeId scaled(const Term& a, const Term& b, const std::string& result) {
    return call("aten::mul.Tensor", "product",
                {{"self", ref(spread(a, result))}, {"other", ref(spread(b, result))}},
                shape_of(result));
  }

  ir::NodeId spread(const Term& term, const std::string& result) {
    ir::NodeId node = ordered(term, common(result, term.letters)).node;
    for (std::size_t d = 0; d < result.size(); ++d)
      if (!has(term.letters, result[d])) node = unsqueezed(node, static_cast<std::int64_t>(d));
    return node;
  }

  /// matmul broadcasts over the dimensions that only the first operand has before its rows.
  ir::NodeId matrix_product(const Term& a, const Term& b, const std::string& inner,
                            const std::string& result) {
    const std::string both = common(result, common(a.letters, b.letters));
    const std::string left = without(common(result, a.letters), both);
    const std::string right = without(common(result, b.letters), both);
    const std::string rows = left.empty() ? "" : left.substr(left.size() - 1);
    const std::string outer = left.substr(0, left.size() - rows.size()) + both;
    ir::NodeId x = ordered(a, outer + rows + inner).node;
    x = flattened(x, count(outer + rows), count(inner));
    ir::NodeId y = ordered(b, both + inner + right).node;
    y = flattened(flattened(y, count(both), count(inner)), count(both) + 1, count(right));
    // With a batch, a row or a column must be a matrix, too.
    const bool row = !both.empty() && rows.empty(), column = !both.empty() && right.empty();
    if (row) x = unsqueezed(x, count(outer));
    if (column) y = unsqueezed(y, count(both) + 1);
    ir::NodeId node = multiplied(x, y);
    if (column) node = squeezed(node, -1);
    if (row) node = squeezed(node, count(outer));
    return ordered({unflattened(node, right, b), outer + rows + right}, result).node;
  }

  /// The sum over dimensions that the term has.
  Term summed(const Term& term, const std::string& over) {
    if (over.empty()) return term;
    std::vector<ir::Value> dims;
    for (const char c : over) dims.emplace_back(dim_of(term, c));
    std::string left = without(term.letters, over);
    const ir::NodeId node =
        call("aten::sum.dim_IntList", "sum",
             {{"self", ref(term.node)}, {"dim", ir::Value::list(std::move(dims))}}, shape_of(left));
    return {node, std::move(left)};
  }

  Term ordered(const Term& term, const std::string& letters) {
    if (term.letters == letters) return term;
    std::vector<ir::Value> dims;
    for (const char c : letters) dims.emplace_back(dim_of(term, c));
    const ir::NodeId node = call(
        "aten::permute", "permuted",
        {{"self", ref(term.node)}, {"dims", ir::Value::list(std::move(dims))}}, shape_of(letters));
    return {node, letters};
  }

  static std::int64_t dim_of(const Term& term, char letter) {
    return static_cast<std::int64_t>(term.letters.find(letter));
  }

  /// The product x y of matrices, or of vectors when there is no batch; x may have further leading
  /// dimensions.
  ir::NodeId multiplied(ir::NodeId x, ir::NodeId y) {
    Shape size = shape(x);
    size.pop_back();
    const std::size_t outputs = shape(y).size();
    if (outputs > 1) size.push_back(shape(y).back());
    return call("aten::matmul", "product", {{"self", ref(x)}, {"other", ref(y)}}, std::move(size));
  }

  ir::NodeId flattened(ir::NodeId x, std::int64_t first, std::int64_t dims) {
    if (dims < 2) return x;
    const auto from = shape(x).begin() + first;
    Shape size(shape(x).begin(), from);
    size.push_back(numel(Shape(from, from + dims)));
    size.insert(size.end(), from + dims, shape(x).end());
    return call("aten::flatten.using_ints", "flat",
                {{"self", ref(x)}, {"start_dim", first}, {"end_dim", first + dims - 1}},
                std::move(size));
  }

  /// Splits the last dimension into those that `letters` name in another term.
  ir::NodeId unflattened(ir::NodeId x, const std::string& letters, const Term& of) {
    if (letters.size() < 2) return x;
    Shape size = shape(x), parts = shape_of(letters);
    size.pop_back();
    size.insert(size.end(), parts.begin(), parts.end());
    std::vector<ir::Value> sizes{-1};
    for (const char c : letters.substr(1)) sizes.push_back(size_of(of, c));
    return call("aten::unflatten.int", "apart",
                {{"self", ref(x)}, {"dim", -1}, {"sizes", ir::Value::list(std::move(sizes))}},
                std::move(size));
  }

  /// The size of a letter: a number when a parameter has it, otherwise read when the graph runs.
  ir::Value size_of(const Term& term, char letter) {
    if (graph_.node(term.node).kind == ir::NodeKind::get_attr) return sizes_.at(letter);
    return ref(size(term.node, dim_of(term, letter), "size"));
  }

  ir::NodeId unsqueezed(ir::NodeId x, std::int64_t dim) {
    Shape size = shape(x);
    size.insert(size.begin() + dim, 1);
    return call("aten::unsqueeze", "wide", {{"self", ref(x)}, {"dim", dim}}, std::move(size));
  }

  ir::NodeId squeezed(ir::NodeId x, std::int64_t dim) {
    Shape size = shape(x);
    size.erase(dim < 0 ? size.end() + dim : size.begin() + dim);
    return call("aten::squeeze.dim", "narrow", {{"self", ref(x)}, {"dim", dim}}, std::move(size));
  }

  ir::Graph& graph_;
  std::string name_, equation_;
  std::vector<Term> terms_;
  std::string result_;
  std::map<char, std::int64_t> sizes_;  ///< sizes of dimensions, by letter
};

}  // namespace

Result ExpandEinsum::run(ir::Graph& graph, const Options&, PassContext&) {
  Result result;
  Tree expanded = Tree::list();
  ir::Graph work = graph;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    if (ir::base_op(node.op) != einsum_op || !node.formats.empty()) continue;
    work.replace_uses(id, EinsumExpansion(work, id).result());
    work.erase(id);
    expanded.push_back(node.name);
  }
  graph = std::move(work);
  result.changed = expanded.size() > 0;
  result.info["expanded"] = std::move(expanded);
  return result;
}

}  // namespace mase::passes
