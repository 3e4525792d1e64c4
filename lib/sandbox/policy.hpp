// SPDX-License-Identifier: Apache-2.0
// The sandbox of this program: what a command names while it reads its options, and the moment from
// which on nothing else can be reached. docs/security.md has the promises.
#pragma once

#include <string>
#include <string_view>

#include "base/tree.hpp"
#include "sandbox/rights.hpp"

namespace mase::sandbox {

enum class Mode { automatic, require, off };
Mode parse_mode(std::string_view text);  ///< "auto", "require", "off"; Error(Fault::config)

/// The sanitizers' own checks at the end of a program need what the sandbox refuses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr const char* default_mode = "off";
#else
inline constexpr const char* default_mode = "auto";
#endif

/// off until it is chosen: libraries and tests of theirs keep their rights.
void choose(Mode mode);
Mode chosen();

/// What may be reached later; all of it counts when `enter` is called, nothing after that.
void may_read(const std::string& path);
void may_read_argument(const std::string& word);  ///< of a command line: PATH, or NAME=PATH
void may_read_named(const Tree& settings);  ///< every text in it that is the path of something
/// A folder with what is below it. One that is missing is made on entry, and removed at the end of
/// the program if it is still empty then.
void may_write(const std::string& folder);
/// Starting programs of PATH, and the compilers that they start: these read everything, and write
/// into temporary folders and the user's caches.
void may_run_programs();
void may_run_program(const std::string& name);  ///< this one alone, if it is there
void may_connect();                             ///< to a database
/// A single file, which goes through the door (door.hpp).
void will_output(const std::string& path);

/// Takes away all rights but these, with the limit on memory (base/limits.hpp), and reports crashes
/// from now on. The first call counts; it comes before any model is read, while no other thread
/// runs.
/// Error(Fault::file) under `require` where the kernel lacks a part; a warning under `auto`.
void enter();

/// For a process that was forked from one inside: takes away writing and starting programs, too.
void keep_reading_only();

}  // namespace mase::sandbox
