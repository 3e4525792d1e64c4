// SPDX-License-Identifier: Apache-2.0
// Imports the cases of a folder, runs their graphs with LibTorch, and compares the results with
// those of the case. nodes_test.py writes the folder and reads the lines printed here.
// The argument --ops prints the names of the op table.
//
// A case is a folder with model.onnx; values.onnx, whose initializers are the inputs ("input_0")
// and the expected results ("output_0"), and, if the model is to be imported for other sizes than
// it then runs with, inputs of these sizes ("example_0"); and tolerance.npy with rtol and atol.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "onnx/import.hpp"
#include "onnx/model.hpp"
#include "torch/run/executor.hpp"

namespace mase::onnx {
namespace {

struct Case {
  Model model;
  std::vector<std::string> names;  ///< of the inputs
  std::vector<Array> inputs, examples, results;
  double relative = 0, absolute = 0;
};

std::vector<Array> numbered(const Model& values, const std::string& prefix) {
  std::vector<Array> arrays;
  for (const Tensor& tensor : values.graph.initializers) {
    if (!tensor.name.starts_with(prefix)) continue;
    if (!dtype_of(tensor.type))
      unsupported_error("a tensor has elements of type " + element_name(tensor.type));
    arrays.push_back(tensor.value.aligned());
  }
  return arrays;
}

Case read_case(const std::filesystem::path& folder) {
  Case one;
  one.model = read_model((folder / "model.onnx").string());
  const Model values = read_model((folder / "values.onnx").string());
  one.inputs = numbered(values, "input_");
  one.examples = numbered(values, "example_");
  if (one.examples.empty()) one.examples = one.inputs;
  one.results = numbered(values, "output_");
  for (const ValueInfo* input : inputs_of(one.model)) one.names.push_back(input->name);
  const Array tolerance = read_npy((folder / "tolerance.npy").string());
  one.relative = tolerance.span<double>()[0];
  one.absolute = tolerance.span<double>()[1];
  return one;
}

/// Any elements as numbers that doubles hold.
std::vector<double> numbers_of(const Array& array) {
  const auto all = [&]<class T>(T) {
    return std::vector<double>(array.span<T>().begin(), array.span<T>().end());
  };
  switch (array.dtype()) {
    case DType::float64:
      return all(double{});
    case DType::int64:
      return all(std::int64_t{});
    case DType::int32:
      return all(std::int32_t{});
    case DType::uint32:
      return all(std::uint32_t{});
    default: {
      const Array converted = array.to_float32();
      return {converted.span<float>().begin(), converted.span<float>().end()};
    }
  }
}

/// Sums in another order may give numbers of 16 bits that are two units in the last place off.
double relative_tolerance(DType dtype, const Case& one) {
  if (dtype == DType::float16) return std::max(one.relative, std::ldexp(2.0, -10));
  if (dtype == DType::bfloat16) return std::max(one.relative, std::ldexp(2.0, -7));
  return one.relative;
}

bool is_near(double value, double expected, double relative, double absolute) {
  if (std::isnan(expected) || std::isnan(value)) return std::isnan(expected) && std::isnan(value);
  if (std::isinf(expected) || std::isinf(value)) return value == expected;
  return std::fabs(value - expected) <= absolute + relative * std::fabs(expected);
}

/// What is wrong with a result; "" if nothing is.
std::string difference(const Array& value, const Array& expected, const Case& one) {
  if (value.dtype() != expected.dtype() || value.shape() != expected.shape())
    return std::string(dtype_name(value.dtype())) + shape_text(value.shape()) + " is not " +
           std::string(dtype_name(expected.dtype())) + shape_text(expected.shape());
  const auto values = numbers_of(value), wanted = numbers_of(expected);
  const double relative = relative_tolerance(expected.dtype(), one);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!is_near(values[i], wanted[i], relative, one.absolute))
      return "element " + std::to_string(i) + " is " + std::to_string(values[i]) + ", not " +
             std::to_string(wanted[i]);
  return "";
}

/// What the importer says of the graph's results.
std::vector<ir::ValueInfo> inferred_results(const ir::Graph& graph) {
  const ir::ValueInfo& info = graph.node(graph.order().back()).info;
  return info.is_tensor() ? std::vector{info} : info.elements;
}

bool is_imported_for(const std::vector<Array>& inputs, const Case& one) {
  return std::ranges::equal(inputs, one.examples, {}, &Array::shape, &Array::shape);
}

/// The ops of a graph by their names in the op table.
std::set<std::string> ops_of(const ir::Graph& graph) {
  std::set<std::string> ops;
  for (const ir::NodeId id : graph.order())
    if (const ir::Classified type = ir::classify(graph, graph.node(id)); type.row)
      ops.insert(type.op);
  return ops;
}

std::string compare(const Case& one, const std::set<std::size_t>& fixed,
                    std::set<std::string>* ops = nullptr) {
  ImportOptions options;
  options.path = "model.onnx";
  std::vector<Array> given;
  for (std::size_t i = 0; i < one.names.size() && i < one.inputs.size(); ++i) {
    if (fixed.contains(i)) {
      options.constants[one.names[i]] = one.inputs[i];
    } else {
      options.inputs[one.names[i]] = one.examples[i];
      given.push_back(one.inputs[i]);
    }
  }
  const Imported imported = import_model(one.model, options);
  if (ops) *ops = ops_of(imported.graph);
  const std::vector<ir::ValueInfo> inferred = inferred_results(imported.graph);
  const auto results = libtorch::make_evaluator(imported.graph, ir::Level::floating)->run(given);
  if (results.size() != one.results.size())
    return std::to_string(results.size()) + " results instead of " +
           std::to_string(one.results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string wrong = difference(results[i].second, one.results[i], one);
    if (!wrong.empty()) return "result " + std::to_string(i) + ": " + wrong;
    if (is_imported_for(one.inputs, one) && inferred.at(i).shape != one.results[i].shape())
      return "result " + std::to_string(i) + " was inferred to be " +
             shape_text(inferred.at(i).shape);
  }
  return "";
}

bool is_whole(const Array& array) {
  return array.dtype() == DType::int64 || array.dtype() == DType::int32 ||
         array.dtype() == DType::boolean;
}

/// Which inputs to make constants, in this order: none; the one that the refusal names; all whole
/// numbers; all but the first.
std::vector<std::set<std::size_t>> choices(const Case& one, const std::string& refusal) {
  std::set<std::size_t> named, whole, others;
  for (std::size_t i = 0; i < one.inputs.size() && i < one.names.size(); ++i) {
    if (refusal.find("operand '" + one.names[i] + "'") != std::string::npos) named.insert(i);
    if (is_whole(one.inputs[i])) whole.insert(i);
    if (i > 0) others.insert(i);
  }
  return {named, whole, others};
}

bool asks_for_constants(const std::string& refusal) {
  return refusal.find("must be") != std::string::npos ||
         refusal.find("known only when") != std::string::npos;
}

/// A refusal's first line without the file and the node.
std::string reason_of(std::string message) {
  message = message.substr(0, message.find('\n'));
  const auto place = message.find("): ");
  return place == std::string::npos ? message : message.substr(place + 3);
}

struct Outcome {
  std::string state, why;
  std::set<std::string> ops = {};  ///< those of the graph, if it passed
};

/// The case with symbols in place of all sizes of its inputs.
Case with_symbols(Case one) {
  int symbol = 0;
  for (ValueInfo& input : one.model.graph.inputs)
    if (input.shape)
      for (Dimension& dim : *input.shape) dim = {std::nullopt, "n" + std::to_string(symbol++)};
  return one;
}

/// Whether the file is for another batch than that of the inputs, which its constants then are too.
bool is_for_other_batch(const Case& one) {
  const auto inputs = inputs_of(one.model);
  for (std::size_t i = 0; i < inputs.size() && i < one.inputs.size(); ++i)
    if (const auto& sizes = inputs[i]->shape; sizes && !sizes->empty() && sizes->front().size)
      if (*sizes->front().size != one.inputs[i].shape().front()) return true;
  return false;
}

/// What is wrong if all sizes vary; "" if nothing is, or if the importer refuses that.
std::string compare_with_symbols(const Case& one, const std::set<std::size_t>& fixed) {
  try {
    const std::string wrong = compare(with_symbols(one), fixed);
    return wrong.empty() ? "" : "with symbols: " + wrong;
  } catch (const Error& error) {
    if (error.fault() == Fault::unsupported) return "";
    return std::string("with symbols: error: ") + error.what();
  }
}

/// Imports without constants, and with more of them while the refusal asks for constants.
Outcome run(const Case& one) {
  std::set<std::size_t> fixed;
  std::string refusal;
  for (std::size_t attempt = 0; attempt < 6; ++attempt) {
    try {
      std::set<std::string> ops;
      std::string wrong = compare(one, fixed, &ops);
      if (wrong.empty() && !is_for_other_batch(one)) wrong = compare_with_symbols(one, fixed);
      if (!wrong.empty()) return {"failed", wrong};
      return {fixed.empty() ? "passed" : "constants", "", std::move(ops)};
    } catch (const Error& error) {
      if (refusal.empty()) refusal = error.what();
      if (error.fault() != Fault::unsupported)
        return {"failed", std::string("error: ") + error.what()};
      const std::string now = error.what();
      if (!asks_for_constants(now)) return {"refused", fixed.empty() ? now : refusal};
      const std::set<std::size_t> before = fixed;
      for (const auto& more : choices(one, now)) {
        if (std::ranges::includes(fixed, more)) continue;
        fixed.insert(more.begin(), more.end());
        break;
      }
      if (fixed == before) break;
    }
  }
  return {"refused", refusal};
}

Outcome run_folder(const std::filesystem::path& folder) {
  try {
    return run(read_case(folder));
  } catch (const Error& error) {
    const bool refused = error.fault() == Fault::unsupported;
    return {refused ? "refused" : "failed", error.what()};
  } catch (const std::exception& error) {
    return {"failed", std::string("exception: ") + error.what()};
  }
}

}  // namespace
}  // namespace mase::onnx

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--ops") {
    for (const mase::ir::OpRow& row : mase::ir::op_table()) std::cout << row.name << '\n';
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path folder(argv[i]);
    std::cout << folder.filename().string() << '\t' << std::flush;
    const auto [state, why, ops] = mase::onnx::run_folder(folder);
    std::cout << state << '\t' << mase::onnx::reason_of(why) << '\t'
              << mase::join({ops.begin(), ops.end()}, " ") << '\n'
              << std::flush;
  }
  return 0;
}
