// SPDX-License-Identifier: Apache-2.0
// Moves between layouts and their costs, beside numbers by hand.
#include "sharding/reshard.hpp"

#include <catch2/catch.hpp>

namespace mase::sharding {
namespace {

constexpr AxisSet none = 0, zero = only_axis(0), one = only_axis(1);

/// 2 x 4 devices; 10 bytes per second between machines, 100 within one.
Mesh mesh() {
  Mesh mesh;
  mesh.sizes = {2, 4};
  mesh.bandwidth = {10, 100};
  mesh.latency = {0.5, 0.25};
  return mesh;
}

Reshard way(const Layout& from, const Layout& to, const Shape& shape = {8, 16}) {
  const Mesh devices = mesh();
  Resharder resharder(devices);
  return resharder.find(from, to, shape, 4);
}

}  // namespace

TEST_CASE("collectives cost latency and a share of the bytes", "[sharding]") {
  CHECK(seconds_of(mesh(), Collective::all_gather, 1, 400) == Approx(0.25 + 0.75 * 4));
  CHECK(seconds_of(mesh(), Collective::all_reduce, 1, 400) == Approx(0.25 + 1.5 * 4));
  CHECK(seconds_of(mesh(), Collective::reduce_scatter, 0, 400) == Approx(0.5 + 0.5 * 40));
  CHECK(seconds_of(mesh(), Collective::all_to_all, 1, 400) == Approx(0.25 + 3.0 / 16 * 4 * 2));
  CHECK(seconds_of(mesh(), Collective::slice, 0, 400) == 0);
}

TEST_CASE("the cheapest way from one layout to another", "[sharding]") {
  const Layout whole{{none, none}, 0}, rows{{one, none}, 0}, columns{{none, one}, 0};
  const Layout sum{{none, none}, one};
  CHECK(way(whole, whole).moves.empty());
  CHECK(way(whole, rows).moves == std::vector<Move>{{Collective::slice, 1, 0, 0}});
  CHECK(way(rows, whole).moves == std::vector<Move>{{Collective::all_gather, 1, 0, 0}});
  CHECK(way(rows, whole).seconds == Approx(0.25 + 0.75 * 512 / 100));
  CHECK(way(rows, columns).moves == std::vector<Move>{{Collective::all_to_all, 1, 0, 1}});
  CHECK(way(sum, whole).moves == std::vector<Move>{{Collective::all_reduce, 1, 0, 0}});
  CHECK(way(sum, columns).moves == std::vector<Move>{{Collective::reduce_scatter, 1, 0, 1}});
}

TEST_CASE("an outer axis leaves a dimension after the inner one", "[sharding]") {
  // Parts lie in the order of the devices: part 2 of 8 is not within part 2 of 4.
  const Layout both{{zero | one}, 0}, inner{{one}, 0};
  CHECK(way(both, inner, {8}).moves == std::vector<Move>{{Collective::all_gather, 1, 0, 0},
                                                         {Collective::all_gather, 0, 0, 0},
                                                         {Collective::slice, 1, 0, 0}});
  // With a second dimension the inner axis waits there, and the parts are never gathered.
  const auto moves = way({{zero | one, none}, 0}, {{one, none}, 0}).moves;
  CHECK(moves == std::vector<Move>{{Collective::all_to_all, 1, 0, 1},
                                   {Collective::all_gather, 0, 0, 0},
                                   {Collective::all_to_all, 1, 1, 0}});
}

TEST_CASE("a sum is reduced within machines before it crosses them", "[sharding]") {
  // First 1/4 of the sums within a machine, then between machines, then the parts are gathered.
  const auto found = way({{none, none}, zero | one}, {{none, none}, 0}, {8, 1600});
  REQUIRE(found.moves.size() == 3);
  CHECK(found.moves[0].kind == Collective::reduce_scatter);
  CHECK(found.moves[1] == Move{Collective::all_reduce, 0, 0, 0});
  CHECK(found.moves[2].kind == Collective::all_gather);
  const double bytes = 8 * 1600 * 4;
  CHECK(found.seconds ==
        Approx(0.25 + 0.75 * bytes / 100 + 0.5 + bytes / 4 / 10 + 0.25 + 0.75 * bytes / 100));
}

TEST_CASE("the words of layouts are those of the reference system", "[sharding]") {
  CHECK(words({{none, zero, one, zero | one}, 0}) ==
        std::vector<std::string>{"R", "S_0", "S_1", "S_01"});
  CHECK(text_of(Layout{{none, zero}, one}) == "[R, S_0] sum 1");
  CHECK(axes_of("S_01") == AxisSet{3});
  CHECK_FALSE(axes_of("S_2"));
  CHECK_FALSE(fits(mesh(), {{one, none}, 0}, {6, 8}));
  CHECK(part_shape(mesh(), {{zero, one}, 0}, {6, 8}) == Shape{3, 2});
}

}  // namespace mase::sharding
