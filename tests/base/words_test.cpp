// SPDX-License-Identifier: Apache-2.0
// Commands in words: the same words as Python's shlex.split gives, and what needs a shell.
#include "base/words.hpp"

#include <catch2/catch.hpp>

using namespace mase;

TEST_CASE("a command is split as a shell splits it") {
  using List = std::vector<std::string>;
  CHECK(split_words("python3 score.py {outputs}").words ==
        List{"python3", "score.py", "{outputs}"});
  CHECK(split_words("  a\t b\n").words == List{"a", "b"});
  CHECK(split_words(R"(sh -c 'echo "$1" | tail -1' x)").words ==
        List{"sh", "-c", R"(echo "$1" | tail -1)", "x"});
  CHECK(split_words(R"("a b"c\ d '' "q\"\\\n")").words == List{"a bc d", "", R"(q"\\n)"});
  CHECK(split_words("").words.empty());
  CHECK(split_words("").problem.empty());
}

TEST_CASE("what only a shell can do is a problem unless it is quoted") {
  for (const char* command :
       {"a | b", "a > b", "a; b", "a $HOME", "a `b`", "a *.py", "~/a", "(a)"}) {
    INFO(command);
    CHECK_FALSE(split_words(command).problem.empty());
    CHECK(split_words(command).words.empty());
  }
  CHECK(split_words("a '|' b~ \\$x").problem.empty());
  CHECK(split_words("a | b").problem ==
        "no shell runs it, so '|' would have no effect; quote it, or let sh -c '...' run the line");
  CHECK(split_words("a 'b").problem == "the quote ' is not closed");
}
