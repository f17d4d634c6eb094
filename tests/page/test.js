/* The page, as a reader uses it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {dir, launch, open, pageOf, reckon, record} from './browser.js';
import {encode, facts, large} from './sample.js';

let browser;
before(async () => browser = await launch());
after(async () => browser && browser.close());

/*
 *   main ─ parse ─ read            thread 0: parse and read in buckets 0 and 1, sort in 2 and 3
 *        └ sort ─ compare          thread 1: sort alone; sort calls itself once
 */
function small(more = {}) {
    const names = ['', 'prog', '/bin/prog', 'libc.so', '/lib/libc.so', 'main', 'parse', 'read', 'sort', 'compare', 'a.c', 'first', 'second'];
    return {
        facts: facts({samples: 100, events: [{name: 'cpu-clock', unit: 'ns', samples: 100, weight: 1e8, lost: 5, skipped: 0}],
            reasons: ['', 'stripped'], stacks: {whole: 97, cut: 3, broken: 0}, ...more.facts}),
        strings: more.strings || names, modules: [[1, 2, 0], [3, 4, 0]],
        frames: [[5, 0, 11, 10, 0], [6, 0, 11, 20, 0, [[20, 25], [22, 5]]], [7, 1, 0, 0, 0], [8, 0, 11, 40, 0], [9, 0, 11, 60, 1], [0, 0, 0, 0, 2]],
        threads: [[11, 40, 40], [12, 40, 41]],
        parent: [-1, 0, 1, 0, 3, 3, 5, -1], frame: [0, 1, 2, 3, 4, 3, 4, 5], // sort's second call is node 5, 7 has no name
        buckets: 4, start: 1000, width: 1e6,
        sides: [{event: 0, before: 0, period: 1e6, entries: [
            [0, 0, 1, 30], [0, 1, 2, 10], [0, 2, 3, 10], [0, 3, 4, 10], [1, 1, 5, 20], [1, 3, 6, 20]]}],
        ...more.profile,
    };
}

const state = (page) => page.evaluate(() => ({...reckon.state, sum: reckon.weights.sum, x0: reckon.current && reckon.current.x0,
    x1: reckon.current && reckon.current.x1, selected: reckon.current && reckon.current.selected && reckon.boxName(reckon.current.selected)}));
const text = (page, id) => page.textContent('#' + id);

/* Where a function's box is drawn, on the screen. */
async function place(page, name, view = 'main') {
    const at = await page.evaluate(([wanted, which]) => {
        const v = reckon.views[which], r = v.canvas.getBoundingClientRect();
        for (const [depth, row] of v.rows.entries())
            for (const p of row)
                if (p.box && reckon.boxName(p.box) === wanted)
                    return {x: r.left + (p.left + p.right) / 2, y: r.top + v.top(depth) + 10};
        return null;
    }, [name, view]);
    assert.ok(at, `a box ${name} is drawn`);
    return at;
}

async function click(page, name, view) {
    const {x, y} = await place(page, name, view);
    await page.mouse.click(x, y);
}

async function still(page) {
    assert.deepEqual(page.wrong, [], 'nothing went wrong');
    assert.equal(page.asked.length, 1, 'only the page itself was asked for: ' + page.asked);
    await page.context().close();
}

test('opens from file://, answers first, asks for nothing', async () => {
    const p = small();
    p.sides[0].entries.push([0, 0, 7, 2]);
    p.facts.events[0].samples = 102;
    const page = await open(browser, pageOf('answers', encode(p)));
    assert.equal(await text(page, 'answer'), '29.4 % of the time is spent in parse (prog).');
    assert.match(await page.title(), /^first: /);
    const said = await text(page, 'ground'), ground = said.replaceAll('\u00a0', ' ');
    assert.ok(said.includes('4\u00a0ms') && said.includes('(4.67\u00a0%)'), 'no line ends between a number and its unit: ' + said);
    for (const part of ['102 samples of cpu-clock in 4 ms, 2 threads', '5 samples lost (4.67 %)', '3.00 % of the stacks are truncated',
        '2 samples without a name (1.96 %)', 'prog: stripped (2)'])
        assert.ok(ground.includes(part), part + ' in ' + ground);
    assert.equal(await page.evaluate(() => performance.getEntriesByType('resource').length), 0);
    await still(page);
});

