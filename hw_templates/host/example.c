/* SPDX-License-Identifier: Apache-2.0
 * Frames of floats through the design on a board with Linux:
 *   gcc -O2 -o example example.c mase_host.c -lm
 *   ./example CONTROL DMA BUFFER < inputs.f32 > outputs.f32
 * CONTROL, DMA: physical addresses of the wrapper's registers and of an AXI DMA (no scatter-gather) between its
 * input and its output. BUFFER: of memory that Linux leaves alone, with room for a frame in and one out. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host.h"

#if MASE_INPUTS != 1 || MASE_OUTPUTS != 1
#error "this example is for one input and one output; a design with more has a DMA for each"
#endif

static void* mapped(int memory, const char* address, size_t bytes) {
  void* found =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, (off_t)strtoull(address, NULL, 0));
  if (found == MAP_FAILED) {
    perror(address);
    exit(1);
  }
  return found;
}

/* Byte by byte: memory outside of Linux may refuse the wide accesses of memcpy. */
static void copy(volatile uint8_t* to, const volatile uint8_t* from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) to[i] = from[i];
}

static void check(int result) {
  if (result == MASE_OK) return;
  fprintf(stderr, "%s\n", mase_message(result));
  exit(1);
}

int main(int argc, char** argv) {
  const int memory = open("/dev/mem", O_RDWR | O_SYNC);
  if (argc != 4 || memory < 0) {
    fprintf(stderr, "usage (as root): %s CONTROL DMA BUFFER < inputs.f32 > outputs.f32\n", argv[0]);
    return 2;
  }
  const mase_stream *input = &mase_inputs[0], *output = &mase_outputs[0];
  const size_t in_bytes = mase_frame_bytes(input), out_bytes = mase_frame_bytes(output);
  const uint64_t in_address = strtoull(argv[3], NULL, 0), out_address = in_address + in_bytes;
  const mase_registers control = mase_mapped(mapped(memory, argv[1], 4096));
  const mase_registers dma = mase_mapped(mapped(memory, argv[2], 4096));
  volatile uint8_t* buffer = mapped(memory, argv[3], in_bytes + out_bytes);
  float* values = malloc(sizeof(float) * (mase_elements(input) + mase_elements(output)));
  int64_t* codes = malloc(sizeof(int64_t) * (mase_elements(input) + mase_elements(output)));
  uint8_t* frame = malloc(in_bytes + out_bytes);
  if (!values || !codes || !frame) return 1;
  check(mase_open(control, MASE_DESIGN_NUMBER));
  while (fread(values, sizeof(float), mase_elements(input), stdin) == mase_elements(input)) {
    mase_quantize(input, values, codes);
    mase_pack(input, codes, frame);
    copy(buffer, frame, in_bytes);
    mase_receive(dma, out_address, (uint32_t)out_bytes);
    mase_send(dma, in_address, (uint32_t)in_bytes);
    check(mase_wait_sent(dma, UINT64_MAX));
    check(mase_wait_received(dma, UINT64_MAX));
    check(mase_check(control));
    copy(frame, buffer + in_bytes, out_bytes);
    mase_unpack(output, frame, codes);
    mase_dequantize(output, codes, values);
    fwrite(values, sizeof(float), mase_elements(output), stdout);
  }
  return 0;
}
