// SPDX-License-Identifier: Apache-2.0
// Mapping of files, and what keeps the memory that they take small.
#include "base/file_map.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace mase {
namespace {

[[noreturn]] void cannot_read(const std::string& path) {
  file_error("cannot read '" + path + "': " + std::strerror(errno));
}

}  // namespace

std::shared_ptr<const FileMap> FileMap::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) cannot_read(path);
  struct stat info {};
  const bool known = ::fstat(file, &info) == 0;
  if (!known || !S_ISREG(info.st_mode) || info.st_size == 0) {
    ::close(file);
    return nullptr;
  }
  return std::shared_ptr<const FileMap>(
      new FileMap(path, file, static_cast<std::size_t>(info.st_size)));
}

FileMap::FileMap(const std::string& path, int file, std::size_t size)
    : path_(path), file_(file), size_(size) {
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED) cannot_read(path);
  data_ = static_cast<char*>(data);
}

FileMap::~FileMap() { ::munmap(data_, size_); }

void FileMap::copy(const std::byte* from, std::size_t count, std::byte* into) const {
  if (size_ <= large) {
    std::memcpy(into, from, count);
    return;
  }
  auto offset = reinterpret_cast<const char*>(from) - data_;
  while (count > 0) {
    const ssize_t done = ::pread(file_.number(), into, count, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) cannot_read(path_);
    if (done == 0) check_size();
    MASE_CHECK(done > 0, "bytes of a mapped file are inside of it");
    offset += done;
    into += done;
    count -= static_cast<std::size_t>(done);
  }
}

void FileMap::was_read(std::size_t bytes) const {
  const std::size_t enough = std::min(large, size_ / 8);
  if (size_ <= large || read_.fetch_add(bytes) + bytes < enough) return;
  read_ = 0;
  ::madvise(data_, size_, MADV_DONTNEED);
}

void FileMap::check_size() const {
  struct stat info {};
  if (::fstat(file_.number(), &info) != 0) cannot_read(path_);
  if (static_cast<std::size_t>(info.st_size) < size_)
    file_error("'" + path_ + "' had " + std::to_string(size_) + " bytes and now has " +
               std::to_string(info.st_size) +
               ": it was changed while it was used; start again once it is whole");
}

}  // namespace mase
