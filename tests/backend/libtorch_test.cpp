// SPDX-License-Identifier: Apache-2.0
// Finding LibTorch on a machine that did not build the program.
#include "backend/libtorch.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
namespace fs = std::filesystem;

namespace {

/// Sets a variable of the environment as long as it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
};

/// A torch package of a Python environment; returns its folder of libraries.
std::string make_package(const std::string& prefix, const std::string& version) {
  const fs::path torch = fs::path(prefix) / "lib/python3.11/site-packages/torch";
  fs::create_directories(torch / "lib");
  std::ofstream(torch / "lib/libtorch.so") << "no library";
  std::ofstream(torch / "version.py") << "__all__ = []\n__version__ = '" << version << "+cpu'\n";
  return (torch / "lib").string();
}

}  // namespace

TEST_CASE("the environments of VIRTUAL_ENV, PATH and the user are searched in this order") {
  const test::TemporaryFolder folder;
  const std::string version = backend::libtorch_version();
  const std::string first = make_package(folder.file("venv"), version);
  const std::string second = make_package(folder.file("usr"), version);
  const std::string third = make_package(folder.file("home/.local"), version);
  make_package(folder.file("conda"), "9" + version);
  const Variable none("Torch_DIR", ""), conda("CONDA_PREFIX", folder.file("conda"));
  const Variable venv("VIRTUAL_ENV", folder.file("venv")), path("PATH", folder.file("usr/bin"));
  const Variable home("HOME", folder.file("home"));
  const std::vector<std::string> found = backend::find_libtorch();
  if (!version.empty()) CHECK(found == std::vector{first, second, third});
}

TEST_CASE("Torch_DIR is searched first") {
  const test::TemporaryFolder folder;
  const std::string lib = make_package(folder.path(), backend::libtorch_version());
  const Variable chosen("Torch_DIR", fs::path(lib).parent_path() / "share/cmake/Torch");
  CHECK(backend::find_libtorch().at(0) == lib);
}

TEST_CASE("MASE_LIBTORCH must name a LibTorch of the right version") {
  const test::TemporaryFolder folder;
  const std::string lib = make_package(folder.path(), "9.9.9");
  for (const std::string& wrong : {folder.path(), fs::path(lib).parent_path().string()}) {
    const Variable chosen("MASE_LIBTORCH", wrong);
    if (wrong == folder.path() || !backend::libtorch_version().empty())
      CHECK_THAT(test::message_of(Fault::file, [] { backend::load_chosen_libtorch(); }),
                 Catch::Contains("has no LibTorch"));
  }
}
