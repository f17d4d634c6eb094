/*
 * The head of the page: where the time goes, in a sentence and three lists, and what that stands on.
 *
 * facts, as src/export/html.c writes them:
 *     {version, samples, cut, timed, throttled, stacks: {whole, cut, broken},
 *      events: [{name, unit, samples, weight, lost, skipped, before}],     null: not known; before: of a difference
 *      reasons: [by number]}                                               why a function has no name
 */
'use strict';

/* What the weight of an event is called in a sentence, and what it does there. */
function subject(event) {
    if (event.name === 'off-cpu')
        return ['the waiting', 'is'];
    const time = event.unit === 'ns' || /^(cpu-|ref-|)cycles\b/.test(event.name) || !event.name;
    return time ? ['the time', 'is spent'] : ['the ' + event.name, /s$/.test(event.name) ? 'are' : 'is'];
}

/* Samples of this event whose own function has no name: in all, and by module and reason, most first. */
function unnamed(app) {
    const {profile} = app, side = profile.sides[0], {n, module, kind} = profile.frames, {frame} = profile.nodes;
    if (side.unnamed)
        return side.unnamed;
    let sums = app.functions.samples.self;
    if (app.isPart) { // another event was chosen while but a part of the time was
        sums = new Float64Array(n);
        for (let i = 0; i < side.n; i++)
            sums[frame[side.node[i]]] += side.samples[i];
    }
    const parts = new Map(), all = {samples: 0, parts: []};
    for (let f = 0; f < n; f++) {
        if (kind[f] < 2 || !sums[f])
            continue;
        const key = `${profile.modules[module[f]].name}: ${profile.facts.reasons[kind[f] >> 1]}`;
        parts.set(key, (parts.get(key) || 0) + sums[f]);
        all.samples += sums[f];
    }
    all.parts = [...parts].sort((a, b) => b[1] - a[1]);
    return side.unnamed = all;
}

function barRow(share, width, button, small, colour) {
    const bar = make('i'), track = make('span', {className: 'track', ariaHidden: 'true'}, bar);
    bar.style.width = Math.max(0, Math.min(100, width)) + '%';
    if (colour)
        bar.style.background = colour;
    return make('li', {}, share, track, make('span', {className: 'what'}, button, small));
}

function hottest(app, n) {
    const {functions: f, functionsBefore: old} = app;
    const key = old ? (i) => Math.abs(f.self[i] - old.self[i]) : (i) => f.self[i];
    const best = [];
    for (let i = 0; i < f.self.length; i++) {
        const k = key(i);
        if (k <= 0 || (best.length === n && k <= best[n - 1].k))
            continue;
        best.push({i, k});
        best.sort((a, b) => b.k - a.k);
        best.length = Math.min(best.length, n);
    }
    return best;
}

function showHottest(app) {
    const {functions: f, functionsBefore: old, weights} = app, best = hottest(app, 5);
    by('hot-title').textContent = old ? 'Greatest changes (self)' : 'Hottest functions (self)';
    by('hot').replaceChildren(...best.map(({i, k}) => {
        const name = app.name(i), change = old ? f.self[i] - old.self[i] : 0;
        const button = make('button', {type: 'button', className: 'name', textContent: shortName(name), title: name});
        button.addEventListener('click', () => app.openSandwich(i));
        const share = make('span', {className: 'share' + (old ? change > 0 ? ' more' : ' less' : ''),
            textContent: old ? signedPercent(change, weights.sum) : percent(f.self[i], weights.sum)});
        return barRow(share, 100 * k / best[0].k, button,
            make('small', {textContent: app.profile.frames.kind[i] > 1 ? 'no name' : app.moduleOf(i).name,
                title: app.moduleOf(i).path}),
            old ? app.colours.difference(change > 0 ? 1e9 : 0, change > 0 ? 0 : 1e9) : null);
    }));
    return best;
}

function showModules(app) {
    const sums = byModule(app.profile, app.functions), order = Array.from(sums.keys()).filter((m) => sums[m] > 0);
    order.sort((a, b) => sums[b] - sums[a]);
    const shown = order.slice(0, 5);
    by('modules').replaceChildren(...shown.map((m) => {
        const module = app.profile.modules[m];
        const button = make('button', {type: 'button', className: 'name', textContent: module.name, title: module.path});
        button.addEventListener('click', () => app.searchFor('^' + module.name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '$'));
        return barRow(make('span', {className: 'share', textContent: percent(sums[m], app.weights.sum)}),
            100 * sums[m] / sums[shown[0]], button, '', app.colours.module(m));
    }));
    const legend = shown.map((m) => {
        const swatch = make('i');
        swatch.style.background = app.colours.module(m);
        return make('span', {}, swatch, app.profile.modules[m].name);
    });
    const extra = (colour, text) => {
        const swatch = make('i');
        swatch.style.background = colour;
        legend.push(make('span', {}, swatch, text));
    };
    if (app.weights.before) {
        legend.length = 0;
        extra(app.colours.difference(1e9, 0), 'more than before');
        extra(app.colours.difference(0, 1e9), 'less than before');
        extra(app.colours.difference(1, 1), 'the same, or within chance');
    } else if (unnamed(app).samples) {
        extra(app.colours.palette.unnamed, 'no name');
    }
    by('legend').replaceChildren(...legend);
}

