import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runProcess } from '../support/children.ts'
import { type Packed, packAndInstall } from '../support/packed.ts'
import { startServer, TOKENS } from '../support/server.ts'

interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
}

/** The peers that each entry point needs. The others need none. */
const PEERS: Readonly<Record<string, readonly string[]>> = {
  'runsheet/postgres': ['pg'],
  'runsheet/ai-sdk': ['ai'],
  'runsheet/runner': ['@modelcontextprotocol/client', 'ai'],
  'runsheet/react': ['react'],
}
/** Loaded with the first MCP server only. */
const ON_DEMAND: ReadonlySet<string> = new Set(['@modelcontextprotocol/client'])
const MAX_INSTALLED_MB = 20

let packed: Packed
let manifest: Manifest

beforeAll(async () => {
  packed = await packAndInstall()
  manifest = JSON.parse(packed.read('package.json')) as Manifest
}, 180_000)
afterAll(() => packed?.remove())

const paths = (): string[] => packed.files.map(({ path }) => path)
const scripts = (): string[] => paths().filter(path => path.endsWith('.js'))
const isProgram = (path: string): boolean => path.startsWith('dist/cli/')
const isPage = (path: string): boolean => path.startsWith('dist/web/')
const isLibrary = (path: string): boolean => !isProgram(path) && !isPage(path)

