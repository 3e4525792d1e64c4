// SPDX-License-Identifier: Apache-2.0
// The kernels of block formats in profile reference.
#include "formats/block/block_reference_kernel.hpp"

#include "formats/block/block_loop.hpp"
#include "formats/minifloat/reference_op.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;
using Vec = Simd::Vec;
using Bits = Simd::Bits;

/// `value`, or NaN when the tile is NaN.
MASE_SIMD Vec in_tile(Vec value, Vec nothing) {
  return Simd::select_less(nothing, Simd::all(1.0F), value, nothing);
}

struct ReferenceBlockFp {
  static constexpr std::size_t factors = reference_factor_count;
  static constexpr bool is_long = true;
  Vec unit, step, addend;

  MASE_SIMD static ReferenceBlockFp of(const ReferenceBlockGrid& grid) {
    return {Simd::all(grid.unit), Simd::all(1.0F / grid.unit), Simd::all(grid.addend)};
  }
  MASE_SIMD Vec operator()(Vec x, const Lanes<factors>& tile) const {
    const Vec epsilon = Simd::all(reference_epsilon);
    const Vec power = tile.factor[reference_top];
    const Vec lifted = Simd::add(Simd::floats(simd::magnitude_bits(x)), epsilon);
    const Vec magnitude = whole_units(Simd::mul(Simd::div(lifted, power), unit), unit);
    const Vec value =
        Simd::mul(Simd::mul(lifted_sign(x, epsilon), power), Simd::mul(magnitude, step));
    return in_tile(mixed(x, Simd::add(value, addend)), tile.factor[reference_nothing]);
  }
};

struct ReferenceBlockMinifloat {
  static constexpr std::size_t factors = reference_factor_count;
  static constexpr bool is_long = true;
  OnReferenceMinifloat<true> element;
  Bits span;
  Vec addend;

  MASE_SIMD static ReferenceBlockMinifloat of(const ReferenceBlockGrid& grid) {
    return {OnReferenceMinifloat<true>::of(grid.carries, grid.unit), Simd::all_bits(grid.span),
            Simd::all(grid.addend)};
  }
  MASE_SIMD Vec operator()(Vec x, const Lanes<factors>& tile) const {
    const Bits top = Simd::bits(tile.factor[reference_top]);
    const Vec value = Simd::add(element(x, Simd::sub_bits(top, span), top), addend);
    return in_tile(value, tile.factor[reference_nothing]);
  }
};

struct ReferenceBlockLog {
  static constexpr std::size_t factors = reference_zeta + 1;
  static constexpr bool is_long = true;
  OnReferenceLog element;
  Bits span;
  Vec addend;

  MASE_SIMD static ReferenceBlockLog of(const ReferenceBlockGrid& grid) {
    return {{grid.carries}, Simd::all_bits(grid.span), Simd::all(grid.addend)};
  }
  MASE_SIMD Vec operator()(Vec x, const Lanes<factors>& tile) const {
    const Bits top = Simd::bits(tile.factor[reference_top]);
    const Vec zeta = tile.factor[reference_zeta];
    const Vec value = Simd::add(element(x, zeta, Simd::sub_bits(top, span), top), addend);
    return in_tile(value, tile.factor[reference_nothing]);
  }
};

template <class Op>
MASE_SIMD_TARGET void on_strip(const ReferenceBlockGrid& grid, const Strip& strip,
                               const TileFactors& factors) {
  apply_tiles(Op::of(grid), strip, factors);
}

}  // namespace

const ReferenceBlockKernels MASE_KERNELS_OF(reference_block_kernels){
    on_strip<ReferenceBlockFp>, on_strip<ReferenceBlockMinifloat>, on_strip<ReferenceBlockLog>};

}  // namespace mase::formats::kernels
