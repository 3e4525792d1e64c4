// SPDX-License-Identifier: Apache-2.0
// Studies and trials: what is written comes back, from the same connection and from another.
#include <catch2/catch.hpp>
#include <cmath>

#include "search/storage/test_database.hpp"
#include "support/infinity.hpp"
#include "support/message_of.hpp"

namespace mase::storage {
namespace {

using test::complete;
using test::infinity;
using test::message_of;
using test::minimize;
using test::TestDatabase;

Tree json(const std::string& text) { return parse_json(text, "test"); }

TEST_CASE("a study comes back with its directions and attributes") {
  const TestDatabase database;
  const auto storage = database.open();
  CHECK_FALSE(storage->find_study("two"));
  storage->create_study("two", {Direction::maximize, Direction::minimize},
                        json(R"({"who": "ü", "list": [1, 2.5, null]})"), json(R"({"a": true})"));
  minimize(*storage, "one");
  storage->set_user_attribute(*storage->find_study("two"), "who", "me");
  storage->set_system_attribute(*storage->find_study("two"), "study:metric_names",
                                json(R"(["loss", "bits"])"));

  const Study study = *database.open()->find_study("two");
  CHECK(study.directions == std::vector{Direction::maximize, Direction::minimize});
  CHECK(to_json(study.user, -1) == R"({"list":[1,2.5,null],"who":"me"})");
  CHECK(to_json(study.system, -1) == R"({"a":true,"study:metric_names":["loss","bits"]})");
  const std::vector<Study> all = storage->studies();
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "two");
  CHECK(all[1].name == "one");
}

TEST_CASE("creating a study that exists gives the first one") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study first = minimize(*storage);
  const Study second =
      storage->create_study("study", {Direction::maximize}, json(R"({"a": 1})"), Tree::dict());
  CHECK(second.id == first.id);
  CHECK(second.directions == first.directions);
  CHECK(second.user.size() == 0);
}

const samplers::Space all_kinds{
    {"float", samplers::FloatDistribution{-1.5, 2, std::nullopt, false}, std::nullopt},
    {"log", samplers::FloatDistribution{1e-5, 1, std::nullopt, true}, std::nullopt},
    {"step", samplers::FloatDistribution{0, 1, 0.25, false}, std::nullopt},
    {"int", samplers::IntDistribution{2, 8, 2, false}, std::nullopt},
    {"int_log", samplers::IntDistribution{1, 1024, 1, true}, std::nullopt},
    {"choice",
     samplers::CategoricalDistribution{{Tree(), Tree(true), Tree(3), Tree(0.5), Tree("é")}},
     std::nullopt},
};

TEST_CASE("a trial comes back with every kind of distribution and value") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  const samplers::Params params{{"float", 0.1}, {"log", 1.0 / 3}, {"step", 0.75},
                                {"int", 6},     {"int_log", 777}, {"choice", 4}};
  const Record begun = *storage->begin_trial(study, json(R"({"grid_id": 7})"));
  CHECK(begun.trial.number == 0);
  CHECK(begun.trial.state == TrialState::running);
  storage->set_parameters(begun, params, all_kinds, json(R"({"seed": 5})"));
  storage->report(begun.id, 1, std::nan(""));
  storage->report(begun.id, 2, -infinity);
  storage->report(begun.id, 4, 0.1);
  storage->report(begun.id, 4, 0.3);
  Outcome outcome = complete(-0.1);
  outcome.user = json(R"({"bits": 4.5})");
  outcome.system = json(R"({"constraints": [-1, 0.5, 2]})");
  CHECK(storage->finish(begun.id, outcome));

  const auto other = database.open();
  const std::vector<Record>& records = other->trials(study);
  REQUIRE(records.size() == 1);
  const Record& record = records[0];
  CHECK(record.id == begun.id);
  CHECK(record.trial.state == TrialState::complete);
  CHECK(record.trial.params == params);
  for (const samplers::Dimension& dimension : all_kinds)
    CHECK(*record.distributions.at(dimension.name) == dimension.distribution);
  CHECK(record.trial.values == std::vector<double>{-0.1});
  REQUIRE(record.trial.intermediate.size() == 3);
  CHECK(std::isnan(record.trial.intermediate.at(1)));
  CHECK(record.trial.intermediate.at(2) == -infinity);
  CHECK(record.trial.intermediate.at(4) == 0.3);
  CHECK(record.trial.violation == 2.5);
  CHECK(record.user.at("bits") == Tree(4.5));
  CHECK(record.trial.attributes.at("grid_id") == Tree(7));
  CHECK(record.trial.attributes.at("seed") == Tree(5));
  REQUIRE(record.start);
  REQUIRE(record.complete);
  CHECK(*record.start == *begun.start);
  CHECK(*record.complete >= *record.start);
}

