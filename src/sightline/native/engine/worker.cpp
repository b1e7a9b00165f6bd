// One core's work.
#include "worker.hpp"

#include <algorithm>
#include <exception>

namespace sightline {

namespace {

constexpr int READ_TOGETHER = 1024;  // source tokens

}  // namespace

Queue::Queue(const Job& job) : job_(job) {
    waiting_.resize(job.sentences);
    for (int i = 0; i < job.sentences; ++i) waiting_[i] = i;
    std::stable_sort(waiting_.begin(), waiting_.end(), [&](int a, int b) {
        return job.offsets[a + 1] - job.offsets[a] > job.offsets[b + 1] - job.offsets[b];
    });
}

std::vector<int> Queue::take(int count, int tokens) {
    std::lock_guard<std::mutex> held(lock_);
    std::vector<int> taken;
    if (!failure_.empty()) return taken;
    const int left = (int)(waiting_.size() - next_), share = (left + job_.workers - 1) / job_.workers;
    for (int64_t sum = 0; (int)taken.size() < std::min(count, share) && sum < tokens; ++next_) {
        taken.push_back(waiting_[next_]);
        sum += job_.offsets[taken.back() + 1] - job_.offsets[taken.back()];
    }
    return taken;
}

void Queue::fail(const std::string& message) {
    std::lock_guard<std::mutex> held(lock_);
    if (failure_.empty()) failure_ = message;
}

std::string Queue::failure() {
    std::lock_guard<std::mutex> held(lock_);
    return failure_;
}

void Worker::run(const Job& job, Queue& queue) {
    try {
        while (true) {
            admit(job, queue);
            if (active_.empty()) return;
            advance(job);
        }
    } catch (const std::exception& error) {
        queue.fail(error.what()[0] ? error.what() : "failed");
    }
    active_.clear();
}

// New sentences are read together: one by one, the weights would be fetched for each.
void Worker::admit(const Job& job, Queue& queue) {
    const int places = std::max(1, job.rows / job.beam), free = places - (int)active_.size();
    if (free < std::max(1, places / 2)) return;
    std::vector<Source> sources;
    for (int number : queue.take(free, READ_TOGETHER)) {
        if (idle_.empty()) idle_.push_back(std::make_unique<Sentence>());
        active_.push_back(std::move(idle_.back()));
        idle_.pop_back();
        Sentence& sentence = *active_.back();
        const int64_t begin = job.offsets[number], prefix_begin = job.prefix_offsets[number];
        const int32_t *source = job.tokens + begin, *prefix = job.prefixes + prefix_begin;
        const int length = (int)(job.offsets[number + 1] - begin), given = (int)(job.prefix_offsets[number + 1] - prefix_begin);
        sentence.start(model_, number, {job.beam, job.n_best, job.length_penalty}, length, job.limits[number], prefix, given);
        if (!model_.shortlist.empty()) {
            model_.shortlist.collect(source, length, prefix, given, seen_, sentence.names);
            pack(model_.plain_words, sentence.names.data(), (int)sentence.names.size(), sentence.words);
        }
        sources.push_back({source, length, &sentence});
    }
    if (!sources.empty()) encode(model_, {job.source_positions, job.source_reach}, sources, work_);
}

void Worker::advance(const Job& job) {
    lives_.clear();
    for (auto& sentence : active_)
        for (int i = 0; i < sentence->beam.alive(); ++i) lives_.push_back({sentence.get(), i});
    step(model_, {job.target_positions, job.target_reach}, lives_, work_);
    std::vector<std::unique_ptr<Sentence>> staying;
    projected_ = end_ = 0;
    int row = 0;
    for (size_t i = 0; i < active_.size(); ++i) {
        const int alive = active_[i]->beam.alive();
        const bool over = choose(i, row);
        row += alive;
        if (over) answer(job, *active_[i]);
        (over ? idle_ : staying).push_back(std::move(active_[i]));
    }
    active_.swap(staying);
}

bool Worker::choose(size_t place, int row) {
    Sentence& sentence = *active_[place];
    if (!model_.shortlist.empty()) {
        chooser_.project(sentence.words, work_.narrow, row, sentence.beam.alive());
        return sentence.beam.advance(chooser_.choose(sentence.beam, 0, sentence.words.outputs, sentence.names.data()));
    }
    if (row == end_) {  // as many sentences at once as suits the memory near the core
        const int most = Chooser::most_rows(model_.words);
        projected_ = row;
        do end_ += active_[place++]->beam.alive();
        while (place < active_.size() && end_ - projected_ + active_[place]->beam.alive() <= most);
        chooser_.project(model_.words, work_.narrow, projected_, end_ - projected_);
    }
    return sentence.beam.advance(chooser_.choose(sentence.beam, row - projected_, model_.words.outputs, nullptr));
}

void Worker::answer(const Job& job, Sentence& sentence) const {
    const int64_t number = sentence.number(), prefix = job.prefix_offsets[number + 1] - job.prefix_offsets[number];
    const int64_t room = std::max<int64_t>(job.limits[number], prefix);
    const auto& finished = sentence.beam.finished;
    const int count = std::min((int)finished.size(), job.n_best);
    job.counts[number] = count;
    for (int i = 0; i < count; ++i) {
        const int64_t place = number * job.n_best + i;
        job.lengths[place] = (int32_t)finished[i].tokens.size();
        job.log_probabilities[place] = finished[i].log_probability;
        std::copy(finished[i].tokens.begin(), finished[i].tokens.end(), job.found + job.found_offsets[number] + i * room);
    }
}

}  // namespace sightline
