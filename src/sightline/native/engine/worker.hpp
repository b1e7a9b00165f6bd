// One core's work: a number of sentences is searched side by side; where one is finished, the next one takes its place.
#pragma once
#include "choose.hpp"
#include "job.hpp"
#include "network.hpp"

namespace sightline {

class Worker {
   public:
    explicit Worker(const Model& model) : model_(model) {}
    void run(const Job& job, Queue& queue);

   private:
    void admit(const Job& job, Queue& queue);
    void advance(const Job& job);
    // Chooses continuations of sentence `place`, whose rows begin at `row`; true when its search is over.
    bool choose(size_t place, int row);
    void answer(const Job& job, Sentence& sentence) const;

    const Model& model_;
    std::vector<std::unique_ptr<Sentence>> active_, idle_;
    Workspace work_;
    Chooser chooser_;
    std::vector<Live> lives_;
    std::vector<char> seen_;
    int projected_ = 0, end_ = 0;  // the rows whose logits are at hand: from `projected_` to before `end_`
};

}  // namespace sightline