TEST_CASE("objectives may be infinite, and never NaN") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study =
      storage->create_study("s", {Direction::minimize, Direction::maximize, Direction::minimize},
                            Tree::dict(), Tree::dict());
  const Record record = *storage->begin_trial(study, Tree::dict());
  Outcome outcome;
  outcome.values = {infinity, std::nan(""), 5e-324};
  CHECK(message_of(Fault::internal, [&] { storage->finish(record.id, outcome); }).find("NaN") !=
        std::string::npos);
  CHECK(storage->trials(study)[0].trial.state == TrialState::running);
  outcome.values = {infinity, -infinity, 5e-324};
  CHECK(storage->finish(record.id, outcome));
  CHECK(storage->trials(study)[0].trial.values == outcome.values);
}

TEST_CASE("a finished trial cannot be changed") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  const Record record = *storage->begin_trial(study, Tree::dict());
  CHECK(storage->finish(record.id, complete(1)));
  Outcome late = complete(2);
  late.user = json(R"({"late": true})");
  CHECK_FALSE(storage->finish(record.id, late));
  storage->report(record.id, 1, 1);
  storage->set_parameters(record, {{"x", 0.5}}, test::unit_space(), Tree::dict());
  const Record after = database.open()->trials(study).at(0);
  CHECK(after.trial.values == std::vector<double>{1});
  CHECK(after.user.size() == 0);
  CHECK(after.trial.intermediate.empty());
  CHECK(after.trial.params.empty());
}

TEST_CASE("a failed trial keeps its reason and needs no values") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  Outcome outcome;
  outcome.state = TrialState::fail;
  outcome.user = json(R"({"reason": "accuracy is NaN"})");
  CHECK(storage->finish(storage->begin_trial(study, Tree::dict())->id, outcome));
  const Record& record = storage->trials(study).at(0);
  CHECK(record.trial.state == TrialState::fail);
  CHECK(record.user.at("reason") == Tree("accuracy is NaN"));
}

TEST_CASE("a parameter keeps its kind and its choices within a study, and may change its range") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  const auto with = [&](const samplers::Distribution& distribution, double value) {
    const Record record = *database.open()->begin_trial(study, Tree::dict());
    storage->set_parameters(record, {{"p", value}}, {{"p", distribution, std::nullopt}},
                            Tree::dict());
  };
  with(samplers::IntDistribution{1, 4, 1, false}, 2);
  with(samplers::IntDistribution{2, 9, 1, false}, 8);
  const std::string message = message_of(Fault::file, [&] {
    with(samplers::FloatDistribution{0, 1, std::nullopt, false}, 0.5);
  });
  CHECK(message.find("trial 2") != std::string::npos);
  CHECK(message.find("'p'") != std::string::npos);
  CHECK(message.find("IntDistribution") != std::string::npos);
  CHECK(storage->trials(study)[2].trial.params.empty());
}

TEST_CASE("an enqueued trial is claimed before new ones begin, oldest first") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  storage->enqueue(study, json(R"({"x": 0.25, "c": "a"})"), json(R"({"from": "user"})"));
  storage->enqueue(study, json(R"({"x": 0.5})"), Tree::dict());
  const Record first = *storage->begin_trial(study, json(R"({"batch": 1})"));
  CHECK(first.trial.number == 0);
  CHECK(to_json(first.trial.attributes.at("fixed_params"), -1) == R"({"x":0.25,"c":"a"})");
  CHECK(first.trial.attributes.at("batch") == Tree(1));
  CHECK(first.user.at("from") == Tree("user"));
  CHECK(first.start);
  CHECK(storage->begin_trial(study, Tree::dict())->trial.number == 1);
  CHECK(storage->begin_trial(study, Tree::dict())->trial.attributes.find("fixed_params") ==
        nullptr);
}

TEST_CASE("trials come in ascending number, and new and changed ones are seen") {
  const TestDatabase database;
  const auto storage = database.open(), other = database.open();
  const Study study = minimize(*storage);
  CHECK(storage->trials(study).empty());
  std::vector<Record> begun;
  for (int i = 0; i < 5; ++i) begun.push_back(*other->begin_trial(study, Tree::dict()));
  CHECK(storage->trials(study).size() == 5);
  for (const int i : {3, 1, 4}) CHECK(other->finish(begun[i].id, complete(i)));
  other->enqueue(study, Tree::dict(), Tree::dict());
  const std::vector<Record>& seen = storage->trials(study);
  REQUIRE(seen.size() == 6);
  for (std::size_t i = 0; i < seen.size(); ++i)
    CHECK(seen[i].trial.number == static_cast<std::int64_t>(i));
  CHECK(seen[4].trial.values == std::vector<double>{4});
  CHECK(seen[0].trial.state == TrialState::running);
  CHECK(seen[5].trial.state == TrialState::waiting);
  CHECK(other->finish(begun[0].id, complete(0)));
  CHECK(storage->trials(study)[0].trial.state == TrialState::complete);
}

