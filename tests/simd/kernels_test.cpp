// SPDX-License-Identifier: Apache-2.0
// The sets of this machine, and which table of a kernel a set gets.
#include "simd/kernels.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace mase::simd;

TEST_CASE("an instruction set without a table gets the best table that it can run") {
  const int portable = 0, avx2 = 1, last = 2;
  const Kernels<int, Isa::avx512> floats{&portable, &avx2, &last};
  CHECK(floats(Isa::portable) == portable);
  CHECK(floats(Isa::avx2) == avx2);
  CHECK(floats(Isa::avx512) == last);
  CHECK(floats(Isa::avx512_vnni) == last);
  const Kernels<int, Isa::avx512_vnni> integers{&portable, &avx2, &last};
  CHECK(integers(Isa::avx512) == avx2);
  CHECK(integers(Isa::avx512_vnni) == last);
}

TEST_CASE("the sets of this machine begin with the portable one and end with the best") {
  for (const auto& isas : {float_isas, integer_isas}) {
    const std::vector<Isa> available = available_isas(isas);
    CHECK(available.front() == Isa::portable);
    CHECK(std::is_sorted(available.begin(), available.end()));
    CHECK(available.back() <= best_isa());
  }
  CHECK(is_available(best_isa()));
  CHECK(isa_name(Isa::avx512_vnni) == "avx512_vnni");
}
