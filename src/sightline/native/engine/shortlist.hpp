// Which target tokens a translation may be made of, by the tokens of its source. Optional: without one, all.
#pragma once
#include <cstdint>
#include <vector>

#include "product.hpp"

namespace sightline {

class Shortlist {
   public:
    Shortlist() = default;
    // `of_each`: so many tokens for each source token, filled up with -1; `always`: those that any sentence may have.
    Shortlist(const int32_t* of_each, int source_vocabulary, int per_token, const int32_t* always, int count, int vocabulary);

    bool empty() const { return always_.empty(); }
    // The tokens for a source and a forced beginning, in order. `seen` is room that the caller keeps.
    void collect(const int32_t* source, int length, const int32_t* prefix, int prefix_length, std::vector<char>& seen,
                 std::vector<int32_t>& to) const;

   private:
    int per_token_ = 0, vocabulary_ = 0;
    std::vector<int32_t> of_each_, always_;
};

}  // namespace sightline
