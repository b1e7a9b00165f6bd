// The output layer: the likeliest tokens of each row and the sum over the vocabulary, a block of the vocabulary at a time, so
// that logits never exist as a whole.
#pragma once
#include "beam.hpp"
#include <vector>

#include "product.hpp"

namespace sightline {

// What is to be chosen for one row.
struct Wish {
    int count;  // so many likeliest tokens
    int32_t only;  // or this one alone; -1: any
};

class Chooser {
   public:
    // `rows` of `states` times `words`; `names`: which token each output stands for, null where they are the tokens themselves.
    void choose(const Linear& words, const int32_t* names, const Rows& states, int rows, const Wish* wishes, Choices* found);

   private:
    struct Row {
        float most, total;  // largest logit, and the sum of exp(logit - most)
        int count, first;  // candidates so far, the largest first, and where they stand
    };
    void look_through(Row& row, const Wish& wish, const int32_t* names, const float* logits, int begin, int count);
    void insert(Row& row, int wanted, float logit, int32_t token);

    Buffer<float> logits_;
    std::vector<Row> rows_;
    std::vector<float> values_;
    std::vector<int32_t> tokens_;
};

}  // namespace sightline
