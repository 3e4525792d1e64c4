// SPDX-License-Identifier: Apache-2.0
// A disk that fails, for LD_PRELOAD: of all calls that change something below FAILING_FOLDER the
// one with number FAILING_CALL, or with FAILING_ON also all after it, ends with the error
// FAILING_ERROR. FAILING_COUNT is a file of 8 bytes that counts the calls, also those of child
// processes.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

struct Plan {
  std::string folder;
  long call = 0;
  bool on = false;
  int error = EIO;
  std::atomic<long>* count = nullptr;

  Plan() {
    const auto text = [](const char* name) {
      const char* value = std::getenv(name);
      return std::string(value ? value : "");
    };
    folder = text("FAILING_FOLDER");
    call = std::atol(text("FAILING_CALL").c_str());
    on = !text("FAILING_ON").empty();
    error = std::atoi(text("FAILING_ERROR").c_str());
    const int file = ::open(text("FAILING_COUNT").c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void* place = ::mmap(nullptr, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (place != MAP_FAILED) count = static_cast<std::atomic<long>*>(place);
  }
};

const Plan* made = nullptr;

/// When the library is loaded, while all files can be read. Before that nothing fails.
__attribute__((constructor)) void make_plan() { made = new Plan; }

/// Whether the call that changes `path` is to fail; sets errno.
bool fails(std::string_view path) {
  const Plan* p = made;
  if (!p || !p->count || p->folder.empty()) return false;
  std::string absolute(path);
  if (!path.starts_with('/')) {
    std::array<char, 4096> here{};
    if (::getcwd(here.data(), here.size())) absolute = std::string(here.data()) + "/" + absolute;
  }
  if (!absolute.starts_with(p->folder)) return false;
  const long number = ++*p->count;
  if (number != p->call && !(p->on && p->call > 0 && number > p->call)) return false;
  errno = p->error;
  return true;
}

bool fails_at(int directory, const char* path) {
  return (directory == AT_FDCWD || path[0] == '/') && fails(path);
}

bool fails(int file) {
  std::array<char, 4096> path{};
  const std::string name = "/proc/self/fd/" + std::to_string(file);
  const ssize_t count = ::readlink(name.c_str(), path.data(), path.size());
  return count > 0 && fails(std::string_view(path.data(), static_cast<std::size_t>(count)));
}

bool changes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

#define REAL(name) real<decltype(::name)>(#name)

#define DEFINE_OPEN(name)                                                \
  int name(const char* path, int flags, ...) {                           \
    va_list arguments;                                                   \
    va_start(arguments, flags);                                          \
    const mode_t mode = mode_of(flags, arguments);                       \
    va_end(arguments);                                                   \
    static const auto call = real<int(const char*, int, ...)>(#name);    \
    return changes(flags) && fails(path) ? -1 : call(path, flags, mode); \
  }
#define DEFINE_OPENAT(name)                                                                       \
  int name(int directory, const char* path, int flags, ...) {                                     \
    va_list arguments;                                                                            \
    va_start(arguments, flags);                                                                   \
    const mode_t mode = mode_of(flags, arguments);                                                \
    va_end(arguments);                                                                            \
    static const auto call = real<int(int, const char*, int, ...)>(#name);                        \
    return changes(flags) && fails_at(directory, path) ? -1 : call(directory, path, flags, mode); \
  }
#define DEFINE_FOPEN(name)                                                        \
  FILE* name(const char* path, const char* mode) {                                \
    static const auto call = real<FILE*(const char*, const char*)>(#name);        \
    return std::strpbrk(mode, "wa+") && fails(path) ? nullptr : call(path, mode); \
  }

extern "C" {

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)
DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

ssize_t write(int file, const void* bytes, size_t count) {
  static const auto call = REAL(write);
  return fails(file) ? -1 : call(file, bytes, count);
}
ssize_t writev(int file, const iovec* parts, int count) {
  static const auto call = REAL(writev);
  return fails(file) ? -1 : call(file, parts, count);
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t place) {
  static const auto call = REAL(pwrite);
  return fails(file) ? -1 : call(file, bytes, count, place);
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t place) {
  static const auto call = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return fails(file) ? -1 : call(file, bytes, count, place);
}
int fsync(int file) {
  static const auto call = REAL(fsync);
  return fails(file) ? -1 : call(file);
}
int fdatasync(int file) {
  static const auto call = REAL(fdatasync);
  return fails(file) ? -1 : call(file);
}
int ftruncate(int file, off_t size) {
  static const auto call = REAL(ftruncate);
  return fails(file) ? -1 : call(file, size);
}
int ftruncate64(int file, off64_t size) {
  static const auto call = real<int(int, off64_t)>("ftruncate64");
  return fails(file) ? -1 : call(file, size);
}
/// The file is closed, as after an error of the system.
int close(int file) {
  static const auto call = REAL(close);
  const int flags = ::fcntl(file, F_GETFL);
  const bool failing = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fails(file);
  const int code = errno;
  const int result = call(file);
  if (!failing) return result;
  errno = code;
  return -1;
}
int rename(const char* from, const char* to) {
  static const auto call = real<int(const char*, const char*)>("rename");
  return fails(to) ? -1 : call(from, to);
}
int mkdir(const char* path, mode_t mode) {
  static const auto call = REAL(mkdir);
  return fails(path) ? -1 : call(path, mode);
}

}  // extern "C"
