// SPDX-License-Identifier: Apache-2.0
// Named outputs leave a sandbox through the door, and nothing else does.
#include "sandbox/door.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>

#include "base/error.hpp"
#include "base/file.hpp"
#include "sandbox/rights.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;

namespace {

/// The exit code of `work` in a process without rights but the door: that of its error, or 0.
int behind_door(const std::vector<std::string>& outputs, const std::vector<std::string>& made,
                const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    sandbox::open_door(outputs, made);
    sandbox::keep_only({{"/proc/self"}, {}, {}, false});
    try {
      work();
    } catch (const Error& error) {
      ::_exit(error.exit_code());
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int refused = static_cast<int>(Fault::file);

}  // namespace

TEST_CASE("what was named is written, and nothing beside it", "[sandbox]") {
  if (!sandbox::support().full()) return;  // this kernel has no sandbox
  const test::TemporaryFolder folder;
  const std::string named = folder.file("y.npy"), other = folder.file("z.npy");
  CHECK(behind_door({named}, {}, [&] { write_file(named, "result"); }) == 0);
  CHECK(read_file(named) == "result");
  CHECK(behind_door({named}, {}, [&] { write_file(other, "result"); }) == refused);
  CHECK(folder.entries() == 1);
}

TEST_CASE("several results go to files that are named after the output", "[sandbox]") {
  if (!sandbox::support().full()) return;  // this kernel has no sandbox
  const test::TemporaryFolder folder;
  const std::string named = folder.file("y.npy");
  CHECK(behind_door({named}, {}, [&] { write_file(folder.file("y_logits.npy"), "1"); }) == 0);
  CHECK(behind_door({named}, {}, [&] { write_file(folder.file("y_logits.sh"), "1"); }) == refused);
  CHECK(behind_door({named}, {}, [&] { write_file(folder.file("y_/../z.npy"), "1"); }) == refused);
  CHECK(folder.entries() == 1);
}

TEST_CASE("large results pass the door, and the old file stays when writing fails", "[sandbox]") {
  if (!sandbox::support().full()) return;  // this kernel has no sandbox
  const test::TemporaryFolder folder;
  const std::string named = folder.file("y.npy");
  const std::string large(5'000'000, 'x');
  CHECK(behind_door({named}, {}, [&] { write_file(named, large); }) == 0);
  CHECK(read_file(named) == large);
  CHECK(behind_door({named}, {}, [&] {
          write_file_with(named, [](const std::string&) { file_error("half way"); });
        }) == refused);
  CHECK(read_file(named) == large);
}

TEST_CASE("folders that were made for nothing are removed", "[sandbox]") {
  const test::TemporaryFolder folder;
  const std::string outer = folder.file("a"), inner = outer + "/b";
  make_folder(inner);
  CHECK(behind_door({}, {inner, outer}, [] {}) == 0);
  // The process behind the door ends after the one that it served.
  for (int waited = 0; file_exists(outer) && waited < 6000; ++waited) ::usleep(10'000);
  CHECK_FALSE(file_exists(outer));
}
