/* SPDX-License-Identifier: Apache-2.0
 * What a host needs to feed a design through its AXI wrapper: floats to codes, codes to the bytes of AXI4-Stream
 * and back, the registers of mase_axi_control, and transfers by AMD's AXI DMA (PG021) in direct register mode.
 * C99, no memory of its own, no system calls. */
#ifndef MASE_HOST_H
#define MASE_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers at `from` and above it (beyond: above it only) get a code, up to those of the next level. */
typedef struct {
  float from;
  int beyond;
  int64_t code;
} mase_level;

/* Elements of a frame whose blocks share a scale, from `least` to `greatest`. Scale n has mantissa n mod m of m mantissas
 * and exponent e = n div m; a block has at least that scale where its greatest magnitude reaches the turn of the mantissa
 * times 2^e (beyond: where it is above it), or n is `least`. Block after block, by the tensor's order. */
typedef struct {
  float from;
  int beyond;
} mase_turn;

typedef struct {
  const uint32_t* elements;
  const uint32_t* ends; /* of each block, in `elements` */
  size_t count;
  int least, greatest;
  int mantissas;
  const mase_turn* turns; /* of each mantissa */
} mase_blocks;

/* A stream at the border. A frame is `beats` beats of `lanes` elements; element i of the stream is element order[i]
 * of the tensor in row-major order (order NULL: i). A code c stands for c / 2^fraction_bits, times scales[i mod
 * scale_count] for element i of the stream where there are scales. */
typedef struct {
  const char* name;
  size_t beats, lanes;
  unsigned element_bits;          /* at most 62 */
  unsigned lane_bits, beat_bytes; /* in TDATA: bits from one element to the next, bytes of a beat */
  int is_signed;
  int fraction_bits;
  int rounding; /* floats become codes: 0 to the nearest, ties to even; 1 down; 2 to the nearest, ties away from 0 */
  const uint32_t* order;
  int64_t mask_codes; /* least codes that no number gets; masks of attention, from -2^100 down, get the first one */
  const mase_level* levels; /* of an element format, ascending; NULL: all codes are used */
  size_t level_count;
  /* NULL: none; levels are then those of exponent 0, of one mantissa after the other, level_count each, and their codes
   * those of the exponent of scale `least` */
  const mase_blocks* blocks;
  const double* scales; /* NULL: none; an input has one at most, a float */
  size_t scale_count;
} mase_stream;

size_t mase_elements(const mase_stream* stream);    /* of a frame */
size_t mase_frame_bytes(const mase_stream* stream); /* of a frame in memory */

/* One frame. Values beyond the range get its bounds; NaN gets the code of 0, and so do all values of a block with NaN
 * or an infinite one. */
void mase_quantize(const mase_stream* stream, const float* values, int64_t* codes);
void mase_dequantize(const mase_stream* stream, const int64_t* codes, float* values);
/* One frame between codes in the tensor's order and mase_frame_bytes bytes. */
void mase_pack(const mase_stream* stream, const int64_t* codes, uint8_t* bytes);
void mase_unpack(const mase_stream* stream, const uint8_t* bytes, int64_t* codes);

/* 32-bit registers at byte offsets: memory-mapped ones by mase_mapped, others by functions of your own. */
typedef struct {
  void* context;
  uint32_t (*read)(void* context, uint32_t offset);
  void (*write)(void* context, uint32_t offset, uint32_t value);
} mase_registers;
mase_registers mase_mapped(volatile void* address);

/* Offsets of mase_axi_control. */
enum {
  MASE_ID = 0x00,
  MASE_VERSION = 0x04,
  MASE_DESIGN = 0x08,
  MASE_STATUS = 0x0c,
  MASE_CONTROL = 0x10,
  MASE_TRANSFER = 0x14,
  MASE_FRAMES_IN = 0x18,
  MASE_FRAMES_OUT = 0x1c,
  MASE_CYCLES = 0x20,
  MASE_CYCLES_HIGH = 0x24,
  /* Of designs whose weights can be replaced: */
  MASE_RELOAD_PLACE = 0x28,
  MASE_RELOAD_WORD = 0x2c,
  MASE_RELOAD_STATUS = 0x30,
  MASE_WEIGHTS = 0x34
};

enum {
  MASE_OK = 0,
  MASE_NOT_MASE = -1,      /* no mase_axi_control at these registers, or one of another version */
  MASE_OTHER_DESIGN = -2,  /* the bitstream holds another design than the header */
  MASE_STREAM_ERROR = -3,  /* an input saw a TLAST inside a frame, or bytes were missing */
  MASE_DMA_ERROR = -4,     /* the DMA stopped with an error */
  MASE_TIMEOUT = -5,       /* not done after so many looks */
  MASE_BAD_IMAGE = -6,     /* no image of weights, or a damaged one */
  MASE_BUSY = -7           /* frames are in the design */
};
const char* mase_message(int result);

/* Checks that the registers belong to the design `number` (MASE_DESIGN_NUMBER of its header), resets the design and
 * clears its status. */
int mase_open(mase_registers control, uint32_t number);
/* Frames between two TLAST of the outputs: how many a receiving transfer takes. While nothing moves. */
void mase_set_transfer(mase_registers control, uint32_t frames);
/* MASE_STREAM_ERROR when an input was wrong since the last look; clears that. */
int mase_check(mase_registers control);
uint64_t mase_cycles(mase_registers control);

/* Replaces the weights by those of an image that `mase emit --reload-image` wrote for this design: its 32-bit words, low
 * byte first. All frames must have come out: MASE_BUSY says that some have not, and nothing is written then, nor for
 * images that are damaged or of another design. The design is held in reset meanwhile, so that the counters begin anew;
 * no transfer into it may be under way. Takes one write of a register per word. */
int mase_reload(mase_registers control, const uint32_t* image, size_t words);
/* The number of the weights that were loaded last; 0: those of the bitstream. All ones: loading has not ended. */
uint32_t mase_weights(mase_registers control);

/* `bytes` bytes at the physical address go to (come from) the stream; both return at once. */
void mase_send(mase_registers dma, uint64_t address, uint32_t bytes);
void mase_receive(mase_registers dma, uint64_t address, uint32_t bytes);
/* Until sending (receiving) is done: `looks` times at most. */
int mase_wait_sent(mase_registers dma, uint64_t looks);
int mase_wait_received(mase_registers dma, uint64_t looks);

#ifdef __cplusplus
}
#endif
#endif
