// SPDX-License-Identifier: Apache-2.0
// Rows of the operators of ai.onnx.ml that prepare features or hand out labels.
#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/import/classes.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

constexpr std::string_view only_numbers =
    "the graph's tensors have numbers, not text or maps; give the model numbers, as OrdinalEncoder "
    "of scikit-learn makes them in front of it";

Array array_of(const std::vector<float>& values) {
  return Array::from(values, {static_cast<std::int64_t>(values.size())});
}
Array array_of(const std::vector<std::int64_t>& values) {
  return Array::from(values, {static_cast<std::int64_t>(values.size())});
}

/// A number for all columns, or a tensor with one each.
ir::Value number_or_columns(Call& call, std::string_view name, const std::vector<float>& values) {
  if (values.size() == 1) return shortest_decimal(values[0]);
  return ref(parameter(call, name, array_of(values)));
}

void scaler(Call& call) {
  ir::NodeId result = converted(call, call.tensor(0), DType::float32);
  if (const auto offset = floats(call, "offset"); !offset.empty())
    result = combined(call, "aten::sub", result, number_or_columns(call, "offset", offset));
  if (const auto scale = floats(call, "scale"); !scale.empty())
    result = combined(call, "aten::mul", result, number_or_columns(call, "scale", scale));
  call.result(result);
}

/// Rows divided by their norm; a row of zeros stays one.
void normalizer(Call& call) {
  const ir::NodeId input = converted(call, call.tensor(0), DType::float32);
  const std::string norm = call.text("norm", "MAX");
  const ir::Value dim = std::int64_t{-1};
  const auto sum = [&](ir::NodeId of) {
    return call.emit("aten::sum.dim_IntList",
                     {{"self", ref(of)}, {"dim", ir::Value::list({dim})}, {"keepdim", true}});
  };
  ir::NodeId size = ir::no_node;
  if (norm == "L1")
    size = sum(applied(call, "aten::abs", input));
  else if (norm == "L2")
    size = applied(call, "aten::sqrt", sum(applied(call, "aten::square", input)));
  else if (norm == "MAX")
    size = call.emit("aten::amax",
                     {{"self", ref(input)}, {"dim", ir::Value::list({dim})}, {"keepdim", true}});
  else
    call.wrong("its norm is " + norm + ", not MAX, L1 or L2");
  const ir::NodeId zero = call.emit("aten::eq.Scalar", {{"self", ref(size)}, {"other", 0.0}});
  const ir::NodeId one = converted(call, zero, DType::float32);
  call.result(combined(call, "aten::div", input, ref(combined(call, "aten::add", size, ref(one)))));
}

void binarizer(Call& call) {
  const ir::NodeId above = call.emit(
      "aten::gt.Scalar", {{"self", call.ref(0)}, {"other", call.number("threshold", 0.0)}});
  call.result(converted(call, above, call.dtype(0)));
}

void imputer(Call& call) {
  const bool real = is_floating(call.dtype(0));
  const ir::NodeId input = call.tensor(0);
  const double given =
      call.number("replaced_value_float", std::numeric_limits<double>::quiet_NaN());
  ir::NodeId missing = ir::no_node;
  if (real && std::isnan(given))
    missing = applied(call, "aten::isnan", input);
  else
    missing = call.emit(
        "aten::eq.Scalar",
        {{"self", ref(input)},
         {"other", real ? ir::Value(given) : ir::Value(call.integer("replaced_value_int64", 0))}});
  const auto whole = call.integers("imputed_value_int64s");
  if (real ? floats(call, "imputed_value_floats").empty() : !whole || whole->empty())
    call.wrong("it has no values of its operand's type to fill in");
  const Array values = real ? array_of(floats(call, "imputed_value_floats")) : array_of(*whole);
  const ir::NodeId filled = converted(call, parameter(call, "imputed", values), call.dtype(0));
  call.result(
      call.emit("aten::where.self",
                {{"condition", ref(missing)}, {"self", ref(filled)}, {"other", ref(input)}}));
}

/// Whether operand 0 is 0, 1, 2, ...: the labels that most classifiers have.
bool counts_up(Call& call) {
  const auto known = call.rank(0) == 1 ? call.find_host(0) : std::nullopt;
  if (!known || (known->dtype != DType::int64 && known->dtype != DType::int32)) return false;
  for (std::size_t i = 0; i < known->items.size(); ++i)
    if (known->items[i] != ir::Value(static_cast<std::int64_t>(i))) return false;
  return true;
}

