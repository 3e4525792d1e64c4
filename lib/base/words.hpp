// SPDX-License-Identifier: Apache-2.0
// The words of a command that is started without a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mase {

/// A command in words, or the reason why it cannot be taken apart.
struct Words {
  std::vector<std::string> words;
  std::string problem;  ///< "" if there is none
};

/// Splits a command as a shell does: blanks part the words, and '...', "..." and \ keep characters
/// together. Nothing is expanded: an unquoted character with another meaning for a shell (a pipe, a
/// redirection, a variable, a pattern, a home folder) is a problem, and so is an open quote.
Words split_words(std::string_view command);

}  // namespace mase
