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

// WIDTH: a head's channels where the compiler is to know them, else 0.
template <int WIDTH>
void attend_heads(
    const float* query, const float* const* keys, int count, int values_at, int heads, int told, float* scores, float* to) {
    const int width = WIDTH ? WIDTH : told;
    for (int t = 0; t < count; ++t) {
        const float* key = keys[t];
        for (int head = 0; head < heads; ++head) {
            const float *q = query + head * width, *k = key + head * width;
            float total = 0;
#pragma omp simd reduction(+ : total)
            for (int i = 0; i < width; ++i) total += q[i] * k[i];
            scores[head * count + t] = total;
        }
    }
    for (int head = 0; head < heads; ++head) {
        float* weights = scores + head * count;
        float most = weights[0], total = 0;
        for (int t = 1; t < count; ++t) most = std::max(most, weights[t]);
        for (int t = 0; t < count; t += LANES) {
            float part[LANES] = {};
            const int some = std::min(LANES, count - t);
            std::memcpy(part, weights + t, sizeof(float) * some);
            store(part, exp(load(part) - most));
            for (int i = 0; i < some; ++i) total += part[i];
            std::memcpy(weights + t, part, sizeof(float) * some);
        }
        float out[WIDTH ? WIDTH : 1];
        float* sum = WIDTH ? out : to + head * width;
        for (int i = 0; i < width; ++i) sum[i] = 0;
        for (int t = 0; t < count; ++t) {
            const float weight = weights[t];
            const float* v = keys[t] + values_at + head * width;
#pragma omp simd
            for (int i = 0; i < width; ++i) sum[i] += weight * v[i];
        }
        for (int i = 0; i < width; ++i) to[head * width + i] = sum[i] / total;
    }
}

}  // namespace

void attend(const float* query, const float* const* keys, int count, int values_at, int heads, int width, float* scores, float* to) {
    switch (width) {
        case 32: return attend_heads<32>(query, keys, count, values_at, heads, width, scores, to);
        case 64: return attend_heads<64>(query, keys, count, values_at, heads, width, scores, to);
        default: return attend_heads<0>(query, keys, count, values_at, heads, width, scores, to);
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
