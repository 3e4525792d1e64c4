/* SPDX-License-Identifier: Apache-2.0 */
#include "mase_host.h"

#include <math.h>
#include <string.h>

size_t mase_elements(const mase_stream* stream) { return stream->beats * stream->lanes; }
size_t mase_frame_bytes(const mase_stream* stream) { return stream->beats * stream->beat_bytes; }

static size_t place_of(const mase_stream* stream, size_t element) {
  return stream->order ? stream->order[element] : element;
}

/* x * 2^fraction_bits is exact in double for every float; clamping to whole numbers before rounding is the same as
 * after it, and keeps |v| below 2^51 for codes of up to 51 bits, where adding 1.5 * 2^52 rounds to even. */
static double rounded(double v, int rounding) {
  const double no_fraction = 6755399441055744.0;
  volatile double sum = v + no_fraction;
  const double nearest = sum - no_fraction;
  if (rounding == 1) return nearest > v ? nearest - 1.0 : nearest;
  if (rounding == 2 && fabs(v - nearest) == 0.5) return v + copysign(0.5, v);
  return nearest;
}

static int reaches(float from, int beyond, double value) {
  return beyond ? value > (double)from : value >= (double)from;
}

/* The code of the highest of `count` levels that a value reaches; the first one is below all numbers. */
static int64_t level_of(const mase_level* levels, size_t count, double value) {
  size_t low = 0, high = count;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (reaches(levels[middle].from, levels[middle].beyond, value)) low = middle;
    else high = middle;
  }
  return levels[low].code;
}

static void quantize_to_levels(const mase_stream* stream, const float* values, int64_t* codes) {
  for (size_t i = 0; i < mase_elements(stream); ++i)
    /* 0 need not be a code: formats may lack it. */
    codes[i] = level_of(stream->levels, stream->level_count, isnan(values[i]) ? 0.0F : values[i]);
}

static int exponent_of(const mase_blocks* blocks, int scale) {
  const int count = blocks->mantissas;
  return scale >= 0 ? scale / count : -((count - 1 - scale) / count);
}

static int mantissa_of(const mase_blocks* blocks, int scale) {
  return scale - exponent_of(blocks, scale) * blocks->mantissas;
}

/* The scale of a block whose greatest magnitude is `peak`. */
static int scale_of(const mase_blocks* blocks, double peak) {
  int scale = blocks->least;
  for (; scale < blocks->greatest; ++scale) {
    const mase_turn* turn = &blocks->turns[mantissa_of(blocks, scale + 1)];
    if (!reaches(turn->from, turn->beyond, ldexp(peak, -exponent_of(blocks, scale + 1)))) break;
  }
  return scale;
}

static void quantize_blocks(const mase_stream* stream, const float* values, int64_t* codes) {
  const mase_blocks* const blocks = stream->blocks;
  for (size_t block = 0, first = 0; block < blocks->count; first = blocks->ends[block++]) {
    double peak = 0;
    int finite = 1;
    for (size_t i = first; i < blocks->ends[block]; ++i) {
      const double magnitude = fabs(values[blocks->elements[i]]);
      if (!isfinite(magnitude)) finite = 0;
      else if (magnitude > peak) peak = magnitude;
    }
    const int scale = scale_of(blocks, peak), exponent = exponent_of(blocks, scale);
    const int64_t unit = (int64_t)1 << (exponent - exponent_of(blocks, blocks->least));
    const mase_level* levels = stream->levels + (size_t)mantissa_of(blocks, scale) * stream->level_count;
    for (size_t i = first; i < blocks->ends[block]; ++i) {
      const double value = ldexp(values[blocks->elements[i]], -exponent);
      codes[blocks->elements[i]] = finite ? level_of(levels, stream->level_count, value) * unit : 0;
    }
  }
}

void mase_quantize(const mase_stream* stream, const float* values, int64_t* codes) {
  if (stream->blocks) {
    quantize_blocks(stream, values, codes);
    return;
  }
  if (stream->levels) {
    quantize_to_levels(stream, values, codes);
    return;
  }
  const unsigned magnitude = stream->element_bits - (stream->is_signed ? 1 : 0);
  const double high = (double)(((int64_t)1 << magnitude) - 1);
  const double low = stream->is_signed ? -high - 1.0 : 0.0;
  const double least = low + (double)stream->mask_codes;
  const double scale = ldexp(1.0, stream->fraction_bits);
  for (size_t i = 0; i < mase_elements(stream); ++i) {
    /* Quotients are those of float. */
    const float value = stream->scales ? values[i] / (float)stream->scales[0] : values[i];
    const double v = (double)value * scale;
    const int mask = stream->mask_codes && values[i] <= -0x1p100F;
    const double inside = mask ? low : v < least ? least : v > high ? high : v;
    codes[i] = isnan(v) ? 0 : (int64_t)rounded(inside, stream->rounding);
  }
}

