/* Mouse, fingers and keys; then the beginning. */
'use strict';

function listenToView(app, view) {
    const {canvas} = view;
    let drag = null, touches = false;
    const find = (e) => view.at(e.offsetX, e.offsetY);
    canvas.addEventListener('pointermove', (e) => {
        if (drag && (drag.moved || Math.abs(e.clientX - drag.x) > 5)) {
            view.pan(drag.last - e.clientX);
            drag.moved = true;
            drag.last = e.clientX;
            app.hideTip();
            return;
        }
        if (e.pointerType === 'touch')
            return;
        const found = find(e);
        view.hover(found);
        if (found)
            app.showTip(view, found, e.clientX, e.clientY);
        else
            app.hideTip();
    });
    canvas.addEventListener('pointerleave', () => app.hideTip());
    canvas.addEventListener('pointerdown', (e) => {
        touches = e.pointerType === 'touch';
        drag = e.button === 0 && view.isZoomed && !touches ? {x: e.clientX, last: e.clientX, moved: false} : null;
        if (drag)
            canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener('click', (e) => {
        const moved = drag && drag.moved, found = find(e);
        drag = null;
        if (moved || !found || !found.piece.box)
            return;
        app.hideTip();
        view.select(found.piece.box);
        view.zoomBox(found.piece.box);
        app.describe();
        app.announce(view);
    });
    canvas.addEventListener('wheel', (e) => {
        if (e.ctrlKey || e.metaKey) {
            e.preventDefault();
            view.magnify(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 150), e.offsetX);
            app.hideTip();
        } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
            e.preventDefault();
            view.pan(e.deltaX || e.deltaY);
            app.hideTip();
        }
    }, {passive: false});
    canvas.addEventListener('keydown', (e) => {
        const upwards = view.upwards, way = {
            ArrowLeft: 'left', ArrowRight: 'right', Home: 'first',
            ArrowUp: upwards ? 'in' : 'out', ArrowDown: upwards ? 'out' : 'in',
        }[e.key];
        if (e.ctrlKey || e.metaKey || e.altKey || (!way && e.key !== 'Enter'))
            return;
        e.preventDefault();
        e.stopPropagation();
        if (way)
            view.select(view.neighbour(way));
        else if (view.selected)
            view.zoomBox(view.selected);
        app.describe();
        app.announce(view);
    });
}

/* The next match in the order of the picture, and zoom so that it can be read. */
function nextMatch(app, step) {
    const view = app.current;
    if (!view || !app.marked)
        return;
    const list = [];
    for (const row of view.rows)
        for (const piece of row)
            if (piece.box && piece.box.frame >= 0 && app.marked[piece.box.frame])
                list.push(piece.box);
    if (!list.length)
        return;
    const at = list.indexOf(view.selected);
    view.select(list[(at < 0 ? (step > 0 ? 0 : list.length - 1) : at + step + list.length) % list.length]);
    app.describe();
    app.announce(view);
}

function stepBack(app) {
    const view = app.current;
    if (app.marked) {
        app.searchFor('');
    } else if (view && view.isZoomed) {
        zoomOut(app);
    } else if (view && view.selected) {
        view.select(null);
        app.describe();
    } else if (app.state.from > 0 || app.state.to < app.profile.buckets) {
        app.chooseTime(0, app.profile.buckets);
    }
}

function zoomOut(app) {
    const view = app.current;
    if (!view)
        return;
    view.zoomBox(view.tree.root);
}

function toggle(id) {
    const box = by(id);
    if (box.closest('label').hidden)
        return;
    if (box.type === 'checkbox')
        box.checked = !box.checked;
    else
        box.selectedIndex = (box.selectedIndex + 1) % box.options.length;
    box.dispatchEvent(new Event('change'));
}

function keys(app) {
    const thread = (step) => {
        const n = by('thread').options.length;
        by('thread').selectedIndex = (by('thread').selectedIndex + step + n) % n;
        app.chooseThread(+by('thread').value);
    };
    const magnify = (factor) => app.current && app.current.magnify(factor, app.current.width / 2);
    const pan = (part) => app.current && app.current.pan(part * app.current.width);
    return {
        '?': () => by('help').showModal(), '/': () => by('search').focus(), 'Escape': () => stepBack(app),
        '0': () => zoomOut(app), 'n': () => nextMatch(app, 1), 'p': () => nextMatch(app, -1),
        '+': () => magnify(1 / 1.5), '=': () => magnify(1 / 1.5), '-': () => magnify(1.5),
        'a': () => pan(-0.3), 'e': () => pan(0.3), '[': () => thread(-1), ']': () => thread(1),
        't': () => toggle('split'), 'o': () => toggle('order'), 'd': () => by('theme').click(),
        'w': () => app.chooseTime(0, app.profile.buckets),
        's': () => {
            const box = app.current && app.current.selected;
            if (box && box.frame >= 0)
                app.openSandwich(box.frame);
            else
                app.chooseView('sandwich');
        },
        ...Object.fromEntries(VIEWS.map((view, i) => [String(i + 1), () => app.chooseView(view)])),
    };
}

