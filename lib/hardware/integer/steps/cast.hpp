// SPDX-License-Identifier: Apache-2.0
// The step that changes types only.
#pragma once

namespace mase::integer {

/// Type change only: also relu, relu6, hardtanh and clamp where they are not part of another step.
struct Cast {};

}  // namespace mase::integer
