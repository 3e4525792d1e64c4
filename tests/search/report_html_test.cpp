// SPDX-License-Identifier: Apache-2.0
// The page of a study: well-formed, self-contained and escaped for any names and any number of
// trials.
#include <catch2/catch.hpp>
#include <cmath>

#include "result_study.hpp"
#include "search/results/report_charts.hpp"
#include "support/infinity.hpp"

namespace mase::search {
namespace {

using mase::test::infinity;

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-'; }

/// Reads a page as XML: tags balanced, attributes quoted and not repeated, references known.
class Checker {
 public:
  explicit Checker(const std::string& text) : text_(text) {}

  std::string complaint() {
    if (!take("<!DOCTYPE html>")) return "no document type";
    while (at_ < text_.size() && complaint_.empty()) {
      if (text_[at_] == '<')
        tag();
      else
        character();
    }
    if (complaint_.empty() && !open_.empty()) complaint_ = "open at the end: " + open_.back();
    return complaint_;
  }

 private:
  bool take(const std::string& wanted) {
    if (text_.compare(at_, wanted.size(), wanted) != 0) return false;
    at_ += wanted.size();
    return true;
  }
  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    if (begin == at_) complain("a name expected");
    return text_.substr(begin, at_ - begin);
  }
  void complain(const std::string& what) {
    if (complaint_.empty()) complaint_ = what + " before: " + text_.substr(at_, 60);
  }
  void character() {
    const char c = text_[at_];
    if (c == '<' || (c >= 0 && c < ' ' && c != '\n' && c != '\t')) return complain("bad character");
    if (c != '&') {
      ++at_;
      return;
    }
    for (const char* known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
      if (take(known)) return;
    complain("unknown reference");
  }
  void tag() {
    ++at_;
    if (take("/")) {
      const std::string closed = name();
      if (open_.empty() || open_.back() != closed) return complain("closed too early: " + closed);
      open_.pop_back();
      if (!take(">")) complain("'>' expected");
      return;
    }
    open_.push_back(name());
    std::vector<std::string> attributes;
    while (complaint_.empty() && take(" ")) attribute(attributes);
    if (take("/>"))
      open_.pop_back();
    else if (!take(">"))
      complain("end of the tag expected");
  }
  void attribute(std::vector<std::string>& seen) {
    const std::string key = name();
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) complain("repeated: " + key);
    seen.push_back(key);
    if (!take("=\"")) return complain("a quoted value expected");
    while (complaint_.empty() && at_ < text_.size() && text_[at_] != '"') character();
    if (!take("\"")) complain("an open attribute");
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  std::string complaint_;
};

std::string complaint_of(const std::string& page) { return Checker(page).complaint(); }

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
    ++found;
  return found;
}

bool has(const std::string& text, const std::string& what) { return count(text, what) > 0; }

/// `objectives` metrics m0, m1, ...; every third trial infeasible, every tenth failed.
StudyResult study_of(std::size_t objectives, int trials) {
  StudyResult result = small_study();
  result.options.goals.clear();
  result.problem.directions.clear();
  result.problem.space.clear();
  for (std::size_t i = 0; i < objectives; ++i) {
    result.options.goals.push_back({"m" + std::to_string(i), 1, Direction::minimize});
    result.problem.directions.push_back(Direction::minimize);
  }
  for (int i = 0; i < 24; ++i)
    result.problem.space.push_back(
        widths_dimension("layer" + std::to_string(i) + "/config/weight_width"));
  for (int n = 0; n < trials; ++n) {
    if (n % 10 == 9) {
      add_failed(result, "no");
      continue;
    }
    storage::Record& record = add_trial(result, {0.5, 4, n % 3 == 2 ? 1.0 : 0.0});
    record.trial.values.clear();
    for (std::size_t i = 0; i < objectives; ++i)
      record.trial.values.push_back(std::sin(n * (static_cast<double>(i) + 1.3)));
  }
  return result;
}

}  // namespace

TEST_CASE("the checker of this test finds what is wrong") {
  CHECK(complaint_of("<!DOCTYPE html>\n<p class=\"a\">x &amp; y<br/></p>\n").empty());
  for (const char* wrong : {"<p>", "<p></q>", "<p a=b></p>", "<p>&nbsp;</p>", "<p>&</p>",
                            "<p a=\"<\"></p>", "<p a=\"1\" a=\"2\"></p>", "<p>\x01</p>"})
    CHECK_FALSE(complaint_of(std::string("<!DOCTYPE html>") + wrong).empty());
}

