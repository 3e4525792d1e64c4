// SPDX-License-Identifier: Apache-2.0
// Catch2 3 under the names of Catch2 2, which the tests use; the build adds this folder to the
// include path where it finds version 3 (Ubuntu 24.04).
#pragma once

#include <catch2/catch_all.hpp>

using Catch::Approx;

namespace Catch {

/// The text contains `part`. (In version 3 `Matchers::Contains` is about elements of ranges.)
inline auto Contains(const std::string& part) { return Matchers::ContainsSubstring(part); }
using Matchers::StartsWith;

}  // namespace Catch

#ifdef CATCH_CONFIG_MAIN
int main(int count, char* words[]) { return Catch::Session().run(count, words); }
#endif
