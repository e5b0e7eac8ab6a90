import { lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Evidence } from '../engine/worker/case.ts'
import type { OutsideTool } from '../engine/worker/outside.ts'
import type { Call, PlannedStep } from './think.ts'

/** The demo's project: a function with two bugs, and a test that shows them. It needs only Node. */
export const SANDBOX_FILES: Readonly<Record<string, string>> = {
  'README.md': `# The demo's sandbox

A project with a bug and a test. Ask the demo model: "Fix the greeting in the sandbox, and prove it".
To start over, delete this folder and start Runsheet again.
`,
  'greeting.mjs': `/** Greets by name, or as a stranger if no name is given. */
export function greet(name) {
  return \`Helo, \${name}!\`
}
`,
  'greeting.test.mjs': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { greet } from './greeting.mjs'

test('greets by name', () => {
  assert.equal(greet('Ada'), 'Hello, Ada!')
})

test('greets as a stranger if no name is given', () => {
  assert.equal(greet(), 'Hello, stranger!')
})
`,
}

/** The file to fix, its check, and the demo model's tools for it. */
export const SANDBOX = {
  file: 'greeting.mjs',
  check: 'node --test',
  read: 'read_sandbox_file',
  edit: 'edit_sandbox_file',
} as const

const MAX_BYTES = 100_000

/** Tools that read and edit files of a sandbox, and nothing outside it. Both return the file's text. */
export const sandboxTools = (folder: string): readonly OutsideTool[] => [
  {
    name: SANDBOX.read,
    description: "Reads a file of the demo's sandbox.",
    inputSchema: object({ path: TEXT }),
    isRepeatable: true,
    call: async input => readFileSync(fileIn(folder, field(input, 'path')), 'utf8'),
  },
  {
    name: SANDBOX.edit,
    description: "Replaces a text in a file of the demo's sandbox.",
    inputSchema: object({ path: TEXT, find: TEXT, replace: TEXT }),
    isRepeatable: true,
    call: async input => {
      const [file, find, replace] = [
        fileIn(folder, field(input, 'path')),
        field(input, 'find'),
        field(input, 'replace'),
      ]
      const text = readFileSync(file, 'utf8')
      // The same call already made this change.
      if (!text.includes(find) && text.includes(replace)) return text
      if (!text.includes(find)) throw new Error(`The file does not contain ${JSON.stringify(find)}.`)
      const changed = text.replace(find, () => replace)
      writeFileSync(file, changed)
      return changed
    },
  },
]

const TEXT = { type: 'string' } as const

const object = (properties: Readonly<Record<string, unknown>>): OutsideTool['inputSchema'] => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

function field(input: unknown, name: string): string {
  const value = typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[name] : undefined
  if (typeof value === 'string' && value !== '') return value
  throw new Error(`${name} must be a text.`)
}

/** A plain name: no folders, which could lead out, and no links. */
function fileIn(folder: string, name: string): string {
  const file = join(folder, name)
  const stats = /^\w[\w.-]*$/.test(name) ? lstatSync(file, { throwIfNoEntry: false }) : undefined
  if (!stats?.isFile()) throw new Error(`The sandbox has no file ${JSON.stringify(name)}.`)
  if (stats.size > MAX_BYTES) throw new Error(`${name} is too large.`)
  return file
}

type Deed = { readonly call: Call } | { readonly outcome: string } | { readonly failed: string }

interface Heard {
  readonly role: string
  readonly tool?: string
  readonly result?: unknown
}

/** Fixes that the demo model knows, in the order it sees them: the second bug only shows in the test's output. */
const REPAIRS = [
  { find: 'Helo', replace: 'Hello' },
  { find: 'greet(name)', replace: "greet(name = 'stranger')" },
] as const

const READ = `Read ${SANDBOX.file}`
const FIX = `Fix the greeting in ${SANDBOX.file}`

export const isSandboxTool = (name: string): boolean => name === SANDBOX.read || name === SANDBOX.edit
type Named = readonly { readonly name: string }[]
const hasSandbox = (tools: Named): boolean => tools.some(({ name }) => name === SANDBOX.edit)

/** Steps for a request to fix the sandbox; undefined for other requests, or without a sandbox. */
export const mendingSteps = (tools: Named, request: string): readonly string[] | undefined =>
  hasSandbox(tools) && /\bsandbox\b|沙盒/i.test(request) && /\b(?:fix|mend|repair)\b|修/i.test(request)
    ? [READ, FIX, 'Write the report']
    : undefined

/** The fix has a check, and may change one file. */
export const rowFor = (tools: Named, title: string): PlannedStep =>
  hasSandbox(tools) && title === FIX ? { title, check: SANDBOX.check, scope: [SANDBOX.file] } : { title }

/** Works on a step of the sandbox; undefined for other steps. Goes on from what the check or the judge objects to. */
export function mending(tools: Named, title: string, since: readonly Heard[], refusal = ''): Deed | undefined {
  if (!hasSandbox(tools) || (title !== READ && title !== FIX)) return undefined
  const answer = since.findLast(({ tool = '' }) => isSandboxTool(tool))
  if (!answer) return { call: { tool: SANDBOX.read, input: { path: SANDBOX.file } } }
  const text = typeof answer.result === 'string' ? answer.result : ''
  if (text.startsWith('Error:')) return { failed: `${answer.tool}: ${text}` }
  if (title === READ) return { outcome: lineCount(text) }
  if (since.at(-1) === answer && answer.tool === SANDBOX.edit) return { outcome: changesIn(text) }
  const next = REPAIRS.find(({ find }) => text.includes(find))
  if (next) return { call: { tool: SANDBOX.edit, input: { path: SANDBOX.file, ...next } } }
  return refusal === '' ? { outcome: 'the greeting is right already' } : { failed: refusal }
}

/** The judge's objection to the file as a tool last saw it; undefined for tasks not about the sandbox. */
export function flawInMending(
  task: string,
  said: string,
  evidence: readonly Pick<Evidence, 'tool' | 'answer' | 'ok' | 'source'>[],
): string | undefined {
  if (task !== FIX && task !== READ) return undefined
  // Calls that others only report are unconfirmed.
  const seen = evidence.findLast(({ tool, ok, source }) => ok && source === 'runsheet' && isSandboxTool(tool))
  if (!seen) return 'no tool has looked at the file.'
  const text = typeof seen.answer === 'string' ? seen.answer : ''
  if (task === READ) return said === lineCount(text) ? '' : `it should say that ${lineCount(text)}.`
  if (!text.includes('`Hello, ${name}!`')) return 'it does not say “Hello” and the name.'
  return /greet\(name = /.test(text) ? '' : 'without a name it greets nobody.'
}

const lineCount = (text: string): string => `${SANDBOX.file} has ${text.trimEnd().split('\n').length} lines`

const changesIn = (text: string): string =>
  REPAIRS.filter(({ replace }) => text.includes(replace))
    .map(({ find, replace }) => `“${find}” → “${replace}”`)
    .join(', ')
