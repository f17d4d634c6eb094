/* The reader of the page's data, without a browser: what the second writer wrote, and damaged bytes. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {test} from 'node:test';
import vm from 'node:vm';
import {encode, large, random} from './sample.js';

const web = new URL('../../web/', import.meta.url);
const scope = vm.createContext({TextDecoder, Uint8Array, Buffer});
for (const file of ['words.js', 'data.js', 'weigh.js'])
    vm.runInContext(fs.readFileSync(new URL(file, web), 'utf8'), scope);
const decode = vm.runInContext('decodeProfile', scope), weigh = vm.runInContext('weigh', scope);

const made = large({samples: 3000, frames: 100, nodes: 900, buckets: 20, threads: 3});
const bytes = encode(made);

test('what was written is read', () => {
    const p = decode(new Uint8Array(bytes));
    assert.equal(p.nodes.n, 900);
    assert.deepEqual([...p.nodes.parent], [...made.parent]);
    assert.deepEqual(Array.from(p.threads, (t) => t.name), ['main', 'worker-1', 'worker-2']);
    assert.equal(p.strings.at(p.frames.name[7]), made.strings[made.frames[7][0]].toString());
    const w = weigh(p, {thread: -1, from: 0, to: Infinity});
    assert.equal(w.sum, 3000);
    assert.equal(w.total[0], 3000);
    const parts = [0, 1, 2].map((thread) => weigh(p, {thread, from: 0, to: Infinity}).sum);
    assert.equal(parts[0] + parts[1] + parts[2], 3000);
    const times = [[0, 5], [5, 19], [19, 20]].map(([from, to]) => weigh(p, {thread: -1, from, to}).sum);
    assert.equal(times[0] + times[1] + times[2], 3000);
});

test('damaged bytes are an error or a profile, never a hang', () => {
    const next = random(7);
    let errors = 0;
    for (let round = 0; round < 300; round++) {
        const copy = new Uint8Array(round % 3 ? bytes : bytes.subarray(0, Math.floor(next() * bytes.length)));
        for (let k = 0; k < 1 + round % 4 && round % 3; k++)
            copy[Math.floor(next() * copy.length)] = Math.floor(next() * 256);
        try {
            decode(copy);
        } catch {
            errors++;
        }
    }
    assert.ok(errors >= 100, `${errors} of 300`);
});

test('short names are read', () => {
    const strings = [...made.strings, 'ns::f<int>(char*)', 'ключ(int)'], n = made.strings.length;
    const p = decode(new Uint8Array(encode({...made, strings, short: [[n + 1, 'ключ'], [n, 'ns::f']]})));
    const all = Array.from({length: strings.length}, (_, i) => [p.strings.at(i), p.short.of(i)]).filter(([, brief]) => brief !== null);
    assert.deepEqual(all, [['ns::f<int>(char*)', 'ns::f'], ['ключ(int)', 'ключ']]);
});