test('a recording: self and total are those of reckon report', async () => {
    record('real.data');
    reckon('report', '--html', 'real.html', 'real.data');
    const rows = JSON.parse(reckon('report', '--json', 'real.data')).functions;
    const expected = rows.map((f) => [f.miss ? `[${f.module.replace(/^\[|\]$/g, '')}]` : f.symbol, f.self, f.total].join(' ')).sort();
    const page = await open(browser, path.join(dir, 'real.html'));
    const shown = await page.evaluate(() => [...reckon.functions.self.keys()].map((f) =>
        [reckon.name(f), reckon.functions.self[f] * reckon.weights.scale, reckon.functions.total[f] * reckon.weights.scale].join(' ')).sort());
    assert.ok(expected.length > 5);
    assert.deepEqual(shown, expected);
    await still(page);
});

test('zoom: click, Escape, Enter, zoom out; tooltip with file, line and counts', async () => {
    const page = await open(browser, pageOf('small', encode(small())));
    const {x, y} = await place(page, 'parse');
    await page.mouse.move(x, y);
    const tip = await text(page, 'tip');
    for (const part of ['parse', 'prog (/bin/prog)', 'a.c:20', 'hottest lines: 20 (25), 22 (5)', '40.0 %40 samples, 40 ms', '30.0 %30 samples, 30 ms'])
        assert.ok(tip.includes(part), part + ' in ' + tip);
    await click(page, 'sort');
    let s = await state(page);
    assert.deepEqual([s.x1 - s.x0, s.selected], [60, 'sort']);
    assert.match(await text(page, 'detail-text'), /^sort prog \(\/bin\/prog\), a\.c:40: total 60\.0 %/);
    await page.keyboard.press('Escape');
    s = await state(page);
    assert.deepEqual([s.x0, s.x1], [0, 100]);
    await page.focus('#flame canvas');
    await page.keyboard.press('Enter');
    assert.equal((await state(page)).x1, 60);
    await page.click('#zoom-out');
    assert.equal((await state(page)).x1, 100);
    assert.equal(await page.isVisible('#zoom-out'), false);
    await page.keyboard.press('+');
    s = await state(page);
    assert.ok(s.x1 - s.x0 < 70 && s.x0 > 10);
    await page.keyboard.press('0');
    assert.equal((await state(page)).x1, 100);
    await still(page);
});

test('search: regular expression, matched share, not one, next match', async () => {
    const page = await open(browser, pageOf('small', encode(small())));
    await page.keyboard.press('/');
    await page.keyboard.type('^(read|compare)$');
    // while it is typed, other words are searched for
    await page.waitForFunction(() => document.getElementById('matched').textContent === '40.0 % in 2 matching functions');
    await page.keyboard.press('Enter');
    assert.ok(['read', 'compare'].includes((await state(page)).selected));
    await page.fill('#search', 'sort|compare'); // one inside of the other: counted once
    await page.waitForFunction(() => document.getElementById('matched').textContent.startsWith('60'));
    await page.fill('#search', 'libc');
    await page.waitForFunction(() => document.getElementById('matched').textContent.startsWith('10'));
    await page.fill('#search', 'a.c');
    await page.waitForFunction(() => document.getElementById('matched').textContent.startsWith('100'));
    await page.fill('#search', 'sort(');
    await page.waitForFunction(() => document.getElementById('matched').textContent.includes('taken as text'));
    assert.equal(await page.getAttribute('#search', 'aria-invalid'), 'true');
    await page.keyboard.press('Escape');
    assert.equal(await text(page, 'matched'), '');
    await still(page);
});

test('threads: choose one, split by them', async () => {
    const page = await open(browser, pageOf('small', encode(small())));
    await page.selectOption('#thread', {label: 'second 41: 40.0 %'});
    assert.equal((await state(page)).sum, 40);
    assert.match(await text(page, 'answer'), /^50\.0 % of the time is spent in (sort|compare)/);
    await page.keyboard.press('Escape');
    await page.locator('#thread').blur();
    await page.keyboard.press('[');
    assert.equal((await state(page)).sum, 60);
    await page.keyboard.press('[');
    assert.equal((await state(page)).sum, 100);
    await page.keyboard.press('t');
    const boxes = await page.evaluate(() => reckon.views.main.rows.map((r) => r.map((p) => [reckon.boxName(p.box), p.box.w, p.box.self])));
    assert.deepEqual(boxes[1], [['first 40', 60, 0], ['second 41', 40, 0]]);
    assert.deepEqual(boxes[2], [['main', 60, 0], ['main', 40, 0]]);
    assert.deepEqual(boxes[3], [['parse', 40, 30], ['sort', 20, 10], ['sort', 40, 0]]);
    await still(page);
});

