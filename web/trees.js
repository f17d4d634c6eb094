/*
 * What is drawn: boxes. A box has its place (x, w in units of weight, depth), its frame, and its children, which are
 * made when they are first asked for, so that only what is wide enough to be seen is ever made.
 *
 *     {frame, x, w, depth, parent, self, before, label, kids, least, rest}
 *
 * frame -1: no function, but a group of them (`label`). All kinds of trees are one kind of box with another `grow`.
 */
'use strict';

const NOTHING = {n: 0, w: 0};

class Box {
    constructor(parent, frame, w) {
        this.parent = parent;
        this.depth = parent ? parent.depth + 1 : 0;
        this.frame = frame;
        this.x = 0;
        this.w = w;
        this.self = 0;
        this.before = 0;
        this.samples = -1; // -1: as heavy as w
        this.label = null;
        this.source = null;
        this.kids = null;
        this.least = Infinity; // kids are those that weigh so much, or more …
        this.rest = NOTHING; // … how many weigh less, and how much together
    }
}

/* Tells a tree's boxes apart and puts them side by side. */
class Tree {
    constructor(profile, weights, order) {
        this.profile = profile;
        this.weights = weights;
        this.order = order; // 'weight' or 'name'
    }
    /* Those that weigh at least so much, at the least: where the heaviest come first, the others are not made until they
     * can be seen, and then lie behind them. */
    kids(box, least = 0) {
        if (box.least > least) {
            const kids = box.kids || (box.kids = []), after = kids.length;
            const made = this.grow(box, this.order === 'weight' ? least : 0, box.least);
            box.least = this.order === 'weight' ? least : 0;
            this.place(box, made, after ? kids[after - 1].x + kids[after - 1].w : box.x);
            for (const kid of made)
                kids.push(kid);
        }
        return box.kids;
    }
    place(box, kids, x) {
        if (this.order === 'name') {
            const {strings, frames} = this.profile, key = (k) => k.frame < 0 ? k.label : strings.at(frames.name[k.frame]);
            kids.sort((a, b) => key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : b.w - a.w);
        } else {
            kids.sort((a, b) => b.w - a.w || a.frame - b.frame);
        }
        for (const kid of kids) {
            kid.x = x;
            x += kid.w;
        }
    }
    /* Whether the boxes of a row are threads, not functions. */
    isOfThreads(depth) {
        return depth === 1 && this.sides === 'thread';
    }
    /* The box here that has the path of a box of another tree, or null. */
    find(other) {
        if (!other.parent)
            return this.root;
        const parent = this.find(other.parent);
        return parent && this.kids(parent).find((kid) => kid.frame === other.frame && kid.label === other.label) || null;
    }
}

/* From the outermost function inwards. A node's children are found by preorder alone. */
class DownTree extends Tree {
    constructor(profile, weights, order, split) {
        super(profile, weights, order);
        this.sides = weights.before && split !== 'before' ? 'after' : split;
        this.root = new Box(null, -1, weights.sum);
        this.root.label = 'all';
        this.root.source = -1;
        if (split === 'thread')
            this.threads();
    }
    box(parent, node) {
        const w = this.weights, before = w.before, box = new Box(parent, this.profile.nodes.frame[node], 0);
        const old = before ? before.total[node] : 0;
        box.source = node;
        box.w = this.sides === 'before' ? old : w.total[node];
        box.before = this.sides === 'before' ? w.total[node] : old;
        box.self = this.sides === 'before' ? before.self[node] : w.self[node];
        box.samples = w.samples ? w.samples[node] : -1;
        return box;
    }
    grow(box, least, below) {
        if (box.source instanceof ThreadPart)
            return box.source.grow(box, least, below);
        const {n, end} = this.profile.nodes, kids = [], w = this.weights;
        const total = this.sides === 'before' ? w.before.total : w.total;
        const rest = box.rest = {n: 0, w: 0};
        for (let c = box.source + 1, last = box.source < 0 ? n : end[box.source]; c < last; c = end[c]) {
            if (total[c] > 0 && total[c] < least) {
                rest.n++;
                rest.w += total[c];
            } else if (total[c] > 0 && total[c] < below) {
                kids.push(this.box(box, c));
            }
        }
        return kids;
    }
    threads() {
        const kids = [], {profile, weights} = this, scratch = new Float64Array(profile.nodes.n);
        profile.threads.forEach((thread, t) => {
            if (weights.choice.thread >= 0 && weights.choice.thread !== t)
                return;
            const part = new ThreadPart(profile, {...weights.choice, thread: t}, scratch);
            if (part.sum > 0) {
                const kid = new Box(this.root, -1, part.sum);
                kid.label = threadName(thread);
                kid.source = part;
                kid.node = -1;
                kids.push(kid);
            }
        });
        this.root.kids = kids;
        this.root.least = 0;
        this.place(this.root, kids, 0);
    }
}

