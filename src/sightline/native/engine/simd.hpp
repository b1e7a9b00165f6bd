// Vectors as wide as the processor has them, and the few functions on them that the engine needs.
#pragma once
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // the compiler's own header: lanes that no mask asks for
#endif

namespace sightline {

#if defined(__AVX512F__)
constexpr int LANES = 16;
#elif defined(__AVX__)
constexpr int LANES = 8;
#else
constexpr int LANES = 4;
#endif
typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef int32_t Ints __attribute__((vector_size(4 * LANES)));

inline Floats load(const float* from) {
    Floats value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
inline void store(float* to, Floats value) { std::memcpy(to, &value, sizeof value); }
inline Floats all(float value) { return value - Floats{}; }

inline Floats larger(Floats a, Floats b) {
#if defined(__AVX512F__)
    return (Floats)_mm512_max_ps((__m512)a, (__m512)b);
#else
    return a > b ? a : b;
#endif
}

inline float sum(Floats value) {
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps((__m512)value);
#else
    float total = 0;
    for (int lane = 0; lane < LANES; ++lane) total += value[lane];
    return total;
#endif
}

inline float largest(Floats value) {
#if defined(__AVX512F__)
    return _mm512_reduce_max_ps((__m512)value);
#else
    float most = value[0];
    for (int lane = 1; lane < LANES; ++lane) most = value[lane] > most ? value[lane] : most;
    return most;
#endif
}

// A bit for every lane that is above the limit.
inline uint32_t above(Floats value, float limit) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)value, _mm512_set1_ps(limit), _CMP_GT_OQ);
#elif defined(__AVX__)
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps((__m256)value, _mm256_set1_ps(limit), _CMP_GT_OQ));
#else
    uint32_t bits = 0;
    for (int lane = 0; lane < LANES; ++lane) bits |= (uint32_t)(value[lane] > limit) << lane;
    return bits;
#endif
}

// The nearest whole number, for what fits into 22 bits: adding 1.5 · 2^23 leaves it in the lowest bits.
inline Ints nearest(Floats value) {
    constexpr float SHIFT = 12582912.0f;
    return (Ints)(value + SHIFT) - (Ints)all(SHIFT);
}

inline Floats to_floats(Ints value) { return __builtin_convertvector(value, Floats); }

// e^x to within 3e-7 of itself, between e^-87 and e^88.
inline Floats exp(Floats x) {
    constexpr float LOG2_E = 1.44269504088896f;
    Floats low = all(-87.0f), high = all(88.0f);
    x = larger(x, low);
    x = -larger(-x, -high);
    Floats turns = x * LOG2_E;
#if defined(__AVX512F__)
    Floats whole = (Floats)_mm512_roundscale_ps((__m512)turns, 0);
#else
    Ints wholes = nearest(turns);
    Floats whole = to_floats(wholes);
#endif
    // ln 2 in two parts, so that what is left of x is exact
    Floats rest = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    Floats power = all(1.0f / 720);
    power = power * rest + 1.0f / 120;
    power = power * rest + 1.0f / 24;
    power = power * rest + 1.0f / 6;
    power = power * rest + 0.5f;
    power = power * rest + 1.0f;
    power = power * rest + 1.0f;
#if defined(__AVX512F__)
    return (Floats)_mm512_scalef_ps((__m512)power, (__m512)whole);
#else
    return (Floats)((Ints)power + (wholes << 23));
#endif
}

}  // namespace sightline
