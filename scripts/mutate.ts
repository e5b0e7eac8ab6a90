import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parseSync } from 'vite'

// Counts how many small mutations of core, engine and store the tests find, in a scratch worktree:
// npm run mutate -- --seed 1 --count 100 [--tree REF] [--minutes 90]
// The unit tests run first; mutations that they miss are tried on the related store and edge tests.

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly test?: Node | null
  readonly left?: Node
  readonly right?: Node
  readonly body?: Node | null
  readonly expression?: Node
  readonly key?: Node
  readonly operator?: string
  readonly source?: Node | null
  readonly value?: unknown
}
interface Mutation {
  readonly file: string
  readonly kind: string
  readonly start: number
  readonly end: number
  readonly text: string
}

const SWAPPED: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '&&': '||',
  '||': '&&',
}
/** As in vitest.config.ts. */
const UNIT = /^src\/(?!store\/\w+\/|checks\/|cli\/)|^test\/(corpus|domain-properties|layers|spec|surface)\.test/
const UNRELATED = /^test\/(browser|hosts|package|soak)\//
/** Test files per mutation beyond the unit tests: the nearest by imports. Each level also has a time limit. */
const NEAREST = 24
const LEVEL_MS = 300_000

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
    tree: { type: 'string', default: 'HEAD' },
    minutes: { type: 'string', default: '240' },
  },
})
const root = fileURLToPath(new URL('..', import.meta.url))
const tree = mkdtempSync(join(realpathSync(tmpdir()), 'runsheet-mutate-'))
const deadline = Date.now() + Number(values.minutes) * 60_000

run('git', ['worktree', 'add', '--detach', '--force', tree, values.tree], root)
try {
  symlinkSync(realpathSync(join(root, 'node_modules')), join(tree, 'node_modules'))
  run(process.execPath, ['scripts/shapes.ts'], tree)
  await measure()
} finally {
  run('git', ['worktree', 'remove', '--force', tree], root)
  rmSync(tree, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const sources = globSync('src/{core,engine,store}/**/*.ts', { cwd: tree }).filter(path => !path.endsWith('.test.ts'))
  const related = relatedTests()
  const broken = new Set<string>()
  const tally = { unit: 0, edge: 0, missed: 0 }
  for (const mutation of draw(sources.sort().flatMap(mutationsOf), Number(values.count), Number(values.seed))) {
    if (Date.now() > deadline) break
    const path = join(tree, mutation.file)
    const source = readFileSync(path, 'utf8')
    const mutated = source.slice(0, mutation.start) + mutation.text + source.slice(mutation.end)
    const tests = related(mutation.file)
    const foundBy = async (names: readonly string[], files: readonly string[]): Promise<string | undefined> => {
      for (;;) {
        writeFileSync(path, mutated)
        const failed = await firstFailure(
          names,
          files.filter(file => !broken.has(file)),
        )
        writeFileSync(path, source)
        // A file that also fails without the mutation says nothing about any.
        if (failed === undefined || failed === 'timeout' || !(await firstFailure(names, [failed]))) return failed
        broken.add(failed)
      }
    }
    // The nearest first: they find most, in a few seconds.
    const unit = tests.filter(file => UNIT.test(file))
    const edge = tests.filter(file => !UNIT.test(file) && !UNRELATED.test(file))
    const byUnit = (await foundBy(['unit'], unit.slice(0, 8))) ?? (await foundBy(['unit'], unit.slice(8)))
    const byEdge = byUnit ?? (await foundBy(['store', 'edge'], edge.slice(0, NEAREST)))
    const level = byUnit ? 'unit' : byEdge ? 'edge' : 'missed'
    tally[level] += 1
    const line = source.slice(0, mutation.start).split('\n').length
    const change = `${source.slice(mutation.start, mutation.end)} -> ${mutation.text}`
      .replaceAll(/\s+/g, ' ')
      .slice(0, 80)
    console.log(
      `${level.padEnd(6)} ${mutation.file}:${line} ${mutation.kind}: ${change}${byEdge ? ` (${byEdge})` : ''}`,
    )
  }
  if (broken.size > 0) console.log(`fail without a mutation: ${[...broken].join(' ')}`)
  const sum = tally.unit + tally.edge + tally.missed
  console.log(
    `${values.tree}, seed ${values.seed}: ${sum - tally.missed} of ${sum} found; ${tally.unit} by unit tests, ${tally.edge} by store and edge tests`,
  )
}

/** The first test file that fails; undefined if all pass. */
async function firstFailure(projects: readonly string[], files: readonly string[]): Promise<string | undefined> {
  if (files.length === 0) return undefined
  const report = join(tree, 'mutate.json.log')
  rmSync(report, { force: true })
  const reporting = ['--reporter=json', `--outputFile=${report}`, '--bail=1', '--retry=0']
  const names = projects.flatMap(name => ['--project', name])
  const options = ['--passWithNoTests', '--testTimeout=30000', ...reporting, ...names]
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const env = { ...process.env, CI: '' }
  const args = [vitest, 'run', ...options, ...files]
  const child = spawn(process.execPath, args, { cwd: tree, env, stdio: 'ignore', detached: true })
  // With the programs that the tests started.
  const killAll = (): boolean => process.kill(-(child.pid ?? 0), 'SIGKILL')
  const timer = setTimeout(killAll, LEVEL_MS)
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  if (code === 0) return undefined
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      testResults: { name: string; status: string }[]
    }
    const failed = testResults.find(({ status }) => status === 'failed')
    return failed === undefined ? 'timeout' : failed.name.slice(tree.length + 1)
  } catch {
    return 'timeout'
  }
}

