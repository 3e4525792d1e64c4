// SPDX-License-Identifier: Apache-2.0
// Catch2 after LibTorch's logging macros: both define CHECK, and the one of Catch2 must win. The
// build includes this file at the top of every source of tests/torch.
#pragma once

#include <c10/util/Logging.h>
#undef CHECK

#include <catch2/catch.hpp>
