// SPDX-License-Identifier: Apache-2.0
// Building of the bench with Verilator, once per content.
#pragma once

#include <string>

namespace mase::emit {

/// What Verilator and the compiler are asked for.
struct BuildOptions {
  bool trace = false, coverage = false;
  int optimise = 2;  ///< g++ -O level
};

/// A bench that is ready to run.
struct Build {
  std::string program;  ///< the bench, absolute
  bool built = false;   ///< false: an equal build was there
  double seconds = 0;
};

/// Builds `<folder>/sim/obj_<hash>/bench` from the folder's sources; the hash covers the sources
/// and the flags. Error(Fault::file) with Verilator's or the compiler's message.
Build build_bench(const std::string& folder, const BuildOptions& options);

}  // namespace mase::emit
