// SPDX-License-Identifier: Apache-2.0
// What NSGA-II and NSGA-III share: generations taken from a history, parents, and children.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "search/samplers/crossover.hpp"
#include "search/samplers/pareto.hpp"
#include "search/samplers/row_names.hpp"
#include "search/samplers/sampler.hpp"

namespace mase::samplers {

/// What NSGA-II and NSGA-III have in common.
struct GeneticOptions {
  int population_size = 50;
  std::string crossover = "uniform";
  double crossover_prob = 0.9;
  double swapping_prob = 0.5;
  std::optional<double> mutation_prob;
  static auto fields() {
    using O = GeneticOptions;
    return std::tuple{
        Field{"population_size", &O::population_size, "trials per generation"}.at_least(2),
        one_of_names(
            Field{"crossover", &O::crossover, "how numeric parameters of parents are mixed"}.one_of(
                "uniform"),
            crossover_names()),
        Field{"crossover_prob", &O::crossover_prob, "share of children with several parents"}
            .between(0, 1),
        Field{"swapping_prob", &O::swapping_prob, "share of parameters from the second parent"}
            .between(0, 1),
        Field{"mutation_prob", &O::mutation_prob,
              "share of parameters that are resampled; NA: 1 / number of parameters"}
            .between(0, 1)};
  }
};

/// One of the trials that a generation's children descend from.
struct Parent {
  std::size_t place;  ///< in the list that it was chosen from
  int rank;           ///< a parent of lower rank wins a tournament,
  double spread;      ///< of equal ranks the one of wider spread
};

/// Members are the complete trials with one value per objective and a value of the first dimension,
/// in ascending number, whoever made them. With population size P, member i belongs to generation
/// i / P (rounded down) and so does the trial asked for, as if it came after all of them. Parents
/// of generation 0 are none, and its trials are random; parents of generation g are chosen from
/// those of g - 1 together with the members of g - 1. What a parent lacks of the space, the other
/// parent gives, or chance.
class GeneticSampler : public Sampler {
 public:
  /// `name` is Optuna's, for the attribute "<name>:generation".
  GeneticSampler(const Problem& problem, const GeneticOptions& options, std::string name);
  Suggestion suggest(const History& history, std::int64_t number) final;

 protected:
  /// The `population_size` best of at least as many points.
  virtual std::vector<Parent> select(std::span<const Point> points,
                                     std::span<const double> violations, std::size_t count,
                                     Random& random) const = 0;
  const Problem& problem() const { return problem_; }

 private:
  using Members = std::vector<const Trial*>;
  /// What selection has seen of a member: parents are valid as long as this has not changed.
  struct Seen {
    std::int64_t number;
    std::vector<double> values;
    double violation;
  };

  Members members_of(std::span<const Trial> history, std::int64_t number) const;
  void forget_changed(const Members& members);
  const std::vector<Parent>& parents_of(std::size_t generation, const Members& members);
  std::vector<Parent> next_parents(std::size_t generation, const Members& members) const;
  std::vector<const Trial*> mates(const std::vector<Parent>& parents, const Members& members,
                                  Random& random) const;
  Params child(const std::vector<const Trial*>& mates, Random& random) const;
  Params mix_numbers(const std::vector<const Trial*>& mates, Random& random) const;
  Params crossed(const std::vector<Parent>& parents, const Members& members, Random& random) const;

  Problem problem_;
  GeneticOptions options_;
  std::string attribute_;
  const Crossover* crossover_;
  std::vector<Seen> seen_;
  std::vector<std::vector<Parent>> parents_;  ///< of generation i, as far as needed so far
};

}  // namespace mase::samplers
