// SPDX-License-Identifier: Apache-2.0
// Unpacks codes into whole integers.
#include "driver/encoded_files.hpp"

#include <filesystem>

namespace mase::driver {
namespace {

Array codes_array(const formats::PackedCodes& packed, const Shape& shape) {
  const std::vector<std::uint32_t> codes = packed.unpack();
  const auto convert = [&]<class T>(T) {
    return Array::from(std::vector<T>(codes.begin(), codes.end()), shape);
  };
  if (packed.bits() <= 8) return convert(std::uint8_t{});
  if (packed.bits() <= 16) return convert(std::uint16_t{});
  return convert(std::uint32_t{});
}

std::string beside(const std::string& codes, const char* what) {
  std::filesystem::path path(codes);
  return path.replace_extension(std::string(".") + what + ".npy").string();
}

/// The shape of a list of `count` numbers.
Shape line(std::size_t count) { return {static_cast<std::int64_t>(count)}; }

}  // namespace

std::vector<EncodedFile> encoded_files(const formats::Format& format, const Array& values,
                                       const std::string& codes) {
  const formats::Encoded encoded = format.encode(values.span<float>(), values.shape());
  std::vector<EncodedFile> files{{"codes", codes, codes_array(encoded.codes, values.shape())}};
  if (!encoded.shared.empty())
    files.push_back({"shared", beside(codes, "shared"),
                     codes_array(encoded.shared, line(encoded.shared.size()))});
  if (!encoded.scales.empty())
    files.push_back({"scales", beside(codes, "scales"),
                     Array::from(encoded.scales, line(encoded.scales.size()))});
  return files;
}

}  // namespace mase::driver
