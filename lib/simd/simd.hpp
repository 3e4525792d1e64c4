// SPDX-License-Identifier: Apache-2.0
// Simd: vectors of the instruction set that a kernel is being compiled for.
//
// A file NAME.simd.cpp is compiled once for each set: lib/CMakeLists.txt generates a source per set
// that defines MASE_ISA and includes the file. There every function that uses vectors is MASE_SIMD
// (inlined into its caller) or MASE_SIMD_TARGET (a separate function), and is in an unnamed
// namespace, so that the linker cannot take the code of one set for that of another. Everything
// else, such as inline functions of headers, is compiled for any machine: the set is an attribute
// of functions, never an option of the compiler.
#pragma once

#if !defined(MASE_ISA)
#error "for files NAME.simd.cpp and their headers, which are compiled once per instruction set"
#endif

#include "simd/kernels.hpp"

#define MASE_SIMD_JOINED(a, b) a##b
#define MASE_SIMD_JOIN(a, b) MASE_SIMD_JOINED(a, b)
/// The table of kernels that is being defined: one of those of MASE_KERNELS(..., name, ...).
#define MASE_KERNELS_OF(name) MASE_SIMD_JOIN(name##_, MASE_ISA)

#define MASE_SIMD_SET_portable 0
#define MASE_SIMD_SET_avx2 1
#define MASE_SIMD_SET_avx512 2
#define MASE_SIMD_SET_avx512_vnni 3
#define MASE_SIMD_SET_scalar 4
/// The place of the set in Isa, or 4 for vectors of one element (vectors_scalar.hpp).
#define MASE_SIMD_SET MASE_SIMD_JOIN(MASE_SIMD_SET_, MASE_ISA)

#if MASE_SIMD_SET == 4 && defined(__CUDACC__)
#define MASE_SIMD_TARGET __host__ __device__
#elif MASE_SIMD_SET == 0 || MASE_SIMD_SET == 4
#define MASE_SIMD_TARGET
#elif MASE_SIMD_SET == 1
#define MASE_SIMD_TARGET __attribute__((target("avx2,fma")))
#elif MASE_SIMD_SET == 2
#define MASE_SIMD_TARGET __attribute__((target("avx512f,fma")))
#else
#define MASE_SIMD_TARGET __attribute__((target("avx512f,fma,avx512bw,avx512vl,avx512vnni")))
#endif
#define MASE_SIMD MASE_SIMD_TARGET inline __attribute__((always_inline))

#if MASE_SIMD_SET == 0
#include "simd/vectors_portable.hpp"
#elif MASE_SIMD_SET == 1
#include "simd/vectors_avx2.hpp"
#elif MASE_SIMD_SET == 4
#include "simd/vectors_scalar.hpp"
#else
#include "simd/vectors_avx512.hpp"
#endif
