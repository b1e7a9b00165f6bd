// The output layer and what is chosen from it: the likeliest continuations of all hypotheses of a sentence.
#pragma once
#include "beam.hpp"
#include "product.hpp"

namespace sightline {

class Chooser {
   public:
    // How many hypotheses may be projected together: what their logits need stays near the core.
    static int most_rows(const Linear& words);

    // The logits of `count` rows of `states`, from `first` on.
    void project(const Linear& words, const Rows& states, int first, int count);

    // The best continuations of a beam whose hypotheses' logits begin at row `first` of those projected, the best first.
    // `names`: which token each logit stands for; null where they are the tokens themselves.
    const std::vector<Choice>& choose(const Beam& beam, int first, int outputs, const int32_t* names);

   private:
    void look_through(
        const float* logits, int outputs, const int32_t* names, float log_total, int hypothesis, float score, size_t wanted);
    void insert(const Choice& choice, size_t wanted);

    int stride_ = 0;
    Buffer<float> logits_;
    std::vector<Choice> best_;
};

}  // namespace sightline
