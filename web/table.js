/*
 * Every function as a row: for those who want figures, and for readers that don't see the canvas. It is made a few
 * hundred rows at a time, heaviest first, so that a hundred thousand functions cost no more than a few.
 */
'use strict';

const ROWS = 200;

class FunctionTable {
    constructor(app) {
        this.app = app;
        this.key = 'self';
        this.down = true;
        this.limit = ROWS;
        by('table-more').addEventListener('click', () => {
            this.limit += 5 * ROWS;
            this.update();
        });
    }
    get columns() {
        const difference = !!this.app.weights.before;
        return [
            {key: 'self', name: 'Self', figure: true},
            ...(difference ? [{key: 'change', name: 'Change, points', figure: true}] : []),
            {key: 'total', name: 'Total', figure: true},
            ...(difference ? [{key: 'changeTotal', name: 'Change of total, points', figure: true}] : []),
            {key: 'samples', name: 'Samples', figure: true},
            {key: 'name', name: 'Function'},
            {key: 'module', name: 'Module', place: true},
            {key: 'file', name: 'File', place: true},
        ];
    }
    sortBy(key) {
        this.down = this.key === key ? !this.down : !['name', 'module', 'file'].includes(key);
        this.key = key;
        this.limit = ROWS;
        this.update();
    }
    /* The functions to show, sorted; ties keep the order of self. */
    order() {
        const {app, key} = this, {functions: f, profile, marked} = app, n = profile.frames.n, list = [];
        const old = app.functionsBefore;
        for (let i = 0; i < n; i++)
            if ((f.total[i] > 0 || (old && old.total[i] > 0)) && (!marked || marked[i]))
                list.push(i);
        const text = {name: (i) => app.name(i), module: (i) => app.moduleOf(i).name, file: (i) => app.placeOf(i)}[key];
        const value = {
            self: (i) => f.self[i], total: (i) => f.total[i], samples: (i) => f.samples.self[i],
            change: (i) => f.self[i] - old.self[i], changeTotal: (i) => f.total[i] - old.total[i],
        }[key];
        const sign = this.down ? -1 : 1;
        list.sort(text
            ? (a, b) => sign * (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0) || f.self[b] - f.self[a]
            : (a, b) => sign * (value(a) - value(b)) || f.total[b] - f.total[a] || a - b);
        return list;
    }
    update() {
        const list = this.order(), columns = this.columns, table = by('table');
        table.tHead.replaceChildren(make('tr', {}, ...columns.map((c) => {
            const button = make('button', {type: 'button', textContent: c.name});
            const th = make('th', {scope: 'col', className: c.figure ? 'figure' : c.place ? 'place ' + c.key : ''}, button);
            button.addEventListener('click', () => this.sortBy(c.key));
            if (c.key === this.key)
                th.setAttribute('aria-sort', this.down ? 'descending' : 'ascending');
            return th;
        })));
        table.setAttribute('aria-rowcount', list.length + 1);
        const shown = list.slice(0, this.limit), most = Math.max(...shown.map((i) => this.app.functions.total[i]));
        table.tBodies[0].replaceChildren(...shown.map((i) => this.row(i, columns, most)));
        by('caption').textContent = `Functions by ${columns.find((c) => c.key === this.key).name.toLowerCase()}`;
        by('table-more-text').textContent = (shown.length < list.length ? count(shown.length) + ' of ' : '')
            + some(list.length, 'function');
        by('table-more').hidden = shown.length === list.length;
    }
    row(i, columns, most) {
        const {app} = this, {functions: f, weights} = app, old = app.functionsBefore, sum = weights.sum;
        const share = (part) => {
            const bar = make('span', {className: 'under'});
            bar.style.width = (most ? 100 * part / most : 0) + '%';
            return [percent(part, sum), bar];
        };
        const cells = {
            self: () => share(f.self[i]),
            total: () => share(f.total[i]),
            change: () => [points(f.self[i] - old.self[i], sum)],
            changeTotal: () => [points(f.total[i] - old.total[i], sum)],
            samples: () => [count(f.samples.self[i])],
            name: () => {
                const button = make('button', {type: 'button', className: 'name', textContent: app.name(i)});
                button.addEventListener('click', () => app.openSandwich(i));
                return [button];
            },
            module: () => [app.moduleOf(i).name],
            file: () => [app.placeOf(i)],
        };
        const tr = make('tr', {}, ...columns.map((c) => make('td', {
            className: c.figure ? 'figure' : c.place ? 'place ' + c.key : '',
        }, ...cells[c.key]())));
        if (old)
            for (const key of ['change', 'changeTotal']) {
                const cell = tr.cells[columns.findIndex((c) => c.key === key)];
                cell.classList.add(cell.textContent.startsWith('+') ? 'more' : 'less');
            }
        return tr;
    }
}