void mase_dequantize(const mase_stream* stream, const int64_t* codes, float* values) {
  if (!stream->scales) {
    for (size_t i = 0; i < mase_elements(stream); ++i)
      values[i] = ldexpf((float)codes[i], -stream->fraction_bits); /* rounded once */
    return;
  }
  for (size_t i = 0; i < mase_elements(stream); ++i) {
    const size_t place = place_of(stream, i);
    const double number = ldexp((double)codes[place], -stream->fraction_bits);
    values[place] = (float)(number * stream->scales[i % stream->scale_count]);
  }
}

static void put_bits(uint8_t* bytes, size_t first, unsigned count, uint64_t value) {
  for (unsigned done = 0; done < count;) {
    const size_t bit = first + done;
    const unsigned room = 8 - bit % 8, take = count - done < room ? count - done : room;
    bytes[bit / 8] |= (uint8_t)((value >> done & ((1u << take) - 1)) << bit % 8);
    done += take;
  }
}

static uint64_t get_bits(const uint8_t* bytes, size_t first, unsigned count) {
  uint64_t value = 0;
  for (unsigned done = 0; done < count;) {
    const size_t bit = first + done;
    const unsigned room = 8 - bit % 8, take = count - done < room ? count - done : room;
    value |= (uint64_t)(bytes[bit / 8] >> bit % 8 & ((1u << take) - 1)) << done;
    done += take;
  }
  return value;
}

void mase_pack(const mase_stream* stream, const int64_t* codes, uint8_t* bytes) {
  memset(bytes, 0, mase_frame_bytes(stream));
  for (size_t i = 0; i < mase_elements(stream); ++i)
    put_bits(bytes + i / stream->lanes * stream->beat_bytes, i % stream->lanes * stream->lane_bits,
             stream->element_bits, (uint64_t)codes[place_of(stream, i)]);
}

void mase_unpack(const mase_stream* stream, const uint8_t* bytes, int64_t* codes) {
  const uint64_t sign = stream->is_signed ? (uint64_t)1 << (stream->element_bits - 1) : 0;
  for (size_t i = 0; i < mase_elements(stream); ++i) {
    const uint64_t bits = get_bits(bytes + i / stream->lanes * stream->beat_bytes,
                                   i % stream->lanes * stream->lane_bits, stream->element_bits);
    codes[place_of(stream, i)] = (int64_t)((bits ^ sign) - sign);
  }
}

static uint32_t read_mapped(void* address, uint32_t offset) {
  return *(volatile uint32_t*)((uint8_t*)address + offset);
}
static void write_mapped(void* address, uint32_t offset, uint32_t value) {
  *(volatile uint32_t*)((uint8_t*)address + offset) = value;
}
mase_registers mase_mapped(volatile void* address) {
  mase_registers registers = {(void*)(uintptr_t)address, read_mapped, write_mapped};
  return registers;
}

static uint32_t get(mase_registers from, uint32_t offset) { return from.read(from.context, offset); }
static void set(mase_registers to, uint32_t offset, uint32_t value) { to.write(to.context, offset, value); }

int mase_open(mase_registers control, uint32_t number) {
  if (get(control, MASE_ID) != 0x4553414du || get(control, MASE_VERSION) != 1) return MASE_NOT_MASE;
  if (get(control, MASE_DESIGN) != number) return MASE_OTHER_DESIGN;
  set(control, MASE_CONTROL, 1);
  set(control, MASE_CONTROL, 0);
  set(control, MASE_STATUS, 0xffffffffu);
  mase_set_transfer(control, 1);
  return MASE_OK;
}

void mase_set_transfer(mase_registers control, uint32_t frames) { set(control, MASE_TRANSFER, frames); }

int mase_check(mase_registers control) {
  const uint32_t status = get(control, MASE_STATUS);
  set(control, MASE_STATUS, status);
  return status ? MASE_STREAM_ERROR : MASE_OK;
}

uint64_t mase_cycles(mase_registers control) {
  const uint32_t low = get(control, MASE_CYCLES);
  return (uint64_t)get(control, MASE_CYCLES_HIGH) << 32 | low;
}

