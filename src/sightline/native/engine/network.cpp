// The encoder and one step of the decoder.
#include "network.hpp"

#include <stdexcept>
#include <string>

namespace sightline {

void Workspace::reserve(const Model& model, int rows) {
    const Shape& shape = model.shape;
    const int dim = shape.dim, span = std::max(model.encoder_heads.span(), model.decoder_heads.span());
    const int hidden = std::max(shape.encoder.hidden, shape.decoder.hidden);
    stride = padded(dim), wide_stride = padded(std::max(3 * span, hidden));
    states.reserve((size_t)rows * stride);
    wide.reserve((size_t)rows * wide_stride);
    line.reserve(padded(std::max(dim, span)));
    narrow.reserve(rows, std::max(dim, span), shape.int8);
    broad.reserve(rows, hidden, shape.int8);
}

namespace {

// The parts that encoder and decoder have in common. `rows` of `work.states` are worked on.
struct Pass {
    const Shape& shape;
    const StackShape& stack;
    const Heads& heads;
    Workspace& work;
    const int rows, dim = shape.dim, span = heads.span();

    float* state(int row) const { return work.states.get() + (size_t)row * work.stride; }
    float* wide(int row) const { return work.wide.get() + (size_t)row * work.wide_stride; }

    void embed(int row, const std::vector<float>& table, int32_t token, const Positions& positions, int place) const {
        const float* vector = table.data() + (size_t)token * dim;
        if (positions.values && place >= positions.reach)
            throw std::out_of_range(std::to_string(place + 1) + " tokens are more than the " + std::to_string(positions.reach) +
                                    " positions that this model has learned; shorten the text, or train a model with more");
        const float* added = positions.values ? positions.values + (size_t)place * dim : nullptr;
        float* to = state(row);
        for (int i = 0; i < dim; ++i) to[i] = added ? vector[i] + added[i] : vector[i];
    }
    // What a sub-layer reads: the states, brought to norm on the way where norms come first.
    void read(const Norm& norm) const {
        for (int row = 0; row < rows; ++row) {
            if (stack.pre_norm) normalise(norm, shape.epsilon, state(row), work.line.get(), dim);
            work.narrow.take(row, stack.pre_norm ? work.line.get() : state(row), dim);
        }
    }
    // Into `work.wide`.
    void project(const Linear& linear) const {
        multiply(linear, work.narrow, 0, rows, [&](int row, int column, Floats value) { store(wide(row) + column, value); });
    }
    // The states plus what a sub-layer gives; brought to norm where norms come last.
    void add(const Linear& linear, const Rows& from, const Norm& norm) const {
        multiply(linear, from, 0, rows, [&](int row, int column, Floats value) {
            float* to = state(row) + column;
            store(to, load(to) + value);
        });
        if (!stack.pre_norm)
            for (int row = 0; row < rows; ++row) normalise(norm, shape.epsilon, state(row), state(row), dim);
    }
    void feed(const FeedForward& layer) const {
        read(layer.norm);
        const auto name = (Activation)stack.activation;
        multiply(layer.wide, work.narrow, 0, rows,
                 [&](int row, int column, Floats value) { store(wide(row) + column, activated(name, value)); });
        for (int row = 0; row < rows; ++row) work.broad.take(row, wide(row), stack.hidden);
        add(layer.back, work.broad, layer.norm);
    }
    // One row looks at `count` keys, whose addresses stand in `work.keys`.
    void look(int row, int count, bool in_full) const {
        float* weights = work.scores.reserve((size_t)count * LANES);
        (in_full ? attend<Full> : attend<Short>)(heads, wide(row), work.keys.data(), count, weights, work.line.get());
        work.narrow.take(row, work.line.get(), span);
    }
    // Keys and values, as they are kept.
    void keep(const float* from, char* to) const {
        for (int pair = 0; pair < span / LANES; ++pair) {
            const Floats a = load(from + 2 * pair * LANES), b = load(from + (2 * pair + 1) * LANES);
            shape.int8 ? Short::write(to, pair, a, b) : Full::write(to, pair, a, b);
        }
    }
    // What comes after the stack reads this.
    void end(const Norm& norm) const { read(norm); }
};

void look_around(const Pass& pass, const std::vector<Source>& sources) {
    int first = 0;
    for (const Source& source : sources) {
        pass.work.keys.resize(source.length);
        for (int i = 0; i < source.length; ++i) pass.work.keys[i] = pass.wide(first + i) + pass.span;
        for (int i = 0; i < source.length; ++i) pass.look(first + i, source.length, true);
        first += source.length;
    }
}

void remember_source(const Pass& pass, const Model& model, const std::vector<Source>& sources) {
    for (int layer = 0; layer < model.shape.decoder.layers; ++layer) {
        pass.project(model.decoder[layer].cross_key_value);
        int row = 0;
        for (const Source& source : sources)
            for (int i = 0; i < source.length; ++i, ++row)
                pass.keep(pass.wide(row), source.sentence->source(layer, i));
    }
}

// What one row looks at next is fetched while the row before it looks: it lies all over the memory.
void fetch(const std::vector<const void*>& keys, size_t bytes) {
    for (const void* key : keys)
        for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(key) + i, 0, 2);
}

void look_back(const Pass& pass, int layer, const std::vector<Live>& lives) {
    auto &keys = pass.work.keys, &next = pass.work.next_keys;
    const auto keys_of = [&](const Live& live) {
        Sentence& sentence = *live.sentence;
        const int position = sentence.beam.length();
        uint16_t* entries = sentence.beam.ancestors(live.hypothesis);
        entries[position] = (uint16_t)live.hypothesis;
        next.resize(position + 1);
        for (int t = 0; t <= position; ++t) next[t] = sentence.past(layer, t, entries[t]);
    };
    keys_of(lives[0]);
    for (int row = 0; row < pass.rows; ++row) {
        keys.swap(next);
        Sentence& sentence = *lives[row].sentence;
        pass.keep(pass.wide(row) + pass.span, sentence.past(layer, sentence.beam.length(), lives[row].hypothesis));
        if (row + 1 < pass.rows) {
            keys_of(lives[row + 1]);
            fetch(next, sentence.stride());
        }
        pass.look(row, (int)keys.size(), !pass.shape.int8);
    }
}

void look_at_source(const Pass& pass, int layer, const std::vector<Live>& lives) {
    auto &keys = pass.work.keys, &next = pass.work.next_keys;
    const auto keys_of = [&](Sentence& sentence) {
        next.resize(sentence.source_length());
        for (int i = 0; i < (int)next.size(); ++i) next[i] = sentence.source(layer, i);
    };
    keys_of(*lives[0].sentence);
    for (int row = 0, end = 0; row < pass.rows; row = end) {
        keys.swap(next);
        while (end < pass.rows && lives[end].sentence == lives[row].sentence) ++end;
        if (end < pass.rows) {
            keys_of(*lives[end].sentence);
            fetch(next, lives[end].sentence->stride());
        }
        for (int own = row; own < end; ++own) pass.look(own, (int)keys.size(), !pass.shape.int8);
    }
}

}  // namespace