function listen(app) {
    for (const view of Object.values(app.views))
        listenToView(app, view);
    const table = keys(app);
    document.addEventListener('keydown', (e) => {
        const typing = e.target instanceof Element && e.target.matches('input:not([type=checkbox]):not([type=range]), select');
        if (e.ctrlKey || e.metaKey || e.altKey || by('help').open || (typing && e.key !== 'Escape'))
            return;
        if (table[e.key]) {
            if (typing)
                e.target.blur();
            e.preventDefault();
            table[e.key]();
        }
    });
    for (const name of VIEWS)
        by('tab-' + name).addEventListener('click', () => app.chooseView(name));
    document.querySelector('.tabs').addEventListener('keydown', (e) => {
        const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
        if (!step)
            return;
        const next = VIEWS[(VIEWS.indexOf(app.state.view) + step + VIEWS.length) % VIEWS.length];
        app.chooseView(next);
        by('tab-' + next).focus();
        e.preventDefault();
        e.stopPropagation();
    });
    by('thread').addEventListener('change', () => app.chooseThread(+by('thread').value));
    by('event').addEventListener('change', () => app.chooseEvent(+by('event').value));
    const option = (id, take) => by(id).addEventListener('change', () => {
        take(by(id));
        app.showView();
    });
    option('split', (e) => app.state.split = e.checked);
    option('order', (e) => app.state.order = e.value);
    option('side', (e) => app.state.side = e.value);
    by('theme').addEventListener('click', () => app.setTheme(app.colours.theme === 'light' ? 'dark' : 'light'));
    by('help-button').addEventListener('click', () => by('help').showModal());
    by('zoom-out').addEventListener('click', () => zoomOut(app));
    by('detail-sandwich').addEventListener('click', () => app.openSandwich(app.current.selected.frame));
    by('search').addEventListener('input', () => {
        clearTimeout(app.typing);
        app.typing = setTimeout(() => app.search(by('search').value), 120);
    });
    by('search-form').addEventListener('submit', (e) => {
        e.preventDefault();
        clearTimeout(app.typing);
        app.search(by('search').value);
        nextMatch(app, 1);
    });
    listenToSandwich(app);
    addEventListener('resize', () => app.repaint());
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', () => app.setTheme(dark.matches ? 'dark' : 'light'));
}

/* Names are offered as they are typed: those with most time first. */
function listenToSandwich(app) {
    const input = by('sandwich-name'), find = (text) => {
        const {n} = app.profile.frames, wanted = text.toLowerCase(), found = [];
        for (let f = 0; f < n; f++)
            if (app.functions.total[f] > 0 && app.name(f).toLowerCase().includes(wanted))
                found.push(f);
        return found.sort((a, b) => (app.name(b) === text) - (app.name(a) === text) || app.functions.total[b] - app.functions.total[a]);
    };
    input.addEventListener('focus', () => input.select());
    input.addEventListener('input', () => by('sandwich-list').replaceChildren(
        ...find(input.value).slice(0, 20).map((f) => make('option', {value: app.name(f)}))));
    const take = () => {
        const [f] = find(input.value);
        if (f !== undefined && app.name(app.state.sandwich) !== input.value)
            app.openSandwich(f);
        else if (f === undefined)
            by('sandwich-figures').textContent = 'there is no such function here';
    };
    input.addEventListener('change', take);
    by('sandwich-form').addEventListener('submit', (e) => {
        e.preventDefault();
        take();
    });
}

function fillChoices(app) {
    const {profile} = app, sums = byThread(profile), all = sums.reduce((a, b) => a + b, 0);
    const was = profile.sides[1] ? byThread(profile, profile.sides[1]) : sums;
    const order = Array.from(sums.keys()).filter((t) => sums[t] > 0 || was[t] > 0).sort((a, b) => sums[b] - sums[a] || was[b] - was[a]);
    const label = (t) => profile.sides[1] ? profile.threads[t].name || '[unnamed thread]' : threadName(profile.threads[t]);
    by('thread').replaceChildren(make('option', {value: -1, textContent: `all ${count(order.length)}`}),
        ...order.map((t) => make('option', {value: t, textContent: `${label(t)}: ${percent(sums[t], all)}`})));
    by('thread-label').hidden = order.length < 2;
    by('event').replaceChildren(...profile.facts.events.map((e, i) => make('option', {value: i, textContent: e.name})));
    by('event-label').hidden = profile.facts.events.length < 2;
    const heaviest = profile.threads[order[0]];
    const title = heaviest && heaviest.name ? heaviest.name + (heaviest.pid > 0 ? `, process ${heaviest.pid}` : '') : '';
    by('title').textContent = title;
    document.title = (heaviest && heaviest.name ? heaviest.name + ': ' : '') + 'where the time goes';
}

async function begin() {
    try {
        performance.mark('begin');
        const block = by('data'), profile = decodeProfile(await unpack(bytesOfBase64(block.textContent.trim())));
        block.remove();
        performance.mark('decoded');
        const app = new App(profile);
        by('page').hidden = false;
        fillChoices(app);
        listen(app);
        app.setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
        performance.mark('shown');
        window.reckon = app; // for tests, and for the curious
    } catch (error) {
        by('problem').hidden = false;
        by('problem').textContent = 'This page can\'t be shown: ' + error.message;
        throw error;
    }
}

begin();
