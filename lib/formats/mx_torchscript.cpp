#include "formats/mx_spans.hpp"
namespace mase::formats {
std::string mx_torchscript(const MxSpec&, std::int64_t, int, int) { return ""; }
std::string mx_tiles_torchscript(const MxSpec&, std::span<const int>, int) { return ""; }
}
