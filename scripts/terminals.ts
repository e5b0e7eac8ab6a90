import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { terminalSvg } from './terminal-svg.ts'

/** Draws the terminals recorded in docs/terminals (`RECORD=1 npm run test:hosts`) as images. */
const from = fileURLToPath(new URL('../docs/terminals/', import.meta.url))
const to = fileURLToPath(new URL('../docs/images/', import.meta.url))
mkdirSync(to, { recursive: true })
for (const name of readdirSync(from).filter(file => file.endsWith('.ansi'))) {
  writeFileSync(`${to}${name.replace(/\.ansi$/, '.svg')}`, terminalSvg(readFileSync(`${from}${name}`, 'utf8')))
}
