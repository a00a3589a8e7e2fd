// What the recorder computes where a GPU's memory lies: a digest of a region, the statistics of its elements, a histogram.
// `python -m tests.gpu.device_kernels` compiles it to device_kernels.ptx, which drivers from CUDA 12 on can load.

typedef unsigned long long u64;
typedef long long i64;

const int MAX_DIMS = 12, BINS = 16;

// Elements in logical order: `count` of `size` bytes each; the first lies at the base, shapes and strides are in elements.
// dims is 0 where they lie one after the other.
struct View { i64 count; int size; int dims; i64 shape[MAX_DIMS]; i64 stride[MAX_DIMS]; };
struct Edges { double low, high, norm; double inner[BINS + 1]; };
struct Part { double low, high, sum; i64 int_low, int_high, finite; };

__device__ i64 element_at(const View &view, i64 index) {
    if (!view.dims) return index;
    i64 at = 0;
    #pragma unroll 1
    for (int dim = view.dims - 1; dim >= 0; dim--) {
        at += index % view.shape[dim] * view.stride[dim];
        index /= view.shape[dim];
    }
    return at;
}

__device__ u64 bits_of(const unsigned char *address, int size) {
    switch (size) {
        case 1: return *address;
        case 2: return *(const unsigned short *)address;
        case 4: return *(const unsigned int *)address;
        case 8: return *(const u64 *)address;
        default: return *(const u64 *)address * 0x9E3779B97F4A7C15ull + *((const u64 *)address + 1);
    }
}

// Odd numbers, so that no single change leaves a sum as it was.
__device__ u64 weight(u64 place, u64 first, u64 second) {
    u64 mixed = place * first;
    mixed ^= mixed >> 29;
    mixed *= second;
    return mixed ^ mixed >> 32 | 1;
}

// Two weighted sums of the elements modulo 2 to the 64 are added to what `sums` holds.
extern "C" __global__ void digest(const unsigned char *base, View view, u64 *sums) {
    __shared__ u64 of_block[2];
    if (threadIdx.x < 2) of_block[threadIdx.x] = 0;
    __syncthreads();
    u64 first = 0, second = 0;
    for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < view.count; i += gridDim.x * (i64)blockDim.x) {
        u64 bits = bits_of(base + element_at(view, i) * view.size, view.size);
        first += bits * weight(i + 1, 0x9E3779B97F4A7C15ull, 0xC2B2AE3D27D4EB4Full);
        second += bits * weight(i + 1, 0xD6E8FEB86659FD93ull, 0x165667B19E3779F9ull);
    }
    atomicAdd(&of_block[0], first);
    atomicAdd(&of_block[1], second);
    __syncthreads();
    if (threadIdx.x < 2) atomicAdd(&sums[threadIdx.x], of_block[threadIdx.x]);
}

__device__ float half_to_float(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

enum Dtype { FLOAT32, FLOAT64, FLOAT16, BFLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32 };

__device__ double value_at(const unsigned char *base, i64 at, int dtype, i64 &integer) {
    switch (dtype) {
        case FLOAT32: return ((const float *)base)[at];
        case FLOAT64: return ((const double *)base)[at];
        case FLOAT16: return half_to_float(((const unsigned short *)base)[at]);
        case BFLOAT16: return __uint_as_float((unsigned int)((const unsigned short *)base)[at] << 16);
        case INT8: return integer = ((const signed char *)base)[at];
        case INT16: return integer = ((const short *)base)[at];
        case INT32: return integer = ((const int *)base)[at];
        case INT64: return integer = ((const i64 *)base)[at];
        case UINT8: return integer = base[at];
        case UINT16: return integer = ((const unsigned short *)base)[at];
        default: return integer = ((const unsigned int *)base)[at];
    }
}

__device__ Part merged(const Part &a, const Part &b) {
    return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high, a.sum + b.sum,
            a.int_low < b.int_low ? a.int_low : b.int_low, a.int_high > b.int_high ? a.int_high : b.int_high, a.finite + b.finite};
}

// Block k describes the k-th of equal stretches of the elements; finite values only. Sums are added in an order that depends on
// the number of elements alone. 256 threads.
extern "C" __global__ void describe(const unsigned char *base, View view, int dtype, Part *parts) {
    __shared__ Part of_thread[256];
    const i64 limit = 0x7FFFFFFFFFFFFFFFll;
    const double infinity = __longlong_as_double(0x7FF0000000000000ll);
    Part part = {infinity, -infinity, 0.0, limit, -limit - 1, 0};
    i64 end = (blockIdx.x + 1) * view.count / gridDim.x;
    for (i64 i = blockIdx.x * view.count / gridDim.x + threadIdx.x; i < end; i += blockDim.x) {
        i64 integer = 0;
        double value = value_at(base, element_at(view, i), dtype, integer);
        if (value - value == 0.0) part = merged(part, {value, value, value, integer, integer, 1});
    }
    of_thread[threadIdx.x] = part;
    for (int half = 128; half; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half) of_thread[threadIdx.x] = merged(of_thread[threadIdx.x], of_thread[threadIdx.x + half]);
    }
    if (!threadIdx.x) parts[blockIdx.x] = of_thread[0];
}

// How many finite values lie in each interval, as numpy counts them, are added to what `counts` holds.
extern "C" __global__ void histogram(const unsigned char *base, View view, int dtype, Edges edges, u64 *counts) {
    __shared__ u64 of_block[BINS];
    if (threadIdx.x < BINS) of_block[threadIdx.x] = 0;
    __syncthreads();
    for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < view.count; i += gridDim.x * (i64)blockDim.x) {
        i64 integer = 0;
        double value = value_at(base, element_at(view, i), dtype, integer);
        if (value - value != 0.0) continue;
        int bin = (int)((value - edges.low) * edges.norm);
        bin = bin < 0 ? 0 : bin > BINS - 1 ? BINS - 1 : bin;
        while (bin > 0 && value < edges.inner[bin]) bin--;
        while (bin < BINS - 1 && value >= edges.inner[bin + 1]) bin++;
        atomicAdd(&of_block[bin], 1ull);
    }
    __syncthreads();
    if (threadIdx.x < BINS) atomicAdd(&counts[threadIdx.x], of_block[threadIdx.x]);
}
