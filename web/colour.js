/*
 * Colours of boxes: by module, the heaviest modules first in a palette that colour-blind people can tell apart (after
 * Okabe and Ito, as fills under text); the kernel and what has no name have their own. A difference goes from blue (less)
 * over grey to orange (more). Each box also says its name, so colour is never the only way to know.
 */
'use strict';

const PALETTE = {
    light: {
        modules: ['#f5bb62', '#8ac2ec', '#84cfab', '#ebdd78', '#d2a9de', '#93d7dc'],
        other: '#ddd6c7', kernel: '#f29d87', unnamed: '#c9ced6', group: '#e3e7ed', rest: '#dfe3e9',
        text: '#15181d', faded: '#eceff3', fadedText: '#8b929c', match: '#7a3fd6', matchText: '#ffffff',
        more: [224, 104, 6], less: [22, 104, 190], same: [226, 229, 234], edge: '#ffffff',
    },
    dark: {
        modules: ['#8a590d', '#22659c', '#1a6c4b', '#6b6212', '#75458a', '#1a6b72'],
        other: '#5c5444', kernel: '#913d28', unnamed: '#4b525d', group: '#343a44', rest: '#2c313a',
        text: '#f4f6f9', faded: '#23272e', fadedText: '#7d8692', match: '#b48cff', matchText: '#140a24',
        more: [232, 120, 24], less: [60, 140, 226], same: [62, 68, 78], edge: '#15181d',
    },
};

class Colours {
    constructor(profile) {
        this.profile = profile;
        this.theme = 'light';
        this.rank = new Int32Array(profile.modules.length).fill(-1);
        this.cache = new Map();
    }
    get palette() {
        return PALETTE[this.theme];
    }
    /* Heaviest first, of the whole recording, so that a module keeps its colour whatever is looked at. */
    rankModules(sums) {
        const order = Array.from(sums.keys()).filter((m) => !this.profile.modules[m].kernel);
        order.sort((a, b) => sums[b] - sums[a]);
        order.forEach((m, i) => this.rank[m] = i);
        this.cache.clear();
    }
    setTheme(theme) {
        this.theme = theme;
        this.cache.clear();
    }
    module(m) {
        const p = this.palette;
        return this.profile.modules[m].kernel ? p.kernel : p.modules[this.rank[m]] || p.other;
    }
    /* Neighbours of one module differ a little. */
    frame(f) {
        let colour = this.cache.get(f);
        if (!colour) {
            const {kind, module} = this.profile.frames;
            const base = kind[f] > 1 ? this.palette.unnamed : this.module(module[f]);
            colour = shade(base, ((f * 2654435761 >>> 16) % 3 - 1) * 0.05);
            this.cache.set(f, colour);
        }
        return colour;
    }
    /* after and before in samples, each of before's worth so many: what chance would bring as well is grey. */
    difference(after, before, each = 1) {
        const p = this.palette, change = after - before, sum = after + before;
        if (sum <= 0)
            return mix(p.same, p.same, 0);
        const sure = Math.min(1, Math.max(0, Math.abs(change) / Math.sqrt(after + before * each) - 1) / 2);
        return mix(p.same, change > 0 ? p.more : p.less, sure * Math.min(1, 0.25 + 1.5 * Math.abs(change) / sum));
    }
}

function mix(a, b, t) {
    return `rgb(${a.map((v, i) => Math.round(v + (b[i] - v) * t)).join(',')})`;
}

function shade(hex, by) {
    const channels = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
    return mix(channels, by < 0 ? [0, 0, 0] : [255, 255, 255], Math.abs(by));
}

/* Black or white, whichever can be read on it. */
function textOn(rgb) {
    const [r, g, b] = rgb.match(/\d+/g).map(Number);
    return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#15181d' : '#ffffff';
}
