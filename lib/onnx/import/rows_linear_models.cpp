// SPDX-License-Identifier: Apache-2.0
// Rows of linear models and support vector machines of ai.onnx.ml, as skl2onnx writes those of
// scikit-learn.
#include <numeric>

#include "onnx/import/classes.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

ir::NodeId is_positive(Call& call, ir::NodeId scores) {
  return call.emit("aten::gt.Scalar", {{"self", ref(scores)}, {"other", 0.0}});
}

ir::NodeId side_by_side(Call& call, ir::NodeId left, ir::NodeId right) {
  return call.emit("aten::cat",
                   {{"tensors", ir::Value::list({ref(left), ref(right)})}, {"dim", 1}});
}

void linear_regressor(Call& call) {
  const auto targets = static_cast<std::size_t>(call.integer("targets", 1));
  std::vector<float> bias = floats(call, "intercepts");
  if (bias.empty()) bias.assign(targets, 0.0F);
  if (bias.size() != targets) call.wrong("it has not one intercept per target");
  const ir::NodeId scores = affine(call, rows_of(call), floats(call, "coefficients"), bias);
  call.result(post_transformed(call, scores));
}

/// Without a function of the scores: engines do not agree on what it is applied to.
void refuse_function(Call& call, const std::string& reason) {
  if (call.text("post_transform", "NONE") != "NONE")
    call.refuse(reason + ", so its post_transform must be NONE");
}

/// One score stands for two classes: that of the second one is the score, that of the first one is
/// 1 minus it.
void binary_classifier(Call& call, ir::NodeId score) {
  const ir::NodeId second = call.emit(
      "aten::reshape", {{"self", ref(converted(call, is_positive(call, score), DType::int64))},
                        {"shape", list_of({-1})}});
  if (class_count(call) != 2) return give_classes(call, second, post_transformed(call, score));
  refuse_function(call, "it has one score for two classes");
  const ir::NodeId first = call.emit("aten::rsub.Scalar", {{"self", ref(score)}, {"other", 1.0}});
  give_classes(call, second, side_by_side(call, first, score));
}

void linear_classifier(Call& call) {
  const std::vector<float> bias = floats(call, "intercepts");
  if (bias.empty()) call.refuse("it has no intercepts");
  const ir::NodeId scores = affine(call, rows_of(call), floats(call, "coefficients"), bias);
  if (bias.size() == 1) return binary_classifier(call, scores);
  if (class_count(call) != bias.size()) call.wrong("it has not one label per score");
  give_classes(call, best_class(call, scores), post_transformed(call, scores));
}

/// Support vectors and the kernel that compares rows with them.
class Machine {
 public:
  Machine(Call& call, std::int64_t count)
      : call_(call),
        rows_(rows_of(call)),
        count_(count),
        columns_(fixed_size(call, rows_, 1)),
        vectors_(floats(call, "support_vectors")),
        parameters_(floats(call, "kernel_params")),
        kernel_(call.text("kernel_type", "LINEAR")) {
    if (static_cast<std::int64_t>(vectors_.size()) != count_ * columns_)
      call.wrong("its support vectors do not fit its " + std::to_string(columns_) + " columns");
    if (kernel_ != "LINEAR" && parameters_.size() != 3)
      call.wrong("its kernel_params are not gamma, coef0 and degree");
  }

  /// Sums of the kernel's values with these factors, [bias.size(), support vectors].
  ir::NodeId decision(const std::vector<float>& factors, const std::vector<float>& bias) {
    if (kernel_ == "LINEAR") return affine(call_, rows_, joined_weight(factors, bias.size()), bias);
    return affine(call_, kernel(), factors, bias);
  }

 private:
  /// The sum of vectors with factors is one vector where the kernel is a product.
  std::vector<float> joined_weight(const std::vector<float>& factors, std::size_t outputs) const {
    const auto count = static_cast<std::size_t>(count_),
               columns = static_cast<std::size_t>(columns_);
    std::vector<float> weight;
    for (std::size_t out = 0; out < outputs; ++out)
      for (std::size_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i)
          sum += double{factors[out * count + i]} * double{vectors_[i * columns + column]};
        weight.push_back(static_cast<float>(sum));
      }
    return weight;
  }

  ir::NodeId times(ir::NodeId node, float factor) {
    return combined(call_, "aten::mul", node, double{factor});
  }

  ir::NodeId kernel() {
    const ir::NodeId vectors =
        parameter(call_, "support_vectors", Array::from(vectors_, {count_, columns_}));
    if (kernel_ == "RBF") return distances(vectors);
    const ir::NodeId products = call_.emit(
        "aten::matmul", {{"self", ref(rows_)}, {"other", ref(applied(call_, "aten::t", vectors))}});
    const ir::NodeId scaled =
        combined(call_, "aten::add", times(products, parameters_[0]), double{parameters_[1]});
    if (kernel_ == "SIGMOID") return applied(call_, "aten::tanh", scaled);
    if (kernel_ != "POLY") call_.refuse("its kernel " + kernel_ + " is not known");
    return call_.emit("aten::pow.Tensor_Scalar",
                      {{"self", ref(scaled)}, {"exponent", double{parameters_[2]}}});
  }

  /// exp(-gamma |row - vector|^2). The difference comes first: squares would cancel.
  ir::NodeId distances(ir::NodeId vectors) {
    const ir::NodeId each = call_.emit("aten::unsqueeze", {{"self", ref(rows_)}, {"dim", 1}});
    const ir::NodeId squares =
        applied(call_, "aten::square", combined(call_, "aten::sub", each, ref(vectors)));
    const ir::NodeId sums =
        call_.emit("aten::sum.dim_IntList",
                   {{"self", ref(squares)}, {"dim", list_of({-1})}, {"keepdim", false}});
    return applied(call_, "aten::exp", times(sums, -parameters_[0]));
  }

  Call& call_;
  ir::NodeId rows_;
  std::int64_t count_, columns_;
  std::vector<float> vectors_, parameters_;
  std::string kernel_;
};

