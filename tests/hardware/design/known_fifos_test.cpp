// SPDX-License-Identifier: Apache-2.0
// Sizes that are known from a design with the same handshakes are those that a new search finds.
#include "hardware/design/building/known_fifos.hpp"

#include <catch2/catch.hpp>

#include "hardware/design/build.hpp"
#include "hardware/design/building/size_fifos.hpp"
#include "hardware/design/timing/predict.hpp"
#include "programs.hpp"

using namespace mase;
using namespace mase::design;
using mase::test::ProgramMaker;
using mase::test::square;
using mase::test::structure;

namespace {

/// A convolution and two linears, whose streams have `bits` bits.
std::shared_ptr<const integer::Program> chain(int bits) {
  ProgramMaker maker;
  const auto x = maker.input("x", {6, 6, 2}, {bits, 0, true});
  const auto y = maker.convolution("conv", x, square(6, 2, 3), 4);
  const auto z = maker.linear("fc1", y, 64, 24);
  maker.output(maker.linear("fc2", z, 24, 6));
  return maker.share();
}

void size_afresh(Design& design) {
  size_fifos(design);
  if (design.timing.interval == 0) design.timing = predict(design);
}

/// Whether a design was sized by a search.
bool searched(Design& design) {
  bool called = false;
  size_as_known(design, best_interval(design), [&](Design& sized) {
    called = true;
    size_afresh(sized);
  });
  return called;
}

void check_as_afresh(const Design& design, Design afresh) {
  size_afresh(afresh);
  CHECK(structure(design) == structure(afresh));
  CHECK(fifo_depths(design) == fifo_depths(afresh));
  CHECK(design.timing.first == afresh.timing.first);
  CHECK(design.timing.last == afresh.timing.last);
  CHECK(design.timing.interval == afresh.timing.interval);
}

}  // namespace

TEST_CASE("a design with the handshakes of an earlier one is sized as that one") {
  const Folding folding{{"conv", {2, 2}}, {"fc1", {4, 3}}, {"fc2", {2, 2}}};
  const Folding other{{"conv", {2, 4}}, {"fc1", {8, 3}}, {"fc2", {3, 1}}};
  Design first = assemble(chain(8), folding);
  REQUIRE(!first.fifos().empty());
  CHECK(searched(first));
  for (const int bits : {8, 5, 3}) {
    Design again = assemble(chain(bits), folding);
    const Design before = again;
    CHECK(!searched(again));
    check_as_afresh(again, before);
  }
  Design folded = assemble(chain(8), other);
  const Design before = folded;
  CHECK(searched(folded));
  check_as_afresh(folded, before);
}
