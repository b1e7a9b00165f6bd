// What a layer does besides products: norms, non-linearities, attention of one row.
#pragma once
#include "model.hpp"

namespace sightline {

// A row brought to mean 0 and variance 1, then scaled and shifted.
void normalise(const Norm& norm, float epsilon, const float* from, float* to, int dim);

// The weighted sum of values, for every head; keys[t] is followed by its values. `weights` has room for a vector per key. The
// query has been divided by the root of a head's width.
void attend(const Heads& heads, const float* query, const float* const* keys, int count, float* weights, float* to);

Floats activated(Activation name, Floats x);

}  // namespace sightline
