// Cross-entropy over rows of logits, and its gradient in their place: three passes over a row that stays in cache.
#include <cmath>

#include "numbers.hpp"

namespace sightline {
namespace {

template <class T>
void lose(T* logits, const int64_t* targets, float* losses, int64_t rows, int64_t words, float smoothing) {
    const float share = smoothing / float(words);
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; ++row) {
        T* line = logits + row * words;
        float most = -INFINITY, sum = 0, total = 0;
        const float wanted = widen(line[targets[row]]);
#pragma omp simd reduction(max : most) reduction(+ : total)
        for (int64_t w = 0; w < words; ++w) {
            const float x = widen(line[w]);
            most = x > most ? x : most;
            total += x;
        }
#pragma omp simd reduction(+ : sum)
        for (int64_t w = 0; w < words; ++w) sum += exponential(widen(line[w]) - most);
        const float log_sum = most + std::log(sum), inverse = 1.0f / sum;
#pragma omp simd
        for (int64_t w = 0; w < words; ++w) line[w] = narrow<T>(exponential(widen(line[w]) - most) * inverse - share);
        const float target = std::exp(wanted - log_sum) - share - (1.0f - smoothing);
        line[targets[row]] = narrow<T>(target);
        losses[row] = log_sum - (1.0f - smoothing) * wanted - share * total;
    }
}

}  // namespace
}  // namespace sightline

using namespace sightline;

extern "C" void loss_f32(float* logits, const int64_t* targets, float* losses, int64_t rows, int64_t words, float smoothing) {
    lose<float>(logits, targets, losses, rows, words, smoothing);
}
extern "C" void loss_bf16(bf16* logits, const int64_t* targets, float* losses, int64_t rows, int64_t words, float smoothing) {
    lose<bf16>(logits, targets, losses, rows, words, smoothing);
}
