import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runProcess } from '../support/children.ts'
import { type Packed, packAndInstall } from '../support/packed.ts'

interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

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

describe('the tarball', () => {
  it('[PK1] holds what is compiled, its declarations, the page and the documents, and nothing else', () => {
    const documents = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SPEC.md', 'package.json']
    expect(paths().filter(path => !path.startsWith('dist/'))).toEqual(documents)
    const known = /\.(js|d\.ts)$|^dist\/(cli|react|web)\/licenses\.md$|^dist\/react\/styles\.css$|^dist\/web\//
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

  it('[PK2] the library asks for exactly the packages that it imports, and for React where there are panels', () => {
    const library = paths().filter(path => !isProgram(path) && !isPage(path))
    const imported = new Set(library.filter(path => path.endsWith('.js')).flatMap(packagesIn))
    const mentioned = new Set(library.flatMap(packagesIn))
    const asked = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    expect([...imported].filter(name => !asked.includes(name))).toEqual([])
    expect(asked.filter(name => !mentioned.has(name) && !mentioned.has(name.replace('@types/', '')))).toEqual([])
    const withReact = library.filter(path => path.endsWith('.js') && packagesIn(path).includes('react'))
    expect(withReact.filter(path => !path.startsWith('dist/react/'))).toEqual([])
  })

  it('[PK3] a class of the library is there once, whichever entry point it comes from', () => {
    const library = scripts().filter(path => !isProgram(path) && !isPage(path))
    const holds = (name: string) => library.filter(path => new RegExp(`class ${name}\\b`).test(packed.read(path)))
    for (const name of ['Refusal', 'StoreError', 'RunsheetError', 'Runner']) expect(holds(name), name).toHaveLength(1)
  })

  it('[PK3] the panels are client modules, one file each, so that a bundler takes only what is used', () => {
    const panels = scripts().filter(path => path.startsWith('dist/react/'))
    expect(panels).toContain('dist/react/use-conversation.js')
    expect(panels.filter(path => !/^['"]use client['"]/.test(packed.read(path)))).toEqual([])
  })

  it('[PK4] what others wrote comes with their licences', () => {
    expect(packed.read('dist/cli/licenses.md')).toMatch(/^## commander - .*\n[\s\S]*^## zod - /m)
    expect(packed.read('dist/react/licenses.md')).toMatch(/^## lucide-react - /m)
    expect(packed.read('dist/web/licenses.md')).toMatch(/^## react - /m)
  })
})

describe('in a folder that was empty', () => {
  it('[PK5] npx runsheet says its version, and keeps its compiled code with the package', async () => {
    expect((await packed.run('npx', 'runsheet', '--version')).stdout).toBe(`${manifest.version}\n`)
    expect(existsSync(join(packed.folder, 'node_modules/runsheet/node_modules/.cache/compile'))).toBe(true)
  })

  it('[PK5] npx runsheet serves, with the page', async () => {
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

  it('[CL9] hints name a command that works: runsheet if it is on the PATH, npx in its project, else the file', async () => {
    const program = join(packed.folder, 'node_modules/runsheet', manifest.bin['runsheet'] ?? '')
    const bin = join(packed.folder, 'global-bin')
    mkdirSync(bin)
    symlinkSync(program, join(bin, 'runsheet'))
    const hintIn = async (cwd: string, path = packed.env['PATH']): Promise<string> => {
      const child = runProcess([process.execPath, program, '--wrong'], { cwd, env: { ...packed.env, PATH: path } })
      return /Try: (.*) --help$/m.exec((await child.ended).stderr)?.[1] ?? ''
    }
    expect(await hintIn(bin)).toBe('npx runsheet')
    expect(await hintIn('/')).toBe(`${process.execPath} ${program}`)
    expect(await hintIn('/', `${bin}:${packed.env['PATH']}`)).toBe('runsheet')
  })

  it('[PK6] every entry point can be imported', async () => {
    for (const name of entryPoints()) {
      const { stdout } = await packed.run('node', '-e', `import('${name}').then(all => console.log(Object.keys(all)))`)
      expect(stdout, name).toMatch(/\w/)
    }
  })

  it('[PK6] the declarations are those of a package: a consumer is checked against them', async () => {
    writeFileSync(join(packed.folder, 'consumer.ts'), CONSUMER)
    const options = { module: 'nodenext', target: 'es2024', strict: true, noEmit: true, types: ['node'] }
    writeFileSync(
      join(packed.folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['consumer.ts'] }),
    )
    const checked = runProcess(['tsc'], { cwd: packed.folder, env: packed.env })
    await checked.ended
    // What is wrong with the declarations of others is not ours to say.
    expect(checked.lines.filter(line => /^(consumer|error|node_modules\/runsheet)/.test(line))).toEqual([])
  })

  it('[PK7] an old Node is told in one line what is needed', async () => {
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

  it('[PK8] the program brings all that it needs, and a host that starts runsheet mcp waits for nothing else', () => {
    expect(scripts().filter(isProgram).flatMap(staticImports).filter(isPackage)).toEqual([])
    const mcp = scripts().find(path => path.startsWith('dist/cli/mcp-')) ?? ''
    const parts = withImports(mcp).flatMap(path => [...packed.read(path).matchAll(PART)])
    const names = [...new Set(parts.map(([, name]) => name ?? ''))]
    expect(names).toContain('@modelcontextprotocol/server')
    expect(names.filter(name => /^(pg|ai|hono|react|pino|prom-client|@ai-sdk\/.*|@hono\/.*)$/.test(name))).toEqual([])
  })

  it('[PK9] npx runsheet mcp serves a host, and shows its plans on the page', async () => {
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

const entryPoints = (): string[] =>
  Object.keys(manifest.exports)
    .filter(path => !path.endsWith('.css'))
    .map(path => path.replace('.', 'runsheet'))

/** Each line would be an error where a declaration could not be found: what is unknown would fit anywhere. */
const CONSUMER = `
import { openDoor, openMemoryStore, type Task } from 'runsheet'
import { createClient, RunsheetError } from 'runsheet/client'
import { createHttpServer } from 'runsheet/http'
import { Runner } from 'runsheet/agent'
import { aiSdkTools } from 'runsheet/ai-sdk'
import { TodosPanel } from 'runsheet/react'

const door = openDoor({ store: openMemoryStore() })
export const title = (task: Task): string => task.title
export const used = [createClient({ url: 'http://127.0.0.1' }), RunsheetError, createHttpServer, Runner, aiSdkTools, TodosPanel]
// @ts-expect-error
door.nothing()
// @ts-expect-error
export const number = (task: Task): string => task.number
// @ts-expect-error
createClient({ uri: 1 })
// @ts-expect-error
createHttpServer({}).nothing()
// @ts-expect-error
new Runner(1)
// @ts-expect-error
aiSdkTools(1)
// @ts-expect-error
TodosPanel(1)
`

const OLD_NODE = `
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })
Object.defineProperty(process, 'version', { value: 'v20.20.2' })
`

/** How the bundler says where a part of a chunk came from. */
const PART = /^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm

/** What a file loads when it is loaded. */
function staticImports(path: string): string[] {
  const pattern = /^(?:import|export)\s(?:[^'";]*?\sfrom\s)?["']([^"']+)["'];?$/gm
  return [...packed.read(path).matchAll(pattern)].map(([, specifier]) => specifier ?? '')
}

const isPackage = (specifier: string): boolean => !/^(\.|node:)/.test(specifier)

const packagesIn = (path: string): string[] =>
  staticImports(path)
    .filter(isPackage)
    .map(specifier => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier)

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
      const found = text.split('\n').flatMap(line => fits.exec(line) ?? [])
      if (found.length > 0) resolve(found as unknown as RegExpExecArray)
    })
    stderr?.on('end', () => reject(new Error(`it ended first: ${text}`)))
  })
}

/** Ends the one who serves a folder, where there is one, and waits until it is gone. */
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
