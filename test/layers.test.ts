import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))

/** Who may import whom, as ARCHITECTURE.md has it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  store: ['domain'],
  door: ['domain', 'store'],
  toolsets: ['domain', 'door'],
  runner: ['domain', 'door', 'toolsets', 'checks'],
  http: ['domain', 'door', 'toolsets'],
  hosts: [],
  hooks: ['domain', 'door', 'hosts'],
  mcp: ['domain', 'door', 'toolsets', 'hooks', 'hosts'],
  checks: ['domain'],
  webhook: ['domain', 'door'],
  client: ['domain'],
  react: ['domain', 'client'],
  setup: ['hosts'],
  cli: [
    'domain',
    'store',
    'door',
    'toolsets',
    'runner',
    'http',
    'mcp',
    'checks',
    'client',
    'hooks',
    'hosts',
    'setup',
    'webhook',
  ],
  library: ['domain', 'store', 'door', 'toolsets', 'runner', 'http', 'mcp', 'checks'],
  index: ['domain', 'store', 'door', 'library'],
}

/** Of the store the door knows the seam, not the stores: which one it is is the caller's choice. */
const SEAM: ReadonlySet<string> = new Set([
  'store/store.ts',
  'store/commit.ts',
  'store/rows.ts',
  'store/store-error.ts',
  'store/task-page.ts',
])

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
    const wrong = imports.filter(({ from, to }) => layerOf(from) === 'door' && layerOf(to) === 'store' && !SEAM.has(to))
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

  it('[LA5] the domain imports nothing from outside, and has no clock, no randomness, no I/O', () => {
    const domain = files.filter(file => layerOf(file) === 'domain')
    expect(imports.filter(({ from, to }) => layerOf(from) === 'domain' && layerOf(to) !== 'domain')).toEqual([])
    const impure = domain.filter(file =>
      /Date\.now\(|new Date\(\)|Math\.random|randomUUID|crypto|process\.|console\.|setTimeout|fetch\(/.test(read(file)),
    )
    expect(impure).toEqual([])
  })

  it('what runs in a browser imports nothing of Node', () => {
    const ours = new Set(['domain', 'client', 'react'])
    const wrong = imports.filter(({ from, to }) => ours.has(layerOf(from) ?? '') && to.startsWith('node:'))
    expect(wrong).toEqual([])
  })

  it('[LA1] the page imports the package only by its entry points', () => {
    const web = fileURLToPath(new URL('../web', import.meta.url))
    const allowed = /^(\.\/|runsheet\/(client|react|react\/styles\.css)$)/
    const wrong = readdirSync(web, { recursive: true, encoding: 'utf8' })
      .filter(file => /\.tsx?$/.test(file))
      .flatMap(file => [...readFileSync(join(web, file), 'utf8').matchAll(/(?:from |import\(?\s?)'([^']+)'/g)])
      .map(([, specifier = '']) => specifier)
      .filter(specifier => /^(\.|runsheet)/.test(specifier) && !allowed.test(specifier))
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

/** A file's layer: its folder, or its own name at the top. Packages have none. */
function layerOf(file: string): string | undefined {
  if (file === 'index.ts') return 'index'
  const [folder] = file.split('/')
  return files.includes(file) ? folder : undefined
}

function isTest(file: string): boolean {
  return /\.test\.tsx?$/.test(file)
}

function read(file: string): string {
  return readFileSync(join(src, file), 'utf8')
}