/* One thread's part of the tree: the nodes that it was sampled in, sorted, with sums up to each: what a node weighs
 * with all below it is a difference of two of them. `scratch` is a sum for each node, all 0, and is left so. */
class ThreadPart {
    constructor(profile, choice, scratch) {
        const side = profile.sides[0], {node} = side, column = side.weight || side.samples;
        const {i: from, end: to} = entriesOf(side, choice.thread, choice), touched = new Int32Array(to - from);
        let n = 0;
        for (let i = from; i < to; i++) {
            if (scratch[node[i]] === 0)
                touched[n++] = node[i];
            scratch[node[i]] += column[i];
        }
        this.profile = profile;
        this.node = touched.subarray(0, n).sort();
        this.upTo = new Float64Array(n + 1);
        for (let k = 0; k < n; k++) {
            this.upTo[k + 1] = this.upTo[k] + scratch[this.node[k]];
            scratch[this.node[k]] = 0;
        }
        this.n = n;
        this.sum = this.upTo[n];
    }
    grow(box, least, below) {
        const {n, end, frame} = this.profile.nodes, kids = [], last = box.node < 0 ? n : end[box.node];
        const rest = box.rest = {n: 0, w: 0};
        // `at`: the first sampled node that is not before c; `next`: that is not before its end.
        for (let c = box.node + 1, at = lowerBound(this.node, c, 0, this.n), next; c < last; c = end[c], at = next) {
            if (at >= this.n || this.node[at] >= last)
                break;
            next = at;
            if (this.node[at] >= end[c]) // nothing here: on to the sibling that has the next sampled node below it
                continue;
            next = lowerBound(this.node, end[c], at, this.n);
            const w = this.upTo[next] - this.upTo[at];
            if (w < least) {
                rest.n++;
                rest.w += w;
            }
            if (w < least || w >= below)
                continue;
            const kid = new Box(box, frame[c], w);
            kid.source = this;
            kid.node = c;
            kid.self = this.node[at] === c ? this.upTo[at + 1] - this.upTo[at] : 0;
            kids.push(kid);
        }
        return kids;
    }
}

/* Many nodes as one box: `at` is where their paths have come to, `w` and `old` what they weigh. Siblings share arrays,
 * each has a part [from, to) of them. */
class Bundle {
    constructor(n) {
        this.at = new Int32Array(n);
        this.w = new Float64Array(n);
        this.old = new Float64Array(n);
        this.from = 0;
        this.to = 0;
    }
    part(from) {
        const part = Object.create(Bundle.prototype);
        part.at = this.at;
        part.w = this.w;
        part.old = this.old;
        part.from = part.to = from;
        return part;
    }
    add(at, w, old) {
        this.at[this.to] = at;
        this.w[this.to] = w;
        this.old[this.to++] = old;
    }
}

