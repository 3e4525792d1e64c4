// SPDX-License-Identifier: Apache-2.0
// Reading and atomic writing of whole files, and their SHA-256.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mase {

/// Returns the whole file. Error(Fault::file) with its name and the system's reason when it cannot
/// be read, and for directories and files above `limit` bytes.
std::string read_file(const std::string& path, std::size_t limit = std::size_t{4} << 30);

/// Writes to a temporary name in the same folder, flushes to disk and renames. Creates missing
/// parent folders. Error(Fault::file) on any failure (including a full disk, or a place outside of
/// the project, writing_inside.hpp), which leaves the old file intact.
void write_file(const std::string& path, std::string_view bytes);

/// Like write_file, but calls `write` with the temporary path, then syncs and renames the result.
void write_file_with(const std::string& path, const std::function<void(const std::string&)>& write);

/// Installs a writer for the files that it knows. It is called with the arguments of
/// write_file_with, and returns false for a file that is to be written as usual.
using FileWriter =
    std::function<bool(const std::string&, const std::function<void(const std::string&)>&)>;
void write_named_files_by(FileWriter writer);

void make_folder(const std::string& path);  ///< with parents; Error(Fault::file)
/// Removes a file, or a link itself, if it exists; Error(Fault::file) as for write_file.
void remove_file(const std::string& path);
/// True when `name`, taken below any folder, stays inside it: it is relative and has no "..".
bool stays_inside(const std::string& name);
bool same_file(const std::string& a, const std::string& b);  ///< both exist; links are followed
bool file_exists(const std::string& path);  ///< true for a folder too; false when it is unknown

/// A part of a file name that is unique over all calls and processes. Process numbers repeat in
/// containers and on other machines that share a folder, so it has random digits, too.
std::string unique_suffix();

std::string sha256(std::string_view bytes);  ///< 64 lower-case hex digits

/// The SHA-256 of bytes that come piece by piece.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  std::string finish();  ///< as sha256 says it; nothing can be added afterwards

 private:
  std::shared_ptr<void> context_;
};

/// The folder of the running program, and the folder of shipped files ("configs", "data",
/// "hw_templates"): share/mase of the install tree, or the source tree for a build inside it.
std::string program_folder();
std::string share_folder();

}  // namespace mase
