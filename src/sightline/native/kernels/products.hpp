// Products of matrices as small as one sentence's attention: everything is in the nearest cache, so blocks of registers are all
// there is to arrange. Rows are padded to a multiple of WIDE.
#pragma once
#include <utility>

#include "numbers.hpp"

namespace sightline {

constexpr int64_t SLACK = 4;

inline int64_t padded(int64_t n) { return (n + WIDE - 1) / WIDE * WIDE; }

// ROWS x (COLUMNS * WIDE) of c = a b; element (i, k) of a lies at a[i * across + k * down].
template <int ROWS, int COLUMNS>
inline void block(int64_t inner, const float* a, int64_t across, int64_t down, const float* b, int64_t b_row, float* c,
                  int64_t c_row) {
    wide sums[ROWS][COLUMNS] = {};
    for (int64_t k = 0; k < inner; ++k) {
        wide right[COLUMNS];
#pragma GCC unroll 16
        for (int j = 0; j < COLUMNS; ++j) right[j] = load(b + k * b_row + j * WIDE);
#pragma GCC unroll 16
        for (int i = 0; i < ROWS; ++i) {
            const wide left = all(a[i * across + k * down]);
#pragma GCC unroll 16
            for (int j = 0; j < COLUMNS; ++j) sums[i][j] += left * right[j];
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 16
        for (int j = 0; j < COLUMNS; ++j) store(c + i * c_row + j * WIDE, sums[i][j]);
}

template <int COLUMNS>
inline void strip(int64_t rows, int64_t inner, const float* a, int64_t across, int64_t down, const float* b, int64_t b_row,
                  float* c, int64_t c_row) {
    constexpr int ROWS = COLUMNS == 4 ? 6 : COLUMNS == 2 ? 8 : 12;
    int64_t i = 0;
    for (; i + ROWS <= rows; i += ROWS) block<ROWS, COLUMNS>(inner, a + i * across, across, down, b, b_row, c + i * c_row, c_row);
    for (; i < rows; i += SLACK) block<SLACK, COLUMNS>(inner, a + i * across, across, down, b, b_row, c + i * c_row, c_row);
}

// c (rows x columns, a multiple of WIDE) = a (rows x inner, by strides) b (inner x columns). Up to SLACK further rows of a are
// read, and of c written.
inline void multiply(int64_t rows, int64_t columns, int64_t inner, const float* a, int64_t across, int64_t down, const float* b,
                     int64_t b_row, float* c, int64_t c_row) {
    int64_t j = 0;
    for (; j + 4 * WIDE <= columns; j += 4 * WIDE) strip<4>(rows, inner, a, across, down, b + j, b_row, c + j, c_row);
    for (; j + 2 * WIDE <= columns; j += 2 * WIDE) strip<2>(rows, inner, a, across, down, b + j, b_row, c + j, c_row);
    for (; j < columns; j += WIDE) strip<1>(rows, inner, a, across, down, b + j, b_row, c + j, c_row);
}

// Lanes of two rows whose blocks of HALF lanes change places across the diagonal.
template <int HALF, bool SECOND, size_t... LANE>
inline wide swapped(wide a, wide b, std::index_sequence<LANE...>) {
    return __builtin_shufflevector(a, b, int((LANE & HALF ? WIDE : 0) + (bool(LANE & HALF) == SECOND ? LANE : LANE ^ HALF))...);
}

template <int HALF>
inline void swap_halves(wide* rows) {
    constexpr auto lanes = std::make_index_sequence<WIDE>();
    for (int i = 0; i < WIDE; ++i) {
        if (i & HALF) continue;
        const wide a = rows[i], b = rows[i | HALF];
        rows[i] = swapped<HALF, false>(a, b, lanes);
        rows[i | HALF] = swapped<HALF, true>(a, b, lanes);
    }
}

// A block of sixteen by sixteen, rows for columns, in four rounds of swaps between registers.
inline void turn_block(const float* from, int64_t from_row, float* to, int64_t to_row) {
    wide rows[WIDE];
    for (int i = 0; i < WIDE; ++i) rows[i] = load(from + i * from_row);
    swap_halves<8>(rows);
    swap_halves<4>(rows);
    swap_halves<2>(rows);
    swap_halves<1>(rows);
    for (int i = 0; i < WIDE; ++i) store(to + i * to_row, rows[i]);
}

// to (columns x rows) = the transpose of from (rows x columns), both multiples of WIDE.
inline void turn(const float* from, int64_t rows, int64_t columns, float* to) {
    for (int64_t i = 0; i < rows; i += WIDE)
        for (int64_t j = 0; j < columns; j += WIDE) turn_block(from + i * columns + j, columns, to + j * rows + i, rows);
}

}  // namespace sightline
