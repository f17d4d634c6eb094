/*
 * The profile, as src/export/html.c writes it into the page: base64, so that no name can be anything but a name, of gzip,
 * since what a browser takes longest over is the length of a page, of one run of bytes. Numbers are LEB128 (seven bits a
 * byte, lowest first), signed ones zigzag.
 *
 *     3                                       the format's number
 *     length, JSON                            facts about the recording: see answers.js
 *     strings    n; length[n], then their bytes       sorted
 *     short      n; string[n] (difference); length[n], then their bytes      short names of functions, where they differ
 *     modules    n; name[n] path[n] kernel[n]
 *     frames     n; name[n] module[n] file+1[n] line[n] kind[n]      kind: reason there is no name × 2 + inlined
 *     lines      for each frame: n, then n × (line, samples)         its hottest lines, hottest first
 *     threads    n; name[n] source[n] pid[n] tid[n]                  source: a machine, a run; "" where there is one
 *     nodes      n; up[n] frame[n]            the prefix tree in preorder; `up`: how many levels back from the node
 *                                             before, to the parent's child (0: a child of the one before); frame:
 *                                             signed, the difference to the node before
 *     time       buckets, start, width        in nanoseconds; one bucket where there is no time; in a difference, each run's
 *                                             from its own first sample on
 *     sides      n: one for each event, and of a difference another with what it was before. Each side:
 *         event, before (0 or 1)
 *         period                              what every sample weighs; 0: each entry has its weight
 *         groups, entries, most               in all; the most samples that an entry has
 *         for each thread: groups; each: bucket (difference), n, then n × (node difference × 2 + (samples are not 1),
 *                                             [samples,] [weight])
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

async function unpack(packed) {
    if (!globalThis.DecompressionStream)
        throw new Error('this browser is too old for it (Chrome 80, Firefox 113, Safari 16.4 and later can)');
    const stream = new DecompressionStream('gzip'), writer = stream.writable.getWriter();
    writer.write(packed).catch(() => {}); // what is wrong with it, the reader is told as well
    writer.close().catch(() => {});
    try {
        return new Uint8Array(await new Response(stream.readable).arrayBuffer());
    } catch {
        throw new Error('the data of this page is damaged, or not all of it is here');
    }
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
    /* Numbers below 2^31: most of the data is columns of them. */
    column(n) {
        const b = this.bytes, column = new Int32Array(n);
        let at = this.at;
        for (let i = 0; i < n; i++) {
            let byte = b[at++], value = byte & 127;
            for (let shift = 7; byte > 127; shift += 7) {
                byte = b[at++];
                value |= (byte & 127) << shift;
            }
            column[i] = value;
        }
        this.skip(at - this.at);
        return column;
    }
    skip(n) {
        this.at += n;
        if (this.at > this.bytes.length)
            throw new Error('the data of this page ends too early');
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

/* Names, made when they are asked for: few of a hundred thousand are ever on the screen. */
class Strings {
    constructor(c, n) {
        const length = c.column(n), first = new Int32Array(n + 1), room = c.bytes.length - c.at;
        for (let i = 0; i < n; i++) {
            first[i + 1] = first[i] + length[i];
            if (length[i] < 0 || first[i + 1] > room)
                throw new Error('the names in this page are damaged');
        }
        this.n = n;
        this.first = first;
        this.bytes = c.bytes.subarray(c.at, c.at + first[n]);
        this.decoder = new TextDecoder('utf-8', {ignoreBOM: true}); // bytes that are no UTF-8 become U+FFFD
        this.made = new Array(n);
        // Where each byte is a letter, which is nearly always, all can be decoded at once.
        const all = this.decoder.decode(this.bytes);
        this.all = all.length === first[n] ? all : null;
        c.skip(first[n]);
    }
    at(i) {
        const made = this.made[i];
        if (made !== undefined)
            return made;
        const {first, all} = this, from = first[i], to = first[i + 1];
        return this.made[i] = visible(all !== null ? all.slice(from, to) : this.decoder.decode(this.bytes.subarray(from, to)));
    }
}

/* Short names, by the string that is the whole one. */
function takeShort(c, strings) {
    const n = c.count(2), step = c.column(n), place = new Int32Array(strings).fill(-1);
    for (let i = 0, s = 0; i < n; i++) {
        s += step[i];
        if (!(s >= 0 && s < strings))
            throw new Error('the names in this page are damaged');
        place[s] = i;
    }
    const texts = new Strings(c, n);
    return {of: (s) => place[s] < 0 ? null : texts.at(place[s])};
}

function takeLines(c, n) {
    const lines = new Map();
    for (let f = 0; f < n; f++) {
        const m = c.count(2);
        if (m > 0)
            lines.set(f, Array.from({length: m}, () => ({line: c.number(), samples: c.number()})));
    }
    return lines;
}

function takeNodes(c, frames) {
    const n = c.count(2), parent = c.column(n), frame = c.column(n), end = new Int32Array(n);
    let f = 0;
    for (let i = 0; i < n; i++) {
        let p = i - 1;
        for (let up = parent[i]; up > 0 && p >= 0; up--)
            p = parent[p];
        parent[i] = p;
        f += frame[i] >>> 1 ^ -(frame[i] & 1);
        if (!(f >= 0 && f < frames))
            throw new Error('the stacks in this page are damaged');
        frame[i] = f;
    }
    for (let i = n - 1; i >= 0; i--) {
        if (end[i] < i + 1)
            end[i] = i + 1;
        if (parent[i] >= 0 && end[parent[i]] < end[i])
            end[parent[i]] = end[i];
    }
    return {n, parent, end, frame};
}

/* As little room for each as will do: sums over all of them are as fast as memory is. */
function roomFor(n, most) {
    return most < 256 ? new Uint8Array(n) : most < 2 ** 32 ? new Uint32Array(n) : new Float64Array(n);
}

/*
 * Entries of a thread lie together, in the order of time: thread t has the groups first[t] … first[t + 1] - 1, group g is
 * of one bucket, bucket[g], and has the entries begin[g] … begin[g + 1] - 1.
 */
function takeSide(c, threads, nodes) {
    const event = c.number(), before = c.number(), period = c.number();
    const groups = c.count(2), n = c.count(), most = c.number(), bytes = c.bytes;
    const first = new Int32Array(threads + 1), begin = new Int32Array(groups + 1), bucket = new Int32Array(groups);
    const node = new Int32Array(n), samples = roomFor(n, most), weight = period ? null : new Float64Array(n);
    let g = 0, i = 0;
    for (let t = 0; t < threads; t++) {
        first[t] = g;
        let time = 0;
        for (let left = c.number(); left > 0; left--, g++) {
            time += c.number();
            bucket[g] = time;
            begin[g] = i;
            const end = i + c.number();
            if (g >= groups || end > n)
                throw new Error('the samples in this page are damaged');
            let at = c.at;
            for (let id = 0; i < end; i++) {
                let byte = bytes[at++], value = byte & 127;
                for (let shift = 7; byte > 127; shift += 7) {
                    byte = bytes[at++];
                    value |= (byte & 127) << shift;
                }
                id += value >>> 1;
                if (id >= nodes)
                    throw new Error('the samples in this page are damaged');
                node[i] = id;
                samples[i] = 1;
                if (value & 1 || weight) {
                    c.at = at;
                    if (value & 1)
                        samples[i] = c.number();
                    if (weight)
                        weight[i] = c.number();
                    at = c.at;
                }
            }
            c.at = at;
        }
    }
    c.skip(0);
    first[threads] = g;
    begin[g] = i;
    return {event, before, period, n: i, first, begin, bucket, node, samples, weight};
}

function decodeProfile(bytes) {
    const c = new Cursor(bytes), profile = {};
    if (c.number() !== 3)
        throw new Error('the data of this page is of another version');
    const length = c.count();
    profile.facts = JSON.parse(new TextDecoder().decode(bytes.subarray(c.at, c.at + length)),
        (_, value) => typeof value === 'string' ? visible(value) : value);
    c.skip(length);
    const strings = profile.strings = new Strings(c, c.count());
    profile.short = takeShort(c, strings.n);
    let n = c.count(3);
    const moduleName = c.column(n), modulePath = c.column(n), moduleKernel = c.column(n);
    profile.modules = Array.from(moduleName, (name, i) => (
        {name: strings.at(name) || 'no module', path: strings.at(modulePath[i]), kernel: !!moduleKernel[i]}));
    n = c.count(5);
    const name = c.column(n), module = c.column(n), file = c.column(n), line = c.column(n), kind = c.column(n);
    profile.frames = {n, name, module, file, line, kind, lines: takeLines(c, n)};
    n = c.count(4);
    const threadName = c.column(n), source = c.column(n), pid = [], tid = [];
    for (let i = 0; i < n; i++)
        pid.push(c.signed());
    for (let i = 0; i < n; i++)
        tid.push(c.signed());
    profile.threads = Array.from(threadName, (s, i) => (
        {name: strings.at(s), source: strings.at(source[i]), pid: pid[i], tid: tid[i]}));
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
