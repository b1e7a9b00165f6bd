// The gradient of a bias is a sum over rows; a ReLU in front of it is gone through on the way.
#include <omp.h>

#include <vector>

#include "numbers.hpp"

namespace sightline {
namespace {

// sums[c] = the sum of column c of x, added in the order of the threads; with GATED also out = x where `activated` is above zero,
// and the sums are those of out.
template <class T, bool GATED>
void sum_columns(const T* x, const T* activated, T* out, float* sums, int64_t rows, int64_t columns) {
    const bool several = rows * columns > WORTH_THREADS;
    const int threads = several ? omp_get_max_threads() : 1;
    std::vector<float> parts(size_t(threads) * columns);
#pragma omp parallel num_threads(threads) if (several)
    {
        float* own = parts.data() + size_t(omp_get_thread_num()) * columns;
#pragma omp for schedule(static)
        for (int64_t row = 0; row < rows; ++row) {
            const int64_t start = row * columns;
#pragma omp simd
            for (int64_t c = 0; c < columns; ++c) {
                T value = x[start + c];
                if constexpr (GATED) {
                    value = where_positive(activated[start + c], value);
                    out[start + c] = value;
                }
                own[c] += widen(value);
            }
        }
    }
    for (int64_t c = 0; c < columns; ++c) {
        float total = 0;
        for (int thread = 0; thread < threads; ++thread) total += parts[size_t(thread) * columns + c];
        sums[c] = total;
    }
}

}  // namespace
}  // namespace sightline

using namespace sightline;

#define SIGHTLINE_COLUMNS(suffix, T)                                                                                           \
    extern "C" void sum_columns_##suffix(const T* x, float* sums, int64_t rows, int64_t columns) {                             \
        sum_columns<T, false>(x, nullptr, nullptr, sums, rows, columns);                                                       \
    }                                                                                                                          \
    extern "C" void gate_columns_##suffix(const T* x, const T* activated, T* out, float* sums, int64_t rows,                   \
                                          int64_t columns) {                                                                   \
        sum_columns<T, true>(x, activated, out, sums, rows, columns);                                                          \
    }

SIGHTLINE_COLUMNS(f32, float)
SIGHTLINE_COLUMNS(bf16, bf16)
