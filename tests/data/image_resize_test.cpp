// SPDX-License-Identifier: Apache-2.0
// Resized images. The arrays NAME_SIZE.npy are torchvision's, of Resize(SIZE) and then
// CenterCrop(SIZE) on Pillow's image: bilinear, antialiased.
#include "data/image_resize.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/npy.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::data;

TEST_CASE("a resized image differs from torchvision's by 1 of 255 at most") {
  for (const std::string name : {"colour.jpg", "grey.jpg"})
    for (const std::int64_t size : {7, 18, 31}) {  // smaller, cut only, larger
      INFO(name << " " << size);
      const std::string path = MASE_TEST_FOLDER "/fixtures/images/" + name;
      std::string stored = path;
      std::replace(stored.end() - 4, stored.end(), '.', '_');
      const Array expected = read_npy(stored + "_" + std::to_string(size) + ".npy");
      const Image image = resize_and_crop(read_image(path), size);
      CHECK(image.height == size);
      CHECK(image.width == size);
      REQUIRE(static_cast<std::int64_t>(image.pixels.size()) == expected.size());
      int worst = 0;
      for (std::size_t i = 0; i < image.pixels.size(); ++i)
        worst = std::max(worst, std::abs(image.pixels[i] - expected.span<std::uint8_t>()[i]));
      CHECK(worst <= 1);
    }
}

TEST_CASE("halves of an image are means under a triangle") {
  // Around its centre 1, the new pixel's triangle reaches 2 pixels: weights 3, 3, 1 of 7 on the
  // first three. Those of the other are 1, 3, 3 of the last three.
  const Image row{1, 2, 4, {70, 0, 140, 210, 70, 0, 140, 210}};
  CHECK(resize_and_crop(row, 1).pixels == std::vector<std::uint8_t>{50});
  // The middle of an odd rest: (4 - 1) / 2 = 1.5 is rounded to 2.
  CHECK(resize_and_crop(Image{1, 1, 4, {1, 2, 3, 4}}, 1).pixels == std::vector<std::uint8_t>{3});
  // A size that an image has already keeps its pixels, the middle ones.
  CHECK(resize_and_crop(Image{1, 2, 4, {1, 2, 3, 4, 5, 6, 7, 8}}, 2).pixels ==
        std::vector<std::uint8_t>{2, 3, 6, 7});
}
