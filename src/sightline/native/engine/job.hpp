// What is asked of the engine in one call, and where the answers go. The same fields stand in decode/native_engine.py.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace sightline {

extern "C" struct Job {
    int64_t sentences;
    const int32_t* tokens;  // of all sources, end marks included
    const int64_t* offsets;  // where each source begins, then the end
    const int32_t* limits;  // the most tokens of each translation
    const int32_t* prefixes;
    const int64_t* prefix_offsets;
    const float *source_positions, *target_positions;  // null: none
    int32_t source_reach, target_reach;
    int32_t beam, n_best;
    double length_penalty;
    int32_t workers, rows;  // rows: hypotheses that one worker continues together
    // answers
    int32_t* counts;  // hypotheses of each sentence
    int32_t* lengths;  // of each hypothesis, n_best per sentence
    float* log_probabilities;
    int32_t* found;  // tokens: of each sentence n_best times max(limit, prefix)
    const int64_t* found_offsets;  // where a sentence's begin
};

// Who takes which sentence: the longest first, so that the workers end together.
class Queue {
   public:
    explicit Queue(const Job& job);
    // At most `count` sentences of together about `tokens` tokens; near the end only a fair share.
    std::vector<int> take(int count, int tokens);
    void fail(const std::string& message);
    std::string failure();

   private:
    const Job& job_;
    std::mutex lock_;
    std::vector<int> waiting_;
    size_t next_ = 0;
    std::string failure_;
};

}  // namespace sightline