TEST_CASE("the page is well-formed and refers to nothing outside") {
  const std::string page = report_html(six_trials());
  CHECK(complaint_of(page).empty());
  for (const char* outside : {"http:", "https:", "//", "src=", "href=", "url(", "@import"})
    CHECK_FALSE(has(page, outside));
  for (const char* part :
       {"<h2>Pareto set</h2>", "<h2>History</h2>", "<h2>Pareto front</h2>",
        "<h2>Importance of the parameters</h2>", "<h2>Choices of the best trials</h2>",
        "<h2>Trials</h2>", "prefers-color-scheme: dark", "<dd>6: 6 complete</dd>", "<dd>7</dd>"})
    CHECK(has(page, part));
  CHECK(page == report_html(six_trials()));
}

TEST_CASE("hostile names stay text") {
  StudyResult result = small_study();
  const std::string evil = hostile_name;
  result.name = evil;
  result.options.spaces = {{evil, {}, Tree::dict(), {}}};
  result.options.setup.sampler = evil;
  result.options.goals[0].metric = evil;
  result.baseline[evil] = 1.0;
  result.problem.space = {
      {evil, samplers::CategoricalDistribution{{Tree(evil), Tree("\xFF\x01\"><")}}, std::nullopt}};
  for (int i = 0; i < 6; ++i) {
    storage::Record& record = add_trial(result, {0.5 + 0.05 * i, 4.0 + i});
    record.trial.params[evil] = i % 2;
    record.user["software_metrics"][evil] = evil;
  }
  add_failed(result, evil);
  const std::string page = report_html(result);
  CHECK(complaint_of(page).empty());
  CHECK_FALSE(has(page, "<script>alert"));
  CHECK(count(page, "<script") == 1);
  CHECK(has(page, "&lt;script&gt;alert(1)&lt;/script&gt;"));
}

TEST_CASE("a page of any study is well-formed: no trials, failures only, one to four objectives") {
  CHECK(complaint_of(report_html(small_study())).empty());
  StudyResult failures = small_study();
  for (int i = 0; i < 3; ++i) add_failed(failures, "cannot open the data");
  CHECK(complaint_of(report_html(failures)).empty());
  CHECK(has(report_html(failures), "<dd>3: 3 fail</dd>"));
  for (std::size_t objectives = 1; objectives <= 4; ++objectives) {
    const std::string page = report_html(study_of(objectives, 40));
    CHECK(complaint_of(page).empty());
    CHECK(count(page, "aria-label=\"history of") == objectives);
    // Pairs of the first three objectives: none, one, three, three.
    CHECK(count(page, " against m") / 2 == (objectives < 3 ? objectives - 1 : 3));
  }
}

TEST_CASE("the page of a thousand trials stays below two megabytes") {
  const std::string page = report_html(study_of(4, 1000));
  CHECK(complaint_of(page).empty());
  CHECK(page.size() < 2000000);
  CHECK(count(page, "<td>COMPLETE</td>") == 900);
}

TEST_CASE("of very many trials the table shows the newest and says so") {
  const std::string page = report_html(study_of(1, 5010));
  CHECK(complaint_of(page).empty());
  CHECK(has(page, "The newest 5000 of 5010 trials; trials.csv has all."));
  CHECK_FALSE(has(page, "<tr><td>8</td><td>COMPLETE"));
  CHECK(has(page, "<tr><td>5008</td><td>COMPLETE"));
}

TEST_CASE("trials that had an earlier one's results are marked, and say whose") {
  StudyResult result = six_trials();
  CHECK_FALSE(has(report_html(result), "repeats an earlier trial"));
  storage::Record& again = add_trial(result, {0.80, 4});
  again.trial.attributes[storage::repeats_attribute] = 1;
  const std::string page = history_figures(result);
  CHECK(has(page, "repeats an earlier trial"));
  const std::string marks = page.substr(page.find("dots repeated"));
  CHECK(count(marks.substr(0, marks.find("</g>")), "<circle") == 1);
  CHECK(has(marks, "<title>trial 6: 0.8 (as trial 1)</title>"));
}

TEST_CASE("a line goes through the choices and objectives of every completed trial") {
  StudyResult result = six_trials();
  add_failed(result, "no");
  const std::string page = parallel_figure(result);
  CHECK(count(page, "<path class=\"line ") == 6);
  CHECK(count(page, "class=\"line best\"") == 3);
  CHECK(count(page, "class=\"line infeasible\"") == 1);
  CHECK(has(page, "<title>trial 5: accuracy 0.85, average_bitwidth 8</title>"));
  // Four axes: 8, 2, 4 of trials 0, 1, 2 stand at the top, the bottom and half way.
  CHECK(count(page.substr(0, page.find("class=\"lines\"")), "rotate(-50") == 4);
  const auto y = [&](int trial) {
    const std::string title = "<title>trial " + std::to_string(trial) + ":";
    const std::string path = page.substr(0, page.find(title));
    const std::string start = path.substr(path.rfind("d=\"M60 ") + 7);
    return std::stod(start);
  };
  CHECK(y(1) - y(0) == Approx(240));
  CHECK(y(2) - y(0) == Approx(120));
  CHECK(parallel_figure(small_study()) == "");
}

