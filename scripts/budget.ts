import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/** Limit for the first load: the page and the files it references. Everything else loads on demand. */
const BUDGET_KB = 130

const folder = fileURLToPath(new URL('../dist/web/', import.meta.url))
const page = readFileSync(`${folder}index.html`, 'utf8')
const sizes = ['index.html', ...readdirSync(`${folder}assets`).map(name => `assets/${name}`)].map(name => ({
  kB: gzipSync(readFileSync(folder + name), { level: 9 }).length / 1_000,
  isFirstLoad: name === 'index.html' || page.includes(name),
}))
const sum = (isFirstLoad: boolean): number =>
  sizes.reduce((total, size) => (size.isFirstLoad === isFirstLoad ? total + size.kB : total), 0)

const report = `page: first load ${sum(true).toFixed(1)} kB gzip of ${BUDGET_KB}, later ${sum(false).toFixed(1)} kB`
if (sum(true) > BUDGET_KB) {
  console.error(`${report}: over budget`)
  process.exitCode = 1
} else console.log(report)
