// Numbers: bf16 beside fp32, vectors of sixteen, an exponential that compilers turn into vector code.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sightline {

enum class bf16 : uint16_t {};

inline float widen(float x) { return x; }
inline float widen(bf16 x) { return std::bit_cast<float>(uint32_t(x) << 16); }

// The same where x is above zero, else zero, on the bits alone.
inline float where_positive(float x, float value) { return x > 0.0f ? value : 0.0f; }
inline bf16 where_positive(bf16 x, bf16 value) { return bf16(int16_t(x) > 0 ? uint16_t(value) : uint16_t(0)); }

template <class T> inline T narrow(float x);
template <> inline float narrow<float>(float x) { return x; }
template <> inline bf16 narrow<bf16>(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;  // to the nearest, ties to even
    const bool number = (bits & 0x7FFFFFFFu) <= 0x7F800000u;
    return bf16(number ? rounded : 0x7FC0u);  // rounding could turn a NaN into a number
}

constexpr int WIDE = 16;
typedef float wide __attribute__((vector_size(64)));

inline wide load(const float* from) {
    wide out;
    std::memcpy(&out, from, sizeof out);
    return out;
}
inline void store(float* to, wide x) { std::memcpy(to, &x, sizeof x); }
inline wide all(float x) { return wide{} + x; }

// e^x for |x| up to half of ln 2, of one number or of sixteen.
template <class T>
inline T exponential_of_rest(T x) {
    T p = x * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * x + 8.3334519073e-3f;
    p = p * x + 4.1665795894e-2f;
    p = p * x + 1.6666665459e-1f;
    p = p * x + 5.0000001201e-1f;
    return p * x * x + x + 1.0f;
}

// e^x to about 1e-7 for x <= 0 and whatever is not too large; below -87 it is as good as nothing.
inline float exponential(float x) {
    x = x < -87.0f ? -87.0f : x;
    const float shifted = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the sum is rounded to a whole number
    const float whole = shifted - 12582912.0f;
    const float rest = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    return exponential_of_rest(rest) * std::bit_cast<float>((int32_t(whole) + 127) << 23);
}

typedef int32_t wide_int __attribute__((vector_size(64)));

// The same for sixteen at once.
inline wide exponential(wide x) {
    x = x < -87.0f ? all(-87.0f) : x;
    const wide whole = x * 1.44269504f + 12582912.0f - 12582912.0f;
    const wide rest = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    return exponential_of_rest(rest) * std::bit_cast<wide>((__builtin_convertvector(whole, wide_int) + 127) << 23);
}

inline float sum(wide x) {
    float total = 0;
    for (int i = 0; i < WIDE; ++i) total += x[i];
    return total;
}

inline float largest(wide x) {
    float most = x[0];
    for (int i = 1; i < WIDE; ++i) most = x[i] > most ? x[i] : most;
    return most;
}

constexpr int64_t WORTH_THREADS = 1 << 15;  // elements; below, waking a thread takes longer than the work

}  // namespace sightline
