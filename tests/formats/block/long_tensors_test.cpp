// SPDX-License-Identifier: Apache-2.0
// Codes of tensors that are longer than what is decoded at a time, with tiles of any length.
#include <catch2/catch.hpp>
#include <vector>

#include "base/random.hpp"
#include "formats/format.hpp"

using namespace mase;
using namespace mase::formats;

TEST_CASE("codes of long tensors decode to the values for tiles of any length") {
  for (const char* text :
       {"mxint8", "mxint4(block_size=7)", "mxfp4(block_size=5000)", "mxfp6_e2m3(block_size=6001)",
        "mxint(12)", "mxint8(block_dim=0)", "nvfp4(block_size=9)", "block_fp(5, 8)",
        "block_fp(11, 8, block_size=[-1])", "block_minifloat(6, 3, 8, block_size=[3000])",
        "block_log(8, 8, block_size=[4097])", "mxfp8_e5m2(rounding=stochastic)"})
    for (const Shape& shape : {Shape{3, 5000}, Shape{1, 12289}, Shape{2, 4096}}) {
      INFO(text << " " << shape_text(shape));
      Random random(5);
      std::vector<float> in(static_cast<std::size_t>(numel(shape)));
      for (float& value : in) value = static_cast<float>(random.normal());
      const Format format = parse_format(text);
      std::vector<float> values(in.size()), decoded(in.size());
      format.quantize(in, values, shape);
      format.decode(format.encode(in, shape), decoded, shape);
      CHECK((decoded == values));
    }
}