/* Word 0 of an image is "MREL"; the runs begin behind these. */
enum { IMAGE_VERSION = 1, IMAGE_DESIGN, IMAGE_NUMBER, IMAGE_WORDS, IMAGE_RUNS };

/* Fowler, Noll, Vo, of the words' bytes, low ones first. */
static uint32_t image_hash(const uint32_t* words, size_t count) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < count; ++i)
    for (unsigned shift = 0; shift < 32; shift += 8) hash = (hash ^ (words[i] >> shift & 0xff)) * 16777619u;
  return hash;
}

static int check_image(mase_registers control, const uint32_t* image, size_t words) {
  if (words < IMAGE_RUNS || image[0] != 0x4c45524du || image[IMAGE_VERSION] != 1) return MASE_BAD_IMAGE;
  if (image[IMAGE_WORDS] != words - IMAGE_RUNS) return MASE_BAD_IMAGE;
  if (image_hash(image + IMAGE_RUNS, words - IMAGE_RUNS) != image[IMAGE_NUMBER]) return MASE_BAD_IMAGE;
  return image[IMAGE_DESIGN] == get(control, MASE_DESIGN) ? MASE_OK : MASE_OTHER_DESIGN;
}

/* A run: its place, its length, its words. */
static void write_runs(mase_registers control, const uint32_t* next, const uint32_t* end) {
  while (end - next >= 2) {
    const uint32_t* last = next + 2 + next[1];
    set(control, MASE_RELOAD_PLACE, next[0]);
    for (next += 2; next < last && next < end; ++next) set(control, MASE_RELOAD_WORD, *next);
  }
}

int mase_reload(mase_registers control, const uint32_t* image, size_t words) {
  const int found = check_image(control, image, words);
  if (found != MASE_OK) return found;
  if (get(control, MASE_RELOAD_STATUS) & 0x7fffffffu) return MASE_BUSY;
  set(control, MASE_CONTROL, 1);
  write_runs(control, image + IMAGE_RUNS, image + words);
  set(control, MASE_WEIGHTS, image[IMAGE_NUMBER]);
  set(control, MASE_CONTROL, 0);
  return MASE_OK;
}

uint32_t mase_weights(mase_registers control) { return get(control, MASE_WEIGHTS); }

/* PG021: each channel has its control, status, address (two words) and length; writing the length begins. */
enum { SEND = 0x00, RECEIVE = 0x30, STATUS = 0x04, ADDRESS = 0x18, ADDRESS_HIGH = 0x1c, LENGTH = 0x28 };
enum { RUN = 1, HALTED = 1, IDLE = 2, ERRORS = 0x70 };

static void begin(mase_registers dma, uint32_t channel, uint64_t address, uint32_t bytes) {
  set(dma, channel, RUN);
  set(dma, channel + ADDRESS, (uint32_t)address);
  set(dma, channel + ADDRESS_HIGH, (uint32_t)(address >> 32));
  set(dma, channel + LENGTH, bytes);
}

static int wait_for(mase_registers dma, uint32_t channel, uint64_t looks) {
  while (looks-- > 0) {
    const uint32_t status = get(dma, channel + STATUS);
    if (status & (ERRORS | HALTED)) return MASE_DMA_ERROR;
    if (status & IDLE) return MASE_OK;
  }
  return MASE_TIMEOUT;
}

void mase_send(mase_registers dma, uint64_t address, uint32_t bytes) { begin(dma, SEND, address, bytes); }
void mase_receive(mase_registers dma, uint64_t address, uint32_t bytes) {
  begin(dma, RECEIVE, address, bytes);
}
int mase_wait_sent(mase_registers dma, uint64_t looks) { return wait_for(dma, SEND, looks); }
int mase_wait_received(mase_registers dma, uint64_t looks) { return wait_for(dma, RECEIVE, looks); }

const char* mase_message(int result) {
  switch (result) {
    case MASE_OK: return "done";
    case MASE_NOT_MASE: return "there are no registers of a mase design of this version at the address";
    case MASE_OTHER_DESIGN: return "the bitstream holds another design than the header";
    case MASE_STREAM_ERROR: return "an input had a TLAST inside a frame or lacked bytes";
    case MASE_DMA_ERROR: return "the DMA stopped with an error";
    case MASE_TIMEOUT: return "the transfer did not end";
    case MASE_BAD_IMAGE: return "the weights are no image of mase emit, or a damaged one";
    case MASE_BUSY: return "frames are in the design: its weights are replaced when all have come out";
    default: return "unknown result";
  }
}
