// Norms, non-linearities, attention of one row.
#include "layers.hpp"

#include <cmath>

namespace sightline {

void normalise(const Norm& norm, float epsilon, const float* from, float* to, int dim) {
    float total = 0, squares = 0;
#pragma omp simd reduction(+ : total)
    for (int i = 0; i < dim; ++i) total += from[i];
    const float mean = total / dim;
#pragma omp simd reduction(+ : squares)
    for (int i = 0; i < dim; ++i) squares += (from[i] - mean) * (from[i] - mean);
    const float factor = 1 / std::sqrt(squares / dim + epsilon);
    const float *weight = norm.weight.data(), *bias = norm.bias.data();
#pragma omp simd
    for (int i = 0; i < dim; ++i) to[i] = (from[i] - mean) * factor * weight[i] + bias[i];
}

namespace {

Floats sigmoid(Floats x) { return 1.0f / (1.0f + exp(-x)); }

// The error function to within 2e-7 (Abramowitz and Stegun 7.1.26).
Floats error_function(Floats x) {
    const Floats size = larger(x, -x), t = 1.0f / (1.0f + 0.3275911f * size);
    Floats series = 1.061405429f * t - 1.453152027f;
    series = series * t + 1.421413741f;
    series = series * t - 0.284496736f;
    series = series * t + 0.254829592f;
    const Floats positive = 1.0f - series * t * exp(-size * size);
    return x < 0.0f ? -positive : positive;
}

// Every lane gets the sum of the lanes of its head.
inline Floats sum_within(Floats x, int lanes) {
    Ints place;
    for (int lane = 0; lane < LANES; ++lane) place[lane] = lane;
    for (int step = 1; step < lanes; step *= 2) x += __builtin_shuffle(x, place ^ step);
    return x;
}

// The scores of N keys, each head's in all its lanes.
template <int N>
void score(int vectors, int lanes, const float* query, const float* const* keys, size_t first, float* scores) {
    Floats total[N] = {};
    for (int i = 0; i < vectors; ++i) {
        const Floats q = load(query + i * LANES);
#pragma GCC unroll 8
        for (int n = 0; n < N; ++n) total[n] += q * load(keys[n] + first + i * LANES);
    }
    for (int n = 0; n < N; ++n) store(scores + n * LANES, sum_within(total[n], lanes));
}

// N vectors of the weighted sum of values.
template <int N>
void gather(const float* const* keys, size_t first, int count, const float* weights, Floats factor, float* to) {
    Floats total[N] = {};
    for (int t = 0; t < count; ++t) {
        const Floats weight = load(weights + t * LANES);
#pragma GCC unroll 8
        for (int n = 0; n < N; ++n) total[n] += weight * load(keys[t] + first + n * LANES);
    }
    for (int n = 0; n < N; ++n) store(to + n * LANES, total[n] * factor);
}

}  // namespace

void attend(const Heads& heads, const float* query, const float* const* keys, int count, float* weights, float* to) {
    for (int block = 0; block < heads.blocks; ++block) {
        const size_t first = (size_t)block * heads.vectors * LANES, values = heads.span() + first;
        int t = 0;
        for (; t + 4 <= count; t += 4) score<4>(heads.vectors, heads.lanes, query + first, keys + t, first, weights + t * LANES);
        for (; t < count; ++t) score<1>(heads.vectors, heads.lanes, query + first, keys + t, first, weights + t * LANES);
        Floats most = load(weights), total{};
        for (t = 1; t < count; ++t) most = larger(most, load(weights + t * LANES));
        for (t = 0; t < count; ++t) {
            const Floats weight = exp(load(weights + t * LANES) - most);
            store(weights + t * LANES, weight);
            total += weight;
        }
        const Floats factor = 1.0f / total;
        int i = 0;
        for (; i + 8 <= heads.vectors; i += 8) gather<8>(keys, values + i * LANES, count, weights, factor, to + first + i * LANES);
        for (; i < heads.vectors; ++i) gather<1>(keys, values + i * LANES, count, weights, factor, to + first + i * LANES);
    }
}

Floats activated(Activation name, Floats x) {
    switch (name) {
        case RELU: return larger(x, Floats{});
        case GELU: return 0.5f * x * (1.0f + error_function(x * 0.70710678f));
        case GELU_TANH: return x * sigmoid(1.5957691216f * (x + 0.044715f * x * x * x));
        case SWISH: return x * sigmoid(x);
    }
    return x;
}

}  // namespace sightline
