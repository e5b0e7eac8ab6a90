import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8')

/** The ids of the rules, section by section, in the order in which they stand. */
const sections = read('SPEC.md')
  .split(/^### /m)
  .slice(1)
  .map(section => ({
    prefix: section.slice(0, section.indexOf(':')),
    ids: [...section.matchAll(/^- \*\*(.+?)\*\* /gm)].map(([, id = '']) => id),
  }))
const rules = new Set(sections.flatMap(({ ids }) => ids))

/** The ids that test titles begin with. */
const cited = new Set(
  globSync('{src,test}/**/*.ts', { cwd: root })
    .flatMap(file => [...read(file).matchAll(/['"`]((?:\[[A-Z]{2}\d+\] ?)+)/g)])
    .flatMap(([, ids = '']) => ids.match(/[A-Z]{2}\d+/g) ?? []),
)

it('[LA8] ids count up in each section', () => {
  expect(sections.length).toBeGreaterThan(0)
  for (const { prefix, ids } of sections) {
    expect(ids.length, prefix).toBeGreaterThan(0)
    const numbers = ids.map(id => Number(id.slice(prefix.length)))
    expect(numbers, prefix).toEqual([...new Set(numbers)].sort((a, b) => a - b))
  }
})

it('[LA8] each section has a prefix of its own', () => {
  const prefixes = sections.map(({ prefix }) => prefix)
  expect(prefixes).toEqual([...new Set(prefixes)])
})

it('[LA8] every id is cited by a test title', () => {
  expect([...rules].filter(id => !cited.has(id))).toEqual([])
})

it('[LA8] test titles cite no id that SPEC.md lacks', () => {
  expect([...cited].filter(id => !rules.has(id))).toEqual([])
})

it('[LA8] every bullet of SPEC.md has one id', () => {
  const bullets = read('SPEC.md').match(/^- .*$/gm) ?? []
  expect(bullets.filter(bullet => !/^- \*\*[A-Z]{2}\d+\*\* [^*]/.test(bullet))).toEqual([])
})
