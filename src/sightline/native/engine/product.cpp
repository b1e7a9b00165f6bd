// Packing of weights and quantising of rows.
#include "product.hpp"

#include <cmath>

namespace sightline {

namespace {

float largest_of(const float* values, int count) {
    float most = 0;
#pragma omp simd reduction(max : most)
    for (int i = 0; i < count; ++i) most = std::max(most, std::fabs(values[i]));
    return most;
}

}  // namespace

Linear packed(const float* weight, const float* bias, int outputs, int inputs, bool int8) {
    Linear made;
    made.inputs = inputs, made.outputs = outputs, made.panels = (outputs + PANEL - 1) / PANEL, made.int8 = int8;
    const size_t whole = (size_t)made.panels * PANEL, quads = (inputs + 3) / 4;
    made.scale.zeros(whole);
    made.bias.zeros(whole);
    if (int8)
        std::memset(made.bytes.reserve(whole * quads * 4), 128, whole * quads * 4);
    else
        made.values.zeros(whole * inputs);
    for (int n = 0; n < outputs; ++n) {
        const float* row = weight + (size_t)n * inputs;
        const size_t panel = n / PANEL, place = n % PANEL;
        if (bias) made.bias[n] = bias[n];
        if (!int8) {
            for (int k = 0; k < inputs; ++k) made.values[(panel * inputs + k) * PANEL + place] = row[k];
            continue;
        }
        const float most = largest_of(row, inputs), step = most > 0 ? most / 127 : 1.0f;
        made.scale[n] = step;
        for (int k = 0; k < inputs; ++k) {
            const size_t at = ((panel * quads + k / 4) * PANEL + place) * 4 + k % 4;
            made.bytes[at] = (uint8_t)(std::clamp((int)std::lrint(row[k] / step), -127, 127) + 128);
        }
    }
    return made;
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
    int32_t total = 0;
#pragma omp simd reduction(+ : total)
    for (int i = 0; i < columns; ++i) {
        // The nearest whole number: adding 1.5 · 2^23 leaves it in the lowest bits.
        const float shifted = from[i] * per_step + 12582912.0f;
        int32_t bits;
        std::memcpy(&bits, &shifted, 4);
        bits -= 0x4B400000;
        to[i] = (int8_t)bits;
        total += bits;
    }
    for (int i = columns; i % 4; ++i) to[i] = 0;
    scale[row] = most / 127;
    start[row] = -128 * total;
}

}  // namespace sightline