test('time line: brush, move, keyboard, whole again; zoom stays', async () => {
    const page = await open(browser, pageOf('small', encode(small())));
    await click(page, 'parse');
    const strip = await page.locator('#strip').boundingBox(), at = (part) => strip.x + strip.width * part;
    const drag = async (from, to) => {
        await page.mouse.move(at(from), strip.y + 20);
        await page.mouse.down();
        await page.mouse.move(at((from + to) / 2), strip.y + 20);
        await page.mouse.move(at(to), strip.y + 20);
        await page.mouse.up();
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    };
    await drag(0.02, 0.48);
    let s = await state(page);
    assert.deepEqual([s.from, s.to, s.sum, s.selected, s.x1 - s.x0], [0, 2, 60, 'parse', 40]);
    assert.equal(await text(page, 'time-text'), '0 ns to 2 ms: 2 ms');
    await drag(0.25, 0.75);
    s = await state(page);
    assert.deepEqual([s.from, s.to, s.sum], [2, 4, 40]);
    await page.focus('#time-from');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => reckon.weights.sum === 30);
    await page.click('#time-all');
    await page.waitForFunction(() => reckon.weights.sum === 100);
    await drag(0.6, 0.9);
    assert.equal((await state(page)).sum, 40);
    await page.keyboard.press('w');
    await page.waitForFunction(() => reckon.weights.sum === 100);
    await still(page);
});

test('reversed, sandwich, over time', async () => {
    const page = await open(browser, pageOf('small', encode(small())));
    await page.keyboard.press('2');
    const up = await page.evaluate(() => reckon.views.main.rows.map((r) => r.map((p) => [reckon.boxName(p.box), p.box.w])));
    assert.deepEqual(new Set(up[1].map((b) => b.join())), new Set(['parse,30', 'sort,30', 'compare,30', 'read,10']));
    assert.equal(up[2].find((b) => b[0] === 'parse')[1], 10); // who called read
    await page.keyboard.press('3');
    await page.fill('#sandwich-name', 'sort');
    await page.keyboard.press('Enter');
    assert.equal(await text(page, 'sandwich-figures'), 'self 30.0 %, total 60.0 %');
    const halves = await page.evaluate(() => ['callers', 'callees'].map((v) =>
        reckon.views[v].rows.map((r) => r.map((p) => reckon.boxName(p.box) + ' ' + p.box.w).sort().join())));
    assert.deepEqual(halves, [['sort 60', 'main 60'], ['sort 60', 'compare 10,sort 40', 'compare 20']]);
    await page.keyboard.press('Escape');
    await page.locator('#sandwich-name').blur();
    await page.keyboard.press('4');
    const rows = await page.evaluate(() => reckon.views.main.rows.map((r) => r.map((p) => reckon.boxName(p.box) + ' ' + p.box.x + ' ' + p.box.w).join()));
    assert.deepEqual(rows, ['as time went 0 4', 'main 0 4', 'parse 0 1,sort 1 3', 'sort 1 1,sort 3 1', 'compare 3 1']);
    await still(page);
});

/* main calls 3,000 functions; the first has 50,000 samples, the others 1 to 3 each. */
function broad() {
    const p = small(), n = 3000;
    p.strings = p.strings.concat(Array.from({length: n}, (_, i) => `f${String(i * 7 % n).padStart(4, '0')}`));
    p.frames = p.frames.concat(Array.from({length: n}, (_, i) => [13 + i, 0, 0, 0, 0]));
    p.parent = [-1, ...Array(n).fill(0)];
    p.frame = [0, ...Array.from({length: n}, (_, i) => 6 + i)];
    p.sides[0].entries = Array.from({length: n}, (_, i) => [i % 2, i % 4, 1 + i, i ? 1 + i % 3 : 50000]);
    return p;
}