/** The tests that import a file, directly or not, nearest first. */
function relatedTests(): (file: string) => string[] {
  const importers = new Map<string, string[]>()
  for (const file of globSync('{src,test}/**/*.{ts,tsx}', { cwd: tree })) {
    for (const [, path = ''] of readFileSync(join(tree, file), 'utf8').matchAll(/['"](\.{1,2}\/[^'"\n]+\.tsx?)['"]/g)) {
      const imported = normalize(join(dirname(file), path))
      importers.set(imported, [...(importers.get(imported) ?? []), file])
    }
  }
  return file => {
    const seen = new Set([file])
    for (const each of seen) for (const importer of importers.get(each) ?? []) seen.add(importer)
    return [...seen].filter(each => each.endsWith('.test.ts'))
  }
}

/** Each kind of mutation is drawn equally often, so that literals do not drown the conditions. */
function draw(all: readonly Mutation[], count: number, seed: number): Mutation[] {
  const random = randomFrom(seed)
  const left = Map.groupBy(all, ({ kind }) => kind)
  return Array.from({ length: count }, () => {
    const kinds = [...left.values()].filter(({ length }) => length > 0)
    const kind = kinds[Math.floor(random() * kinds.length)] ?? []
    return kind.splice(Math.floor(random() * kind.length), 1)
  }).flat()
}

function mutationsOf(file: string): Mutation[] {
  const source = readFileSync(join(tree, file), 'utf8')
  const found: Mutation[] = []
  const add = (kind: string, { start, end }: { start: number; end: number }, text: string): void =>
    void found.push({ file, kind, start, end, text })
  const visit = (node: Node, parent?: Node): void => {
    // Types mean nothing at run time, except around an expression.
    if (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)/.test(node.type)) return
    if (/^(Import|Export(All|Named))Declaration$/.test(node.type) && node.source) return
    const { type, left, right, operator = '', test, body, value } = node
    if (test) add('negate a condition', test, `!(${source.slice(test.start, test.end)})`)
    const swapped = SWAPPED[operator]
    if (left && right && swapped && /^(Logical|Binary)Expression$/.test(type)) {
      const at = source.indexOf(operator, left.end)
      const kind = type === 'LogicalExpression' ? 'swap && and ||' : 'swap an operator'
      add(kind, { start: at, end: at + operator.length }, swapped)
    }
    if (type === 'Literal' && typeof value === 'number') add('off by one', node, String(value + 1))
    if (type === 'Literal' && typeof value === 'boolean') add('flip a boolean', node, String(!value))
    if (type === 'Literal' && typeof value === 'string' && value && parent?.key !== node) {
      add('empty a string', node, "''")
    }
    if (type === 'ArrayExpression' && node.end - node.start > 2) add('empty an array', node, '[]')
    if (type === 'ExpressionStatement' && /(Call|Await)Expression/.test(node.expression?.type ?? '')) {
      add('drop a call', node, ';')
    }
    if (/^(Function|ArrowFunction)/.test(type) && body?.type === 'BlockStatement') {
      add('return early', { start: body.start + 1, end: body.start + 1 }, ' return undefined as never;')
    }
    for (const [field, inside] of Object.entries(node)) {
      if (field === 'typeAnnotation') continue
      for (const child of Array.isArray(inside) ? inside : [inside]) if (isNode(child)) visit(child, node)
    }
  }
  visit(parseSync(file, source).program as unknown as Node)
  return found
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** mulberry32 */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}