TEST_CASE("studies of one database number their trials separately") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study one = minimize(*storage, "one"), two = minimize(*storage, "two");
  for (int i = 0; i < 3; ++i) {
    CHECK(storage->begin_trial(one, Tree::dict())->trial.number == i);
    CHECK(storage->begin_trial(two, Tree::dict())->trial.number == i);
  }
  CHECK(storage->trials(two).size() == 3);
}

TEST_CASE("more trials than one query reads come back whole") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  const int count = 1100;  // two full chunks of the reader and a part
  for (int i = 0; i < count; ++i) {
    const Record record = *storage->begin_trial(study, Tree::dict());
    storage->set_parameters(record, {{"x", i / 2048.0}}, test::unit_space(), Tree::dict());
    REQUIRE(storage->finish(record.id, complete(i)));
  }
  const auto other = database.open();
  const std::vector<Record>& records = other->trials(study);
  REQUIRE(records.size() == count);
  for (int i = 0; i < count; ++i) {
    REQUIRE(records[i].trial.values == std::vector<double>{double(i)});
    REQUIRE(records[i].trial.params.at("x") == i / 2048.0);
  }
}

TEST_CASE("who only chooses trials keeps no attributes that do not decide, and can ask for them") {
  const TestDatabase database;
  const auto storage = database.open();
  const Study study = minimize(*storage);
  Tree system = Tree::dict();
  system[worker_attribute] = "me";
  Outcome outcome = complete(1);
  outcome.user["note"] = 7;
  outcome.system["constraints"] = parse_json("[0.5]", "test");
  const auto lean = database.open();
  lean->leave_out_attributes();
  const Record record = *storage->begin_trial(study, system);
  CHECK(lean->trials(study).at(0).trial.attributes.find(worker_attribute));
  storage->finish(record.id, outcome);
  const Record& kept = lean->trials(study).at(0);
  CHECK(kept.user.size() == 0);
  CHECK_FALSE(kept.trial.attributes.find(worker_attribute));
  CHECK(kept.trial.violation == 0.5);
  CHECK(lean->user_attributes(kept).at("note") == Tree(7));

  CHECK(storage->take_trials(study).at(0).user.at("note") == Tree(7));
  CHECK(storage->trials(study).at(0).trial.attributes.at(worker_attribute) == Tree("me"));
}

TEST_CASE("a deleted study leaves no row behind, and the others as they are") {
  const TestDatabase database;
  const auto storage = database.open();
  for (const char* name : {"kept", "deleted"}) {
    const Study study = storage->create_study(name, {Direction::minimize}, json(R"({"a": 1})"),
                                              json(R"({"b": 2})"));
    const Record record = *storage->begin_trial(study, json(R"({"c": 3})"));
    storage->set_parameters(record, {{"x", 0.5}}, test::unit_space(), Tree::dict());
    storage->report(record.id, 1, 0.25);
    storage->finish(record.id, complete(0.5));
    storage->begin_trial(study, Tree::dict());
  }
  const auto count = [&](const std::string& table) {
    return std::get<std::int64_t>(database.raw()->query("SELECT COUNT(*) FROM " + table)[0][0]);
  };
  const std::vector<std::string> tables{"studies",
                                        "study_directions",
                                        "study_user_attributes",
                                        "study_system_attributes",
                                        "trials",
                                        "trial_params",
                                        "trial_system_attributes",
                                        "trial_heartbeats",
                                        "trial_values",
                                        "trial_intermediate_values"};
  std::vector<std::int64_t> before;
  for (const std::string& table : tables) before.push_back(count(table));
  database.open()->delete_study(*storage->find_study("deleted"));
  for (std::size_t i = 0; i < tables.size(); ++i) {
    INFO(tables[i]);
    CHECK(before[i] >= 2);
    CHECK(2 * count(tables[i]) == before[i]);
  }
  REQUIRE(database.open()->studies().size() == 1);
  const Study kept = database.open()->studies()[0];
  CHECK(kept.name == "kept");
  const auto again = database.open();
  REQUIRE(again->trials(kept).size() == 2);
  CHECK(again->trials(kept)[0].trial.values == std::vector{0.5});
}

}  // namespace
}  // namespace mase::storage
