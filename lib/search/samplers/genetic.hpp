// SPDX-License-Identifier: Apache-2.0
// The common part of NSGA-II and NSGA-III: generations taken from a history, parents and children.
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

/// The options that NSGA-II and NSGA-III share.
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

/// A trial from which the children of a generation descend.
struct Parent {
  std::size_t place;  ///< index in the list that it was chosen from
  int rank;           ///< the parent with the lower rank wins a tournament,
  double spread;      ///< or, for equal ranks, the one with the wider spread
};

/// Members are the complete trials, from any source, with one value per objective and a value of
/// the first dimension, in ascending number. With population size P, member i belongs to generation
/// i / P (rounded down), and so does the requested trial, as if it came after all members.
/// Generation 0 has no parents, and its trials are random. The parents of generation g are chosen
/// from the parents and the members of generation g - 1. If a parent lacks a parameter, the other
/// parent or chance supplies it.
class GeneticSampler : public Sampler {
 public:
  /// `name` is Optuna's name of the sampler, for the attribute "<name>:generation".
  GeneticSampler(const Problem& problem, const GeneticOptions& options, std::string name);
  Suggestion suggest(const History& history, std::int64_t number) final;

 protected:
  /// Selects the best `population_size` points of at least as many.
  virtual std::vector<Parent> select(std::span<const Point> points,
                                     std::span<const double> violations, std::size_t count,
                                     Random& random) const = 0;
  const Problem& problem() const { return problem_; }

 private:
  using Members = std::vector<const Trial*>;
  /// The data of a member that selection used. Parents stay valid as long as it does not change.
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
  std::vector<std::vector<Parent>> parents_;  ///< parents of generation i, as far as needed
};

}  // namespace mase::samplers
