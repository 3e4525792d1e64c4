// SPDX-License-Identifier: Apache-2.0
// File rules come first, because the filter of system calls would refuse the calls that they need.
#include "sandbox/rights.hpp"

#include "sandbox/landlock.hpp"
#include "sandbox/seccomp.hpp"

namespace mase::sandbox {

std::string Support::text() const {
  std::string text;
  if (landlock == 0)
    text = "no Landlock: files are not protected";
  else if (landlock < 3)
    text = "Landlock " + std::to_string(landlock) + ", which cannot stop files being truncated";
  else
    text = "Landlock " + std::to_string(landlock);
  return text + (seccomp ? ", seccomp" : ", no seccomp: programs and sockets are not blocked");
}

Support support() { return {landlock_version(), has_seccomp()}; }

void keep_only(const Rights& rights) {
  restrict_files(rights, landlock_version());
  restrict_calls(rights);
}

}  // namespace mase::sandbox