test('only what can be seen is made: what is nearer later comes behind it, and every order and view has all', async () => {
    const page = await open(browser, pageOf('broad', encode(broad())));
    const seen = () => page.evaluate(() => {
        const v = reckon.views.main, main = v.tree.root.kids[0], kids = main.kids, last = kids[kids.length - 1];
        return {made: kids.length, rest: main.rest.n, sorted: kids.every((k, i) => i === 0 || kids[i - 1].w >= k.w && kids[i - 1].x + kids[i - 1].w === k.x),
            sum: last.x + last.w - main.x + main.rest.w, w: main.w, drawn: v.rows[2].reduce((sum, p) => sum + (p.box ? p.box.w : p.weight), 0), first: kids[0].frame};
    });
    let s = await seen();
    assert.ok(s.made < 10 && s.made + s.rest === 3000 && s.sorted, JSON.stringify(s));
    assert.deepEqual([s.sum, s.drawn, s.first], [s.w, s.w, 6]);
    const kept = await page.evaluateHandle(() => reckon.views.main.tree.root.kids[0].kids[0]);
    await page.evaluate(() => { const v = reckon.views.main; v.x0 = 50000, v.x1 = 50300, v.update(); });
    s = await seen();
    assert.ok(s.made > 900 && s.made + s.rest === 3000 && s.sorted && s.sum === s.w, JSON.stringify(s));
    assert.ok(await page.evaluate((box) => reckon.views.main.tree.root.kids[0].kids[0] === box, kept), 'a box stays the same one');
    await page.keyboard.press('o'); // by name: all of them have their places
    s = await page.evaluate(() => { const main = reckon.views.main.tree.root.kids[0]; return [main.kids.length, main.rest.n, reckon.name(main.kids[1].frame)]; });
    assert.deepEqual(s, [3000, 0, 'f0001']);
    await page.keyboard.press('o');
    await page.keyboard.press('2');
    s = await page.evaluate(() => {
        const {root} = reckon.views.main.tree;
        return [root.kids.length < 10, root.kids.length + root.rest.n, root.kids[0].w + root.rest.w, root.w];
    });
    assert.deepEqual(s, [true, 3000, s[3], s[3]]);
    await page.keyboard.press('1');
    await page.keyboard.press('t');
    s = await page.evaluate(() => {
        const t = reckon.views.main.tree, parts = t.root.kids.map((part) => t.kids(part)[0]);
        return parts.map((main) => [main.w, t.kids(main).reduce((sum, k) => sum + k.w, 0), t.kids(main).length]);
    });
    assert.deepEqual(s.map((part) => part[2]), [1500, 1500]);
    const names = await page.evaluate(() => [reckon.tree('flame').isOfThreads(1), ...[9, 12, 60].map((n) => reckon.fitting(reckon.tree('callers'), {box: null, rest: 1999, depth: 2}, n))]);
    assert.deepEqual(names, [true, '1,999 mo…', '1,999 more', '1,999 functions too narrow to draw']);
    s.forEach(([whole, sum]) => assert.equal(sum, whole));
    await still(page);
});

test('table: sorted, filtered, readable without seeing', async () => {
    const page = await open(browser, pageOf('small', encode(small())));
    await page.keyboard.press('5');
    const cells = () => page.evaluate(() => [...document.querySelectorAll('#table tbody tr')].map((r) => [...r.cells].map((c) => c.textContent).join('|')));
    assert.deepEqual((await cells()).slice(0, 2), ['30.0 %|60.0 %|30|sort|prog|a.c:40', '30.0 %|40.0 %|30|parse|prog|a.c:20']);
    assert.equal(await page.getAttribute('th:nth-child(1)', 'aria-sort'), 'descending');
    await page.click('th:nth-child(2) button');
    assert.equal((await cells())[0], '0.00 %|100 %|0|main|prog|a.c:10');
    await page.click('th:nth-child(4) button');
    assert.deepEqual((await cells()).map((c) => c.split('|')[3]), ['compare', 'main', 'parse', 'read', 'sort']);
    assert.equal(await page.getAttribute('th:nth-child(4)', 'aria-sort'), 'ascending');
    await page.fill('#search', '^re');
    await page.waitForFunction(() => document.querySelectorAll('#table tbody tr').length === 1);
    assert.equal(await page.getAttribute('#table', 'aria-rowcount'), '2');
    await page.click('#table tbody button');
    assert.equal(await page.inputValue('#sandwich-name'), 'read');
    await still(page);
});

test('keyboard: from box to box, read out; help; tabs', async () => {
    const page = await open(browser, pageOf('small', encode(small())));
    await page.keyboard.press('?');
    assert.ok(await page.isVisible('#help'));
    for (const key of ['Enter', 'Esc', 'Home', '/', '[', 't', 'd', 's', 'w'])
        assert.ok((await page.locator('#help kbd').allTextContents()).includes(key), key + ' is explained');
    await page.keyboard.press('Escape');
    assert.equal(await page.isVisible('#help'), false);
    await page.focus('#flame canvas');
    const walk = [];
    for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowLeft']) {
        await page.keyboard.press(key);
        walk.push((await state(page)).selected);
    }
    assert.deepEqual(walk, ['all', 'main', 'sort', 'parse', 'read', 'parse', 'sort', 'sort']);
    assert.match(await text(page, 'live'), /^sort, total 60\.0 %, self 10\.0 %/);
    await page.keyboard.press('s');
    assert.equal(await page.inputValue('#sandwich-name'), 'sort');
    await page.focus('#tab-sandwich');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.getAttribute('#tab-callers', 'aria-selected'), 'true');
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, canvas[tabindex]')].filter((e) =>
        !(e.textContent.trim() || e.getAttribute('aria-label') || (e.labels && e.labels.length))).map((e) => e.id));
    assert.deepEqual(nameless, []);
    await still(page);
});

