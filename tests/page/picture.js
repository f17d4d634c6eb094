/*
 * Pictures of a page, to be looked at: wide and narrow, light and dark; docs/page.png is one of them.
 *
 *   run picture.js PAGE.html OUT.png [WIDTH [HEIGHT [light|dark [VIEW]]]]
 */
import path from 'node:path';
import {launch, open} from './browser.js';

const [page, out, width = 1200, height = 720, colorScheme = 'light', view = 'flame'] = process.argv.slice(2);
const browser = await launch(), shown = await open(browser, path.resolve(page), {viewport: {width: +width, height: +height}, colorScheme});
await shown.evaluate((name) => reckon.chooseView(name), view);
await shown.screenshot({path: out});
await browser.close();
