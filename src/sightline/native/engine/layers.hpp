// What a layer does besides products: norms, non-linearities, attention of one row.
#pragma once
#include "model.hpp"

namespace sightline {

// A row brought to mean 0 and variance 1, then scaled and shifted.
void normalise(const Norm& norm, float epsilon, const float* from, float* to, int dim);

// `to` += the weighted sum of values, for every head; keys[t] is followed by its values at `values_at`. `scores` has room for
// heads · count numbers. The query has been divided by the root of a head's width.
void attend(const float* query, const float* const* keys, int count, int values_at, int heads, int width, float* scores, float* to);

Floats activated(Activation name, Floats x);

}  // namespace sightline
