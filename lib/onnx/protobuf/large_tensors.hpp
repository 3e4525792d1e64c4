// SPDX-License-Identifier: Apache-2.0
// Parses a model without copying its large tensors.
#pragma once

#include <string_view>
#include <vector>

#include "onnx/protobuf/proto.hpp"

namespace mase::onnx {

/// Where the values of each initializer are; `size` 0 for those inside of its message.
using RawPlaces = std::vector<RawBytes>;

/// Parses the bytes of a model into `model`. The raw_data of large initializers of its graph are
/// left out, and their places in `bytes` returned. False when the bytes are damaged.
bool parse_model(std::string_view bytes, proto::ModelProto& model, RawPlaces& places);

}  // namespace mase::onnx
