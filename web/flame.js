/*
 * A tree of boxes on a canvas. The canvas is as large as what can be seen of it; a box narrower than a pixel is not drawn
 * and its children are never made, so drawing costs what is seen, however large the profile is.
 *
 *     layout()   rows of boxes that are visible in [x0, x1), to the depth that is scrolled to
 *     paint()    the rows that are on the screen
 *
 * `upwards`: the root is at the bottom. A run of neighbours that are all too narrow is one grey box.
 */
'use strict';

const ROW = 20;
const LEAST = 0.25; // pixels: what is narrower is not made; a little less than is drawn, so that zooming seldom makes more
const FONT = '12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';

class FlameView {
    /* host: an element with a .scroller that has a .sizer with a <canvas> and a .mark inside. */
    constructor(host, app, upwards) {
        this.app = app;
        this.upwards = upwards;
        this.scroller = host;
        this.sizer = host.querySelector('.sizer');
        this.canvas = host.querySelector('canvas');
        this.mark = host.querySelector('.mark');
        this.tree = null;
        this.rows = [];
        this.selected = null; // a box
        this.zoomedTo = null; // a box
        this.moving = 0;
        this.width = this.height = 0;
        this.scroller.addEventListener('scroll', () => this.scrolled());
    }
    /* Another tree; what was zoomed to and chosen stays so, if it is a tree of the same kind and has it. */
    show(tree) {
        const before = this.tree, kept = this.zoomedTo, chosen = this.selected;
        if (before === tree) {
            this.update();
            return;
        }
        this.tree = tree;
        this.moving++;
        const like = before && before.constructor === tree.constructor;
        const again = (box) => like && box ? tree.find(box) : null;
        this.zoomedTo = again(kept);
        this.selected = again(chosen);
        const to = this.zoomedTo || tree.root;
        this.x0 = to.x;
        this.x1 = to.x + to.w;
        this.update();
        if (!this.zoomedTo)
            this.scroller.scrollTop = this.upwards ? this.scroller.scrollHeight : 0;
    }
    /* Size, layout and paint. */
    update() {
        if (!this.tree || this.scroller.offsetParent === null)
            return;
        this.resize();
        this.layout();
        this.paint();
    }
    resize() {
        const ratio = window.devicePixelRatio || 1, width = this.scroller.clientWidth;
        const height = this.scroller.clientHeight;
        if (width !== this.width || height !== this.height || ratio !== this.ratio) {
            this.width = width;
            this.height = height;
            this.ratio = ratio;
            this.canvas.width = Math.round(width * ratio);
            this.canvas.height = Math.round(height * ratio);
            this.canvas.style.width = width + 'px';
            this.canvas.style.height = height + 'px';
        }
    }
    lowest() { // the deepest row that is on the screen
        const top = this.scroller.scrollTop, all = this.scroller.scrollHeight;
        const seen = this.upwards && this.rows.length ? all - top : top + this.height;
        return Math.ceil(seen / ROW) + 30;
    }
    layout() {
        const scale = this.width / (this.x1 - this.x0 || 1), limit = this.lowest(), root = this.tree.root;
        this.rows = [];
        this.more = false;
        let row = [this.piece(root, 0, scale)];
        while (row.length && this.rows.length < limit) {
            this.rows.push(row);
            const next = [];
            for (const piece of row)
                if (piece.box)
                    this.layoutKids(piece.box, scale, next);
            row = next;
        }
        this.more = row.length > 0;
        const height = Math.max(this.rows.length + (this.more ? 20 : 0), 1) * ROW;
        if (height !== this.sized) {
            this.sized = height;
            this.sizer.style.height = Math.max(height, this.height) + 'px';
        }
    }
    piece(box, depth, scale) {
        return {box, depth, left: Math.max(0, (box.x - this.x0) * scale), rest: 0, weight: 0,
            right: Math.min(this.width, (box.x + box.w - this.x0) * scale)};
    }
    layoutKids(box, scale, into) {
        const seen = (x, w) => x + w > this.x0 && x < this.x1;
        let run = null, x = box.x;
        const flush = () => {
            if (run && run.right - run.left >= 0.5)
                into.push(run);
            run = null;
        };
        const narrow = (piece, n, weight) => {
            if (!run || piece.left - run.right >= 0.5) {
                flush();
                run = piece;
                run.box = null;
            }
            run.right = piece.right;
            run.rest += n;
            run.weight += weight;
        };
        for (const kid of this.tree.kids(box, LEAST / scale)) {
            x = kid.x + kid.w;
            if (!seen(kid.x, kid.w))
                continue;
            const piece = this.piece(kid, kid.depth, scale);
            if (kid.w * scale >= 1) {
                flush();
                into.push(piece);
            } else {
                narrow(piece, 1, kid.w);
            }
        }
        if (box.rest.n > 0 && seen(x, box.rest.w)) // those that were never made lie behind
            narrow(this.piece({x, w: box.rest.w}, box.depth + 1, scale), box.rest.n, box.rest.w);
        flush();
    }
    scrolled() {
        this.hover(null);
        if (this.more && this.lowest() > this.rows.length)
            this.layout();
        this.paint();
    }
    top(depth) { // of a row, on the canvas
        const y = this.upwards ? Math.max(this.sized, this.height) - (depth + 1) * ROW : depth * ROW;
        return y - this.scroller.scrollTop;
    }
    paint() {
        const c = this.canvas.getContext('2d', {alpha: false}), app = this.app;
        c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        c.fillStyle = app.background;
        c.fillRect(0, 0, this.width, this.height);
        c.font = FONT;
        c.textBaseline = 'middle';
        this.letter = this.letter || c.measureText('0'.repeat(64)).width / 64;
        for (let depth = 0; depth < this.rows.length; depth++) {
            const y = this.top(depth);
            if (y <= -ROW || y >= this.height)
                continue;
            for (const piece of this.rows[depth])
                this.paintPiece(c, piece, y);
        }
        this.paintSelected(c);
    }
    paintPiece(c, piece, y) {
        const gap = piece.right - piece.left > 3 ? 1 : 0.3, width = piece.right - piece.left - gap;
        const style = this.app.styleOf(this.tree, piece.box);
        c.fillStyle = style.fill;
        c.fillRect(piece.left, y, Math.max(width, 0.5), ROW - 1);
        if (width < 4 * this.letter)
            return;
        const text = this.app.fitting(this.tree, piece, Math.floor((width - 8) / this.letter));
        if (!text)
            return;
        c.fillStyle = style.text;
        c.fillText(text, piece.left + 4, y + ROW / 2, width - 6);
    }
    paintSelected(c) {
        const box = this.selected, at = box && this.find(box);
        if (!at)
            return;
        c.strokeStyle = this.app.foreground;
        c.lineWidth = 2;
        c.strokeRect(at.left + 1, this.top(box.depth) + 1, Math.max(at.right - at.left - 3, 1), ROW - 3);
    }
    find(box) {
        return (this.rows[box.depth] || []).find((piece) => piece.box === box);
    }
    /* The piece at a place on the canvas. */
    at(x, y) {
        const fromTop = y + this.scroller.scrollTop;
        const depth = Math.floor((this.upwards ? Math.max(this.sized, this.height) - fromTop : fromTop) / ROW);
        const row = this.rows[depth];
        if (!row)
            return null;
        let from = 0, to = row.length;
        while (from < to) {
            const middle = (from + to) >> 1;
            if (row[middle].right <= x)
                from = middle + 1;
            else
                to = middle;
        }
        const piece = row[from];
        return piece && piece.left <= x ? {piece, depth} : null;
    }
    hover(found) {
        const style = this.mark.style;
        if (!found) {
            style.display = 'none';
            return;
        }
        style.display = 'block';
        style.transform = `translate(${found.piece.left}px, ${this.top(found.depth) + this.scroller.scrollTop}px)`;
        style.width = Math.max(found.piece.right - found.piece.left - 1, 2) + 'px';
    }
    /* Shows [x0, x1), gliding there unless the reader asked for no motion. */
    zoomTo(x0, x1) {
        const from = [this.x0, this.x1], began = performance.now(), mine = ++this.moving;
        const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
        const step = (now) => {
            if (mine !== this.moving)
                return;
            const t = still ? 1 : Math.min(1, (now - began) / 180), ease = t * (2 - t);
            this.x0 = from[0] + (x0 - from[0]) * ease;
            this.x1 = from[1] + (x1 - from[1]) * ease;
            if (t === 1)
                [this.x0, this.x1] = [x0, x1];
            this.update();
            if (t < 1)
                requestAnimationFrame(step);
            else
                this.app.zoomed(this);
        };
        this.hover(null);
        step(began + (still ? 1000 : 16));
    }
    zoomBox(box) {
        this.zoomedTo = box.parent ? box : null;
        this.zoomTo(box.x, box.x + box.w);
    }
    get isZoomed() {
        const root = this.tree && this.tree.root;
        return !!root && (this.x0 > root.x || this.x1 < root.x + root.w);
    }
    /* Nearer or farther at a place of the canvas. */
    magnify(factor, x) {
        const root = this.tree.root, at = this.x0 + (this.x1 - this.x0) * x / this.width;
        const width = Math.min(root.w, Math.max((this.x1 - this.x0) * factor, root.w / 1e7));
        const x0 = Math.min(Math.max(root.x, at - width * x / this.width), root.x + root.w - width);
        this.moving++;
        this.zoomedTo = null;
        this.x0 = x0;
        this.x1 = x0 + width;
        this.update();
        this.app.zoomed(this);
    }
    pan(pixels) {
        const root = this.tree.root, width = this.x1 - this.x0;
        const x0 = this.x0 + pixels * width / this.width;
        this.moving++;
        this.zoomedTo = null;
        this.x0 = Math.min(Math.max(root.x, x0), root.x + root.w - width);
        this.x1 = this.x0 + width;
        this.update();
    }
    select(box) {
        this.selected = box;
        if (box) {
            const y = this.top(box.depth);
            if (y < 0 || y > this.height - ROW)
                this.scroller.scrollTop += y < 0 ? y - ROW : y - this.height + 2 * ROW;
        }
        this.paint();
    }
    /* Where the arrow keys lead from the selected box. */
    neighbour(direction) {
        const box = this.selected || this.tree.root;
        if (!this.selected || direction === 'first')
            return this.selected && direction !== 'first' ? box : this.tree.root;
        if (direction === 'out')
            return box.parent || box;
        if (direction === 'in') {
            const kids = this.tree.kids(box);
            return kids.reduce((best, kid) => (best && best.w >= kid.w ? best : kid), null) || box;
        }
        const row = (this.rows[box.depth] || []).filter((piece) => piece.box);
        const i = row.findIndex((piece) => piece.box === box) + (direction === 'right' ? 1 : -1);
        return row[i] ? row[i].box : box;
    }
}
