// The output layer.
#include "choose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sightline {

namespace {

constexpr float NEVER = -std::numeric_limits<float>::infinity();
constexpr int BLOCK = 8 * PANEL;

// The least that a logit must exceed to be among the `wanted` largest of these: each of the greatest in some class of places
// is a different one, so that the `wanted`-th of them has as many that are no smaller.
float first_limit(const float* logits, int count, int wanted) {
    constexpr int CLASSES = 4;
    if (wanted > CLASSES * LANES || count < CLASSES * LANES) return NEVER;
    float classes[CLASSES * LANES];
    for (int c = 0; c < CLASSES; ++c) {
        Floats most = load(logits + c * LANES);
        for (int i = (CLASSES + c) * LANES; i + LANES <= count; i += CLASSES * LANES) most = larger(most, load(logits + i));
        store(classes + c * LANES, most);
    }
    std::nth_element(classes, classes + wanted - 1, classes + CLASSES * LANES, std::greater<float>());
    return std::nextafter(classes[wanted - 1], NEVER);
}

}  // namespace

void Chooser::choose(const Linear& words, const int32_t* names, const Rows& states, int rows, const Wish* wishes, Choices* found) {
    logits_.reserve((size_t)rows * BLOCK);
    rows_.resize(rows);
    int room = 0;
    for (int r = 0; r < rows; ++r) {
        rows_[r] = {NEVER, 0, NEVER, 0, room};
        room += wishes[r].only >= 0 ? 1 : 2 * wishes[r].count + BLOCK;
    }
    if ((int)values_.size() < room) values_.resize(room), tokens_.resize(room);
    for (int begin = 0; begin < words.outputs; begin += BLOCK) {
        const int end = std::min(begin + BLOCK, words.outputs), first = begin / PANEL;
        multiply(words, states, rows, first, (end + PANEL - 1) / PANEL, [&](int row, int column, Floats value) {
            store(logits_.get() + (size_t)row * BLOCK + (column - begin), value);
        });
        for (int r = 0; r < rows; ++r) {
            float* logits = logits_.get() + (size_t)r * BLOCK;
            for (int i = end - begin; i % LANES; ++i) logits[i] = NEVER;
            reduce(rows_[r], logits, begin, end);
            collect(rows_[r], wishes[r], names, logits, begin, end);
        }
    }
    for (int r = 0; r < rows; ++r) {
        Row& row = rows_[r];
        if (wishes[r].only < 0) keep(row, wishes[r].count);
        found[r] = {row.most + std::log(row.total), row.count, values_.data() + row.first, tokens_.data() + row.first};
    }
}

void Chooser::reduce(Row& row, const float* logits, int begin, int end) {
    Floats most = load(logits), total{};
    for (int i = LANES; i < end - begin; i += LANES) most = larger(most, load(logits + i));
    const float highest = largest(most);
    if (highest > row.most) {
        row.total = row.most == NEVER ? 0 : row.total * std::exp(row.most - highest);
        row.most = highest;
    }
    for (int i = 0; i < end - begin; i += LANES) {
        const Floats value = load(logits + i);
        Floats power = exp(value - row.most);
        if (i + LANES > end - begin)
            for (int lane = end - begin - i; lane < LANES; ++lane) power[lane] = 0;
        total += power;
    }
    row.total += sum(total);
}

void Chooser::collect(Row& row, const Wish& wish, const int32_t* names, const float* logits, int begin, int end) {
    const auto name = [&](int place) { return names ? names[begin + place] : begin + place; };
    const int count = end - begin;
    if (wish.only >= 0) {
        for (int i = 0; i < count; ++i)
            if (name(i) == wish.only) values_[row.first] = logits[i], tokens_[row.first] = wish.only, row.count = 1;
        return;
    }
    if (row.limit == NEVER) row.limit = first_limit(logits, count, wish.count + 2);  // two of them are never written
    for (int i = 0; i < count; i += LANES)
        for (uint32_t bits = above(load(logits + i), row.limit); bits; bits &= bits - 1) {
            const int place = i + __builtin_ctz(bits);
            const int32_t token = name(place);
            if (token == PAD || token == BOS) continue;
            values_[row.first + row.count] = logits[place], tokens_[row.first + row.count] = token, ++row.count;
        }
    if (row.count > 2 * wish.count) keep(row, wish.count);
}

// Leave the `wanted` largest; from now on only what is larger than all but those is looked at.
void Chooser::keep(Row& row, int wanted) {
    if (row.count < wanted) return;
    sorting_.clear();
    for (int i = 0; i < row.count; ++i) sorting_.push_back({values_[row.first + i], tokens_[row.first + i]});
    std::nth_element(sorting_.begin(), sorting_.begin() + wanted - 1, sorting_.end(), std::greater<>());
    for (int i = 0; i < wanted; ++i) values_[row.first + i] = sorting_[i].first, tokens_[row.first + i] = sorting_[i].second;
    row.count = wanted;
    row.limit = sorting_[wanted - 1].first;
}

}  // namespace sightline
