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
typedef uint32_t Bits __attribute__((vector_size(4 * LANES)));

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

constexpr float LOG2_E = 1.44269504088896f;

// 2^x to within 2e-7 of itself; beyond what fp32 can hold, next to nothing or very much.
inline Floats power_of_2(Floats x) {
#if defined(__AVX512F__)
    const Floats whole = (Floats)_mm512_roundscale_ps((__m512)x, 0);
#else
    x = larger(x, all(-126.0f));
    x = -larger(-x, all(-127.0f));
    const Ints wholes = nearest(x);
    const Floats whole = to_floats(wholes);
#endif
    const Floats rest = x - whole;
    Floats power = rest * 0.0013276461f + 0.0096755410f;  // fitted to 2^rest between -1/2 and 1/2
    power = power * rest + 0.0555071346f;
    power = power * rest + 0.2402212024f;
    power = power * rest + 0.6931469440f;
    power = power * rest + 1.0f;
#if defined(__AVX512F__)
    return (Floats)_mm512_scalef_ps((__m512)power, (__m512)whole);
#else
    return (Floats)((Ints)power + (wholes << 23));
#endif
}

inline Floats exp(Floats x) { return power_of_2(x * LOG2_E); }

// Two vectors as the upper halves of their numbers (bf16), rounded: half the memory, and one operation each to get them back.
inline Ints shortened(Floats first, Floats second) {
    const Ints half = Ints{} + 0x8000, upper = Ints{} + (int32_t)0xFFFF0000;
    const Ints a = ((Ints)first + half) & upper, b = ((Ints)second + half) & upper;
    return (Ints)((Bits)a >> 16) | b;
}

// Where vectors lie: in full, or shortened in pairs. Vectors 2 · pair and 2 · pair + 1 are read together.
struct Full {
    static constexpr int BYTES = 4;  // of a number
    static void read(const void* from, int pair, Floats& first, Floats& second) {
        const float* numbers = static_cast<const float*>(from) + 2 * pair * LANES;
        first = load(numbers), second = load(numbers + LANES);
    }
    static void write(void* to, int pair, Floats first, Floats second) {
        float* numbers = static_cast<float*>(to) + 2 * pair * LANES;
        store(numbers, first), store(numbers + LANES, second);
    }
};
struct Short {
    static constexpr int BYTES = 2;
    static void read(const void* from, int pair, Floats& first, Floats& second) {
        Ints both;
        std::memcpy(&both, static_cast<const char*>(from) + pair * sizeof both, sizeof both);
        first = (Floats)(both << 16), second = (Floats)(both & (Ints{} + (int32_t)0xFFFF0000));
    }
    static void write(void* to, int pair, Floats first, Floats second) {
        const Ints both = shortened(first, second);
        std::memcpy(static_cast<char*>(to) + pair * sizeof both, &both, sizeof both);
    }
};

}  // namespace sightline
