// SPDX-License-Identifier: Apache-2.0
// Reading and atomic writing of whole files, and their SHA-256.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace mase {

/// The whole file; Error(Fault::file) naming it and the system's reason when it cannot be read.
/// Refuses directories and files above `limit` bytes.
std::string read_file(const std::string& path, std::size_t limit = std::size_t{4} << 30);

/// Writes to a temporary name in the same folder, flushes to disk and renames. Creates missing
/// parent folders. Error(Fault::file) on any failure (also a full disk, or a place outside of the
/// project, writing_inside.hpp); the old file stays intact.
void write_file(const std::string& path, std::string_view bytes);

/// As write_file, but `write` is called with the temporary path; the result is synced and renamed.
void write_file_with(const std::string& path, const std::function<void(const std::string&)>& write);

/// From now on `writer` writes the files that it knows: it is called with the arguments of
/// write_file_with, and returns false for a file that is written as usual.
using FileWriter =
    std::function<bool(const std::string&, const std::function<void(const std::string&)>&)>;
void write_named_files_by(FileWriter writer);

void make_folder(const std::string& path);  ///< with parents; Error(Fault::file)
/// Of a file, or of a link itself; nothing where there is none. Error(Fault::file) as write_file.
void remove_file(const std::string& path);
/// Whether `name` below any folder is a path inside of that folder: relative, and no "..".
bool stays_inside(const std::string& name);
bool same_file(const std::string& a, const std::string& b);  ///< both are there, links followed
bool file_exists(const std::string& path);  ///< a folder counts; false when it cannot be told

/// A part of a file name that no other call gives, in no other process: process numbers repeat in
/// containers and on other machines that share a folder, so it has random digits, too.
std::string unique_suffix();

std::string sha256(std::string_view bytes);  ///< 64 lower-case hex digits

/// The folder of the running program, and the folder with shipped files ("configs", "data",
/// "hw_templates"): the install tree's share/mase, or the source tree for a build there.
std::string program_folder();
std::string share_folder();

}  // namespace mase
