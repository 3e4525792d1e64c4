// SPDX-License-Identifier: Apache-2.0
// The processes of a command that does not train: bytes over their ProcessGroup.
#pragma once

#include <memory>

#include "backend/ranks.hpp"
#include "base/companions.hpp"

namespace mase::train {

/// Meets the other processes. Error(Fault::file) names the place where they do not come.
std::unique_ptr<Companions> meet_companions(const backend::Ranks& ranks);

}  // namespace mase::train
