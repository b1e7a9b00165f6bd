// The beam of one sentence: the same rules as decode/search.py, hypothesis for hypothesis.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sightline {

constexpr int32_t PAD = 0, BOS = 1, EOS = 2;

struct Options {
    int width, n_best;
    double length_penalty;
};

struct Finished {
    std::vector<int32_t> tokens;  // without the end mark
    float log_probability;
    double score;
};

// A continuation of a hypothesis.
struct Choice {
    float total;  // log-probability of the whole
    int parent;
    int32_t token;
};

class Beam {
   public:
    // `prefix` must outlive the beam.
    void start(const Options& options, int limit, const int32_t* prefix, int prefix_length);

    int alive() const { return alive_; }
    int length() const { return length_; }  // tokens written so far; also the position of the token to be read
    int32_t token(int hypothesis) const;  // the one to be read
    // The only token allowed next, or -1: what the prefix says; at the limit the end alone.
    int32_t only() const;
    float score(int hypothesis) const { return scores_[hypothesis]; }
    // How many continuations are to be looked at: at worst half of them end here. Greedy search needs the best alone.
    std::size_t choices() const { return options_.width == 1 ? 1 : 2 * (std::size_t)options_.width; }
    // For each position read so far the entry of the cache that this hypothesis wrote or inherited.
    uint16_t* ancestors(int hypothesis) { return ancestors_[now_].data() + (std::size_t)hypothesis * room_; }

    // Go on with these continuations, the best first. True when the search of this sentence is over.
    bool advance(const std::vector<Choice>& choices);

    std::vector<Finished> finished;  // best first

   private:
    void finish(const Choice& choice);
    bool done(float best_alive) const;
    double normalised(double log_probability, int tokens) const;
    const int32_t* history(int hypothesis) const { return history_[now_].data() + (std::size_t)hypothesis * room_; }

    Options options_{};
    int limit_ = 0, prefix_length_ = 0, alive_ = 0, length_ = 0, now_ = 0, room_ = 0;
    const int32_t* prefix_ = nullptr;
    std::vector<float> scores_;
    std::vector<int32_t> history_[2];
    std::vector<uint16_t> ancestors_[2];
};

}  // namespace sightline
