// SPDX-License-Identifier: Apache-2.0
// The table of signatures is that of LibTorch's registry. With MASE_UPDATE_PAGES in the
// environment, the test writes lib/ir/op_schemas.inc.
#include <torch/csrc/jit/runtime/operator.h>

#include <cstdlib>
#include <set>
#include "torch/catch.hpp"

#include "base/file.hpp"
#include "ir/allowed_operators.hpp"
#include "ir/op_schemas.hpp"
#include "test_paths.hpp"

namespace mase {
namespace {

/// Operators on tensors that models may run, without the forms that write to given tensors (out=),
/// name dimensions, or work on complex numbers, text and dicts of the host.
bool is_in_table(const c10::FunctionSchema& schema) {
  const std::string text = c10::toString(schema);
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  return schema.name().starts_with("aten::") && ir::is_allowed(schema.name()) && has("Tensor") &&
         !has("Dimname") && !has("Dict(") && !has("complex") && !has("(t[") && !has(" t[") &&
         !has(" t ") && !has("AnyEnumType") && !has("...") && !has("(b! -> ") &&
         std::ranges::none_of(schema.arguments(), [](const c10::Argument& one) {
           return one.is_out() || one.name() == "out";
         });
}

std::vector<std::string> lines_of_registry() {
  std::set<std::string> lines;
  for (const auto& one : torch::jit::getAllOperators())
    if (is_in_table(one->schema())) lines.insert(c10::toString(one->schema()).substr(6));
  std::vector<std::string> sorted(lines.begin(), lines.end());
  const auto name = [](const std::string& line) { return line.substr(0, line.find('(')); };
  std::ranges::stable_sort(sorted, {}, name);
  return sorted;
}

std::string file_of(const std::vector<std::string>& lines) {
  std::string text =
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// Signatures of ATen operators, in the notation of PyTorch's native_functions.yaml, sorted "
      "by\n"
      "// name. The test \"signatures of the registry\" compares and writes them.\n"
      "// clang-format off\n";
  for (const std::string& line : lines) text += "R\"(" + line + ")\",\n";
  return text;
}

}  // namespace

TEST_CASE("signatures of the registry") {
  const std::vector<std::string> wanted = lines_of_registry();
  const std::string file = std::string(MASE_SOURCE_FOLDER) + "/lib/ir/op_schemas.inc";
  if (std::getenv("MASE_UPDATE_PAGES")) write_file(file, file_of(wanted));
  CHECK(read_file(file) == file_of(wanted));
}

}  // namespace mase
