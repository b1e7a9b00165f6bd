// What a layer does besides products: norms, non-linearities, attention of one row.
#pragma once
#include "model.hpp"

namespace sightline {

// A row brought to mean 0 and variance 1, then scaled and shifted.
void normalise(const Norm& norm, float epsilon, const float* from, float* to, int dim);

// The weighted sum of values, for every head; keys[t] is followed by its values, both kept as `Kept` says. `weights` has room
// for a vector per key. The query has been divided by the root of a head's width.
template <class Kept>
void attend(const Heads& heads, const float* query, const void* const* keys, int count, float* weights, float* to);

inline Floats sigmoid(Floats x) { return 1.0f / (1.0f + exp(-x)); }

// The error function to within 2e-7 (Abramowitz and Stegun 7.1.26).
inline Floats error_function(Floats x) {
    const Floats size = larger(x, -x), t = 1.0f / (1.0f + 0.3275911f * size);
    Floats series = 1.061405429f * t - 1.453152027f;
    series = series * t + 1.421413741f;
    series = series * t - 0.284496736f;
    series = series * t + 0.254829592f;
    const Floats positive = 1.0f - series * t * exp(-size * size);
    return x < 0.0f ? -positive : positive;
}

inline Floats activated(Activation name, Floats x) {
    switch (name) {
        case GELU: return 0.5f * x * (1.0f + error_function(x * 0.70710678f));
        case GELU_TANH: return x * sigmoid(1.5957691216f * (x + 0.044715f * x * x * x));
        case SWISH: return x * sigmoid(x);
        default: return larger(x, Floats{});
    }
}

}  // namespace sightline