void encode(const Model& model, const Positions& positions, const std::vector<Source>& sources, Workspace& work) {
    int rows = 0;
    for (const Source& source : sources) rows += source.length;
    work.reserve(model, rows);
    const Pass pass{model.shape, model.shape.encoder, model.encoder_heads, work, rows};
    int row = 0;
    for (const Source& source : sources)
        for (int i = 0; i < source.length; ++i) pass.embed(row++, *model.source_table, source.tokens[i], positions, i);
    for (const EncoderLayer& layer : model.encoder) {
        pass.read(layer.norm);
        pass.project(layer.query_key_value);
        look_around(pass, sources);
        pass.add(layer.output, work.narrow, layer.norm);
        pass.feed(layer.feed);
    }
    pass.end(model.encoder_norm);
    remember_source(pass, model, sources);
}

void step(const Model& model, const Positions& positions, const std::vector<Live>& lives, Workspace& work) {
    work.reserve(model, (int)lives.size());
    const Pass pass{model.shape, model.shape.decoder, model.decoder_heads, work, (int)lives.size()};
    for (int row = 0; row < pass.rows; ++row) {
        const Beam& beam = lives[row].sentence->beam;
        pass.embed(row, *model.target_table, beam.token(lives[row].hypothesis), positions, beam.length());
    }
    for (int i = 0; i < model.shape.decoder.layers; ++i) {
        const DecoderLayer& layer = model.decoder[i];
        pass.read(layer.norm);
        pass.project(layer.query_key_value);
        look_back(pass, i, lives);
        pass.add(layer.output, work.narrow, layer.norm);
        pass.read(layer.cross_norm);
        pass.project(layer.cross_query);
        look_at_source(pass, i, lives);
        pass.add(layer.cross_output, work.narrow, layer.cross_norm);
        pass.feed(layer.feed);
    }
    pass.end(model.decoder_norm);
}

}  // namespace sightline
