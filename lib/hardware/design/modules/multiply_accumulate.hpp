// SPDX-License-Identifier: Apache-2.0
// hw_templates/matrix/mase_multiply_accumulate, the datapath of linear and depthwise: sums of
// products with the weights and biases of memories.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "hardware/design/design.hpp"
#include "hardware/design/modules/products.hpp"

namespace mase::design {

/// A group of parameters: the memories of a matrix.
struct MatrixImages {
  std::string weight_file = {}, bias_file = {};
  std::optional<std::int64_t> weight_base = std::nullopt, bias_base = std::nullopt;

  std::vector<HostImage> host_images() {
    return {{weight_file, &weight_base}, {bias_file, &bias_base}};
  }

  static constexpr auto fields() {
    return std::tuple{
        Field{"WEIGHT_FILE", &MatrixImages::weight_file, "image of the weights"},
        Field{"BIAS_FILE", &MatrixImages::bias_file, "image of the biases"},
        Field{"WEIGHT_BASE", &MatrixImages::weight_base, "where a host writes the weights"}
            .at_least(0),
        Field{"BIAS_BASE", &MatrixImages::bias_base, "where a host writes the biases"}.at_least(0)};
  }
};

struct MultiplyAccumulate : SumsOfProducts, Bias, MatrixImages {
  /// Bits of a word of the memory of weights.
  std::int64_t weight_word(const ProductShape& shape) const {
    return shape.pe * (shape.simd * weight_bits + weight_scale_bits());
  }

  static constexpr auto fields() {
    return std::tuple_cat(Operands::fields(), Bias::fields(), Requantisation::fields(),
                          Multiplication::fields(), Operands::weight_code_fields(),
                          std::tuple{Field{"UNIT", &MultiplyAccumulate::weight_unit,
                                           "bits that all products are shifted left by"}
                                         .at_least(0)},
                          PipelineStages::fields(), MatrixImages::fields());
  }
};

/// Without its skid.
Cost multiply_accumulate_cost(const Design& design, const MultiplyAccumulate& unit,
                              const ProductShape& shape);
Paths multiply_accumulate_paths(const MultiplyAccumulate& unit, const ProductShape& shape,
                                const Technology& technology);

}  // namespace mase::design
