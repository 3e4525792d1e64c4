// SPDX-License-Identifier: Apache-2.0
// Building of the bench with Verilator, once per content.
#pragma once

#include <string>

#include "hardware/emit/tools/build_cache.hpp"

namespace mase::emit {

/// What Verilator and the compiler are asked for.
struct BuildOptions {
  bool trace = false, coverage = false;
  int optimise = 2;  ///< g++ -O level
};

/// A bench that is ready to run, and stays while this lives.
struct Build {
  std::string program;  ///< the bench, absolute
  std::string model;    ///< a hash of the C++ that Verilator made of the RTL
  bool built = false;   ///< false: an equal build was there
  double seconds = 0;
  KeptBuild kept;
};

/// The bench of the folder's sources as the user's cache has it, or built there: nothing that was
/// built in the folder is run. Its name is a hash of the sources, the flags, the tools and what of
/// the environment they read. Error(Fault::file) with Verilator's or the compiler's message.
Build build_bench(const std::string& folder, const BuildOptions& options);

/// The same for the bench of the AXI wrapper with the driver of `host/`.
Build build_axi_bench(const std::string& folder);

}  // namespace mase::emit
