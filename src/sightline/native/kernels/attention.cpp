// Scaled dot-product attention of short sentences, forward and backward, one (sentence, head) at a time in the nearest cache.
//
// Nothing of size queries x keys is kept: the backward pass makes the weights again, which is cheaper than reading them.
#include <algorithm>
#include <vector>

#include "products.hpp"

namespace sightline {

// Strides in elements, of a tensor (batch, heads, positions, channels) whose channels lie side by side.
struct Strides {
    int64_t batch, head, position;
};

struct Shape {
    int64_t batch, heads, queries, keys, channels;
    Strides q, k, v, out, dq, dk, dv;
    int64_t mask_batch, mask_query;  // of a mask (batch, queries, keys); 0 where it is the same for all
    float scale;
};

namespace {

// What one thread works in.
struct Room {
    int64_t queries, keys, channels;  // padded
    std::vector<float> q, k, v, turned, weights, seen, up, slopes, result;
    explicit Room(const Shape& s, bool backward)
        : queries(padded(s.queries)), keys(padded(s.keys)), channels(padded(s.channels)) {
        const int64_t high = queries + SLACK, deep = keys + SLACK;
        q.resize(high * channels);
        k.resize(deep * channels);
        v.resize(deep * channels);
        turned.resize(deep * channels);
        weights.resize(high * keys);
        seen.resize(keys);
        std::fill_n(seen.begin(), s.keys, 1.0f);
        result.resize((high > deep ? high : deep) * channels);
        if (backward) {
            up.resize(high * channels);
            slopes.resize(high * keys);
        }
    }
};

template <class T>
const T* at(const T* base, const Strides& strides, int64_t batch, int64_t head) {
    return base + batch * strides.batch + head * strides.head;
}
template <class T>
T* at(T* base, const Strides& strides, int64_t batch, int64_t head) {
    return base + batch * strides.batch + head * strides.head;
}

// The padding of `room` is zero from the start and stays so.
template <class T>
void fetch(const T* from, int64_t step, int64_t rows, int64_t channels, float* room, int64_t row) {
    for (int64_t i = 0; i < rows; ++i) {
#pragma omp simd
        for (int64_t c = 0; c < channels; ++c) room[i * row + c] = widen(from[i * step + c]);
    }
}

template <class T>
void put(const float* room, int64_t row, int64_t rows, int64_t channels, T* to, int64_t step) {
    for (int64_t i = 0; i < rows; ++i) {
#pragma omp simd
        for (int64_t c = 0; c < channels; ++c) to[i * step + c] = narrow<T>(room[i * row + c]);
    }
}

// Scores become weights; a query that may look nowhere gets zeros. `seen` is 1 where it may look, and 0 in the padding.
void soften(float* line, const float* seen, int64_t wide_keys, float scale) {
    const wide never = all(-3.4e38f);
    wide most = never, total = {};
    for (int64_t i = 0; i < wide_keys; i += WIDE) {
        const wide score = load(seen + i) > 0.0f ? load(line + i) * scale : never;
        store(line + i, score);
        most = score > most ? score : most;
    }
    const float top = largest(most);
    for (int64_t i = 0; i < wide_keys; i += WIDE) {
        const wide weight = exponential(load(line + i) - top) * load(seen + i);
        store(line + i, weight);
        total += weight;
    }
    const float whole = sum(total);
    const float share = whole > 0 ? 1.0f / whole : whole;  // a NaN stays one
    for (int64_t i = 0; i < wide_keys; i += WIDE) store(line + i, load(line + i) * share);
}

void soften_all(Room& room, const Shape& s, const uint8_t* mask) {
    for (int64_t t = 0; t < s.queries; ++t) {
        if (mask && (t == 0 || s.mask_query)) {
#pragma omp simd
            for (int64_t i = 0; i < s.keys; ++i) room.seen[i] = float(mask[t * s.mask_query + i]);
        }
        soften(room.weights.data() + t * room.keys, room.seen.data(), room.keys, s.scale);
    }
}

template <class T>
void weigh(const T* q, const T* k, const uint8_t* mask, const Shape& s, int64_t b, int64_t h, Room& room) {
    fetch(at(q, s.q, b, h), s.q.position, s.queries, s.channels, room.q.data(), room.channels);
    fetch(at(k, s.k, b, h), s.k.position, s.keys, s.channels, room.k.data(), room.channels);
    turn(room.k.data(), room.keys, room.channels, room.turned.data());
    multiply(s.queries, room.keys, s.channels, room.q.data(), room.channels, 1, room.turned.data(), room.keys,
             room.weights.data(), room.keys);
    soften_all(room, s, mask ? mask + b * s.mask_batch : nullptr);
}

template <class T>
void forward(const T* q, const T* k, const T* v, const uint8_t* mask, T* out, const Shape& s) {
#pragma omp parallel
    {
        Room room(s, false);
#pragma omp for collapse(2) schedule(static)
        for (int64_t b = 0; b < s.batch; ++b)
            for (int64_t h = 0; h < s.heads; ++h) {
                weigh(q, k, mask, s, b, h, room);
                fetch(at(v, s.v, b, h), s.v.position, s.keys, s.channels, room.v.data(), room.channels);
                multiply(s.queries, room.channels, s.keys, room.weights.data(), room.keys, 1, room.v.data(), room.channels,
                         room.result.data(), room.channels);
                put(room.result.data(), room.channels, s.queries, s.channels, at(out, s.out, b, h), s.out.position);
            }
    }
}

// The gradient of the scores, in place of that of the weights.
void slope(float* slopes, const float* weights, int64_t row, const Shape& s) {
    for (int64_t t = 0; t < s.queries; ++t) {
        float* line = slopes + t * row;
        const float* weight = weights + t * row;
        float mean = 0;
#pragma omp simd reduction(+ : mean)
        for (int64_t i = 0; i < row; ++i) mean += weight[i] * line[i];
#pragma omp simd
        for (int64_t i = 0; i < row; ++i) line[i] = weight[i] * (line[i] - mean) * s.scale;
    }
}

template <class T>
void backward(const T* up, const T* q, const T* k, const T* v, const uint8_t* mask, T* dq, T* dk, T* dv, const Shape& s) {
#pragma omp parallel
    {
        Room room(s, true);
        float *weights = room.weights.data(), *slopes = room.slopes.data(), *result = room.result.data();
        const int64_t wide_keys = room.keys, channels = room.channels;
#pragma omp for collapse(2) schedule(static)
        for (int64_t b = 0; b < s.batch; ++b)
            for (int64_t h = 0; h < s.heads; ++h) {
                weigh(q, k, mask, s, b, h, room);
                fetch(at(v, s.v, b, h), s.v.position, s.keys, s.channels, room.v.data(), channels);
                fetch(at(up, s.out, b, h), s.out.position, s.queries, s.channels, room.up.data(), channels);
                multiply(s.keys, channels, s.queries, weights, 1, wide_keys, room.up.data(), channels, result, channels);
                put(result, channels, s.keys, s.channels, at(dv, s.dv, b, h), s.dv.position);
                turn(room.v.data(), wide_keys, channels, room.turned.data());
                multiply(s.queries, wide_keys, s.channels, room.up.data(), channels, 1, room.turned.data(), wide_keys, slopes,
                         wide_keys);
                slope(slopes, weights, wide_keys, s);
                multiply(s.queries, channels, s.keys, slopes, wide_keys, 1, room.k.data(), channels, result, channels);
                put(result, channels, s.queries, s.channels, at(dq, s.dq, b, h), s.dq.position);
                multiply(s.keys, channels, s.queries, slopes, 1, wide_keys, room.q.data(), channels, result, channels);
                put(result, channels, s.keys, s.channels, at(dk, s.dk, b, h), s.dk.position);
            }
    }
}

}  // namespace
}  // namespace sightline

using namespace sightline;

#define SIGHTLINE_ATTENTION(suffix, T)                                                                                         \
    extern "C" void attention_forward_##suffix(const T* q, const T* k, const T* v, const uint8_t* mask, T* out,                \
                                               const Shape* shape) {                                                           \
        forward<T>(q, k, v, mask, out, *shape);                                                                                \
    }                                                                                                                          \
    extern "C" void attention_backward_##suffix(const T* up, const T* q, const T* k, const T* v, const uint8_t* mask, T* dq,   \
                                                T* dk, T* dv, const Shape* shape) {                                            \
        backward<T>(up, q, k, v, mask, dq, dk, dv, *shape);                                                                    \
    }

SIGHTLINE_ATTENTION(f32, float)
SIGHTLINE_ATTENTION(bf16, bf16)
