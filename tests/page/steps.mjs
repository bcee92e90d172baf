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

export const selectedName = (page) => page.locator('.details .full').innerText();
export const details = async (page) => (await page.locator('.details .facts').innerText()).replace(/\s+/g, ' ');
export const fragment = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));

export async function press(page, ...keys) {
  for (const key of keys) {
    await page.keyboard.press(key);
    await settle(page);
  }
}

// Rows of the table that are in view: [[cell, ...], ...].
export async function tableRows(page) {
  return page.locator('section:not([hidden]) .virtual .table-row').evaluateAll((rows) => rows.sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)).map((row) => [...row.children].map((cell) => cell.innerText.replace(/\s+/g, ' ').trim())));
}

export async function search(page, text) {
  await page.keyboard.press('/');
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
  await settle(page);
  return page.locator('.found').innerText();
}

export async function samplesShown(page) {
  return page.locator('.capture').innerText();
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
