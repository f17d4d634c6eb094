/* Figures and names for people. */
'use strict';

const COUNT = new Intl.NumberFormat('en-US');

function count(n) {
    return COUNT.format(Math.round(n));
}

function some(n, noun) {
    return count(n) + ' ' + noun + (Math.round(n) === 1 ? '' : 's');
}

function percent(part, whole) {
    const p = whole > 0 ? 100 * part / whole : 0;
    if (p > 0 && p < 0.01)
        return '<0.01 %';
    return (p >= 99.95 ? '100' : p >= 9.995 ? p.toFixed(1) : p.toFixed(2)) + ' %';
}

/* A change of a share, in percentage points. */
function points(change, whole) {
    const p = whole > 0 ? 100 * change / whole : 0;
    return (p < 0 ? '−' : '+') + Math.abs(p).toFixed(2);
}

/* By how much a whole changed, in per cent of what it was. */
function growth(before, after) {
    const p = before > 0 ? 100 * (after - before) / before : 0;
    return (p < 0 ? '−' : '+') + Math.abs(p).toFixed(Math.abs(p) < 10 ? 1 : 0) + ' %';
}

function duration(ns) {
    for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]])
        if (ns >= size)
            return +(ns / size).toPrecision(4) + ' ' + unit;
    return Math.round(ns) + ' ns';
}

function amount(weight, unit) {
    if (unit === 'ns')
        return duration(weight);
    for (const [letter, size] of [['T', 1e12], ['G', 1e9], ['M', 1e6]])
        if (weight >= size)
            return +(weight / size).toPrecision(4) + ' ' + letter;
    return count(weight);
}

/* In at most n letters; a few letters of a longer name tell nothing. */
function cutTo(text, n) {
    return text.length <= n ? text : n < 6 ? '' : text.slice(0, n - 1) + '…';
}

/* An element: make('li', {className: 'x'}, 'text', child …). Text is text, never markup. */
function make(tag, properties, ...children) {
    const element = document.createElement(tag);
    Object.assign(element, properties);
    element.append(...children);
    return element;
}

function by(id) {
    return document.getElementById(id);
}