/* Trees of bundles, grouped by function. */
class BundleTree extends Tree {
    constructor(profile, weights, order) {
        super(profile, weights, order);
        this.slot = new Int32Array(profile.frames.n).fill(-1);
        this.sum = new Float64Array(profile.frames.n);
        this.count = new Int32Array(profile.frames.n); // all 0, or -1, between two calls of group()
    }
    /* Children of box out of what a bundle has, by function. */
    group(box, all, least, below) {
        const {slot, sum, count} = this, frame = this.profile.nodes.frame, kids = [], {at, w, old, from, to} = all;
        let room = 0;
        for (let i = from; i < to; i++) {
            const f = frame[at[i]];
            sum[f] += w[i];
            count[f]++;
        }
        const rest = box.rest = {n: 0, w: 0};
        for (let i = from; i < to; i++) {
            const f = frame[at[i]];
            if (sum[f] >= least && sum[f] > 0 && sum[f] < below) {
                slot[f] = kids.length;
                kids.push(new Box(box, f, sum[f]));
                room += count[f];
            } else if (sum[f] > 0 && sum[f] < least) {
                rest.n++;
                rest.w += sum[f];
            }
            sum[f] = 0; // so that the next of this function passes by
        }
        const shared = new Bundle(room);
        room = 0;
        for (const kid of kids) {
            kid.source = shared.part(room);
            room += count[kid.frame];
        }
        for (let i = from; i < to; i++) {
            const f = frame[at[i]];
            count[f] = 0;
            if (slot[f] >= 0) {
                kids[slot[f]].source.add(at[i], w[i], old[i]);
                kids[slot[f]].before += old[i];
            }
        }
        for (const kid of kids)
            slot[kid.frame] = -1;
        return kids;
    }
}

/* From the sampled function outwards: who called it, who called those. */
class UpTree extends BundleTree {
    constructor(profile, weights, order, start) {
        super(profile, weights, order);
        const nodes = profile.nodes, {self, before} = weights;
        this.root = new Box(null, -1, weights.sum);
        this.root.label = 'all';
        if (start) { // of one function alone: its bundle
            this.root = start.root;
            return;
        }
        const all = this.root.source = new Bundle(nodes.n);
        for (let i = 0; i < nodes.n; i++)
            if (self[i] > 0 || (before && before.self[i] > 0))
                all.add(i, self[i], before ? before.self[i] : 0);
    }
    grow(box, least, below) {
        if (box === this.root && box.frame < 0) {
            const kids = this.group(box, box.source, least, below);
            for (const kid of kids)
                kid.self = kid.w;
            return kids;
        }
        const {at, w, old, from, to} = box.source, parent = this.profile.nodes.parent, next = new Bundle(to - from);
        for (let i = from; i < to; i++)
            if (parent[at[i]] >= 0)
                next.add(parent[at[i]], w[i], old[i]);
        return this.group(box, next, least, below);
    }
}

/* From one function inwards: what it calls, wherever it was called from. */
class CalleeTree extends BundleTree {
    constructor(profile, weights, order, start) {
        super(profile, weights, order);
        this.root = start.root;
    }
    grow(box, least, below) {
        const {at, from, to} = box.source, {end} = this.profile.nodes, {total, self, before} = this.weights;
        let room = 0;
        for (let i = from; i < to; i++)
            for (let c = at[i] + 1; c < end[at[i]]; c = end[c])
                room++;
        const next = new Bundle(room);
        for (let i = from; i < to; i++)
            for (let c = at[i] + 1; c < end[at[i]]; c = end[c])
                if (total[c] > 0 || (before && before.total[c] > 0))
                    next.add(c, total[c], before ? before.total[c] : 0);
        const kids = this.group(box, next, least, below);
        for (const kid of kids)
            for (let i = kid.source.from; i < kid.source.to; i++)
                kid.self += self[kid.source.at[i]];
        return kids;
    }
}

/* Both sides of one function: a box of where it was called first (recursion counts once). */
function sandwich(profile, weights, order, f) {
    const {n, frame, end} = profile.nodes, {total, self, before} = weights;
    let count = 0, mine = 0;
    for (let i = 0; i < n; i++)
        count += frame[i] === f;
    const make = () => {
        const root = new Box(null, f, 0), bundle = new Bundle(count);
        for (let i = 0; i < n; i++) {
            if (frame[i] !== f)
                continue;
            bundle.add(i, total[i], before ? before.total[i] : 0);
            root.w += total[i];
            root.before += before ? before.total[i] : 0;
            i = end[i] - 1;
        }
        root.source = bundle;
        root.self = mine;
        return {root};
    };
    for (let i = 0; i < n; i++)
        if (frame[i] === f)
            mine += self[i];
    return {callers: new UpTree(profile, weights, order, make()), callees: new CalleeTree(profile, weights, order, make())};
}

function threadName(thread) {
    const name = thread.name || '[unnamed thread]', source = thread.source ? ` on ${thread.source}` : '';
    return (thread.tid < 0 ? name : `${name} ${thread.tid}`) + source;
}
