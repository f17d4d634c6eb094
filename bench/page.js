/*
 * Times of the page as JSON, medians of several rounds in ms: by the clock, and of the page's thread alone. bench/page says
 * what they are, and prints them.
 */
import fs from 'node:fs';
import {launch, open, pageOf, shown} from '../tests/page/browser.js';
import {encode, large} from '../tests/page/sample.js';

const samples = +(process.argv[2] || 1e6), frames = +(process.argv[3] || 1e5), ROUNDS = 5;
const file = pageOf('bench', encode(large({samples, frames, nodes: 3 * frames})));
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

const STEPS = {
    'zoom, a frame of it': (app) => {
        const v = app.views.main, root = v.tree.root;
        v.x0 = root.w * 0.1;
        v.x1 = root.w * 0.6;
        v.update();
    },
    'scroll, a frame of it': (app) => app.views.main.paint(),
    'brush, a frame of it': (app) => {
        Object.assign(app.state, {from: 300, to: 900 + Math.floor(Math.random() * 100)});
        app.weigh();
        app.showAll();
    },
    'one thread': (app) => app.chooseThread(app.state.thread === 1 ? 2 : 1),
    'all threads, all time': (app) => {
        Object.assign(app.state, {from: 0, to: app.profile.buckets});
        app.chooseThread(-1);
    },
    'search by regular expression': (app) => app.search('pars.*_[0-9]+7'),
    'search ends': (app) => app.search(''),
    'split by thread': (app) => {
        app.trees.clear();
        app.state.split = true;
        app.chooseView('flame');
        app.state.split = false;
    },
    'reversed': (app) => (app.trees.clear(), app.chooseView('callers')),
    'sandwich': (app) => (app.trees.clear(), app.openSandwich(app.views.main.tree.root.kids[0].frame)),
    'over time': (app) => (app.trees.clear(), app.chooseView('chart')),
    'table': (app) => app.chooseView('table'),
    'flame graph again': (app) => (app.trees.clear(), app.chooseView('flame')),
};

/* CPU time of the page's thread: what another program on this machine can't spoil. */
async function cpu(session) {
    const {metrics} = await session.send('Performance.getMetrics');
    return 1000 * metrics.find((m) => m.name === 'TaskDuration').value;
}

const browser = await launch(), times = new Map();
const note = (what, wall, used) => times.set(what, [...(times.get(what) || []), [wall, used]]);
for (let round = 0; round < ROUNDS; round++) {
    const page = await open(browser, 'about:blank');
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', {timeDomain: 'threadTicks'});
    const before = await cpu(session);
    await page.goto('file://' + file);
    await shown(page);
    const marks = await page.evaluate(() => Object.fromEntries(performance.getEntriesByType('mark').map((m) => [m.name, m.startTime])));
    note('load', marks.shown, await cpu(session) - before);
    note('  reading the file', marks.begin);
    note('  decoding', marks.decoded - marks.begin);
    note('  summing and drawing', marks.shown - marks.decoded);
    for (const [what, step] of Object.entries(STEPS)) {
        const used = await cpu(session), wall = await page.evaluate(`(() => {
            const began = performance.now();
            (${step})(reckon);
            reckon.views.main.canvas.getContext('2d').getImageData(0, 0, 1, 1); // until it is drawn
            return performance.now() - began;
        })()`);
        note(what, wall, await cpu(session) - used);
    }
    await page.context().close();
}
await browser.close();
const middle = (list, k) => list[0][k] === undefined ? null : median(list.map((l) => l[k]));
console.log(JSON.stringify({
    bytes: fs.statSync(file).size,
    times: Object.fromEntries([...times].map(([what, list]) => [what, [middle(list, 0), middle(list, 1)]])),
}));
