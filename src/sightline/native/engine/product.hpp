// Matrix products: weights packed once, rows quantised as they come, tiles that stay in registers.
//
// int8: weights have a scale per output, rows one each; sums are exact whole numbers, so that a row's result depends on
// nothing but the row. Weights are kept as w + 128 because the processor multiplies unsigned by signed bytes; what that adds,
// 128 · (sum of the row), is where each sum begins. fp32: the same tiles; each sum runs through the inputs in their order,
// whatever the number of rows.
#pragma once
#include <algorithm>
#include <cstdint>

#include "buffer.hpp"
#include "simd.hpp"

namespace sightline {

constexpr int PANEL = 4 * LANES;  // outputs that are computed together
constexpr int TALL = LANES == 16 ? 6 : 3;  // rows that are: as many sums as the processor has registers for

// Room for a row: whole panels of any processor.
inline int padded(int columns) { return (columns + 63) / 64 * 64; }

struct Linear {
    int inputs = 0, outputs = 0, panels = 0;
    bool int8 = false;
    Buffer<uint8_t> bytes;  // panel, then four inputs at a time, then output, then which of the four
    Buffer<float> values;  // panel, then input, then output
    Buffer<float> scale, bias;  // per output, zero beyond the last
};

// Weights as they are before packing: a row per output, quantised where that is asked for.
struct Plain {
    int inputs = 0, outputs = 0;
    bool int8 = false;
    Buffer<uint8_t> bytes;  // rows of whole fours
    Buffer<float> values, scale, bias;
};

// `weight` has a row per output. Without a bias it is zero.
Plain quantised(const float* weight, const float* bias, int outputs, int inputs, bool int8);

// Packs some outputs, in the order in which `chosen` names them; all where it is null.
void pack(const Plain& plain, const int32_t* chosen, int count, Linear& to);

inline Linear packed(const float* weight, const float* bias, int outputs, int inputs, bool int8) {
    Linear made;
    pack(quantised(weight, bias, outputs, inputs, int8), nullptr, outputs, made);
    return made;
}

// What a product reads: rows of numbers, quantised where the weights are.
class Rows {
   public:
    void reserve(int rows, int columns, bool int8);
    void take(int row, const float* values, int columns);

    bool int8 = false;
    int stride = 0;
    Buffer<float> values, scale;
    Buffer<int8_t> bytes;
    Buffer<int32_t> start;  // -128 · (sum of the row)
};

#if defined(__AVX512VNNI__)
using Sums = __m512i;
inline Sums sums(int32_t start) { return _mm512_set1_epi32(start); }
inline Sums add_dots(Sums so_far, const uint8_t* weights, int32_t four) {
    // Not by its intrinsic: GCC 12 then moves most sums between registers and the stack.
    asm("vpdpbusd %2, %1, %0" : "+v"(so_far) : "v"(_mm512_load_si512(weights)), "v"(_mm512_set1_epi32(four)));
    return so_far;
}
#elif defined(__AVX512BW__)
using Sums = __m512i;
inline Sums sums(int32_t start) { return _mm512_set1_epi32(start); }
// Products of 16 bits, of the first and third and of the second and fourth of the four: nothing is cut off.
inline Sums add_dots(Sums so_far, const uint8_t* weights, int32_t four) {
    __m512i w = _mm512_load_si512(weights), a = _mm512_set1_epi32(four);
    __m512i even = _mm512_madd_epi16(_mm512_and_si512(w, _mm512_set1_epi16(255)), _mm512_srai_epi16(_mm512_slli_epi16(a, 8), 8));
    __m512i odd = _mm512_madd_epi16(_mm512_srli_epi16(w, 8), _mm512_srai_epi16(a, 8));
    return _mm512_add_epi32(so_far, _mm512_add_epi32(even, odd));
}
#elif defined(__AVXVNNI__) && !defined(__AVX512F__)
using Sums = __m256i;
inline Sums sums(int32_t start) { return _mm256_set1_epi32(start); }
inline Sums add_dots(Sums so_far, const uint8_t* weights, int32_t four) {
    return _mm256_dpbusd_avx_epi32(so_far, _mm256_load_si256((const __m256i*)weights), _mm256_set1_epi32(four));
}
#elif defined(__AVX2__) && !defined(__AVX512F__)
using Sums = __m256i;
inline Sums sums(int32_t start) { return _mm256_set1_epi32(start); }
inline Sums add_dots(Sums so_far, const uint8_t* weights, int32_t four) {
    __m256i w = _mm256_load_si256((const __m256i*)weights), a = _mm256_set1_epi32(four);
    __m256i even = _mm256_madd_epi16(_mm256_and_si256(w, _mm256_set1_epi16(255)), _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8));
    __m256i odd = _mm256_madd_epi16(_mm256_srli_epi16(w, 8), _mm256_srai_epi16(a, 8));
    return _mm256_add_epi32(so_far, _mm256_add_epi32(even, odd));
}
#else
using Sums = Ints;
inline Sums sums(int32_t start) { return start - Ints{}; }
inline Sums add_dots(Sums so_far, const uint8_t* weights, int32_t four) {
    int8_t a[4];
    std::memcpy(a, &four, 4);
    for (int lane = 0; lane < LANES; ++lane)
        for (int i = 0; i < 4; ++i) so_far[lane] += weights[4 * lane + i] * a[i];
    return so_far;
}
#endif

