/*
 * The head of the page: where the time goes, in a sentence and three lists, and what that stands on.
 *
 * facts, as src/export/html.c writes them:
 *     {version, samples, duration, threads, cut, timed, throttled, stacks: {whole, cut, broken},
 *      events: [{name, unit, samples, weight, lost, skipped,               null: not known
 *                before, before_weight}],                                  of a difference: what it was
 *      normalise, scale,                                                   of a difference: weight, time, none
 *      before: {samples … stacks, events: [{lost, skipped}]},              of a difference: what that stands on
 *      reasons: [by number]}                                               why a function has no name
 */
'use strict';

/* What the weight of an event is called in a sentence, and what it does there. */
function subject(event) {
    if (event.unit === 'samples')
        return ['the samples', 'are'];
    if (event.name === 'off-cpu')
        return ['the waiting', 'is'];
    const time = event.unit === 'ns' || /^(cpu-|ref-|)cycles\b/.test(event.name) || !event.name;
    return time ? ['the time', 'is spent'] : ['the ' + event.name, /s$/.test(event.name) ? 'are' : 'is'];
}

/* Samples of a side whose own function has no name: in all, and by module and reason, most first. */
function unnamed(app, side = app.profile.sides[0]) {
    const {profile} = app, {n, module, kind} = profile.frames, {frame} = profile.nodes;
    if (side.unnamed)
        return side.unnamed;
    const sums = new Float64Array(n);
    for (let i = 0; i < side.n; i++)
        sums[frame[side.node[i]]] += side.samples[i];
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
    const per = app.event.samples / (app.total || 1);
    by('hot-title').textContent = old ? 'Greatest changes (self), in percentage points' : 'Hottest functions (self)';
    by('hot').replaceChildren(...best.map(({i, k}) => {
        const name = app.name(i), change = old ? f.self[i] - old.self[i] : 0;
        const button = make('button', {type: 'button', className: 'name', textContent: app.shortName(i), title: name});
        button.addEventListener('click', () => app.openSandwich(i));
        const share = make('span', {className: 'share' + (old ? change > 0 ? ' more' : ' less' : ''),
            textContent: old ? points(change, weights.sum) : percent(f.self[i], weights.sum)});
        return barRow(share, 100 * k / best[0].k, button,
            make('small', {textContent: app.profile.frames.kind[i] > 1 ? 'no name' : app.moduleOf(i).name,
                title: app.moduleOf(i).path}),
            old ? app.colours.difference(f.self[i] * per, old.self[i] * per, weights.before.each * per) : null);
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
    const name = (i) => make('span', {className: 'name', textContent: cutTo(app.shortName(i), 60)});
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

/* Distinct threads that a side has samples of. One that was renamed is one. */
function threadsOf(profile, side) {
    const seen = new Set();
    profile.threads.forEach(({source, pid, tid}, t) => {
        if (side.first[t + 1] > side.first[t])
            seen.add(`${source}/${pid}/${tid}`);
    });
    return seen.size;
}

/* What one recording stands on: `ground` has its facts, `e` what is known of the event there. */
function groundOf(app, ground, e, side, title) {
    const items = [], known = app.profile.threads.some((t) => t.name || t.tid >= 0);
    const whole = (text) => text.replace(/(\d) (%|[nµm]?s|min)(?=\W|$)/g, '$1\u00a0$2'); // a line never ends between the two
    const item = (kind, text, small) => items.push(make('li', {className: kind}, whole(text),
        ...(small ? [make('small', {textContent: small})] : [])));
    // Little of it is said in few words; what bears on the figures is a warning, with what to do.
    const matters = (part, all, text, small) => part > 0.01 * all ? item('warn', text, small) : item('', text);
    const time = ground.duration ? ` in ${duration(ground.duration)}` : '';
    const name = app.event.name && app.event.name !== 'samples' ? ` of ${app.event.name}` : '';
    item('', `${title}${some(e.samples, 'sample')}${name}${time}${known ? ', ' + some(threadsOf(app.profile, side), 'thread') : ''}`);
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
    if (ground.throttled)
        item('warn', `throttled ${some(ground.throttled, 'time')}`, 'the kernel sampled less for a while: record less often (-F)');
    if (ground.cut)
        item('warn', 'the recording was cut off; this is what it holds');
    const s = ground.stacks, stacks = s.whole + s.cut + s.broken;
    if (stacks && s.cut + s.broken === 0)
        item('good', 'all stacks are whole');
    if (s.cut)
        matters(s.cut, stacks, `${percent(s.cut, stacks)} of the stacks are truncated`, 'their outermost callers are missing: record more of the stack (--stack-size)');
    if (s.broken)
        matters(s.broken, stacks, `${percent(s.broken, stacks)} of the stacks broke off`, 'their outermost callers are missing: no unwind tables there');
    const none = unnamed(app, side);
    if (!none.samples)
        item('good', 'everything has a name');
    else
        matters(none.samples, e.samples, `${some(none.samples, 'sample')} without a name (${percent(none.samples, e.samples)})`,
            none.parts.slice(0, 3).map(([what, n]) => `${what} (${count(n)})`).join('; '));
    return items;
}

/* What both have: how the whole changed, how they are compared, which functions were found again. */
function showCommon(app) {
    const {event: e, profile: {facts}} = app, names = {both: 0, before: 0, after: 0};
    const present = (side) => {
        const self = new Float64Array(app.profile.nodes.n);
        addSide(side, {thread: -1, from: 0, to: app.profile.buckets}, app.profile.lane, self, null);
        return byFunction(app.profile, self, sumSubtrees(app.profile.nodes, self)).total;
    };
    const [after, before] = app.profile.sides.map(present);
    for (let f = 0; f < after.length; f++)
        if (after[f] > 0 || before[f] > 0)
            names[after[f] > 0 && before[f] > 0 ? 'both' : before[f] > 0 ? 'before' : 'after']++;
    const how = {time: 'compared by time: before is scaled to as long', none: 'compared as they are: both did the same work'};
    return [
        make('li', {}, `whole: ${amount(e.before_weight, e.unit)} before, ${amount(e.weight, e.unit)} now (${growth(e.before_weight, e.weight)})`),
        make('li', {}, how[facts.normalise] || 'compared by share: before is scaled to weigh as much'),
        make('li', {}, `${some(names.both, 'function')} in both, ${count(names.before)} only before, ${count(names.after)} only now`),
    ];
}

function showGround(app) {
    const {facts, sides} = app.profile, e = app.event;
    if (!sides[1]) {
        by('ground').replaceChildren(...groundOf(app, facts, e, sides[0], ''));
        return;
    }
    const old = facts.before, was = {...(old && old.events[app.profile.event]), samples: e.before};
    by('ground').replaceChildren(...showCommon(app), ...groundOf(app, facts, e, sides[0], 'after: '),
        ...(old ? groundOf(app, old, was, sides[1], 'before: ') : []));
}
