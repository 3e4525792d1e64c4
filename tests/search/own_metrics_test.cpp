// SPDX-License-Identifier: Apache-2.0
// Metrics of the user's own: reading of tables, sums, and what programs get and print.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "config/toml.hpp"
#include "search/options.hpp"
#include "search/own_metrics/metric_rows.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::search;
using test::message_of;

namespace {

OwnMetrics own_of(const std::string& text) {
  Diagnostics diagnostics;
  OwnMetrics metrics = read_own_metrics(config::parse_toml(text, "x.toml"), diagnostics);
  diagnostics.throw_if_errors();
  return metrics;
}

std::string faults_of(const std::string& text) {
  Diagnostics diagnostics;
  read_own_metrics(config::parse_toml(text, "x.toml"), diagnostics);
  return diagnostics.text();
}

OwnMetrics program(const std::string& command, const std::string& more = "") {
  return own_of("[m]\ncommand = '''" + command + "'''\n" + more);
}

/// Three rows of labels.
data::Dataset three_rows() {
  data::Dataset dataset;
  dataset.name = "three";
  dataset.inputs = {{"x", Array::from(std::vector<float>{1, 2, 3}, {3, 1})}};
  dataset.targets = {
      {"y", "classification", Array::from(std::vector<std::int64_t>{0, 1, 1}, {3}), {"a", "b"}}};
  dataset.validation = {0, 1, 2};
  return dataset;
}

/// What the program prints of three rows in batches of two and one.
double measured(const OwnMetrics& metrics, const ir::Results& first, const ir::Results& second) {
  const data::Dataset dataset = three_rows();
  MetricRows rows({&metrics.rows.front()});
  rows.add_outputs(first);
  rows.add_outputs(second);
  rows.add_data(dataset, dataset.batch(dataset.validation, 0, 2));
  rows.add_data(dataset, dataset.batch(dataset.validation, 2, 1));
  return rows.measure().at("m").as_double();
}

const ir::Results two{{"", Array::from(std::vector<float>{1, 2, 3, 4}, {2, 2})}};
const ir::Results one{{"", Array::from(std::vector<float>{5, 6}, {1, 2})}};

std::string failure(const std::string& command, const std::string& more = "") {
  const OwnMetrics metrics = program(command, more);
  return message_of(Fault::file, [&] { measured(metrics, two, one); });
}

}  // namespace

TEST_CASE("a metric is a program or a sum, with the defaults of a configuration") {
  const OwnMetrics metrics = own_of(R"(
kappa = { command = "python3 'my score.py' {outputs} {targets}", direction = "minimize" }
cost = { sum = { lut = 0.001, kappa = -2 } }
)");
  REQUIRE(metrics.rows.size() == 2);
  const OwnMetric& kappa = *metrics.find("kappa");
  CHECK(kappa.words ==
        std::vector<std::string>{"python3", "my score.py", "{outputs}", "{targets}"});
  CHECK(kappa.time_limit == 60);
  CHECK(kappa.reads(targets_file));
  CHECK_FALSE(kappa.reads(inputs_file));
  CHECK(kappa.text() == "metric kappa (x.toml:2:21), `python3 'my score.py' {outputs} {targets}`");
  CHECK_FALSE(metrics.find("cost")->is_program());
  CHECK(metrics.with_terms({"cost"}) == std::set<std::string>{"cost", "kappa", "lut"});
}

TEST_CASE("sums add what was measured, also by other sums, and belong to what they measure") {
  const OwnMetrics metrics = own_of(R"(
mine = { command = "p {outputs}" }
area = { sum = { lut = 0.5, dsp = 100 } }
all = { sum = { area = 2, mine = -1 } }
)");
  const auto value_of = [](const std::string& name) -> std::optional<double> {
    if (name == "lut") return 6;
    if (name == "dsp") return 0.25;
    return name == "mine" ? std::optional(1.5) : std::nullopt;
  };
  CHECK(metrics.sum_of(*metrics.find("area"), value_of) == 28.0);
  CHECK(metrics.sum_of(*metrics.find("all"), value_of) == 54.5);
  CHECK_FALSE(metrics.sum_of(*metrics.find("all"), [](auto&) { return std::nullopt; }));
  CHECK(metrics.is_hardware("area"));
  CHECK_FALSE(metrics.is_hardware("all"));
}

