// How the blocks of a block format lie on a port, where the user left it open.
#pragma once

#include <string>

#include "formats/format.hpp"

namespace mase::passes {

/// Whether the port decides a format's field: one of those below that `given` leaves open.
bool is_open_layout(const Tree& given, const std::string& field);

/// `format` with the layout of its blocks for a tensor of this rank on a port of `op`: the fields
/// `skip_first_dim` and `max_rank`, where the format has them and `given` (what the user set) does
/// not.
///
/// | op | port | rank | skip_first_dim | max_rank |
/// |---|---|---|---|---|
/// | any | any | 0, 1 | false | |
/// | convolutions | data, weight | 3 | true | |
/// | convolutions | data, weight | >= 4 | true: dimensions 0 and 1 become one | 3 for rank 4 |
/// | other layers | data | >= 2 | true | |
/// | other layers | parameters | >= 2 | false | |
/// | functions | any | 2 | false | |
/// | functions | any | >= 3 | true | 3 |
///
/// Layers are what has parameters or a window (linear, norms, pooling, embedding, attention);
/// functions are the rest: arithmetic, products of two activations, activation functions.
/// (formats.md, section 3(a); the blocks of the reference system.)
formats::Format with_block_layout(const formats::Format& format, const Tree& given,
                                  const std::string& op, const std::string& port, std::size_t rank);

}  // namespace mase::passes