test('light and dark: as the system says, and by the switch', async () => {
    const page = await open(browser, pageOf('small', encode(small())), {colorScheme: 'dark'});
    const back = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const dark = await back();
    await page.click('#theme');
    const light = await back();
    assert.notEqual(dark, light);
    await page.keyboard.press('d');
    assert.equal(await back(), dark);
    await page.emulateMedia({colorScheme: 'light'});
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
    assert.equal(await back(), light);
    await still(page);
});

test('colours: text can be read on each, in both themes', async () => {
    const page = await open(browser, pageOf('large', encode(large({samples: 5000, frames: 500, nodes: 2000, buckets: 50}))));
    const worst = await page.evaluate(() => {
        const light = (c) => {
            const [r, g, b] = (c[0] === '#' ? [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)) : c.match(/\d+/g).map(Number))
                .map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
        let least = 99;
        for (const theme of ['light', 'dark']) {
            reckon.setTheme(theme);
            for (let f = 0; f < reckon.profile.frames.n; f++)
                least = Math.min(least, contrast(reckon.colours.frame(f), reckon.colours.palette.text));
            least = Math.min(least, contrast(reckon.colours.palette.match, reckon.colours.palette.matchText));
        }
        return least;
    });
    assert.ok(worst >= 4.5, `contrast ${worst}`);
    await still(page);
});

test('a difference: two colours, what changed first', async () => {
    const p = small();
    p.facts.events[0].before = 50;
    p.facts.events[0].before_weight = 5e7;
    p.sides.push({event: 0, before: 1, period: 1e6, entries: [[0, 0, 1, 5], [0, 0, 2, 5], [0, 0, 3, 20], [0, 0, 4, 20]]});
    const page = await open(browser, pageOf('diff', encode(p)));
    assert.equal(await text(page, 'answer'), 'parse had 10.0 % of the time before and has 30.0 % now.');
    const fills = await page.evaluate(() => Object.fromEntries(reckon.views.main.rows.flat().map((piece) =>
        [reckon.boxName(piece.box), reckon.styleOf(reckon.views.main.tree, piece.box).fill])));
    const [r, , b] = fills.parse.match(/\d+/g).map(Number);
    assert.ok(r > b, 'more is orange: ' + fills.parse);
    await page.keyboard.press('5');
    const row = await page.evaluate(() => [...document.querySelectorAll('#table tbody tr')].map((x) => [...x.cells].map((c) => c.textContent).join('|')));
    assert.deepEqual(row.slice(0, 2), ['30.0 %|−10.00|60.0 %|−20.00|30|sort|prog|a.c:40', '30.0 %|+20.00|40.0 %|+20.00|30|parse|prog|a.c:20']);
    await page.keyboard.press('1');
    await page.selectOption('#side', 'before');
    assert.equal(await page.evaluate(() => reckon.views.main.rows.flat().find((piece) => reckon.boxName(piece.box) === 'sort').box.w), 80);
    await still(page);
});

test('a difference by thread and by time: threads of one name are one, each run from its first sample on', async () => {
    const p = small();
    p.facts.events[0].before = 60;
    p.threads = [[11, 40, 40], [12, 40, 41], [12, 90, 91], [11, 90, 90]]; // two of each name: of now, of before
    p.sides.push({event: 0, before: 1, period: 1e6, entries: [[2, 1, 5, 10], [2, 3, 6, 30], [3, 0, 1, 15], [3, 2, 3, 5]]});
    const page = await open(browser, pageOf('diff-parts', encode(p)));
    const sums = () => page.evaluate(() => [reckon.weights.sum, ...['parse', 'sort'].map((name) => {
        const f = [...reckon.functions.self.keys()].find((k) => reckon.name(k) === name);
        return [reckon.functions.total[f], reckon.functionsBefore.total[f]];
    })]);
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('#thread option')].map((o) => o.textContent)),
        ['all 2', 'first: 60.0 %', 'second: 40.0 %']);
    assert.ok(await page.isHidden('#split-label'));
    await page.selectOption('#thread', '0');
    assert.deepEqual(await sums(), [60, [40, 45], [20, 15]]); // 20 before, times 3
    await page.selectOption('#thread', '1');
    assert.deepEqual(await sums(), [40, [0, 0], [40, 40]]);
    await page.selectOption('#thread', '-1');
    await page.evaluate(() => reckon.chooseTime(0, 2));
    await page.waitForFunction(() => reckon.weights.sum === 60);
    assert.deepEqual(await sums(), [60, [40, 36], [20, 24]]); // 15 and 10 of 25 before
    assert.match(await text(page, 'time-text'), /^0 ns to 2 ms|0 to 2/);
    await still(page);
});

