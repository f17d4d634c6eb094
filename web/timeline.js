/*
 * The time line: how much ran when. Dragging chooses a part of the time; dragging the part moves it, its edges change it.
 * Two range inputs do the same for the keyboard and for readers that don't see.
 */
'use strict';

const AXIS = 17;

class TimeLine {
    constructor(app) {
        this.app = app;
        this.strip = by('strip');
        this.canvas = by('time-canvas');
        this.from = by('time-from');
        this.to = by('time-to');
        const n = app.profile.buckets;
        for (const input of [this.from, this.to])
            input.max = n;
        for (const input of [this.from, this.to])
            input.addEventListener('input', () => {
                const a = Math.min(+this.from.value, n - 1), b = Math.max(+this.to.value, a + 1);
                app.chooseTime(a, b);
            });
        this.strip.addEventListener('pointerdown', (e) => this.down(e));
        this.strip.addEventListener('pointermove', (e) => this.move(e));
        this.strip.addEventListener('pointerup', (e) => this.up(e));
        this.strip.addEventListener('pointercancel', () => this.drag = null);
        this.strip.addEventListener('dblclick', () => app.chooseTime(0, n));
        by('time-all').addEventListener('click', () => app.chooseTime(0, n));
    }
    get profile() {
        return this.app.profile;
    }
    bucketAt(x) {
        return Math.min(Math.max(x / this.width, 0), 1) * this.profile.buckets;
    }
    xOf(bucket) {
        return bucket / this.profile.buckets * this.width;
    }
    down(e) {
        if (e.button !== 0)
            return;
        const x = e.offsetX, {from, to} = this.app.state, all = from === 0 && to === this.profile.buckets;
        const edge = (b) => !all && Math.abs(this.xOf(b) - x) < (e.pointerType === 'touch' ? 14 : 6);
        const at = this.bucketAt(x);
        this.drag = {x, at, from, to, moved: false,
            kind: edge(from) ? 'from' : edge(to) ? 'to' : !all && at > from && at < to ? 'move' : 'new'};
        this.strip.setPointerCapture(e.pointerId);
    }
    move(e) {
        const d = this.drag, rect = this.strip.getBoundingClientRect(), x = e.clientX - rect.left;
        if (!d)
            return;
        d.moved = d.moved || Math.abs(x - d.x) > 3;
        if (!d.moved)
            return;
        const n = this.profile.buckets, at = this.bucketAt(x);
        let a = d.from, b = d.to;
        if (d.kind === 'new')
            [a, b] = [Math.min(d.at, at), Math.max(d.at, at)];
        else if (d.kind === 'from')
            [a, b] = [Math.min(at, b), Math.max(at, b)];
        else if (d.kind === 'to')
            [a, b] = [Math.min(at, a), Math.max(at, a)];
        else {
            const by = Math.min(Math.max(Math.round(at - d.at), -a), n - b);
            [a, b] = [a + by, b + by];
        }
        a = Math.min(Math.floor(a), n - 1);
        this.app.chooseTime(a, Math.max(Math.ceil(b), a + 1));
    }
    up() {
        const d = this.drag;
        this.drag = null;
        if (d && !d.moved && d.kind === 'new' && (d.from > 0 || d.to < this.profile.buckets))
            this.app.chooseTime(0, this.profile.buckets);
    }
    update() {
        const {profile, app} = this, {from, to, thread} = app.state, n = profile.buckets, all = from === 0 && to === n;
        by('time').hidden = n < 2;
        if (n < 2)
            return;
        this.width = this.strip.clientWidth;
        this.height = this.strip.clientHeight;
        this.from.value = from;
        this.to.value = to;
        const say = (b) => duration(b * profile.width);
        this.from.setAttribute('aria-valuetext', say(from));
        this.to.setAttribute('aria-valuetext', say(to));
        by('time-text').textContent = all ? `${say(n)} in all${app.weights.before ? ', each from its first sample on' : ''}; drag to look at a part`
            : `${say(from)} to ${say(to)}: ${say(to - from)}`;
        by('time-all').hidden = all;
        this.paint(byTime(profile, thread), from, to, all);
    }
    paint(sums, from, to, all) {
        const ratio = window.devicePixelRatio || 1, {width, height, app} = this, style = getComputedStyle(this.strip);
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        this.canvas.style.width = width + 'px';
        this.canvas.style.height = height + 'px';
        const c = this.canvas.getContext('2d');
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        const floor = height - AXIS, columns = this.columns(sums, Math.floor(width / 3));
        const colour = (name) => style.getPropertyValue(name);
        this.area(c, columns.all, columns.most, floor, colour('--line'));
        this.area(c, columns.one, columns.most, floor, colour('--bar'));
        if (!all) {
            c.fillStyle = app.background;
            c.globalAlpha = 0.72;
            c.fillRect(0, 0, this.xOf(from), floor);
            c.fillRect(this.xOf(to), 0, width, floor);
            c.globalAlpha = 1;
            c.fillStyle = colour('--accent');
            c.fillRect(this.xOf(from) - 1, 0, 2, floor);
            c.fillRect(this.xOf(to) - 1, 0, 2, floor);
        }
        this.axis(c, floor, colour('--soft'), colour('--line'));
    }
    columns(sums, n) {
        const buckets = this.profile.buckets, m = Math.min(n, buckets);
        const all = new Float64Array(m), one = new Float64Array(m), width = new Float64Array(m);
        for (let b = 0; b < buckets; b++) {
            const k = Math.min(m - 1, Math.floor(b * m / buckets));
            all[k] += sums.all[b];
            one[k] += sums.one[b];
            width[k]++;
        }
        let most = 0;
        for (let k = 0; k < m; k++) {
            all[k] /= width[k];
            one[k] /= width[k];
            most = Math.max(most, all[k]);
        }
        return {all, one, most};
    }
    area(c, column, most, floor, colour) {
        const w = this.width / column.length;
        c.fillStyle = colour;
        for (let k = 0; k < column.length; k++) {
            const h = most > 0 ? column[k] / most * (floor - 5) : 0;
            c.fillRect(k * w, floor - h, w + 0.3, h);
        }
    }
    axis(c, floor, text, line) {
        const all = this.profile.buckets * this.profile.width, wanted = Math.max(2, Math.floor(this.width / 110));
        let step = 10 ** Math.floor(Math.log10(all / wanted));
        step *= [1, 2, 5, 10].find((k) => all / (step * k) <= wanted) || 10;
        c.fillStyle = line;
        c.fillRect(0, floor, this.width, 1);
        c.font = '11px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
        c.textBaseline = 'middle';
        for (let t = 0; t <= all; t += step) {
            const x = t / all * this.width, label = duration(t).replace('0 ns', '0'), w = c.measureText(label).width;
            if (x + w + 8 > this.width)
                break;
            c.fillStyle = line;
            c.fillRect(x, floor, 1, 5);
            c.fillStyle = text;
            c.fillText(label, x + 4, floor + AXIS / 2 + 1);
        }
    }
}
