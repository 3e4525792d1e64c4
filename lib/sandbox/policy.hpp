// SPDX-License-Identifier: Apache-2.0
// The sandbox of this program. A command names what it needs while it reads its options; once it
// enters the sandbox, nothing else can be reached. docs/security.md has the guarantees.
#pragma once

#include <string>
#include <string_view>

#include "base/tree.hpp"
#include "sandbox/rights.hpp"

namespace mase::sandbox {

enum class Mode { automatic, require, off };
Mode parse_mode(std::string_view text);  ///< "auto", "require", "off"; Error(Fault::config)

/// The sanitizers' checks at the end of a program need calls that the sandbox refuses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr const char* default_mode = "off";
#else
inline constexpr const char* default_mode = "auto";
#endif

/// Chooses the mode. It is off by default, so that tests of libraries keep their rights.
void choose(Mode mode);
Mode chosen();

/// These functions name what may be reached later. They have no effect after `enter` is called.
void may_read(const std::string& path);
void may_read_argument(const std::string& word);  ///< a word of a command line: PATH or NAME=PATH
void may_read_named(const Tree& settings);        ///< every text in it that is an existing path
/// Sets the function that returns further files to read for a file that may be read, such as the
/// tensors that a model keeps beside it. It is called on entry.
void find_companions_by(std::vector<std::string> (*companions)(const std::string& path));
/// Allows writing to a folder and below it. A folder that is missing is created on entry, and
/// removed at the end of the program if it is still empty.
void may_write(const std::string& folder);
/// Allows starting programs from PATH, and the compilers that they start. These may read
/// everything, and write to temporary folders and the user's caches.
void may_run_programs();
/// The same for programs wherever they are, such as those of the user's own.
void may_run_any_program();
void may_run_program(const std::string& name);  ///< only this program, if it exists
void may_connect();                             ///< allows connecting to a database
void may_use_accelerators();                    ///< allows drivers of GPUs and the like
void may_meet_processes();  ///< allows connections between the processes of a training
/// Allows writing a single file through the door (door.hpp).
void will_output(const std::string& path);

/// Gives up all other rights, applies the limit on memory (base/limits.hpp), and reports crashes
/// from now on. Only the first call has an effect. It must come before any model is read, while no
/// other thread is running.
/// If the kernel lacks a part: Error(Fault::file) under `require`, a warning under `auto`.
void enter();

/// For a process forked inside the sandbox: also gives up writing and starting programs.
void keep_reading_only();

}  // namespace mase::sandbox
