// SPDX-License-Identifier: Apache-2.0
// The command line of this process, for commands that start this program again.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace mase::driver {

/// The words of this program's command line, the program first. These options are left out, those
/// of `with_value` in both forms: "--nproc 2" and "--nproc=2".
std::vector<std::string> own_words(std::span<const std::string> with_value = {},
                                   std::span<const std::string> flags = {});

/// Pointers to the words and a null pointer, as exec(3) takes them. The words must outlive it.
std::vector<char*> pointers_to(std::vector<std::string>& words);

}  // namespace mase::driver
