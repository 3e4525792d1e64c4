// SPDX-License-Identifier: Apache-2.0
// Windows of the program as parameters and as a stream.
#include "hardware/design/modules/window_geometry.hpp"

namespace mase::design {

WindowGeometry window_geometry(const integer::Window& window, std::int64_t beats) {
  const integer::Axis &y = window.y, &x = window.x;
  return {y.size,     x.size,     beats, y.kernel, x.kernel, y.stride, x.stride,
          y.dilation, x.dilation, y.pad, x.pad,    y.out,    x.out};
}

Stream window_stream(const Stream& in, const std::string& name, const integer::Window& window) {
  Stream out = in;
  out.name = name + "_window";
  out.value = -1;
  out.elements = window.places() * window.kernel() * window.channels;
  return out;
}

}  // namespace mase::design
