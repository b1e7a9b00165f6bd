// Dropout, alone and on the way into a residual sum. Both draw their numbers anew in the backward pass and keep no mask.
#include <vector>

#include "noise.hpp"
#include "numbers.hpp"

namespace sightline {
namespace {

// out = base + kept(x) * scale, where there is a base.
template <class In, class Out, bool SUM>
void drop(const In* x, const Out* base, Out* out, int64_t rows, int64_t channels, Noise noise) {
    const float scale = noise.scale();
    const int32_t lowest = int32_t(noise.threshold) - 32768;
#pragma omp parallel if (rows * channels > WORTH_THREADS)
    {
        std::vector<uint64_t> room((channels + 3) / 4);
        int16_t* draws = reinterpret_cast<int16_t*>(room.data());
#pragma omp for schedule(static)
        for (int64_t row = 0; row < rows; ++row) {
            noise.draw(row, channels, draws);
            const In* from = x + row * channels;
            const Out* under = base + (SUM ? row * channels : 0);
            Out* to = out + row * channels;
#pragma omp simd
            for (int64_t c = 0; c < channels; ++c) {
                const float factor = int32_t(draws[c]) >= lowest ? scale : 0.0f;
                const float value = widen(from[c]) * factor;
                to[c] = narrow<Out>(SUM ? widen(under[c]) + value : value);
            }
        }
    }
}

}  // namespace
}  // namespace sightline

using namespace sightline;

#define SIGHTLINE_DROP(name, In, Out)                                                                                          \
    extern "C" void name(const In* x, Out* out, int64_t rows, int64_t channels, const int64_t* keys, int64_t length,           \
                         int64_t offset, int64_t site, int64_t threshold) {                                                    \
        drop<In, Out, false>(x, nullptr, out, rows, channels, Noise{keys, length, offset, site, threshold});                   \
    }
#define SIGHTLINE_DROP_ADD(name, In)                                                                                           \
    extern "C" void name(const In* x, const float* base, float* out, int64_t rows, int64_t channels, const int64_t* keys,      \
                         int64_t length, int64_t offset, int64_t site, int64_t threshold) {                                    \
        drop<In, float, true>(x, base, out, rows, channels, Noise{keys, length, offset, site, threshold});                     \
    }

SIGHTLINE_DROP(drop_f32_f32, float, float)
SIGHTLINE_DROP(drop_f32_bf16, float, bf16)
SIGHTLINE_DROP(drop_bf16_bf16, bf16, bf16)
SIGHTLINE_DROP_ADD(drop_add_f32, float)
SIGHTLINE_DROP_ADD(drop_add_bf16, bf16)
