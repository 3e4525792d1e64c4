// SPDX-License-Identifier: Apache-2.0
// Reading, atomic writing and hashing of files.
#include "base/file.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/leftovers.hpp"
#include "base/writing_inside.hpp"

namespace mase {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path, int code) {
  file_error("cannot " + what + " '" + path + "': " + std::strerror(code));
}

void write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// Creates or truncates `path` and fills it; messages use the name `shown`.
void write_plain(const std::string& path, std::string_view bytes, const std::string& shown) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.number() < 0) fail("write", shown, errno);
  write_all(file.number(), bytes, shown);
  if (!file.close()) fail("write", shown, errno);
}

/// Flushes a file or folder to the device. File systems that cannot flush say EINVAL.
void sync(const std::string& path, const std::string& shown) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0 || (::fsync(file.number()) != 0 && errno != EINVAL))
    fail("write", shown, errno);
}

/// True for a pipe, terminal or device such as /dev/null, which is written to and never replaced.
bool is_special(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/// The file behind a symbolic link, so that the link survives the rename.
std::string final_path(const std::string& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::canonical(path, error);
  return error ? path : target.string();
}

std::string parent_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// Sweeps a folder when this process first writes into it.
void sweep_once(const std::string& folder) {
  static std::mutex mutex;
  static std::set<std::string> swept;
  {
    const std::lock_guard lock(mutex);
    if (!swept.insert(folder).second) return;
  }
  sweep_leftovers(folder);
}

FileWriter& named_file_writer() {
  static FileWriter writer;
  return writer;
}

std::string read_all(int fd, std::size_t expected, std::size_t limit, const std::string& path) {
  std::string out(std::min(expected, limit) + 1, '\0');  // one more byte shows the end at once
  std::size_t used = 0;
  while (true) {
    const ssize_t count = ::read(fd, out.data() + used, out.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", path, errno);
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
    if (used > limit)
      file_error("cannot read '" + path + "': larger than the limit of " + std::to_string(limit) +
                 " bytes");
    if (used == out.size()) out.resize(2 * out.size());
  }
  out.resize(used);
  return out;
}

}  // namespace

std::string read_file(const std::string& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) fail("read", path, errno);
  struct stat info {};
  if (::fstat(file.number(), &info) != 0) fail("read", path, errno);
  if (S_ISDIR(info.st_mode)) fail("read", path, EISDIR);
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > limit)
    file_error("cannot read '" + path + "': its " + std::to_string(size) +
               " bytes exceed the limit of " + std::to_string(limit));
  return read_all(file.number(), size, limit, path);
}

void write_file(const std::string& path, std::string_view bytes) {
  write_file_with(path, [&](const std::string& name) { write_plain(name, bytes, path); });
}

void write_named_files_by(FileWriter writer) { named_file_writer() = std::move(writer); }

void write_file_with(const std::string& path,
                     const std::function<void(const std::string&)>& write) {
  const std::string place = place_to_write(path);
  if (named_file_writer() && named_file_writer()(path, write)) return;
  if (is_special(place)) return write(place);
  const std::string target = final_path(place);
  if (fs::path(target).filename().empty()) fail("write", path, EISDIR);
  make_folder(parent_of(target));
  sweep_once(parent_of(target));
  const std::string temporary = temporary_name(target);
  try {
    write(temporary);
    sync(temporary, path);
    if (::rename(temporary.c_str(), target.c_str()) != 0) fail("write", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync(parent_of(target), path);
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(place_to_write(path), error);
  if (error) fail("create folder", path, error.value());
}

void remove_file(const std::string& path) {
  const fs::path full(path);
  const std::string place = (fs::path(place_to_write(parent_of(path))) / full.filename()).string();
  if (::unlink(place.c_str()) != 0 && errno != ENOENT) fail("remove", path, errno);
}

std::string unique_suffix() {
  static std::atomic<unsigned> count{0};
  static const std::uint32_t drawn = std::random_device{}();
  return std::to_string(::getpid()) + "-" + std::to_string(drawn) + "-" + std::to_string(count++);
}

bool stays_inside(const std::string& name) {
  const fs::path path = fs::path(name).lexically_normal();
  return path.has_filename() && path.is_relative() && *path.begin() != ".." && path != ".";
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool file_exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.finish();
}

Sha256::Sha256()
    : context_(EVP_MD_CTX_new(),
               [](void* context) { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context)); }) {
  const int good =
      EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_.get()), EVP_sha256(), nullptr);
  MASE_CHECK(good == 1, "SHA-256 is not available in the installed OpenSSL");
}

void Sha256::add(std::string_view bytes) {
  const int good =
      EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_.get()), bytes.data(), bytes.size());
  MASE_CHECK(good == 1, "bytes can be added to a SHA-256 that is not finished");
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  const int good =
      EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_.get()), digest.data(), &length);
  MASE_CHECK(good == 1 && length == 32, "a SHA-256 is finished once");
  std::string out;
  for (unsigned i = 0; i < length; ++i) {
    out += "0123456789abcdef"[digest[i] >> 4];
    out += "0123456789abcdef"[digest[i] & 15];
  }
  return out;
}

}  // namespace mase
