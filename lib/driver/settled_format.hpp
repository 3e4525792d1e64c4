// SPDX-License-Identifier: Apache-2.0
// Whether a tensor may be stored quantized: its readers, who quantize it once more, must not
// notice.
#pragma once

#include <optional>

#include "driver/tensor_pieces.hpp"
#include "ir/tensor_readers.hpp"

namespace mase::driver {

/// The format that gives pieces of the tensor `stored`, of any floating type, the values of
/// `format`, which is without chance. nullopt if some reader gets other values or codes from those
/// than from the tensor, or if the tensor cannot have the format. Pieces have about `elements`.
std::optional<formats::Format> settled_format(const ir::TensorReaders& readers,
                                              const formats::Format& format, const Array& stored,
                                              std::int64_t elements = piece_elements());

}  // namespace mase::driver
