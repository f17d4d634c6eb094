/*
 * As time went: each column of time shows the path that was sampled most in it, and neighbours that have the same box
 * share it. x and w are buckets.
 */
'use strict';

class TimeTree extends Tree {
    constructor(profile, weights, columns) {
        super(profile, weights, 'time');
        const {choice} = weights, from = choice.from, to = Math.min(choice.to, profile.buckets);
        this.root = new Box(null, -1, to - from);
        this.root.label = 'as time went';
        this.root.x = from;
        this.root.kids = [];
        this.root.least = 0;
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
        kid.least = 0;
        box.kids.push(kid);
        return kid;
    }
    /* The groups of entries of each column. */
    columns(choice, from, to, step) {
        const side = this.profile.sides[0], lists = [];
        for (let k = 0; k * step < to - from; k++)
            lists.push([]);
        for (let t = 0; t < this.profile.threads.length; t++) {
            if (choice.thread >= 0 && choice.thread !== this.profile.lane[t])
                continue;
            const end = lowerBound(side.bucket, to, side.first[t], side.first[t + 1]);
            for (let g = lowerBound(side.bucket, from, side.first[t], end); g < end; g++)
                lists[Math.floor((side.bucket[g] - from) / step)].push(g);
        }
        return lists;
    }
}

/* The path that weighs most, of some groups of entries: at each node the heaviest child, until the node itself weighs more. */
class PathFinder {
    constructor(nodes) {
        this.nodes = nodes;
        this.own = new Float64Array(nodes.n);
        this.sum = new Float64Array(nodes.n);
        this.best = new Int32Array(nodes.n);
        this.touched = new Int32Array(nodes.n);
    }
    heaviest(groups, side) {
        const {own, sum, best, touched} = this, {parent} = this.nodes, column = side.weight || side.samples;
        let n = 0, first = -1;
        for (const g of groups)
            for (let e = side.begin[g]; e < side.begin[g + 1]; e++) {
                const node = side.node[e], w = column[e];
                own[node] += w;
                for (let i = node; i >= 0; i = parent[i]) {
                    if (sum[i] === 0)
                        touched[n++] = i;
                    sum[i] += w;
                }
            }
        const better = (i, than) => than < 0 || sum[i] > sum[than] || (sum[i] === sum[than] && i < than);
        for (let k = 0; k < n; k++)
            best[touched[k]] = -1;
        for (let k = 0; k < n; k++) {
            const i = touched[k], p = parent[i];
            if (p < 0)
                first = better(i, first) ? i : first;
            else if (better(i, best[p]))
                best[p] = i;
        }
        const path = [];
        for (let i = first; i >= 0; i = best[i]) {
            path.push(i);
            if (best[i] >= 0 && own[i] > sum[best[i]])
                break;
        }
        for (let k = 0; k < n; k++)
            own[touched[k]] = sum[touched[k]] = 0;
        return path;
    }
}
