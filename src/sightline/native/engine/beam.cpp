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

bool Beam::advance(const std::vector<Choice>& choices) {
    int kept = 0;
    const int next = 1 - now_;
    for (int place = 0; place < (int)choices.size() && kept < options_.width; ++place) {
        const Choice& chosen = choices[place];
        if (!(chosen.total > -std::numeric_limits<float>::infinity())) break;
        if (chosen.token == EOS) {
            if (place < options_.width) finish(chosen);
            continue;
        }
        int32_t* tokens = history_[next].data() + (std::size_t)kept * room_;
        uint16_t* entries = ancestors_[next].data() + (std::size_t)kept * room_;
        std::copy_n(history(chosen.parent), length_, tokens);
        std::copy_n(ancestors(chosen.parent), length_ + 1, entries);
        tokens[length_] = chosen.token;
        scores_[kept++] = chosen.total;
    }
    alive_ = kept, now_ = next, ++length_;
    return done(kept ? scores_[0] : -std::numeric_limits<float>::infinity());
}

void Beam::finish(const Choice& choice) {
    const int32_t* tokens = history(choice.parent);
    Finished made{{tokens, tokens + length_}, choice.total, normalised(choice.total, length_ + 1)};
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
