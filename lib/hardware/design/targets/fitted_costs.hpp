// SPDX-License-Identifier: Apache-2.0
// The numbers in the costs of modules that do not follow from the structure, but are fitted to what
// synthesis counts.
#pragma once

#include <array>

namespace mase::design {

/// LUTs, where nothing else is said. `scripts/bench/calibrate.py bench_module_cost MODULE` compares
/// the costs of a module with Yosys; each group says which modules show it.
struct FittedCosts {
  // Numbers: mase_binary, mase_argmax, mase_concat.
  double choice_bit;               ///< the larger or the smaller of two numbers
  double comparison_bit;           ///< of the same without the choice
  double constant_comparison_bit;  ///< of a comparison with one constant: mase_quantize
  double threshold_carry_bit;      ///< chains of one with any of several constants
  double counter_bit;              ///< a counter's step, end and start again

  // Tables in LUTs, and those that a host may write: mase_lookup, mase_embedding.
  double table_choice, table_choice_share;  ///< at least so many, or a part of a column's LUTs
  double reload, reload_piece;              ///< for a memory; for 32 bits of its words
  double embedding_counter_bit;

  // Sums of products: mase_linear, mase_depthwise, mase_matmul.
  double product_bit;        ///< of one operand, for each bit of the other
  double float_product_bit;  ///< of the product of two significands of short codes
  double float_shift_bit, float_exponent_bit;  ///< of its shift; of the sum of their exponents
  double float_number_shift_bit;               ///< of the shift of a number's product
  std::array<double, 3> decode_bit;            ///< of the number of a code of 6, 7 and 8 bits
  double two_words, two_words_booth;  ///< parts of all LUTs, where weights stand in two words
  double marks;                       ///< of the first and the last step of a row
  std::array<double, 5> known;        ///< of a lane of a packed product with so many known bits
  double known_registers;             ///< of each of them
  double known_carry;                 ///< chains of a lane, for more than two
  double matrix_address_bit;          ///< of the writer of a matrix

  // Shifts: mase_channel_shift.
  std::array<double, 5> shifter;  ///< of a bit that is shifted by a distance of so many bits
  double long_shifter;            ///< for each bit of a longer distance
  double block_rest_bit;          ///< of whether a bit was lost: mase_block_shift
  std::array<double, 4> leading;  ///< of a bit that zeros in front shift: mase_octave_pieces

  // Streams: mase_fifo, mase_gather, mase_stream_resize.
  double queue_bit, queue;              ///< for each bit of an address, and for all
  double short_queue_bit, short_queue;  ///< the same, up to 15 beats
  double gather_bit, gather;            ///< for each bit of a place, and for all
  double regroup_bit;                   ///< of the count of lanes that are there

  // Windows: mase_window, mase_pool, mase_reduce.
  double distance_bit;           ///< between the reader and the writer of a ring
  double ring_address_bit;       ///< for each bit of an address, three times where it does not wrap
  double window_counter_bit;     ///< of the loops of a window
  double window, padded_window;  ///< for all
  double zero_bit;               ///< of a partial sum in a memory
  double maximum_bit;            ///< of a partial maximum
  double kept_maximum_bit, kept_maximum;  ///< of one in a memory; for each lane
};

}  // namespace mase::design
