// The output layer and what is chosen from it.
#include "choose.hpp"

#include <cmath>
#include <limits>

namespace sightline {

namespace {

constexpr float NEVER = -std::numeric_limits<float>::infinity();
constexpr size_t NEAR = 1 << 20;  // bytes of logits that stay near …
constexpr size_t FEWEST = 16;     // … but at least so many rows of them, because each group reads all weights anew

// The largest of the logits. Whole vectors: what lies beyond the last is never the largest.
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

int Chooser::most_rows(const Linear& words) {
    return (int)std::max<size_t>(FEWEST, NEAR / (sizeof(float) * words.panels * PANEL));
}

void Chooser::project(const Linear& words, const Rows& states, int first, int count) {
    stride_ = words.panels * PANEL;
    float* logits = logits_.reserve((size_t)count * stride_);
    multiply(words, states, first, first + count, [&](int row, int column, Floats value) {
        store(logits + (size_t)(row - first) * stride_ + column, value);
    });
    for (int row = 0; row < count; ++row)
        for (int i = words.outputs; i < stride_; ++i) logits[(size_t)row * stride_ + i] = NEVER;
}

const std::vector<Choice>& Chooser::choose(const Beam& beam, int first, int outputs, const int32_t* names) {
    best_.clear();
    const int32_t only = beam.only();
    for (int hypothesis = 0; hypothesis < beam.alive(); ++hypothesis) {
        float* logits = logits_.get() + (size_t)(first + hypothesis) * stride_;
        const float most = largest_of(logits, outputs), log_total = most + std::log(sum_of(logits, outputs, most));
        const float score = beam.score(hypothesis);
        if (only < 0) {
            for (int i = 0; i < outputs && (names ? names[i] : i) < EOS; ++i) logits[i] = NEVER;  // neither padding nor a beginning
            look_through(logits, outputs, names, log_total, hypothesis, score, beam.choices());
        } else if (only != PAD && only != BOS) {
            for (int i = names ? 0 : only; i < outputs; ++i) {
                if ((names ? names[i] : i) != only) continue;
                insert({score + (logits[i] - log_total), hypothesis, only}, beam.choices());
                break;
            }
        }
    }
    return best_;
}

void Chooser::look_through(
    const float* logits, int outputs, const int32_t* names, float log_total, int hypothesis, float score, size_t wanted) {
    // A logit that is not above this cannot be among the best, with something to spare for rounding.
    const auto limit = [&] {
        return best_.size() < wanted ? NEVER : best_.back().total - score + log_total - 1e-5f * (1 + std::fabs(log_total - score));
    };
    float least = limit();
    for (int i = 0; i < outputs; i += LANES)
        for (uint32_t bits = above(load(logits + i), least); bits; bits &= bits - 1) {
            const int place = i + __builtin_ctz(bits);
            insert({score + (logits[place] - log_total), hypothesis, names ? names[place] : place}, wanted);
            least = limit();
        }
}

void Chooser::insert(const Choice& choice, size_t wanted) {
    if (best_.size() == wanted) {
        if (choice.total <= best_.back().total) return;
        best_.pop_back();
    }
    size_t place = best_.size();
    best_.push_back(choice);
    for (; place > 0 && best_[place - 1].total < choice.total; --place) best_[place] = best_[place - 1];
    best_[place] = choice;
}

}  // namespace sightline