/// Every pair of classes has a score, whose sign is a vote for one of both.
class Duel {
 public:
  explicit Duel(Call& call)
      : call_(call),
        sizes_(call.integers("vectors_per_class").value_or(std::vector<std::int64_t>{})),
        factors_(floats(call, "coefficients")),
        bias_(floats(call, "rho")) {
    if (sizes_.empty())
      call.refuse("it has no vectors_per_class; LinearClassifier says the same without kernels");
    const std::size_t classes = sizes_.size(), count = static_cast<std::size_t>(total());
    if (class_count(call) != classes || bias_.size() != classes * (classes - 1) / 2 ||
        factors_.size() != (classes - 1) * count)
      call.wrong("its labels, rho and coefficients do not fit its classes");
    if (!floats(call, "prob_a").empty())
      call.refuse(
          "its probabilities are the limit of an iteration; export the model without "
          "them, as SVC(probability=False) does");
  }

  std::int64_t total() const {
    return std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0});
  }
  std::size_t classes() const { return sizes_.size(); }
  ir::NodeId scores() { return Machine(call_, total()).decision(factors(), bias_); }

  /// The class with the most votes, the first one of several.
  ir::NodeId winner(ir::NodeId scores) {
    const std::size_t pairs = bias_.size();
    std::vector<float> signs(classes() * pairs, 0.0F), start(classes(), 0.0F);
    std::size_t pair = 0;
    for (std::size_t i = 0; i < classes(); ++i)
      for (std::size_t j = i + 1; j < classes(); ++j, ++pair) {
        signs[i * pairs + pair] = 1;
        signs[j * pairs + pair] = -1;
        start[j] += 1;
      }
    const auto shape = static_cast<std::int64_t>(classes());
    const ir::NodeId won = converted(call_, is_positive(call_, scores), DType::float32);
    const ir::NodeId votes = call_.emit(
        "aten::linear",
        {{"input", ref(won)},
         {"weight",
          ref(constant_node(call_, Array::from(signs, {shape, static_cast<std::int64_t>(pairs)})))},
         {"bias", ref(constant_node(call_, Array::from(start, {shape})))}});
    return best_class(call_, votes);
  }

 private:
  /// [pairs, support vectors]: the vectors of class i count with the coefficients for j, and those
  /// of j with the coefficients for i.
  std::vector<float> factors() const {
    const auto count = static_cast<std::size_t>(total());
    std::vector<float> all;
    std::vector<std::size_t> starts{0};
    for (const std::int64_t size : sizes_)
      starts.push_back(starts.back() + static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < classes(); ++i)
      for (std::size_t j = i + 1; j < classes(); ++j) {
        std::vector<float> row(count, 0.0F);
        for (std::size_t k = starts[i]; k < starts[i + 1]; ++k)
          row[k] = factors_[(j - 1) * count + k];
        for (std::size_t k = starts[j]; k < starts[j + 1]; ++k) row[k] = factors_[i * count + k];
        all.insert(all.end(), row.begin(), row.end());
      }
    return all;
  }

  Call& call_;
  std::vector<std::int64_t> sizes_;
  std::vector<float> factors_, bias_;
};

void support_vector_classifier(Call& call) {
  Duel duel(call);
  ir::NodeId scores = duel.scores();
  const ir::NodeId winner = duel.winner(scores);
  if (duel.classes() == 2) scores = side_by_side(call, applied(call, "aten::neg", scores), scores);
  give_classes(call, winner, post_transformed(call, scores));
}

void support_vector_regressor(Call& call) {
  const std::vector<float> factors = floats(call, "coefficients"), bias = floats(call, "rho");
  if (bias.size() != 1) call.wrong("it has not one rho");
  const std::int64_t count = call.integer("n_supports", 0);
  if (count != 0 && static_cast<std::int64_t>(factors.size()) != count)
    call.wrong("it has not one coefficient per support vector");
  const ir::NodeId score = count == 0 ? affine(call, rows_of(call), factors, bias)
                                      : Machine(call, count).decision(factors, bias);
  refuse_function(call, "it has one score");
  if (call.integer("one_class", 0) == 0) return call.result(score);
  const ir::NodeId inside = converted(call, is_positive(call, score), DType::float32);
  call.result(combined(call, "aten::sub", combined(call, "aten::mul", inside, 2.0), 1.0));
}

}  // namespace

std::vector<Row> linear_model_rows() {
  return {
      {"LinearRegressor", 1, linear_regressor, {}, classical_models},
      {"LinearClassifier", 1, linear_classifier, {}, classical_models},
      {"SVMClassifier", 1, support_vector_classifier, {}, classical_models},
      {"SVMRegressor", 1, support_vector_regressor, {}, classical_models},
  };
}

}  // namespace mase::onnx
