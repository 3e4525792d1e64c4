// SPDX-License-Identifier: Apache-2.0
// Rules of products: linear layers, matrix products, sums of products by an equation, attention.
#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "base/text.hpp"
#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

Inferred linear_product(const Call& call) {
  ValueInfo result = call.tensor("input");
  const Shape weight = call.tensor("weight").shape;
  call.require(!result.shape.empty() && !weight.empty() && result.shape.back() == weight.back(),
               "the last dimension of the input is not that of the weight");
  result.shape.pop_back();
  if (weight.size() == 2) result.shape.push_back(weight[0]);
  return result;
}

/// [..., n, k] x [..., k, m]; a vector counts as a row on the left and as a column on the right.
Shape product_shape(const Call& call, Shape left, Shape right) {
  call.require(!left.empty() && !right.empty(), "an operand has no dimension");
  const bool row = left.size() == 1, column = right.size() == 1;
  if (row) left.insert(left.begin(), 1);
  if (column) right.push_back(1);
  const std::int64_t inner = right[right.size() - 2];
  call.require(left.back() == inner, "the inner sizes " + std::to_string(left.back()) + " and " +
                                         std::to_string(inner) + " differ");
  Shape shape =
      call.broadcast({part_of(left, 0, left.size() - 2), part_of(right, 0, right.size() - 2)});
  if (!row) shape.push_back(left[left.size() - 2]);
  if (!column) shape.push_back(right.back());
  return shape;
}

Inferred matrix_product(const Call& call) {
  const ValueInfo left = call.tensor("self");
  const ValueInfo right = call.tensor(call.has("mat2") ? "mat2" : "other");
  call.require(left.dtype == right.dtype, "the operands have different dtypes");
  return ValueInfo::tensor(left.dtype, product_shape(call, left.shape, right.shape));
}

Inferred added_product(const Call& call) {
  const bool batched = call.has("batch1");
  const ValueInfo left = call.tensor(batched ? "batch1" : "mat1");
  const ValueInfo right = call.tensor(batched ? "batch2" : "mat2");
  const Shape product = product_shape(call, left.shape, right.shape);
  call.require(call.broadcast({call.tensor("self").shape, product}) == product,
               "the tensor that is added is larger than the product");
  return ValueInfo::tensor(left.dtype, product);
}

Inferred outer_product(const Call& call) {
  const ValueInfo left = call.tensor("self"), right = call.tensor("vec2");
  call.require(left.shape.size() == 1 && right.shape.size() == 1, "it takes vectors");
  return ValueInfo::tensor(call.promoted({left, right}), {left.shape[0], right.shape[0]});
}

/// The letters of an operand, one per dimension; the dimensions of "..." are numbered from the last
/// one.
std::vector<std::string> letters_of(const Call& call, const std::string& term, std::size_t rank) {
  const auto dots = term.find("...");
  const std::size_t named = static_cast<std::size_t>(
      std::ranges::count_if(term, [](unsigned char c) { return std::isalpha(c) != 0; }));
  call.require(
      named <= rank && (named == rank || dots != std::string::npos),
      "the equation names " + std::to_string(named) + " dimensions of " + std::to_string(rank));
  constexpr std::size_t most_dimensions = 64;
  call.require(rank <= most_dimensions, "an operand has too many dimensions");
  std::vector<std::string> letters;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (i == dots)
      for (std::size_t left = rank - named; left > 0; --left)
        letters.push_back({'.', static_cast<char>(left)});
    if (std::isalpha(static_cast<unsigned char>(term[i])) != 0)
      letters.push_back(std::string(1, term[i]));
  }
  return letters;
}

/// What the terms of an equation say about its letters.
struct EquationLetters {
  std::map<std::string, std::int64_t> sizes;
  std::map<std::string, int> uses;
  std::size_t dots = 0;  ///< the most dimensions that "..." stands for

