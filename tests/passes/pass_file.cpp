// SPDX-License-Identifier: Apache-2.0
// Reading and writing of the text tests.
#include "passes/pass_file.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace mase::test {
namespace {

void add_section(PassFile& file, const std::string& line) {
  const std::string text = line.substr(4);
  const auto space = text.find(' ');
  Section section{text.substr(0, space), space == std::string::npos ? "" : text.substr(space + 1),
                  ""};
  file.sections.push_back(std::move(section));
}

void interpret(PassFile& file) {
  std::string pass, graph;
  for (std::size_t i = 0; i < file.sections.size(); ++i) {
    const Section& s = file.sections[i];
    if (s.name == "case")
      file.cases.push_back({s.rest, pass, "", graph, {}});
    else if (s.name == "pass")
      pass = s.rest;
    else if (s.name == "graph")
      graph = s.body;
    else if (s.name == "options")
      file.cases.back().options = s.body;
    else
      file.cases.back().outcomes.push_back(i);
  }
}

}  // namespace

PassFile read_pass_file(const std::string& path) {
  PassFile file{path, "", {}, {}};
  const std::string text = read_file(path);
  std::vector<std::string> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (const std::string& line : lines) {
    if (line.starts_with("=== "))
      add_section(file, line);
    else
      (file.sections.empty() ? file.head : file.sections.back().body) += line + "\n";
  }
  interpret(file);
  MASE_CHECK(!file.cases.empty(), path + " has no case");
  return file;
}

std::string print_pass_file(const PassFile& file) {
  std::string text = file.head;
  for (const Section& s : file.sections)
    text += "=== " + s.name + (s.rest.empty() ? "" : " " + s.rest) + "\n" + s.body;
  return text;
}

}  // namespace mase::test
