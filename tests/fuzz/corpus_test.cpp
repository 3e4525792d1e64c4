// SPDX-License-Identifier: Apache-2.0
// Every input of the corpus once through its target: what fuzzing found stays mended.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <vector>

#include "base/file.hpp"
#include "fuzz/targets.hpp"
#include "test_paths.hpp"

using namespace mase;
namespace fs = std::filesystem;

namespace {

struct Row {
  std::string name;
  void (*run)(std::string_view bytes);
};

const std::vector<Row> rows{{"archive", fuzz::archive},
                            {"cifar", fuzz::cifar},
                            {"config", fuzz::config},
                            {"contents", fuzz::contents},
                            {"csv", fuzz::csv},
                            {"design", fuzz::design},
                            {"exported_program", fuzz::exported_program},
                            {"format", fuzz::format},
                            {"graph", fuzz::graph},
                            {"hdf5", fuzz::hdf5},
                            {"huggingface", fuzz::huggingface},
                            {"idx", fuzz::idx},
                            {"image", fuzz::image},
                            {"npy", fuzz::npy},
                            {"onnx", fuzz::onnx},
                            {"pickle", fuzz::pickle},
                            {"safetensors", fuzz::safetensors},
                            {"texts", fuzz::texts},
                            {"tokenizer", fuzz::tokenizer},
                            {"toml", fuzz::toml}};

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("no input of the corpus makes a reader fail") {
  for (const Row& row : rows) {
    const std::vector<std::string> files = files_in(MASE_TEST_FOLDER "/fuzz/corpus/" + row.name);
    CHECK_FALSE(files.empty());
    for (const std::string& file : files) {
      INFO(file);
      CHECK_NOTHROW(row.run(read_file(file)));
    }
  }
}
