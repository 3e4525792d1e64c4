// SPDX-License-Identifier: Apache-2.0
// Reads and writes distributions as Optuna's JSON, with its current and its deprecated names.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "search/samplers/distribution.hpp"

namespace mase::samplers {
namespace {

enum class Kind { real, integer, categorical };

struct Name {
  std::string_view text;
  Kind kind;
  std::string_view step_key = "step";  ///< the key of the step
  bool log = false;                    ///< implied by the name
};

constexpr std::array<Name, 11> names{{{"FloatDistribution", Kind::real},
                                      {"IntDistribution", Kind::integer},
                                      {"CategoricalDistribution", Kind::categorical},
                                      {"UniformDistribution", Kind::real},
                                      {"LogUniformDistribution", Kind::real, "step", true},
                                      {"DiscreteUniformDistribution", Kind::real, "q"},
                                      {"IntUniformDistribution", Kind::integer},
                                      {"IntLogUniformDistribution", Kind::integer, "step", true},
                                      {"float", Kind::real},
                                      {"int", Kind::integer},
                                      {"categorical", Kind::categorical}}};

/// Reads the attributes of a distribution. Every error names the origin and the kind.
class Reader {
 public:
  Reader(const Tree& attributes, const Name& name, const std::string& origin)
      : attributes_(attributes), name_(name), origin_(origin) {}

  Distribution read() const {
    if (name_.kind == Kind::categorical) return categorical();
    if (name_.kind == Kind::integer) return integer();
    return real();
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    file_error(origin_ + ": " + std::string(name_.text) + ": " + what);
  }

  double number(std::string_view key) const {
    const Tree* entry = attributes_.find(key);
    if (entry == nullptr || !entry->is_number() || !std::isfinite(entry->as_double()))
      bad(quote(key) + " must be a finite number");
    return entry->as_double();
  }

  std::int64_t whole(std::string_view key) const {
    const double value = number(key);
    if (attributes_.at(key).is_int()) return attributes_.at(key).as_int();
    if (std::nearbyint(value) != value || std::abs(value) > 0x1p53)
      bad(quote(key) + " must be an integer");
    return static_cast<std::int64_t>(value);
  }

  bool has(std::string_view key) const {
    const Tree* entry = attributes_.find(key);
    return entry != nullptr && !entry->is_null();
  }

  bool log() const {
    if (!has("log")) return name_.log;
    if (!attributes_.at("log").is_bool()) bad("\"log\" must be true or false");
    return attributes_.at("log").as_bool();
  }

  Distribution real() const {
    FloatDistribution d{number("low"), number("high"), std::nullopt, log()};
    if (has(name_.step_key)) d.step = number(name_.step_key);
    if (d.low > d.high) bad("\"low\" is above \"high\"");
    if (d.step && !(*d.step > 0)) bad("the step must be above 0");
    if (d.log && d.step) bad("a step and \"log\" exclude each other");
    if (d.log && d.low <= 0) bad("\"low\" must be above 0 where \"log\" is true");
    return d;
  }

  Distribution integer() const {
    IntDistribution d{whole("low"), whole("high"), 1, log()};
    if (has(name_.step_key)) d.step = whole(name_.step_key);
    if (d.low > d.high) bad("\"low\" is above \"high\"");
    if (d.step < 1) bad("the step must be at least 1");
    if (d.log && d.step != 1) bad("the step must be 1 where \"log\" is true");
    if (d.log && d.low < 1) bad("\"low\" must be at least 1 where \"log\" is true");
    return d;
  }

  Distribution categorical() const {
    const Tree* choices = attributes_.find("choices");
    if (choices == nullptr || !choices->is_list() || choices->size() == 0)
      bad("\"choices\" must be a list of at least one value");
    for (const Tree& choice : choices->as_list())
      if (choice.is_list() || choice.is_dict()) bad("a choice must be a scalar");
    return CategoricalDistribution{choices->as_list()};
  }

  const Tree& attributes_;
  const Name& name_;
  const std::string& origin_;
};

Tree named(std::string_view name, Tree attributes) {
  Tree out = Tree::dict();
  out["name"] = Tree(name);
  out["attributes"] = std::move(attributes);
  return out;
}

}  // namespace

Tree to_tree(const Distribution& distribution) {
  Tree attributes = Tree::dict();
  if (const auto* d = std::get_if<FloatDistribution>(&distribution)) {
    attributes["step"] = d->step ? Tree(*d->step) : Tree();
    attributes["low"] = d->low;
    attributes["high"] = d->high;
    attributes["log"] = d->log;
    return named("FloatDistribution", std::move(attributes));
  }
  if (const auto* d = std::get_if<IntDistribution>(&distribution)) {
    attributes["log"] = d->log;
    attributes["step"] = d->step;
    attributes["low"] = d->low;
    attributes["high"] = d->high;
    return named("IntDistribution", std::move(attributes));
  }
  attributes["choices"] = Tree(std::get<CategoricalDistribution>(distribution).choices);
  return named("CategoricalDistribution", std::move(attributes));
}

Distribution distribution_from(const Tree& tree, const std::string& origin) {
  const bool is_short = tree.find("type") != nullptr;
  const Tree* word = tree.find(is_short ? "type" : "name");
  const Tree* attributes = is_short ? &tree : tree.find("attributes");
  if (word == nullptr || !word->is_string() || attributes == nullptr || !attributes->is_dict())
    file_error(origin + ": a distribution must have \"name\" and \"attributes\", or else \"type\"");
  const auto name = std::find_if(names.begin(), names.end(), [&](const Name& entry) {
    return entry.text == word->as_string();
  });
  if (name == names.end())
    file_error(origin + ": the distribution " + quote(word->as_string()) + " is unknown");
  return Reader(*attributes, *name, origin).read();
}

}  // namespace mase::samplers