TEST_CASE("faults of the tables are told at their places before anything runs") {
  const auto has = [](const std::string& text, const std::string& wanted) {
    INFO(faults_of(text));
    CHECK(faults_of(text).find(wanted) != std::string::npos);
  };
  has("f = {}", "x.toml:1:1: error: metric 'f' needs either a command");
  has("f = { command = 'p {outputs}', sum = { lut = 1 } }", "needs either a command");
  has("f = { command = 'p {output}' }", "there is no file {output}; did you mean 'outputs'?");
  has("f = { command = 'p {targets}' }", "it does not name {outputs}");
  has("f = { command = 'p {outputs} | tail' }", "no shell runs it");
  has("f = { command = '' }", "it names no program");
  has("f = { comand = 'p {outputs}' }", "did you mean 'command'?");
  has("f = { command = 'p {outputs}', time_limit = 0 }", "time_limit");
  has("lut = { command = 'p {outputs}' }", "a runner measures a metric 'lut'");
  has("'a b' = { command = 'p {outputs}' }", "the name of a metric has letters");
  has("f = { sum = { luts = 1 } }", "unknown metric 'luts' in a sum; did you mean 'lut'?");
  has("f = { sum = { lut = 'one' } }", "the factor of 'lut' must be a finite number");
  has("f = { sum = {} }", "'sum' must be a table of factors");
  has("f = { sum = { f = 1 } }", "metric 'f' is a part of itself");
  has("f = { sum = { g = 1 } }\ng = { sum = { lut = 1, f = 1 } }",
      "metric 'f' is a part of itself");
  has("f = 1", "'metrics.f' must be a table");
  CHECK(faults_of("f = { command = 'awk \"{print $1}\" {outputs}' }").empty());
}

TEST_CASE("a search takes them as objectives and in constraints, and names a missing runner") {
  const std::string head = R"(
[search_space.setup]
[search_space.seed.default.config]
name = ["NA"]
[strategy]
constraints = ["kappa >= 0.5"]
[strategy.setup]
[strategy.metrics]
cost = {}
)";
  const OwnMetrics own = own_of(R"(
kappa = { command = "p {outputs}" }
other = { command = "p {outputs}" }
cost = { sum = { average_bitwidth = 1, kappa = -1 }, direction = "minimize" }
)");
  Diagnostics diagnostics;
  read_options(config::parse_toml(head, "x.toml"), diagnostics, own);
  CHECK(diagnostics.text().find("no runner delivers the metric 'average_bitwidth'; add a table "
                                "[search.strategy.hw_runner.average_bitwidth]") !=
        std::string::npos);
  Diagnostics none;
  const Options options = read_options(
      config::parse_toml(head + "[strategy.hw_runner.average_bitwidth]\n", "x.toml"), none, own);
  none.throw_if_errors();
  CHECK(options.goals.front() == Goal{"cost", 1.0, Direction::minimize});
  REQUIRE(options.needed_programs().size() == 1);
  CHECK(options.needed_programs().front()->name == "kappa");
  CHECK(options.needed_own().size() == 2);
}

TEST_CASE("a program gets the rows of all batches as arrays, and prints a number") {
  // The header of an .npy file tells its type and shape; its data follow at byte 128.
  const auto program_of = [](const std::string& file) {
    return program("sh -c 'head -c 100 \"$1\" | grep -a -c \"" + file + "\"' x {outputs}");
  };
  CHECK(measured(program_of("<f4.*(3, 2)"), two, one) == 1);
  const std::string targets =
      "sh -c 'head -c 100 \"$1\" | grep -a -c \"<i8.*(3,)\"' x {targets} {outputs}";
  CHECK(measured(program(targets), two, one) == 1);
  const std::string inputs =
      "sh -c 'head -c 100 \"$1\" | grep -a -c \"<f4.*(3, 1)\"' x {inputs} {outputs}";
  CHECK(measured(program(inputs), two, one) == 1);
  CHECK(measured(program("sh -c 'echo \" -1.5e1 \"; echo note >&2' {outputs}"), two, one) == -15);
}

