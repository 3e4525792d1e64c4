// SPDX-License-Identifier: Apache-2.0
// Mutants of emitted SystemVerilog: one operator or constant replaced by its nearest mistake.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/run_folder.hpp"

namespace mase::emit {

/// One change of one line.
struct RtlMutant {
  std::string file;       ///< "mase_skid.sv"
  std::int64_t line = 0;  ///< from 1
  std::string before, after;
};

/// A copy of an emitted folder, to be changed at one place at a time.
class RtlMutants {
 public:
  explicit RtlMutants(const std::string& hardware_folder);
  const std::string& folder() const { return folder_; }
  bool none() const { return places_.empty(); }

  /// Changes one place at random, after taking the last change back. There are some.
  RtlMutant draw(Random& random);

 private:
  struct Place {
    std::size_t file, at;
    std::string_view from, to;
  };
  struct File {
    std::string name, text;
  };
  void find_places(std::size_t file);
  void write(std::size_t file, const std::string& text) const;

  RunFolder run_;
  std::string folder_;
  std::vector<File> files_;
  std::vector<Place> places_;
  std::size_t changed_ = 0;  ///< the file that holds the last change
};

}  // namespace mase::emit
