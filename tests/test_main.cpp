// SPDX-License-Identifier: Apache-2.0
// The one place that compiles Catch2's main.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
