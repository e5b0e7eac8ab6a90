import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/** What a browser loads before it shows anything: the page, and what it names. The rest comes when it is needed. */
const BUDGET_KB = 120

const folder = fileURLToPath(new URL('../dist/web/', import.meta.url))
const page = readFileSync(`${folder}index.html`, 'utf8')
const sizes = ['index.html', ...readdirSync(`${folder}assets`).map(name => `assets/${name}`)].map(name => ({
  kB: gzipSync(readFileSync(folder + name), { level: 9 }).length / 1_000,
  isFirst: name === 'index.html' || page.includes(name),
}))
const sum = (isFirst: boolean): number =>
  sizes.reduce((total, size) => (size.isFirst === isFirst ? total + size.kB : total), 0)

const told = `page: first load ${sum(true).toFixed(1)} kB gzip of ${BUDGET_KB}, later ${sum(false).toFixed(1)} kB`
if (sum(true) > BUDGET_KB) {
  console.error(`${told}: over the budget`)
  process.exitCode = 1
} else console.log(told)
