// SPDX-License-Identifier: Apache-2.0
// How the blocks of a block format lie on a port when the user has left it open.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/format.hpp"

namespace mase::passes {

/// How the blocks of a tensor lie: the values of the fields with these names.
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
/// | functions | any | 3 | true | |
/// | functions | any | >= 4 | true | 3 |
///
/// Layers are ops with parameters or a window (linear, recurrent, norms, pooling, embedding,
/// attention); the state of a recurrent layer is data. Functions are all other ops: arithmetic,
/// products of two activations, activation functions. (formats.md, section 3(a); these are the
/// blocks of the reference system.)
BlockLayout block_layout(std::string_view op, std::string_view port, std::size_t rank);

/// True when the port decides a format's field: it is a field of BlockLayout, and `given`, the
/// fields that the user has set, leaves it open.
bool is_open_layout(const Tree& given, const std::string& field);

/// `format` with its port's layout in those of its fields that `given` leaves open.
formats::Format with_block_layout(const formats::Format& format, const Tree& given,
                                  const std::string& op, const std::string& port, std::size_t rank);

}  // namespace mase::passes
