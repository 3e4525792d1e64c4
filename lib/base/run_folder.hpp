// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one run of another program, removed at its end.
#pragma once

#include <string>

namespace mase {

/// Made in the system's temporary folder.
class RunFolder {
 public:
  RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder();

  std::string make(const std::string& name) const;  ///< a folder inside
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace mase