  void add(const Call& call, const std::string& term, const Shape& shape) {
    const std::vector<std::string> letters = letters_of(call, term, shape.size());
    std::size_t own_dots = 0;
    for (std::size_t d = 0; d < letters.size(); ++d) {
      std::int64_t& size = sizes.emplace(letters[d], 1).first->second;
      size = call.broadcast({{size}, {shape[d]}})[0];
      ++uses[letters[d]];
      own_dots += letters[d].front() == '.' ? 1 : 0;
    }
    dots = std::max(dots, own_dots);
  }

  /// The letters of the result that the equation gives after its arrow.
  std::vector<std::string> given_result(const Call& call, const std::string& term) const {
    const auto named =
        std::ranges::count_if(term, [](unsigned char c) { return std::isalpha(c) != 0; });
    const bool keeps = term.find("...") != std::string::npos;
    return letters_of(call, term, static_cast<std::size_t>(named) + (keeps ? dots : 0));
  }

  /// Without an arrow, the dimensions of "..." and then, sorted, the letters that occur once.
  std::vector<std::string> implied_result() const {
    std::vector<std::string> result, letters;
    for (const auto& [letter, count] : uses) {
      if (letter.front() == '.') result.insert(result.begin(), letter);
      if (letter.front() != '.' && count == 1) letters.push_back(letter);
    }
    result.insert(result.end(), letters.begin(), letters.end());
    return result;
  }
};

Inferred contracted(const Call& call) {
  const std::string equation = call.text("equation", "");
  const auto arrow = equation.find("->");
  const std::vector<std::string> terms = split(equation.substr(0, arrow), ',');
  const std::vector<ValueInfo> operands = call.tensors("tensors");
  call.require(terms.size() == operands.size(), "the equation has another number of operands");
  EquationLetters letters;
  for (std::size_t i = 0; i < terms.size(); ++i) letters.add(call, terms[i], operands[i].shape);
  const bool given = arrow != std::string::npos;
  Shape shape;
  for (const std::string& letter :
       given ? letters.given_result(call, equation.substr(arrow + 2)) : letters.implied_result()) {
    const auto size = letters.sizes.find(letter);
    call.require(size != letters.sizes.end(), "no operand has the dimension '" + letter + "'");
    shape.push_back(size->second);
  }
  return ValueInfo::tensor(call.promoted(operands), shape);
}

Inferred dot_product_attention(const Call& call) {
  const ValueInfo query = call.tensor("query");
  const Shape key = call.tensor("key").shape, value = call.tensor("value").shape;
  call.require(query.shape.size() > 1 && key.size() > 1 && value.size() > 1 &&
                   query.shape.back() == key.back() &&
                   key[key.size() - 2] == value[value.size() - 2],
               "query, key and value do not fit each other");
  Shape shape = query.shape;
  shape.back() = value.back();
  return ValueInfo::tensor(query.dtype, shape);
}

/// The result, and the weights [N, queries, keys], of each head [N, heads, queries, keys], or none.
Inferred attention_of_heads(const Call& call) {
  const ValueInfo query = call.tensor("query");
  const Shape key = call.tensor("key").shape;
  call.require(query.shape.size() == 3 && key.size() == 3, "it takes [N, steps, features]");
  ValueInfo weights = host_info(InfoKind::none);
  if (call.truth("need_weights", true)) {
    Shape shape{query.shape[0], query.shape[1], key[1]};
    if (!call.truth("average_attn_weights", true))
      shape.insert(shape.begin() + 1, call.integer("num_head", 1));
    weights = ValueInfo::tensor(query.dtype, shape);
  }
  return tuple_info({query, weights});
}

Inferred encoder_layer(const Call& call) { return call.tensor("src"); }

}  // namespace

std::vector<InferenceRule> product_rules() {
  return {
      {OpFamily::linear, linear_product},
      {OpFamily::matrix_product, matrix_product},
      {OpFamily::added_product, added_product},
      {"aten::outer", outer_product},
      {OpFamily::contraction, contracted},
      {OpFamily::attention, dot_product_attention},
      {"aten::_native_multi_head_attention", attention_of_heads},
      {"aten::_transformer_encoder_layer_fwd", encoder_layer},
  };
}

}  // namespace mase::ir
