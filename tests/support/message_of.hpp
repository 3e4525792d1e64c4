// SPDX-License-Identifier: Apache-2.0
// The message of an expected error, for tests that look at its words.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "base/error.hpp"

namespace mase::test {

/// The message of the Error that `run` throws, with its fault checked.
template <class F>
std::string message_of(Fault fault, F&& run) {
  try {
    run();
  } catch (const Error& error) {
    CHECK(error.fault() == fault);
    return error.what();
  }
  return "(nothing was thrown)";
}

}  // namespace mase::test
