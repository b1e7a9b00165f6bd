// Packing of weights and quantising of rows.
#include "product.hpp"

#include <cmath>

namespace sightline {

namespace {

typedef int8_t Narrow __attribute__((vector_size(LANES)));

// The largest size of a number.
float largest_of(const float* values, int count) {
    Floats most[4] = {};
    int i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES)
        for (int n = 0; n < 4; ++n) {
            const Floats some = load(values + i + n * LANES);
            most[n] = larger(most[n], larger(some, -some));
        }
    float found = largest(larger(larger(most[0], most[1]), larger(most[2], most[3])));
    for (; i < count; ++i) found = std::max(found, std::fabs(values[i]));
    return found;
}

}  // namespace

Plain quantised(const float* weight, const float* bias, int outputs, int inputs, bool int8) {
    Plain made;
    made.inputs = inputs, made.outputs = outputs, made.int8 = int8;
    const size_t row_bytes = (inputs + 3) / 4 * 4;
    made.scale.zeros(outputs);
    made.bias.zeros(outputs);
    if (bias) std::copy_n(bias, outputs, made.bias.get());
    if (!int8) {
        std::copy_n(weight, (size_t)outputs * inputs, made.values.reserve((size_t)outputs * inputs));
        return made;
    }
    std::memset(made.bytes.reserve(outputs * row_bytes), 128, outputs * row_bytes);
    for (int n = 0; n < outputs; ++n) {
        const float* row = weight + (size_t)n * inputs;
        const float most = largest_of(row, inputs), step = most > 0 ? most / 127 : 1.0f;
        made.scale[n] = step;
        for (int k = 0; k < inputs; ++k)
            made.bytes[n * row_bytes + k] = (uint8_t)(std::clamp((int)std::lrint(row[k] / step), -127, 127) + 128);
    }
    return made;
}

void pack(const Plain& plain, const int32_t* chosen, int count, Linear& to) {
    to.inputs = plain.inputs, to.outputs = count, to.panels = (count + PANEL - 1) / PANEL, to.int8 = plain.int8;
    const size_t whole = (size_t)to.panels * PANEL, quads = (plain.inputs + 3) / 4;
    to.scale.zeros(whole);
    to.bias.zeros(whole);
    if (plain.int8)
        std::memset(to.bytes.reserve(whole * quads * 4), 128, whole * quads * 4);
    else
        to.values.zeros(whole * plain.inputs);
    for (int n = 0; n < count; ++n) {
        const size_t row = chosen ? chosen[n] : n, panel = n / PANEL, place = n % PANEL;
        to.scale[n] = plain.scale[row], to.bias[n] = plain.bias[row];
        if (plain.int8) {
            const uint8_t* from = plain.bytes.get() + row * quads * 4;
            uint8_t* at = to.bytes.get() + (panel * quads * PANEL + place) * 4;
            for (size_t quad = 0; quad < quads; ++quad) std::memcpy(at + quad * PANEL * 4, from + quad * 4, 4);
        } else {
            const float* from = plain.values.get() + row * plain.inputs;
            float* at = to.values.get() + panel * plain.inputs * PANEL + place;
            for (int k = 0; k < plain.inputs; ++k) at[(size_t)k * PANEL] = from[k];
        }
    }
}

void Rows::reserve(int rows, int columns, bool quantised) {
    int8 = quantised, stride = padded(columns);
    if (!int8) {
        values.reserve((size_t)rows * stride);
        return;
    }
    bytes.reserve((size_t)rows * stride);
    scale.reserve(rows);
    start.reserve(rows);
}

void Rows::take(int row, const float* from, int columns) {
    if (!int8) {
        std::memcpy(values.get() + (size_t)row * stride, from, sizeof(float) * columns);
        return;
    }
    const float most = largest_of(from, columns), per_step = most > 0 ? 127 / most : 0.0f;
    int8_t* to = bytes.get() + (size_t)row * stride;
    Ints totals{};
    int i = 0;
    for (; i + LANES <= columns; i += LANES) {
        const Ints whole = nearest(load(from + i) * per_step);
        totals += whole;
        const auto narrow_ones = __builtin_convertvector(whole, Narrow);
        std::memcpy(to + i, &narrow_ones, sizeof narrow_ones);
    }
    int32_t total = 0;
    for (int lane = 0; lane < LANES; ++lane) total += totals[lane];
    for (; i < columns; ++i) total += to[i] = (int8_t)std::lrint(from[i] * per_step);
    for (; i % 4; ++i) to[i] = 0;
    scale[row] = most / 127;
    start[row] = -128 * total;
}

}  // namespace sightline