TEST_CASE("a program may print several numbers as an object, each under its own name") {
  const data::Dataset dataset = three_rows();
  const OwnMetrics metrics = program(R"(sh -c 'echo "{\"low\": 0.5, \"high\": 2}"' {outputs})",
                                     "[cost]\nsum = { m.low = 4, m.high = -1 }\n");
  MetricRows rows({metrics.find("m")});
  rows.add_outputs(two);
  const Tree found = rows.measure();
  REQUIRE(found.size() == 2);
  CHECK(found.at("m.low").as_double() == 0.5);
  CHECK(found.at("m.high").as_double() == 2);
  const auto value_of = [&](const std::string& name) { return found.at(name).as_double(); };
  CHECK(metrics.sum_of(*metrics.find("cost"), value_of) == 0);
  CHECK(metrics.source("m.low") == metrics.find("m"));
  CHECK(metrics.source("cost.low") == nullptr);  // a sum is one number
  CHECK_FALSE(metrics.is_hardware("m.lut"));
}

TEST_CASE("several outputs of a model are one archive") {
  const ir::Results first{{"boxes", two.front().second}, {"classes", two.front().second}};
  const ir::Results second{{"boxes", one.front().second}, {"classes", one.front().second}};
  const OwnMetrics metrics =
      program("sh -c 'case $1 in *.npz) grep -a -o -c \"boxes.npy\" $1;; esac' x {outputs}");
  CHECK(measured(metrics, first, second) >= 1);
}

TEST_CASE("a program that fails is named with its command, what it printed, and a remedy") {
  const auto has = [](const std::string& message, const std::string& wanted) {
    INFO(message);
    CHECK(message.find(wanted) != std::string::npos);
    CHECK(message.starts_with("metric m (x.toml:2:11), `sh -c"));
  };
  has(failure("sh -c 'echo why >&2; exit 3' {outputs}"), "ended with status 3:\nwhy\n");
  has(failure("sh -c 'echo why >&2; exit 3' {outputs}"), "`mase run MODEL");
  has(failure("sh -c 'sleep 30' {outputs}", "time_limit = 0.2"),
      "did not end within 0.2 s and was stopped; raise time_limit");
  has(failure("sh -c 'true' {outputs}"), "printed nothing; it must print one finite number");
  has(failure("sh -c 'echo nan' {outputs}"), "printed \"nan\"; it must");
  has(failure("sh -c 'echo kappa: 0.5; echo' {outputs}"), "printed \"kappa: 0.5\"; it must");
  has(failure("sh -c 'echo {}' {outputs}"), "printed an empty object; it must");
  has(failure(R"(sh -c 'echo "{\"a\": true}"' {outputs})"), "printed no finite number for \"a\"");
  has(failure(R"(sh -c 'echo "{\"a b\": 1}"' {outputs})"),
      "printed the key \"a b\"; a key has letters");
  has(failure(R"(sh -c 'echo "{\"a\": 1"' {outputs})"), "printed no JSON object: its output:1:");
  const std::string long_text = failure("sh -c 'head -c 5000 /dev/zero | tr \"\\0\" a' {outputs}");
  has(long_text, "a...\"; it must");
  CHECK(long_text.size() < 400);
}

TEST_CASE("a program that is missing, and targets that are, are told before the first run") {
  data::Dataset dataset = three_rows();
  const auto refused = [&](const std::string& command) {
    const OwnMetrics metrics = program(command);
    return message_of(Fault::config, [&] { check_programs({&metrics.rows.front()}, dataset); });
  };
  CHECK(
      refused("no-such-program {outputs}").find("there is no program 'no-such-program' in PATH") !=
      std::string::npos);
  CHECK(refused("./no-such-file {outputs}").find("there is no file './no-such-file'") !=
        std::string::npos);
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("score")) << "#!/bin/sh\necho 1\n";
  CHECK(refused(folder.file("score") + " {outputs}").find("may not be run; `chmod +x") !=
        std::string::npos);
  ::chmod(folder.file("score").c_str(), 0700);
  CHECK(measured(program(folder.file("score") + " {outputs}"), two, one) == 1);
  dataset.targets.clear();
  CHECK(refused("sh {outputs} {targets}")
            .find("needs targets, and there are none in data set three") != std::string::npos);
}

TEST_CASE("outputs that are not one row for each input row are refused") {
  const OwnMetrics metrics = program("true {outputs}");
  const ir::Results scalar{{"total", Array::from(std::vector<float>{1}, {})}};
  CHECK(message_of(Fault::unsupported, [&] {
          measured(metrics, scalar, scalar);
        }).find("but \"total\" has shape []") != std::string::npos);
}
