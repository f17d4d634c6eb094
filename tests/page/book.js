/* The book of the man pages (tools/book), in a browser: each page fits a phone and a screen, in light and dark, and asks for its style alone. */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {dir, launch} from './browser.js';

const book = path.join(dir, 'book');
try {
    execFileSync(path.join(process.env.SOURCE, 'tools/book'), [book], {encoding: 'utf8'});
} catch (error) {
    console.log((error.stdout || String(error)).trim());
    process.exit(error.status === 77 ? 77 : 1);
}
const pages = fs.readdirSync(book).filter((name) => name.endsWith('.html'));

let browser;
before(async () => browser = await launch());
after(async () => browser && browser.close());

/* How far a colour is from another, as WCAG has it: 4.5 is readable. */
function contrast(a, b) {
    const light = (colour) => {
        const [r, g, blue] = colour.match(/[\d.]+/g).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
    };
    const [x, y] = [light(a), light(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

for (const [width, height] of [[360, 740], [1280, 900]])
    for (const colorScheme of ['light', 'dark'])
        test(`${width} wide, ${colorScheme}`, async () => {
            const context = await browser.newContext({viewport: {width, height}, colorScheme});
            const page = await context.newPage();
            const asked = new Set(), wrong = [];
            page.on('request', (request) => asked.add(path.basename(new URL(request.url()).pathname)));
            page.on('requestfailed', (request) => wrong.push(request.url()));
            page.on('console', (message) => wrong.push(message.text()));
            for (const name of pages) {
                asked.clear();
                await page.goto('file://' + path.join(book, name));
                const seen = await page.evaluate(() => {
                    const style = (selector) => getComputedStyle(document.querySelector(selector));
                    return {
                        wide: document.documentElement.scrollWidth, room: document.documentElement.clientWidth,
                        beside: document.querySelector('nav').getBoundingClientRect().left < document.querySelector('main').getBoundingClientRect().left,
                        back: style('html').backgroundColor,
                        colours: ['html', 'a', '.lead', 'footer', 'pre b'].filter((s) => document.querySelector(s)).map((s) => style(s).color),
                    };
                });
                assert.ok(seen.wide <= seen.room, `${name} is ${seen.wide} wide, with room for ${seen.room}`);
                assert.equal(seen.beside, width > 1000, `${name}: the list of pages stands beside the text where there is room`);
                for (const colour of seen.colours)
                    assert.ok(contrast(colour, seen.back) >= 4.5, `${name}: ${colour} on ${seen.back}`);
                assert.deepEqual([...asked].sort(), ['book.css', name].sort());
            }
            assert.deepEqual(wrong, []);
            await context.close();
        });
