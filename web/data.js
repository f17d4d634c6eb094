/*
 * The profile, as src/export/html.c writes it into the page: base64 of one run of bytes, so that no name can be
 * anything but a name. Numbers are LEB128 (seven bits a byte, lowest first), signed ones zigzag.
 *
 *     1                                       the format's number
 *     length, JSON                            facts about the recording: see facts.js
 *     strings    n, then n × (shared, rest, bytes)    sorted; `shared` bytes are those of the one before
 *     modules    n; name[n] path[n] kernel[n]
 *     frames     n; name[n] module[n] file+1[n] line[n] kind[n]      kind: reason there is no name × 2 + inlined
 *     lines      for each frame: n, then n × (line, samples)         its hottest lines, hottest first
 *     threads    n; name[n] source[n] pid[n] tid[n]                  source: a machine, a run; "" where there is one
 *     nodes      n; up[n] frame[n]            the prefix tree in preorder; `up`: how many levels back from the node
 *                                             before, to the parent's child (0: a child of the one before)
 *     time       buckets, start, width        in nanoseconds; one bucket where there is no time; in a difference, each run's
 *                                             from its own first sample on
 *     sides      n: one for each event, and of a difference another with what it was before. Each side:
 *         event, before (0 or 1)
 *         period                              what every sample weighs; 0: each entry has its weight
 *         for each thread: groups; each: bucket (difference), n, then n × (node difference, samples[, weight])
 *
 * Preorder is what makes the page fast: what is below node i are the nodes i + 1 … end[i] - 1, so sums over a subtree
 * are one backward pass, and a function's total (recursion counted once) one forward pass.
 */
'use strict';

function bytesOfBase64(text) {
    if (Uint8Array.fromBase64)
        return Uint8Array.fromBase64(text);
    const binary = atob(text), n = binary.length, bytes = new Uint8Array(n);
    for (let i = 0; i < n; i++)
        bytes[i] = binary.charCodeAt(i);
    return bytes;
}

class Cursor {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }
    number() {
        const b = this.bytes;
        let byte = b[this.at++], value = byte & 127, scale = 128;
        while (byte > 127) {
            byte = b[this.at++];
            value += (byte & 127) * scale;
            scale *= 128;
        }
        if (byte === undefined)
            throw new Error('the data of this page ends too early');
        return value;
    }
    signed() {
        const v = this.number();
        return v % 2 ? -(v + 1) / 2 : v / 2;
    }
    column(n) {
        const column = new Int32Array(n);
        for (let i = 0; i < n; i++)
            column[i] = this.number();
        return column;
    }
    count(least = 1) { // how many of something that takes at least so many bytes each
        const n = this.number();
        if (n * least > this.bytes.length - this.at)
            throw new Error('the data of this page is damaged');
        return n;
    }
}

