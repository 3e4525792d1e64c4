# SPDX-License-Identifier: Apache-2.0
"""Frames through the design of this folder on a PYNQ board.

    from pynq import Overlay
    from mase_pynq import Accelerator

    accelerator = Accelerator(Overlay("@TOP@.bit"))
    outputs = accelerator(frames)

The driver in C beside this file makes codes and bytes of floats; it is compiled when first used.
"""

import ctypes
import subprocess
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
TRANSFER_BYTES = 2**26 - 1  # block_design.tcl gives the DMA a length register of 26 bits


class Stream(ctypes.Structure):
    """mase_stream of mase_host.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("beats", ctypes.c_size_t),
        ("lanes", ctypes.c_size_t),
        ("element_bits", ctypes.c_uint),
        ("lane_bits", ctypes.c_uint),
        ("beat_bytes", ctypes.c_uint),
        ("is_signed", ctypes.c_int),
        ("fraction_bits", ctypes.c_int),
        ("rounding", ctypes.c_int),
        ("order", ctypes.POINTER(ctypes.c_uint32)),
        ("mask_codes", ctypes.c_int64),
        ("levels", ctypes.c_void_p),
        ("level_count", ctypes.c_size_t),
        ("blocks", ctypes.c_void_p),
        ("scales", ctypes.POINTER(ctypes.c_double)),
        ("scale_count", ctypes.c_size_t),
    )

    @property
    def elements(self):
        return self.beats * self.lanes

    @property
    def frame_bytes(self):
        return self.beats * self.beat_bytes


Read = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32)
Write = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)


class Registers(ctypes.Structure):
    """mase_registers of mase_host.h."""

    _fields_ = (("context", ctypes.c_void_p), ("read", Read), ("write", Write))


def load_driver(folder):
    """The driver and the streams of the design, compiled where its sources are newer."""
    sources = [folder / "design.c", folder / "mase_host.c", folder / "host.h"]
    library = folder / "libmase_design.so"
    if not library.exists() or library.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        command = ["gcc", "-O2", "-shared", "-fPIC", "-o", str(library), *map(str, sources[:2]), "-lm"]
        subprocess.run(command, check=True)
    driver = ctypes.CDLL(str(library))
    driver.mase_message.restype = ctypes.c_char_p
    driver.mase_cycles.restype = ctypes.c_uint64
    driver.mase_cycles.argtypes = driver.mase_check.argtypes = (Registers,)
    driver.mase_open.argtypes = driver.mase_set_transfer.argtypes = (Registers, ctypes.c_uint32)
    driver.mase_weights.restype = ctypes.c_uint32
    driver.mase_weights.argtypes = (Registers,)
    driver.mase_reload.argtypes = (Registers, ctypes.c_void_p, ctypes.c_size_t)
    return driver


def streams_of(function):
    count = ctypes.c_size_t()
    function.restype = ctypes.POINTER(Stream)
    first = function(ctypes.byref(count))
    return [first[i] for i in range(count.value)]


class Accelerator:
    """The design of an overlay whose cells have the names of block_design.tcl: `core`, and `dma_0`, `dma_1`, ..."""

    def __init__(self, overlay, folder=HERE):
        self._driver = load_driver(Path(folder))
        self.inputs = streams_of(self._driver.mase_design_inputs)
        self.outputs = streams_of(self._driver.mase_design_outputs)
        core = overlay.core
        self._control = Registers(
            None, Read(lambda _, offset: core.read(offset)), Write(lambda _, offset, value: core.write(offset, value))
        )
        dmas = [getattr(overlay, f"dma_{i}") for i in range(max(len(self.inputs), len(self.outputs)))]
        self._senders = [dmas[i].sendchannel for i in range(len(self.inputs))]
        self._receivers = [dmas[i].recvchannel for i in range(len(self.outputs))]
        self._check(self._driver.mase_open(self._control, self._driver.mase_design_number()))

    def _check(self, result):
        if result != 0:
            raise RuntimeError(self._driver.mase_message(result).decode())

    def _convert(self, name, stream, first, second):
        getattr(self._driver, name)(
            ctypes.byref(stream), first.ctypes.data_as(ctypes.c_void_p), second.ctypes.data_as(ctypes.c_void_p)
        )

    def _pack(self, stream, frames, buffer):
        codes = np.empty(stream.elements, np.int64)
        for frame, place in zip(frames, buffer):
            self._convert("mase_quantize", stream, frame, codes)
            self._convert("mase_pack", stream, codes, place)

    def _unpack(self, stream, buffer):
        codes = np.empty(stream.elements, np.int64)
        values = np.empty((len(buffer), stream.elements), np.float32)
        for place, frame in zip(buffer, values):
            self._convert("mase_unpack", stream, place, codes)
            self._convert("mase_dequantize", stream, codes, frame)
        return values

    def _frames_of(self, arrays):
        if len(arrays) != len(self.inputs):
            raise ValueError(f"the design has {len(self.inputs)} inputs, not {len(arrays)}")
        frames = []
        for stream, array in zip(self.inputs, arrays):
            values = np.ascontiguousarray(array, np.float32)
            if values.size == 0 or values.size % stream.elements:
                name = stream.name.decode()
                raise ValueError(f"{name}: {values.size} values are not whole frames of {stream.elements}")
            frames.append(values.reshape(-1, stream.elements))
        if len({len(values) for values in frames}) != 1:
            raise ValueError(f"inputs of {sorted(len(values) for values in frames)} frames; all need the same number")
        return frames

    def __call__(self, *arrays):
        """One array per input, of whole frames in row-major order; gives (frames, elements) of every output, alone
        when there is one."""
        frames = self._frames_of(arrays)
        step = TRANSFER_BYTES // max(stream.frame_bytes for stream in (*self.inputs, *self.outputs))
        parts = [self._run([values[i : i + step] for values in frames]) for i in range(0, len(frames[0]), step)]
        results = [np.concatenate(part) for part in zip(*parts)]
        return results[0] if len(results) == 1 else results

    def _run(self, frames):
        """As many frames as one transfer takes."""
        from pynq import allocate

        count = len(frames[0])
        sent = [allocate((count, stream.frame_bytes), np.uint8) for stream in self.inputs]
        received = [allocate((count, stream.frame_bytes), np.uint8) for stream in self.outputs]
        try:
            for stream, values, buffer in zip(self.inputs, frames, sent):
                self._pack(stream, values, buffer)
            self._transfer(count, sent, received)
            return [self._unpack(stream, buffer) for stream, buffer in zip(self.outputs, received)]
        finally:
            for buffer in (*sent, *received):
                buffer.freebuffer()

    def _transfer(self, count, sent, received):
        self._driver.mase_set_transfer(self._control, count)
        for channel, buffer in zip(self._receivers, received):
            channel.transfer(buffer)
        for channel, buffer in zip(self._senders, sent):
            channel.transfer(buffer)
        for channel in (*self._senders, *self._receivers):
            channel.wait()
        self._check(self._driver.mase_check(self._control))

    @property
    def cycles(self):
        """Clock cycles since the design was reset."""
        return self._driver.mase_cycles(self._control)

    def reload(self, image):
        """Replaces the weights by those of an image of `mase emit --reload-image` (weights.bin: those the design was
        emitted with). The design must have been emitted with --reloadable."""
        data = Path(image).read_bytes()
        if len(data) % 4:
            raise ValueError(f"{image}: {len(data)} bytes are no image of weights")
        words = np.frombuffer(data, "<u4").astype(np.uint32)
        self._check(self._driver.mase_reload(self._control, words.ctypes.data_as(ctypes.c_void_p), len(words)))

    @property
    def weights(self):
        """The number of the weights that were loaded last; 0: those of the bitstream."""
        return self._driver.mase_weights(self._control)

    def check(self, vectors):
        """Runs the frames of a folder of vectors (../sim/vectors). Gives how many there are and how many output
        elements differ from what the integer model expects: none, or the board computes something else."""
        inputs = [self._values(stream, vectors) for stream in self.inputs]
        expected = [self._values(stream, vectors) for stream in self.outputs]
        found = self(*inputs)
        found = [found] if len(self.outputs) == 1 else found
        return len(inputs[0]), sum(int((one != other).sum()) for one, other in zip(found, expected))

    def _values(self, stream, folder):
        """The frames of a file of vectors: a beat is a line of hex digits, element 0 in its low bits."""
        mask, sign = (1 << stream.element_bits) - 1, 1 << (stream.element_bits - 1)
        beats = [int(line, 16) for line in (Path(folder) / f"{stream.name.decode()}.hex").read_text().split()]
        codes = [beat >> lane * stream.element_bits & mask for beat in beats for lane in range(stream.lanes)]
        if stream.is_signed:
            codes = [(code ^ sign) - sign for code in codes]
        frames = np.ldexp(np.array(codes, np.float64), -stream.fraction_bits).reshape(-1, stream.elements)
        if stream.scales:
            frames *= np.resize(stream.scales[: stream.scale_count], stream.elements)
        values = np.empty_like(frames)
        values[:, [stream.order[i] if stream.order else i for i in range(stream.elements)]] = frames
        return values.astype(np.float32)
