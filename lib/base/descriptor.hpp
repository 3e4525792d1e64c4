// SPDX-License-Identifier: Apache-2.0
// A file descriptor that is closed at the end of its scope.
#pragma once

#include <unistd.h>

#include <utility>

namespace mase {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (is_open()) close();
  }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// Closes it now; returns false and sets errno when written bytes could not be delivered.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;  ///< negative when there is no descriptor
};

}  // namespace mase