TEST_CASE("every worker has a row, every thread of it that works beside others its own") {
  StudyResult result = six_trials();
  CHECK(workers_figure(result) == "");
  for (storage::Record& record : result.trials) {
    Tree& worker = record.trial.attributes[storage::worker_attribute] = Tree::dict();
    worker["host"] = record.trial.number < 4 ? "alpha" : "beta<";
    worker["pid"] = 7;
  }
  // Trials 0 and 1 of alpha at once.
  result.trials[1].start = result.trials[0].start;
  const std::string page = workers_figure(result);
  for (const char* row : {">alpha 7<", ">alpha 7 (2)<", ">beta&lt; 7<"}) CHECK(has(page, row));
  CHECK(count(page, "<rect") == 6);
  CHECK(has(page, "<title>trial 2: 0.25 s</title>"));
}

TEST_CASE("the best trial's bits stand before those of the float model") {
  StudyResult result = six_trials();
  CHECK_FALSE(has(report_html(result), "Formats of the best trial"));
  result.leading_bits = {{"fc1", "weight", "integer(4, 2)", 4, 32},
                         {"fc2", "bias", "float32", 32, 32}};
  const std::string page = bits_figure(result);
  CHECK(has(page, "Trial 5: bits"));
  CHECK(has(page, "<title>4 bits, integer(4, 2)</title>"));
  const auto width = [&](std::size_t from) {
    const std::size_t at = page.find("width=\"", page.find("<rect", from)) + 7;
    return std::stod(page.substr(at));
  };
  const std::size_t whole = page.find("<rect"), own = page.find("<rect", whole + 1);
  CHECK(width(own) == Approx(width(whole) / 8));
  result.confirmed = {"On the 9 test rows", {"Trial", "accuracy"}, {{"5", "88.89 %"}}, ""};
  const std::string all = report_html(result);
  CHECK(complaint_of(all).empty());
  CHECK(has(all, "<h2>On the 9 test rows</h2>"));
}

TEST_CASE("a value that is a metric stands once in the table, and few trials tell no importance") {
  const std::string page = report_html(six_trials());
  CHECK_FALSE(has(page, "<th>values_0</th>"));
  CHECK(has(page, "<th>values_1</th>"));  // half of the bits
  CHECK(has(importance_figures(six_trials()), "once 20 trials have completed"));
  CHECK_FALSE(has(importance_figures(study_of(1, 30)), "from 20 completed"));
}

TEST_CASE("values that are not finite do not reach the charts") {
  StudyResult result = six_trials();
  result.trials[0].trial.values[1] = infinity;
  result.trials[0].user["hardware_metrics"]["average_bitwidth"] = infinity;
  result.trials[2].user["software_metrics"]["accuracy"] = -infinity;
  const std::string charts = history_figures(result) + pareto_figures(result);
  CHECK_FALSE(has(charts, "inf\""));
  CHECK_FALSE(has(charts, "nan"));
}

TEST_CASE("infeasible trials are grey and count neither as best nor as front") {
  const std::string page = history_figures(six_trials());
  const std::size_t grey = page.find("dots infeasible");
  CHECK(page.substr(grey, 200).find("trial 3: 0.95") != std::string::npos);
  const std::string pareto = pareto_figures(six_trials());
  const std::string front = pareto.substr(pareto.find("dots best"));
  CHECK(count(front, "<circle") == 3);
  CHECK_FALSE(has(front, "trial 3:"));
}

TEST_CASE("choices are shaded by their order as numbers, not by their place in the list") {
  // Choices 8, 2, 4 of trials 0, 1, 2: shades 0.06 + 0.54 * {1, 0, 0.5}.
  StudyResult result = small_study();
  result.options.goals = {{"accuracy", 1.0, Direction::maximize},
                          {"average_bitwidth", 0.5, Direction::minimize}};
  for (const double x : {0.9, 0.8, 0.7}) add_trial(result, {x, 10 * x});
  const std::string map = choices_figure(result);
  const std::size_t first = map.find("fill-opacity=\"0.60\"");
  const std::size_t second = map.find("fill-opacity=\"0.06\"");
  const std::size_t third = map.find("fill-opacity=\"0.33\"");
  CHECK(first < second);
  CHECK(second < third);
  CHECK(third != std::string::npos);
  CHECK(has(map, "<title>trial 1: fc2/config/width = 2</title>"));
}

}  // namespace mase::search
