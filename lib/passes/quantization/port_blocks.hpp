// SPDX-License-Identifier: Apache-2.0
// How the blocks of a block format lie on a port, where the user left it open.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/format.hpp"

namespace mase::passes {

/// How the blocks of a tensor lie: the fields of the same names.
struct BlockLayout {
  bool skip_first_dim = false;
  std::optional<int> max_rank;
  bool operator==(const BlockLayout&) const = default;
};

/// The layout for a tensor of this rank on a port of `op`.
///
/// | op | port | rank | skip_first_dim | max_rank |
/// |---|---|---|---|---|
/// | any | any | 0, 1 | false | |
/// | convolutions | data, weight | 3 | true | |
/// | convolutions | data, weight | >= 4 | true, over dimensions 0 and 1 together | 3 |
/// | other layers | data | >= 2 | true | |
/// | other layers | parameters | >= 2 | false | |
/// | functions | any | 2 | false | |
/// | functions | any | >= 3 | true | 3 |
///
/// Layers are what has parameters or a window (linear, recurrent, norms, pooling, embedding,
/// attention); the state of a recurrent layer is data. Functions are the rest: arithmetic, products
/// of two activations, activation functions. (formats.md, section 3(a); the blocks of the reference
/// system.)
BlockLayout block_layout(std::string_view op, std::string_view port, std::size_t rank);

/// Whether the port decides a format's field: one of those above that `given`, what the user set,
/// leaves open.
bool is_open_layout(const Tree& given, const std::string& field);

/// `format` with the layout of its port in the fields that it has and `given` leaves open.
formats::Format with_block_layout(const formats::Format& format, const Tree& given,
                                  const std::string& op, const std::string& port, std::size_t rank);

}  // namespace mase::passes
