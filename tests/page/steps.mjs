// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What a test does with a page and reads from it.
import { settle } from './browser.mjs';

export const ROW = 20;

export async function graphBox(page, view = 'graph') {
  return page.locator(`.flame[data-view="${view}"] canvas`).boundingBox();
}

// A point in a row of the graph, `share` of its width from the left.
export async function pointOf(page, share, row, view = 'graph') {
  const box = await graphBox(page, view);
  return { x: box.x + box.width * share, y: box.y + row * ROW + ROW / 2 };
}

export async function clickBox(page, share, row, view) {
  const { x, y } = await pointOf(page, share, row, view);
  await page.mouse.click(x, y);
  await settle(page);
}

export async function doubleClickBox(page, share, row, view) {
  const { x, y } = await pointOf(page, share, row, view);
  await page.mouse.dblclick(x, y);
  await settle(page);
}

export async function hoverBox(page, share, row, view) {
  const { x, y } = await pointOf(page, share, row, view);
  await page.mouse.move(x, y);
  await settle(page);
  return page.locator('.tip').innerText();
}

// What the page shows, once it has drawn what was asked of it: it draws at its next frame, not at the click.
async function shown(page, selector) {
  await settle(page);
  return page.locator(selector).innerText();
}

export const selectedName = (page) => shown(page, '.details .full');
export const details = async (page) => (await shown(page, '.details .facts')).replace(/\s+/g, ' ');
export const samplesShown = (page) => shown(page, '.capture');
export const fragment = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));

export async function press(page, ...keys) {
  for (const key of keys) {
    await page.keyboard.press(key);
    await settle(page);
  }
}

// Rows of the table that are in view: [[cell, ...], ...].
export async function tableRows(page) {
  await settle(page);
  return page.locator('section:not([hidden]) .virtual .table-row').evaluateAll((rows) => rows.sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)).map((row) => [...row.children].map((cell) => cell.innerText.replace(/\s+/g, ' ').trim())));
}

export async function search(page, text) {
  await page.keyboard.press('/');
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
  return shown(page, '.found');
}

export async function pixel(page, x, y) {
  const image = await page.screenshot({ clip: { x, y, width: 1, height: 1 } });
  return page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = document.createElement('canvas');
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    return [...context.getImageData(0, 0, 1, 1).data];
  }, image.toString('base64'));
}
