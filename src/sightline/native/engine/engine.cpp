// What Python calls. Nothing is thrown through here: a failure is a message, and an empty one is success.
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>

#include "worker.hpp"

namespace sightline {

namespace {

// A model and the workers that are not busy: their memory is used again by the next call.
class Engine {
   public:
    Engine(const Shape& shape, const float* const* weights, int count, Shortlist shortlist)
        : model_(shape, weights, count, std::move(shortlist)) {}

    std::string search(const Job& job) {
        Queue queue(job);
        std::vector<std::unique_ptr<Worker>> workers;
        for (int i = 0; i < job.workers; ++i) workers.push_back(hire());
        std::vector<std::thread> threads;
        try {
            for (int i = 1; i < job.workers; ++i) threads.emplace_back([&, i] { workers[i]->run(job, queue); });
        } catch (const std::system_error&) {  // no more threads: those that there are do it
        }
        workers[0]->run(job, queue);
        for (auto& thread : threads) thread.join();
        std::lock_guard<std::mutex> held(lock_);
        for (auto& worker : workers) free_.push_back(std::move(worker));
        return queue.failure();
    }

   private:
    std::unique_ptr<Worker> hire() {
        std::lock_guard<std::mutex> held(lock_);
        if (free_.empty()) return std::make_unique<Worker>(model_);
        auto worker = std::move(free_.back());
        free_.pop_back();
        return worker;
    }

    const Model model_;
    std::mutex lock_;
    std::vector<std::unique_ptr<Worker>> free_;
};

void say(const std::string& text, char* message, int room) {
    std::strncpy(message, text.c_str(), room - 1);
    message[room - 1] = 0;
}

}  // namespace

}  // namespace sightline

extern "C" {

// `per_token` tokens of the shortlist for each source token, and `always` those of any sentence; 0 and 0: no shortlist.
void* sightline_engine_make(const sightline::Shape* shape, const float* const* weights, int count, const int32_t* of_each,
                            int per_token, const int32_t* always, int always_count, char* message, int room) {
    try {
        sightline::Shortlist list;
        if (always_count)
            list = {of_each, shape->source_vocabulary, per_token, always, always_count, shape->target_vocabulary};
        return new sightline::Engine(*shape, weights, count, std::move(list));
    } catch (const std::exception& error) {
        sightline::say(error.what(), message, room);
        return nullptr;
    }
}

void sightline_engine_free(void* engine) { delete static_cast<sightline::Engine*>(engine); }

void sightline_engine_search(void* engine, const sightline::Job* job, char* message, int room) {
    std::string failure;
    try {
        failure = static_cast<sightline::Engine*>(engine)->search(*job);
    } catch (const std::exception& error) {
        failure = error.what();
    }
    sightline::say(failure, message, room);
}

// 1: products of bytes have instructions of their own here.
int sightline_engine_has_byte_products() {
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
    return 1;
#else
    return 0;
#endif
}
}
