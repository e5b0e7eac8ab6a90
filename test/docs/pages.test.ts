import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const FOLDERS = ['src', 'test', 'bench', 'scripts', 'docs', 'examples']
const files = [
  ...readdirSync(root),
  ...FOLDERS.flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file => join(folder, file)),
  ),
]
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

it('[DC1] every link in the docs leads to a file and a heading', () => {
  const broken = files
    .filter(file => file.endsWith('.md'))
    .flatMap(page =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
        .filter(([, target = '', heading]) => !leadsTo(target === '' ? page : join(dirname(page), target), heading))
        .map(([link]) => `${page}: ${link}`),
    )
  expect(broken).toEqual([])
})

it('every file and folder that ARCHITECTURE.md names exists', () => {
  const names = [...read('ARCHITECTURE.md').matchAll(/`([\w./-]+(?:\.(?:tsx?|md|json)|\/))`/g)].map(
    ([, name = '']) => name,
  )
  const exists = (name: string): boolean => files.some(file => `/${file}`.endsWith(`/${name.replace(/\/$/, '')}`))
  const missing = names.filter(name => name !== 'dist/' && !exists(name))
  expect(missing).toEqual([])
})

it('every test that SECURITY.md cites exists', () => {
  const page = read('SECURITY.md')
  const cited = [...page.matchAll(/`([\w./-]+\.test\.ts)`: "([^"]+)"/g)].map(([, file = '', title = '']) => ({
    file,
    title,
  }))
  expect(cited.length).toBeGreaterThan(20)
  // A file without a title would not be checked.
  expect(cited).toHaveLength(page.match(/\.test\.ts/g)?.length ?? 0)
  const missing = cited.filter(({ file, title }) => !files.includes(file) || !hasTitle(file, title))
  expect(missing).toEqual([])
})

const hasTitle = (file: string, title: string): boolean =>
  ["'", '"', '`'].some(quote => read(file).includes(`${title}${quote},`) || read(file).includes(`${title}${quote})`))

function leadsTo(target: string, heading: string | undefined): boolean {
  if (!existsSync(join(root, target))) return false
  if (heading === undefined) return true
  const headings = [...read(target).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchorOf(text))
  return headings.includes(heading)
}

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
