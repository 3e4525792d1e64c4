// SPDX-License-Identifier: Apache-2.0
// Sliding windows over images, and what they are reduced to.
#pragma once

#include <cstdint>
#include <string>

namespace mase::integer {

/// One dimension of a sliding window, in pixels: tap k of window o is pixel
/// o * stride + k * dilation - pad, which may lie outside of the image.
struct Axis {
  std::int64_t size = 1;  ///< of the image
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t pad = 0;  ///< before the image; negative: pixels that are left out
  std::int64_t out = 1;  ///< windows
  bool operator==(const Axis&) const = default;

  std::int64_t reach() const { return (kernel - 1) * dilation + 1; }  ///< first to last tap
  std::int64_t last() const { return (out - 1) * stride; }  ///< first tap of the last, plus pad
  bool padded() const { return pad > 0 || last() + reach() - pad > size; }
  /// Every pixel lies in one window, but those that are left over behind the last.
  bool tiles() const {
    return kernel == stride && dilation == 1 && pad == 0 && out == size / kernel;
  }
  bool passes() const { return kernel == 1 && stride == 1 && pad == 0 && out == size; }
};

/// A sliding window over [y.size, x.size, channels]; in one dimension x is as it is by default.
struct Window {
  Axis y, x;
  std::int64_t channels = 1;
  bool operator==(const Window&) const = default;

  std::int64_t kernel() const { return y.kernel * x.kernel; }
  std::int64_t pixels() const { return y.size * x.size; }
  std::int64_t places() const { return y.out * x.out; }

  /// f(y, x) for every output pixel in raster order: the input place of its first tap, which
  /// padding can put outside of the image.
  template <class F>
  void for_each_place(F&& f) const {
    for (std::int64_t row = 0; row < y.out; ++row)
      for (std::int64_t column = 0; column < x.out; ++column)
        f(row * y.stride - y.pad, column * x.stride - x.pad);
  }

  /// f(pixel, k) for every tap inside the image of the window whose first tap is (row, column):
  /// pixels in raster order, taps as well.
  template <class F>
  void for_each_tap(std::int64_t row, std::int64_t column, F&& f) const {
    for (std::int64_t ky = 0, a = row; ky < y.kernel; ++ky, a += y.dilation) {
      if (a < 0 || a >= y.size) continue;
      for (std::int64_t kx = 0, b = column; kx < x.kernel; ++kx, b += x.dilation)
        if (b >= 0 && b < x.size) f(a * x.size + b, ky * x.kernel + kx);
    }
  }
};

/// "3x3 stride 1x1 pad 1x1".
std::string window_text(const Window& window);

/// What a window is reduced to.
enum class PoolKind { max, sum };

}  // namespace mase::integer
