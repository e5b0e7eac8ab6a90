import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, it, onTestFinished } from 'vitest'
import { sharedBrowser } from '../support/page.ts'
import { scratchFolder } from '../support/scratch.ts'

const browser = await sharedBrowser()

it("in a build with Vite's default settings the panels' colours follow color-scheme", async () => {
  const css = await builtStyles()
  expect(css).not.toMatch(/light-dark|lightningcss/)
  const colours = async (scheme: string, system: 'light' | 'dark') => {
    const page = await browser.newPage({ colorScheme: system })
    await page.setContent(
      `<style>${css}</style><div style="color-scheme: ${scheme}"><div class="rs-panel">A plan</div></div>`,
    )
    const { backgroundColor, color } = await page.locator('.rs-panel').evaluate(panel => {
      const { backgroundColor, color } = getComputedStyle(panel)
      return { backgroundColor, color }
    })
    return [hex(backgroundColor), hex(color)]
  }
  const light = ['#ffffff', '#1d2421']
  const dark = ['#1c211f', '#e8edea']
  expect(await colours('normal', 'dark')).toEqual(light)
  expect(await colours('light', 'dark')).toEqual(light)
  expect(await colours('dark', 'light')).toEqual(dark)
  expect(await colours('light dark', 'light')).toEqual(light)
  expect(await colours('light dark', 'dark')).toEqual(dark)
})

/** The stylesheet of a page that imports ours. */
async function builtStyles(): Promise<string> {
  const root = scratchFolder()
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'node_modules'))
  symlinkSync(fileURLToPath(new URL('../..', import.meta.url)), join(root, 'node_modules/runsheet'))
  writeFileSync(join(root, 'index.html'), '<script type="module" src="./main.js"></script>')
  writeFileSync(join(root, 'main.js'), "import 'runsheet/react/styles.css'")
  await build({ root, configFile: false, logLevel: 'silent' })
  const assets = join(root, 'dist/assets')
  const sheet = readdirSync(assets).find(name => name.endsWith('.css')) ?? ''
  return readFileSync(join(assets, sheet), 'utf8')
}

/** A computed colour, which reads `color(srgb 1 1 1)` where it was calculated. */
function hex(colour: string): string {
  const [red = 0, green = 0, blue = 0, alpha = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number)
  const scale = colour.startsWith('color') ? 255 : 1
  const pair = (channel: number): string =>
    Math.round(channel * scale)
      .toString(16)
      .padStart(2, '0')
  return alpha === 0 ? 'transparent' : `#${[red, green, blue].map(pair).join('')}`
}