/// Columns by their places, which may be computed; a vector counts as one row.
void array_feature_extractor(Call& call) {
  const ir::NodeId index = converted(call, call.tensor(1), DType::int64);
  if (counts_up(call))  // the label of a class is its place
    return call.result(
        converted(call, reshaped(call, index, {std::int64_t{1}, std::int64_t{-1}}), call.dtype(0)));
  ir::NodeId input = call.tensor(0);
  if (call.rank(0) == 1) input = call.emit("aten::unsqueeze", {{"self", ref(input)}, {"dim", 0}});
  const ir::NodeId places = reshaped(call, index, {std::int64_t{-1}});
  call.result(
      call.emit("aten::index_select", {{"self", ref(input)}, {"dim", -1}, {"index", ref(places)}}));
}

/// Whether each element equals each of some numbers, in a new last dimension.
ir::NodeId matches(Call& call, const std::vector<std::int64_t>& numbers) {
  const ir::NodeId whole = converted(call, call.tensor(0), DType::int64);
  const ir::NodeId each = call.emit("aten::unsqueeze", {{"self", ref(whole)}, {"dim", -1}});
  return call.emit("aten::eq.Tensor", {{"self", ref(each)},
                                       {"other", ref(parameter(call, "keys", array_of(numbers)))}});
}

void one_hot_encoder(Call& call) {
  const auto categories = call.integers("cats_int64s");
  if (!categories || categories->empty()) call.refuse(std::string(only_numbers));
  call.result(converted(call, matches(call, *categories), DType::float32));
}

/// The values and the default of a table of labels.
struct Table {
  std::vector<std::int64_t> keys;
  Array values;
  ir::Value otherwise;
};

Table table_of(Call& call) {
  const auto keys = call.integers("keys_int64s");
  if (!keys || keys->empty()) call.refuse("its keys are no int64s: " + std::string(only_numbers));
  if (const auto whole = call.integers("values_int64s"); whole && !whole->empty())
    return {*keys, array_of(*whole), call.integer("default_int64", -1)};
  if (const auto reals = floats(call, "values_floats"); !reals.empty())
    return {*keys, array_of(reals), call.number("default_float", -0.0)};
  call.refuse("its values are texts; " + std::string(only_numbers));
}

void label_encoder(Call& call) {
  const Table table = table_of(call);
  if (table.values.size() != static_cast<std::int64_t>(table.keys.size()))
    call.wrong("it has not one value per key");
  const ir::NodeId found = converted(call, matches(call, table.keys), DType::int64);
  const ir::NodeId place =
      call.emit("aten::argmax", {{"self", ref(found)}, {"dim", -1}, {"keepdim", false}});
  const ir::NodeId known =
      call.emit("aten::amax", {{"self", ref(found)}, {"dim", list_of({-1})}, {"keepdim", false}});
  const ir::NodeId values = parameter(call, "values", table.values);
  const ir::NodeId chosen = call.emit(
      "aten::index.Tensor", {{"self", ref(values)}, {"indices", ir::Value::list({ref(place)})}});
  const ir::NodeId missing = call.emit("aten::eq.Scalar", {{"self", ref(known)}, {"other", 0}});
  call.result(
      call.emit("aten::masked_fill.Scalar",
                {{"self", ref(chosen)}, {"mask", ref(missing)}, {"value", table.otherwise}}));
}

void feature_vectorizer(Call& call) {
  std::vector<ir::Value> parts;
  for (std::size_t i = 0; i < call.count(); ++i)
    parts.push_back(ref(converted(call, call.tensor(i), DType::float32)));
  call.result(call.emit("aten::cat", {{"tensors", ir::Value::list(std::move(parts))}, {"dim", 1}}));
}

/// The graph has the tensor of probabilities where ONNX has a map for every row.
void zip_map(Call& call) {
  call.importer().note("'" + call.node().outputs.at(0) +
                       "' is the tensor of probabilities, a column per class in the order of the "
                       "labels, not a list of maps");
  call.result(Operand(call.operand(0)));
}

}  // namespace

std::vector<Row> feature_rows() {
  return {
      {"Scaler", 1, scaler, {}, classical_models},
      {"Normalizer", 1, normalizer, {}, classical_models},
      {"Binarizer", 1, binarizer, {}, classical_models},
      {"Imputer", 1, imputer, {}, classical_models},
      {"ArrayFeatureExtractor", 1, array_feature_extractor, {}, classical_models},
      {"OneHotEncoder", 1, one_hot_encoder, {}, classical_models},
      {"LabelEncoder", 1, label_encoder, {}, classical_models},
      {"FeatureVectorizer", 1, feature_vectorizer, {}, classical_models},
      {"ZipMap", 1, zip_map, {}, classical_models},
      {"CategoryMapper", 1, {}, {}, classical_models, only_numbers},
      {"CastMap", 1, {}, {}, classical_models, only_numbers},
      {"DictVectorizer", 1, {}, {}, classical_models, only_numbers},
  };
}

}  // namespace mase::onnx
