// SPDX-License-Identifier: Apache-2.0
// Damaged model files: an error that names the file, or the same model; never a crash.
#include "torch/catch.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "support/temporary_folder.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/torchscript.hpp"

using namespace mase;
using namespace mase::test;

namespace {

/// Whether a file with these bytes imports; anything thrown must be a file fault naming the path.
bool imports(const std::string& bytes, const std::vector<Array>& inputs) {
  const TemporaryFolder folder;
  const std::string path = folder.file("damaged.pt");
  write_file(path, bytes);
  backend::ImportOptions options;
  options.inputs = inputs;
  bool good = true;
  try {
    libtorch::import_torchscript(path, options);
  } catch (const Error& error) {
    good = false;
    CHECK(error.fault() == Fault::file);
    CHECK_THAT(error.what(), Catch::Contains("damaged.pt"));
  }
  return good;
}

}  // namespace

TEST_CASE("truncated, empty and foreign model files are refused") {
  const Fixture& tiny = fixture("jsc_tiny", "script");
  const std::string bytes = read_file(tiny.path);
  CHECK(imports(bytes, tiny.inputs));
  CHECK_FALSE(imports("", tiny.inputs));
  CHECK_FALSE(imports("no model", tiny.inputs));
  for (std::size_t size = 1; size < bytes.size(); size += bytes.size() / 50) {
    CHECK_FALSE(imports(bytes.substr(0, size), tiny.inputs));
  }
}

TEST_CASE("model files with flipped bits never crash") {
  const Fixture& tiny = fixture("jsc_tiny", "trace");
  const std::string bytes = read_file(tiny.path);
  Random random(1);
  for (int i = 0; i < 150; ++i) {
    std::string damaged = bytes;
    const auto at = static_cast<std::size_t>(random.uniform() * static_cast<double>(bytes.size()));
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (i % 8)));
    imports(damaged, tiny.inputs);
  }
}
