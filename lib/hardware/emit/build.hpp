// Building of the bench with Verilator, once per content.
#pragma once

#include <string>

namespace mase::emit {

struct BuildOptions {
  bool trace = false, coverage = false;
  int optimise = 2;
};

struct Build {
  std::string program;  ///< the bench, absolute
  bool built = false;   ///< false: an equal build was there
  double seconds = 0;
};

/// Builds `<folder>/sim/obj_<hash>/bench` from the folder's sources; the hash covers the sources
/// and the flags. Error(Fault::file) with Verilator's or the compiler's message.
Build build_bench(const std::string& folder, const BuildOptions& options);

}  // namespace mase::emit
