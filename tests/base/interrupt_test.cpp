// SPDX-License-Identifier: Apache-2.0
// Signals become a flag, which ends what asks for it.
#include "base/interrupt.hpp"

#include <catch2/catch.hpp>
#include <csignal>

#include "base/error.hpp"

namespace mase {
namespace {

TEST_CASE("a signal stops the next loop that looks, unless somebody finishes first",
          "[interrupt]") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::signal(signal, SIG_DFL);
    catch_interrupts();
    CHECK_FALSE(stop_asked());
    CHECK_NOTHROW(stop_if_asked());
    std::raise(signal);
    CHECK(interrupt_flag());
    {
      const FinishFirst search, trial;
      CHECK_FALSE(stop_asked());
      CHECK_NOTHROW(stop_if_asked());
    }
    REQUIRE(stop_asked());
    try {
      stop_if_asked();
      FAIL("did not stop");
    } catch (const Error& error) {
      CHECK(error.exit_code() == 130);
    }
  }
  catch_interrupts();
  CHECK_FALSE(stop_asked());
}

TEST_CASE("a program under nohup lives on when the terminal closes", "[interrupt]") {
  std::signal(SIGHUP, SIG_IGN);
  catch_interrupts();
  std::raise(SIGHUP);
  CHECK_FALSE(stop_asked());
}

}  // namespace
}  // namespace mase
