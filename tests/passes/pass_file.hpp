// SPDX-License-Identifier: Apache-2.0
// Text tests of passes: one file per pass (or family) with cases of options, graph in, and what
// comes out.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mase::test {

/// A file is a sentence, then cases. A section starts with a line `=== NAME [REST]`:
///   === case SENTENCE     starts a case
///   === pass NAME         the pass of the cases that follow
///   === options           TOML
///   === graph             text form, for the cases that follow
///   === expect            the graph afterwards, without metadata
///   === info              the result's info as JSON
///   === notes             the result's notes, one a line
///   === error             the message
struct Section {
  std::string name, rest, body;
};
struct PassCase {
  std::string name, pass, options, graph;
  std::vector<std::size_t> outcomes;  ///< indices into PassFile::sections of what is to be compared
};
struct PassFile {
  std::string path, head;
  std::vector<Section> sections;
  std::vector<PassCase> cases;
};

PassFile read_pass_file(const std::string& path);
std::string print_pass_file(const PassFile& file);

}  // namespace mase::test
