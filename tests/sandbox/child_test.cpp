// SPDX-License-Identifier: Apache-2.0
// Work in a child: results, errors and crashes of it.
#include "sandbox/child.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <vector>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "support/message_of.hpp"

using namespace mase;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The error of a child that does this.
std::string error_of(Fault fault, const std::function<void()>& work, double seconds = 0) {
  return test::message_of(fault, [&] { sandbox::run_in_child("reading x.pt", seconds, work); });
}

}  // namespace

TEST_CASE("a child hands bytes back in their order", "[sandbox]") {
  sandbox::SharedFile file;
  const std::vector<std::byte> sent(100'000, std::byte{7});
  sandbox::run_in_child("work", 0, [&] {
    file.append(std::span(sent).first(1));
    file.append(std::span(sent).subspan(1));
  });
  CHECK(file.left() == sent.size());
  std::vector<std::byte> got(sent.size());
  file.take(got);
  CHECK(got == sent);
  CHECK(file.left() == 0);
  CHECK_THROWS_AS(file.take(std::span(got).first(1)), Error);
}

TEST_CASE("an error of a child is an error here, with its fault", "[sandbox]") {
  CHECK(error_of(Fault::unsupported, [] { unsupported_error("this is not supported"); }) ==
        "this is not supported");
}

TEST_CASE("a crash in an operator blames the file and names the operator", "[sandbox]") {
  for (const int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL}) {
    const std::string said = error_of(Fault::file, [&] {
      const Running running(Running::Kind::model_operator, "aten::gcd.int", "node_1");
      std::raise(signal);
    });
    CHECK(has(said, "aten::gcd.int"));
    CHECK(has(said, "node_1"));
  }
}

TEST_CASE("endless recursion in an operator is a crash like others", "[sandbox]") {
  const std::string said = error_of(Fault::file, [] {
    const Running running(Running::Kind::model_operator, "aten::deep");
    volatile char page[4096];
    const std::function<int(int)> deeper = [&](int depth) {
      volatile char used[4096] = {};
      return depth == 0 ? used[0] : deeper(depth - 1) + used[depth % 4096];
    };
    page[0] = static_cast<char>(deeper(1 << 20));
  });
  CHECK(has(said, "aten::deep"));
}

TEST_CASE("a crash while a file is read blames the file", "[sandbox]") {
  const std::string said = error_of(Fault::file, [] {
    const Running running(Running::Kind::reading, "x.pt");
    std::raise(SIGSEGV);
  });
  CHECK(has(said, "reading x.pt"));
}

TEST_CASE("a crash elsewhere is a defect of the program", "[sandbox]") {
  CHECK(has(error_of(Fault::internal, [] { std::raise(SIGSEGV); }), "defect of mase"));
}

TEST_CASE("a crash in a pass is a defect that names the pass and its node", "[sandbox]") {
  const auto crash_at = [](const std::string& node) {
    return error_of(Fault::internal, [&] {
      const Running running(Running::Kind::pass, "fold_constants");
      Running::look_at(std::string(node));  // the text is gone when the crash comes
      std::raise(SIGSEGV);
    });
  };
  CHECK(has(crash_at("getitem_1"), "the pass fold_constants was ended by"));
  CHECK(has(crash_at("getitem_1"), "last node that it looked at is 'getitem_1'"));
  CHECK(has(crash_at(std::string(10'000, 'n')), "last node that it looked at is 'nnn"));
  CHECK(!has(crash_at(""), "last node that it looked at"));
}

TEST_CASE("a child that is killed, or takes too long, is an error of the file", "[sandbox]") {
  const std::string killed = error_of(Fault::file, [] { std::raise(SIGKILL); });
  CHECK(has(killed, "reading x.pt"));
  CHECK(has(killed, "signal 9"));
  const std::string late = error_of(
      Fault::file,
      [] {
        while (true) ::pause();
      },
      0.1);
  CHECK(has(late, "reading x.pt"));
  CHECK(has(late, "--max-seconds"));
}
