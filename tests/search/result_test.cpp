// SPDX-License-Identifier: Apache-2.0
// What a search leaves behind: the best set, the tables, and each file read back by its definition.
#include "search/results/result.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "base/file.hpp"
#include "result_study.hpp"
#include "search/results/result_rows.hpp"
#include "support/temporary_folder.hpp"

namespace mase::search {
namespace {

std::vector<std::string> keys_of(const Tree& tree) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : tree.as_dict()) keys.push_back(key);
  return keys;
}

/// RFC 4180, character by character.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"')
      rows.back().back() += text[i++];
    else if (c == '"')
      quoted = !quoted;
    else if (quoted || (c != ',' && c != '\r' && c != '\n'))
      rows.back().back() += c;
    else if (c == ',')
      rows.back().emplace_back();
    else if (c == '\n')
      rows.push_back({""});
  }
  CHECK_FALSE(quoted);
  CHECK(rows.back() == std::vector<std::string>{""});
  rows.pop_back();
  return rows;
}

template <class T>
T raw_at(const std::string& bytes, std::size_t at) {
  T value;
  REQUIRE(at + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::uint64_t varint(const std::string& bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = raw_at<std::uint8_t>(bytes, at++);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

/// The fields of a protobuf message, by number; fixed-size ones as their bytes.
std::map<std::uint64_t, std::string> fields(const std::string& message) {
  std::map<std::uint64_t, std::string> out;
  for (std::size_t at = 0; at < message.size();) {
    const std::uint64_t key = varint(message, at);
    const std::size_t begin = at;
    std::size_t length = key % 8 == 1 ? 8 : 4;
    if (key % 8 == 0) {
      out[key / 8] = std::to_string(varint(message, at));
      continue;
    }
    if (key % 8 == 2) length = varint(message, at);
    out[key / 8] = message.substr(key % 8 == 2 ? at : begin, length);
    at += length;
  }
  return out;
}

using Scalars = std::map<std::string, std::map<int, float>>;  ///< by tag and step

Scalars read_scalars(const std::string& bytes) {
  Scalars out;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = raw_at<std::uint64_t>(bytes, at);
    auto event = fields(bytes.substr(at + 12, length));
    at += 16 + length;
    if (!event.contains(5)) continue;
    auto value = fields(fields(event[5])[1]);
    out[value[1]][event.contains(2) ? std::stoi(event[2]) : 0] = raw_at<float>(value[2], 0);
  }
  return out;
}

std::vector<std::string> file_names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("the best trials are the feasible ones that none dominates, in ascending number") {
  // 0 and 2 are dominated by 1 (no less accuracy, no more bits); 3 misses the constraint.
  CHECK(six_trials().best() == std::vector<std::size_t>{1, 4, 5});
  CHECK(small_study().best().empty());
}

TEST_CASE("the best table begins with the best trial of the first objective") {
  const passes::ReportTable table = best_table(six_trials());
  CHECK(table.title == "Pareto set");
  CHECK(table.header == std::vector<std::string>{"Trial", "accuracy", "average_bitwidth",
                                                 "accuracy_drop", "accuracy_drop <= 1.0",
                                                 "Choices"});
  const std::string fours = "fc1: width 4; fc2: width 4", twos = "fc1: width 2; fc2: width 2";
  CHECK(table.rows == std::vector<std::vector<std::string>>{{"5", "0.85", "8", "1", "kept", fours},
                                                            {"1", "0.8", "4", "1", "kept", twos},
                                                            {"4", "0.6", "2", "1", "kept", twos}});
}

TEST_CASE("without a feasible trial the nearest is shown and nothing is called best") {
  StudyResult result = small_study();
  add_failed(result, "no");
  add_trial(result, {0.5, 4, 2.0});
  add_trial(result, {0.6, 4, 0.5});
  add_trial(result, {0.9, 2, 0.5});
  CHECK(result.best().empty());
  CHECK(result.nearest_to_feasible() == std::size_t{2});
  CHECK(to_json(best_tree(result), -1) == "{}");
  const passes::ReportTable table = best_table(result);
  CHECK(table.title == "No trial satisfies the constraints; the nearest");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0] == std::vector<std::string>{"2", "0.6", "4", "1.5", "missed: 1.5",
                                                  "fc1: width 4; fc2: width 4"});
  const std::string page = report_html(result);
  CHECK(page.find("No trial satisfies the constraints; the nearest") != std::string::npos);
}

