// SPDX-License-Identifier: Apache-2.0
// The C library has no wrappers for Landlock's system calls, and some of its constants are newer
// than the headers that this file is compiled with. So both are written out here, from the kernel's
// documentation (userspace-api/landlock).
#include "sandbox/landlock.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace mase::sandbox {
namespace {

enum Access : std::uint64_t {
  execute = 1ULL << 0,
  write_file = 1ULL << 1,
  read_file = 1ULL << 2,
  read_dir = 1ULL << 3,
  remove_dir = 1ULL << 4,
  remove_file = 1ULL << 5,
  make_char = 1ULL << 6,
  make_dir = 1ULL << 7,
  make_reg = 1ULL << 8,
  make_sock = 1ULL << 9,
  make_fifo = 1ULL << 10,
  make_block = 1ULL << 11,
  make_sym = 1ULL << 12,
  refer = 1ULL << 13,      // version 2: move between folders
  truncate = 1ULL << 14,   // version 3
  ioctl_dev = 1ULL << 15,  // version 5
};

enum Scope : std::uint64_t { abstract_socket = 1, signals = 2 };  // version 6

struct RulesetAttributes {
  std::uint64_t files, network, scoped;
};

// The kernel's interface packs this struct.
struct __attribute__((packed)) PathRule {
  std::uint64_t allowed;
  std::int32_t folder;
};

constexpr int create_ruleset = 444, add_rule = 445, restrict_self = 446;  // on every architecture
constexpr unsigned ask_version = 1, path_beneath = 1;

constexpr std::uint64_t reading = read_file | read_dir;
constexpr std::uint64_t writing =
    reading | write_file | remove_dir | remove_file | make_dir | make_reg | refer | truncate;
/// The rights that can be granted on a file. The others concern the contents of a folder.
constexpr std::uint64_t of_files = execute | write_file | read_file | truncate | ioctl_dev;

std::uint64_t known_accesses(int version) {
  std::uint64_t known = (make_sym << 1) - 1;
  if (version >= 2) known |= refer;
  if (version >= 3) known |= truncate;
  if (version >= 5) known |= ioctl_dev;
  return known;
}

[[noreturn]] void refused(const char* step) {
  file_error(std::string("the sandbox cannot be entered: ") + step + ": " + std::strerror(errno) +
             "; --sandbox off runs without one");
}

void allow(const Descriptor& ruleset, const std::string& path, std::uint64_t accesses) {
  const Descriptor target(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (target.number() < 0) return;  // a path that does not exist gives no right
  struct stat info {};
  if (::fstat(target.number(), &info) != 0) return;
  if (!S_ISDIR(info.st_mode)) accesses &= of_files;
  if (accesses == 0) return;
  const PathRule rule{accesses, target.number()};
  // EBADFD: a pipe or the other end of a terminal, which Landlock does not restrict.
  if (::syscall(add_rule, ruleset.number(), path_beneath, &rule, 0U) != 0 && errno != EBADFD)
    refused(("Landlock rule for " + path).c_str());
}

}  // namespace

int landlock_version() {
  const long version = ::syscall(create_ruleset, nullptr, std::size_t{0}, ask_version);
  return version < 0 ? 0 : static_cast<int>(version);
}

void restrict_files(const Rights& rights, int version) {
  if (version == 0) return;
  const std::uint64_t known = known_accesses(version);
  RulesetAttributes attributes{known, 0, version >= 6 ? abstract_socket | signals : 0};
  const std::size_t size = version >= 6 ? sizeof attributes : sizeof attributes.files;
  const Descriptor ruleset(static_cast<int>(::syscall(create_ruleset, &attributes, size, 0U)));
  if (ruleset.number() < 0) refused("Landlock ruleset");
  for (const std::string& path : rights.read) allow(ruleset, path, reading & known);
  for (const std::string& path : rights.write) allow(ruleset, path, writing & known);
  for (const std::string& path : rights.devices)
    allow(ruleset, path, (reading | write_file | ioctl_dev) & known);
  // Linkers and compilers create links.
  if (!rights.execute.empty())
    for (const std::string& path : rights.write) allow(ruleset, path, make_sym & known);
  for (const std::string& path : rights.execute) allow(ruleset, path, (execute | reading) & known);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) refused("no new privileges");
  if (::syscall(restrict_self, ruleset.number(), 0U) != 0) refused("Landlock");
}

}  // namespace mase::sandbox