function showAnswer(app, best) {
    const {functions: f, functionsBefore: old, weights, profile} = app, [what, is] = subject(app.event);
    const strong = (text) => make('strong', {textContent: text});
    const name = (i) => make('span', {className: 'name', textContent: cutTo(shortName(app.name(i)), 60)});
    const h1 = by('answer');
    const part = app.isPart ? ' (of what is chosen)' : '';
    if (!weights.sum || !best.length) {
        h1.replaceChildren(weights.sum === 0 ? 'There are no samples here.' : 'Nothing changed.');
        return;
    }
    const {i} = best[0];
    if (old) {
        h1.replaceChildren(name(i), ' had ', strong(percent(old.self[i], weights.sum)), ` of ${what} before and has `,
            strong(percent(f.self[i], weights.sum)), ' now.');
        return;
    }
    const share = percent(f.self[i], weights.sum);
    if (f.self[i] < 0.05 * weights.sum && best.length > 1)
        h1.replaceChildren(`No single function stands out: the hottest, `, name(i), ', has ', strong(share), ` of ${what}${part}.`);
    else
        h1.replaceChildren(strong(share), ` of ${what} ${is} in `, name(i),
            profile.frames.kind[i] > 1 || !app.moduleOf(i).path || app.name(i).includes(app.moduleOf(i).name) ? `${part}.` : ` (${app.moduleOf(i).name})${part}.`);
}

function showGround(app) {
    const {facts, sides} = app.profile, e = app.event, items = [];
    const whole = (text) => text.replace(/(\d) (%|[nµm]?s|min)(?=\W|$)/g, '$1\u00a0$2'); // a line never ends between the two
    const item = (kind, text, small) => items.push(make('li', {className: kind}, whole(text),
        ...(small ? [make('small', {textContent: small})] : [])));
    // Little of it is said in few words; what bears on the figures is a warning, with what to do.
    const matters = (part, whole, text, small) => part > 0.01 * whole ? item('warn', text, small) : item('', text);
    const time = app.profile.buckets > 1 ? ` in ${duration(app.profile.buckets * app.profile.width)}` : '';
    const threads = byThread(app.profile).filter((sum) => sum > 0).length, known = app.profile.threads.some((t) => t.name || t.tid >= 0);
    const of = e.name && e.name !== 'samples' ? ` of ${e.name}` : '';
    item('', `${some(e.samples, 'sample')}${of}${time}${known ? ', ' + some(threads, 'thread') : ''}`,
        sides[1] ? `compared with ${some(e.before, 'sample')} before, brought to the same sum` : '');
    const all = e.samples + (e.lost || 0);
    if (e.lost === null)
        item('', 'it is not known whether samples were lost');
    else if (e.lost > 0)
        matters(e.lost, all, `${some(e.lost, 'sample')} lost (${percent(e.lost, all)})`, 'the buffer was full: record with a larger one (-m), or less often (-F)');
    else
        item('good', 'no sample lost');
    if (e.skipped > 0)
        matters(e.skipped, all, `${some(e.skipped, 'sample')} skipped by the kernel (${percent(e.skipped, all + e.skipped)})`,
            'it was busy with the one before: record less often (-F)');
    if (facts.throttled)
        item('warn', `throttled ${some(facts.throttled, 'time')}`, 'the kernel sampled less for a while: record less often (-F)');
    if (facts.cut)
        item('warn', 'the recording was cut off; this is what it holds');
    const s = facts.stacks, stacks = s.whole + s.cut + s.broken;
    if (stacks && s.cut + s.broken === 0)
        item('good', 'all stacks are whole');
    if (s.cut)
        matters(s.cut, stacks, `${percent(s.cut, stacks)} of the stacks are truncated`, 'their outermost callers are missing: record more of the stack (--stack-size)');
    if (s.broken)
        matters(s.broken, stacks, `${percent(s.broken, stacks)} of the stacks broke off`, 'their outermost callers are missing: no unwind tables there');
    const none = unnamed(app);
    if (!none.samples)
        item('good', 'everything has a name');
    else
        matters(none.samples, e.samples, `${some(none.samples, 'sample')} without a name (${percent(none.samples, e.samples)})`,
            none.parts.slice(0, 3).map(([what, n]) => `${what} (${count(n)})`).join('; '));
    by('ground').replaceChildren(...items);
}
