// Which target tokens a translation may be made of.
#include "shortlist.hpp"

namespace sightline {

Shortlist::Shortlist(
    const int32_t* of_each, int source_vocabulary, int per_token, const int32_t* always, int count, int vocabulary)
    : per_token_(per_token),
      vocabulary_(vocabulary),
      of_each_(of_each, of_each + (size_t)source_vocabulary * per_token),
      always_(always, always + count) {}

void Shortlist::collect(const int32_t* source, int length, const int32_t* prefix, int prefix_length, std::vector<char>& seen,
                        std::vector<int32_t>& to) const {
    seen.assign(vocabulary_, 0);
    for (int32_t token : always_) seen[token] = 1;
    for (int i = 0; i < prefix_length; ++i) seen[prefix[i]] = 1;
    for (int i = 0; i < length; ++i) {
        const int32_t* tokens = of_each_.data() + (size_t)source[i] * per_token_;
        for (int k = 0; k < per_token_ && tokens[k] >= 0; ++k) seen[tokens[k]] = 1;
    }
    to.clear();
    for (int32_t token = 0; token < vocabulary_; ++token)
        if (seen[token]) to.push_back(token);
}

}  // namespace sightline
