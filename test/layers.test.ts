import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))

const ENGINE = ['engine/door', 'engine/toolsets', 'engine/turn', 'engine/worker']
const KERNEL = ['core', 'store', ...ENGINE]

/** Which layer may import which: the kernel first, then the leaves. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  store: ['core'],
  'engine/door': ['core', 'store'],
  'engine/toolsets': ['core', 'engine/door'],
  'engine/worker': ['core', 'engine/door', 'engine/toolsets', 'engine/turn'],
  'engine/turn': ['core', 'engine/door', 'engine/toolsets', 'engine/worker'],
  checks: ['core', 'engine/door', 'engine/worker'],
  server: ['core', 'engine/door', 'engine/toolsets', 'hosts'],
  hosts: ['core', 'engine/door'],
  webhook: ['core', 'engine/door'],
  demo: ['core', 'engine/toolsets', 'engine/turn', 'engine/worker'],
  models: ['core', 'engine/turn', 'engine/worker', 'demo'],
  client: ['core'],
  'ui/panels': ['core', 'client'],
  'ui/page': ['client', 'ui/panels'],
  library: [...KERNEL, 'server', 'checks', 'demo'],
  cli: [...KERNEL, 'server', 'checks', 'client', 'hosts', 'webhook', 'demo', 'models'],
  index: ['core', 'engine/door', 'store', 'library'],
}

/** The door knows the interface of a store; which one it is is the caller's choice. */
const SEAM: ReadonlySet<string> = new Set([
  'store/store.ts',
  'store/rows.ts',
  'store/store-error.ts',
  'store/cursor.ts',
])

const MAX_FILES = 30

interface Import {
  readonly from: string
  /** A file of ours, relative to src, or a package. */
  readonly to: string
  readonly typeOnly: boolean
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map(file => file.split(sep).join('/'))
  .filter(file => /\.tsx?$/.test(file) && !isTest(file))
const imports = files.flatMap(importsOf)

describe('layers', () => {
  it('[LA1] each folder imports only what it may', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [a, b] = [layerOf(from), layerOf(to)]
      return b !== undefined && a !== b && !(MAY_IMPORT[a ?? ''] ?? []).includes(b)
    })
    expect(wrong).toEqual([])
    expect(files.filter(file => !((layerOf(file) ?? '') in MAY_IMPORT))).toEqual([])
  })

  it('[LA1] the door knows the seam of the store and no store', () => {
    const wrong = imports.filter(
      ({ from, to }) => layerOf(from) === 'engine/door' && layerOf(to) === 'store' && !SEAM.has(to),
    )
    expect(wrong).toEqual([])
  })

  it('there is no import cycle', () => {
    const edges = Map.groupBy(
      imports.filter(({ to, typeOnly }) => !typeOnly && files.includes(to)),
      ({ from }) => from,
    )
    const done = new Set<string>()
    const visit = (file: string, path: readonly string[]): void => {
      expect(path).not.toContain(file)
      if (done.has(file)) return
      for (const { to } of edges.get(file) ?? []) visit(to, [...path, file])
      done.add(file)
    }
    for (const file of files) visit(file, [])
  })

  it('no kernel file imports a leaf', () => {
    const leaves = KERNEL.flatMap(layer => MAY_IMPORT[layer] ?? []).filter(layer => !KERNEL.includes(layer))
    expect(leaves).toEqual([])
  })

  it('a folder shows its files: 30 or fewer', () => {
    const folders = Map.groupBy(files, file => dirname(file))
    expect([...folders].filter(([, { length }]) => length > MAX_FILES).map(([folder]) => folder)).toEqual([])
  })

  it('[LA5] the core imports nothing from outside, and has no clock, no randomness, no I/O', () => {
    const core = files.filter(file => layerOf(file) === 'core')
    expect(imports.filter(({ from, to }) => layerOf(from) === 'core' && layerOf(to) !== 'core')).toEqual([])
    const impure = core.filter(file =>
      /Date\.now\(|new Date\(\)|Math\.random|randomUUID|crypto|process\.|console\.|setTimeout|fetch\(/.test(read(file)),
    )
    expect(impure).toEqual([])
  })

  it('what runs in a browser imports nothing of Node', () => {
    const ours = new Set(['core', 'client', 'ui/panels', 'ui/page'])
    const wrong = imports.filter(({ from, to }) => ours.has(layerOf(from) ?? '') && to.startsWith('node:'))
    expect(wrong).toEqual([])
  })

  it('[LA1] the page imports the package only by its entry points', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        layerOf(from) === 'ui/page' &&
        layerOf(to) !== 'ui/page' &&
        (files.includes(to) || /^runsheet\/(?!client$|react$|react\/styles\.css$)/.test(to)),
    )
    expect(wrong).toEqual([])
  })

  it('only the composition roots read the environment, and only the program its arguments', () => {
    expect(files.filter(file => /process\.env/.test(read(file)))).toEqual([
      'cli/bin.ts',
      'cli/main.ts',
      'library/checks.ts',
    ])
    expect(files.filter(file => /process\.argv/.test(read(file)))).toEqual(['cli/bin.ts', 'cli/main.ts'])
  })
})

function importsOf(file: string): Import[] {
  const pattern = /^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm
  return [...read(file).matchAll(pattern)].map(([, type, named, dynamic]) => {
    const specifier = named ?? dynamic ?? ''
    const to = specifier.startsWith('.')
      ? relative(src, resolve(dirname(join(src, file)), specifier))
          .split(sep)
          .join('/')
      : specifier
    return { from: file, to, typeOnly: type !== undefined }
  })
}

/** A file's layer: its folder, where one is named its subfolder. Packages have none. */
function layerOf(file: string): string | undefined {
  if (file === 'index.ts') return 'index'
  if (!files.includes(file)) return undefined
  const [folder = '', subfolder = ''] = file.split('/')
  return ['engine', 'ui'].includes(folder) ? `${folder}/${subfolder}` : folder
}

function isTest(file: string): boolean {
  return /\.test\.tsx?$/.test(file)
}

function read(file: string): string {
  return readFileSync(join(src, file), 'utf8')
}
