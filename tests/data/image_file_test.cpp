// SPDX-License-Identifier: Apache-2.0
// Image files as pixels. The arrays of tests/fixtures/images are Pillow 13.0.0's: of every file F,
// numpy.asarray(Image.open(F).convert("RGB")), and of grey files, convert("L").
#include "data/image_file.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/npy.hpp"
#include "support/message_of.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::message_of;

namespace {

const std::string fixtures = MASE_TEST_FOLDER "/fixtures/images/";

}  // namespace

TEST_CASE("decoded pixels are those of Pillow") {
  for (const std::string name :
       {"colour.jpg", "grey.jpg", "colour.png", "palette.png", "alpha.png", "bits.png"}) {
    INFO(name);
    std::string stored = name;
    std::ranges::replace(stored, '.', '_');
    const Array expected = read_npy(fixtures + stored + ".npy");
    const Image image = read_image(fixtures + name);
    CHECK(image.height == 18);
    CHECK(image.width == 26);
    CHECK(image.channels == (expected.shape().size() == 3 ? 3 : 1));
    CHECK(std::ranges::equal(image.pixels, expected.span<std::uint8_t>()));
  }
}

TEST_CASE("an image that is cut short or no image is named") {
  for (const std::string name : {"colour.jpg", "colour.png"}) {
    const std::string bytes = read_file(fixtures + name);
    for (const std::size_t size : {bytes.size() / 2, bytes.size() - bytes.size() / 4})
      CHECK_THAT(message_of(Fault::file, [&] { decode_image(bytes.substr(0, size), "a.x"); }),
                 Contains("a.x: cannot read this image: "));
  }
  CHECK_THAT(message_of(Fault::file, [] { decode_image("GIF89a", "a.png"); }),
             Contains("a.png") && Contains("neither a PNG nor a JPEG"));
}
