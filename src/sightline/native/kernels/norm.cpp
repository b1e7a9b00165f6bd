// Layer norm: statistics in fp32, the result in the precision of the products that read it.
#include <omp.h>

#include <cmath>
#include <vector>

#include "numbers.hpp"

namespace sightline {
namespace {

template <class Out>
void forward(const float* x, const float* weight, const float* bias, Out* y, float* means, float* scales, int64_t rows,
             int64_t channels, float epsilon) {
#pragma omp parallel for schedule(static) if (rows * channels > WORTH_THREADS)
    for (int64_t row = 0; row < rows; ++row) {
        const float* from = x + row * channels;
        Out* to = y + row * channels;
        float total = 0, squares = 0;
#pragma omp simd reduction(+ : total)
        for (int64_t c = 0; c < channels; ++c) total += from[c];
        const float mean = total / float(channels);
#pragma omp simd reduction(+ : squares)
        for (int64_t c = 0; c < channels; ++c) squares += (from[c] - mean) * (from[c] - mean);
        const float scale = 1.0f / std::sqrt(squares / float(channels) + epsilon);
#pragma omp simd
        for (int64_t c = 0; c < channels; ++c) to[c] = narrow<Out>((from[c] - mean) * scale * weight[c] + bias[c]);
        means[row] = mean;
        scales[row] = scale;
    }
}

// Each thread sums its own rows, and the sums are added in the order of the threads: the same numbers in every run.
template <class Out>
void backward(const Out* dy, const float* x, const float* weight, const float* means, const float* scales, float* dx,
              float* weight_gradient, float* bias_gradient, int64_t rows, int64_t channels) {
    const bool several = rows * channels > WORTH_THREADS;
    const int threads = several ? omp_get_max_threads() : 1;
    std::vector<float> sums(size_t(threads) * 2 * channels);
#pragma omp parallel num_threads(threads) if (several)
    {
        float* dw = sums.data() + size_t(omp_get_thread_num()) * 2 * channels;
        float* db = dw + channels;
#pragma omp for schedule(static)
        for (int64_t row = 0; row < rows; ++row) {
            const Out* up = dy + row * channels;
            const float* from = x + row * channels;
            float* to = dx + row * channels;
            const float mean = means[row], scale = scales[row];
            float plain = 0, turned = 0;
#pragma omp simd reduction(+ : plain, turned)
            for (int64_t c = 0; c < channels; ++c) {
                const float g = widen(up[c]), normal = (from[c] - mean) * scale;
                plain += g * weight[c];
                turned += g * weight[c] * normal;
                dw[c] += g * normal;
                db[c] += g;
            }
            plain /= float(channels);
            turned /= float(channels);
#pragma omp simd
            for (int64_t c = 0; c < channels; ++c) {
                const float normal = (from[c] - mean) * scale;
                to[c] = (widen(up[c]) * weight[c] - plain - normal * turned) * scale;
            }
        }
    }
    for (int64_t c = 0; c < channels; ++c) {
        float w = 0, b = 0;
        for (int thread = 0; thread < threads; ++thread) {
            w += sums[size_t(thread) * 2 * channels + c];
            b += sums[(size_t(thread) * 2 + 1) * channels + c];
        }
        weight_gradient[c] = w;
        bias_gradient[c] = b;
    }
}

}  // namespace
}  // namespace sightline

using namespace sightline;

#define SIGHTLINE_NORM(suffix, Out)                                                                                            \
    extern "C" void norm_forward_##suffix(const float* x, const float* weight, const float* bias, Out* y, float* means,        \
                                          float* scales, int64_t rows, int64_t channels, float epsilon) {                      \
        forward<Out>(x, weight, bias, y, means, scales, rows, channels, epsilon);                                              \
    }                                                                                                                          \
    extern "C" void norm_backward_##suffix(const Out* dy, const float* x, const float* weight, const float* means,             \
                                           const float* scales, float* dx, float* dw, float* db, int64_t rows,                 \
                                           int64_t channels) {                                                                 \
        backward<Out>(dy, x, weight, means, scales, dx, dw, db, rows, channels);                                               \
    }

SIGHTLINE_NORM(f32, float)
SIGHTLINE_NORM(bf16, bf16)
