/*
 * A made-up profile in the format of web/data.js, as large as wanted: a second writer of it, so that reader and writer
 * are not wrong in the same way. The same numbers give the same bytes.
 */

export function random(seed) {
    let a = seed >>> 0;
    return () => { // mulberry32
        a = (a + 0x6d2b79f5) >>> 0;
        let t = Math.imul(a ^ (a >>> 15), a | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

class Pen {
    constructor() {
        this.room = Buffer.alloc(1 << 20);
        this.n = 0;
    }
    need(n) {
        if (this.n + n > this.room.length)
            this.room = Buffer.concat([this.room, Buffer.alloc(this.room.length + n)]);
    }
    number(v) {
        this.need(10);
        while (v > 127) {
            this.room[this.n++] = (v % 128) | 128;
            v = Math.floor(v / 128);
        }
        this.room[this.n++] = v;
    }
    signed(v) {
        this.number(v < 0 ? -2 * v - 1 : 2 * v);
    }
    bytes(b) {
        this.need(b.length);
        this.n += Buffer.from(b).copy(this.room, this.n);
    }
}

/* Strings may be Buffers, so that they may be anything. */
function writeStrings(pen, strings) {
    const order = strings.map((s, i) => ({s: Buffer.from(s), i})).sort((a, b) => Buffer.compare(a.s, b.s));
    const place = [];
    pen.number(order.length);
    order.forEach(({s}) => pen.number(s.length));
    order.forEach(({s, i}, at) => {
        pen.bytes(s);
        place[i] = at;
    });
    return place;
}

/*
 * p: {facts, strings (the first: ""), short [[string, text]], modules [[name, path, kernel]], frames [[name, module, file + 1, line, kind, [[line, samples]]]],
 *     threads [[name, pid, tid]], parent [], frame [] (preorder), buckets, start, width,
 *     sides [{event, before, period, entries [[thread, bucket, node, samples, weight]]}]}
 */
export function encode(p) {
    const pen = new Pen();
    pen.number(3);
    const facts = Buffer.from(JSON.stringify(p.facts));
    pen.number(facts.length);
    pen.bytes(facts);
    const place = writeStrings(pen, p.strings);
    const short = (p.short || []).map(([s, text]) => [place[s], Buffer.from(text)]).sort((a, b) => a[0] - b[0]);
    pen.number(short.length);
    short.forEach(([s], i) => pen.number(s - (i ? short[i - 1][0] : 0)));
    short.forEach(([, text]) => pen.number(text.length));
    short.forEach(([, text]) => pen.bytes(text));
    const columns = (rows, ...takes) => {
        pen.number(rows.length);
        for (const take of takes)
            rows.forEach(take);
    };
    columns(p.modules, (m) => pen.number(place[m[0]]), (m) => pen.number(place[m[1]]), (m) => pen.number(m[2]));
    columns(p.frames, (f) => pen.number(place[f[0]]), (f) => pen.number(f[1]),
        (f) => pen.number(f[2] ? place[f[2] - 1] + 1 : 0), (f) => pen.number(f[3]), (f) => pen.number(f[4]));
    for (const f of p.frames) {
        const lines = f[5] || [];
        pen.number(lines.length);
        lines.forEach(([line, samples]) => (pen.number(line), pen.number(samples)));
    }
    columns(p.threads, (t) => pen.number(place[t[0]]), () => pen.number(place[0]), (t) => pen.signed(t[1]), (t) => pen.signed(t[2]));
    pen.number(p.parent.length);
    const depth = new Int32Array(p.parent.length);
    for (let i = 0; i < p.parent.length; i++) {
        depth[i] = p.parent[i] < 0 ? 0 : depth[p.parent[i]] + 1;
        pen.number(i === 0 ? 0 : depth[i - 1] + 1 - depth[i]);
    }
    p.frame.forEach((f, i) => pen.signed(f - (i ? p.frame[i - 1] : 0)));
    pen.number(p.buckets);
    pen.number(p.start);
    pen.number(p.width);
    pen.number(p.sides.length);
    for (const side of p.sides)
        writeSide(pen, p, side);
    return pen.room.subarray(0, pen.n);
}

function writeSide(pen, p, side) {
    pen.number(side.event);
    pen.number(side.before);
    pen.number(side.period);
    const threads = p.threads.map(() => new Map());
    for (const [t, bucket, node, samples, weight] of side.entries) {
        if (!threads[t].has(bucket))
            threads[t].set(bucket, []);
        threads[t].get(bucket).push([node, samples, weight]);
    }
    pen.number(threads.reduce((sum, groups) => sum + groups.size, 0));
    pen.number(side.entries.length);
    pen.number(side.entries.reduce((most, entry) => Math.max(most, entry[3]), 0));
    for (const groups of threads) {
        const sorted = [...groups].sort((a, b) => a[0] - b[0]);
        let at = 0;
        pen.number(sorted.length);
        for (const [bucket, entries] of sorted) {
            entries.sort((a, b) => a[0] - b[0]);
            pen.number(bucket - at);
            pen.number(entries.length);
            at = bucket;
            let last = 0;
            for (const [node, samples, weight] of entries) {
                pen.number(2 * (node - last) + (samples === 1 ? 0 : 1));
                if (samples !== 1)
                    pen.number(samples);
                if (!side.period)
                    pen.number(weight);
                last = node;
            }
        }
    }
}

export function facts(more) {
    return {version: '0', cut: false, throttled: 0, samples: 0, duration: 4e6,
        reasons: ['', 'the file is gone', 'damaged', 'changed', 'it has no symbol table'],
        events: [{name: 'cpu-clock', unit: 'ns', samples: 0, weight: 0, lost: 0, skipped: 0}],
        stacks: {whole: 0, cut: 0, broken: 0}, ...more};
}

/* A program of so many functions: calls go deeper with falling likelihood, a few are hot. */
export function large({samples = 1000000, frames = 100000, threads = 8, buckets = 2048, depth = 40, nodes = 300000,
    before = false, seed = 1} = {}) {
    const next = random(seed), words = ['parse', 'hash', 'insert', 'lookup', 'copy', 'sort', 'merge', 'read', 'emit', 'walk'];
    const strings = ['', '/usr/bin/server', 'server', '/usr/lib/libcodec.so.2', 'libcodec.so.2', '[kernel]', '/usr/lib/libc.so.6', 'libc.so.6'];
    const modules = [[2, 1, 0], [4, 3, 0], [7, 6, 0], [5, 5, 1]], list = [];
    const files = Array.from({length: 200}, (_, i) => strings.push(`/src/server/part${i % 20}/file${i}.cc`) - 1);
    for (let i = 0; i < frames; i++) {
        const word = words[i % words.length], module = [0, 0, 0, 1, 1, 2, 3][i % 7];
        const name = module === 3 ? `${word}_${i}` : `ns${i % 50}::Class${i % 997}<int, std::string>::${word}_${i}(char const*)`;
        strings.push(name);
        list.push([strings.length - 1, module, module < 2 ? files[i % 200] + 1 : 0, module < 2 ? 1 + i % 900 : 0, i % 211 === 0 ? 8 : 0]);
    }
    const parent = new Int32Array(nodes), frame = new Int32Array(nodes), level = new Int32Array(nodes);
    parent[0] = -1;
    for (let i = 1; i < nodes; i++) {
        let p = i - 1;
        const deep = level[p] < depth && next() < 0.62;
        if (!deep)
            for (let up = 1 + Math.floor(next() * next() * 14); up > 0 && parent[p] >= 0; up--)
                p = parent[p];
        parent[i] = p;
        level[i] = level[p] + 1;
        frame[i] = i < frames ? i : Math.floor(next() * next() * frames);
    }
    const names = Array.from({length: threads}, (_, t) => [strings.push(t ? `worker-${t}` : 'main') - 1, 4000, 4000 + t]);
    const hot = Array.from({length: 400}, () => Math.floor(next() * nodes));
    const make = (tilt) => {
        const sums = new Map();
        for (let s = 0; s < samples; s++) {
            const bucket = Math.floor(s * buckets / samples), t = Math.floor(next() * next() * threads);
            const node = next() < 0.6 ? hot[Math.floor((next() * next() + bucket / buckets / 3 + tilt) * 300) % hot.length] : Math.floor(next() * nodes);
            const key = (t * buckets + bucket) * nodes + node;
            sums.set(key, (sums.get(key) || 0) + 1);
        }
        return [...sums].map(([key, n]) => [Math.floor(key / nodes / buckets), Math.floor(key / nodes) % buckets, key % nodes, n]);
    };
    const sides = [{event: 0, before: 0, period: 250000, entries: make(0)}];
    if (before)
        sides.push({event: 0, before: 1, period: 250000, entries: make(0.1)});
    return {
        facts: facts({samples,
            events: [{name: 'cpu-clock', unit: 'ns', samples, weight: samples * 250000, lost: 1234, skipped: 0, ...(before ? {before: samples, before_weight: samples * 250000} : {})}],
            stacks: {whole: samples - 2000, cut: 2000, broken: 0}}),
        strings, modules, frames: list, threads: names, parent, frame, buckets, start: 1e12, width: 500000, sides,
    };
}