describe('the tarball', () => {
  it('[PK1] holds what is compiled, its declarations, the page and the documents, and nothing else', () => {
    const documents = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SPEC.md', 'package.json']
    expect(paths().filter(path => !path.startsWith('dist/'))).toEqual(documents)
    const known = /\.(js|d\.ts)$|^dist\/((cli|web)\/)?licenses\.md$|^dist\/ui\/panels\/styles\.css$|^dist\/web\//
    expect(paths().filter(path => path.startsWith('dist/') && !known.test(path))).toEqual([])
    expect(paths().filter(path => /\.test\.|\.map$|contract/.test(path))).toEqual([])
    expect(scripts().filter(path => packed.read(path).includes('//# sourceMappingURL='))).toEqual([])
  })

  it('[PK1] holds what its manifest names', () => {
    const named = [manifest.bin, ...Object.values(manifest.exports)].flatMap(each =>
      typeof each === 'string' ? [each] : Object.values(each),
    )
    expect(named.filter(path => !paths().includes(path.replace('./', '')))).toEqual([])
  })

  it('[PK1] has no dependencies, and no Node of its own', () => {
    expect(manifest.dependencies).toBeUndefined()
    expect(manifest.optionalDependencies).toBeUndefined()
    expect(Object.keys(manifest.peerDependenciesMeta)).toEqual(Object.keys(manifest.peerDependencies))
    expect(Object.values(manifest.peerDependenciesMeta).every(({ optional }) => optional)).toBe(true)
  })

  it('[PK1] each entry point imports the peers that it is known for and no other package', () => {
    for (const name of entryPoints()) {
      const needed = new Set(withImports(fileOf(name)).flatMap(packagesIn))
      expect([...needed].sort(), name).toEqual(PEERS[name] ?? [])
    }
    expect(Object.keys(manifest.peerDependencies).sort()).toEqual([...new Set(Object.values(PEERS).flat())].sort())
  })

  it('a class of the library is there once, whichever entry point it comes from', () => {
    const library = scripts().filter(isLibrary)
    const holds = (name: string) =>
      library.filter(path => new RegExp(`class ${name}\\b|\\b${name} = class`).test(packed.read(path)))
    for (const name of ['Refusal', 'StoreError', 'RunsheetError', 'Runsheet', 'Worker']) {
      expect(holds(name), name).toHaveLength(1)
    }
  })

  it('the panels are client modules, one file each, so that a bundler takes only what is used', () => {
    const panels = scripts().filter(path => path.startsWith('dist/ui/panels/'))
    expect(panels).toContain('dist/ui/panels/parts/provider.js')
    expect(panels.filter(path => !/^['"]use client['"]/.test(packed.read(path)))).toEqual([])
  })

  it('what runs in a browser loads nothing of Node', () => {
    const files = ['runsheet/client', 'runsheet/react'].flatMap(name => withImports(fileOf(name)))
    expect(files.filter(path => importsIn(path).some(each => each.startsWith('node:')))).toEqual([])
  })

  it('what others wrote comes with their licences', () => {
    expect(packed.read('dist/licenses.md')).toMatch(/^## hono - .*\n[\s\S]*^## lucide-react - [\s\S]*^## zod - /m)
    expect(packed.read('dist/cli/licenses.md')).toMatch(/^## commander - .*\n[\s\S]*^## zod - /m)
    expect(packed.read('dist/web/licenses.md')).toMatch(/^## react - /m)
  })
})

describe('installed alone in an empty folder', () => {
  it('is one package of less than 20 MB', () => {
    const installed = readdirSync(join(packed.folder, 'node_modules')).filter(name => !name.startsWith('.'))
    expect(installed).toEqual(['runsheet'])
    const bytes = packed.files.reduce((sum, { size }) => sum + size, 0)
    expect(bytes / 1e6).toBeLessThan(MAX_INSTALLED_MB)
  })

  it('importing runsheet loads neither a database nor a locale besides English', async () => {
    const { stdout } = await packed.run('node', '--input-type=module', '--eval', LOADED)
    const { urls, builtins } = JSON.parse(stdout) as { urls: readonly string[]; builtins: readonly string[] }
    const inside = `${packed.folder}/node_modules/runsheet/`
    const files = urls.filter(url => url.startsWith('file:')).map(url => fileURLToPath(url))
    expect(files.filter(file => !file.startsWith(inside))).toEqual([])
    expect(files.length).toBeGreaterThan(1)
    expect([...urls, ...builtins].filter(each => /\b(sqlite|pg|http|net)$/.test(each))).toEqual([])
    const modules = files.flatMap(file => [...packed.read(file.replace(inside, '')).matchAll(MODULE)])
    const names = modules.map(([, name = '']) => name)
    expect([...new Set(names.map(packageOf))].sort()).toEqual(['uuid', 'zod'])
    expect(names.filter(name => name.includes('/locales/'))).toEqual(['zod/v4/locales/en.js'])
  })

  it('entry points without peers can be imported; the others name the package to install', async () => {
    const script = `
      for (const name of ${JSON.stringify(entryPoints())}) {
        console.log(name, await import(name).then(all => Object.keys(all).length, error => error.message))
      }`
    const { stdout } = await packed.run('node', '--input-type=module', '--eval', script)
    const said = new Map(stdout.split('\n').map(line => [line.split(' ')[0], line]))
    for (const name of entryPoints()) {
      const peer = PEERS[name]?.find(each => !ON_DEMAND.has(each))
      expect(said.get(name)).toMatch(peer === undefined ? / [1-9]\d*$/ : `Cannot find package '${peer}'`)
    }
  })

  it('its declarations need no other package', async () => {
    const alone = entryPoints().filter(name => !(name in PEERS))
    const imports = alone.map((name, index) => `import * as entry${index} from '${name}'\nexport { entry${index} }\n`)
    expect(await typeErrors('alone', imports.join(''), ['dom'])).toEqual([])
  })

  it('npx runsheet says its version, and keeps its compiled code with the package', async () => {
    expect((await packed.run('npx', 'runsheet', '--version')).stdout).toBe(`${manifest.version}\n`)
    expect(existsSync(join(packed.folder, 'node_modules/runsheet/node_modules/.cache/compile'))).toBe(true)
  })

  it('npx runsheet serves, with the page', async () => {
    const data = join(packed.folder, 'served')
    onTestFinished(() => endServer(data))
    const npx = runProcess(['npx', 'runsheet', '--port', '0', '--data', data], { cwd: packed.folder, env: packed.env })
    const [, url = ''] = /^Runsheet is ready at (\S+)#code=/.exec(await npx.line(() => true)) ?? []
    expect((await fetch(new URL('/healthz', url))).status).toBe(200)
    const page = await (await fetch(url)).text()
    const assets = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path]) => path ?? '')
    expect(assets.length).toBeGreaterThan(1)
    for (const path of assets) expect((await fetch(new URL(path, url))).status, path).toBe(200)
    expect(await npx.line(line => line.startsWith('Stop: '))).toBe(
      `Stop: Ctrl-C. New sign-in link: npx runsheet url --data ${data}`,
    )
    expect((await packed.run('npx', 'runsheet', 'url', '--data', data)).stdout).toContain(`${url}#code=`)
    await endServer(data)
    expect((await npx.ended).code).toBe(0)
  })

  it('hints name a command that works: runsheet if it is on the PATH, npx in its project, else the file', async () => {
    const program = join(packed.folder, 'node_modules/runsheet', manifest.bin['runsheet'] ?? '')
    const bin = join(packed.folder, 'global-bin')
    mkdirSync(bin)
    symlinkSync(program, join(bin, 'runsheet'))
    const hintIn = async (cwd: string, path = packed.env['PATH']): Promise<string> => {
      const child = runProcess([process.execPath, program, '--wrong'], { cwd, env: { ...packed.env, PATH: path } })
      return /Try: (.*?) serve --help$/m.exec((await child.ended).stderr)?.[1] ?? ''
    }
    expect(await hintIn(bin)).toBe('npx runsheet')
    expect(await hintIn('/')).toBe(`${process.execPath} ${program}`)
    expect(await hintIn('/', `${bin}:${packed.env['PATH']}`)).toBe('runsheet')
  })

  it('an old Node is told in one line what is needed', async () => {
    const old = `data:text/javascript,${encodeURIComponent(OLD_NODE)}`
    const program = join(packed.folder, 'node_modules/runsheet', manifest.bin['runsheet'] ?? '')
    const child = runProcess([process.execPath, '--import', old, program], { cwd: packed.folder, env: packed.env })
    const { code, stderr } = await child.ended
    expect({ code, lines: child.lines }).toEqual({ code: 1, lines: [] })
    const [, needed = ''] = /^>=(\d+\.\d+)\.0$/.exec(manifest.engines.node) ?? []
    expect(stderr).toBe(
      `runsheet: Node ${needed} or newer is required, this is v20.20.2. Install it from nodejs.org or with a version manager.\n`,
    )
    expect(packagesIn(manifest.bin['runsheet'] ?? '')).toEqual([])
    expect(staticImports(manifest.bin['runsheet'] ?? '').every(each => each.startsWith('node:'))).toBe(true)
  })

  it('the program brings all that it needs, and a host that starts runsheet mcp waits for nothing else', () => {
    expect(scripts().filter(isProgram).flatMap(staticImports).filter(isPackage)).toEqual([])
    const mcp = scripts().find(path => path.startsWith('dist/cli/mcp-')) ?? ''
    const modules = withImports(mcp).flatMap(path => [...packed.read(path).matchAll(MODULE)])
    const names = [...new Set(modules.map(([, name = '']) => packageOf(name)))]
    expect(names).toContain('@modelcontextprotocol/server')
    expect(names.filter(name => /^(pg|ai|hono|react|pino|prom-client|@ai-sdk\/.*|@hono\/.*)$/.test(name))).toEqual([])
  })

  it('npx runsheet mcp serves a host, and shows its plans on the page', async () => {
    const data = join(packed.folder, 'hosted')
    onTestFinished(() => endServer(data))
    const env = { ...packed.env, RUNSHEET_PORT: '0' } as Record<string, string>
    const args = ['runsheet', 'mcp', '--data', data, '--idle-exit', '1m']
    const host = new StdioClientTransport({ command: 'npx', args, cwd: packed.folder, env, stderr: 'pipe' })
    const shown = lineOf(host, /^Runsheet: review plans at (\S+)/)
    const client = new Client({ name: 'a host', version: '1' })
    await client.connect(host)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('plan')
    const [, page = ''] = await shown
    expect(await (await fetch(page)).text()).toMatch(/<script type="module"/)
    await client.close()
  })
})

describe('installed beside its peers', () => {
  beforeAll(() => packed.installPeers(), 180_000)

  it('every entry point can be imported', async () => {
    const names = `Object.keys(await import(name)).length`
    const script = `for (const name of ${JSON.stringify(entryPoints())}) console.log(name, ${names})`
    const { stdout } = await packed.run('node', '--input-type=module', '--eval', script)
    for (const name of entryPoints()) expect(stdout).toMatch(new RegExp(`^${name} [1-9]`, 'm'))
  })

  it('a consumer is checked against the declarations', async () => {
    expect(await typeErrors('consumer', CONSUMER, [])).toEqual([])
  })

  it('the examples run', async () => {
    const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
    const names = readdirSync(examples)
    for (const name of names) writeFileSync(join(packed.folder, name), readFileSync(join(examples, name)))
    // Two serve until they are stopped; test/http/handler.test.ts and test/webhook.test.ts run them.
    for (const name of names.filter(each => !['client.ts', 'hono.ts', 'webhook.ts'].includes(each))) {
      expect((await packed.run('node', name)).stdout, name).not.toBe('')
    }
    const { url, person, close } = await startServer()
    onTestFinished(close)
    const example = packed.run('node', 'client.ts', url.href, TOKENS.agent)
    await expect.poll(async () => (await person.pendingReviews()).reviews).toHaveLength(1)
    const [review] = (await person.pendingReviews()).reviews
    await person.decide(review?.review_id ?? '', { action: 'confirm', tasks: [{ draft_index: 0 }] })
    expect((await example).stdout).toMatch(/ids: \[ 1 \]/)
  })
})

describe.runIf(process.env['LONG'] && process.platform === 'linux')('on the oldest Node of `engines`', () => {
  let node: string

  beforeAll(async () => {
    const version = manifest.engines.node.replace('>=', '')
    const name = `node-linux-${process.arch}`
    await packed.run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', `${name}@${version}`)
    node = join(packed.folder, 'node_modules', name, 'bin/node')
  }, 300_000)

  it('the library plans on SQLite', async () => {
    const { stdout } = await packed.run(node, '--experimental-strip-types', 'quickstart.ts')
    expect(stdout).toContain('2 Write two pages in_progress')
  })

  it('the program serves the page and an MCP host, without a warning', async () => {
    const program = join(packed.folder, 'node_modules/runsheet', manifest.bin['runsheet'] ?? '')
    const data = join(packed.folder, 'oldest')
    onTestFinished(() => endServer(data))
    const served = runProcess([node, program, '--port', '0', '--data', data], { cwd: packed.folder, env: packed.env })
    const [, url = ''] = /^Runsheet is ready at (\S+)#code=/.exec(await served.line(() => true)) ?? []
    expect((await fetch(url)).status).toBe(200)
    const host = new StdioClientTransport({ command: node, args: [program, 'mcp', '--data', data], stderr: 'pipe' })
    const client = new Client({ name: 'a host', version: '1' })
    await client.connect(host)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('plan')
    await client.close()
    await endServer(data)
    expect((await served.ended).stderr).not.toContain('Warning')
  })
})

/** What the compiler says of a program that is written beside the package, and of our own declarations. */
async function typeErrors(name: string, program: string, lib: readonly string[]): Promise<readonly string[]> {
  writeFileSync(join(packed.folder, `${name}.ts`), program)
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable', ...lib],
    strict: true,
    noEmit: true,
    types: lib.length > 0 ? [] : ['node'],
  }
  writeFileSync(join(packed.folder, `${name}.json`), JSON.stringify({ compilerOptions, files: [`${name}.ts`] }))
  const checked = runProcess(['tsc', '-p', `${name}.json`], { cwd: packed.folder, env: packed.env })
  await checked.ended
  // Errors in the declarations of other packages are not ours.
  return checked.lines.filter(line => /^(\w+\.ts|error|node_modules\/runsheet)/.test(line))
}

const entryPoints = (): string[] =>
  Object.keys(manifest.exports)
    .filter(path => !path.endsWith('.css'))
    .map(path => path.replace('.', 'runsheet'))

const fileOf = (name: string): string => {
  const entry = manifest.exports[name.replace('runsheet', '.')]
  return typeof entry === 'object' ? entry.default.replace('./', '') : ''
}

/** Lists what an import loads: our files, and what of Node was not there before. */
const LOADED = `
import module from 'node:module'
const urls = []
module.registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
const before = new Set(process.moduleLoadList)
await import('runsheet')
const builtins = process.moduleLoadList.filter(each => each.startsWith('NativeModule ') && !before.has(each))
console.log(JSON.stringify({ urls, builtins }))
`

/** Each expected error would be missing if a declaration were not found: an unknown type fits anywhere. */
const CONSUMER = `
import { createRunsheet, openMemoryStore, type Task } from 'runsheet'
import { createJudge, planLoop } from 'runsheet/ai-sdk'
import { openChecks } from 'runsheet/checks'
import { createClient, RunsheetError } from 'runsheet/client'
import { openFileStore } from 'runsheet/files'
import { createHandler } from 'runsheet/http'
import { openPostgresStore } from 'runsheet/postgres'
import { TodosPanel } from 'runsheet/react'
import { createRunner, demoModel } from 'runsheet/runner'
import { openSqliteStore } from 'runsheet/sqlite'

const runsheet = createRunsheet({ store: openMemoryStore(), policy: { review: false } })
const turn = runsheet.conversation('c').turn('t')
export const title = (task: Task): string => task.title
export const used = [createClient({ url: 'http://127.0.0.1' }), RunsheetError, planLoop(turn), createJudge, TodosPanel]
export const checked = createRunsheet({ store: openMemoryStore(), checks: openChecks({ workspace: '.' }) })
export const runner = createRunner({ runsheet, models: { demo: demoModel() } })
export const handler = createHandler({ runsheet, authenticate: () => ({ role: 'person' }) })
export const stores = [openFileStore('f'), openPostgresStore('u'), openSqliteStore('p')]
// @ts-expect-error
runsheet.nothing()
// @ts-expect-error
runsheet.store
// @ts-expect-error
export const number = (task: Task): string => task.number
// @ts-expect-error
createClient({ uri: 1 })
// @ts-expect-error
createHandler({ runsheet })
// @ts-expect-error
createRunner(1)
// @ts-expect-error
planLoop(1)
// @ts-expect-error
openChecks({ folder: '.' })
// @ts-expect-error
TodosPanel(1)
// @ts-expect-error
openSqliteStore({ path: 'p', faults: {} })
`

const OLD_NODE = `
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })
Object.defineProperty(process, 'version', { value: 'v20.20.2' })
`

/** Such comments of the bundler name the module that a part of a chunk came from. */
const MODULE = /^\/\/ (?:#region )?node_modules\/(\S+)$/gm

const packageOf = (specifier: string): string => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier

/** What a file loads when it is loaded. */
function staticImports(path: string): string[] {
  const pattern = /^(?:import|export)\s(?:[^'";]*?\sfrom\s)?["']([^"']+)["'];?$/gm
  return [...packed.read(path).matchAll(pattern)].map(([, specifier = '']) => specifier)
}

/** What a file loads then or later. */
const importsIn = (path: string): string[] => [
  ...staticImports(path),
  ...[...packed.read(path).matchAll(/\bimport\(["']([^"']+)["']\)/g)].map(([, specifier = '']) => specifier),
]

const isPackage = (specifier: string): boolean => !/^(\.|node:)/.test(specifier)

const packagesIn = (path: string): string[] => importsIn(path).filter(isPackage).map(packageOf)

function withImports(path: string, seen = new Set<string>()): string[] {
  if (seen.has(path)) return []
  seen.add(path)
  const next = staticImports(path).filter(specifier => specifier.startsWith('.'))
  for (const specifier of next) withImports(join(dirname(path), specifier), seen)
  return [...seen]
}

function lineOf({ stderr }: StdioClientTransport, fits: RegExp): Promise<RegExpExecArray> {
  let text = ''
  return new Promise((resolve, reject) => {
    stderr?.on('data', chunk => {
      text += String(chunk)
      const [found] = text.split('\n').flatMap(line => {
        const match = fits.exec(line)
        return match ? [match] : []
      })
      if (found) resolve(found)
    })
    stderr?.on('end', () => reject(new Error(`it ended first: ${text}`)))
  })
}

/** Ends the server of a folder, if there is one, and waits until it is gone. */
async function endServer(data: string): Promise<void> {
  const note = join(data, 'server.json')
  const pid = existsSync(note) ? (JSON.parse(readFileSync(note, 'utf8')) as { pid: number }).pid : undefined
  if (pid === undefined || !isAlive(pid)) return
  process.kill(pid, 'SIGTERM')
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