TEST_CASE("a study without completed trials says so") {
  StudyResult result = small_study();
  CHECK(best_table(result).title == "No completed trial");
  add_failed(result, "metric 'loss' is NaN");
  CHECK_FALSE(result.nearest_to_feasible());
  CHECK(best_table(result).title == "No completed trial");
  CHECK(best_table(result).rows.empty());
}

TEST_CASE("best.json has one object per best trial, of the documented keys") {
  const Tree tree = parse_json(to_json(best_tree(six_trials())), "best.json");
  CHECK(keys_of(tree) == std::vector<std::string>{"0", "1", "2"});
  const Tree& entry = tree.at("1");
  CHECK(keys_of(entry) == std::vector<std::string>{"number", "value", "software_metrics",
                                                   "hardware_metrics", "scaled_metrics",
                                                   "sampled_config"});
  CHECK(entry.at("number") == Tree(4));
  CHECK(entry.at("value") == Tree(Tree::List{Tree(0.6), Tree(1.0)}));
  CHECK(entry.at("hardware_metrics").at("average_bitwidth") == Tree(2.0));
  CHECK(entry.at("scaled_metrics").at("average_bitwidth") == Tree(1.0));
  CHECK(entry.at("sampled_config").at("by") == Tree("name"));
}

TEST_CASE("log.json has one object per trial, of the documented keys, times in milliseconds") {
  StudyResult result = small_study();
  add_trial(result, {0.75, 4});
  add_failed(result, "metric 'loss' is NaN");
  const Tree tree = parse_json(to_json(log_tree(result)), "log.json");
  CHECK(log_text(result) == to_json(log_tree(result)) + "\n");
  CHECK(keys_of(tree) == std::vector<std::string>{"0", "1"});
  CHECK(keys_of(tree.at("0")) ==
        std::vector<std::string>{"number", "values_0", "values_1", "user_attrs_hardware_metrics",
                                 "user_attrs_sampled_config", "user_attrs_scaled_metrics",
                                 "user_attrs_software_metrics", "system_attrs_constraints", "state",
                                 "datetime_start", "datetime_complete", "duration"});
  CHECK(tree.at("0").at("values_1") == Tree(2.0));
  CHECK(tree.at("0").at("state") == Tree("COMPLETE"));
  CHECK(tree.at("0").at("datetime_start") == Tree(std::int64_t{1700000000000}));
  CHECK(tree.at("0").at("duration") == Tree(250));
  const Tree& failed = tree.at("1");
  CHECK(failed.at("state") == Tree("FAIL"));
  CHECK(failed.at("values_0").is_null());
  CHECK(failed.at("user_attrs_software_metrics").is_null());
  CHECK(failed.at("system_attrs_fail_reason") == Tree("metric 'loss' is NaN"));
  CHECK(failed.at("datetime_complete").is_null());
  CHECK(failed.at("duration").is_null());
}

TEST_CASE("with one objective log.json has 'value' and the table one best trial") {
  StudyResult result = small_study();
  result.options.goals.pop_back();
  result.problem.directions.pop_back();
  for (const double accuracy : {0.5, 0.7, 0.6})
    add_trial(result, {accuracy, 4}).trial.values = {accuracy};
  CHECK(log_tree(result).at("1").at("value") == Tree(0.7));
  CHECK(best_tree(result).at("0").at("value") == Tree(Tree::List{Tree(0.7)}));
  CHECK(best_table(result).title == "Best trial");
  CHECK(best_table(result).rows.at(0).at(0) == "1");
}

