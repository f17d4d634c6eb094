/*
 * The page: what is chosen (state), what follows from it (weights, functions, marked), and who shows it.
 *
 *     choose → weigh → trees → views          each step only when something before it changed
 */
'use strict';

const VIEWS = ['flame', 'callers', 'sandwich', 'chart', 'table'];

class App {
    constructor(profile) {
        this.profile = profile;
        this.state = {view: 'flame', thread: -1, from: 0, to: profile.buckets, split: false, order: 'weight',
            side: 'after', sandwich: -1};
        this.colours = new Colours(profile);
        this.marked = null;
        this.trees = new Map();
        this.views = {
            main: new FlameView(by('flame'), this, false),
            callers: new FlameView(by('callers-half'), this, true),
            callees: new FlameView(by('callees-half'), this, false),
        };
        this.table = new FunctionTable(this);
        this.timeLine = new TimeLine(this);
        this.weigh();
        this.colours.rankModules(byModule(profile, this.functions));
    }
    get event() {
        return this.profile.facts.events[this.profile.event];
    }
    get isPart() {
        const {thread, from, to} = this.state;
        return thread >= 0 || from > 0 || to < this.profile.buckets;
    }
    /* ---- names ---- */
    name(f) {
        const {strings, frames} = this.profile, {kind} = frames;
        if (kind[f] < 2)
            return strings.at(frames.name[f]) || '[unknown]';
        const module = this.moduleOf(f).name;
        return module.startsWith('[') ? module : `[${module}]`;
    }
    /* What of it tells most in little room: src/symbol/short.c. */
    shortName(f) {
        const {short, frames} = this.profile;
        return frames.kind[f] < 2 && short.of(frames.name[f]) || this.name(f);
    }
    moduleOf(f) {
        return this.profile.modules[this.profile.frames.module[f]];
    }
    placeOf(f) {
        const {file, line} = this.profile.frames;
        if (!file[f])
            return '';
        return this.profile.strings.at(file[f] - 1) + (line[f] ? ':' + line[f] : '');
    }
    boxName(box) {
        return box.frame < 0 ? box.label : this.name(box.frame);
    }
    /* What a run of boxes says that are too narrow each. */
    restName(tree, piece) {
        return `${some(piece.rest, tree.isOfThreads(piece.depth) ? 'thread' : 'function')} too narrow to draw`;
    }
    /* As much of a piece's name as fits in n letters. */
    fitting(tree, piece, n) {
        const {box} = piece, full = box ? this.boxName(box) : this.restName(tree, piece);
        if (!box)
            return full.length <= n ? full : cutTo(count(piece.rest) + ' more', n);
        if (full.length <= n)
            return full;
        return cutTo(box.frame < 0 ? full : this.shortName(box.frame), n);
    }
    styleOf(tree, box) {
        const p = this.colours.palette;
        if (!box)
            return {fill: p.rest, text: p.text};
        const marked = this.marked;
        if (marked && box.frame >= 0)
            return marked[box.frame] ? {fill: p.match, text: p.matchText} : {fill: p.faded, text: p.fadedText};
        if (box.frame < 0)
            return {fill: p.group, text: p.text};
        if (!this.weights.before || tree instanceof TimeTree)
            return {fill: this.colours.frame(box.frame), text: p.text};
        const per = this.event.samples / (this.total || 1), swap = tree.sides === 'before';
        const fill = this.colours.difference((swap ? box.before : box.w) * per, (swap ? box.w : box.before) * per,
            this.weights.before.each * per);
        return {fill, text: textOn(fill)};
    }
    /* ---- what follows from the choice ---- */
    weigh() {
        const {profile, state} = this, w = weigh(profile, state);
        this.weights = w;
        this.functions = byFunction(profile, w.self, w.total);
        this.functions.samples = w.samples ? byFunction(profile, w.selfSamples, w.samples) : this.functions;
        this.functionsBefore = w.before && byFunction(profile, w.before.self, w.before.total);
        this.total = this.isPart && this.total ? this.total : w.sum;
        this.trees.clear();
    }
    tree(kind) {
        const {profile, weights, state} = this, key = [kind, state.order, state.split, state.side, state.sandwich].join();
        let tree = this.trees.get(key);
        if (!tree) {
            const split = state.split ? 'thread' : state.side;
            tree = kind === 'flame' ? new DownTree(profile, weights, state.order, split)
                : kind === 'callers' ? new UpTree(profile, weights, state.order)
                    : kind === 'chart' ? new TimeTree(profile, weights, 1024)
                        : sandwich(profile, weights, state.order, state.sandwich);
            this.trees.set(key, tree);
        }
        return tree;
    }
    /* ---- showing ---- */
    showAll() {
        const best = showHottest(this);
        showAnswer(this, best);
        showModules(this);
        showGround(this);
        this.timeLine.update();
        this.showMatched();
        this.showView();
    }
    showView() {
        const {view} = this.state, panel = view === 'callers' || view === 'chart' ? 'flame' : view;
        for (const name of VIEWS) {
            const tab = by('tab-' + name), on = name === view;
            tab.setAttribute('aria-selected', on);
            tab.setAttribute('aria-controls', 'view-' + (name === 'callers' || name === 'chart' ? 'flame' : name));
            tab.tabIndex = on ? 0 : -1;
        }
        const empty = view === 'chart' && this.profile.buckets < 2 ? this.weights.before ? 'The samples of the two have no times in common to compare.'
                : this.profile.facts.timed ? 'There are too many samples of too many stacks to keep their times; reckon report --html --time takes a part of them.'
                    : 'The samples of this recording have no times.'
            : !this.weights.sum ? 'Nothing was sampled in what is chosen.' : '';
        for (const name of ['flame', 'sandwich', 'table'])
            by('view-' + name).classList.toggle('shown', name === panel && !empty);
        by('view-flame').setAttribute('aria-labelledby', 'tab-' + (panel === 'flame' ? view : 'flame'));
        by('empty').hidden = !empty;
        by('empty').textContent = empty;
        by('split-label').hidden = view !== 'flame' || by('thread-label').hidden || !!this.weights.before;
        by('order-label').hidden = view === 'chart' || view === 'table';
        by('side-label').hidden = view !== 'flame' || !this.weights.before;
        this.hideTip();
        if (empty)
            return;
        if (view === 'table')
            this.table.update();
        else if (view === 'sandwich')
            this.showSandwich();
        else
            this.views.main.show(this.tree(view));
        this.describe();
    }
    showSandwich() {
        const {state, weights, functions: f} = this;
        if (state.sandwich < 0)
            state.sandwich = (hottest(this, 1)[0] || {i: 0}).i;
        const i = state.sandwich, {callers, callees} = this.tree('sandwich');
        by('sandwich-name').value = this.name(i);
        by('sandwich-figures').textContent =
            `self ${percent(f.self[i], weights.sum)}, total ${percent(f.total[i], weights.sum)}`;
        this.views.callers.show(callers);
        this.views.callees.show(callees);
    }
    openSandwich(f) {
        this.state.sandwich = f;
        this.state.view = 'sandwich';
        this.showView();
        by('main').scrollIntoView({block: 'nearest'});
    }
    repaint() {
        for (const view of Object.values(this.views))
            view.update();
        this.timeLine.update();
    }
    setTheme(theme) {
        document.documentElement.dataset.theme = theme;
        this.colours.setTheme(theme);
        const style = getComputedStyle(document.documentElement);
        this.background = style.getPropertyValue('--card').trim();
        this.foreground = style.getPropertyValue('--text').trim();
        this.showAll();
    }
    /* ---- choosing ---- */
    chooseTime(from, to) {
        if (from === this.state.from && to === this.state.to)
            return;
        this.state.from = from;
        this.state.to = to;
        if (!this.pending)
            this.pending = requestAnimationFrame(() => {
                this.pending = 0;
                this.weigh();
                this.showAll();
            });
    }
    chooseThread(t) {
        this.state.thread = t;
        by('thread').value = t;
        this.weigh();
        this.showAll();
    }
    chooseView(view) {
        this.state.view = view;
        this.showView();
    }
    chooseEvent(event) {
        chooseEvent(this.profile, event);
        this.total = 0;
        this.weigh();
        this.showAll();
    }
    /* ---- search ---- */
    searchFor(text) {
        by('search').value = text;
        this.search(text);
    }
    search(text) {
        const input = by('search');
        let regex = null;
        this.bad = false;
        if (text)
            try {
                regex = new RegExp(text, 'i');
            } catch {
                this.bad = true; // taken as it stands
                regex = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
            }
        input.setAttribute('aria-invalid', this.bad);
        this.marked = regex && this.mark(regex);
        this.showMatched();
        if (this.state.view === 'table')
            this.table.update();
        else
            for (const view of Object.values(this.views))
                view.update();
    }
    mark(regex) {
        const {profile} = this, n = profile.frames.n, marked = new Uint8Array(n);
        const modules = profile.modules.map((m) => regex.test(m.name));
        const strings = new Int8Array(profile.strings.n); // 0: not tried yet
        const matches = (s) => (strings[s] || (strings[s] = regex.test(profile.strings.at(s)) ? 1 : -1)) > 0;
        const {name, module, file} = profile.frames;
        for (let f = 0; f < n; f++)
            marked[f] = modules[module[f]] || matches(name[f]) || (file[f] > 0 && matches(file[f] - 1)) ? 1 : 0;
        return marked;
    }
    showMatched() {
        if (!this.marked) {
            by('matched').textContent = '';
            return;
        }
        let n = 0;
        for (let f = 0; f < this.marked.length; f++)
            n += this.marked[f] && this.functions.total[f] > 0 ? 1 : 0;
        const share = shareOf(this.profile, this.weights.total, this.marked);
        by('matched').textContent = `${percent(share, this.weights.sum)} in ${some(n, 'matching function')}`
            + (this.bad ? '; no regular expression, taken as text' : '');
    }
    /* ---- telling about a box ---- */
    figures(tree, box) {
        const {weights, event} = this, {unit} = event;
        if (tree instanceof TimeTree)
            return [['when', `${duration(box.x * this.profile.width)} to ${duration((box.x + box.w) * this.profile.width)}`]];
        const say = (w) => {
            const samples = weights.samples ? null : w, weight = w * weights.scale;
            return samples !== null && weights.scale !== 1 ? `${some(samples, 'sample')}, ${amount(weight, unit)}`
                : samples !== null ? some(samples, 'sample') : amount(weight, unit);
        };
        const rows = [['total', `${percent(box.w, weights.sum)}`, say(box.w)]];
        if (box.frame >= 0 && !(tree instanceof UpTree))
            rows.push(['self', percent(box.self, weights.sum), say(box.self)]);
        if (box.samples >= 0)
            rows.push(['', '', some(box.samples, 'sample')]);
        if (weights.before) {
            const [after, before] = tree.sides === 'before' ? [box.before, box.w] : [box.w, box.before];
            rows[0] = ['after', percent(after, weights.sum), say(after)];
            rows.splice(1, 0, ['before', percent(before, weights.sum), ''],
                ['change', points(after - before, weights.sum) + ' points', '']);
        }
        if (this.isPart && !weights.before)
            rows.push(['of everything', percent(box.w, this.total), '']);
        return rows;
    }
    /* What else is known of a function: module, file and line, its hottest lines, why it has no name. */
    notes(box) {
        const f = box.frame, {frames, facts} = this.profile, notes = [];
        if (f < 0)
            return notes;
        const module = this.moduleOf(f), kind = frames.kind[f];
        notes.push(module.path && module.path !== module.name ? `${module.name} (${module.path})` : module.name);
        if (this.placeOf(f))
            notes.push(this.placeOf(f));
        const lines = frames.lines.get(f);
        if (lines && lines.length > 1)
            notes.push('hottest lines: ' + lines.slice(0, 4).map((l) => `${l.line} (${count(l.samples)})`).join(', '));
        if (kind % 2)
            notes.push('inlined');
        if (kind > 1)
            notes.push('no name: ' + facts.reasons[kind >> 1]);
        return notes;
    }
    tipFor(tree, piece) {
        if (!piece.box)
            return [make('b', {textContent: this.restName(tree, piece)}),
                make('div', {textContent: tree instanceof TimeTree ? '' : percent(piece.weight, this.weights.sum)})];
        const rows = this.figures(tree, piece.box).map((row) => make('tr', {}, ...row.map((t) => make('td', {textContent: t}))));
        return [make('b', {textContent: this.boxName(piece.box)}),
            ...this.notes(piece.box).map((n) => make('div', {textContent: n})),
            make('table', {}, make('tbody', {}, ...rows))];
    }
    showTip(view, found, x, y) {
        const tip = by('tip');
        tip.replaceChildren(...this.tipFor(view.tree, found.piece));
        tip.hidden = false;
        const {width, height} = tip.getBoundingClientRect();
        const left = Math.max(8, Math.min(x + 14, innerWidth - width - 8));
        const top = y + 20 + height > innerHeight ? Math.max(8, y - height - 12) : y + 20;
        tip.style.transform = `translate(${left}px, ${top}px)`;
    }
    hideTip() {
        by('tip').hidden = true;
        for (const view of Object.values(this.views))
            view.hover(null);
    }
    /* The line above the graph: the chosen box, or what can be done here. */
    describe() {
        const view = this.current, box = view && view.selected, text = by('detail-text');
        by('zoom-out').hidden = !(view && view.isZoomed);
        by('detail-sandwich').hidden = !(box && box.frame >= 0 && this.state.view !== 'sandwich');
        if (!box || box.frame === -1) {
            text.textContent = {
                flame: 'A box is a function, its width its share; below it is what it called. Click to zoom.',
                callers: 'Top row: the functions that were running. Below each: who called it.',
                chart: 'From left to right as time went: what was running most.',
                sandwich: 'One function, wherever it is called from.',
                table: 'Click a function for its callers and callees, a heading to sort.',
            }[this.state.view];
            return;
        }
        const [first, second] = this.figures(view.tree, box), [module, place] = this.notes(box);
        text.replaceChildren(make('span', {className: 'name', textContent: cutTo(this.boxName(box), 160)}),
            ` ${[module, place].filter(Boolean).join(', ')}: ${first.filter(Boolean).join(' ')}`
            + (second && second[0] === 'self' ? `; self ${second[1]}` : ''));
    }
    announce(view) {
        const box = view.selected;
        by('live').textContent = box ? `${this.boxName(box)}, ${this.figures(view.tree, box).map((r) => r.slice(0, 2).join(' ')).join(', ')}` : '';
    }
    zoomed() {
        this.describe();
    }
    /* The view that keys are for. */
    get current() {
        const {view} = this.state;
        if (view === 'table')
            return null;
        if (view !== 'sandwich')
            return this.views.main;
        return document.activeElement === this.views.callers.canvas ? this.views.callers : this.views.callees;
    }
}
