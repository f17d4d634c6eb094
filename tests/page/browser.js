/*
 * What the tests and the benchmark share: Chromium through playwright-core, and pages made of $RECKON's own page with
 * another profile in it.
 */
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';

export const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'reckon-page-'));
process.on('exit', () => fs.rmSync(dir, {recursive: true, force: true}));

export function reckon(...words) {
    return execFileSync(process.env.RECKON, words, {encoding: 'utf8', cwd: dir, maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe']});
}

/* A shell that counts, recorded. Ends the test with 77 where this user may not. */
export function record(file) {
    try {
        reckon('record', '-q', '-g', '-e', 'cpu-clock:u', '-o', file, 'sh', '-c', 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done');
    } catch (error) {
        console.log('nothing can be recorded here: ' + error.stderr.trim().split('\n').pop());
        process.exit(77);
    }
}

const MARK = /(<script type="application\/octet-stream" id="data">)([^<]*)(<\/script>)/;

/* A page with these bytes as its profile; the rest of it is what the command writes. */
let shell;
export function pageOf(name, bytes, spoil = (packed) => packed) {
    if (!shell) {
        record('shell.data');
        reckon('report', '--html', 'shell.html', 'shell.data');
        shell = fs.readFileSync(path.join(dir, 'shell.html'), 'utf8');
    }
    const file = path.join(dir, name + '.html');
    fs.writeFileSync(file, shell.replace(MARK, (_, before, data, after) => before + spoil(zlib.gzipSync(Buffer.from(bytes))).toString('base64') + after));
    return file;
}

export function dataOf(file) {
    return zlib.gunzipSync(Buffer.from(MARK.exec(fs.readFileSync(file, 'utf8'))[2], 'base64'));
}

export async function launch() {
    const {chromium} = await import(path.join(process.env.PAGE_MODULES, 'playwright-core/index.mjs'));
    return chromium.launch({executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu']});
}

/* Until there is something to see, be it that it can't be shown: the data is unpacked beside the page's loading. */
export async function shown(page) {
    await page.waitForFunction(() => !document.getElementById('data') || window.reckon || !document.getElementById('problem').hidden);
}

/* Opens a page; whatever it asks for but itself, and whatever goes wrong in it, is in page.asked and page.wrong. */
export async function open(browser, file, options = {}) {
    const context = await browser.newContext({viewport: {width: 1300, height: 900}, reducedMotion: 'reduce', ...options});
    const page = await context.newPage();
    page.asked = [];
    page.wrong = [];
    page.on('request', (r) => page.asked.push(r.url()));
    page.on('pageerror', (e) => page.wrong.push(e.message));
    page.on('console', (m) => page.wrong.push(m.text()));
    page.on('dialog', (d) => {
        page.wrong.push('dialog: ' + d.message());
        d.dismiss();
    });
    await page.goto(file.includes(':') ? file : 'file://' + file);
    await shown(page);
    return page;
}
