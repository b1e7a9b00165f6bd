// The output layer.
#include "choose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sightline {

namespace {

constexpr float NEVER = -std::numeric_limits<float>::infinity();
constexpr int BLOCK = 8 * PANEL;

float largest_of(const float* logits, int count) {
    Floats most[4] = {all(NEVER), all(NEVER), all(NEVER), all(NEVER)};
    int i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES)
        for (int n = 0; n < 4; ++n) most[n] = larger(most[n], load(logits + i + n * LANES));
    for (; i < count; i += LANES) most[0] = larger(most[0], load(logits + i));
    return largest(larger(larger(most[0], most[1]), larger(most[2], most[3])));
}

// The sum of exp(logit - most).
float sum_of(const float* logits, int count, float most) {
    const Floats shift = all(most * LOG2_E);
    Floats total[2] = {};
    int i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES)
        for (int n = 0; n < 2; ++n) total[n] += power_of_2(load(logits + i + n * LANES) * LOG2_E - shift);
    for (; i < count; i += LANES) {
        Floats power = power_of_2(load(logits + i) * LOG2_E - shift);
        for (int lane = std::min(LANES, count - i); lane < LANES; ++lane) power[lane] = 0;
        total[0] += power;
    }
    return sum(total[0] + total[1]);
}

}  // namespace

void Chooser::choose(const Linear& words, const int32_t* names, const Rows& states, int rows, const Wish* wishes, Choices* found) {
    logits_.reserve((size_t)rows * BLOCK);
    rows_.resize(rows);
    int room = 0;
    for (int r = 0; r < rows; ++r) {
        rows_[r] = {NEVER, 0, 0, room};
        room += wishes[r].count;
    }
    if ((int)values_.size() < room) values_.resize(room), tokens_.resize(room);
    for (int begin = 0; begin < words.outputs; begin += BLOCK) {
        const int end = std::min(begin + BLOCK, words.outputs), count = end - begin, first = begin / PANEL;
        multiply(words, states, rows, first, (end + PANEL - 1) / PANEL, [&](int row, int column, Floats value) {
            store(logits_.get() + (size_t)row * BLOCK + (column - begin), value);
        });
        for (int r = 0; r < rows; ++r) {
            Row& row = rows_[r];
            float* logits = logits_.get() + (size_t)r * BLOCK;
            for (int i = count; i % LANES; ++i) logits[i] = NEVER;
            const float highest = largest_of(logits, count);
            if (highest > row.most) row.total *= std::exp(row.most - highest), row.most = highest;
            row.total += sum_of(logits, count, row.most);
            const bool full = row.count == wishes[r].count && wishes[r].only < 0;
            if (!full || highest > values_[row.first + row.count - 1])
                look_through(row, wishes[r], names, logits, begin, count);
        }
    }
    for (int r = 0; r < rows; ++r) {
        const Row& row = rows_[r];
        found[r] = {row.most + std::log(row.total), row.count, values_.data() + row.first, tokens_.data() + row.first};
    }
}

void Chooser::look_through(Row& row, const Wish& wish, const int32_t* names, const float* logits, int begin, int count) {
    for (int i = 0; i < count; i += LANES) {
        const bool full = row.count == wish.count && wish.only < 0;
        for (uint32_t bits = above(load(logits + i), full ? values_[row.first + row.count - 1] : NEVER); bits; bits &= bits - 1) {
            const int place = i + __builtin_ctz(bits);
            const int32_t token = names ? names[begin + place] : begin + place;
            if (token != PAD && token != BOS && (wish.only < 0 || token == wish.only)) insert(row, wish.count, logits[place], token);
        }
    }
}

void Chooser::insert(Row& row, int wanted, float logit, int32_t token) {
    float* values = values_.data() + row.first;
    int32_t* tokens = tokens_.data() + row.first;
    if (row.count == wanted && logit <= values[wanted - 1]) return;
    int place = row.count < wanted ? row.count++ : wanted - 1;
    for (; place > 0 && values[place - 1] < logit; --place) values[place] = values[place - 1], tokens[place] = tokens[place - 1];
    values[place] = logit, tokens[place] = token;
}

}  // namespace sightline