test('reckon diff --html: both sides of two files', async () => {
    fs.writeFileSync(path.join(dir, 'one.folded'), 'p;main;a 10\np;main;b 30\np;main;b;c 60\n');
    fs.writeFileSync(path.join(dir, 'two.folded'), 'p;main;a 150\np;main;b 30\np;main;d 20\n');
    reckon('diff', '--html', 'pair.html', 'one.folded', 'two.folded');
    const page = await open(browser, path.join(dir, 'pair.html'));
    const sums = await page.evaluate(() => Object.fromEntries([...reckon.functions.self.keys()].map((f) =>
        [reckon.name(f), [reckon.functions.self[f], reckon.functionsBefore.self[f]]])));
    assert.deepEqual([sums.a, sums.b, sums.c, sums.d], [[150, 20], [30, 60], [0, 120], [20, 0]]); // 100 samples before, 200 after
    assert.match(await text(page, 'answer'), /^a had 10\.0 % of .* before and has 75\.0 % now\.$/);
    const ground = await text(page, 'ground');
    assert.match(ground, /whole: 100 before, 200 now \(\+100.%\)compared by share.*4 functions in both, 1 only before, 1 only now/);
    assert.match(ground, /after: 200 samples.*before: 100 samples/);
    await still(page);
});

test('reckon diff --html --normalise: none leaves them as they are', async () => {
    reckon('diff', '--normalise', 'none', '--html', 'none.html', 'one.folded', 'two.folded');
    const page = await open(browser, path.join(dir, 'none.html'));
    const b = await page.evaluate(() => {
        const f = [...reckon.functions.self.keys()].find((k) => reckon.name(k) === 'b'), [r, , blue] =
            reckon.colours.difference(30, 30, 1).match(/\d+/g).map(Number);
        return [reckon.functions.self[f], reckon.functionsBefore.self[f], Math.abs(r - blue) < 10];
    });
    assert.deepEqual(b, [30, 30, true]); // not 60, as shares are
    assert.match(await text(page, 'ground'), /compared as they are/);
    await still(page);
});

test('a difference: chance is grey, also where before has few samples', async () => {
    const page = await open(browser, pageOf('chance', encode(small())));
    const grey = (...of) => page.evaluate((a) => reckon.colours.difference(...a) === reckon.colours.difference(1, 1), of);
    assert.ok(await grey(100, 110));
    assert.ok(!await grey(100, 160));
    assert.ok(await grey(100, 160, 160), 'one sample before, worth 160');
    await still(page);
});

test('a difference: what it stands on is of each its own', async () => {
    const p = small();
    Object.assign(p.facts.events[0], {before: 50, before_weight: 5e7});
    p.facts.before = {samples: 50, duration: 2e6, threads: 1, throttled: 3, cut: true, stacks: {whole: 50, cut: 0, broken: 0},
        events: [{lost: 7, skipped: 0}]};
    p.sides.push({event: 0, before: 1, period: 1e6, entries: [[0, 0, 1, 50]]});
    const page = await open(browser, pageOf('grounds', encode(p)));
    const items = (await page.evaluate(() => [...document.querySelectorAll('#ground li')].map((e) => e.textContent))).map((s) => s.replaceAll('\u00a0', ' '));
    const at = items.findIndex((s) => s.startsWith('before: 50 samples of cpu-clock in 2 ms, 1 thread'));
    assert.ok(at > 0, items.join(' | '));
    const [after, before] = [items.slice(0, at), items.slice(at)].map((list) => list.join(' | '));
    assert.ok(after.includes('5 samples lost') && !after.includes('cut off') && after.includes('stacks are truncated'), after);
    assert.ok(before.includes('7 samples lost') && before.includes('cut off') && before.includes('throttled 3') && before.includes('all stacks are whole'), before);
    await still(page);
});