/* What could change the order of a line, or hide in it, is shown as its code. */
const HIDDEN = /[\u0001-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function visible(text) {
    return text.replace(HIDDEN, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

function takeStrings(c) {
    const n = c.count(2), from = c.bytes;
    let room = new Uint8Array(Math.max(1024, 2 * (from.length - c.at))), used = 0, before = 0;
    for (let i = 0; i < n; i++) {
        const shared = c.number(), rest = c.number();
        if (c.at + rest > from.length || shared > used - before)
            throw new Error('the names in this page are damaged');
        if (used + shared + rest + 1 > room.length) {
            const larger = new Uint8Array(2 * room.length + shared + rest + 1);
            larger.set(room);
            room = larger;
        }
        const begin = used;
        room.copyWithin(begin, before, before + shared);
        room.set(from.subarray(c.at, c.at + rest), begin + shared);
        used += shared + rest;
        room[used++] = 0;
        c.at += rest;
        before = begin;
    }
    // One decoding of all: bytes that are no UTF-8 become U+FFFD, and a 0 is no part of any character.
    const all = new TextDecoder().decode(room.subarray(0, used)), list = all.split('\0');
    list.length = n;
    return all.search(HIDDEN) < 0 ? list : list.map(visible);
}

function takeLines(c, n) {
    const lines = new Map();
    for (let f = 0; f < n; f++) {
        const list = [];
        for (let m = c.count(2); m > 0; m--)
            list.push({line: c.number(), samples: c.number()});
        if (list.length)
            lines.set(f, list);
    }
    return lines;
}

function takeNodes(c, frames) {
    const n = c.count(2), parent = new Int32Array(n), depth = new Int32Array(n), end = new Int32Array(n);
    for (let i = 0; i < n; i++) {
        let p = i - 1;
        for (let up = c.number(); up > 0 && p >= 0; up--)
            p = parent[p];
        parent[i] = p;
        depth[i] = p < 0 ? 0 : depth[p] + 1;
    }
    const frame = c.column(n);
    for (let i = n - 1; i >= 0; i--) {
        if (frame[i] >= frames)
            throw new Error('the stacks in this page are damaged');
        if (end[i] < i + 1)
            end[i] = i + 1;
        if (parent[i] >= 0 && end[parent[i]] < end[i])
            end[parent[i]] = end[i];
    }
    return {n, parent, depth, end, frame};
}

/* Entries of a thread lie together, in the order of time. */
function takeSide(c, threads, nodes) {
    const event = c.number(), before = c.number(), period = c.number();
    let room = 1 << 12, n = 0;
    let node = new Int32Array(room), bucket = new Int32Array(room), samples = new Float64Array(room);
    let weight = period ? null : new Float64Array(room);
    const first = new Int32Array(threads + 1);
    const wider = (old) => {
        const wide = new old.constructor(room);
        wide.set(old);
        return wide;
    };
    for (let t = 0; t < threads; t++) {
        first[t] = n;
        let at = 0;
        for (let groups = c.count(2); groups > 0; groups--) {
            at += c.number();
            const m = c.count(2);
            while (n + m > room) {
                room *= 2;
                node = wider(node), bucket = wider(bucket), samples = wider(samples);
                weight = weight && wider(weight);
            }
            for (let k = 0, id = 0; k < m; k++, n++) {
                id += c.number();
                if (id >= nodes)
                    throw new Error('the samples in this page are damaged');
                node[n] = id;
                bucket[n] = at;
                samples[n] = c.number();
                if (weight)
                    weight[n] = c.number();
            }
        }
    }
    first[threads] = n;
    return {event, before, period, n, first, node: node.subarray(0, n), bucket: bucket.subarray(0, n),
        samples: samples.subarray(0, n), weight: weight && weight.subarray(0, n)};
}

function decodeProfile(bytes) {
    const c = new Cursor(bytes), profile = {};
    if (c.number() !== 1)
        throw new Error('the data of this page is of another version');
    const length = c.count();
    profile.facts = JSON.parse(new TextDecoder().decode(bytes.subarray(c.at, c.at + length)),
        (_, value) => typeof value === 'string' ? visible(value) : value);
    c.at += length;
    const strings = takeStrings(c);
    let n = c.count(3);
    const moduleName = c.column(n), modulePath = c.column(n), moduleKernel = c.column(n);
    profile.modules = Array.from(moduleName, (name, i) => (
        {name: strings[name] || 'no module', path: strings[modulePath[i]], kernel: !!moduleKernel[i]}));
    n = c.count(5);
    const name = c.column(n), module = c.column(n), file = c.column(n), line = c.column(n), kind = c.column(n);
    profile.frames = {n, name, module, file, line, kind, lines: takeLines(c, n)};
    profile.strings = strings;
    n = c.count(4);
    const threadName = c.column(n), source = c.column(n), pid = [], tid = [];
    for (let i = 0; i < n; i++)
        pid.push(c.signed());
    for (let i = 0; i < n; i++)
        tid.push(c.signed());
    profile.threads = Array.from(threadName, (s, i) => (
        {name: strings[s], source: strings[source[i]], pid: pid[i], tid: tid[i]}));
    profile.nodes = takeNodes(c, profile.frames.n);
    profile.buckets = c.number();
    profile.start = c.number();
    profile.width = c.number();
    profile.all = [];
    for (let sides = c.number(); sides > 0; sides--)
        profile.all.push(takeSide(c, profile.threads.length, profile.nodes.n));
    profile.lane = lanes(profile);
    chooseEvent(profile, 0);
    return profile;
}

/* What a choice of threads tells apart, by thread: each is its own; in a difference, which has threads of two runs, those of
 * one name are one, the first of them. */
function lanes({threads, all}) {
    const first = new Map(), difference = all.some((side) => side.before);
    return Int32Array.from(threads, ({name}, t) => {
        if (!first.has(name))
            first.set(name, t);
        return difference ? first.get(name) : t;
    });
}

/* profile.sides: what it is now, and, of a difference, what it was before. */
function chooseEvent(profile, event) {
    const side = (before) => profile.all.find((s) => s.event === event && s.before === before);
    profile.event = event;
    profile.sides = side(1) ? [side(0), side(1)] : [side(0)];
}
