// SPDX-License-Identifier: Apache-2.0
// Compares what a format makes of a tensor with what it makes of its own values, piece by piece.
#include "driver/settled_format.hpp"

#include <atomic>
#include <cmath>
#include <functional>
#include <vector>

#include "base/error.hpp"
#include "formats/strips.hpp"

namespace mase::driver {
namespace {

using formats::Format;
using formats::Piece;
using formats::Pieces;
using formats::Strips;

/// Some elements of a tensor, as one row of float32.
using Elements = std::function<Array(std::int64_t first, std::int64_t count)>;

bool accepts(const Format& format, const Shape& shape) {
  try {
    format.check(shape);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Whether each element's value depends on that element alone, and is its own value in the format:
/// a number on a grid that is not chosen from the tensor.
bool is_on_fixed_grid(const Format& format, const Shape& shape) {
  const formats::FormatRow* row = formats::find_format(format.name());
  return row && !row->calibrated.empty() && format.rows_together(shape) == 0 &&
         format.decoding(shape) && format.fields().at("profile").as_string() == "exact";
}

/// The largest finite magnitude of a tensor.
float peak_of(const Pieces& pieces, const Elements& elements) {
  std::vector<float> peaks(pieces.count());
  for_each_index(pieces.count(), threads_for(pieces), [&] {
    return [&](std::size_t i) {
      const Piece piece = pieces.at(i);
      const Array values = elements(piece.first, piece.size());
      for (const float value : values.span<float>())
        if (std::isfinite(value)) peaks[i] = std::max(peaks[i], std::fabs(value));
    };
  });
  return peaks.empty() ? 0 : std::ranges::max(peaks);
}

/// The format with what follows from the tensor.
Format given_peak(const Format& format, const Pieces& pieces, const Elements& elements) {
  if (!format.of_peak(1)) return format;
  return *format.of_peak(peak_of(pieces, elements));
}

void quantize_in_place(const Format& format, Array& values) {
  format.quantize(values.span<float>(), values.mutable_span<float>(), values.shape());
}

bool is_unchanged_by(const Format& format, const Array& values) {
  Array again = Array::uninitialized(DType::float32, values.shape());
  format.quantize(values.span<float>(), again.mutable_span<float>(), values.shape());
  return again.same_bits(values);
}

bool same_codes(const formats::Encoded& a, const formats::Encoded& b) {
  return a.codes == b.codes && a.shared == b.shared && std::ranges::equal(a.scales, b.scales);
}

/// Whether a reader sees no difference, from all strips of a tensor together.
struct Agreement {
  std::atomic<bool> values = true, codes = true;
  std::atomic<bool> coded = true;  ///< false if there is a NaN, or the format is without codes

  bool holds() const { return values && (codes || !coded); }
};

/// A strip of a tensor and what the format makes of it.
class Settling {
 public:
  Settling(const Format& format, const Array& stored, std::int64_t elements)
      : format_(format),
        shape_(stored.shape()),
        elements_(elements),
        flat_(stored.reshaped({stored.size()})),
        given_(given_peak(format, Pieces(shape_, elements), before_from(0))),
        pieces_(given_, shape_, elements) {}

  const Format& given() const { return given_; }

  /// Whether a reader of rows gets the same from the quantized tensor as from the tensor.
  void compare(const std::pair<std::int64_t, std::int64_t>& rows, Agreement& agreement) const {
    Shape shape = shape_;
    const bool all = shape.empty() || rows.second == shape.front();
    if (!all) shape.front() = rows.second;
    if (!accepts(format_, shape)) {
      agreement.values = false;
      return;
    }
    const std::int64_t first = all ? 0 : rows.first * (flat_.size() / shape_.front());
    const Elements before = before_from(first), after = after_from(first);
    const Pieces plain(shape, elements_);
    const Format read = all ? given_ : given_peak(format_, plain, before);
    compare_pieces(Pieces(read, shape, elements_), before, read, after,
                   given_peak(format_, plain, after), !all, agreement);
  }

 private:
  Elements before_from(std::int64_t start) const {
    return [this, start](std::int64_t first, std::int64_t count) {
      return flat_.rows(start + first, count).to_float32();
    };
  }
  Elements after_from(std::int64_t start) const {
    return [this, start](std::int64_t first, std::int64_t count) {
      const Piece piece = pieces_.around(start + first, count);
      Array values = piece.values(flat_);
      quantize_in_place(pieces_.format_of(given_, piece), values);
      const Array row = values.reshaped({values.size()});
      return row.size() == count ? row : row.rows(start + first - piece.first, count);
    };
  }

  /// Whether `read` makes of the elements before what `again` makes of those after, which are these
  /// values. Without `compares_values` the elements after are known to be what `read` makes.
  static void compare_pieces(const Pieces& pieces, const Elements& before, const Format& read,
                             const Elements& after, const Format& again, bool compares_values,
                             Agreement& agreement) {
    for_each_piece(pieces, 0, pieces.count(), [&](const Piece& piece) {
      if (!agreement.values) return;
      Array old = before(piece.first, piece.size()).reshaped(piece.shape);
      const Array values = after(piece.first, piece.size()).reshaped(piece.shape);
      const Format first = pieces.format_of(read, piece), second = pieces.format_of(again, piece);
      try {
        if (!same_codes(first.encode(old.span<float>(), old.shape()),
                        second.encode(values.span<float>(), values.shape())))
          agreement.codes = false;
      } catch (const Error&) {  // NaN, or a format without codes
        agreement.coded = false;
      }
      if (!is_unchanged_by(second, values)) agreement.values = false;
      if (!compares_values) return;
      quantize_in_place(first, old);
      if (!old.same_bits(values)) agreement.values = false;
    });
  }

  const Format& format_;
  Shape shape_;
  std::int64_t elements_;  ///< of a piece
  Array flat_;
  Format given_;  ///< with what follows from the tensor
  Pieces pieces_;
};

}  // namespace

std::optional<Format> settled_format(const ir::TensorReaders& readers, const Format& format,
                                     const Array& stored, std::int64_t elements) {
  if (!accepts(format, stored.shape())) return std::nullopt;
  if (is_on_fixed_grid(format, stored.shape())) return format;
  const Strips strips(format, stored.shape(), strip_elements(elements));
  std::vector<Agreement> agreements(readers.parts.size());
  std::optional<Format> given;  // by a single strip; with several nothing follows from the tensor
  for_each_strip(strips, [&](std::size_t i) {
    const Settling settling(format, strips.take(stored, i), elements);
    auto agreement = agreements.begin();
    for (const auto& rows : readers.parts) settling.compare(rows, *agreement++);
    if (strips.count() == 1) given = settling.given();
  });
  if (!std::ranges::all_of(agreements, &Agreement::holds)) return std::nullopt;
  return given ? given : format;
}

}  // namespace mase::driver