test('threads that were renamed are one', async () => {
    const p = small();
    p.threads = [[11, 40, 40], [12, 40, 40]];
    const page = await open(browser, pageOf('renamed', encode(p)));
    assert.match(await text(page, 'ground'), /, 1 thread/);
    await still(page);
});

test('several events: one at a time', async () => {
    const p = small();
    p.facts.events.push({name: 'page-faults', unit: '', samples: 3, weight: 30, lost: null, skipped: null});
    p.sides.push({event: 1, before: 0, period: 0, entries: [[0, 0, 2, 2, 10], [0, 3, 4, 1, 20]]});
    const page = await open(browser, pageOf('events', encode(p)));
    await page.selectOption('#event', {label: 'page-faults'});
    assert.equal(await text(page, 'answer'), '66.7 % of the page-faults are in compare (prog).');
    assert.match(await text(page, 'ground'), /it is not known whether samples were lost/);
    await still(page);
});

const HOSTILE = ['</script><script>window.pwned=1</script>', '"><img src=x onerror="window.pwned=1">', "';alert(1)//", '<!--', '${alert(1)}',
    'a\u202egnp.exe', 'line\nbreak\ttab\u0007bell', '\u0000'.slice(1) + '&lt;b&gt;', 'x'.repeat(5000), '__proto__', 'constructor', ']]>', '@DATA@'];

test('hostile names are names', async () => {
    const p = small(), bad = Buffer.from([0x66, 0xff, 0xfe, 0xc0, 0xaf, 0x67]);
    p.strings = p.strings.concat(HOSTILE, [bad]);
    p.frames = p.frames.concat([...HOSTILE, bad].map((_, i) => [13 + i, 0, 14, 1, 0]));
    p.threads[1][0] = 13;
    p.modules[1] = [14, 13, 0];
    HOSTILE.concat([bad]).forEach((_, i) => {
        p.parent.push(-1);
        p.frame.push(6 + i);
        p.sides[0].entries.push([0, 0, 8 + i, 50 + i]);
    });
    p.facts.events[0].name = HOSTILE[0];
    p.facts.reasons[1] = HOSTILE[1];
    p.sides[0].entries.push([0, 0, 7, 1]);
    const page = await open(browser, pageOf('hostile', encode(p)));
    for (const key of ['1', '2', '3', '4', '5'])
        await page.keyboard.press(key);
    const {x, y} = await page.evaluate(() => (reckon.chooseView('flame'), {x: 300, y: reckon.views.main.canvas.getBoundingClientRect().top + 50}));
    await page.mouse.move(x, y);
    await page.keyboard.press('5');
    const names = await page.evaluate(() => [...document.querySelectorAll('#table .name')].map((e) => e.textContent));
    for (const name of HOSTILE.filter((n) => !/[\u0000-\u001f\u202e]/.test(n)))
        assert.ok(names.includes(name), name.slice(0, 40));
    assert.ok(names.includes('a\\u202egnp.exe') && names.includes('line\\u000abreak\\u0009tab\\u0007bell'));
    assert.ok(names.includes('f\ufffd\ufffd\ufffd\ufffdg'));
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.equal(await page.evaluate(() => document.images.length + document.scripts.length), 1); // its own script
    await still(page);
});

test('the policy: no other script, no request', async () => {
    let reached = 0;
    const server = http.createServer((_, answer) => (reached++, answer.end())).listen(0, '127.0.0.1').unref();
    await new Promise((done) => server.once('listening', done));
    const page = await open(browser, pageOf('small', encode(small())));
    const allowed = await page.evaluate(async (url) => {
        const seen = [];
        document.addEventListener('securitypolicyviolation', (e) => seen.push(e.effectiveDirective));
        const add = (tag, properties) => document.body.append(Object.assign(document.createElement(tag), properties));
        add('script', {textContent: 'window.pwned = 1'});
        add('script', {src: url});
        add('img', {src: url});
        add('iframe', {src: url});
        add('link', {rel: 'stylesheet', href: url});
        add('form', {action: url, method: 'post'});
        await fetch(url).catch(() => 0);
        document.forms[document.forms.length - 1].submit();
        setTimeout(() => { // evaluate() itself may
            try {
                new Function('window.pwned = 1')();
            } catch {
                seen.push('eval');
            }
        });
        const wanted = ['script-src-elem', 'img-src', 'frame-src', 'style-src-elem', 'form-action', 'connect-src', 'eval'];
        for (let round = 0; round < 100 && !wanted.every((what) => seen.includes(what)); round++)
            await new Promise((done) => setTimeout(done, 50));
        return wanted.filter((what) => !seen.includes(what));
    }, `http://127.0.0.1:${server.address().port}/`);
    assert.deepEqual(allowed, [], 'all was refused');
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.equal(reached, 0);
    server.close();
    await page.context().close();
});

