import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const MAX_RULES = 250
const MAX_BYTES = 40_000

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8')

const spec = read('SPEC.md')
const ids = [...spec.matchAll(/^- \*\*([A-Z]{2}\d+)\*\* [^*]/gm)].map(([, id = '']) => id)
const rules = new Set(ids)

/** The ids that test titles begin with. */
const cited = new Set(
  globSync('{src,test}/**/*.{ts,tsx}', { cwd: root })
    .flatMap(file => [...read(file).matchAll(/['"`]((?:\[[A-Z]{2}\d+\] ?)+)/g)])
    .flatMap(([, prefix = '']) => prefix.match(/[A-Z]{2}\d+/g) ?? []),
)

it('[LA8] SPEC.md is short', () => {
  expect(ids.length).toBeGreaterThan(0)
  expect(ids.length).toBeLessThanOrEqual(MAX_RULES)
  expect(Buffer.byteLength(spec)).toBeLessThanOrEqual(MAX_BYTES)
})

it('[LA8] every bullet of SPEC.md has an id of its own', () => {
  expect(ids).toHaveLength(spec.match(/^\s*[-*] /gm)?.length ?? 0)
  expect(ids).toEqual([...rules])
})

it('[LA8] every id is cited by a test title', () => {
  expect([...rules].filter(id => !cited.has(id))).toEqual([])
})

it('[LA8] test titles cite no id that SPEC.md lacks', () => {
  expect([...cited].filter(id => !rules.has(id))).toEqual([])
})

it('[LA8] SPEC.md refers to its own ids only', () => {
  const named = spec.match(/\b[A-Z]{2}\d{1,3}\b/g) ?? []
  expect(named.filter(id => !rules.has(id))).toEqual([])
})
