// SPDX-License-Identifier: Apache-2.0
// Resized images. The arrays NAME_SIZE.npy are torchvision's, of Resize(SIZE) and then
// CenterCrop(SIZE) on Pillow's image: bilinear, antialiased.
#include "data/image_resize.hpp"

#include <algorithm>
#include <tuple>

#include "base/file.hpp"
#include "base/npy.hpp"
#include "data/resize_kernel.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::data;

TEST_CASE("a resized image has the pixels of torchvision's") {
  for (const std::string name : {"colour.jpg", "grey.jpg"})
    for (const std::int64_t size : {7, 18, 31}) {  // smaller, cut only, larger
      INFO(name << " " << size);
      const std::string path = MASE_TEST_FOLDER "/fixtures/images/" + name;
      std::string stored = path;
      std::replace(stored.end() - 4, stored.end(), '.', '_');
      const Array expected = read_npy(stored + "_" + std::to_string(size) + ".npy");
      const Image image = resize(read_image(path), {size});
      CHECK(image.height == size);
      CHECK(image.width == size);
      REQUIRE(static_cast<std::int64_t>(image.pixels.size()) == expected.size());
      CHECK(std::ranges::equal(image.pixels, expected.span<std::uint8_t>()));
    }
}

TEST_CASE("both sides are resized as torchvision's Resize((height, width)) does") {
  // Hashes of the pixels that torchvision 0.28 and Pillow 12.3 make.
  const std::tuple<std::string, ImageSize, std::string> stored[] = {
      {"colour.jpg", {7, 5}, "0202135fa4ae6638877f3c7b1321d886279e73ce0d632e5f65c6f64de0621135"},
      {"colour.jpg", {40, 9}, "41d153d929d8b415695deae3b3d682b16ecf61947734de559e3304d00740f878"},
      {"colour.jpg", {13, 31}, "0655c1c0f391d3febc65869e00515860a80d5c01295f02075a6447037ade8bff"},
      {"grey.jpg", {7, 5}, "af0fd2c5e2bd0f7a4bfe0d25cbcef4e429bb78773fd11199e697162bcb65348f"},
      {"grey.jpg", {40, 9}, "f481ce36fb3112af4345d18d07ab1edc47b268bb6eb28944b66666614c4015db"},
      {"grey.jpg", {13, 31}, "9703f9e4daba888115f698efabe62a7cfc3f2353931a7c51aca1bb38a1315f04"}};
  for (const auto& [name, size, hash] : stored) {
    INFO(name << " " << size.height << " x " << size.width);
    const Image image = resize(read_image(MASE_TEST_FOLDER "/fixtures/images/" + name), {size});
    CHECK(image.height == size.height);
    CHECK(image.width == size.width);
    CHECK(sha256({reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()}) ==
          hash);
  }
}

TEST_CASE("the middle is kept, and the other filter is Pillow's") {
  // Hashes of the pixels of Pillow 12.3: resize, then crop at round((size - kept) / 2).
  const std::tuple<std::string, Resizing, std::string> stored[] = {
      {"colour.jpg",
       {{20, 0, 13, 13}, false},
       "35a5865d655473ddd941ed47b6439f51151467a821b6715b796215a1863d2b5f"},
      {"colour.jpg",
       {{40, 9, 12, 7}, false},
       "a7a26570dd1c0c73e3c5a0642b73c254b8d238acd0e6a867fca8d00deafb8be6"},
      {"colour.jpg",
       {{13, 31}, true},
       "97d328687287db203cd1021e9c327fcf365d32b96305e565d6d8fcc74113c92e"},
      {"colour.jpg",
       {{5, 50}, true},
       "5e1bdd2e14d1ba6150e84bea074fdc5cf378d87aade01d620d8629753a7df2ff"},
      {"colour.jpg",
       {{40, 0, 31, 35}, true},
       "b9d440584dcf703b1b3dd603a9a694affd28db11c5e9ba96a01769d306bbb0ea"},
      {"colour.jpg",
       {{7, 0, 7, 7}, true},
       "6c0598006d2f3bc6cd1ce30e28d051aa69092ab26e072e2bd0b1f5f4de8736fc"},
      {"grey.jpg",
       {{20, 0, 13, 13}, false},
       "96c9acdd0008427b3cb17be66c172eb11580b5728d45bccdf84dafcb1039469c"},
      {"grey.jpg",
       {{40, 9, 12, 7}, false},
       "42f1e950fd0f28ec7e0d44faefdfedab7cc1923fb907cbfac9626c2a03431ebc"},
      {"grey.jpg",
       {{13, 31}, true},
       "0851e9c0fc9b40e5a32da62b9dfbda3e04853f0d8f07611f704b43c4f7c8d1aa"},
      {"grey.jpg",
       {{5, 50}, true},
       "162a9d2d3711ed842dc2da6666a38525c2f513cf41b61a59a6961f4662d866b0"},
      {"grey.jpg",
       {{40, 0, 31, 35}, true},
       "56a5ea01f99c0d951aeeaea8e6ff88372fc30eff8ffb71c0d4b552555396e4d5"},
      {"grey.jpg",
       {{7, 0, 7, 7}, true},
       "700403a1fc3b1f78d2acddc6789032638679397fa5ff4da40382a7496d560653"}};
  for (const auto& [name, resizing, hash] : stored) {
    INFO(name << " " << resizing.size.height << " x " << resizing.size.width);
    const Image image = resize(read_image(MASE_TEST_FOLDER "/fixtures/images/" + name), resizing);
    CHECK(sha256({reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()}) ==
          hash);
  }
}

