// SPDX-License-Identifier: Apache-2.0
// The rows of the sampler table. Each row is defined next to its algorithm.
#pragma once

#include "search/samplers/sampler.hpp"

namespace mase::samplers {

SamplerRow random_row();
SamplerRow grid_row();
SamplerRow tpe_row();
SamplerRow nsgaii_row();
SamplerRow nsgaiii_row();
SamplerRow qmc_row();
SamplerRow allocate_row();

/// Makes a row from a struct of options with fields() and a sampler made from (Problem, Options).
template <class SamplerType, class Options>
SamplerRow describe_sampler(std::string name, std::string doc) {
  return {std::move(name), std::move(doc), describe_fields<Options>(),
          [](const Tree& tree, Diagnostics& diagnostics) {
            Options options;
            read_fields(tree, options, diagnostics);
          },
          [](const Problem& problem, const Tree& tree) -> std::unique_ptr<Sampler> {
            Options options;
            Diagnostics diagnostics;
            read_fields(tree, options, diagnostics);
            diagnostics.throw_if_errors();
            return std::make_unique<SamplerType>(problem, options);
          }};
}

}  // namespace mase::samplers
