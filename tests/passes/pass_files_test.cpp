// SPDX-License-Identifier: Apache-2.0
// Runs every tests/passes/*.test. With MASE_UPDATE=1 in the environment the expected parts are
// rewritten.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "config/toml.hpp"
#include "driver/all_passes.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "passes/pass_file.hpp"
#include "passes/runner.hpp"
#include "test_paths.hpp"

namespace mase {
namespace {

struct Outcome {
  std::string expect, info, notes, error;
};

Outcome run_case(const test::PassCase& c) {
  Outcome outcome;
  try {
    ir::Graph graph = ir::parse(c.graph, "graph");
    REQUIRE(ir::verify(graph).empty());
    const ir::Graph original = graph;
    passes::PassContext context;
    context.original = &original;
    context.output_folder = "out";
    const passes::PassCall call{c.pass, config::parse_toml(c.options, "options.toml"), {}};
    const auto reports = passes::run_passes(graph, {call}, driver::all_passes(), context, {});
    const std::string text = ir::print(graph);
    CHECK(ir::print(ir::parse(text, "printed")) == text);
    graph.history = original.history;
    outcome.expect = ir::print(graph, {.metadata = false});
    outcome.info = to_json(reports.front().result.info) + "\n";
    for (const std::string& note : reports.front().result.notes) outcome.notes += note + "\n";
  } catch (const Error& error) {
    outcome.error = std::string(error.what()) + "\n";
  }
  return outcome;
}

const std::string& part(const Outcome& outcome, const std::string& name) {
  if (name == "expect") return outcome.expect;
  if (name == "info") return outcome.info;
  if (name == "notes") return outcome.notes;
  MASE_CHECK(name == "error", "unknown section '" + name + "'");
  return outcome.error;
}

void run_file(const std::string& path) {
  test::PassFile file = test::read_pass_file(path);
  const bool update = std::getenv("MASE_UPDATE") != nullptr;
  for (const test::PassCase& c : file.cases) {
    INFO(path << ": " << c.name);
    REQUIRE_FALSE(c.outcomes.empty());
    const Outcome outcome = run_case(c);
    for (std::size_t i : c.outcomes) {
      test::Section& section = file.sections[i];
      if (update)
        section.body = part(outcome, section.name);
      else
        CHECK(part(outcome, section.name) == section.body);
    }
    if (!update && std::none_of(c.outcomes.begin(), c.outcomes.end(),
                                [&](std::size_t i) { return file.sections[i].name == "error"; }))
      CHECK(outcome.error == "");
  }
  if (update) write_file(path, test::print_pass_file(file));
}

std::vector<std::string> test_files() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(MASE_TEST_FOLDER "/passes"))
    if (entry.path().extension() == ".test") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

TEST_CASE("the text tests of the passes hold") {
  const auto paths = test_files();
  REQUIRE(paths.size() >= 8);
  for (const std::string& path : paths) run_file(path);
}

TEST_CASE("every pass has a text test") {
  std::string all;
  for (const std::string& path : test_files())
    for (const test::PassCase& c : test::read_pass_file(path).cases) all += c.pass + "\n";
  for (const passes::PassRow& row : driver::all_passes()) {
    INFO(row.doc.name);
    CHECK(all.find(std::string(row.doc.name) + "\n") != std::string::npos);
  }
}

}  // namespace mase
