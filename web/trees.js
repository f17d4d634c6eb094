/*
 * What is drawn: boxes. A box has its place (x, w in units of weight, depth), its frame, and its children, which are
 * made when they are first asked for, so that only what is wide enough to be seen is ever made.
 *
 *     {frame, x, w, depth, parent, self, before, label, kids}
 *
 * frame -1: no function, but a group of them (`label`). All kinds of trees are one kind of box with another `grow`.
 */
'use strict';

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
    }
}

/* Tells a tree's boxes apart and puts them side by side. */
class Tree {
    constructor(profile, weights, order) {
        this.profile = profile;
        this.weights = weights;
        this.order = order; // 'weight' or 'name'
    }
    kids(box) {
        if (!box.kids) {
            box.kids = this.grow(box);
            this.place(box);
        }
        return box.kids;
    }
    place(box) {
        const kids = box.kids;
        if (this.order === 'name') {
            const key = (k) => k.frame < 0 ? k.label : this.profile.strings[this.profile.frames.name[k.frame]];
            kids.sort((a, b) => key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : b.w - a.w);
        } else {
            kids.sort((a, b) => b.w - a.w || a.frame - b.frame);
        }
        let x = box.x;
        for (const kid of kids) {
            kid.x = x;
            x += kid.w;
        }
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
            this.root.kids = this.threads();
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
    grow(box) {
        if (box.source instanceof ThreadPart)
            return box.source.grow(box);
        const {n, end} = this.profile.nodes, kids = [];
        for (let c = box.source + 1, last = box.source < 0 ? n : end[box.source]; c < last; c = end[c]) {
            const kid = this.box(box, c);
            if (kid.w > 0)
                kids.push(kid);
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
        this.place(this.root);
        return kids;
    }
}

/* One thread's part of the tree: the nodes that it was sampled in, sorted, with sums up to each: what a node weighs
 * with all below it is a difference of two of them. `scratch` is a sum for each node, all 0, and is left so. */
class ThreadPart {
    constructor(profile, choice, scratch) {
        const {first, node, bucket, weight, samples} = profile.sides[0], t = choice.thread;
        const from = lowerBound(bucket, choice.from, first[t], first[t + 1]);
        const to = lowerBound(bucket, choice.to, from, first[t + 1]);
        const touched = new Int32Array(to - from);
        let n = 0;
        for (let i = from; i < to; i++) {
            if (scratch[node[i]] === 0)
                touched[n++] = node[i];
            scratch[node[i]] += weight ? weight[i] : samples[i];
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
    below(from, to) {
        return this.upTo[lowerBound(this.node, to, 0, this.n)] - this.upTo[lowerBound(this.node, from, 0, this.n)];
    }
    grow(box) {
        const {n, end, frame} = this.profile.nodes, kids = [], last = box.node < 0 ? n : end[box.node];
        for (let c = box.node + 1; c < last;) {
            const at = lowerBound(this.node, c, 0, this.n);
            if (at >= this.n || this.node[at] >= last)
                break;
            if (this.node[at] >= end[c]) { // nothing here: on to the sibling that has the next sampled node below it
                c = end[c];
                continue;
            }
            const kid = new Box(box, frame[c], this.below(c, end[c]));
            kid.source = this;
            kid.node = c;
            kid.self = this.below(c, c + 1);
            if (kid.w > 0)
                kids.push(kid);
            c = end[c];
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
    }
    /* Children of box out of what a bundle has, by function. */
    group(box, all) {
        const {slot} = this, frame = this.profile.nodes.frame, kids = [], counts = [];
        for (let i = all.from; i < all.to; i++) {
            const f = frame[all.at[i]];
            if (slot[f] < 0) {
                slot[f] = kids.length;
                kids.push(new Box(box, f, 0));
                counts.push(0);
            }
            counts[slot[f]]++;
        }
        const shared = new Bundle(all.to - all.from);
        for (let k = 0, from = 0; k < kids.length; from += counts[k++])
            kids[k].source = shared.part(from);
        for (let i = all.from; i < all.to; i++) {
            const kid = kids[slot[frame[all.at[i]]]];
            kid.source.add(all.at[i], all.w[i], all.old[i]);
            kid.w += all.w[i];
            kid.before += all.old[i];
        }
        for (const kid of kids)
            slot[kid.frame] = -1;
        return kids.filter((kid) => kid.w > 0);
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
        const all = new Bundle(nodes.n);
        for (let i = 0; i < nodes.n; i++)
            if (self[i] > 0 || (before && before.self[i] > 0))
                all.add(i, self[i], before ? before.self[i] : 0);
        this.root.kids = this.group(this.root, all);
        for (const kid of this.root.kids)
            kid.self = kid.w;
        this.place(this.root);
    }
    grow(box) {
        const {at, w, old, from, to} = box.source, parent = this.profile.nodes.parent, next = new Bundle(to - from);
        for (let i = from; i < to; i++)
            if (parent[at[i]] >= 0)
                next.add(parent[at[i]], w[i], old[i]);
        return this.group(box, next);
    }
}

/* From one function inwards: what it calls, wherever it was called from. */
class CalleeTree extends BundleTree {
    constructor(profile, weights, order, start) {
        super(profile, weights, order);
        this.root = start.root;
    }
    grow(box) {
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
        const kids = this.group(box, next);
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

/*
 * As time went: each column of time shows the path that was sampled most in it, and neighbours that have the same box
 * share it. x and w are buckets.
 */
class TimeTree extends Tree {
    constructor(profile, weights, columns) {
        super(profile, weights, 'time');
        const {choice} = weights, from = choice.from, to = Math.min(choice.to, profile.buckets);
        this.root = new Box(null, -1, to - from);
        this.root.label = 'as time went';
        this.root.x = from;
        this.root.kids = [];
        const step = Math.max(1, Math.ceil((to - from) / columns));
        const lists = this.columns(choice, from, to, step), finder = new PathFinder(profile.nodes);
        for (let k = 0; k < lists.length; k++) {
            const x = from + k * step, w = Math.min(step, to - x);
            let box = this.root;
            for (const node of finder.heaviest(lists[k], profile.sides[0]))
                box = this.extend(box, node, x, w);
        }
    }
    extend(box, node, x, w) {
        const last = box.kids[box.kids.length - 1];
        if (last && last.source === node && last.x + last.w === x) {
            last.w += w;
            return last;
        }
        const kid = new Box(box, this.profile.nodes.frame[node], w);
        kid.x = x;
        kid.source = node;
        kid.kids = [];
        box.kids.push(kid);
        return kid;
    }
    /* The entries of each column. */
    columns(choice, from, to, step) {
        const side = this.profile.sides[0], lists = [];
        for (let k = 0; k * step < to - from; k++)
            lists.push([]);
        for (let t = 0; t < this.profile.threads.length; t++) {
            if (choice.thread >= 0 && choice.thread !== this.profile.lane[t])
                continue;
            const end = lowerBound(side.bucket, to, side.first[t], side.first[t + 1]);
            for (let i = lowerBound(side.bucket, from, side.first[t], end); i < end; i++)
                lists[Math.floor((side.bucket[i] - from) / step)].push(i);
        }
        return lists;
    }
    grow() {
        return [];
    }
    place() {
    }
}

/* The path that weighs most, of some entries: at each node the heaviest child, until the node itself weighs more. */
class PathFinder {
    constructor(nodes) {
        this.nodes = nodes;
        this.own = new Float64Array(nodes.n);
        this.sum = new Float64Array(nodes.n);
        this.best = new Int32Array(nodes.n);
        this.seen = new Int32Array(nodes.n);
        this.touched = new Int32Array(nodes.n);
        this.round = 0;
    }
    heaviest(entries, side) {
        const {own, sum, best, seen, touched} = this, {parent} = this.nodes, round = ++this.round;
        let n = 0;
        for (const e of entries) {
            const w = side.weight ? side.weight[e] : side.samples[e], node = side.node[e];
            for (let i = node; i >= 0 && seen[i] !== round; i = parent[i]) {
                seen[i] = round;
                own[i] = sum[i] = 0;
                best[i] = -1;
                touched[n++] = i;
            }
            own[node] += w;
            sum[node] += w;
        }
        const order = touched.subarray(0, n).sort();
        let first = -1;
        for (let k = order.length - 1; k >= 0; k--) { // children come behind their parents
            const i = order[k], p = parent[i];
            if (p < 0) {
                if (first < 0 || sum[i] > sum[first])
                    first = i;
                continue;
            }
            sum[p] += sum[i];
            if (best[p] < 0 || sum[i] > sum[best[p]])
                best[p] = i;
        }
        const path = [];
        for (let i = first; i >= 0; i = best[i]) {
            path.push(i);
            if (best[i] >= 0 && own[i] > sum[best[i]])
                break;
        }
        return path;
    }
}

function threadName(thread) {
    const name = thread.name || '[unnamed thread]', source = thread.source ? ` on ${thread.source}` : '';
    return (thread.tid < 0 ? name : `${name} ${thread.tid}`) + source;
}
