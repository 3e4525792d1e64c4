// SPDX-License-Identifier: Apache-2.0
// What c10d/ProcessGroupGloo.hpp needs of gloo to be compiled. LibTorch has the definitions.
#pragma once

#include <chrono>
#include <memory>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

namespace transport {
class Device;
class UnboundBuffer;
}  // namespace transport

}  // namespace gloo
