// SPDX-License-Identifier: Apache-2.0
// The small programs of tests/fixtures/programs, imported and compared with what PyTorch computes.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "test_paths.hpp"
#include "torch/catch.hpp"
#include "torch/export/export_support.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/torchscript.hpp"

namespace mase::test {

inline std::string program_file(const std::string& name) {
  return std::string(MASE_TEST_FOLDER) + "/fixtures/programs/" + name;
}

inline Array example() { return read_npy(program_file("example.npy")); }

inline ir::Graph import_program(const std::string& name, backend::ImportOptions options = {}) {
  if (options.inputs.empty()) options.inputs = {example()};
  return libtorch::import_torchscript(program_file(name + ".pt"), options);
}

/// What PyTorch computed for the example on the machine that made it.
inline ir::Results stored(const std::string& name, const std::vector<std::string>& keys) {
  ir::Results results;
  for (const std::string& key : keys) {
    results.emplace_back(key,
                         read_npy(program_file(name + (key.empty() ? "" : "_" + key) + ".npy")));
  }
  return results;
}

inline void check_program(const std::string& name, const std::vector<std::string>& keys) {
  constexpr double other_processor = 1e-6;  // whose matrix products add in another order
  INFO(name);
  const auto results = evaluator_of(import_program(name))->run({example()});
  CHECK(largest_difference(results, called(program_file(name + ".pt"), {example()})) == 0.0);
  CHECK(largest_difference(results, stored(name, keys)) < other_processor);
}

inline std::string refusal(const std::string& name, Fault fault) {
  try {
    import_program(name);
  } catch (const Error& error) {
    CHECK(error.fault() == fault);
    return error.what();
  }
  FAIL("not refused: " + name);
  return "";
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace mase::test
