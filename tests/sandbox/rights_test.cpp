// SPDX-License-Identifier: Apache-2.0
// What a process can still do after it gave its rights up. Rights never come back, so every case
// runs in a forked process, which answers by its exit code.
#include "sandbox/rights.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <fstream>
#include <functional>

#include "support/temporary_folder.hpp"

using namespace mase;
namespace fs = std::filesystem;

namespace {

/// The answer of `work` in a process that kept `rights` only.
int answer(const sandbox::Rights& rights, const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    sandbox::keep_only(rights);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int open_error(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags, 0666);
  return file < 0 ? errno : 0;
}

/// Two folders with a file each, of which the first is named.
struct Places {
  test::TemporaryFolder root;
  std::string named, other;
  Places() : named(root.file("named")), other(root.file("other")) {
    for (const std::string& folder : {named, other}) {
      fs::create_directories(folder);
      std::ofstream(folder + "/file") << "content";
    }
  }
};

bool is_full() { return sandbox::support().full(); }

}  // namespace

TEST_CASE("only what is named can be read", "[sandbox]") {
  if (!is_full()) return;  // this kernel has no sandbox
  const Places places;
  const sandbox::Rights rights{{places.named}, {}, {}, false};
  CHECK(answer(rights, [&] { return open_error(places.named + "/file", O_RDONLY); }) == 0);
  CHECK(answer(rights, [&] { return open_error(places.other + "/file", O_RDONLY); }) == EACCES);
  CHECK(answer(rights, [&] { return open_error(places.other, O_RDONLY); }) == EACCES);
  CHECK(answer(rights, [&] { return open_error(places.named + "/file", O_WRONLY); }) == EACCES);
  CHECK(answer(rights, [&] { return open_error(places.named + "/new", O_CREAT | O_WRONLY); }) ==
        EACCES);
}

TEST_CASE("a link does not lead out of what is named", "[sandbox]") {
  if (!is_full()) return;  // this kernel has no sandbox
  const Places places;
  fs::create_symlink(places.other + "/file", places.named + "/link");
  const sandbox::Rights rights{{}, {places.named}, {}, false};
  CHECK(answer(rights, [&] { return open_error(places.named + "/link", O_RDONLY); }) == EACCES);
  CHECK(answer(rights, [&] { return open_error(places.named + "/link", O_WRONLY); }) == EACCES);
}

TEST_CASE("a folder that may be written is no way to another", "[sandbox]") {
  if (!is_full()) return;  // this kernel has no sandbox
  const Places places;
  const std::string from = places.named + "/file", to = places.other + "/file";
  const sandbox::Rights rights{{}, {places.named}, {}, false};
  CHECK(answer(rights, [&] { return open_error(places.named + "/new", O_CREAT | O_WRONLY); }) == 0);
  CHECK(answer(rights, [&] { return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno; }) != 0);
  CHECK(answer(rights, [&] {
          return ::link(to.c_str(), (places.named + "/x").c_str()) == 0 ? 0 : errno;
        }) != 0);
  CHECK(answer(rights, [&] { return ::unlink(to.c_str()) == 0 ? 0 : errno; }) == EACCES);
  CHECK(answer(rights, [&] { return ::truncate(to.c_str(), 0) == 0 ? 0 : errno; }) == EACCES);
  CHECK(answer(rights, [&] { return ::chmod(to.c_str(), 0777) == 0 ? 0 : errno; }) == EPERM);
  CHECK(answer(rights, [&] {
          return ::symlink("/", (places.named + "/y").c_str()) == 0 ? 0 : errno;
        }) == EACCES);
  CHECK(fs::file_size(to) == 7);
}

TEST_CASE("no program is started and no socket opened", "[sandbox]") {
  if (!is_full()) return;  // this kernel has no sandbox
  const auto start = [] {
    ::execl("/bin/true", "true", nullptr);
    return errno;
  };
  const auto listen = [] { return ::socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0; };
  const sandbox::Rights rights{{"/"}, {}, {}, false};
  CHECK(answer(rights, start) == EPERM);
  CHECK(answer(rights, listen) == EPERM);
  CHECK(answer({{"/"}, {}, {}, true}, listen) == 0);
  CHECK(answer({{"/"}, {}, {"/usr", "/bin", "/lib", "/lib64"}, false}, start) == 0);
}

TEST_CASE("a process cannot reach one outside", "[sandbox]") {
  if (sandbox::support().landlock < 6) return;  // this kernel does not scope signals
  const pid_t parent = ::getpid();
  CHECK(answer({{"/"}, {}, {}, false}, [&] { return ::kill(parent, 0) == 0 ? 0 : errno; }) ==
        EPERM);
}

TEST_CASE("rights that were given up do not come back", "[sandbox]") {
  if (!is_full()) return;  // this kernel has no sandbox
  const Places places;
  CHECK(answer({{places.named}, {}, {}, false}, [&] {
          sandbox::keep_only({{"/"}, {"/"}, {"/"}, true});
          return open_error(places.other + "/file", O_RDONLY);
        }) == EACCES);
}
