// SPDX-License-Identifier: Apache-2.0
// The one place that compiles Catch2's main. A program that was compiled with other headers than a
// library that it links would fail in odd ways, so it says this instead.
#define CATCH_CONFIG_RUNNER
#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <string>

/// The hashes of lib/interface.cmake for the libraries that this program links, and a null pointer
/// (CMakeLists.txt).
extern "C" {
extern const char* const mase_linked[];
}

namespace {

/// Whether a library has the headers that are expected, or was left out because nothing of it is
/// called.
bool is_current(const std::string& expected) {
  const std::string name = expected.substr(0, expected.find(' '));
  const void* found = dlsym(RTLD_DEFAULT, ("mase_headers_" + name).c_str());
  if (found && expected == static_cast<const char*>(found)) return true;
  if (!found && !dlopen(("libmase_" + name + ".so").c_str(), RTLD_LAZY | RTLD_NOLOAD)) return true;
  Dl_info program{};
  dladdr(reinterpret_cast<void*>(&is_current), &program);
  std::cerr << program.dli_fname << " is of another build than libmase_" << name
            << ".so; build both again (scripts/build)\n";
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  for (const char* const* expected = mase_linked; *expected; ++expected)
    if (!is_current(*expected)) return 3;
  return Catch::Session().run(argc, argv);
}
