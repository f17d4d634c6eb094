/*
 * What a choice of threads and time weighs: by node, by function, by module, by thread, by bucket of time.
 *
 * Weights are kept as samples where every sample weighs the same (`scale` is what one weighs), else as sums of
 * periods. A difference has a second column, `before`, scaled as --normalise says: by weight, so that both sides weigh the
 * same; by time or not at all, by one factor.
 */
'use strict';

/* The entries [i, end) of thread t that are of the buckets [from, to): groups lie in the order of time. */
function entriesOf({first, begin, bucket}, t, {from, to}) {
    const g = lowerBound(bucket, from, first[t], first[t + 1]);
    return {i: begin[g], end: begin[lowerBound(bucket, to, g, first[t + 1])]};
}

function addColumn(self, node, column, i, end) {
    let sum = 0;
    for (; i < end; i++) {
        self[node[i]] += column[i];
        sum += column[i];
    }
    return sum;
}

function addSide(side, choice, lane, self, samples) {
    let sum = 0;
    for (let t = 0; t + 1 < side.first.length; t++) {
        if (choice.thread >= 0 && choice.thread !== lane[t])
            continue;
        const {i, end} = entriesOf(side, t, choice);
        sum += addColumn(self, side.node, side.weight || side.samples, i, end);
        if (samples)
            addColumn(samples, side.node, side.samples, i, end);
    }
    return sum;
}

/* How many samples a side has of what is chosen. */
function samplesOf(side, choice, lane) {
    let sum = 0;
    for (let t = 0; t + 1 < side.first.length; t++) {
        if (choice.thread >= 0 && choice.thread !== lane[t])
            continue;
        for (let {i, end} = entriesOf(side, t, choice); i < end; i++)
            sum += side.samples[i];
    }
    return sum;
}

/* The first of sorted[from, to) that is not less than value. */
function lowerBound(sorted, value, from, to) {
    while (from < to) {
        const middle = (from + to) >> 1;
        if (sorted[middle] < value)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

function sumSubtrees(nodes, self) {
    const total = self.slice(), parent = nodes.parent;
    for (let i = nodes.n - 1; i >= 0; i--)
        if (parent[i] >= 0)
            total[parent[i]] += total[i];
    return total;
}

/* choice: {thread (-1: all; else of profile.lane), from, to (buckets)} */
function weigh(profile, choice) {
    const nodes = profile.nodes, after = profile.sides[0], n = nodes.n;
    const w = {choice, scale: after.period || 1, self: new Float64Array(n), selfSamples: null, before: null};
    if (after.weight)
        w.selfSamples = new Float64Array(n);
    w.sum = addSide(after, choice, profile.lane, w.self, w.selfSamples);
    w.total = sumSubtrees(nodes, w.self);
    w.samples = w.selfSamples && sumSubtrees(nodes, w.selfSamples);
    if (profile.sides[1]) {
        // The same of the other run: threads of that name, that time from its first sample on.
        const self = new Float64Array(n);
        const side = profile.sides[1], {normalise, scale} = profile.facts;
        const sum = addSide(side, choice, profile.lane, self, null), samples = samplesOf(side, choice, profile.lane);
        const factor = normalise && normalise !== 'weight' ? scale * (side.period || 1) / w.scale : sum ? w.sum / sum : 0;
        for (let i = 0; i < n; i++)
            self[i] *= factor;
        // `each`: what a sample of it weighs now, which says what chance can do.
        w.before = {self, total: sumSubtrees(nodes, self), each: samples ? sum * factor / samples : 0};
    }
    return w;
}

/* Self and total of each function; one that recurs counts once. */
function byFunction(profile, self, total) {
    const {n, frame, end} = profile.nodes;
    const selfs = new Float64Array(profile.frames.n), totals = new Float64Array(profile.frames.n);
    const until = new Int32Array(profile.frames.n);
    for (let i = 0; i < n; i++) {
        const f = frame[i];
        selfs[f] += self[i];
        if (i >= until[f]) {
            totals[f] += total[i];
            until[f] = end[i];
        }
    }
    return {self: selfs, total: totals};
}

/* What is in, or below, nodes whose function is marked: each sample once. */
function shareOf(profile, total, marked) {
    const {n, frame, end} = profile.nodes;
    let sum = 0;
    for (let i = 0; i < n;) {
        if (marked[frame[i]]) {
            sum += total[i];
            i = end[i];
        } else {
            i++;
        }
    }
    return sum;
}

function byModule(profile, functions) {
    const sums = new Float64Array(profile.modules.length), module = profile.frames.module;
    for (let f = 0; f < module.length; f++)
        sums[module[f]] += functions.self[f];
    return sums;
}

/* Of each thread, in all of the time. */
function byThread(profile, side = profile.sides[0]) {
    if (side.threads)
        return side.threads;
    const sums = side.threads = profile.threads.map(() => 0);
    const column = side.weight || side.samples;
    for (let t = 0; t < sums.length; t++)
        for (let i = side.begin[side.first[t]], end = side.begin[side.first[t + 1]]; i < end; i++)
            sums[profile.lane[t]] += column[i];
    return sums;
}

/* Of each bucket of time: all threads, and one of them. */
function byTime(profile, thread) {
    const side = profile.sides[0], column = side.weight || side.samples, {first, begin, bucket} = side;
    if (side.times && side.times.thread === thread)
        return side.times;
    const all = new Float64Array(profile.buckets), one = thread < 0 ? all : new Float64Array(profile.buckets);
    for (let t = 0; t < profile.threads.length; t++)
        for (let g = first[t]; g < first[t + 1]; g++) {
            let w = 0;
            for (let i = begin[g]; i < begin[g + 1]; i++)
                w += column[i];
            all[bucket[g]] += w;
            if (profile.lane[t] === thread)
                one[bucket[g]] += w;
        }
    return side.times = {thread, all, one};
}