TEST_CASE("trials.csv quotes what needs it and reads back cell by cell") {
  StudyResult result = small_study();
  result.problem.space = {widths_dimension(hostile_name)};
  add_trial(result, {1.0 / 3, 4}).user["software_metrics"]["accuracy"] = 1.0 / 3;
  add_failed(result, "told \"no\",\r\ntwice");
  const auto rows = read_csv(trials_csv(result));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0] == std::vector<std::string>{"number", "state", "values_0", "values_1", "accuracy",
                                            "average_bitwidth", "accuracy_drop",
                                            std::string("params_") + hostile_name, "violation",
                                            "seconds", "reason"});
  CHECK(rows[1] == std::vector<std::string>{"0", "COMPLETE", "0.3333333333333333", "2.0",
                                            "0.3333333333333333", "4.0", "1.0", "8", "0.0", "0.25",
                                            ""});
  CHECK(rows[2][1] == "FAIL");
  CHECK(rows[2].back() == "told \"no\",\r\ntwice");
}

TEST_CASE("a parameter of another process's study is shown even where the space lacks it") {
  StudyResult result = small_study();
  storage::Record& record = add_trial(result, {0.5, 4});
  record.trial.params["lr"] = 0.25;
  CHECK(parameter_names(result).back() == "lr");
  CHECK(parameter_of(result, record, "lr") == Tree(0.25));
  record.trial.params["fc1/config/width"] = 99;  // outside of its list of choices
  CHECK(parameter_of(result, record, "fc1/config/width") == Tree(99.0));
}

TEST_CASE("an objective with a negative scale is shown as its metric, the other way round") {
  StudyResult result = small_study();
  result.options.goals[1] = {"average_bitwidth", -2.0, Direction::maximize};
  result.problem.directions[1] = Direction::maximize;
  const Objective objective = objectives_of(result)[1];
  CHECK(objective.better == Direction::minimize);
  storage::Record record;
  record.trial.values = {0.5, -8};
  CHECK(objective_value(record, objective, 1) == 4.0);
}

TEST_CASE("numbers for people have five digits and whole numbers all of theirs") {
  CHECK(short_number(0.742134) == "0.74213");
  CHECK(short_number(20000.0) == "20000");
  CHECK(short_number(1234567.5) == "1234568");
  CHECK(short_number(-0.0) == "0");
  CHECK(short_number(1.5e-9) == "1.5e-09");
  CHECK(short_number(std::numeric_limits<double>::infinity()) == "inf");
}

TEST_CASE("results are complete in their folder, and TensorBoard's scalars once") {
  const test::TemporaryFolder folder;
  StudyResult result = six_trials();
  add_failed(result, "no");
  const std::string path = folder.file("new/search");
  write_results(result, path);
  write_results(result, path);
  CHECK(file_names(path) == std::vector<std::string>{"best.json", "log.json", "report.html",
                                                     "tensorboard", "trials.csv"});
  CHECK(read_file(path + "/report.html") == report_html(result));
  CHECK(parse_json(read_file(path + "/log.json"), "log.json").size() == 7);
  const auto events = file_names(path + "/tensorboard");
  REQUIRE(events.size() == 1);
  const Scalars scalars = read_scalars(read_file(path + "/tensorboard/" + events[0]));
  CHECK(scalars.size() == 2);
  CHECK(scalars.at("average_bitwidth") ==
        std::map<int, float>{{0, 2}, {1, 2}, {2, 3}, {3, 1}, {4, 1}, {5, 4}});
  CHECK(scalars.at("accuracy").at(5) == 0.85f);
}

TEST_CASE("results that cannot be written are a file error") {
  const test::TemporaryFolder folder;
  write_file(folder.file("taken"), "a file");
  CHECK_THROWS_AS(write_results(six_trials(), folder.file("taken")), Error);
  write_file(folder.file("tensorboard"), "a file where a folder must be");
  CHECK_THROWS_AS(write_results(six_trials(), folder.path()), Error);
}

}  // namespace mase::search
