// SPDX-License-Identifier: Apache-2.0
// The parameters that the modules of sliding windows share.
#pragma once

#include <cstdint>
#include <tuple>

#include "hardware/design/design.hpp"

namespace mase::design {

/// An image whose pixels come in so many beats, and a window that slides over it. Other parameters
/// stand between the fields of the image and those of the window.
struct WindowGeometry {
  std::int64_t height = 4, width = 4, beats = 1;
  std::int64_t kernel_y = 2, kernel_x = 2, stride_y = 1, stride_x = 1;
  std::int64_t dilation_y = 1, dilation_x = 1, pad_y = 0, pad_x = 0, out_y = 3, out_x = 3;
  bool operator==(const WindowGeometry&) const = default;

  static constexpr auto image_fields() {
    using G = WindowGeometry;
    return std::tuple{Field{"H", &G::height, "rows of an image"}.at_least(1),
                      Field{"W", &G::width, "pixels of a row"}.at_least(1),
                      Field{"CF", &G::beats, "beats of a pixel"}.at_least(1)};
  }
  static constexpr auto window_fields() {
    using G = WindowGeometry;
    return std::tuple{
        Field{"KH", &G::kernel_y, "rows of a window"}.at_least(1),
        Field{"KW", &G::kernel_x, "pixels of a window's row"}.at_least(1),
        Field{"SH", &G::stride_y, "rows from one window to the next"}.at_least(1),
        Field{"SW", &G::stride_x, "pixels from one window to the next"}.at_least(1),
        Field{"DY", &G::dilation_y, "rows from one row of a window to the next"}.at_least(1),
        Field{"DX", &G::dilation_x, "pixels from one of a window to the next"}.at_least(1),
        Field{"PH", &G::pad_y, "rows of padding above; a negative number leaves rows out"},
        Field{"PW", &G::pad_x, "pixels of padding on the left; a negative number leaves some out"},
        Field{"OH", &G::out_y, "rows of windows"}.at_least(1),
        Field{"OW", &G::out_x, "windows of a row"}.at_least(1)};
  }

  integer::Axis y() const { return {height, kernel_y, stride_y, dilation_y, pad_y, out_y}; }
  integer::Axis x() const { return {width, kernel_x, stride_x, dilation_x, pad_x, out_x}; }
};

WindowGeometry window_geometry(const integer::Window& window, std::int64_t beats);
/// The windows over the stream of a step's input, with its lanes; `name` is the step's.
Stream window_stream(const Stream& in, const std::string& name, const integer::Window& window);

}  // namespace mase::design
