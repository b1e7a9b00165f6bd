// Norms, non-linearities, attention of one row.
#include "layers.hpp"

#include <cmath>

namespace sightline {

void normalise(const Norm& norm, float epsilon, const float* from, float* to, int dim) {
    const int whole = dim / LANES * LANES;
    Floats sums[2] = {}, squared[2] = {};
    for (int i = 0; i < whole; i += LANES) sums[i / LANES % 2] += load(from + i);
    float total = sum(sums[0] + sums[1]), squares = 0;
    for (int i = whole; i < dim; ++i) total += from[i];
    const float mean = total / dim;
    for (int i = 0; i < whole; i += LANES) {
        const Floats apart = load(from + i) - mean;
        squared[i / LANES % 2] += apart * apart;
    }
    squares = sum(squared[0] + squared[1]);
    for (int i = whole; i < dim; ++i) squares += (from[i] - mean) * (from[i] - mean);
    const float factor = 1 / std::sqrt(squares / dim + epsilon);
    const float *weight = norm.weight.data(), *bias = norm.bias.data();
    for (int i = 0; i < whole; i += LANES) store(to + i, (load(from + i) - mean) * factor * load(weight + i) + load(bias + i));
    for (int i = whole; i < dim; ++i) to[i] = (from[i] - mean) * factor * weight[i] + bias[i];
}

namespace {

// Every lane gets the sum of the lanes of its head.
inline Floats sum_within(Floats x, int lanes) {
    for (int step = 1; step < lanes; step *= 2) {
#if defined(__clang__)
        Floats other;
        for (int lane = 0; lane < LANES; ++lane) other[lane] = x[lane ^ step];
        x += other;
#else
        Ints place;
        for (int lane = 0; lane < LANES; ++lane) place[lane] = lane ^ step;
        x += __builtin_shuffle(x, place);
#endif
    }
    return x;
}

// The scores of N keys, each head's in all its lanes.
template <class Kept, int N>
inline void score(int pairs, int lanes, const float* query, const void* const* keys, int first, float* scores) {
    Floats total[N] = {};
    for (int pair = 0; pair < pairs; ++pair) {
        const Floats q = load(query + 2 * pair * LANES), r = load(query + (2 * pair + 1) * LANES);
#pragma GCC unroll 8
        for (int n = 0; n < N; ++n) {
            Floats a, b;
            Kept::read(keys[n], first + pair, a, b);
            total[n] += q * a;
            total[n] += r * b;
        }
    }
    for (int n = 0; n < N; ++n) store(scores + n * LANES, sum_within(total[n], lanes));
}

// N pairs of vectors of the weighted sum of values.
template <class Kept, int N>
inline void gather(const void* const* keys, int first, int count, const float* weights, Floats factor, float* to) {
    Floats total[2 * N] = {};
    for (int t = 0; t < count; ++t) {
        const Floats weight = load(weights + t * LANES);
#pragma GCC unroll 8
        for (int n = 0; n < N; ++n) {
            Floats a, b;
            Kept::read(keys[t], first + n, a, b);
            total[2 * n] += weight * a;
            total[2 * n + 1] += weight * b;
        }
    }
    for (int n = 0; n < 2 * N; ++n) store(to + n * LANES, total[n] * factor);
}

}  // namespace

template <class Kept>
void attend(const Heads& heads, const float* query, const void* const* keys, int count, float* weights, float* to) {
    const int pairs = heads.vectors / 2, lanes = heads.lanes;
    for (int block = 0; block < heads.blocks; ++block, query += heads.vectors * LANES, to += heads.vectors * LANES) {
        const int first = block * pairs, values = heads.blocks * pairs + first;
        int t = 0;
        for (; t + 4 <= count; t += 4) score<Kept, 4>(pairs, lanes, query, keys + t, first, weights + t * LANES);
        for (; t < count; ++t) score<Kept, 1>(pairs, lanes, query, keys + t, first, weights + t * LANES);
        Floats most = load(weights), total{};
        for (t = 1; t < count; ++t) most = larger(most, load(weights + t * LANES));
        for (t = 0; t < count; ++t) {
            const Floats weight = exp(load(weights + t * LANES) - most);
            store(weights + t * LANES, weight);
            total += weight;
        }
        const Floats factor = 1.0f / total;
        int pair = 0;
        for (; pair + 4 <= pairs; pair += 4) gather<Kept, 4>(keys, values + pair, count, weights, factor, to + 2 * pair * LANES);
        for (; pair < pairs; ++pair) gather<Kept, 1>(keys, values + pair, count, weights, factor, to + 2 * pair * LANES);
    }
}

template void attend<Full>(const Heads&, const float*, const void* const*, int, float*, float*);
template void attend<Short>(const Heads&, const float*, const void* const*, int, float*, float*);

}  // namespace sightline