TEST_CASE("a size is one number or two, and may have a middle") {
  FieldRules limits;
  limits.low = 1;
  limits.high = 4096;
  const auto read = [&](const Tree& tree) {
    ImageSize size;
    Diagnostics diagnostics;
    const bool good = size.read_field(tree, "image_size", limits, diagnostics);
    CHECK(good == !diagnostics.has_errors());
    return std::tuple(good, size.height, size.width);
  };
  CHECK(read(Tree(224)) == std::tuple(true, 224, 0));
  CHECK(read(Tree("24x320")) == std::tuple(true, 24, 320));
  CHECK(read(Tree("NA")) == std::tuple(true, 0, 0));
  for (const Tree& bad :
       {Tree("24x"), Tree("x"), Tree("0x5"), Tree("5000x5"), Tree("3x4x5"), Tree("1e2x5"),
        Tree("24"), Tree("224:256"), Tree("24x320:30"), Tree("8:"), Tree(":8"), Tree("9:8:7")})
    CHECK(read(bad) == std::tuple(false, 0, 0));
  CHECK(ImageSize{24, 320}.write_field() == Tree("24x320"));
  for (const std::string good : {"256:224", "256:224x200", "24x320:24x300", "24x320:20"}) {
    ImageSize size;
    Diagnostics diagnostics;
    CHECK(size.read_field(Tree(good), "image_size", limits, diagnostics));
    CHECK(size.write_field() == Tree(good));
  }
}

TEST_CASE("halves of an image are means under a triangle") {
  // Around its centre 1, the new pixel's triangle reaches 2 pixels: weights 3, 3, 1 of 7 on the
  // first three. Those of the other are 1, 3, 3 of the last three.
  const Image row{1, 2, 4, {70, 0, 140, 210, 70, 0, 140, 210}};
  CHECK(resize(row, {1}).pixels == std::vector<std::uint8_t>{50});
  // The middle of an odd rest: (4 - 1) / 2 = 1.5 is rounded to 2.
  CHECK(resize(Image{1, 1, 4, {1, 2, 3, 4}}, {1}).pixels == std::vector<std::uint8_t>{3});
  // A size that an image has already keeps its pixels, the middle ones.
  CHECK(resize(Image{1, 2, 4, {1, 2, 3, 4, 5, 6, 7, 8}}, {2}).pixels ==
        std::vector<std::uint8_t>{2, 3, 6, 7});
}

TEST_CASE("every instruction set resizes to the same pixels, and buffers hold no old image") {
  // 5 to 40 taps, in whole groups and not; the hashes above are of the best set.
  using namespace kernels;
  std::vector<std::uint8_t> row(300 * 3 + row_padding);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<std::uint8_t>(i * 89 + i / 7);
  for (const std::size_t groups : {1, 2, 10}) {
    std::vector<std::int32_t> first, weights;
    std::vector<std::int16_t> halves(20 * groups * 32, 0);
    for (std::size_t i = 0; i < 20; ++i) {
      first.push_back(static_cast<std::int32_t>(i * 13));
      for (std::size_t tap = 0; tap < groups * tap_group; ++tap) {
        const auto weight = static_cast<std::int32_t>((i * 7919 + tap * 104729) % 900000 / groups);
        weights.push_back(weight);
        for (std::size_t channel = 0; channel < 3; ++channel) {
          const std::size_t at =
              (i * groups + tap / 4) * 32 + tap % 4 / 2 * 8 + channel * 2 + tap % 2;
          halves[at] = static_cast<std::int16_t>(weight >> low_bits);
          halves[at + 16] = static_cast<std::int16_t>(weight % (1 << low_bits));
        }
      }
    }
    const RowTaps taps{first.data(), groups, weights.data(), halves.data()};
    std::vector<std::uint8_t> expected;
    for (std::size_t i = 0; i < 20; ++i)
      for (std::size_t channel = 0; channel < 3; ++channel) {
        std::int64_t sum = 1 << (fraction_bits - 1);
        for (std::size_t tap = 0; tap < groups * tap_group; ++tap)
          sum += std::int64_t{weights[i * groups * tap_group + tap]} *
                 row[(i * 13 + tap) * 3 + channel];
        expected.push_back(static_cast<std::uint8_t>(std::min<std::int64_t>(255, sum >> 22)));
      }
    for (const simd::Isa isa : simd::available_isas()) {
      INFO(simd::isa_name(isa) << ", " << groups << " groups");
      std::vector<std::uint8_t> out(60 + row_padding);
      resize_kernels(isa).colour_row(row.data(), taps, 20, out.data());
      CHECK(std::equal(expected.begin(), expected.end(), out.begin()));
    }
  }
  Resizer resizer({9});
  for (const std::string name : {"colour.jpg", "grey.jpg", "colour.png", "colour.jpg"}) {
    const Image image = read_image(MASE_TEST_FOLDER "/fixtures/images/" + name);
    const Image& resized = resizer(image);
    const Image alone = resize(image, {9});
    CHECK(resized.channels == alone.channels);
    CHECK(resized.pixels == alone.pixels);
  }
}