template <int R>
inline void int8_tile(const Linear& w, const Rows& a, int row, int panel, Floats (&out)[R][4]) {
    const int quads = (w.inputs + 3) / 4;
    const uint8_t* weights = w.bytes.get() + (size_t)panel * quads * 4 * PANEL;
    const int8_t* bytes = a.bytes.get() + (size_t)row * a.stride;
    Sums total[R][4];
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < 4; ++j) total[i][j] = sums(a.start[row + i]);
    for (int quad = 0; quad < quads; ++quad, weights += 4 * PANEL, bytes += 4) {
#pragma GCC unroll 8
        for (int i = 0; i < R; ++i) {
            int32_t four;
            std::memcpy(&four, bytes + (size_t)i * a.stride, 4);
#pragma GCC unroll 8
            for (int j = 0; j < 4; ++j) total[i][j] = add_dots(total[i][j], weights + 4 * LANES * j, four);
        }
    }
    const float* scale = w.scale.get() + panel * PANEL;
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < 4; ++j) out[i][j] = to_floats((Ints)total[i][j]) * (load(scale + j * LANES) * a.scale[row + i]);
}

template <int R>
inline void fp32_tile(const Linear& w, const Rows& a, int row, int panel, Floats (&out)[R][4]) {
    const float* weights = w.values.get() + (size_t)panel * w.inputs * PANEL;
    const float* values = a.values.get() + (size_t)row * a.stride;
    for (int i = 0; i < R; ++i)
        for (int j = 0; j < 4; ++j) out[i][j] = Floats{};
    for (int k = 0; k < w.inputs; ++k, weights += PANEL)
        for (int i = 0; i < R; ++i)
            for (int j = 0; j < 4; ++j) out[i][j] += values[(size_t)i * a.stride + k] * load(weights + j * LANES);
}

template <int R, class Store>
inline void tile(const Linear& w, const Rows& a, int row, int panel, const Store& put) {
    Floats out[R][4];
    if (w.int8)
        int8_tile<R>(w, a, row, panel, out);
    else
        fp32_tile<R>(w, a, row, panel, out);
    const float* bias = w.bias.get() + panel * PANEL;
    for (int i = 0; i < R; ++i)
        for (int j = 0; j < 4; ++j) put(row + i, panel * PANEL + j * LANES, out[i][j] + load(bias + j * LANES));
}

// The rows from `first` to before `end` times the weights; `put(row, column, values)` gets a vector at a time.
template <class Store>
void multiply(const Linear& w, const Rows& a, int first, int end, const Store& put) {
    for (int panel = 0; panel < w.panels; ++panel) {
        int row = first;
        for (; row + TALL <= end; row += TALL) tile<TALL>(w, a, row, panel, put);
        switch (end - row) {
            case 1: tile<1>(w, a, row, panel, put); break;
            case 2: tile<2>(w, a, row, panel, put); break;
            case 3: tile<std::min(3, TALL)>(w, a, row, panel, put); break;
            case 4: tile<std::min(4, TALL)>(w, a, row, panel, put); break;
            case 5: tile<std::min(5, TALL)>(w, a, row, panel, put); break;
            default: break;
        }
    }
}

}  // namespace sightline