test('folded stacks: no threads are claimed, an empty name is told', async () => {
    fs.writeFileSync(path.join(dir, 'x.folded'), 'main;;leaf 3\nmain 1\n');
    reckon('report', '--html', 'folded.html', 'x.folded');
    const page = await open(browser, path.join(dir, 'folded.html'));
    assert.equal(await text(page, 'answer'), '75.0 % of the samples are in leaf.');
    assert.match(await text(page, 'ground'), /^4 samplesit is not known/);
    assert.ok((await page.evaluate(() => reckon.views.main.rows.flat().map((p) => reckon.boxName(p.box)))).includes('[unknown]'));
    await still(page);
});

test('nothing sampled; no times; damaged data: said, not silent', async () => {
    let page = await open(browser, pageOf('none', encode(small({profile: {sides: [{event: 0, before: 0, period: 1, entries: []}]}}))));
    assert.equal(await text(page, 'answer'), 'There are no samples here.');
    await still(page);
    page = await open(browser, pageOf('timeless', encode(small({profile: {buckets: 1, width: 1,
        sides: [{event: 0, before: 0, period: 0, entries: [[0, 0, 2, 1, 5]]}]}}))));
    assert.equal(await page.isVisible('#strip'), false);
    await page.keyboard.press('4');
    assert.match(await text(page, 'empty'), /no times/);
    await still(page);
    page = await open(browser, pageOf('cut', encode(small()).subarray(0, 300)));
    assert.match(await text(page, 'problem'), /^This page can't be shown: /);
    assert.equal(await page.isVisible('#page'), false);
    await page.context().close();
    // The file itself, cut off while it was copied; and one whose bytes were changed.
    for (const spoil of [(packed) => packed.subarray(0, packed.length - 30), (packed) => packed.fill(0x5a, 60, 70), () => Buffer.from('')]) {
        page = await open(browser, pageOf('spoilt', encode(small()), spoil));
        assert.match(await text(page, 'problem'), /^This page can't be shown: the data of this page is damaged/);
        await page.context().close();
    }
});

test('fits: from a narrow phone to a wide screen, nothing overlaps or is cut', async () => {
    const file = pageOf('large', encode(large({samples: 5000, frames: 500, nodes: 2000, buckets: 50})));
    for (const width of [320, 390, 620, 768, 901, 1300, 2200]) {
        const page = await open(browser, file, {viewport: {width, height: 800}, hasTouch: width < 700});
        for (const key of ['1', '3', '5']) {
            await page.keyboard.press(key);
            const bad = await page.evaluate(() => {
                const found = [], inner = document.documentElement.clientWidth;
                if (document.documentElement.scrollWidth > inner)
                    found.push('the page is wider than the screen: ' + document.documentElement.scrollWidth);
                for (const e of document.querySelectorAll('h1, h2, .ground li, .tabs button, .choices label, #detail-text, .line'))
                    if (e.offsetParent && (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline' || e.getBoundingClientRect().right > inner + 1))
                        found.push(e.tagName + ' ' + e.textContent.slice(0, 30) + ' is cut');
                const boxes = [...document.querySelectorAll('header, .card, .strip, .bar > *, .detail, .view.shown > *, footer')]
                    .filter((e) => e.offsetParent).map((e) => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width && r.height);
                for (const [a, p] of boxes)
                    for (const [b, q] of boxes)
                        if (a !== b && !a.contains(b) && !b.contains(a) && p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1)
                            found.push(`${a.className || a.tagName} lies over ${b.className || b.tagName}`);
                return found;
            });
            assert.deepEqual(bad, [], `at ${width}, view ${key}`);
        }
        await still(page);
    }
});

test('fingers: a tap zooms and tells', async () => {
    const page = await open(browser, pageOf('small', encode(small())), {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true});
    await page.locator('#flame').scrollIntoViewIfNeeded();
    const {x, y} = await place(page, 'sort');
    await page.touchscreen.tap(x, y);
    await page.waitForFunction(() => reckon.current.x1 - reckon.current.x0 === 60);
    assert.match(await text(page, 'detail-text'), /^sort /);
    await page.tap('#detail-sandwich');
    assert.equal(await page.inputValue('#sandwich-name'), 'sort');
    await still(page);
});
