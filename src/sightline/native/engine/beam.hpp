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

// What the output layer found for one hypothesis.
struct Choices {
    float log_total = 0;  // log of the sum of all exponentials: logit - log_total is a log-probability
    int count = 0;
    const float* logits = nullptr;
    const int32_t* tokens = nullptr;
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
    // For each position read so far the entry of the cache that this hypothesis wrote or inherited.
    uint16_t* ancestors(int hypothesis) { return ancestors_[now_].data() + (std::size_t)hypothesis * room_; }

    // Take the best continuations. True when the search of this sentence is over.
    bool advance(const Choices* of_each);

    std::vector<Finished> finished;  // best first

   private:
    struct Candidate {
        float total;
        int parent;
        int32_t token;
    };
    void finish(const Candidate& candidate);
    bool done(float best_alive) const;
    double normalised(double log_probability, int tokens) const;
    const int32_t* history(int hypothesis) const { return history_[now_].data() + (std::size_t)hypothesis * room_; }

    Options options_{};
    int limit_ = 0, prefix_length_ = 0, alive_ = 0, length_ = 0, now_ = 0, room_ = 0;
    const int32_t* prefix_ = nullptr;
    std::vector<float> scores_;
    std::vector<int32_t> history_[2];
    std::vector<uint16_t> ancestors_[2];
    std::vector<Candidate> candidates_;
};

}  // namespace sightline
