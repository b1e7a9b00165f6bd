// The beam of one sentence.
#include "beam.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sightline {

void Beam::start(const Options& options, int limit, const int32_t* prefix, int prefix_length) {
    options_ = options, prefix_ = prefix, prefix_length_ = prefix_length;
    limit_ = std::max(limit, prefix_length);
    alive_ = 1, length_ = 0, now_ = 0, room_ = limit_ + 1;  // at first the copies of a sentence are one hypothesis
    scores_.assign(options.width, 0.0f);
    finished.clear();
    for (int side = 0; side < 2; ++side) {
        history_[side].resize((size_t)options.width * room_);
        ancestors_[side].resize((size_t)options.width * room_);
    }
}

int32_t Beam::token(int hypothesis) const { return length_ ? history(hypothesis)[length_ - 1] : BOS; }

int32_t Beam::only() const { return length_ < prefix_length_ ? prefix_[length_] : length_ >= limit_ ? EOS : -1; }

bool Beam::advance(const Choices* of_each) {
    candidates_.clear();
    for (int parent = 0; parent < alive_; ++parent)
        for (int i = 0; i < of_each[parent].count; ++i) {
            const int32_t token = of_each[parent].tokens[i];
            const float total = scores_[parent] + (of_each[parent].logits[i] - of_each[parent].log_total);
            if (token != PAD && token != BOS && total > -std::numeric_limits<float>::infinity())
                candidates_.push_back({total, parent, token});
        }
    const int most = std::min((int)candidates_.size(), 2 * options_.width);  // at worst half of them end here
    std::partial_sort(candidates_.begin(), candidates_.begin() + most, candidates_.end(), [](auto& a, auto& b) {
        return a.total != b.total ? a.total > b.total : a.parent != b.parent ? a.parent < b.parent : a.token < b.token;
    });
    int kept = 0;
    const int next = 1 - now_;
    for (int place = 0; place < most; ++place) {
        const Candidate& chosen = candidates_[place];
        if (chosen.token == EOS) {
            if (place < options_.width) finish(chosen);
            continue;
        }
        if (kept == options_.width) continue;
        int32_t* tokens = history_[next].data() + (size_t)kept * room_;
        uint16_t* entries = ancestors_[next].data() + (size_t)kept * room_;
        std::copy_n(history(chosen.parent), length_, tokens);
        std::copy_n(ancestors(chosen.parent), length_ + 1, entries);
        tokens[length_] = chosen.token;
        candidates_[kept++] = chosen;  // never behind `place`
    }
    for (int i = 0; i < kept; ++i) scores_[i] = candidates_[i].total;
    alive_ = kept, now_ = next, ++length_;
    return done(kept ? scores_[0] : -std::numeric_limits<float>::infinity());
}

void Beam::finish(const Candidate& candidate) {
    const int32_t* tokens = history(candidate.parent);
    Finished made{{tokens, tokens + length_}, candidate.total, normalised(candidate.total, length_ + 1)};
    auto place = std::upper_bound(
        finished.begin(), finished.end(), made.score, [](double score, const Finished& other) { return score > other.score; });
    finished.insert(place, std::move(made));
    if ((int)finished.size() > options_.width) finished.pop_back();
}

bool Beam::done(float best_alive) const {
    const int found = (int)finished.size();
    if (alive_ == 0 || found >= options_.width) return true;
    if (found < options_.n_best) return false;
    return normalised(best_alive, limit_ + 1) <= finished[options_.n_best - 1].score;
}

double Beam::normalised(double log_probability, int tokens) const {
    return log_probability / std::pow((5.0 + tokens) / 6.0, options_.length_penalty);
}

}  // namespace sightline
